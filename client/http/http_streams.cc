#include "client/http/http_streams.h"

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/errors_internal.h"
#include "client/http/json_exchange.h"
#include "client/retry.h"
#include "common/status_macros.h"
#include "itemdb/v1/data.pb.h"

namespace itemdb {
namespace {

// The calls of one stream, one at a time.
class BlockingCalls {
 public:
  BlockingCalls(Transport& transport, std::string traceparent)
      : transport_(transport), traceparent_(std::move(traceparent)) {}

  // Sends the request and waits for the encoded reply.
  absl::StatusOr<std::string> Call(const char* method, CallKind kind,
                                   const google::protobuf::MessageLite& request, absl::Time deadline) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (is_cancelled_) return Cancelled();
    }
    auto promise = std::make_shared<std::promise<absl::StatusOr<std::string>>>();
    std::future<absl::StatusOr<std::string>> reply = promise->get_future();
    Transport::Cancel cancel =
        transport_.Send({.method = method,
                         .kind = kind,
                         .request = std::make_shared<const std::string>(request.SerializeAsString()),
                         .deadline = deadline,
                         .traceparent = traceparent_},
                        [promise](absl::Status status, std::string_view bytes) {
                          promise->set_value(status.ok() ? absl::StatusOr<std::string>(std::string(bytes))
                                                         : absl::StatusOr<std::string>(std::move(status)));
                        });
    {
      std::lock_guard<std::mutex> lock(mutex_);
      cancel_ = cancel;
      if (is_cancelled_) cancel();
    }
    absl::StatusOr<std::string> result = reply.get();
    std::lock_guard<std::mutex> lock(mutex_);
    cancel_ = nullptr;
    return result;
  }

  void Cancel() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_cancelled_ = true;
    if (cancel_) cancel_();
  }

  static absl::Status Cancelled() {
    return MakeError(absl::StatusCode::kCancelled, kReasonCancelled, "the stream was cancelled");
  }

 private:
  Transport& transport_;
  const std::string traceparent_;
  std::mutex mutex_;
  // Guarded by mutex_.
  bool is_cancelled_ = false;
  Transport::Cancel cancel_;
};

// ---- pages

// QueryStream and ScanStream: the next page is read when it is asked for.
template <typename StreamRequest, typename Reply>
class PageStream : public MessageStream {
 public:
  PageStream(Transport& transport, const char* method, const std::string& traceparent)
      : calls_(transport, traceparent), method_(method) {}

  void Write(std::string message) override { is_valid_ = request_.ParseFromString(message); }
  void WritesDone() override {}

  absl::StatusOr<std::optional<std::string>> Read(absl::Time deadline) override {
    if (!is_valid_) return InvalidRequest("a stream of pages begins with one request");
    if (request_.one_state()) return NotInProtocol("a range whose pages are all of one state (one_state)");
    if (is_at_end_) return std::nullopt;
    auto* page_request = PageRequest();
    ITEMDB_ASSIGN_OR_RETURN(std::string bytes,
                            calls_.Call(method_, CallKind::kRead, *page_request, deadline));
    Reply page;
    if (!page.ParseFromString(bytes))
      return MakeError(absl::StatusCode::kInternal, "INTERNAL", "a page does not decode");
    is_at_end_ = !page.has_last_evaluated_key();
    if (!is_at_end_) page_request->mutable_exclusive_start_key()->Swap(page.mutable_last_evaluated_key());
    return std::optional<std::string>(std::move(bytes));
  }

  void Cancel() override { calls_.Cancel(); }

 private:
  auto* PageRequest() {
    if constexpr (requires { request_.mutable_query(); }) {
      return request_.mutable_query();
    } else {
      return request_.mutable_scan();
    }
  }

  BlockingCalls calls_;
  const char* const method_;
  StreamRequest request_;
  bool is_valid_ = false;
  bool is_at_end_ = false;
};

// ---- bulk writes

constexpr size_t kMaxBatchWrites = 25;
constexpr size_t kMaxBatchBytes = 8 << 20;

// A write of a chunk.
struct ChunkWrite {
  std::string_view table_name;
  const v1::WriteRequest* write;
  // Its place in the chunk.
  int index;
};

// Errors of one write that it gets again however often it is sent.
bool IsRejection(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason == kReasonValidation || reason == "RESOURCE_NOT_FOUND" ||
         reason == kReasonItemCollectionSizeLimitExceeded;
}

