#include "storage/engine/catalog_copy.h"

#include "storage/store/catalog_records.h"
#include "storage/store/damaged_block.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/durable_file.h"
#include "storage/store/sequence_key.h"
#include "storage/store/store.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kHeader = "itemdb catalog 1\n";
constexpr uint32_t kKeyField = 1;
constexpr uint32_t kRecordField = 2;

std::string PathOf(const std::string& directory) { return directory + "/CATALOG"; }

// Takes a record if it is undamaged.
void Add(std::string_view key, std::string_view record, ReadableRecords* readable) {
  if (DecodeRecord(kCatalogStorageId, key, record).has_value()) {
    readable->records.emplace(key, record);
  } else {
    readable->damaged = true;
  }
}

}  // namespace

ReadableRecords ReadCatalogCopy(rocksdb::Env* env, const std::string& directory) {
  ReadableRecords readable;
  const std::string path = PathOf(directory);
  if (env->FileExists(path).IsNotFound()) return readable;
  std::string text;
  std::string_view rest;
  if (rocksdb::ReadFileToString(env, path, &text).ok()) rest = text;
  readable.damaged = !rest.starts_with(kHeader);
  if (readable.damaged) return readable;
  rest.remove_prefix(kHeader.size());
  while (!rest.empty()) {
    wire::Field key, record;
    if (!wire::ConsumeField(&rest, &key) || key.number != kKeyField || !wire::ConsumeField(&rest, &record) ||
        record.number != kRecordField) {
      readable.damaged = true;
      break;
    }
    Add(key.bytes, record.bytes, &readable);
  }
  return readable;
}

ReadableRecords ReadCatalogRecords(const Store& store, const rocksdb::Snapshot* snapshot) {
  ReadableRecords readable;
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  const auto make = [&] { return store.NewIterator(options, store.catalog()); };
  std::unique_ptr<rocksdb::Iterator> it = make();
  it->SeekToFirst();
  std::string last;
  do {
    for (; it->Valid(); it->Next()) {
      last = it->key().ToString();
      Add(last, ToView(it->value()), &readable);
    }
    readable.damaged |= !it->status().ok();
  } while (!it->status().ok() && StepPastDamage(make, last, /*end=*/"\xff", &it));
  return readable;
}

std::optional<v1::TableDescription> DecodeTable(std::string_view key, std::string_view record) {
  const std::optional<StoredRecord> decoded = DecodeRecord(kCatalogStorageId, key, record);
  v1::TableDescription table;
  if (!decoded.has_value() || !table.ParseFromString(std::string(decoded->payload))) return std::nullopt;
  return table;
}

int64_t AddMissing(const CatalogRecords& copy, CatalogRecords* catalog) {
  int64_t tables = 0;
  const CatalogRecords before = *catalog;
  for (const auto& [key, record] : copy) {
    if (key.starts_with(kTableKeyPrefix)) {
      const auto table = DecodeTable(key, record);
      if (!table.has_value() || before.contains(DroppedKey(table->storage_id())) ||
          before.contains(DeletedTableKey(table->storage_id())))
        continue;
      if (catalog->emplace(key, record).second) ++tables;
    } else if (key.starts_with(kStreamKeyPrefix)) {
      catalog->emplace(key, record);
    }
  }
  return tables;
}

absl::Status CatalogCopy::Update(const ReadView& view) {
  if (written_.lock() == view.shared_catalog()) return absl::OkStatus();
  const ReadableRecords readable = ReadCatalogRecords(*view.store(), view.snapshot());
  if (readable.damaged) return DataLossError("the catalog is damaged; its copy stays as it is");
  std::string text(kHeader);
  for (const auto& [key, record] : readable.records) {
    wire::AppendBytesField(kKeyField, key, &text);
    wire::AppendBytesField(kRecordField, record, &text);
  }
  std::string current;
  const bool is_current =
      rocksdb::ReadFileToString(env_, PathOf(directory_), &current).ok() && current == text;
  const rocksdb::Status status =
      is_current ? rocksdb::Status::OK() : ReplaceFile(env_, PathOf(directory_), text);
  if (!status.ok()) return FromRocksDB("cannot write " + PathOf(directory_), status);
  written_ = view.shared_catalog();
  return absl::OkStatus();
}

}  // namespace itemdb::storage
