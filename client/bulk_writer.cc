#include "itemdb/bulk_writer.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "client/access.h"
#include "client/convert.h"
#include "client/errors_internal.h"
#include "client/resumed_stream.h"
#include "common/status_macros.h"
#include "itemdb/v1/data.pb.h"

namespace itemdb {
namespace {

// The daemon's limits for one chunk. kFrameBytes is added to each write for number, token and table name.
constexpr int kMaxChunkWrites = 1'000;
constexpr size_t kMaxChunkBytes = 4'000'000;
constexpr size_t kFrameBytes = 16;

// A chunk, kept until it is acknowledged. Each stream that sends it gives it another number.
struct Chunk {
  // The position of its first write.
  uint64_t position = 0;
  uint64_t writes = 0;
  // All fields except the number.
  std::string body;

  // Protobuf accepts fields in any order, so the number is put before the rest.
  std::string Numbered(uint64_t number) const {
    v1::BulkWriteChunk head;
    head.set_chunk_number(number);
    return head.SerializeAsString() + body;
  }

  // The writes at `positions` (ascending) within the chunk. Nothing for a position outside the chunk.
  std::vector<std::optional<BatchWrite>> WritesAt(const std::vector<int>& positions) const {
    std::vector<std::optional<BatchWrite>> found(positions.size());
    v1::BulkWriteChunk chunk;
    if (!chunk.ParseFromString(body)) return found;
    int position = 0;
    for (const v1::TableWriteRequests& table : chunk.request_items()) {
      for (const v1::WriteRequest& write : table.write_requests()) {
        const auto wanted = std::lower_bound(positions.begin(), positions.end(), position++);
        if (wanted == positions.end() || *wanted != position - 1) continue;
        const bool is_put = write.has_put_request();
        absl::StatusOr<Item> item =
            FromProto(is_put ? write.put_request().item() : write.delete_request().key());
        if (!item.ok()) continue;
        std::optional<BatchWrite>& slot = found[wanted - positions.begin()];
        if (is_put) {
          slot = BatchPut{table.table_name(), *std::move(item)};
        } else {
          slot = BatchDelete{table.table_name(), *std::move(item)};
        }
      }
    }
    return found;
  }
};

absl::Status CheckOptions(const BulkWriterOptions& options) {
  if (options.max_chunk_writes < 1 || options.max_chunk_writes > kMaxChunkWrites) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "max_chunk_writes is " + std::to_string(options.max_chunk_writes) +
                         "; it must be 1 to " + std::to_string(kMaxChunkWrites));
  }
  if (options.max_chunk_bytes < 1 || options.max_chunk_bytes > kMaxChunkBytes) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "max_chunk_bytes is " + std::to_string(options.max_chunk_bytes) + "; it must be 1 to " +
                         std::to_string(kMaxChunkBytes));
  }
  if (options.chunks_under_way < 1) {
    return MakeError(
        absl::StatusCode::kInvalidArgument, kReasonValidation,
        "chunks_under_way is " + std::to_string(options.chunks_under_way) + "; it must be at least 1");
  }
  return absl::OkStatus();
}

}  // namespace

class BulkWriter::State {
 public:
  State(std::shared_ptr<ClientCore> core, BulkWriterOptions options)
      : core_(core),
        options_(std::move(options)),
        stream_(std::move(core), "/itemdb.v1.Data/BulkWrite", /*table_name=*/"",
                std::max(options_.chunks_under_way, 1), options_.call) {
    failure_ = CheckOptions(options_);
  }

