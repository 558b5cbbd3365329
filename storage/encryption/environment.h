// The environment in which the files of a directory are read and written, encrypted if the directory is.
//
// A directory is encrypted from its first moment on, or never. An encrypted one has a file ENCRYPTION, a
// text:
//
//   itemdb encryption 1
//   cipher AES-256-CTR
//   key ID CHECK            a line for each key that was given at the last opening, so for each key that a
//   file
//                           needs; CHECK: CheckValueOf
//
// When that file is missing, the headers of the other files say that the directory is encrypted.
//
// Rotation of keys: the first key encrypts new files, and each file says which key it needs. An opening is
// refused when a file needs a key that was not given.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "storage/api/options.h"
#include "storage/base/status.h"

namespace itemdb::storage {

inline constexpr char kEncryptionFileName[] = "ENCRYPTION";

class Environment {
 public:
  // Nothing is encrypted yet. `file_system` null: the real one.
  explicit Environment(const std::shared_ptr<rocksdb::FileSystem>& file_system);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Makes env() the environment for `directory`: encrypted with `keys`, or plain for no keys. Called once,
  // before env(), with the directory locked or in nobody's use. Changes nothing. Errors as CheckEncryption.
  absl::Status Open(const std::string& directory, const EncryptionKeys& keys);
  // Writes the file ENCRYPTION of `directory`, if there are keys. UNAVAILABLE: the file system says so.
  absl::Status Mark(const std::string& directory) const;

  // Files as they are on disk.
  rocksdb::Env* plain() const { return plain_; }
  rocksdb::Env* env() const { return encrypted_ == nullptr ? plain_ : encrypted_.get(); }
  const EncryptionKeys& keys() const { return keys_; }

 private:
  const std::unique_ptr<rocksdb::Env> owned_;
  rocksdb::Env* const plain_;
  EncryptionKeys keys_;
  std::unique_ptr<rocksdb::Env> encrypted_;
};

// Whether `directory` is encrypted. False when it does not exist.
bool IsEncrypted(const std::string& directory);

// OK: `keys` are what `directory` needs; no keys for one that is not encrypted. A directory that is missing
// or empty takes any.
//
// INVALID_ARGUMENT: keys are missing, are others, or are given for a directory that is not encrypted.
absl::Status CheckEncryption(const std::string& directory, const EncryptionKeys& keys);

// The paths of the encrypted files of a directory and its folders, by the id of the key that they need. Files
// without contents, folders that have a file ENCRYPTION of their own, and quarantines are left out. Reads the
// first 4 KiB of each file. Files that come and go meanwhile may be there or not.
std::map<std::string, std::vector<std::string>> FindEncryptedFiles(const std::string& directory);

}  // namespace itemdb::storage
