#include "storage/indexes/build_state.h"

#include "storage/base/xxh3.h"
#include "storage/store/durable_file.h"
#include "storage/store/store.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

constexpr size_t kChecksumBytes = sizeof(XXH64_canonical_t);

// The field numbers of the file: never renumber, never reuse.
enum Field : uint32_t {
  kDatabaseId = 1,
  kTableStorageId,
  kIndexStorageId,
  kFirstPinnedChange,
  kLastViewSequence,
  kLastReadKey,
  kItemsRead,
  kItemsSkipped,
  kAllItemsRead,
  kNextRun,
  kRecords,
  // For each run the name of its file, then its size.
  kRunName,
  kRunBytes,
};

std::string ChecksumBytes(std::string_view text) {
  XXH64_canonical_t checksum;
  XXH64_canonicalFromHash(&checksum, XXH3_64bits(text.data(), text.size()));
  return std::string(reinterpret_cast<const char*>(checksum.digest), kChecksumBytes);
}

bool SetField(const wire::Field& field, BuildState* state) {
  switch (field.number) {
    case kDatabaseId:
      state->database_id = field.bytes;
      return true;
    case kTableStorageId:
      state->table_storage_id = field.varint;
      return true;
    case kIndexStorageId:
      state->index_storage_id = field.varint;
      return true;
    case kFirstPinnedChange:
      state->first_pinned_change = field.varint;
      return true;
    case kLastViewSequence:
      state->last_view_sequence = field.varint;
      return true;
    case kLastReadKey:
      state->last_read_key = field.bytes;
      return true;
    case kItemsRead:
      state->items_read = static_cast<int64_t>(field.varint);
      return true;
    case kItemsSkipped:
      state->items_skipped = static_cast<int64_t>(field.varint);
      return true;
    case kAllItemsRead:
      state->all_items_read = field.varint != 0;
      return true;
    case kNextRun:
      state->runs.next = field.varint;
      return true;
    case kRecords:
      state->runs.records = static_cast<int64_t>(field.varint);
      return true;
    case kRunName:
      state->runs.runs.push_back({std::string(field.bytes), 0});
      return true;
    case kRunBytes:
      if (state->runs.runs.empty()) return false;
      state->runs.runs.back().bytes = field.varint;
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string FileNameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::optional<BuildState> ReadBuildState(rocksdb::Env* env, const std::string& directory) {
  std::string text;
  if (!rocksdb::ReadFileToString(env, directory + "/" + kBuildStateFileName, &text).ok() ||
      text.size() < kChecksumBytes)
    return std::nullopt;
  std::string_view rest = std::string_view(text).substr(0, text.size() - kChecksumBytes);
  if (ChecksumBytes(rest) != std::string_view(text).substr(rest.size())) return std::nullopt;
  BuildState state;
  while (!rest.empty()) {
    wire::Field field;
    if (!wire::ConsumeField(&rest, &field) || !SetField(field, &state)) return std::nullopt;
  }
  for (SortedRuns::Run& run : state.runs.runs) {
    run.path.insert(0, directory + "/");
    if (!env->FileExists(run.path).ok()) return std::nullopt;
  }
  return state;
}

absl::Status DeleteBuildState(rocksdb::Env* env, const std::string& directory) {
  const std::string path = directory + "/" + kBuildStateFileName;
  if (!env->FileExists(path).ok()) return absl::OkStatus();
  rocksdb::Status status = env->DeleteFile(path);
  if (status.ok()) status = SyncDirectory(env, directory);
  return status.ok() ? absl::OkStatus() : FromRocksDB("cannot delete " + path, status);
}

absl::Status WriteBuildState(rocksdb::Env* env, const std::string& directory, const BuildState& state) {
  std::string text;
  wire::AppendBytesField(kDatabaseId, state.database_id, &text);
  wire::AppendVarintField(kTableStorageId, state.table_storage_id, &text);
  wire::AppendVarintField(kIndexStorageId, state.index_storage_id, &text);
  wire::AppendVarintField(kFirstPinnedChange, state.first_pinned_change, &text);
  wire::AppendVarintField(kLastViewSequence, state.last_view_sequence, &text);
  wire::AppendBytesField(kLastReadKey, state.last_read_key, &text);
  wire::AppendVarintField(kItemsRead, static_cast<uint64_t>(state.items_read), &text);
  wire::AppendVarintField(kItemsSkipped, static_cast<uint64_t>(state.items_skipped), &text);
  wire::AppendVarintField(kAllItemsRead, state.all_items_read ? 1 : 0, &text);
  wire::AppendVarintField(kNextRun, state.runs.next, &text);
  wire::AppendVarintField(kRecords, static_cast<uint64_t>(state.runs.records), &text);
  for (const SortedRuns::Run& run : state.runs.runs) {
    // Without the directory: its path may change before the next start.
    wire::AppendBytesField(kRunName, FileNameOf(run.path), &text);
    wire::AppendVarintField(kRunBytes, run.bytes, &text);
  }
  text += ChecksumBytes(text);
  const std::string path = directory + "/" + kBuildStateFileName;
  const rocksdb::Status status = ReplaceFile(env, path, text);
  return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + path, status);
}

}  // namespace itemdb::storage
