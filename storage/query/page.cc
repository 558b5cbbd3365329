#include "storage/query/page.h"

#include <type_traits>
#include <utility>

#include "absl/strings/escaping.h"
#include "itemdb/v1/data.pb.h"
#include "storage/base/call_trace.h"
#include "storage/base/limits.h"
#include "storage/catalog/key_counting.h"
#include "storage/query/skipping_iterator.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

static_assert(static_cast<int>(v1::QueryReply::kItemsFieldNumber) ==
              static_cast<int>(v1::ScanReply::kItemsFieldNumber));

// How much is evaluated between two checks for cancellation: a millisecond of work even with a slow filter.
constexpr int64_t kItemsBetweenChecks = 64;
constexpr size_t kBytesBetweenChecks = 128 << 10;

// Builds a page, possibly in several runs: first on the request's thread from memory, then on I/O threads.
class PageReader {
 public:
  enum class Progress {
    kDone,
    // The page is not complete: the next item is on disk, or the run reached its maximum number of items.
    kContinue,
  };

  PageReader(const Engine& engine, PreparedPage page, CancellationPtr cancellation)
      : engine_(engine), page_(std::move(page)), cancellation_(std::move(cancellation)) {}

  // Evaluates up to `max_items` items, all of the page with skip_damage. CANCELLED, DEADLINE_EXCEEDED: the
  // request was cancelled.
  absl::StatusOr<Progress> Run(ReadTier tier, int64_t max_items) {
    const TracedStep step(cancellation_,
                          tier == ReadTier::kDisk ? CallTrace::Step::kDiskRead : CallTrace::Step::kCacheRead);
    rocksdb::ReadOptions options;
    options.snapshot = page_.view->snapshot();
    options.read_tier = tier == ReadTier::kCacheOnly ? rocksdb::kBlockCacheTier : rocksdb::kReadAllTier;
    // RocksDB skips tombstones inside one iterator step, and a table used as a queue may have millions.
    if (tier == ReadTier::kCacheOnly) options.max_skippable_internal_keys = kMaxSkippedOnRequestThread;
    // Prefix bloom filters work only for a forward seek inside the prefix.
    options.total_order_seek = !page_.one_collection || !page_.forward;
    options.fill_cache = FillsCache();
    // In the cache only no damage is met. On disk each run would search the end of the damage again.
    if (page_.skip_damage && tier == ReadTier::kDisk) {
      SkippingIterator it(*page_.view->store(), page_.keyspace(), options, page_.range);
      it.SeekToFirst();
      return Walk(it, tier, max_items);
    }
    KeyspaceIterator it(*page_.view->store(), page_.keyspace(), options, page_.range);
    if (!page_.forward) {
      it.SeekToLast();
    } else if (page_.is_first && scanned_ == 0) {
      it.SeekBehindEmptyHead();
    } else {
      it.SeekToFirst();
    }
    return Walk(it, tier, max_items);
  }

  const CancellationPtr& cancellation() const { return cancellation_; }

  Page Finish() {
    page_.call.Record(true, scanned_, count_);
    result_.reply.set_change_sequence(page_.view->change_sequence());
    result_.reply.set_count(count_);
    result_.reply.set_scanned_count(scanned_);
    // An index read is charged to the index, items fetched from the table to the table (SEM-065).
    double units = ReadUnits(bytes_, page_.consistent_read);
    page_.capacity.AddRead(*page_.table, page_.index == nullptr ? units : fetched_units_);
    if (page_.index != nullptr) page_.capacity.AddIndexRead(*page_.table, *page_.index, units);
    keys_.Finish(units);
    page_.capacity.MoveInto(&result_.reply);
    if (page_.plan.has_value()) {
      page_.plan->set_bytes_read(static_cast<int64_t>(bytes_));
      page_.plan->set_base_items_read(fetched_);
      *result_.reply.mutable_plan() = *std::move(page_.plan);
    }
    return std::move(result_);
  }

