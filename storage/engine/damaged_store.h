// A store that may be damaged: opens a copy of it as far as that is possible, and finds out which of its
// files and column families are readable. The first half of a recovery with losses (last_good.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "storage/api/damage_report.h"
#include "storage/base/status.h"
#include "storage/engine/catalog_copy.h"
#include "storage/engine/completeness.h"
#include "storage/engine/durability_watermark.h"
#include "storage/engine/given_out.h"
#include "storage/engine/quarantine.h"
#include "storage/engine/table_files.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// Not thread-safe.
class DamagedStore {
 public:
  struct DamagedFile {
    std::string path;
    std::string family;
  };

  // `before`: the watermark of `directory`. `folders`: where the copy is made; must outlive this object.
  DamagedStore(std::string directory, const StoreOptions& options, const DurabilityWatermark& before,
               RecoveryFolders& folders);

  // Opens the copy and reads all of it but the items. Only a missing file and a corruption are damage: any
  // other error, such as EIO, is returned.
  absl::Status Read();
  // Closes the copy, so that RocksDB deletes no file of it.
  void Close() { copy_.reset(); }

  const std::string& directory() const { return directory_; }
  // For further stores of the recovery.
  const StoreOptions& options() const { return options_; }
  const DurabilityWatermark& before() const { return before_; }
  RecoveryFolders& folders() const { return folders_; }

  // ---- after Read ----

  // Whether all of a column family is readable, or, of the items, the ends of all its files.
  bool IsReadable(Store::FamilyNumber number) const { return !unreadable_.contains(number); }
  // Files of the copy whose first and last block are readable.
  const Store::FamilyFiles& readable_files() const { return readable_files_; }
  // Files of the copy that can be opened, but whose first or last block is damaged.
  const std::vector<DamagedFile>& damaged_files() const { return damaged_files_; }
  // All lost and damaged files.
  const std::vector<DamagedFileReport>& file_reports() const { return file_reports_; }
  // Whether a lost or damaged file may have had items.
  bool has_lost_items() const { return has_lost_items_; }
  // The catalog for the recovered store: from the store and from the file CATALOG.
  const CatalogRecords& catalog() const { return catalog_; }
  // Size statistics of tables and indexes that are readable: the records by key, and numbers of items by
  // storage id.
  const std::map<std::string, std::string>& statistics() const { return statistics_; }
  const std::map<uint64_t, int64_t>& recorded_items() const { return recorded_items_; }
  // What the change log has from changes_start on.
  const ChangeLogExtent& extent() const { return extent_; }
  uint64_t changes_start() const { return changes_start_; }
  // Behind every change sequence that may have been given out.
  uint64_t next_sequence() const { return next_sequence_; }

 private:
  absl::Status OpenCopy();
  // Which files and families of the copy are readable.
  absl::Status Examine();
  absl::Status ReadCatalog();
  absl::Status MeasureChanges();

  absl::Status OpenWith(rocksdb::WALRecoveryMode mode, bool with_unreadable_files);
  absl::Status OpenWithNewManifest();
  absl::Status SetAsideDamagedFiles(std::set<std::string>* families);
  absl::Status AddEmptyFiles(const std::set<std::string>& families);
  void ReportFile(const std::string& path, const FileExamination& found);
  absl::StatusOr<std::shared_ptr<Store>> StoreOfReadableFiles();
  void ReadTableStatistics(const Store& store);

  const std::string directory_;
  StoreOptions options_;
  const DurabilityWatermark before_;
  RecoveryFolders& folders_;
  // The opened copy.
  std::shared_ptr<Store> copy_;
  bool has_new_manifest_ = false;
  // All files that the manifest of the copy names.
  LiveFiles all_files_;
  Store::FamilyFiles readable_files_;
  std::vector<DamagedFile> damaged_files_;
  std::vector<DamagedFileReport> file_reports_;
  // Families with a file that is lost or damaged, or with a damaged record.
  std::set<Store::FamilyNumber> unreadable_;
  bool has_lost_items_ = false;
  CatalogRecords catalog_;
  std::map<std::string, std::string> statistics_;
  std::map<uint64_t, int64_t> recorded_items_;
  ChangeLogExtent extent_;
  uint64_t changes_start_ = 1;
  uint64_t next_sequence_ = 1;
};

}  // namespace itemdb::storage