class BulkStream : public MessageStream {
 public:
  BulkStream(Transport& transport, const std::string& traceparent) : calls_(transport, traceparent) {}

  void Write(std::string message) override { chunks_.push_back(std::move(message)); }
  void WritesDone() override {}

  absl::StatusOr<std::optional<std::string>> Read(absl::Time deadline) override {
    if (chunks_.empty()) return std::nullopt;
    v1::BulkWriteChunk chunk;
    if (!chunk.ParseFromString(chunks_.front())) return InvalidRequest("a chunk does not decode");
    chunks_.pop_front();
    if (!chunk.fence_pass().empty()) return NotInProtocol("a pass of a fence (fence_pass)");
    v1::BulkWriteReply reply;
    reply.set_chunk_number(chunk.chunk_number());
    std::deque<ChunkWrite> left;
    int index = 0;
    for (const v1::TableWriteRequests& table : chunk.request_items())
      for (const v1::WriteRequest& write : table.write_requests())
        left.push_back({.table_name = table.table_name(), .write = &write, .index = index++});
    attempts_ = 0;
    bool is_begun = false;
    while (!left.empty()) {
      absl::Status status = WriteBatch(&left, deadline, &is_begun, &reply);
      if (status.ok()) continue;
      if (!is_begun) return status;
      return MakeError(absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
                       "a part of the writes was applied: " + MessageOf(status));
    }
    std::sort(reply.mutable_rejected()->begin(), reply.mutable_rejected()->end(),
              [](const v1::RejectedWrite& a, const v1::RejectedWrite& b) { return a.index() < b.index(); });
    return std::optional<std::string>(reply.SerializeAsString());
  }

  void Cancel() override { calls_.Cancel(); }

 private:
  // Sends the next writes; what was not applied stays in `left`. `is_begun`: something may have been applied.
  absl::Status WriteBatch(std::deque<ChunkWrite>* left, absl::Time deadline, bool* is_begun,
                          v1::BulkWriteReply* reply) {
    std::vector<ChunkWrite> batch;
    v1::BatchWriteItemRequest request;
    std::map<std::string_view, v1::TableWriteRequests*> tables;
    size_t bytes = 0;
    while (batch.size() < kMaxBatchWrites && batch.size() < left->size()) {
      const ChunkWrite& next = (*left)[batch.size()];
      bytes += next.write->ByteSizeLong();
      if (bytes > kMaxBatchBytes && !batch.empty()) break;
      v1::TableWriteRequests*& table = tables[next.table_name];
      if (table == nullptr) {
        table = request.add_request_items();
        table->set_table_name(std::string(next.table_name));
      }
      *table->add_write_requests() = *next.write;
      batch.push_back(next);
    }
    absl::StatusOr<int> unprocessed = Send(&request, deadline);
    if (!unprocessed.ok() && IsRejection(unprocessed.status()))
      return WriteEach(batch, left, deadline, is_begun, reply);
    if (!unprocessed.ok()) return PauseAfter(unprocessed.status(), deadline, is_begun);
    *is_begun = true;
    // Sent again until nothing is left, before the next writes: they may be on the same items.
    for (attempts_ = 0; *unprocessed > 0;) {
      ITEMDB_RETURN_IF_ERROR(Pause(deadline, Throttled()));
      absl::StatusOr<int> rest = Send(&request, deadline);
      // All of the rest may be throttled; the request is then as it was.
      while (!rest.ok()) {
        ITEMDB_RETURN_IF_ERROR(PauseAfter(rest.status(), deadline, is_begun));
        rest = Send(&request, deadline);
      }
      unprocessed = *rest;
    }
    attempts_ = 0;
    left->erase(left->begin(), left->begin() + static_cast<std::ptrdiff_t>(batch.size()));
    return absl::OkStatus();
  }

