// The write fences of the moved tables in one database of a move, as they were read, or set by this run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "tools/moving/move_journal.h"
#include "tools/moving/side.h"

namespace itemdb::tools {

// Each `side` is one of the same database; they differ in patience. Not thread-safe.
class Fences {
 public:
  // `journal` must outlive it. `run`: the SHA-256 of the pass of this run, which its fences have.
  Fences(MoveJournal& journal, std::string run) : journal_(journal), run_(std::move(run)) {}

  // Of the journal's tables. Of a side that is not itemd's there are none. NOT_FOUND: a table was deleted.
  absl::Status Read(const Side& side);
  // Adds one that was read elsewhere. Without an endpoint: the table has none.
  void Add(const std::string& table, WriteFence fence) { by_table_[table] = std::move(fence); }

  // Sets, or without an endpoint lifts, the fence of each table; returns the last change. ABORTED: somebody
  // else has changed one, or this run is not the journal's any more.
  absl::StatusOr<uint64_t> Set(const Side& side, const WriteFence& fence);
  // Lifts every one that can be; returns the first error.
  absl::Status LiftAll(const Side& side);
  // Lifts those whose writers wait for a move to `endpoint`.
  absl::Status LiftWaitingFor(const Side& side, const std::string& endpoint);

  // The endpoint of one that is not of writers who wait for a move to `endpoint`.
  std::optional<std::string> OtherThanWaitingFor(const std::string& endpoint) const;
  // Whether writers of a table are sent to another endpoint.
  bool SendsWritersAway() const;
  const std::map<std::string, WriteFence>& by_table() const { return by_table_; }

 private:
  absl::StatusOr<uint64_t> SetOne(const Side& side, const std::string& table, const WriteFence& fence);

  MoveJournal& journal_;
  const std::string run_;
  std::map<std::string, WriteFence> by_table_;
};

}  // namespace itemdb::tools
