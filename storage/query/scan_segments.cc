#include "storage/query/scan_segments.h"

#include <algorithm>

#include "storage/base/limits.h"
#include "storage/schema/table_changes.h"
#include "storage/store/catalog_records.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

constexpr std::chrono::hours kSplitsLastFor(1);
// With up to this many records, every record is visited, which is exact and takes milliseconds. With more,
// the split points are estimated from sizes.
constexpr int64_t kExactRecords = 50'000;
// Steps of the binary search for one split point. Each step decides one bit of the key, after the common
// prefix of the range's two ends.
constexpr int kMaxHalvings = 96;

std::string EncodePoints(std::string_view key, const SplitPoints& points) {
  std::string payload;
  for (const std::string& point : points) wire::AppendBytesField(1, point, &payload);
  return EncodeRecord(kCatalogStorageId, key, 0, payload);
}

std::optional<SplitPoints> DecodePoints(std::string_view key, std::string_view record) {
  std::optional<StoredRecord> stored = DecodeRecord(kCatalogStorageId, key, record);
  if (!stored.has_value()) return std::nullopt;
  SplitPoints points;
  std::string_view rest = stored->payload;
  while (!rest.empty()) {
    wire::Field field;
    if (!wire::ConsumeField(&rest, &field)) return std::nullopt;
    points.emplace_back(field.bytes);
  }
  return points;
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
absl::StatusOr<SplitPoints> SplitByNumber(KeyspaceIterator& it, int32_t parts, int64_t records) {
  SplitPoints points;
  int64_t visited = 0;
  for (it.SeekToFirst(); it.Valid(); it.Next(), ++visited) {
    if (visited * parts >= records * static_cast<int64_t>(points.size() + 1)) points.emplace_back(it.key());
    if (static_cast<int32_t>(points.size()) + 1 == parts) break;
  }
  if (!it.status().ok()) return FromRocksDB("cannot read a table to split it", it.status());
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
  if (!it.status().ok()) return FromRocksDB("cannot read a table to split it", it.status());
  return points;
}

}  // namespace

KeyRange SegmentRange(const SplitPoints& points, int32_t segment) {
  const size_t i = static_cast<size_t>(segment);
  // There are more segments than ranges: this range is empty, as no key is below "\0".
  if (i > points.size()) return KeyRange{"", std::string(1, '\0')};
  return KeyRange{i == 0 ? "" : points[i - 1], i == points.size() ? "" : points[i]};
}

absl::StatusOr<SplitPoints> MeasureSplitPoints(const ReadView& view, const Keyspace& keyspace, int32_t parts,
                                               int64_t records, const CancellationPtr& cancellation) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  options.total_order_seek = true;
  options.fill_cache = false;
  KeyspaceIterator it(*view.store(), keyspace, options);
  parts = std::min(parts, kMaxScanRanges);
  if (records <= kExactRecords) return SplitByNumber(it, parts, records);
  return SplitBySize(*view.store(), keyspace, it, parts, cancellation);
}

std::shared_ptr<const SplitPoints> ScanSegments::Use(Id id, bool begins) {
  MutexLock lock(mutex_);
  auto cached = cache_.find(id);
  auto now = std::chrono::steady_clock::now();
  if (cached == cache_.end()) return nullptr;
  if (begins && now - cached->second.used > kSplitsLastFor) return nullptr;
  cached->second.used = now;
  return cached->second.points;
}

void ScanSegments::Insert(Id id, const Table& table, std::shared_ptr<const SplitPoints> points) {
  MutexLock lock(mutex_);
  cache_[id] = CachedSplits{table.name, std::move(points), std::chrono::steady_clock::now()};
}

