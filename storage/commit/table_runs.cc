#include "storage/commit/table_runs.h"

#include <algorithm>

#include "storage/keys/storage_id.h"
#include "storage/store/sequence_key.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

constexpr int kEpochBits = 20;
constexpr size_t kEpochBytes = 4;

void AppendBigEndian(uint64_t number, size_t bytes, std::string* out) {
  for (size_t i = bytes; i-- > 0;) out->push_back(static_cast<char>(number >> (8 * i)));
}

}  // namespace

uint64_t EpochOf(uint64_t sequence) { return sequence >> kEpochBits; }

uint64_t EndOfEpoch(uint64_t epoch) { return (epoch + 1) << kEpochBits; }

std::string TableRunsPrefix(uint64_t epoch) {
  std::string prefix;
  AppendBigEndian(epoch, kEpochBytes, &prefix);
  return prefix;
}

std::string TableRunsPrefix(uint64_t epoch, uint64_t storage_id) {
  std::string prefix = TableRunsPrefix(epoch);
  AppendStorageId(storage_id, &prefix);
  return prefix;
}

std::string TableRunsKey(uint64_t storage_id, uint64_t first) {
  return TableRunsPrefix(EpochOf(first), storage_id) + SequenceKey(first);
}

uint64_t FirstOfTableRuns(std::string_view key) {
  if (key.size() < sizeof(uint64_t)) return 0;
  return ParseSequenceKey(key.substr(key.size() - sizeof(uint64_t))).value_or(0);
}

void TableRunsOfGroup::Add(uint64_t storage_id, uint64_t sequence) {
  if (!runs_.empty() && runs_.back().storage_id == storage_id && runs_.back().end() == sequence &&
      EpochOf(runs_.back().first) == EpochOf(sequence)) {
    ++runs_.back().length;
  } else {
    runs_.push_back({storage_id, sequence, 1});
  }
}

std::vector<TableRunsOfGroup::Record> TableRunsOfGroup::Encode() const {
  std::vector<TableRun> runs = runs_;
  std::stable_sort(runs.begin(), runs.end(),
                   [](const TableRun& a, const TableRun& b) { return a.storage_id < b.storage_id; });
  std::vector<Record> records;
  std::string payload;
  for (size_t i = 0; i < runs.size(); ++i) {
    const TableRun& run = runs[i];
    const bool begins = payload.empty();
    wire::AppendVarint(begins ? 0 : run.first - runs[i - 1].end(), &payload);
    wire::AppendVarint(run.length, &payload);
    if (begins) records.push_back({TableRunsKey(run.storage_id, run.first), ""});
    if (i + 1 < runs.size() && runs[i + 1].storage_id == run.storage_id &&
        EpochOf(runs[i + 1].first) == EpochOf(run.first))
      continue;
    records.back().value = EncodeRecord(kChangesStorageId, records.back().key, 0, payload);
    payload.clear();
  }
  return records;
}

std::optional<std::vector<TableRun>> DecodeTableRuns(std::string_view key, std::string_view record) {
  const std::optional<StoredRecord> stored = DecodeRecord(kChangesStorageId, key, record);
  if (!stored.has_value() || key.size() < kEpochBytes) return std::nullopt;
  std::string_view rest = key.substr(kEpochBytes);
  const std::optional<uint64_t> storage_id = ConsumeStorageId(&rest);
  const std::optional<uint64_t> first = ParseSequenceKey(rest);
  if (!storage_id.has_value() || !first.has_value()) return std::nullopt;

  std::vector<TableRun> runs;
  uint64_t next = *first;
  for (std::string_view payload = stored->payload; !payload.empty();) {
    uint64_t gap = 0;
    uint64_t length = 0;
    if (!wire::ConsumeVarint(&payload, &gap) || !wire::ConsumeVarint(&payload, &length) || length == 0)
      return std::nullopt;
    runs.push_back({*storage_id, next + gap, length});
    next = runs.back().end();
  }
  if (runs.empty()) return std::nullopt;
  return runs;
}

}  // namespace itemdb::storage
