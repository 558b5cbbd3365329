#include "daemon/streams/bulk_stream.h"

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "daemon/rpc/grpc_status.h"
#include "daemon/rpc/raw_call.h"
#include "daemon/streams/stream_call.h"
#include "storage/base/mutex.h"

namespace itemdb::daemon {
namespace {

// Chunks of a stream that are in progress at a time: one is being committed, one waits for its turn, one
// reads from the disk, one arrives. More chunks would only take memory.
constexpr size_t kChunksUnderWay = 4;

// Three activities run at the same time: reading a chunk from the client, applying chunks, sending an
// acknowledgement. At most one read and one write are pending in gRPC. GoOn() chooses the next step under the
// lock and takes it after releasing the lock.
//
// Owned by `self_` until gRPC is done with the stream, and by the callbacks of chunks that are being applied.
class BulkStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                         public OpenStreams::Stream,
                         public std::enable_shared_from_this<BulkStream> {
 public:
  BulkStream(storage::Database& database, ServingContext& serving, grpc::CallbackServerContext& context,
             std::string_view method)
      : call_(serving, context, method, /*request_bytes=*/0),
        context_(context),
        database_(database),
        writes_(database.BeginBulkWrite()) {}

  ~BulkStream() override = default;

  void Start() {
    self_ = shared_from_this();
    if (grpc::Status entered = call_.Enter(); !entered.ok()) {
      {
        storage::MutexLock lock(mutex_);
        finished_ = true;
      }
      return Finish(std::move(entered));
    }
    call_.serving().streams.Add(this);
    GoOn();
  }

  void OnReadDone(bool ok) override {
    grpc::Status caller = ok ? call_.CheckCaller() : grpc::Status::OK;
    {
      storage::MutexLock lock(mutex_);
      reading_ = false;
      if (!caller.ok()) {
        EndWith(std::move(caller));
      } else if (ok) {
        arrived_ = true;
      } else {
        no_more_ = true;
      }
    }
    GoOn();
  }

  void OnWriteDone(bool ok) override {
    {
      storage::MutexLock lock(mutex_);
      writing_ = false;
      acknowledgement_.Clear();
      if (!ok) EndWith(ToGrpcStatus(absl::CancelledError("the client is gone")));
    }
    GoOn();
  }

  void OnCancel() override {
    call_.CancelledByCaller();
    {
      storage::MutexLock lock(mutex_);
      EndWith(ToGrpcStatus(absl::CancelledError("the client is gone")));
    }
    GoOn();
  }

  void OnDone() override {
    writes_.reset();
    call_.serving().streams.Remove(this);
    call_.Leave();
    self_.reset();
  }

  // Chunks that are being applied are still acknowledged.
  void Stop() override {
    {
      storage::MutexLock lock(mutex_);
      EndWith(StoppingReply("nothing more was done"));
    }
    GoOn();
  }
  void Abort() override { context_.TryCancel(); }

 private:
  struct Chunk {
    size_t reserved_bytes = 0;
    std::chrono::steady_clock::time_point began;
    CallLogFields log_fields;
    size_t request_bytes = 0;
    StreamCall::Part part;
    // Set once the chunk was applied or has failed.
    std::optional<absl::StatusOr<wire::BulkWriteReply>> reply;
  };

  // No further chunk is read or applied. The client gets the status of the first call.
  void EndWith(grpc::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!end_.has_value()) end_ = std::move(status);
  }

  // Takes all steps that are possible now.
  void GoOn() {
    while (true) {
      enum class Next { kNothing, kRead, kApply, kWrite, kFinish } next = Next::kNothing;
      grpc::Status status;
      {
        storage::MutexLock lock(mutex_);
        if (finished_) return;
        if (!writing_ && !chunks_.empty() && chunks_.front()->reply.has_value()) {
          // Chunks are acknowledged in their order; the first failed chunk ends the stream.
          if (TakeAcknowledgement()) {
            writing_ = true;
            next = Next::kWrite;
          } else {
            continue;
          }
        } else if (arrived_ && !applying_ && !end_.has_value() && ReserveForArrived()) {
          arrived_ = false;
          applying_ = true;
          next = Next::kApply;
        } else if (!writing_ && !applying_ && chunks_.empty() &&
                   (end_.has_value() || (no_more_ && !arrived_))) {
          finished_ = true;
          next = Next::kFinish;
          status = end_.value_or(grpc::Status::OK);
        } else if (!reading_ && !arrived_ && !applying_ && !no_more_ && !end_.has_value() &&
                   chunks_.size() < kChunksUnderWay) {
          reading_ = true;
          next = Next::kRead;
        }
      }
      switch (next) {
        case Next::kNothing:
          return;
        case Next::kRead:
          StartRead(&request_);
          break;
        case Next::kApply:
          Apply();
          {
            storage::MutexLock lock(mutex_);
            applying_ = false;
          }
          break;
        case Next::kWrite:
          StartWrite(&acknowledgement_);
          break;
        case Next::kFinish:
          return Finish(std::move(status));
      }
    }
  }

