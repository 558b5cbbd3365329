#include "storage/query/scan_segments.h"

#include <algorithm>

#include "storage/base/limits.h"
#include "storage/schema/table_changes.h"
#include "storage/store/catalog_records.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

// With up to this many records, every record is visited, which is exact and takes milliseconds. With more,
// the split points are estimated from sizes.
constexpr int64_t kExactRecords = 50'000;
// Steps of the binary search for one split point. Each step decides one bit of the key, after the common
// prefix of the range's two ends.
constexpr int kMaxHalvings = 96;

// Fields of a stored set. A set without kReplaceableField is permanent.
constexpr uint32_t kPointField = 1;
constexpr uint32_t kReplaceableField = 2;

std::string EncodeSplits(std::string_view key, const SplitPoints& points, bool is_permanent) {
  std::string payload;
  for (const std::string& point : points) wire::AppendBytesField(kPointField, point, &payload);
  if (!is_permanent) wire::AppendVarintField(kReplaceableField, 1, &payload);
  return EncodeRecord(kCatalogStorageId, key, 0, payload);
}

// Null: the record does not decode.
ScanSegments::Found DecodeSplits(std::string_view key, std::string_view record, int32_t number) {
  std::optional<StoredRecord> stored = DecodeRecord(kCatalogStorageId, key, record);
  if (!stored.has_value()) return nullptr;
  SplitPoints points;
  bool is_permanent = true;
  std::string_view rest = stored->payload;
  while (!rest.empty()) {
    wire::Field field;
    if (!wire::ConsumeField(&rest, &field)) return nullptr;
    if (field.number == kPointField) points.emplace_back(field.bytes);
    if (field.number == kReplaceableField) is_permanent = field.varint == 0;
  }
  return std::make_shared<ScanSegments::Splits>(std::move(points), number, is_permanent);
}

uint64_t StorageIdOf(const ScanSegments::Request& request) {
  return request.index != nullptr ? request.index->storage_id : request.table->storage_id;
}

// A string about half way between `lower` and `upper` (`lower` is the smaller). `lower` itself if the two do
// not differ in the 15 bytes after their common prefix, or differ there by 1 only.
std::string Middle(std::string_view lower, std::string_view upper) {
  size_t shared = 0;
  while (shared < lower.size() && shared < upper.size() && lower[shared] == upper[shared]) ++shared;
  auto number = [shared](std::string_view key) {
    unsigned __int128 value = 0;
    for (size_t i = shared; i < shared + 15; ++i) value = value << 8 | (i < key.size() ? uint8_t(key[i]) : 0);
    return value;
  };
  unsigned __int128 middle = (number(lower) + number(upper)) / 2;
  if (middle <= number(lower)) return std::string(lower);
  std::string key(lower.substr(0, shared));
  for (int shift = 14 * 8; shift >= 0; shift -= 8) key.push_back(static_cast<char>(middle >> shift));
  return key;
}

// Whether the table of this name, or an index of it, has the storage id. A table cannot be renamed.
bool IsInUse(const Catalog& catalog, const std::string& table_name, uint64_t storage_id) {
  const std::shared_ptr<const Table> table = catalog.FindByName(table_name);
  return table != nullptr &&
         (table->storage_id == storage_id || table->FindIndexByStorageId(storage_id) != nullptr);
}

// Visits every record and splits by number of records.
absl::StatusOr<SplitPoints> SplitByNumber(const Store& store, KeyspaceIterator& it, int32_t parts,
                                          int64_t records) {
  SplitPoints points;
  int64_t visited = 0;
  for (it.SeekToFirst(); it.Valid(); it.Next(), ++visited) {
    if (visited * parts >= records * static_cast<int64_t>(points.size() + 1)) points.emplace_back(it.key());
    if (static_cast<int32_t>(points.size()) + 1 == parts) break;
  }
  if (!it.status().ok()) return store.ReadError("cannot read a table to split it", it.status());
  return points;
}

// Searches for the keys below which 1/parts, 2/parts, ... of the bytes lie, by estimated sizes.
absl::StatusOr<SplitPoints> SplitBySize(const Store& store, const Keyspace& keyspace, KeyspaceIterator& it,
                                        int32_t parts, const CancellationPtr& cancellation) {
  SplitPoints points;
  it.SeekToLast();
  if (!it.Valid()) return points;
  const std::string last(it.key());
  it.SeekToFirst();
  if (!it.Valid()) return points;
  const std::string first(it.key());
  auto size_up_to = [&](const std::string& key) {
    const std::string from = keyspace.StoredKey(first);
    const std::string to = keyspace.StoredKey(key);
    rocksdb::Range range(from, to);
    uint64_t size = 0;
    rocksdb::SizeApproximationOptions options;
    options.include_memtables = true;
    options.files_size_error_margin = 0.01;
    (void)store.db()->GetApproximateSizes(options, keyspace.family(), &range, 1, &size);
    return size;
  };
  const uint64_t total = size_up_to(last);
  for (int32_t part = 1; part < parts; ++part) {
    ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(cancellation));
    const uint64_t wanted = total / parts * part;
    std::string lower = points.empty() ? first : points.back();
    std::string upper = last;
    for (int i = 0; i < kMaxHalvings; ++i) {
      std::string middle = Middle(lower, upper);
      if (middle == lower) break;
      (size_up_to(middle) < wanted ? lower : upper) = std::move(middle);
    }
    // Move to the next existing key, which belongs to the next segment.
    it.Seek(upper);
    if (!it.Valid()) break;
    std::string point(it.key());
    if (point > first && (points.empty() || point > points.back())) points.push_back(std::move(point));
  }
  if (!it.status().ok()) return store.ReadError("cannot read a table to split it", it.status());
  return points;
}

}  // namespace

