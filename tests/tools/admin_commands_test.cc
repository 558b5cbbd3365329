#include "tools/commands/admin_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using AdminCommands = ItemctlTest;

TEST_F(AdminCommands, ACheckWithFindingsIsExitCode7) {
  daemon_.check_database = [](const v1::CheckDatabaseRequest& request, v1::CheckDatabaseReply* reply) {
    reply->set_items_checked(10);
    reply->set_index_entries_checked(20);
    reply->set_change_records_checked(30);
    reply->set_change_sequence(40);
    if (request.table_name() == "T") {
      reply->set_finding_count(2);
      reply->add_findings("an entry without an item");
      reply->add_findings("another");
    }
    return grpc::Status::OK;
  };
  Outcome outcome = Call({"check"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, R"({"change_sequence": 40, "items_checked": 10, "index_entries_checked": 20, )"
                         R"("change_records_checked": 30, "finding_count": 0, "findings": []})"
                         "\n");
  outcome = Call({"check", "--table", "T"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.out, HasSubstr("\"findings\": [\"an entry without an item\", \"another\"]"));
  EXPECT_EQ(outcome.err, "itemctl: the check found 2 disagreements; the first: an entry without an item\n");
}

// Records 1 to 3 in pages of two.
grpc::Status ThreeRecords(const v1::ReadChangesRequest& request, v1::ReadChangesReply* reply) {
  reply->set_change_sequence(3);
  for (uint64_t sequence = request.after_sequence() + 1; sequence <= 3 && reply->records_size() < 2;
       ++sequence) {
    v1::ChangeRecord* record = reply->add_records();
    record->set_change_sequence(sequence);
    record->set_commit_first_sequence(sequence);
    record->set_commit_last_sequence(sequence);
    record->set_commit_time_us(1'767'225'600'000'000 + static_cast<int64_t>(sequence));
    record->set_table_storage_id(5);
    record->set_kind(v1::CHANGE_KIND_INSERT);
    *record->mutable_key() = ItemWithId("k" + std::to_string(sequence));
  }
  return grpc::Status::OK;
}

TEST_F(AdminCommands, ChangesReadPrintsAllRecords) {
  daemon_.read_changes = ThreeRecords;
  Outcome outcome = Call({"changes", "read"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3) << outcome.out;
  EXPECT_THAT(
      outcome.out,
      StartsWith(
          R"({"change_sequence": 1, "commit_time": "2026-01-01T00:00:00.000001Z", "table_storage_id": 5, )"
          R"("kind": "INSERT", "commit_first_sequence": 1, "commit_last_sequence": 1, )"
          R"("key": {"id": "k1"}})"));
  outcome = Call({"changes", "read", "--after", "2", "-o", "json"});
  EXPECT_THAT(outcome.out, AllOf(StartsWith("{\n  \"records\": [\n    {\n      \"change_sequence\": 3,"),
                                 HasSubstr("\n  ],\n  \"change_sequence\": 3\n}\n")));
  outcome = Call({"changes", "read", "--limit", "2"});
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2) << outcome.out;
  EXPECT_EQ(Call({"changes", "read", "--after", "3", "-o", "json"}).out,
            "{\n  \"records\": [],\n  \"change_sequence\": 3\n}\n");
}

}  // namespace
}  // namespace itemdb::tools
