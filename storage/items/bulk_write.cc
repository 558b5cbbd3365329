#include "storage/items/bulk_write.h"

#include <algorithm>

#include "common/signature/sigv4.h"
#include "storage/base/call_trace.h"
#include "storage/base/limits.h"
#include "storage/items/item_collections.h"
#include "storage/items/request_token.h"
#include "storage/items/write_unit.h"
#include "storage/patterns/access_call.h"

namespace itemdb::storage {

// A chunk after all checks that need only the request and the catalog.
struct PreparedChunk {
  std::vector<PreparedAction> actions;
  // The position of each action in the chunk.
  std::vector<int> positions;
  // So far: the chunk number and the rejected writes.
  wire::BulkWriteReply reply;
  std::optional<RequestToken> token;
  MultiTableAccessCall access_call{AccessOperation::kBulkWrite};
};

namespace {

// A message may quote an attribute name of 64 KiB, and a chunk may have 1,000 rejected writes.
constexpr size_t kMaxRejectionBytes = 512;

std::string Shorten(std::string text) {
  if (text.size() <= kMaxRejectionBytes) return text;
  size_t end = kMaxRejectionBytes - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

void Reject(int position, const absl::Status& why, wire::BulkWriteReply* reply) {
  wire::RejectedWrite* rejected = reply->add_rejected();
  rejected->set_index(position);
  rejected->set_reason(ReasonOf(why));
  rejected->set_message(Shorten(MessageOf(why)));
}

absl::StatusOr<PreparedAction> PrepareWrite(const std::string& table_name, const wire::WriteRequest& write,
                                            const Catalog& catalog) {
  wire::WriteItemRequest single;
  single.set_table_name(table_name);
  if (write.has_put_request()) {
    single.set_key_or_item(write.put_request().item());
    return PrepareAction(ActionKind::kPut, single, catalog);
  }
  if (write.has_delete_request()) {
    single.set_key_or_item(write.delete_request().key());
    return PrepareAction(ActionKind::kDelete, single, catalog);
  }
  return ValidationError("each write request must contain a PutRequest or a DeleteRequest");
}

absl::StatusOr<PreparedChunk> PrepareChunk(const wire::BulkWriteChunk& chunk, const Catalog& catalog) {
  int writes = 0;
  for (const auto& table : chunk.request_items()) writes += table.write_requests_size();
  if (writes < 1 || writes > kMaxBulkChunkWrites) {
    return ValidationError("a chunk must contain 1 to " + std::to_string(kMaxBulkChunkWrites) +
                           " write requests; chunk " + std::to_string(chunk.chunk_number()) + " has " +
                           std::to_string(writes));
  }
  if (size_t bytes = chunk.ByteSizeLong(); bytes > kMaxBulkChunkBytes) {
    return ValidationError("a chunk may be at most " + std::to_string(kMaxBulkChunkBytes) +
                           " bytes long; chunk " + std::to_string(chunk.chunk_number()) + " has " +
                           std::to_string(bytes));
  }
  PreparedChunk prepared;
  prepared.reply.set_chunk_number(chunk.chunk_number());
  ITEMDB_ASSIGN_OR_RETURN(prepared.token, PrepareToken("BulkWrite", chunk));
  std::string pass_sha256;
  if (!chunk.fence_pass().empty()) pass_sha256 = common::Hex(common::HashOf(chunk.fence_pass()));
  int position = 0;
  for (const auto& table : chunk.request_items()) {
    for (const auto& write : table.write_requests()) {
      absl::StatusOr<PreparedAction> action = PrepareWrite(table.table_name(), write, catalog);
      if (action.ok()) {
        prepared.access_call.Add(action->table->patterns, 1, 0);
        action->pass_sha256 = pass_sha256;
        prepared.actions.push_back(*std::move(action));
        prepared.positions.push_back(position);
      } else {
        Reject(position, action.status(), &prepared.reply);
      }
      ++position;
    }
  }
  return prepared;
}

}  // namespace

class BulkUnit : public CommitUnit {
 public:
  BulkUnit(std::shared_ptr<BulkWrites> stream, uint64_t number, PreparedChunk chunk,
           Done<wire::BulkWriteReply> done, CancellationPtr cancellation)
      : stream_(std::move(stream)),
        number_(number),
        chunk_(std::move(chunk)),
        done_(std::move(done)),
        cancellation_(std::move(cancellation)),
        may_prefetch_(stream_->engine_.TryBeginPrefetchingChunk()),
        max_bytes_(std::min(kMaxUnitItemBytes, stream_->engine_.options().max_unit_bytes)) {
    trace = TraceOf(cancellation_);
  }
  ~BulkUnit() override {
    if (may_prefetch_) stream_->engine_.EndPrefetchingChunk();
  }