  // Sends the batch, which becomes what was not processed; returns how many writes that are.
  absl::StatusOr<int> Send(v1::BatchWriteItemRequest* request, absl::Time deadline) {
    ITEMDB_ASSIGN_OR_RETURN(const std::string bytes, calls_.Call("/itemdb.v1.Data/BatchWriteItem",
                                                                 CallKind::kWrite, *request, deadline));
    v1::BatchWriteItemReply answer;
    if (!answer.ParseFromString(bytes))
      return MakeError(absl::StatusCode::kInternal, "INTERNAL", "a reply does not decode");
    request->mutable_request_items()->Swap(answer.mutable_unprocessed_items());
    int writes = 0;
    for (const v1::TableWriteRequests& table : request->request_items())
      writes += table.write_requests_size();
    return writes;
  }

  // One after the other: the batch has a write that is refused, or two on one item.
  absl::Status WriteEach(const std::vector<ChunkWrite>& batch, std::deque<ChunkWrite>* left,
                         absl::Time deadline, bool* is_begun, v1::BulkWriteReply* reply) {
    for (const ChunkWrite& one : batch) {
      while (true) {
        const absl::Status status = WriteOne(one, deadline);
        if (status.ok()) {
          *is_begun = true;
        } else if (IsRejection(status)) {
          v1::RejectedWrite* rejected = reply->add_rejected();
          rejected->set_index(one.index);
          rejected->set_reason(ReasonOf(status));
          rejected->set_message(MessageOf(status));
        } else {
          ITEMDB_RETURN_IF_ERROR(PauseAfter(status, deadline, is_begun));
          continue;
        }
        attempts_ = 0;
        break;
      }
      left->pop_front();
    }
    return absl::OkStatus();
  }

  absl::Status WriteOne(const ChunkWrite& one, absl::Time deadline) {
    if (one.write->has_put_request()) {
      v1::PutItemRequest put;
      put.set_table_name(std::string(one.table_name));
      *put.mutable_item() = one.write->put_request().item();
      return calls_.Call("/itemdb.v1.Data/PutItem", CallKind::kWrite, put, deadline).status();
    }
    v1::DeleteItemRequest remove;
    remove.set_table_name(std::string(one.table_name));
    *remove.mutable_key() = one.write->delete_request().key();
    return calls_.Call("/itemdb.v1.Data/DeleteItem", CallKind::kWrite, remove, deadline).status();
  }

  // OK after a pause if nothing was applied and trying again may help.
  absl::Status PauseAfter(const absl::Status& status, absl::Time deadline, bool* is_begun) {
    if (ReasonOf(status) == kReasonWriteOutcomeUnknown) *is_begun = true;
    return ClassifyForRetry(status, CallKind::kWrite) == Retryability::kRetry ? Pause(deadline, status)
                                                                              : status;
  }

  absl::Status Pause(absl::Time deadline, const absl::Status& why) {
    const absl::Duration pause = Backoff(RetryOptions{}, ++attempts_, /*random=*/0.5, RetryAfterOf(why));
    if (absl::Now() + pause >= deadline) return why;
    absl::SleepFor(pause);
    return absl::OkStatus();
  }

  static absl::Status Throttled() {
    return MakeError(absl::StatusCode::kResourceExhausted, "THROTTLED",
                     "the other side was overloaded and did not process all writes", /*retry_after_ms=*/25);
  }

  BlockingCalls calls_;
  std::deque<std::string> chunks_;
  // Failed in a row.
  int attempts_ = 0;
};

class UnimplementedStream : public MessageStream {
 public:
  explicit UnimplementedStream(std::string_view method) : method_(method) {}
  void Write(std::string) override {}
  void WritesDone() override {}
  absl::StatusOr<std::optional<std::string>> Read(absl::Time) override { return NotOverHttp(method_); }
  void Cancel() override {}

 private:
  const std::string method_;
};

}  // namespace

std::unique_ptr<MessageStream> OpenHttpStream(Transport& transport, std::string_view method,
                                              const std::string& traceparent) {
  if (method == "/itemdb.v1.Data/QueryStream")
    return std::make_unique<PageStream<v1::QueryStreamRequest, v1::QueryReply>>(
        transport, "/itemdb.v1.Data/Query", traceparent);
  if (method == "/itemdb.v1.Data/ScanStream")
    return std::make_unique<PageStream<v1::ScanStreamRequest, v1::ScanReply>>(
        transport, "/itemdb.v1.Data/Scan", traceparent);
  if (method == "/itemdb.v1.Data/BulkWrite") return std::make_unique<BulkStream>(transport, traceparent);
  return std::make_unique<UnimplementedStream>(method);
}

}  // namespace itemdb
