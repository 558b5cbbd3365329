#include "storage/loading/table_loader.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "rocksdb/sst_file_writer.h"
#include "storage/base/mutex.h"
#include "storage/indexes/index_entry.h"
#include "storage/indexes/record_sorter.h"
#include "storage/loading/item_writer.h"
#include "storage/store/keyspace.h"
#include "storage/store/rocksdb_options.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kItemsBetweenInterrupts = 1'024;
constexpr uint64_t kMaxLoadedFileBytes = 64 << 20;
constexpr auto kFullLevelInterval = std::chrono::milliseconds(20);
// Bounds the wait: a damaged file may keep RocksDB from ever compacting level 0.
constexpr auto kMaxFullLevelWait = std::chrono::seconds(30);
// Indexes that are written at a time.
constexpr size_t kMaxIndexWriters = 4;

// Why a load must not go on.
class Interrupts {
 public:
  Interrupts(const Engine& engine, const CancellationPtr& cancellation)
      : engine_(engine), cancellation_(cancellation) {}

  absl::Status Check() const {
    ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(cancellation_));
    // The store cannot be reopened while the load holds a view of it.
    if (engine_.IsFailed())
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is reopening");
    return engine_.disk_space().CheckNow();
  }

 private:
  const Engine& engine_;
  const CancellationPtr& cancellation_;
};

// Writes records, in the order of their keys, into table files of one column family, and ingests each file
// when it is full. One file is ingested at a time: `mutex` is held meanwhile.
class IngestedRecords {
 public:
  IngestedRecords(Store& store, rocksdb::ColumnFamilyHandle* family, std::string path_prefix,
                  const Interrupts& interrupts, Mutex& mutex)
      : store_(store),
        family_(family),
        path_prefix_(std::move(path_prefix)),
        interrupts_(interrupts),
        mutex_(mutex) {}

  absl::Status Add(std::string_view stored_key, std::string_view record) {
    if (writer_ != nullptr && writer_->FileSize() >= kMaxLoadedFileBytes) ITEMDB_RETURN_IF_ERROR(Ingest());
    if (writer_ == nullptr) {
      file_.path = path_prefix_ + std::to_string(files_++) + ".sst";
      writer_ = std::make_unique<rocksdb::SstFileWriter>(
          rocksdb::EnvOptions(), store_.db()->GetOptions(family_), family_, /*invalidate_page_cache=*/false);
      ITEMDB_RETURN_IF_ERROR(Wrap(writer_->Open(file_.path)));
    }
    return Wrap(writer_->Put(ToSlice(stored_key), ToSlice(record)));
  }
  // Ingests what was added. Does nothing if there is nothing.
  absl::Status Ingest() {
    if (writer_ == nullptr) return absl::OkStatus();
    rocksdb::ExternalSstFileInfo written;
    ITEMDB_RETURN_IF_ERROR(Wrap(writer_->Finish(&written)));
    writer_.reset();
    file_.checksum = written.file_checksum;
    file_.checksum_function = written.file_checksum_func_name;
    ITEMDB_RETURN_IF_ERROR(AwaitRoom());
    MutexLock lock(mutex_);
    return store_.Ingest(family_, {file_});
  }

 private:
  absl::Status Wrap(const rocksdb::Status& status) const {
    return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + file_.path, status);
  }
  // Waits while level 0 has many files, which delay writes. RocksDB ingests into level 0 if the range of
  // another file spans the new keys.
  absl::Status AwaitRoom() const {
    const auto until = std::chrono::steady_clock::now() + kMaxFullLevelWait;
    do {
      ITEMDB_RETURN_IF_ERROR(interrupts_.Check());
      std::string level0_files;
      (void)store_.db()->GetProperty(family_, rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0",
                                     &level0_files);
      if (std::atoi(level0_files.c_str()) < kLevel0CompactionFiles + 4) break;
      std::this_thread::sleep_for(kFullLevelInterval);
    } while (std::chrono::steady_clock::now() < until);
    return absl::OkStatus();
  }

  Store& store_;
  rocksdb::ColumnFamilyHandle* const family_;
  const std::string path_prefix_;
  const Interrupts& interrupts_;
  Mutex& mutex_;
  std::unique_ptr<rocksdb::SstFileWriter> writer_;
  SortedFile file_;
  int files_ = 0;
};