KeyRange SegmentRange(const SplitPoints& points, int32_t segment, int32_t total_segments) {
  const int64_t ranges = static_cast<int64_t>(points.size()) + 1;
  // The first range of a segment.
  auto first_range = [&](int64_t i) {
    return ranges <= total_segments ? std::min(i, ranges) : i * ranges / total_segments;
  };
  const int64_t from = first_range(segment);
  const int64_t to = first_range(int64_t{segment} + 1);
  // There are more segments than ranges: this range is empty, as no key is below "\0".
  if (from == to) return KeyRange{"", std::string(1, '\0')};
  return KeyRange{from == 0 ? "" : points[from - 1], to == ranges ? "" : points[to - 1]};
}

absl::StatusOr<SplitPoints> MeasureSplitPoints(const ReadView& view, const Keyspace& keyspace, int32_t parts,
                                               int64_t records, const CancellationPtr& cancellation) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  options.total_order_seek = true;
  options.fill_cache = false;
  KeyspaceIterator it(*view.store(), keyspace, options);
  parts = std::min(parts, kMaxScanRanges);
  if (records <= kExactRecords) return SplitByNumber(*view.store(), it, parts, records);
  return SplitBySize(*view.store(), keyspace, it, parts, cancellation);
}

int32_t ScanSegments::NumberFor(const OfKeyspace& known, int32_t total_segments) {
  // Segments beyond kMaxScanRanges are empty, so all such numbers of segments share their split points.
  const int32_t own = std::min(total_segments, kMaxScanRanges);
  if (known.sets.contains(own)) return own;
  const size_t others = known.sets.size() - known.sets.count(kMaxScanRanges);
  return others + 1 < kMaxSplits ? own : kMaxScanRanges;
}

ScanSegments::Found ScanSegments::Use(const Request& request) {
  MutexLock lock(mutex_);
  auto known = known_.find(StorageIdOf(request));
  if (known == known_.end()) return nullptr;
  auto found = known->second.sets.find(NumberFor(known->second, request.total_segments));
  if (found == known->second.sets.end()) return nullptr;
  Splits& splits = *found->second;
  const auto now = std::chrono::steady_clock::now();
  if (request.begins && !splits.is_permanent.load() && now - splits.used > unused_for_) return nullptr;
  splits.used = now;
  return found->second;
}

ScanSegments::Found ScanSegments::SetOrNull(const OfKeyspace& known, int32_t number) {
  const auto found = known.sets.find(number);
  return found == known.sets.end() ? nullptr : found->second;
}

absl::Status ScanSegments::Load(const ReadView& view, const Request& request) {
  const uint64_t storage_id = StorageIdOf(request);
  {
    MutexLock lock(mutex_);
    if (known_.contains(storage_id)) return absl::OkStatus();
    // Remove the split points of deleted tables and indexes.
    std::erase_if(known_, [&view](const auto& entry) {
      return !IsInUse(view.catalog(), entry.second.table_name, entry.first);
    });
  }
  // Of a deleted table nothing is kept.
  if (!IsInUse(view.catalog(), request.table->name, storage_id)) return absl::OkStatus();
  OfKeyspace loaded{.table_name = request.table->name, .sets = {}};
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> keys, ScanSegmentKeys(view, storage_id));
  for (const std::string& key : keys) {
    const int32_t number = ScanSegmentNumber(key);
    std::string record;
    rocksdb::ReadOptions options;
    options.snapshot = view.snapshot();
    rocksdb::Status status = view.store()->db()->Get(options, view.store()->catalog(), key, &record);
    if (!status.ok()) return view.store()->ReadError("cannot read the segments of a scan", status);
    Found splits = DecodeSplits(key, record, number);
    if (splits == nullptr)
      return absl::DataLossError("the segments of parallel scans of table " + request.table->name +
                                 " do not decode");
    splits->used = std::chrono::steady_clock::now();
    loaded.sets.emplace(number, std::move(splits));
  }
  MutexLock lock(mutex_);
  known_.emplace(storage_id, std::move(loaded));
  return absl::OkStatus();
}

