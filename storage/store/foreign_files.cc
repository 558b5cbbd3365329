#include "storage/store/foreign_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace itemdb::storage {

absl::Status CheckHasNoForeignFiles(const std::string& directory, std::span<const std::string_view> own,
                                    std::string_view what) {
  std::error_code error;
  std::string foreign;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (std::any_of(own.begin(), own.end(), [&](std::string_view begin) { return name.starts_with(begin); }))
      return absl::OkStatus();
    if (name.starts_with('.') || name == "lost+found" || name == "LOCK" || name == "ENCRYPTION") continue;
    if (foreign.empty() || name < foreign) foreign = name;
  }
  if (foreign.empty()) return absl::OkStatus();
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryForeign,
                   directory + " has files of something else than " + std::string(what) + ", such as " +
                       foreign + ": give an empty directory");
}

}  // namespace itemdb::storage