class Loader {
 public:
  Loader(Engine& engine, const v1::TableDescription& definition, std::shared_ptr<const ReadView> view,
         const std::string& directory, const CancellationPtr& cancellation, std::atomic<int64_t>* items_done)
      : engine_(engine),
        table_(MakeTable(definition)),
        directory_(directory),
        interrupts_(engine, cancellation),
        items_done_(*items_done),
        store_(*view->store()),
        items_space_(ItemsOf(store_, table_)),
        items_(store_, items_space_.family(), directory + "/items-", interrupts_, ingest_mutex_),
        collections_(store_, store_.stats(), directory + "/collections-", interrupts_, ingest_mutex_) {
    loaded_.view = std::move(view);
    const size_t memory =
        engine.options().index_build_bytes * 3 / 4 / std::max<size_t>(table_.indexes.size(), 1);
    for (const Index& index : table_.indexes) {
      entries_.push_back(std::make_unique<RecordSorter>(
          engine.env(), directory + "/entries-" + std::to_string(index.storage_id) + "-", memory));
    }
  }

  absl::StatusOr<LoadedTable> Run(ItemSource& source) {
    // The commit that gave out the storage ids must be durable before the records are: otherwise, after a
    // power cut, another table could get these ids and records.
    ITEMDB_RETURN_IF_ERROR(engine_.SyncNow());
    ITEMDB_RETURN_IF_ERROR(interrupts_.Check());
    // Counted by the writer's thread.
    SizeStatistics items;
    ItemWriter writer([this, &items](const ItemSource::Item& item) {
      const std::string record = EncodeRecord(table_.storage_id, item.key, item.size, item.item);
      items.AddRecord(item.size, ChecksumInRecord(record));
      return items_.Add(items_space_.StoredKey(item.key), record);
    });
    for (ItemSource::Item item;;) {
      ITEMDB_ASSIGN_OR_RETURN(const bool has_item, source.Next(&item));
      if (!has_item) break;
      ITEMDB_RETURN_IF_ERROR(writer.Add(item));
      ITEMDB_RETURN_IF_ERROR(AddItem(item));
      if (++items_done_ % kItemsBetweenInterrupts == 0) ITEMDB_RETURN_IF_ERROR(interrupts_.Check());
    }
    ITEMDB_RETURN_IF_ERROR(writer.Finish());
    if (items.items > 0) loaded_.size_statistics[table_.storage_id] = items;
    ITEMDB_RETURN_IF_ERROR(items_.Ingest());
    ITEMDB_RETURN_IF_ERROR(FinishCollection());
    ITEMDB_RETURN_IF_ERROR(collections_.Ingest());
    ITEMDB_RETURN_IF_ERROR(WriteIndexes());
    return std::move(loaded_);
  }

 private:
  // Makes the item's index entries, and counts it in its item collection.
  absl::Status AddItem(const ItemSource::Item& item) {
    int64_t local_bytes = 0;
    for (size_t i = 0; i < table_.indexes.size(); ++i) {
      const Index& index = table_.indexes[i];
      absl::StatusOr<std::optional<IndexEntry>> entry = MakeIndexEntry(index, ItemView(item.item), item.key);
      if (!entry.ok()) {
        ++loaded_.skipped_items[index.storage_id];
        continue;
      }
      if (!entry->has_value()) continue;
      if (index.local) local_bytes += static_cast<int64_t>((*entry)->item_size);
      std::string value;
      wire::AppendVarint((*entry)->item_size, &value);
      value += (*entry)->item;
      ITEMDB_RETURN_IF_ERROR(entries_[i]->Add((*entry)->key, value));
    }
    if (!table_.has_local_indexes) return absl::OkStatus();
    // The items of a collection follow each other.
    std::string key = CollectionKey(table_.storage_id, item.key);
    if (key != collection_key_) {
      ITEMDB_RETURN_IF_ERROR(FinishCollection());
      collection_key_ = std::move(key);
    }
    ++collection_.items;
    collection_.bytes += static_cast<int64_t>(item.size) + local_bytes;
    return absl::OkStatus();
  }