  // False: there is no memory for the chunk that arrived. It waits until other chunks of the stream are done
  // and acknowledged; if there are none, the stream ends with CALLS_FULL.
  bool ReserveForArrived() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const size_t bytes = kCopiesOfRequest * request_.Length();
    if (!call_.memory()->TryReserveForChunk(bytes, call_.reserved_bytes())) {
      if (chunks_.empty() && !writing_) EndWith(CallsFullReply(*call_.memory(), "nothing more was done"));
      return false;
    }
    chunks_.push_back(std::make_shared<Chunk>());
    chunks_.back()->reserved_bytes = bytes;
    return true;
  }

  // Applies the chunk in `request_`; the last element of `chunks_` belongs to it.
  void Apply() {
    std::shared_ptr<Chunk> chunk;
    {
      storage::MutexLock lock(mutex_);
      chunk = chunks_.back();
    }
    grpc::ByteBuffer bytes;
    bytes.Swap(&request_);
    chunk->began = std::chrono::steady_clock::now();
    chunk->request_bytes = bytes.Length();
    chunk->part = call_.BeginPart();
    wire::BulkWriteChunk request;
    if (!DecodeRequest(bytes, request)) return Applied(*chunk, UndecodableRequest(call_.method()));
    chunk->log_fields = LogFieldsOf(request);
    bytes.Clear();
    if (absl::Status allowed = call_.CheckPart(request); !allowed.ok()) {
      {
        // The database has not seen this chunk, so it would apply a later one with the same number.
        storage::MutexLock lock(mutex_);
        EndWith(ToGrpcStatus(allowed));
      }
      return Applied(*chunk, std::move(allowed));
    }
    database_.BulkWrite(
        *writes_, request,
        [self = shared_from_this(), chunk](absl::StatusOr<wire::BulkWriteReply> reply) {
          self->Applied(*chunk, std::move(reply));
        },
        chunk->part.cancellation);
  }

  void Applied(Chunk& chunk, absl::StatusOr<wire::BulkWriteReply> reply) {
    call_.memory()->Release(chunk.reserved_bytes);
    EncodedReply logged;
    if (reply.ok()) {
      logged.bytes = reply->ByteSizeLong();
    } else {
      logged.status = ToGrpcStatus(reply.status());
    }
    call_.RecordPart(chunk.began, chunk.log_fields, logged, -1, chunk.request_bytes, &chunk.part);
    {
      storage::MutexLock lock(mutex_);
      chunk.reply = std::move(reply);
    }
    GoOn();
  }

  // Removes the first chunk and encodes its reply into `acknowledgement_`. False: nothing to send, because
  // this chunk or an earlier one has failed.
  bool TakeAcknowledgement() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    absl::StatusOr<wire::BulkWriteReply> reply = *std::move(chunks_.front()->reply);
    chunks_.pop_front();
    // After a failed chunk no later chunk is acknowledged: acknowledgements must have no gap.
    if (failed_) return false;
    if (reply.ok()) {
      EncodedReply encoded = EncodeReply(*reply, call_.memory(), &acknowledgement_);
      if (encoded.status.ok()) return true;
      failed_ = true;
      end_ = std::move(encoded.status);
      return false;
    }
    failed_ = true;
    // Replaces any other reason for the end: the client must learn that the chunk failed.
    end_ = ToGrpcStatus(reply.status());
    return false;
  }

  std::shared_ptr<BulkStream> self_;
  StreamCall call_;
  grpc::CallbackServerContext& context_;
  storage::Database& database_;
  std::shared_ptr<storage::BulkWrites> writes_;
  // gRPC uses `request_` while reading_, and `acknowledgement_` while writing_.
  grpc::ByteBuffer request_;
  grpc::ByteBuffer acknowledgement_;

  storage::Mutex mutex_;
  // Chunks in progress, in the order of their arrival.
  std::deque<std::shared_ptr<Chunk>> chunks_ ABSL_GUARDED_BY(mutex_);
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  // `request_` holds a chunk.
  bool arrived_ ABSL_GUARDED_BY(mutex_) = false;
  // A chunk is being passed to the database; one at a time, which keeps their order.
  bool applying_ ABSL_GUARDED_BY(mutex_) = false;
  // The client has sent its last chunk.
  bool no_more_ ABSL_GUARDED_BY(mutex_) = false;
  // A chunk failed.
  bool failed_ ABSL_GUARDED_BY(mutex_) = false;
  // Why the stream ends before the client's last chunk; the status sent to the client.
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartBulkStream(
    storage::Database& database, ServingContext& serving, grpc::CallbackServerContext* context,
    std::string_view method) {
  auto stream = std::make_shared<BulkStream>(database, serving, *context, method);
  stream->Start();
  return stream.get();
}

}  // namespace itemdb::daemon
