#include "storage/vectors/entry_reads.h"

#include <algorithm>

#include "storage/indexes/index_entry.h"
#include "storage/keys/key_codec.h"
#include "storage/store/keyspace.h"
#include "storage/values/float_vector.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kRecordsBetweenChecks = 128;
constexpr size_t kEntryReadAheadBytes = 1 << 20;

}  // namespace

rocksdb::ReadOptions WholeIndex(const ReadView& view) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  options.total_order_seek = true;
  options.fill_cache = false;
  options.readahead_size = kEntryReadAheadBytes;
  return options;
}

std::optional<VectorEntry> ReadVectorEntry(const Table& table, const Index& index, std::string_view key,
                                           ItemView entry, std::string_view* base_key) {
  const std::optional<std::string_view> base = BaseKeyOf(table, index, key);
  const std::optional<std::string_view> packed = PackedVectorOf(index, entry);
  if (!base.has_value() || !packed.has_value()) return std::nullopt;
  VectorEntry read{.partition = std::string(key.substr(0, key.size() - base->size())),
                   .packed = std::string(*packed),
                   .filters = {}};
  for (const KeyAttribute& filter : index.vector->filters) {
    const std::optional<ValueView> value = entry.Find(filter.name);
    read.filters.push_back(value.has_value() ? HashOfFilter(value->encoded()) : kNoFilterValue);
  }
  *base_key = *base;
  return read;
}

absl::Status SearchEntries(const PreparedSearch& search, const VectorScorer& scorer,
                           const std::vector<std::string>& excluded, VectorCheck check, TopHits* hits) {
  const ReadView& view = *search.view;
  const Index& index = *search.index;
  KeyRange range;
  if (!search.partition.empty()) range = {search.partition, PrefixSuccessor(search.partition)};
  KeyspaceIterator it(*view.store(), EntriesOf(*view.store(), index), WholeIndex(view), range);
  std::vector<float> vector(index.vector->dimensions);
  int64_t seen = 0;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    if (++seen % kRecordsBetweenChecks == 0) ITEMDB_RETURN_IF_ERROR(check());
    const std::optional<StoredRecord> stored = DecodeRecord(index.storage_id, it.key(), it.value());
    const std::optional<std::string_view> base_key = BaseKeyOf(*search.table, index, it.key());
    std::optional<std::string_view> packed;
    if (stored.has_value()) packed = PackedVectorOf(index, ItemView(stored->payload));
    if (!base_key.has_value() || !packed.has_value()) return DamagedRecordError(search.Owner(), it.key());
    if (!FitsFilters(search, ItemView(stored->payload))) continue;
    if (std::find(excluded.begin(), excluded.end(), *base_key) != excluded.end()) continue;
    UnpackVector(*packed, vector);
    const float inverse = scorer.needs_length() ? InverseLength(vector.data(), vector.size()) : 0;
    hits->Add(scorer.Rank(vector.data(), inverse), *base_key);
  }
  if (!it.status().ok()) return view.store()->ReadError("cannot read " + search.Owner(), it.status());
  return absl::OkStatus();
}

}  // namespace itemdb::storage
