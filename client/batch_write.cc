// Client::BatchWriteItem: any number of writes in batches that the daemon accepts, one after the other. Every
// write has an outcome at each moment, so none is lost: it begins as not applied, is unknown while its batch
// is under way, and then gets the outcome of that batch.
#include <algorithm>
#include <climits>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "absl/time/clock.h"
#include "client/cancel_callback.h"
#include "client/convert.h"
#include "client/core.h"
#include "client/encode.h"
#include "client/errors_internal.h"
#include "common/status_macros.h"
#include "itemdb/v1/data.pb.h"

namespace itemdb {
namespace {

// The daemon's limits for one batch: writes, and bytes of the message including kFrameBytes for each write.
constexpr size_t kMaxBatchWrites = 25;
constexpr size_t kMaxBatchBytes = 16 << 20;

const std::string& TableOf(const BatchWrite& write) {
  return std::visit([](const auto& w) -> const std::string& { return w.table_name; }, write);
}

bool IsPut(const BatchWrite& write) { return std::holds_alternative<BatchPut>(write); }

const Item& ItemOf(const BatchWrite& write) {
  return IsPut(write) ? std::get<BatchPut>(write).item : std::get<BatchDelete>(write).key;
}

absl::Status ToProto(const BatchWrite& write, v1::WriteRequest* message) {
  return ToProto(ItemOf(write), IsPut(write) ? message->mutable_put_request()->mutable_item()
                                             : message->mutable_delete_request()->mutable_key());
}

// Some writes of a request, by position, with their message.
struct Batch {
  std::vector<size_t> writes;
  v1::BatchWriteItemRequest message;
};

// The first of `candidates` that fit into one message, at least one. Within a table the writes keep their
// order; tables are in the order of their first write. INVALID_ARGUMENT: a value nests too deeply.
absl::StatusOr<Batch> MakeBatch(const std::vector<BatchWrite>& writes,
                                const std::vector<size_t>& candidates) {
  Batch batch;
  size_t bytes = 0;
  std::map<std::string, v1::TableWriteRequests*> tables;
  for (const size_t position : candidates) {
    if (batch.writes.size() == kMaxBatchWrites) break;
    const BatchWrite& write = writes[position];
    v1::WriteRequest message;
    ITEMDB_RETURN_IF_ERROR(ToProto(write, &message));
    constexpr size_t kFrameBytes = 16;
    bytes += message.ByteSizeLong() + TableOf(write).size() + kFrameBytes;
    if (bytes > kMaxBatchBytes && !batch.writes.empty()) break;
    v1::TableWriteRequests*& table = tables[TableOf(write)];
    if (table == nullptr) {
      table = batch.message.add_request_items();
      table->set_table_name(TableOf(write));
    }
    *table->add_write_requests() = std::move(message);
    batch.writes.push_back(position);
  }
  return batch;
}

// The positions of the writes that `reply` returns as unprocessed. Nothing if one of these was not sent.
std::optional<std::vector<size_t>> Unprocessed(const v1::BatchWriteItemReply& reply,
                                               const std::vector<BatchWrite>& writes,
                                               const std::vector<size_t>& sent) {
  std::set<size_t> left(sent.begin(), sent.end());
  std::vector<size_t> unprocessed;
  for (const v1::TableWriteRequests& table : reply.unprocessed_items()) {
    for (const v1::WriteRequest& write : table.write_requests()) {
      const bool is_put = write.has_put_request();
      const absl::StatusOr<Item> item =
          FromProto(is_put ? write.put_request().item() : write.delete_request().key());
      if (!item.ok()) return std::nullopt;
      const auto it = std::find_if(left.begin(), left.end(), [&](size_t position) {
        const BatchWrite& candidate = writes[position];
        return IsPut(candidate) == is_put && TableOf(candidate) == table.table_name() &&
               ItemOf(candidate) == *item;
      });
      if (it == left.end()) return std::nullopt;
      unprocessed.push_back(*it);
      left.erase(it);
    }
  }
  std::sort(unprocessed.begin(), unprocessed.end());
  return unprocessed;
}

absl::Status UnknownReply(const std::string& endpoint) {
  return MakeError(
      absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
      "the reply from " + endpoint + " to a batch does not say which of its writes were applied");
}

// The whole request, from the first batch to the last.
class BatchWriteCall : public std::enable_shared_from_this<BatchWriteCall> {
 public:
  BatchWriteCall(std::shared_ptr<ClientCore> core, BatchWriteItemRequest request, CallOptions options,
                 Callback<BatchWriteItemResult> callback)
      : core_(std::move(core)),
        writes_(std::move(request.writes)),
        return_consumed_capacity_(request.return_consumed_capacity),
        return_item_collection_metrics_(request.return_item_collection_metrics),
        options_(std::move(options)),
        deadline_(absl::Now() + core_->timeout_of(options_)),
        callback_(std::move(callback)),
        outcomes_(writes_.size(), BatchWriteOutcome::kNotApplied) {
    // Later batches are sent from other threads.
    options_.traceparent = core_->TraceparentOf(options_);
    for (size_t position = 0; position < writes_.size(); ++position) left_.push_back(position);
  }

  void Start() {
    cancel_callback_.emplace(options_.cancel, [weak = weak_from_this()] {
      if (std::shared_ptr<BatchWriteCall> self = weak.lock()) self->EndPause();
    });
    Send();
  }