  // Records the failed call and returns its error.
  absl::Status Fail(absl::Status status) {
    page_.call.Record(false, scanned_, 0);
    return status;
  }
  // The same, because too many requests wait.
  absl::Status Refuse(absl::Status status) {
    if (page_.one_collection) CountRefusedQuery(*page_.table, page_.index, page_.range.lower, status);
    return Fail(std::move(status));
  }

 private:
  absl::Status CheckForInterrupts() const {
    // A count of a whole range may take long, and the store cannot be reopened while a view holds it.
    if (page_.count_all && engine_.IsFailed()) {
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                       "the count was stopped: a write failed and the database is reopening", 1'000);
    }
    return CheckNotCancelled(cancellation_);
  }

  // Evaluates the records of `it`, from where it stands.
  template <typename Iterator>
  absl::StatusOr<Progress> Walk(Iterator& it, ReadTier tier, int64_t max_items) {
    constexpr bool kSkips = std::is_same_v<Iterator, SkippingIterator>;
    size_t check_at = bytes_ + fetched_bytes_;
    for (int64_t i = 0; it.Valid(); ++i, page_.forward ? it.Next() : Previous(it)) {
      if (i == max_items && !kSkips) return Progress::kContinue;
      if (i % kItemsBetweenChecks == 0 || bytes_ + fetched_bytes_ >= check_at) {
        ITEMDB_RETURN_IF_ERROR(CheckForInterrupts());
        check_at = bytes_ + fetched_bytes_ + kBytesBetweenChecks;
      }
      if (TakeSkipped(it)) BeginSkipped();
      absl::StatusOr<Step> step = Evaluate(it.key(), it.value(), tier);
      if (page_.skip_damage && absl::IsDataLoss(step.status())) {
        BeginSkipped();
        continue;
      }
      ITEMDB_RETURN_IF_ERROR(step.status());
      if (*step == Step::kPageIsFull) return Progress::kDone;
      if (*step == Step::kWouldBlock) return Progress::kContinue;
    }
    if (it.status().IsIncomplete()) return Progress::kContinue;
    if (!it.status().ok()) return page_.view->store()->ReadError("cannot read " + page_.Owner(), it.status());
    if (TakeSkipped(it)) BeginSkipped();
    return Progress::kDone;
  }

  static void Previous(KeyspaceIterator& it) { it.Prev(); }
  // With skip_damage only pages in key order are read.
  static void Previous(SkippingIterator& it) { it.Next(); }
  static bool TakeSkipped(KeyspaceIterator&) { return false; }
  static bool TakeSkipped(SkippingIterator& it) { return it.TakeSkipped(); }

  // Records that cannot be read lie behind the last record that was evaluated.
  void BeginSkipped() {
    if (is_in_skipped_) return;
    is_in_skipped_ = true;
    wire::SkippedDamage* skipped = result_.reply.add_skipped_damage();
    if (!last_key_.empty()) skipped->set_after_key(last_key_);
  }
  // With skip_damage, for each record that is evaluated.
  void EndSkipped(ItemView entry) {
    last_key_ = EncodeLastEvaluatedKey(page_, entry);
    if (!std::exchange(is_in_skipped_, false)) return;
    result_.reply.mutable_skipped_damage()->rbegin()->set_before_key(last_key_);
  }

  enum class Step {
    kTaken,
    // The item was taken, and the page ends with it.
    kPageIsFull,
    // The entry was not taken: its item must be read from disk.
    kWouldBlock,
  };

  // Whether blocks read from disk are put into the block cache. Blocks of a scan are not, if the table or
  // index is larger than a quarter of the cache: they would evict blocks that are read often. The exception
  // is a first page with a small limit, because programs read the beginning of a table often.
  bool FillsCache() const {
    if (page_.one_collection || (page_.is_first && page_.limit <= kMaxItemsOnRequestThread)) return true;
    const auto bytes = static_cast<uint64_t>(engine_.size_statistics().Of(page_.storage_id()).bytes);
    return bytes <= page_.view->store()->block_cache_capacity() / 4;
  }

