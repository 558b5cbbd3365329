// Writes any number of puts and deletes as fast as the daemon accepts them:
//
//   BulkWriter writer(client);
//   for (...) {
//     if (absl::Status status = writer.Put("Product", MakeItem(...)); !status.ok()) return status;
//   }
//   absl::StatusOr<BulkWriteResult> result = writer.Finish();
//   for (const RejectedWrite& rejected : result->rejected) { ... rejected.message ... }
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "itemdb/export.h"

namespace itemdb {

struct BulkWriterOptions {
  // A chunk is sent when it has this many writes (1 to 1,000) or bytes (1 to 4,000,000). Items that replace
  // very large items need smaller chunks: old and new items of a chunk, with index entries, have at most 64
  // MiB.
  int max_chunk_writes = 250;
  size_t max_chunk_bytes = 1 << 20;
  // Chunks sent and not yet acknowledged, at least 1; more than one keeps the daemon busy. The writer keeps
  // all of them in memory.
  int chunks_under_way = 4;
  // `timeout` is the longest wait for the next acknowledgement. `idempotent` and `client_request_token` have
  // no effect: every chunk carries a token.
  CallOptions call = {};
  // Lets the writes through the fence of a table that has its SHA-256 (WriteFence::pass_sha256): for a mover
  // that fills the table, in a move to this database or back to it. A table without a fence refuses such
  // writes: INVALID_ARGUMENT. Only itemd's gRPC has it; elsewhere the writer fails with UNIMPLEMENTED.
  std::string fence_pass = {};
};

// A write that the daemon will never apply as it is.
struct RejectedWrite {
  // The number of the write in the order of Put and Delete, from 0.
  uint64_t position = 0;
  BatchWrite write;
  // As of a status: VALIDATION, RESOURCE_NOT_FOUND, ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED, or the error of
  // reading the previous item, such as DATA_LOSS.
  std::string reason;
  std::string message;
};

struct BulkWriteResult {
  // Writes that were applied and are durable.
  uint64_t applied = 0;
  std::vector<RejectedWrite> rejected;
  // Of the last chunk; 0 if there was none.
  uint64_t change_sequence = 0;
};

// Sends writes in chunks, in order, without waiting for each chunk. When the connection breaks, the writer
// opens it again, within RetryOptions, and sends the unacknowledged chunks again. Each chunk carries a
// request token, so the daemon applies it once.
//
// For one thread at a time. Blocks while `chunks_under_way` chunks are unacknowledged. Must not be used
// inside a callback. May outlive its Client.
class ITEMDB_EXPORT BulkWriter {
 public:
  explicit BulkWriter(const Client& client, BulkWriterOptions options = {});
  // Without Finish(), unsent writes are dropped, and the outcome of unacknowledged ones is unknown.
  ~BulkWriter();
  BulkWriter(BulkWriter&&) noexcept;
  BulkWriter& operator=(BulkWriter&&) noexcept;

  // Accepts a write. OK does not mean that it is applied; Finish() tells that. An error ends the writer, and
  // every later call returns it again; its message says how many writes were applied, were not sent, or have
  // an unknown outcome.
  //
  // INVALID_ARGUMENT also: an option is out of its bounds, a value nests too deeply, or one write is longer
  // than a chunk may be. FAILED_PRECONDITION: the writer is finished, or was called inside a callback.
  // RESOURCE_EXHAUSTED (LIMIT_EXCEEDED): the items of a chunk are too large together (BulkWriterOptions).
  absl::Status Put(const std::string& table_name, const Item& item);
  absl::Status Delete(const std::string& table_name, const Item& key);

  // Sends the remaining writes and waits until all are acknowledged. Call once.
  absl::StatusOr<BulkWriteResult> Finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace itemdb
