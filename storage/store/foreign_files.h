// Notices that a directory that is to be used as a whole belongs to somebody else.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb::storage {

// FAILED_PRECONDITION (DATA_DIRECTORY_FOREIGN): `directory` has regular files, and nothing with a name of
// `own`; one that ends with a hyphen is the beginning of names. LOCK and ENCRYPTION, which more than one kind
// of directory has, and names that begin with a dot do not count, and neither do folders: the directory may
// be the root of a disk, or have others of this database in it. `what` would be made there: "an archive". OK
// for a directory that is missing or cannot be read: using it says why.
absl::Status CheckHasNoForeignFiles(const std::string& directory, std::span<const std::string_view> own,
                                    std::string_view what);

}  // namespace itemdb::storage
