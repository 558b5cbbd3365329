// `itemctl support-bundle`: one file with what somebody needs who is asked for help, and without contents of
// items or secrets.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct SupportBundleOptions {
  // The file to write; empty: itemdb-support-TIME.tar.gz in the current directory.
  std::string file;
  // The configuration file of itemd. Empty: /etc/itemdb/itemd.toml, if it can be read.
  std::string config = "";
  // The log of itemd. Empty: that of the service itemd, from journalctl.
  std::string log = "";
  // HOST:PORT of --metrics-listen, without TLS. Empty: the first one in the configuration file.
  std::string metrics = "";
};

// `text` without what must not leave the machine: values behind names such as secret, password, token and
// authorization, passwords in URLs, and keys of items, which the log has as hexadecimal digits.
std::string WithoutSecrets(const std::string& text);

// Writes the bundle, mode 0600, and prints its name. A part that cannot be had, for example because no daemon
// answers, is left out, and the file errors.txt in the bundle says why.
//
// UsageError: the bundle cannot be written.
absl::Status RunSupportBundle(Context& context, const SupportBundleOptions& options);

void RegisterSupportCommands(CommandTable& table);

}  // namespace itemdb::tools
