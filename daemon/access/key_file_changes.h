// Changes to a file of access keys: `itemd keys add`, `rotate` and `remove`.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb::daemon {

struct KeyFileChange {
  enum class Kind { kAdd, kRotate, kRemove };
  Kind kind = Kind::kAdd;
  // Of the key that is added, gets a new secret or is removed.
  std::string id;
  // Of a key that is added: metrics, read, write or admin.
  std::string role = "";
};

// Changes the key file at `path` (access_keys.h) and returns the secret that was generated: 256 random bits
// as 43 letters, digits, '-' and '_'. Empty for kRemove. The other lines of the file stay as they are,
// comments too. A key that is removed takes with it the comments right above it, unless the file begins with
// them, and right behind it.
//
// A new file is made with mode 0600 by the first kAdd. An existing file keeps its mode and owner. The new
// content is written beside the file, read as a daemon would read it, and renamed, so that a daemon never
// sees half of it. Two changes at the same time can lose one of them.
//
// INVALID_ARGUMENT: the file is no valid key file, the id or role is not allowed, kAdd and there is a key
// with this id, kRemove and it is the last key, or the key is not written as a [[key]] of its own. NOT_FOUND:
// there is no key with this id. UNAVAILABLE: the file cannot be read or written.
absl::StatusOr<std::string> ChangeKeyFile(const std::string& path, const KeyFileChange& change);

}  // namespace itemdb::daemon