  // Adds one item or entry to the page.
  absl::StatusOr<Step> Evaluate(std::string_view key, std::string_view record, ReadTier tier) {
    std::optional<StoredRecord> stored = DecodeRecord(page_.storage_id(), key, record);
    if (!stored.has_value()) return DamagedRecordError(page_.Owner(), key);
    ItemView entry(stored->payload);
    Lookup fetched;
    if (page_.fetch_items) {
      ITEMDB_ASSIGN_OR_RETURN(fetched, Fetch(key, entry, tier));
      if (fetched.would_block) return Step::kWouldBlock;
    }
    ItemView item = page_.fetch_items ? ItemView(*fetched.item) : entry;
    if (page_.forward) {
      page_.range.lower.assign(key);
      page_.range.lower.push_back('\0');
    } else {
      page_.range.upper.assign(key);
    }
    if (page_.skip_damage) EndSkipped(entry);
    ++scanned_;
    bytes_ += stored->item_size;
    if (keys_.wanted()) keys_.Add(key, stored->item_size);
    if (!page_.filter.has_value() || page_.filter->Evaluate(item)) {
      ++count_;
      if (page_.projection.has_value()) {
        AppendProjected(item);
      } else if (!page_.count_only) {
        wire::AppendBytesField(v1::QueryReply::kItemsFieldNumber,
                               page_.whole_items ? item.encoded() : entry.encoded(), &result_.encoded_items);
      }
    }
    if (page_.count_all) return Step::kTaken;
    if (scanned_ < page_.limit && bytes_ < kMaxPageBytes && fetched_bytes_ < kMaxPageBytes &&
        result_.encoded_items.size() < kMaxEncodedPageBytes)
      return Step::kTaken;
    // In a table without a sort key an item collection has one item, so no item can follow.
    bool only_item = page_.one_collection && page_.index == nullptr && page_.table->sort.empty();
    if (!only_item) result_.reply.set_last_evaluated_key(EncodeLastEvaluatedKey(page_, entry));
    return Step::kPageIsFull;
  }

  // Fetches the item of the local index entry under `key`, and counts it.
  absl::StatusOr<Lookup> Fetch(std::string_view key, ItemView entry, ReadTier tier) {
    ITEMDB_ASSIGN_OR_RETURN(std::string base_key, EncodePrimaryKey(*page_.table, entry));
    ITEMDB_ASSIGN_OR_RETURN(Lookup fetched, LookupItem(*page_.view, *page_.table, base_key, tier));
    if (fetched.would_block) return fetched;
    // In one view every entry has its item (invariant IndexDerived).
    if (!fetched.item.has_value()) {
      return DataLossError("the entry of " + page_.Owner() + " under the encoded key " +
                           absl::BytesToHexString(absl::string_view(key.data(), key.size())) +
                           " belongs to no item");
    }
    ++fetched_;
    fetched_bytes_ += fetched.item_size;
    // Each fetched item is rounded up by itself, while the entries of a page are summed first.
    const double units = ReadUnits(fetched.item_size, page_.consistent_read);
    fetched_units_ += units;
    CountUsedKey(*page_.table, base_key, units);
    return fetched;
  }

  void AppendProjected(ItemView item) {
    projected_.clear();
    page_.projection->Apply(item, &projected_);
    wire::AppendBytesField(v1::QueryReply::kItemsFieldNumber, projected_, &result_.encoded_items);
  }

  const Engine& engine_;
  PreparedPage page_;
  const CancellationPtr cancellation_;
  PageKeys keys_{*page_.table, page_.index, page_.consistent_read};
  Page result_;
  int64_t scanned_ = 0;
  int64_t count_ = 0;
  size_t bytes_ = 0;
  // Number of items fetched for entries.
  int64_t fetched_ = 0;
  size_t fetched_bytes_ = 0;
  double fetched_units_ = 0;
  std::string projected_;
  // With skip_damage: the key of the last record that was evaluated, and whether the last place of
  // skipped_damage has no end yet.
  std::string last_key_;
  bool is_in_skipped_ = false;
};

// A page being read on I/O threads.
struct Reading {
  Reading(Engine& engine, std::unique_ptr<PageReader> reader, Done<Page> done)
      : engine(engine), reader(std::move(reader)), done(std::move(done)) {}

