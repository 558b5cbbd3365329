// A file system for RocksDB that encrypts what it writes and decrypts what it reads (FileCipher).
//
// Everything that itemdb writes through its environment goes here: write-ahead log, table files, MANIFEST,
// OPTIONS, the sorted files of index builds, CATALOG, recoveries, backups. Not encrypted are the files in
// which IsPlainFile finds nothing to hide, and which may be overwritten in place or read without a key.
//
// No byte of a file is ever encrypted twice with the same keystream:
//   - A file that is made, replaced or reused gets a new header with a new salt.
//   - A file can only be appended to by who has made it. After an error or after Truncate it takes no more
//   bytes.
//   - A file that is opened again for writing can be synced and cut, and refuses to be appended to.
//   - Writing at random places and mapping into memory are refused as not supported. RocksDB needs neither.
//
// The header is synced before NewWritableFile returns. So a power cut leaves a whole header, or a file in
// which nothing was written yet: a file of at most FileCipher::kHeaderBytes bytes is empty, whatever is in
// it.
//
// Errors, beside those of the file system below: Corruption: the header is damaged, the file is not
// encrypted, or it needs a key that was not given. That keys are missing must be found out before
// (CheckEncryption).
#pragma once

#include <memory>
#include <string>

#include "rocksdb/file_system.h"
#include "storage/api/options.h"

namespace itemdb::storage {

// `keys` must not be empty.
std::shared_ptr<rocksdb::FileSystem> NewEncryptedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base,
                                                            EncryptionKeys keys);

// Whether the file is not encrypted: WATERMARK, SYNCED and MANIFEST_SYNCED hold numbers and the id of the
// database, BALLAST and LOCK nothing, ENCRYPTION (DirectoryEncryption) what is needed before there is a key,
// README of a quarantine a text for people.
bool IsPlainFile(const std::string& path);

}  // namespace itemdb::storage