absl::StatusOr<ScanSegments::Found> ScanSegments::Store(const Request& request, Found splits,
                                                        bool is_permanent) {
  const uint64_t storage_id = StorageIdOf(request);
  const std::string key = ScanSegmentKey(storage_id, splits->number);
  // Reads are not refused on a full disk; these are a few records.
  const auto put = [&](CommitGroup& group) {
    // If the table was deleted meanwhile, nobody would ever remove this record.
    if (!IsInUse(*group.catalog(), request.table->name, storage_id)) return absl::OkStatus();
    group.PutCatalog(key, EncodeSplits(key, splits->points, is_permanent));
    return absl::OkStatus();
  };
  ITEMDB_RETURN_IF_ERROR(
      CommitAndWait(engine_, put, {.space = WriteSpace::kFrees, .origin = WriteOrigin::kUpkeep}).status());
  splits->is_permanent.store(is_permanent);
  return splits;
}

absl::StatusOr<ScanSegments::Found> ScanSegments::FindOrMeasure(const Request& request) {
  // An earlier request in the queue may have measured them.
  if (Found found = Use(request); found != nullptr) return found;
  ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(request.cancellation));
  const uint64_t storage_id = StorageIdOf(request);
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
  ITEMDB_RETURN_IF_ERROR(Load(*view, request));
  if (Found found = Use(request); found != nullptr) return found;
  // Other segments may have been read with split points that were deleted with the table.
  if (!IsInUse(view->catalog(), request.table->name, storage_id)) {
    return ValidationError("SEM-033", "table " + request.table->name +
                                          " or its index is deleted, so the ranges of its segments are no "
                                          "longer known; scan it without segments");
  }
  int32_t number = 0;
  {
    MutexLock lock(mutex_);
    number = NumberFor(known_[storage_id], request.total_segments);
  }
  ITEMDB_ASSIGN_OR_RETURN(SizeStatistics size_statistics, ReadStatistics(*view, storage_id));
  const Keyspace keyspace = request.index != nullptr ? EntriesOf(*view->store(), *request.index)
                                                     : ItemsOf(*view->store(), *request.table);
  ITEMDB_ASSIGN_OR_RETURN(
      SplitPoints points,
      MeasureSplitPoints(*view, keyspace, number, size_statistics.items, request.cancellation));
  ITEMDB_ASSIGN_OR_RETURN(Found splits,
                          Store(request, std::make_shared<Splits>(std::move(points), number, false), false));
  MutexLock lock(mutex_);
  splits->used = std::chrono::steady_clock::now();
  known_[storage_id].sets[number] = splits;
  return splits;
}

absl::StatusOr<ScanSegments::Found> ScanSegments::Answer(const Waiting& waiting) {
  const Found& splits = waiting.made_permanent;
  if (splits == nullptr) return FindOrMeasure(waiting.request);
  if (splits->is_permanent.load()) return splits;
  {
    MutexLock lock(mutex_);
    const auto known = known_.find(StorageIdOf(waiting.request));
    // Without an entry the table is deleted.
    const Found current = known == known_.end() ? nullptr : SetOrNull(known->second, splits->number);
    if (current != nullptr && current != splits)
      return absl::AbortedError(
          "the segments of the parallel scan were measured again while this page was read; begin the scan "
          "anew");
  }
  return Store(waiting.request, splits, true);
}

void ScanSegments::Find(Request request, Done<Found> found) {
  if (Found splits = Use(request); splits != nullptr) return std::move(found)(std::move(splits));
  Queue(Waiting{std::move(request), nullptr, std::move(found)});
}

void ScanSegments::MakePermanent(Request request, Found splits, Done<Found> done) {
  if (splits->is_permanent.load()) return std::move(done)(std::move(splits));
  Queue(Waiting{std::move(request), std::move(splits), std::move(done)});
}

void ScanSegments::Queue(Waiting waiting) {
  {
    MutexLock lock(mutex_);
    waiting_.push_back(std::move(waiting));
    if (answering_) return;
    answering_ = true;
  }
  AnswerNext();
}

void ScanSegments::AnswerNext() {
  IoPool::Task task = [this] {
    Waiting next = TakeWaiting();
    auto splits = Answer(next);
    next.request = {};
    std::move(next.done)(std::move(splits));
    {
      MutexLock lock(mutex_);
      answering_ = !waiting_.empty();
      if (!answering_) return;
    }
    AnswerNext();
  };
  if (engine_.io().Submit(task, IoPriority::kLong)) return;
  std::deque<Waiting> refused;
  {
    MutexLock lock(mutex_);
    refused.swap(waiting_);
    answering_ = false;
  }
  for (Waiting& one : refused) std::move(one.done)(IoPoolFullError());
}

ScanSegments::Waiting ScanSegments::TakeWaiting() {
  MutexLock lock(mutex_);
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  return next;
}

}  // namespace itemdb::storage
