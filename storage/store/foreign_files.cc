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
    const auto is = [&](std::string_view known) {
      return name == known || (known.ends_with('-') && name.starts_with(known));
    };
    if (std::any_of(own.begin(), own.end(), is)) return absl::OkStatus();
    std::error_code unknown;
    if (name.starts_with('.') || name == "LOCK" || name.starts_with("ENCRYPTION") ||
        !entry->is_regular_file(unknown))
      continue;
    if (foreign.empty() || name < foreign) foreign = name;
  }
  if (foreign.empty()) return absl::OkStatus();
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryForeign,
                   directory + " has files of something else than " + std::string(what) + ", such as " +
                       foreign + ": give an empty directory");
}

}  // namespace itemdb::storage