  absl::Status Add(const std::string& table_name, const Item& item, bool is_put) {
    ITEMDB_RETURN_IF_ERROR(CheckUsable());
    v1::WriteRequest write;
    absl::Status encoded = ToProto(item, is_put ? write.mutable_put_request()->mutable_item()
                                                : write.mutable_delete_request()->mutable_key());
    if (!encoded.ok()) return Fail(encoded);
    const size_t bytes = write.ByteSizeLong() + table_name.size() + kFrameBytes;
    if (bytes > kMaxChunkBytes) {
      return Fail(MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                            "write " + std::to_string(given_) + " has " + std::to_string(bytes) +
                                " bytes; at most " + std::to_string(kMaxChunkBytes) + " are allowed"));
    }
    if (pending_writes_ > 0 && pending_bytes_ + bytes > options_.max_chunk_bytes) {
      ITEMDB_RETURN_IF_ERROR(SendPending());
    }
    // Writes keep their order, so one table may occur several times.
    const int tables = pending_.request_items_size();
    v1::TableWriteRequests* table =
        tables > 0 && pending_.request_items(tables - 1).table_name() == table_name
            ? pending_.mutable_request_items(tables - 1)
            : pending_.add_request_items();
    table->set_table_name(table_name);
    *table->add_write_requests() = std::move(write);
    pending_bytes_ += bytes;
    ++pending_writes_;
    ++given_;
    return pending_writes_ == options_.max_chunk_writes ? SendPending() : absl::OkStatus();
  }

  absl::StatusOr<BulkWriteResult> Finish() {
    ITEMDB_RETURN_IF_ERROR(CheckUsable());
    if (pending_writes_ > 0) {
      ITEMDB_RETURN_IF_ERROR(SendPending());
    }
    while (!under_way_.empty()) {
      ITEMDB_RETURN_IF_ERROR(AwaitAcknowledgement());
    }
    finished_ = true;
    if (stream_.is_open()) stream_.WritesDone();
    return std::move(result_);
  }

 private:
  absl::Status CheckUsable() const {
    if (!failure_.ok()) return failure_;
    if (finished_) {
      return MakeError(absl::StatusCode::kFailedPrecondition, "FINISHED", "the bulk writer is finished");
    }
    return stream_.CheckUsable();
  }

  absl::Status SendPending() {
    pending_.set_client_request_token(NewRequestToken());
    pending_.set_fence_pass(options_.fence_pass);
    under_way_.push_back({.position = given_ - pending_writes_,
                          .writes = static_cast<uint64_t>(pending_writes_),
                          .body = pending_.SerializeAsString()});
    pending_.Clear();
    pending_bytes_ = 0;
    pending_writes_ = 0;
    if (stream_.is_open()) stream_.Write(under_way_.back().Numbered(++last_number_));
    while (under_way_.size() >= static_cast<size_t>(options_.chunks_under_way)) {
      ITEMDB_RETURN_IF_ERROR(AwaitAcknowledgement());
    }
    return absl::OkStatus();
  }

  // Waits for the acknowledgement of the first chunk under way. After a break sends all chunks again,
  // renumbered.
  absl::Status AwaitAcknowledgement() {
    while (true) {
      if (!stream_.is_open()) {
        stream_.Open();
        last_number_ = 0;
        acknowledged_number_ = 0;
        for (const Chunk& chunk : under_way_) stream_.Write(chunk.Numbered(++last_number_));
      }
      absl::StatusOr<std::optional<std::string>> message = stream_.Read();
      if (message.ok() && message->has_value()) return Take(**message);
      if (message.ok()) return Fail(UnexpectedReply());
      if (stream_.gave_up()) return Fail(message.status());
    }
  }

  absl::Status Take(const std::string& message) {
    v1::BulkWriteReply reply;
    if (!reply.ParseFromString(message) || reply.chunk_number() != acknowledged_number_ + 1) {
      return Fail(UnexpectedReply());
    }
    acknowledged_number_ = reply.chunk_number();
    const Chunk& chunk = under_way_.front();
    if (reply.rejected_size() > 0) TakeRejected(chunk, reply);
    result_.applied += chunk.writes - static_cast<uint64_t>(reply.rejected_size());
    result_.change_sequence = reply.change_sequence();
    under_way_.pop_front();
    return absl::OkStatus();
  }

  void TakeRejected(const Chunk& chunk, const v1::BulkWriteReply& reply) {
    std::vector<int> positions;
    for (const v1::RejectedWrite& rejected : reply.rejected()) positions.push_back(rejected.index());
    std::vector<std::optional<BatchWrite>> writes = chunk.WritesAt(positions);
    for (int i = 0; i < reply.rejected_size(); ++i) {
      RejectedWrite& rejected = result_.rejected.emplace_back();
      rejected.position = chunk.position + static_cast<uint64_t>(positions[i]);
      if (writes[i].has_value()) rejected.write = *std::move(writes[i]);
      rejected.reason = reply.rejected(i).reason();
      rejected.message = reply.rejected(i).message();
    }
  }

  absl::Status UnexpectedReply() const {
    return MakeError(absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
                     "the replies from " + core_->endpoint() + " to a bulk write cannot be understood");
  }

  // Ends the writer with an error that says how many writes were applied, rejected, not sent or unknown.
  absl::Status Fail(const absl::Status& status) {
    uint64_t unknown = 0;
    for (const Chunk& chunk : under_way_) unknown += chunk.writes;
    std::string message = "of " + std::to_string(given_) + " writes " + std::to_string(result_.applied) +
                          " were applied, " + std::to_string(result_.rejected.size()) + " were rejected, " +
                          std::to_string(pending_writes_) + " were not sent, and of " +
                          std::to_string(unknown);
    if (unknown > 0) {
      const uint64_t first = under_way_.front().position;
      message += " (the " + std::to_string(first) + "th to the " + std::to_string(first + unknown - 1) +
                 "th, from 0)";
    }
    message += " it is not known: " + MessageOf(status);
    failure_ = absl::Status(status.code(), message);
    status.ForEachPayload(
        [&](absl::string_view url, const absl::Cord& payload) { failure_.SetPayload(url, payload); });
    return failure_;
  }

  const std::shared_ptr<ClientCore> core_;
  const BulkWriterOptions options_;
  ResumedStream stream_;
  // The next chunk, not yet sent.
  v1::BulkWriteChunk pending_;
  size_t pending_bytes_ = 0;
  int pending_writes_ = 0;
  // Chunks sent and not acknowledged, in order.
  std::deque<Chunk> under_way_;
  // Chunk numbers on the open stream.
  uint64_t last_number_ = 0;
  uint64_t acknowledged_number_ = 0;
  uint64_t given_ = 0;
  BulkWriteResult result_;
  absl::Status failure_;
  bool finished_ = false;
};

BulkWriter::BulkWriter(const Client& client, BulkWriterOptions options)
    : state_(std::make_unique<State>(ClientAccess::CoreOf(client), std::move(options))) {}
BulkWriter::~BulkWriter() = default;
BulkWriter::BulkWriter(BulkWriter&&) noexcept = default;
BulkWriter& BulkWriter::operator=(BulkWriter&&) noexcept = default;

absl::Status BulkWriter::Put(const std::string& table_name, const Item& item) {
  return state_->Add(table_name, item, /*is_put=*/true);
}

absl::Status BulkWriter::Delete(const std::string& table_name, const Item& key) {
  return state_->Add(table_name, key, /*is_put=*/false);
}

absl::StatusOr<BulkWriteResult> BulkWriter::Finish() { return state_->Finish(); }

}  // namespace itemdb
