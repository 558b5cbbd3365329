// The encryption of one file: AES-256 in counter mode (CTR), under keys that only this file has.
//
//   byte 0             16         20            52          84            116               4096
//        +--------------+----------+-------------+-----------+-------------+------- ... ------+----- ...
//        ----+
//   file | "itemdb en-  | version  | id of the   | salt, 32  | HMAC-SHA256 | zeros            | the
//   contents,|
//        |  crypted"    | 1, LE 32 | key, zeros  | random    | of 0 to 84  |                  | encrypted |
//        +--------------+----------+-------------+-----------+-------------+------- ... ------+----- ...
//        ----+
//
// HKDF-SHA256 makes three values from the secret of the key and the salt: the key of the cipher (32 bytes),
// the counter of the first block (16 bytes) and the key of the HMAC (32 bytes). Each file that is made has a
// new salt, so no two files share a keystream. A file must never be written twice at the same place: whoever
// has both versions could subtract one from the other (EncryptedFileSystem refuses to).
//
// The HMAC tells a damaged header. The contents have no HMAC: the checksums in them, which are encrypted too,
// tell damage but not somebody who changes bytes on purpose.
//
// The header is 4096 bytes long so that the contents begin at a block of the disk, as direct I/O needs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/api/options.h"

namespace itemdb::storage {

class FileCipher {
 public:
  static constexpr size_t kHeaderBytes = 4096;

  // For a new file; sets `*header`, which is kHeaderBytes long. Null: the system has no random bytes.
  static std::unique_ptr<FileCipher> ForNewFile(const EncryptionKey& key, std::string* header);
  // For a file with `header`, which KeyIdOf has read. Null: the HMAC differs.
  static std::unique_ptr<FileCipher> ForFile(const EncryptionKey& key, std::string_view header);
  ~FileCipher();
  FileCipher(const FileCipher&) = delete;
  FileCipher& operator=(const FileCipher&) = delete;

  // Encrypts, or decrypts, which is the same operation, the bytes at `offset` of the contents. `to` may be
  // `from`. Thread-safe.
  void Apply(uint64_t offset, const char* from, size_t size, char* to) const;

 private:
  FileCipher() = default;
  // Sets the members; returns the HMAC of the header.
  std::array<char, 32> Derive(const EncryptionKey& key, std::string_view header);

  std::array<unsigned char, 32> key_;
  std::array<unsigned char, 16> first_counter_;
};

// The id of the key that the file with these first bytes needs. Nullopt: they are no header.
std::optional<std::string> KeyIdOf(std::string_view header);

// A value that says whether two keys are the same without saying what they are: 32 hexadecimal digits.
std::string CheckValueOf(const EncryptionKey& key);

}  // namespace itemdb::storage
