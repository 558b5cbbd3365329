// The check that goes on for ever, slowly, while the database is used.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "itemdb/v1/admin.pb.h"
#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"
#include "storage/indexes/findings.h"

namespace itemdb {

// Goes round and round through the items and index entries of every table, at DatabaseOptions'
// background_check_rate records a second, and compares each with what belongs to it. What it finds is logged
// and told by GetStatus; repairing is for whoever reads that.
//
// It reads a new state for every chunk of records, so nothing old is kept for it. That is why it does not
// compare counters and the change log, which takes one state for all: CheckDatabase does. A round begins anew
// after a restart. Thread-safe.
class BackgroundCheck {
 public:
  // Does nothing at a rate of 0.
  explicit BackgroundCheck(Engine& engine);
  ~BackgroundCheck();
  BackgroundCheck(const BackgroundCheck&) = delete;
  BackgroundCheck& operator=(const BackgroundCheck&) = delete;

  // Adds how far it is to a GetStatusReply; nothing at a rate of 0.
  void Describe(v1::GetStatusReply* reply) const;

 private:
  // Where the round is: behind what was compared.
  struct Place {
    // Empty: the round has not begun.
    std::string table_name;
    // Which of the table's records: an index's storage id, or its own.
    uint64_t storage_id = 0;
    std::string from;
  };

  void Loop();
  // Compares at most `limit` records from place_ on, and moves it: behind a part that cannot be read, too.
  // How many there were; nothing, and the place stays, when the store is being reopened or this is to stop.
  std::optional<int64_t> CompareSome(int64_t limit);
  void EndRound();

  Engine& engine_;
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();

  // Of the thread only.
  Place place_;
  // Of this round: what was found, and why something could not be read.
  v1::CheckDatabaseReply found_;
  std::string error_;

  mutable Mutex mutex_;
  v1::BackgroundCheck figures_ ABSL_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace itemdb
