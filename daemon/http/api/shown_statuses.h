// The statuses that a table passes through in DynamoDB and has not here (`--status-delay`).
//
// Here a table is ACTIVE when CreateTable is answered. For programs that test how they wait, replies over
// HTTP can show CREATING, UPDATING, ENABLING and DISABLING for a time. Only what is shown differs: the table
// can be used at once.
//
// Thread-safe. Kept in memory: after a restart everything is shown as it is. Contributor insights have the
// time of their last change in their description, so nothing is kept of them.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "itemdb/v1/tables.pb.h"
#include "storage/base/mutex.h"

namespace itemdb::http {

class ShownStatuses {
 public:
  using Clock = std::chrono::steady_clock;

  // `delay`: how long a status is shown; 0: not at all.
  explicit ShownStatuses(std::chrono::milliseconds delay) : delay_(delay) {}

  // A table was created, or its time to live was enabled. `table` is its name or ARN.
  void Created(const std::string& table);
  // A table was changed; it is now as described. An index that is CREATING was added, and is shown as in
  // DynamoDB: for a time with Backfilling false and the table UPDATING, then, also as long as it is really
  // backfilled, with Backfilling true and the table ACTIVE (VEC-05).
  void Updated(const v1::TableDescription& table);
  void TimeToLiveEnabled(const std::string& table) { Remember(table, &Times::time_to_live); }

  // Whether `table` is shown as CREATING.
  bool ShowsCreation(const std::string& table) { return Clock::now() < Find(table).created; }

  // Sets the statuses that replies show.
  void Show(v1::TableDescription* table);
  void Show(const std::string& table, v1::DescribeTimeToLiveReply* time_to_live);
  void Show(v1::ContributorInsightsSummary* insights) const;

 private:
  // Until when a status is shown.
  struct Times {
    Clock::time_point created, updated, time_to_live;
    // By name, of indexes that were added: Backfilling false. Backfilling true follows for the delay.
    std::map<std::string, Clock::time_point> indexes;
  };

  // Those of the table, for a change.
  Times& TimesOf(const std::string& table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HavePassed(const Times& times, Clock::time_point now) const;

  void Remember(const std::string& table, Clock::time_point Times::*which);
  Times Find(const std::string& table);

  const std::chrono::milliseconds delay_;
  storage::Mutex mutex_;
  // By table name. Tables whose times have passed are removed when another is remembered.
  std::map<std::string, Times> times_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::http