  absl::Status FinishCollection() {
    if (collection_.items == 0) return absl::OkStatus();
    const SizeStatistics size = std::exchange(collection_, {});
    return collections_.Add(collection_key_, EncodeStatistics(table_.storage_id, collection_key_, size));
  }

  // Writes several indexes at a time.
  absl::Status WriteIndexes() {
    const size_t count = table_.indexes.size();
    std::vector<absl::Status> statuses(count);
    std::vector<SizeStatistics> sizes(count);
    std::atomic<size_t> next = 0;
    const auto write = [&] {
      for (size_t i = next++; i < count; i = next++) {
        statuses[i] = WriteIndex(i, &sizes[i]);
        if (!statuses[i].ok()) next = count;
      }
    };
    const size_t writers = std::min({count, kMaxIndexWriters, size_t{std::thread::hardware_concurrency()}});
    std::vector<std::thread> threads;
    for (size_t i = 1; i < writers; ++i) threads.emplace_back(write);
    write();
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& status : statuses) ITEMDB_RETURN_IF_ERROR(status);
    for (size_t i = 0; i < count; ++i)
      if (sizes[i].items > 0) loaded_.size_statistics[table_.indexes[i].storage_id] = sizes[i];
    return absl::OkStatus();
  }

  absl::Status WriteIndex(size_t number, SizeStatistics* sizes) {
    const Index& index = table_.indexes[number];
    const Keyspace space = EntriesOf(store_, index);
    IngestedRecords records(store_, space.family(),
                            directory_ + "/index-" + std::to_string(index.storage_id) + "-", interrupts_,
                            ingest_mutex_);
    int64_t seen = 0;
    ITEMDB_RETURN_IF_ERROR(
        entries_[number]->ForEach([&](std::string_view key, std::string_view value) -> absl::Status {
          uint64_t size = 0;
          (void)wire::ConsumeVarint(&value, &size);
          const std::string record = EncodeRecord(index.storage_id, key, size, value);
          sizes->AddRecord(size, ChecksumInRecord(record));
          if (++seen % kItemsBetweenInterrupts == 0) ITEMDB_RETURN_IF_ERROR(interrupts_.Check());
          return records.Add(space.StoredKey(key), record);
        }));
    entries_[number].reset();
    return records.Ingest();
  }

  Engine& engine_;
  const Table table_;
  const std::string& directory_;
  const Interrupts interrupts_;
  Mutex ingest_mutex_;
  std::atomic<int64_t>& items_done_;
  Store& store_;
  const Keyspace items_space_;
  IngestedRecords items_;
  // Statistics of item collections, of a table with local indexes.
  IngestedRecords collections_;
  // The collection that is being counted.
  std::string collection_key_;
  SizeStatistics collection_;
  // By the number of the index.
  std::vector<std::unique_ptr<RecordSorter>> entries_;
  LoadedTable loaded_;
};

}  // namespace

absl::StatusOr<LoadedTable> LoadTable(Engine& engine, const v1::TableDescription& definition,
                                      ItemSource& source, const std::string& directory,
                                      const CancellationPtr& cancellation, std::atomic<int64_t>* items_done) {
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const ReadView> view, engine.View());
  const CacheReservation memory_for_sorting(view->store(), engine.options().index_build_bytes);
  return Loader(engine, definition, std::move(view), directory, cancellation, items_done).Run(source);
}

}  // namespace itemdb::storage
