// For itemd --check-config: whether the files and directories of the configuration can be used. A start finds
// that out by using them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/config/options.h"

namespace itemdb::daemon {

// Changes nothing. `subject_of` makes the beginning of a message of the name of a setting: "--data-dir".
// Another user may check the configuration than the one that the service runs as, so what only the
// permissions forbid is no error: it becomes a line of `notes`.
//
// UNAVAILABLE: a file or folder is missing, is of another kind, or its file system cannot be written.
// INVALID_ARGUMENT: a directory is given for two purposes.
absl::Status CheckPaths(const Options& options, absl::FunctionRef<std::string(std::string_view)> subject_of,
                        std::vector<std::string>* notes);

// Also before a start. INVALID_ARGUMENT: one path is given for two of data, backups and archive, each of
// which locks its directory. Compares the paths only: the disk of an archive may not answer.
absl::Status CheckDirectoriesDiffer(const Options& options,
                                    absl::FunctionRef<std::string(std::string_view)> subject_of);

}  // namespace itemdb::daemon
