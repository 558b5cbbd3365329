// The register of known damage: which blocks of which table files could not be read.
//
// In memory only. After a start it fills again as reads and compactions meet the damage. It outlives a
// reopening of the store. The maintenance thread logs what is new (Engine::LogDamage).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/metadata.h"
#include "rocksdb/status.h"
#include "storage/base/mutex.h"

namespace itemdb::storage {

// What met a damaged block first.
enum class DamageMetBy { kRead, kCheck, kCompaction };
std::string_view NameOf(DamageMetBy met_by);

// The table file that a RocksDB error names, and the byte in it, when the error says so.
struct DamagedPlace {
  // Without the directory: "000042.sst".
  std::string file;
  uint64_t offset = 0;
  // How much was to be read; 0: the error does not say.
  uint64_t bytes = 0;
};
// nullopt: `error` is neither a corruption nor a failed read, or names no table file.
std::optional<DamagedPlace> PlaceOfDamage(const rocksdb::Status& error);

// A block that could not be read.
struct Damage {
  DamagedPlace place;
  DamageMetBy met_by = DamageMetBy::kRead;
  // Microseconds since the Unix epoch.
  int64_t first_met_us = 0;
  // What RocksDB says, without the directory of the file.
  std::string error;
};

// A table file with damage, as the store has it now.
struct DamagedFile {
  // "000042.sst".
  std::string name;
  std::string path;
  std::string family;
  int level = 0;
  uint64_t bytes = 0;
  // The first and the last stored key of the file.
  std::string smallest_key;
  std::string largest_key;
  // By offset.
  std::vector<Damage> blocks;
};

// A table file that the store has, without damage.
DamagedFile DescribeFile(const rocksdb::LiveFileMetaData& file);

// Thread-safe.
class DamageRegister {
 public:
  // More damaged blocks than these are neither listed nor logged.
  static constexpr size_t kMaxBlocks = 1'000;

  // Adds the block that `error` names, unless it is known. Does nothing for an error that PlaceOfDamage does
  // not know. Never waits for the disk. A failed read of the disk is damage only when it has failed twice:
  // RecheckOne() decides.
  void Record(const rocksdb::Status& error, DamageMetBy met_by);
  // Whether failed reads wait for RecheckOne().
  bool HasFailedReads();
  // Asks `fails` to read one place again that could not be read, each in its turn. If it fails again, it is
  // damage; otherwise returns it. `fails` may wait for the disk. Not called by two threads at once.
  std::optional<Damage> RecheckOne(const std::function<bool(const DamagedPlace&)>& fails);

  // The known damage in the table files that `db` has. Forgets that of files that are gone.
  std::vector<DamagedFile> List(rocksdb::DB& db);
  // The same, but only blocks that were added since the last call.
  std::vector<DamagedFile> TakeNew(rocksdb::DB& db);

 private:
  // A file by name, and the offset of a block in it.
  using Block = std::pair<std::string, uint64_t>;

  struct Entry {
    Damage damage;
    bool is_new = true;
  };

  Mutex mutex_;
  std::map<Block, Entry> blocks_ ABSL_GUARDED_BY(mutex_);
  // Failed reads of the disk, until RecheckOne().
  std::map<Block, Entry> failed_reads_ ABSL_GUARDED_BY(mutex_);
  // By RecheckOne().
  Block last_rechecked_ ABSL_GUARDED_BY(mutex_);
  bool has_new_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace itemdb::storage
