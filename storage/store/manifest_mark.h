// MANIFEST_SYNCED in RocksDB's directory: which MANIFEST is current, and how many of its bytes are synced.
//
// RocksDB does not notice a MANIFEST that was cut at the end of a record, or a CURRENT that names an older
// one: the database opens with the table files of an earlier moment, and reads give old data without an
// error. The mark shows it: a MANIFEST with a lower number, or with fewer bytes, is damage. RocksDB leaves
// files whose names it does not know alone.
//
// The mark is written after each flush and compaction, and once a second if other work has changed the
// MANIFEST, always with a length that RocksDB has synced before. It is synced itself, so a power cut leaves
// one that is true.
//
// Two slots are written in turn, each with its XXH3-64: one is intact whenever the process is killed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "rocksdb/db.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"
#include "storage/store/log_types.h"

namespace itemdb::storage {

// DATA_LOSS: the current MANIFEST of the store in `path` has a lower number or is shorter than the mark says,
// or has a damaged header of a record in the length of the mark, which RocksDB takes for the end
// (log_types.h). OK without a mark, and if CURRENT cannot be read: RocksDB says better why.
absl::Status CheckManifest(rocksdb::Env* env, const std::string& path);

// The current MANIFEST of the store in `path` up to its first damaged record, if only records behind the
// length of the mark are damaged: a power cut may leave any bytes in place of those that were not synced.
// nullopt without a mark, without damage, and for other damage.
std::optional<ReadManifest> WithoutTornTail(rocksdb::Env* env, const std::string& path);

// Keeps the mark of an open store. Thread-safe.
class ManifestMark {
 public:
  // `path`: RocksDB's directory. Nothing is written before Update().
  explicit ManifestMark(const std::string& path);
  ~ManifestMark();
  ManifestMark(const ManifestMark&) = delete;
  ManifestMark& operator=(const ManifestMark&) = delete;

  // Writes the mark if the MANIFEST has changed. Errors are ignored: an older mark is true too, but then
  // damage behind it is taken for a torn tail, although it was synced.
  void Update(rocksdb::DB& db);

 private:
  const int file_;
  Mutex mutex_;
  uint64_t number_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool second_slot_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace itemdb::storage
