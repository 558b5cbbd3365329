// The exit codes of itemd, for service managers and scripts. The numbers are those of sysexits.h and never
// change. `itemd --help` and daemon/README.md repeat this table.
#pragma once

#include "storage/base/status.h"

namespace itemdb::daemon {

enum ExitCode : int {
  // Stopped by SIGTERM or SIGINT after finishing its calls, or printed a text such as the help.
  kExitOk = 0,
  // The configuration is wrong: command line, environment, file or certificates. The message names the error.
  kExitUsage = 64,
  // The data directory holds damaged data, files of another program, or a format this version does not know.
  kExitData = 65,
  // Another process uses the data directory or an address.
  kExitUnavailable = 69,
  // A bug in itemd.
  kExitInternal = 70,
  // A file or directory cannot be created, read or written: permissions, a full disk, an I/O error.
  kExitIo = 74,
};

// The exit code for a database that could not be opened.
ExitCode ExitCodeForOpen(const absl::Status& status);

}  // namespace itemdb::daemon
