// A database and its model, which must always agree, and helpers for checking that.
#pragma once

#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "itemdb/v1/changes.pb.h"
#include "tests/storage/database/random/random_requests.h"
#include "tests/storage/database/random/table_model.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {

// A write that was applied under a client request token, so that a repetition changes nothing (SEM-050).
struct AppliedRequest {
  // The tables that it wrote to, with the storage ids that they had.
  std::map<std::string, uint64_t> tables;
  // Sends the request again and expects the first reply, and no change.
  std::function<void()> repeat;
};

struct SideBySide {
  SideBySide(uint64_t seed, auto options)
      : random(seed), directory(), database(options(directory.path() + "/data", random)) {}

  TableModel& AnyTable() {
    auto table = tables.begin();
    std::advance(table, random.Pick(0, static_cast<int>(tables.size()) - 1));
    return table->second;
  }

  RandomRequests random;
  TemporaryDirectory directory;
  TestDatabase database;
  std::map<std::string, TableModel> tables;
  // The expected change log, without times; the sequence of the last change is its size.
  std::vector<v1::ChangeRecord> log;
  std::vector<AppliedRequest> applied;
  int next_token = 0;
};

inline std::optional<std::string> Encoded(const std::optional<ModelItem>& item) {
  if (!item.has_value()) return std::nullopt;
  return EncodeItem(*item);
}

// Expects that the optional item of a reply equals `item`.
template <typename Message>
void ExpectItem(const Message& message, const std::optional<std::string>& item) {
  EXPECT_EQ(message.has_item(), item.has_value());
  EXPECT_EQ(message.item(), item.value_or(""));
}

inline void ExpectInvalid(const absl::Status& status) {
  EXPECT_EQ(ReasonOf(status), kReasonValidation) << status;
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

}  // namespace itemdb::testing
