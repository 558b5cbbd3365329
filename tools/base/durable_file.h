// Files that survive a power cut, for the states of long commands.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace itemdb::tools {

// FAILED_PRECONDITION: "cannot DOING PATH: " and errno's text.
absl::Status FileError(std::string_view doing, std::string_view path);

// Nothing if there is no such file. FAILED_PRECONDITION: it cannot be read.
absl::StatusOr<std::optional<std::string>> ReadFileIfExists(const std::string& path);

// Writes the file PATH.new and gives it the name `path`: after kill -9 or a power cut the file has the old
// contents or the new ones. `mode` as of open(). FAILED_PRECONDITION: it cannot be written.
absl::Status ReplaceFile(const std::string& path, std::string_view text, unsigned int mode = 0600);

// FAILED_PRECONDITION: ReplaceFile could not write the file. It is not changed.
absl::Status CheckCanReplaceFile(const std::string& path);

// All of `text`, at the end of an open file. FAILED_PRECONDITION, naming `path`: it cannot be written.
absl::Status WriteAll(int descriptor, std::string_view text, const std::string& path);

// Makes the creation, the new names and the deletion of files in `folder` durable.
absl::Status SyncFolder(const std::string& folder);

}  // namespace itemdb::tools
