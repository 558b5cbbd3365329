// Any number of puts and deletes at the speed of the daemon:
//
//   BulkWriter writer(client);
//   for (...) {
//     if (absl::Status status = writer.Put("Product", MakeItem(...)); !status.ok()) return status;
//   }
//   absl::StatusOr<BulkWriteResult> result = writer.Finish();
//   for (const RejectedWrite& rejected : result->rejected) { ... rejected.message ... }
#pragma once

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
inline namespace client {

struct BulkWriterOptions {
  // A chunk is sent when it has so many writes, 1 to 1,000, or bytes, up to 4,000,000. Smaller ones are for
  // items that replace very large ones: what a chunk replaces and writes, with index entries, is at most 64
  // MiB.
  int max_chunk_writes = 250;
  size_t max_chunk_bytes = 1 << 20;
  // Chunks sent and not yet acknowledged, at least 1; more than one keeps the daemon busy. That much is in
  // memory.
  int chunks_under_way = 4;
  // `timeout` is the longest wait for the next acknowledgement. `idempotent` and `client_request_token` have
  // no effect: every chunk carries a token.
  CallOptions call = {};
};

// A write that can never be applied as it is.
struct RejectedWrite {
  // In the order of Put and Delete, from 0.
  uint64_t position = 0;
  BatchWrite write;
  // As of a status: VALIDATION, RESOURCE_NOT_FOUND, ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED, or why what the
  // write replaces could not be read, such as DATA_LOSS.
  std::string reason;
  std::string message;
};

struct BulkWriteResult {
  // Writes that are there, durably.
  uint64_t applied = 0;
  std::vector<RejectedWrite> rejected;
  // Of the last chunk; 0 without one.
  uint64_t change_sequence = 0;
};

// Sends writes in chunks, in their order, without waiting for each. A broken connection is opened again,
// within RetryOptions, and the chunks not yet acknowledged are sent again; each carries a request token, so
// that it is applied once.
//
// For one thread at a time; blocks while chunks_under_way are under way. Not inside a callback. May outlive
// its Client.
class ITEMDB_EXPORT BulkWriter {
 public:
  explicit BulkWriter(const Client& client, BulkWriterOptions options = {});
  // Without Finish(): what was not sent is dropped, and of what was not acknowledged nothing is known.
  ~BulkWriter();
  BulkWriter(BulkWriter&&) noexcept;
  BulkWriter& operator=(BulkWriter&&) noexcept;

  // Takes a write on. OK says nothing about whether it is applied: that is Finish()'s. An error ends the
  // writer and comes again from every call; its message says how many writes were applied, were not sent, and
  // of how many nothing is known.
  //
  // INVALID_ARGUMENT also: the options are of no use, a value nests too deeply, one write is longer than a
  // chunk may be. FAILED_PRECONDITION: the writer is finished, or called inside a callback.
  // RESOURCE_EXHAUSTED (LIMIT_EXCEEDED): a chunk replaces too much (BulkWriterOptions).
  absl::Status Put(const std::string& table_name, const Item& item);
  absl::Status Delete(const std::string& table_name, const Item& key);

  // Sends what is left and waits until all is acknowledged. Call once.
  absl::StatusOr<BulkWriteResult> Finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace client
}  // namespace itemdb