  Engine& engine;
  std::unique_ptr<PageReader> reader;
  Done<Page> done;

  // Reads up to kMaxItemsOnIoThread items. A longer page queues again, behind the reads that wait.
  static void Continue(std::shared_ptr<Reading> reading) {
    const TracedWait wait(reading->reader->cancellation());
    IoPool::Task task = [reading, wait] {
      wait.End(reading->reader->cancellation());
      auto progress = reading->reader->Run(ReadTier::kDisk, kMaxItemsOnIoThread);
      if (!progress.ok()) return std::move(reading->done)(reading->reader->Fail(progress.status()));
      if (*progress == PageReader::Progress::kContinue) return Continue(reading);
      std::move(reading->done)(reading->reader->Finish());
    };
    if (!reading->engine.io().Submit(task, IoPriority::kLong))
      std::move(reading->done)(reading->reader->Refuse(IoPoolFullError()));
  }
};

// A callback for a page of a segment. If the page has a LastEvaluatedKey, it makes the split points permanent
// before it calls `done`.
Done<Page> WithPermanentSplits(ScanSegments& segments, ScanSegments::Request request,
                               ScanSegments::Found splits, Done<Page> done) {
  if (splits->is_permanent.load()) return done;
  return [&segments, request = std::move(request), splits = std::move(splits),
          done = std::move(done)](absl::StatusOr<Page> page) mutable {
    if (!page.ok() || !page->reply.has_last_evaluated_key()) return std::move(done)(std::move(page));
    segments.MakePermanent(
        std::move(request), std::move(splits),
        [page = *std::move(page), done = std::move(done)](absl::StatusOr<ScanSegments::Found> made) mutable {
          if (!made.ok()) return std::move(done)(made.status());
          std::move(done)(std::move(page));
        });
  };
}

}  // namespace

void ReadPreparedPage(Engine& engine, PreparedPage page, Done<Page> done, CancellationPtr cancellation) {
  auto reader = std::make_unique<PageReader>(engine, std::move(page), std::move(cancellation));
  auto progress = reader->Run(ReadTier::kCacheOnly, kMaxItemsOnRequestThread);
  if (!progress.ok()) return std::move(done)(reader->Fail(progress.status()));
  if (*progress == PageReader::Progress::kDone) return std::move(done)(reader->Finish());
  Reading::Continue(std::make_shared<Reading>(engine, std::move(reader), std::move(done)));
}

void ReadPage(Engine& engine, ScanSegments& segments, PageOperation operation,
              absl::StatusOr<std::shared_ptr<const ReadView>> view, const wire::PageRequest& request,
              Done<Page> done, CancellationPtr cancellation, ConsistentIndexReads consistent_index_reads) {
  if (!view.ok()) return std::move(done)(view.status());
  auto prepared = PreparePage(operation, *std::move(view), request, consistent_index_reads);
  if (!prepared.ok()) return std::move(done)(prepared.status());
  if (!request.has_total_segments())
    return ReadPreparedPage(engine, *std::move(prepared), std::move(done), std::move(cancellation));

  ScanSegments::Request wanted{.table = prepared->table,
                               .index = prepared->index,
                               .total_segments = request.total_segments(),
                               .begins = request.segment() == 0 && !request.has_exclusive_start_key(),
                               .cancellation = cancellation};
  auto read = [&engine, &segments, wanted, page = *std::move(prepared), request, done = std::move(done),
               cancellation = std::move(cancellation)](absl::StatusOr<ScanSegments::Found> splits) mutable {
    absl::Status restricted = splits.status();
    if (restricted.ok()) {
      restricted = RestrictToSegment(
          SegmentRange((*splits)->points, request.segment(), request.total_segments()), request, &page);
    }
    if (!restricted.ok()) {
      page.call.Record(false, 0, 0);
      return std::move(done)(restricted);
    }
    ReadPreparedPage(engine, std::move(page),
                     WithPermanentSplits(segments, std::move(wanted), *std::move(splits), std::move(done)),
                     std::move(cancellation));
  };
  segments.Find(std::move(wanted), std::move(read));
}

}  // namespace itemdb::storage
