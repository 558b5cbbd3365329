#include "client/testing/local_streams.h"

#include <utility>

namespace itemdb::testing {

absl::StatusOr<std::optional<std::string>> LocalPageStream::Read() {
  if (!decoded_) return ForClient(storage::ValidationError("the request does not decode"));
  if (last_) return std::nullopt;
  absl::StatusOr<storage::Page> page = NextPage();
  if (!page.ok()) return ForClient(page.status());
  last_ = !page->reply.has_last_evaluated_key();
  if (!last_) request_.mutable_page()->set_exclusive_start_key(page->reply.last_evaluated_key());
  return page->reply.SerializeAsString() + page->encoded_items;
}

absl::StatusOr<storage::Page> LocalPageStream::NextPage() {
  if (request_.one_state() && state_ == nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(state_, database_.PinSnapshot());
  }
  auto promise = std::make_shared<std::promise<absl::StatusOr<storage::Page>>>();
  auto page = promise->get_future();
  auto done = [promise](absl::StatusOr<storage::Page> page) { promise->set_value(std::move(page)); };
  if (state_ != nullptr) {
    (database_.*read_state_)(*state_, request_.page(), std::move(done), nullptr);
  } else {
    (database_.*read_)(request_.page(), std::move(done), nullptr);
  }
  return page.get();
}

absl::StatusOr<std::optional<std::string>> LocalChangeStream::Read() {
  if (!decoded_) return ForClient(storage::ValidationError("the request does not decode"));
  if (last_) return std::nullopt;
  auto promise = std::make_shared<std::promise<absl::StatusOr<storage::WatchPage>>>();
  auto future = promise->get_future();
  database_.WatchChanges(
      request_, [promise](absl::StatusOr<storage::WatchPage> page) { promise->set_value(std::move(page)); },
      cancellation_);
  absl::StatusOr<storage::WatchPage> page = future.get();
  if (!page.ok()) return ForClient(page.status());
  request_.set_after_sequence(page->reply.change_sequence());
  request_.set_table_storage_id(page->reply.table_storage_id());
  last_ = page->last;
  return page->reply.SerializeAsString() + page->encoded_records;
}

void LocalBulkStream::Write(const std::string& message) {
  auto promise = std::make_shared<std::promise<absl::StatusOr<wire::BulkWriteReply>>>();
  replies_.push_back(promise->get_future());
  wire::BulkWriteChunk chunk;
  if (!chunk.ParseFromString(message)) {
    return promise->set_value(storage::ValidationError("the chunk does not decode"));
  }
  database_.BulkWrite(*writes_, chunk, [promise](absl::StatusOr<wire::BulkWriteReply> reply) {
    promise->set_value(std::move(reply));
  });
}

absl::StatusOr<std::optional<std::string>> LocalBulkStream::Read() {
  if (replies_.empty()) {
    if (no_more_) return std::nullopt;
    return ForClient(storage::MakeError(absl::StatusCode::kFailedPrecondition, storage::kReasonInternal,
                                        "every chunk has had its reply; there is none to wait for"));
  }
  absl::StatusOr<wire::BulkWriteReply> reply = replies_.front().get();
  replies_.pop_front();
  if (!reply.ok()) return ForClient(reply.status());
  return reply->SerializeAsString();
}

}  // namespace itemdb::testing
