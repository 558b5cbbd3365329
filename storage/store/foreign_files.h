// Notices that a directory that is to be used as a whole belongs to somebody else.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb::storage {

// FAILED_PRECONDITION (DATA_DIRECTORY_FOREIGN): `directory` has files, and none whose name begins with one of
// `own`. LOCK and ENCRYPTION, which more than one kind of directory has, "lost+found" and names that begin
// with a dot do not count. `what` would be made there: "an archive". OK for a directory that is missing or
// cannot be read: using it says why.
absl::Status CheckHasNoForeignFiles(const std::string& directory, std::span<const std::string_view> own,
                                    std::string_view what);

}  // namespace itemdb::storage