  // Prefetches the items that the chunk replaces; false when they must be read from disk. LIMIT_EXCEEDED.
  absl::StatusOr<bool> Read(const ReadView& view, ReadTier tier) {
    return PrefetchItems(view, tier, max_bytes_, may_prefetch_ ? kMaxChunkPrefetchedBytes : 0,
                         &chunk_.actions);
  }
  uint64_t number() const { return number_; }
  size_t writes() const { return chunk_.actions.size(); }
  const CancellationPtr& cancellation() const { return cancellation_; }

  size_t SizeBytes() const override { return SizeBytesOf(chunk_.actions); }

  void Apply(CommitGroup& group) override {
    // An earlier chunk may have failed in this same commit group.
    status_ = stream_->FailureBefore(number_);
    if (status_.ok()) status_ = CheckNotCancelled(cancellation_);
    if (status_.ok()) ApplyWrites(group);
    if (!status_.ok()) stream_->Fail(number_, status_);
  }

  void Complete(const absl::Status& status, uint64_t change_sequence) override {
    if (!status.ok()) status_ = status;
    chunk_.access_call.Record(status_.ok());
    if (!status_.ok()) return std::move(done_)(status_);
    chunk_.reply.set_change_sequence(change_sequence);
    std::move(done_)(std::move(chunk_.reply));
  }

 private:
  void ApplyWrites(CommitGroup& group) {
    if (chunk_.token.has_value()) {
      if (RepeatEarlierResult(group)) return;
      status_ = group.tokens().CheckRoom();
      if (!status_.ok()) return;
    }
    status_ = CheckTablesNotFenced(chunk_.actions, group);
    if (!status_.ok()) return;
    // The group borrows the new items, which later writes may read. So decisions_ must not be reallocated.
    decisions_.reserve(chunk_.actions.size());
    for (size_t i = 0; i < chunk_.actions.size(); ++i) {
      Decision& decision = decisions_.emplace_back(Decide(chunk_.actions[i], group));
      CheckCollections({&chunk_.actions[i], 1}, group, {&decision, 1});
      if (decision.outcome == Decision::Outcome::kError) {
        Reject(chunk_.positions[i], decision.error, &chunk_.reply);
      } else if (decision.changed) {
        uint64_t own = group.next_sequence();
        Append(chunk_.actions[i], decision, own, own, group);
      }
      if (decision.outcome != Decision::Outcome::kError)
        AddConsumedCapacity(chunk_.actions[i], decision, /*transactional=*/false, &capacity_);
      // Keeps only the new item, which later writes may read; frees the rest, as a chunk may be long.
      decision.old_item.reset();
      decision.entry_changes = {};
      chunk_.actions[i].prefetched = {};
      group.ReleaseReads();
    }
    std::sort(chunk_.reply.mutable_rejected()->begin(), chunk_.reply.mutable_rejected()->end(),
              [](const auto& a, const auto& b) { return a.index() < b.index(); });
    if (!chunk_.token.has_value()) return;
    std::optional<std::string> rejected;
    if (chunk_.reply.rejected_size() > 0) rejected = Kept(chunk_.reply);
    group.tokens().Save(chunk_.token->text, chunk_.token->fingerprint, std::move(rejected));
  }

  // The reply as it is stored with the request token: without messages if it is longer than the limit.
  static std::string Kept(const wire::BulkWriteReply& reply) {
    std::string kept = reply.SerializeAsString();
    if (kept.size() <= kMaxKeptRejectionsBytes) return kept;
    wire::BulkWriteReply short_reply = reply;
    for (auto& rejected : *short_reply.mutable_rejected()) rejected.clear_message();
    return short_reply.SerializeAsString();
  }

  // True if the chunk was applied before, or the lookup failed. Then status_ and the reply are complete; the
  // reply lists the writes that were rejected the first time.
  bool RepeatEarlierResult(CommitGroup& group) {
    absl::StatusOr<std::optional<AppliedRequest>> applied = group.tokens().Find(chunk_.token->text);
    if (!applied.ok()) {
      status_ = applied.status();
    } else if (!applied->has_value()) {
      return false;
    } else if ((*applied)->fingerprint != chunk_.token->fingerprint) {
      status_ = TokenMismatchError(chunk_.token->text);
    } else {
      uint64_t number = chunk_.reply.chunk_number();
      if (!chunk_.reply.ParseFromString((*applied)->attributes.value_or(""))) {
        status_ =
            DataLossError("what is kept of the client request token " + chunk_.token->text + " is damaged");
      }
      chunk_.reply.set_chunk_number(number);
      for (auto& rejected : *chunk_.reply.mutable_rejected()) {
        if (rejected.message().empty())
          rejected.set_message("the write was rejected when its chunk was applied first");
      }
    }
    return true;
  }