 private:
  void Send() {
    absl::StatusOr<Batch> batch = MakeBatch(writes_, left_);
    if (!batch.ok()) return EndSoon(batch.status());
    if (!options_.client_request_token.empty() && batch->writes.size() < left_.size()) {
      return EndSoon(MakeError(
          absl::StatusCode::kInvalidArgument, kReasonValidation,
          "a request token of the caller's own covers one batch, and these " + std::to_string(left_.size()) +
              " writes need several; set CallOptions::idempotent instead, or make smaller requests"));
    }
    for (const size_t position : batch->writes) outcomes_[position] = BatchWriteOutcome::kUnknown;
    left_.erase(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(batch->writes.size()));
    batch->message.set_return_consumed_capacity(ToProto(return_consumed_capacity_));
    batch->message.set_return_item_collection_metrics(ToProto(return_item_collection_metrics_));
    CallSpec spec = Encode(&batch->message, options_);
    // The call may end, and reset core_, before Start has returned.
    const std::shared_ptr<ClientCore> core = core_;
    core->Start(std::move(spec), options_, deadline_,
                [self = shared_from_this(), sent = std::move(batch->writes)](absl::Status status,
                                                                             std::string_view reply) {
                  self->BatchEnded(sent, std::move(status), reply);
                });
  }

  void BatchEnded(const std::vector<size_t>& sent, absl::Status status, std::string_view bytes) {
    if (!status.ok()) {
      if (ReasonOf(status) != kReasonWriteOutcomeUnknown) Set(sent, BatchWriteOutcome::kNotApplied);
      return End(std::move(status));
    }
    v1::BatchWriteItemReply reply;
    if (bytes.size() > INT_MAX || !reply.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return End(UnknownReply(core_->endpoint()));
    }
    std::optional<std::vector<size_t>> unprocessed = Unprocessed(reply, writes_, sent);
    if (!unprocessed.has_value()) return End(UnknownReply(core_->endpoint()));
    Set(sent, BatchWriteOutcome::kApplied);
    Set(*unprocessed, BatchWriteOutcome::kNotApplied);
    result_.change_sequence = std::max(result_.change_sequence, reply.change_sequence());
    AddCapacity(reply.consumed_capacity(), &result_.consumed_capacity);
    absl::Status metrics = AddMetrics(reply.item_collection_metrics(), &result_.item_collection_metrics);
    if (!metrics.ok()) return End(std::move(metrics));
    if (unprocessed->empty()) {
      rounds_without_progress_ = 0;
      return left_.empty() ? End(absl::OkStatus()) : Send();
    }
    rounds_without_progress_ = unprocessed->size() < sent.size() ? 1 : rounds_without_progress_ + 1;
    // The rest is a different request, so it must not carry the caller's token.
    if (!options_.client_request_token.empty()) {
      options_.client_request_token.clear();
      options_.idempotent = true;
    }
    left_.insert(left_.begin(), unprocessed->begin(), unprocessed->end());
    Pause();
  }

  void Pause() {
    const RetryOptions& retry = core_->retry_of(options_);
    const absl::Time next =
        absl::Now() + Backoff(retry, rounds_without_progress_, /*random=*/0.5, absl::ZeroDuration());
    if (retry.max_attempts == 1 || next >= deadline_) {
      return End(MakeError(absl::StatusCode::kResourceExhausted, "UNPROCESSED_ITEMS",
                           "the daemon was overloaded and did not process all writes" +
                               std::string(retry.max_attempts == 1 ? "" : " before the deadline")));
    }
    // From here on cancellation or the timer may end the call on another thread and reset core_.
    const std::shared_ptr<ClientCore> core = core_;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      paused_ = true;
    }
    core->timer().RunAt(next, [self = shared_from_this()] { self->EndPause(); });
    if (options_.cancel.has_value() && options_.cancel->cancelled()) EndPause();
  }

  // Called by the timer, or earlier by a cancellation; the next batch then ends at once.
  void EndPause() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!std::exchange(paused_, false)) return;
    }
    Send();
  }

  void Set(const std::vector<size_t>& positions, BatchWriteOutcome outcome) {
    for (const size_t position : positions) outcomes_[position] = outcome;
  }

  void EndSoon(absl::Status status) {
    core_->timer().RunSoon(
        [self = shared_from_this(), status = std::move(status)]() mutable { self->End(std::move(status)); });
  }

  void End(absl::Status status) {
    CallbackScope scope;
    cancel_callback_.reset();
    core_.reset();
    Callback<BatchWriteItemResult> callback = std::move(callback_);
    if (status.ok()) {
      std::move(callback)(std::move(result_));
    } else {
      std::move(callback)(WithOutcomes(status, outcomes_));
    }
  }

  std::shared_ptr<ClientCore> core_;  // Reset when the call ends.
  const std::vector<BatchWrite> writes_;
  const ReturnConsumedCapacity return_consumed_capacity_;
  const ReturnItemCollectionMetrics return_item_collection_metrics_;
  CallOptions options_;
  const absl::Time deadline_;
  Callback<BatchWriteItemResult> callback_;
  // Only one batch is under way at a time, so these need no lock.
  std::vector<BatchWriteOutcome> outcomes_;
  std::vector<size_t> left_;  // Positions of the unsent writes, in order.
  BatchWriteItemResult result_;
  int rounds_without_progress_ = 0;
  std::optional<CancelCallback> cancel_callback_;

  std::mutex mutex_;
  bool paused_ = false;  // Guarded by mutex_.
};

}  // namespace

void Client::Start(const BatchWriteItemRequest& request, Callback<BatchWriteItemResult> callback,
                   CallOptions options) const {
  std::make_shared<BatchWriteCall>(core_, request, std::move(options), std::move(callback))->Start();
}

}  // namespace itemdb
