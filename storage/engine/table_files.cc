#include "storage/engine/table_files.h"

#include <memory>

#include "rocksdb/sst_file_reader.h"
#include "storage/store/damaged_block.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

rocksdb::ReadOptions ReadOnce() {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.fill_cache = false;
  return options;
}

rocksdb::Options ReaderOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  options.env = env;
  return options;
}

bool IsDamage(const rocksdb::Status& status) { return status.IsCorruption() || IsMissingFile(status); }

// The status of reading the first and the last block.
rocksdb::Status ReadEnds(rocksdb::SstFileReader& reader) {
  std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(ReadOnce()));
  it->SeekToFirst();
  if (it->status().ok()) it->SeekToLast();
  return it->status();
}

}  // namespace

std::string TableFileId(const rocksdb::TableProperties& properties) {
  return properties.db_session_id + "-" + std::to_string(properties.orig_file_number);
}

absl::StatusOr<FileExamination> ExamineTableFile(rocksdb::Env* env, const std::string& path, bool whole) {
  FileExamination found;
  rocksdb::SstFileReader reader(ReaderOptions(env));
  rocksdb::Status status = reader.Open(path);
  if (status.ok()) {
    found.state = FileState::kReadable;
    const rocksdb::TableProperties& properties = *reader.GetTableProperties();
    found.family = properties.column_family_name;
    found.id = TableFileId(properties);
    found.entries = properties.num_entries;
    status = ReadEnds(reader);
    if (status.ok() && whole) status = reader.VerifyChecksum(ReadOnce());
    if (!status.ok()) found.state = FileState::kDamaged;
  }
  if (!status.ok() && !IsDamage(status)) return FromRocksDB("cannot read " + path, status);
  if (!status.ok()) found.error = status.ToString();
  return found;
}

absl::StatusOr<ReadRecords> ForEachReadableRecord(
    rocksdb::Env* env, const std::string& path,
    const std::function<absl::Status(std::string_view key, std::string_view record)>& visit) {
  rocksdb::SstFileReader reader(ReaderOptions(env));
  rocksdb::Status status = reader.Open(path);
  if (!status.ok()) return FromRocksDB("cannot read " + path, status);
  ReadRecords read;
  const auto make = [&] { return std::unique_ptr<rocksdb::Iterator>(reader.NewIterator(ReadOnce())); };
  std::unique_ptr<rocksdb::Iterator> it = make();
  std::string last;
  it->SeekToFirst();
  do {
    for (; it->Valid(); it->Next()) {
      last = it->key().ToString();
      ITEMDB_RETURN_IF_ERROR(visit(last, ToView(it->value())));
      ++read.records;
    }
    if (it->status().ok()) return read;
    ++read.damaged_ranges;
  } while (StepPastDamage(make, last, kBehindAllKeys, &it));
  // The end of the file is damaged.
  if (!it->status().IsCorruption()) return FromRocksDB("cannot read " + path, it->status());
  return read;
}

}  // namespace itemdb::storage