absl::StatusOr<std::shared_ptr<const SplitPoints>> ScanSegments::Measure(Id id, const Request& request) {
  // An earlier request in the queue may have measured them.
  if (auto points = Use(id, request.begins); points != nullptr) return points;
  ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(request.cancellation));
  const std::string key = ScanSegmentKey(id.first, id.second);
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
  bool known_for_too_long;
  {
    MutexLock lock(mutex_);
    known_for_too_long = cache_.erase(id) > 0;
    // Remove the split points of deleted tables and indexes.
    std::erase_if(cache_, [&view](const auto& entry) {
      return !IsInUse(view->catalog(), entry.second.table_name, entry.first.first);
    });
  }
  if (!known_for_too_long) {  // A scan before the last restart may have stored them.
    std::string record;
    rocksdb::Status status =
        view->store()->db()->Get(rocksdb::ReadOptions(), view->store()->catalog(), key, &record);
    if (!status.ok() && !status.IsNotFound())
      return view->store()->ReadError("cannot read the segments of a scan", status);
    if (std::optional<SplitPoints> points; status.ok() && (points = DecodePoints(key, record)).has_value()) {
      auto shared = std::make_shared<const SplitPoints>(*std::move(points));
      Insert(id, *request.table, shared);
      return shared;
    }
  }
  // With a start key the split points must be those of the scan's first page. If fewer than kMaxSplits are
  // stored, none was ever removed, so no page was read with other ones and they may be measured now.
  if (!request.begins && (!IsInUse(view->catalog(), request.table->name, id.first) ||
                          ScanSegmentKeys(*view, id.first).size() >= kMaxSplits)) {
    return ValidationError(
        "SEM-032",
        "The provided starting key is of a parallel scan that was not continued for too long: its segments "
        "are no longer known; begin the scan anew");
  }
  ITEMDB_ASSIGN_OR_RETURN(SizeStatistics size_statistics, ReadStatistics(*view, id.first));
  const Keyspace keyspace = request.index != nullptr ? EntriesOf(*view->store(), *request.index)
                                                     : ItemsOf(*view->store(), *request.table);
  ITEMDB_ASSIGN_OR_RETURN(
      SplitPoints points,
      MeasureSplitPoints(*view, keyspace, id.second, size_statistics.items, request.cancellation));
  const std::vector<std::string> unused = LeastRecentlyUsed(*view, id);
  ITEMDB_RETURN_IF_ERROR(CommitAndWait(engine_,
                                       [&](CommitGroup& group) {
                                         // If the table was deleted meanwhile, nobody would ever remove this
                                         // record.
                                         if (!IsInUse(*group.catalog(), request.table->name, id.first))
                                           return absl::OkStatus();
                                         group.PutCatalog(key, EncodePoints(key, points));
                                         for (const std::string& other : unused) group.DeleteCatalog(other);
                                         return absl::OkStatus();
                                       },
                                       {.origin = WriteOrigin::kUpkeep})
                             .status());
  auto shared = std::make_shared<const SplitPoints>(std::move(points));
  Insert(id, *request.table, shared);
  MutexLock lock(mutex_);
  std::erase_if(cache_, [&unused](const auto& entry) {
    return std::find(unused.begin(), unused.end(), ScanSegmentKey(entry.first.first, entry.first.second)) !=
           unused.end();
  });
  return shared;
}

std::vector<std::string> ScanSegments::LeastRecentlyUsed(const ReadView& view, Id id) {
  // Split points that were not used since the last restart count as the oldest.
  std::vector<std::pair<std::chrono::steady_clock::time_point, std::string>> others;
  const std::string own = ScanSegmentKey(id.first, id.second);
  for (const std::string& other : ScanSegmentKeys(view, id.first)) {
    if (other == own) continue;
    MutexLock lock(mutex_);
    auto cached = std::find_if(cache_.begin(), cache_.end(), [&other](const auto& entry) {
      return ScanSegmentKey(entry.first.first, entry.first.second) == other;
    });
    others.emplace_back(
        cached == cache_.end() ? std::chrono::steady_clock::time_point() : cached->second.used, other);
  }
  std::sort(others.begin(), others.end());
  std::vector<std::string> keys;
  for (size_t i = 0; i + kMaxSplits <= others.size(); ++i) keys.push_back(others[i].second);
  return keys;
}

void ScanSegments::Find(Request request, Done<std::shared_ptr<const SplitPoints>> found) {
  // Segments beyond kMaxScanRanges are empty, so all such numbers of segments share their split points.
  const Id id(request.index != nullptr ? request.index->storage_id : request.table->storage_id,
              std::min(request.total_segments, kMaxScanRanges));
  if (auto points = Use(id, request.begins); points != nullptr) return std::move(found)(std::move(points));
  {
    MutexLock lock(mutex_);
    waiting_.push_back(Waiting{id, std::move(request), std::move(found)});
    if (measuring_) return;
    measuring_ = true;
  }
  MeasureNext();
}

void ScanSegments::MeasureNext() {
  IoPool::Task task = [this] {
    Waiting next = TakeWaiting();
    auto points = Measure(next.id, next.request);
    next.request = {};
    std::move(next.found)(std::move(points));
    {
      MutexLock lock(mutex_);
      measuring_ = !waiting_.empty();
      if (!measuring_) return;
    }
    MeasureNext();
  };
  if (engine_.io().Submit(task, IoPriority::kLong)) return;
  std::deque<Waiting> refused;
  {
    MutexLock lock(mutex_);
    refused.swap(waiting_);
    measuring_ = false;
  }
  for (Waiting& one : refused) std::move(one.found)(IoPoolFullError());
}

ScanSegments::Waiting ScanSegments::TakeWaiting() {
  MutexLock lock(mutex_);
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  return next;
}

}  // namespace itemdb::storage