  const std::shared_ptr<BulkWrites> stream_;
  const uint64_t number_;
  PreparedChunk chunk_;
  std::vector<Decision> decisions_;
  // For the counters of tables and indexes only: no chunk asks what it consumes.
  CapacityMeter capacity_;
  Done<wire::BulkWriteReply> done_;
  const CancellationPtr cancellation_;
  const bool may_prefetch_;
  const size_t max_bytes_;
  absl::Status status_;
};

BulkWrites::BulkWrites(Engine& engine) : engine_(engine) {}
BulkWrites::~BulkWrites() = default;

void BulkWrites::Write(const wire::BulkWriteChunk& chunk, Done<wire::BulkWriteReply> done,
                       CancellationPtr cancellation) {
  const uint64_t number = chunk.chunk_number();
  if (absl::Status taken = TakeNumber(number); !taken.ok()) return std::move(done)(taken);
  auto finish = [self = shared_from_this(), number, done = std::move(done)](auto reply) mutable {
    if (!reply.ok()) self->Fail(number, reply.status());
    std::move(done)(std::move(reply));
  };
  auto view = engine_.View();
  if (!view.ok()) return finish(absl::StatusOr<wire::BulkWriteReply>(view.status()));
  auto prepared = PrepareChunk(chunk, (*view)->catalog());
  if (!prepared.ok()) return finish(absl::StatusOr<wire::BulkWriteReply>(prepared.status()));

  auto waiting = std::make_shared<Waiting>();
  waiting->unit = std::make_unique<BulkUnit>(shared_from_this(), number, *std::move(prepared),
                                             std::move(finish), std::move(cancellation));
  {
    MutexLock lock(mutex_);
    waiting_.push_back(waiting);
  }
  Read(*std::move(view), std::move(waiting));
}

absl::Status BulkWrites::TakeNumber(uint64_t number) {
  MutexLock lock(mutex_);
  if (!failure_.ok()) return failure_;
  if (number == next_number_) {
    ++next_number_;
    return absl::OkStatus();
  }
  failed_number_ = next_number_;
  failure_ = ValidationError("chunk " + std::to_string(number) + " came where chunk " +
                             std::to_string(next_number_) +
                             " belongs: a stream's chunks are numbered 1, 2, 3 and so on");
  return failure_;
}

void BulkWrites::Fail(uint64_t number, const absl::Status& status) {
  MutexLock lock(mutex_);
  if (number >= failed_number_) return;
  failed_number_ = number;
  failure_ = status;
}

absl::Status BulkWrites::FailureBefore(uint64_t number) {
  MutexLock lock(mutex_);
  return failed_number_ < number ? failure_ : absl::OkStatus();
}

void BulkWrites::Read(std::shared_ptr<const ReadView> view, std::shared_ptr<Waiting> chunk) {
  if (chunk->unit->writes() <= kMaxItemsOnRequestThread) {
    absl::StatusOr<bool> read = [&] {
      const TracedStep step(chunk->unit->cancellation(), CallTrace::Step::kCacheRead);
      return chunk->unit->Read(*view, ReadTier::kCacheOnly);
    }();
    if (!read.ok() || *read) return Ready(chunk, read.status());
  }
  const TracedWait wait(chunk->unit->cancellation());
  IoPool::Task task = [self = shared_from_this(), wait, view = std::move(view), chunk]() mutable {
    wait.End(chunk->unit->cancellation());
    absl::Status read = CheckNotCancelled(chunk->unit->cancellation());
    if (read.ok()) {
      const TracedStep step(chunk->unit->cancellation(), CallTrace::Step::kDiskRead);
      read = chunk->unit->Read(*view, ReadTier::kDisk).status();
    }
    view.reset();
    self->Ready(chunk, std::move(read));
  };
  // If no I/O thread accepts the read, the items are read when the chunk is applied.
  if (!engine_.io().Submit(task, IoPriority::kPoint)) Ready(chunk, absl::OkStatus());
}

void BulkWrites::Ready(const std::shared_ptr<Waiting>& chunk, absl::Status read) {
  {
    MutexLock lock(mutex_);
    chunk->ready = true;
    chunk->read = std::move(read);
    if (submitting_) return;
    submitting_ = true;
  }
  while (true) {
    std::shared_ptr<Waiting> next;
    {
      MutexLock lock(mutex_);
      if (waiting_.empty() || !waiting_.front()->ready) {
        submitting_ = false;
        return;
      }
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    absl::Status refused = FailureBefore(next->unit->number());
    if (refused.ok()) refused = next->read;
    std::unique_ptr<CommitUnit> unit = std::move(next->unit);
    if (refused.ok()) refused = engine_.Submit(unit, WhenFull::kWait);
    if (!refused.ok()) unit->Complete(refused, 0);
  }
}

}  // namespace itemdb::storage
