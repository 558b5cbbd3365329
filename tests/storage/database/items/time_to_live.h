// A database whose clock a test sets, and functions for its time to live.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/storage/database/requests.h"
#include "tests/support/await.h"

namespace itemdb::testing {

// A clock in seconds since the Unix epoch, starting at kStart. Copies share the time.
class TestClock {
 public:
  static constexpr int64_t kStart = 1'900'000'000;

  void Set(int64_t seconds) { *micros_ = seconds * 1'000'000; }
  int64_t seconds() const { return *micros_ / 1'000'000; }
  DatabaseOptions With(DatabaseOptions options) const {
    options.clock_us = [micros = micros_] { return micros->load(); };
    return options;
  }

 private:
  std::shared_ptr<std::atomic<int64_t>> micros_ =
      std::make_shared<std::atomic<int64_t>>(kStart * int64_t{1'000'000});
};

// The time `seconds` after the clock's start, as an attribute value.
inline v1::AttributeValue At(int64_t seconds) { return N(std::to_string(TestClock::kStart + seconds)); }

inline absl::Status SetTimeToLive(Database& database, const std::string& table, bool enabled,
                                  const std::string& attribute = "ttl") {
  v1::UpdateTimeToLiveRequest request;
  request.set_table_name(table);
  request.mutable_time_to_live_specification()->set_enabled(enabled);
  request.mutable_time_to_live_specification()->set_attribute_name(attribute);
  return Await<v1::UpdateTimeToLiveReply>(
             [&](auto done) { database.UpdateTimeToLive(request, std::move(done)); })
      .status();
}

inline v1::DescribeTimeToLiveReply DescribeTimeToLive(Database& database, const std::string& table) {
  v1::DescribeTimeToLiveRequest request;
  request.set_table_name(table);
  auto reply = database.DescribeTimeToLive(request);
  EXPECT_TRUE(reply.ok()) << reply.status();
  return reply.ok() ? *reply : v1::DescribeTimeToLiveReply();
}

inline bool AwaitEnabled(Database& database, const std::string& table) {
  return Await([&] {
    return DescribeTimeToLive(database, table).time_to_live_status() == v1::TIME_TO_LIVE_STATUS_ENABLED;
  });
}

// Waits until `items` items of `table` have expired (counted after their deletion); false if more have.
inline bool AwaitExpired(Database& database, const std::string& table, int64_t items) {
  (void)Await([&] { return DescribeTimeToLive(database, table).items_expired() >= items; });
  return DescribeTimeToLive(database, table).items_expired() == items;
}

}  // namespace itemdb::testing
