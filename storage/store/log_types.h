// Damaged records of RocksDB's logs, which it takes for something else than damage.
//
// RocksDB's logs (write-ahead logs and MANIFEST) consist of blocks of 32 KiB with records that never cross a
// block: a header of seven bytes (checksum 4, length 2, type 1) and the data. The reader looks at type and
// length before it verifies the checksum:
// - A record of a type that recycled logs have, with the number of another log, is the end of the log. In the
//   mode that skips damage the reader reads it again, without end; that of RocksDB 9.10 in every mode. One
//   byte of a torn tail is enough.
// - A record longer than the last block is the end of the log, and one of type 0 ends its block, without an
//   error, in the mode in which it reads a MANIFEST.
// itemdb recycles no log in RocksDB's way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace itemdb::storage {

// The part of a MANIFEST that is read. The default is all of each.
struct ReadManifest {
  // Without the directory.
  std::string name = {};
  uint64_t bytes = 0;
};

// Shows records of recycled types in write-ahead logs and MANIFEST as records with a wrong checksum: the
// recovery mode decides about them. The file of `manifest` ends where that says. All else is passed through.
// Thread-safe.
std::shared_ptr<rocksdb::FileSystem> NewLogTypesFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base,
                                                           const ReadManifest& manifest = {});

// DATA_LOSS: the first `bytes` of the MANIFEST `path` are not filled with records; names where the first is
// missing. Verifies no checksums: RocksDB does that of all records that it finds. OK for a file that cannot
// be read, which RocksDB says too.
absl::Status CheckManifestRecords(rocksdb::Env* env, const std::string& path, uint64_t bytes);

// Where the first damaged record behind `synced` begins, the end of a record of the MANIFEST `path`:
// checksums are verified. The size of the file, or more, when there is none or the file cannot be read.
uint64_t IntactManifestBytes(rocksdb::Env* env, const std::string& path, uint64_t synced);

}  // namespace itemdb::storage
