#include "storage/engine/readable_items.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "storage/engine/table_files.h"
#include "storage/store/damaged_block.h"

namespace itemdb::storage {
namespace {

using Visit = std::function<absl::Status(std::string_view key, std::string_view record)>;

class ItemReader {
 public:
  ItemReader(rocksdb::Env* env, const Store& store, const Visit& visit)
      : env_(env), store_(store), visit_(visit) {
    options_.total_order_seek = true;
    options_.fill_cache = false;
    options_.readahead_size = 1 << 20;
  }

  absl::Status Run();
  const ItemsRead& read() const { return read_; }

 private:
  std::unique_ptr<rocksdb::Iterator> NewIterator(const rocksdb::ReadOptions& options) const {
    return store_.NewIterator(options, store_.items());
  }
  // Adds the damaged files that may have keys from `from` to `to` to damaged_ids_.
  absl::Status FindDamagedFiles(const std::string& from, const std::string& to);
  // Reads the keys behind `from` and before `to` in the undamaged files.
  absl::Status ReadBetween(const std::string& from, const std::string& to);
  absl::Status VisitIfNewest(const rocksdb::Iterator& it);

  rocksdb::Env* const env_;
  const Store& store_;
  const Visit& visit_;
  rocksdb::ReadOptions options_;
  ItemsRead read_;
  // Paths of files that were examined, and TableFileId of those that are damaged.
  std::set<std::string> examined_;
  std::set<std::string> damaged_ids_;
};

absl::Status ItemReader::Run() {
  const auto make = [this] { return NewIterator(options_); };
  std::unique_ptr<rocksdb::Iterator> it = make();
  std::string last;
  it->SeekToFirst();
  while (true) {
    for (; it->Valid(); it->Next()) {
      last = it->key().ToString();
      ITEMDB_RETURN_IF_ERROR(visit_(last, ToView(it->value())));
    }
    if (it->status().ok()) return absl::OkStatus();
    ++read_.damaged_ranges;
    const bool goes_on = StepPastDamage(make, last, kBehindAllKeys, &it);
    if (!it->status().ok() && !it->status().IsCorruption())
      return FromRocksDB("cannot read items", it->status());
    const bool has_next = goes_on && it->Valid();
    ITEMDB_RETURN_IF_ERROR(ReadBetween(last, has_next ? it->key().ToString() : kBehindAllKeys));
    if (!has_next) return absl::OkStatus();
  }
}

absl::Status ItemReader::FindDamagedFiles(const std::string& from, const std::string& to) {
  std::vector<rocksdb::LiveFileMetaData> files;
  store_.db()->GetLiveFilesMetaData(&files);
  for (const rocksdb::LiveFileMetaData& file : files) {
    if (file.column_family_name != Store::kFamilyNames[Store::kItems]) continue;
    if (file.largestkey < from || file.smallestkey > to) continue;
    const std::string path = file.db_path + file.name;
    if (!examined_.insert(path).second) continue;
    ITEMDB_ASSIGN_OR_RETURN(const FileExamination found, ExamineTableFile(env_, path, /*whole=*/true));
    if (found.state != FileState::kReadable) damaged_ids_.insert(found.id);
  }
  return absl::OkStatus();
}

absl::Status ItemReader::ReadBetween(const std::string& from, const std::string& to) {
  ITEMDB_RETURN_IF_ERROR(FindDamagedFiles(from, to));
  rocksdb::ReadOptions options = options_;
  options.table_filter = [this](const rocksdb::TableProperties& properties) {
    return !damaged_ids_.contains(TableFileId(properties));
  };
  const std::unique_ptr<rocksdb::Iterator> it = NewIterator(options);
  for (it->Seek(from); it->Valid() && ToView(it->key()) < to; it->Next()) {
    if (ToView(it->key()) == from) continue;
    ITEMDB_RETURN_IF_ERROR(VisitIfNewest(*it));
  }
  return it->status().ok() ? absl::OkStatus() : FromRocksDB("cannot read items", it->status());
}

absl::Status ItemReader::VisitIfNewest(const rocksdb::Iterator& it) {
  rocksdb::PinnableSlice record;
  const rocksdb::Status status = store_.db()->Get(options_, store_.items(), it.key(), &record);
  if (status.ok()) return visit_(ToView(it.key()), ToView(record));
  if (status.IsCorruption()) ++read_.in_doubt;
  if (status.IsCorruption() || status.IsNotFound()) return absl::OkStatus();
  return FromRocksDB("cannot read an item", status);
}

}  // namespace

absl::StatusOr<ItemsRead> ForEachReadableItem(rocksdb::Env* env, const Store& store, const Visit& visit) {
  ItemReader reader(env, store, visit);
  ITEMDB_RETURN_IF_ERROR(reader.Run());
  return reader.read();
}

}  // namespace itemdb::storage
