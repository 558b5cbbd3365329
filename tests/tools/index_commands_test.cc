#include "tools/commands/index_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class IndexCommands : public ItemctlTest {
 protected:
  void SetUp() override {
    daemon_.describe_table = [](const auto&, v1::DescribeTableReply* reply) {
      *reply->mutable_table() = TableWith(v1::TABLE_STATUS_ACTIVE);
      return grpc::Status::OK;
    };
    daemon_.update_table = [this](const v1::UpdateTableRequest& request, v1::UpdateTableReply* reply) {
      updates_.push_back(request);
      *reply->mutable_table() = TableWith(v1::TABLE_STATUS_CREATING);
      return grpc::Status::OK;
    };
  }

  // The table "T" with one index "ByKind".
  static v1::TableDescription TableWith(v1::TableStatus index_status) {
    v1::TableDescription table;
    table.set_table_name("T");
    table.set_table_status(v1::TABLE_STATUS_ACTIVE);
    v1::GlobalSecondaryIndexDescription* index = table.add_global_secondary_indexes();
    index->set_index_name("ByKind");
    index->set_index_status(index_status);
    if (index_status == v1::TABLE_STATUS_CREATING) {
      table.set_table_status(v1::TABLE_STATUS_UPDATING);
      v1::IndexBuild* build = index->mutable_build();
      build->set_phase(v1::IndexBuild::PHASE_SCANNING);
      build->set_done(10);
      build->set_total(40);
      build->set_per_second(5);
      build->set_seconds_left(6);
      build->set_skipped_items(2);
      build->set_last_error("the disk was full");
    } else {
      index->set_item_count(38);
      index->set_index_size_bytes(1'000);
      index->set_skipped_items(2);
    }
    return table;
  }

  // The UpdateTable requests that the daemon received.
  std::vector<v1::UpdateTableRequest> updates_;
};

// UpdateTable creates one index (SEM-095), defines its attributes (SEM-096) and its throughput (SEM-099).
TEST_F(IndexCommands, AddSendsTheIndexAndTheTypesOfItsKeys) {
  const Outcome outcome =
      Call({"index", "add", "--hash", "kind:S", "--hash", "a:b:N", "--range", "day:B", "--projection",
            "INCLUDE", "--include", "x", "--include", "y", "--provisioned-throughput", "5,6", "T", "ByKind"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  ASSERT_EQ(updates_.size(), 1u);
  EXPECT_EQ(updates_[0].table_name(), "T");
  ASSERT_EQ(updates_[0].attribute_definitions_size(), 3);
  EXPECT_EQ(updates_[0].attribute_definitions(1).attribute_name(), "a:b");
  EXPECT_EQ(updates_[0].attribute_definitions(1).attribute_type(), v1::SCALAR_ATTRIBUTE_TYPE_N);
  ASSERT_EQ(updates_[0].global_secondary_index_creations_size(), 1);
  const v1::GlobalSecondaryIndex& index = updates_[0].global_secondary_index_creations(0);
  EXPECT_EQ(index.index_name(), "ByKind");
  ASSERT_EQ(index.key_schema_size(), 3);
  EXPECT_EQ(index.key_schema(1).key_type(), v1::KEY_TYPE_HASH);
  EXPECT_EQ(index.key_schema(2).attribute_name(), "day");
  EXPECT_EQ(index.key_schema(2).key_type(), v1::KEY_TYPE_RANGE);
  EXPECT_EQ(index.projection().projection_type(), v1::PROJECTION_TYPE_INCLUDE);
  EXPECT_EQ(index.projection().non_key_attributes_size(), 2);
  EXPECT_EQ(index.provisioned_throughput().write_capacity_units(), 6);
  EXPECT_EQ(updates_[0].global_secondary_index_deletions_size(), 0);
}

TEST_F(IndexCommands, AMalformedKeyOrThroughputIsRefusedBeforeAnythingIsSent) {
  for (const char* key : {"kind", "kind:", "kind:M", "kind:s"}) {
    const Outcome outcome = Call({"index", "add", "T", "ByKind", "--hash", key});
    EXPECT_EQ(outcome.exit_code, 2) << key;
    EXPECT_THAT(outcome.err, HasSubstr("must be NAME:TYPE, where TYPE is S, N or B"));
  }
  EXPECT_EQ(Call({"index", "add", "T", "ByKind"}).exit_code, 2) << "no partition key";
  EXPECT_EQ(Call({"index", "add", "T", "ByKind", "--hash", "k:S", "--provisioned-throughput", "5"}).exit_code,
            2);
  EXPECT_TRUE(updates_.empty());
}

// The backfill of an index (SEM-097).
TEST_F(IndexCommands, StatusTellsHowFarAnIndexIs) {
  daemon_.describe_table = [](const auto&, v1::DescribeTableReply* reply) {
    *reply->mutable_table() = TableWith(v1::TABLE_STATUS_CREATING);
    return grpc::Status::OK;
  };
  EXPECT_THAT(
      Call({"index", "status", "T"}).out,
      AllOf(HasSubstr(R"("TableStatus": "UPDATING")"), HasSubstr(R"("IndexStatus": "CREATING")"),
            HasSubstr(R"("Backfilling": true)"),
            HasSubstr(R"("Build": {"Phase": "SCANNING", "Done": 10, "Total": 40, "PerSecond": 5, )"
                      R"("SecondsLeft": 6, "SkippedItemCount": 2, "LastError": "the disk was full"})")));
  EXPECT_THAT(Call({"index", "status", "T", "ByKind"}, "", true).out,
              AllOf(HasSubstr("reading items"), HasSubstr("the disk was full")));
  const Outcome missing = Call({"index", "status", "T", "ByKin"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("the table T has no global secondary index ByKin"));
}

// The backfill of an index (SEM-097).
TEST_F(IndexCommands, AddWaitsUntilTheIndexIsActive) {
  int looks = 0;
  daemon_.describe_table = [&looks](const auto&, v1::DescribeTableReply* reply) {
    *reply->mutable_table() = TableWith(++looks < 3 ? v1::TABLE_STATUS_CREATING : v1::TABLE_STATUS_ACTIVE);
    return grpc::Status::OK;
  };
  const Outcome outcome = Call({"index", "add", "T", "ByKind", "--hash", "kind:S", "--wait"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(looks, 3);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(R"("IndexStatus": "ACTIVE")"), HasSubstr(R"("ItemCount": 38)"),
                                 HasSubstr(R"("SkippedItemCount": 2)")));
}

TEST_F(IndexCommands, AddEndsWhenTheIndexIsDeletedMeanwhile) {
  daemon_.describe_table = [](const auto&, v1::DescribeTableReply* reply) {
    reply->mutable_table()->set_table_name("T");
    return grpc::Status::OK;
  };
  EXPECT_EQ(Call({"index", "add", "T", "ByKind", "--hash", "kind:S", "--wait"}).exit_code, 3);
}

TEST_F(IndexCommands, DropDeletesOnlyWhatWasConfirmed) {
  const Outcome unattended = Call({"index", "drop", "T", "ByKind"});
  EXPECT_EQ(unattended.exit_code, 2);
  EXPECT_THAT(unattended.err, AllOf(HasSubstr("delete the index ByKind of the table T with 38 entries"),
                                    HasSubstr("--yes is needed")));
  const Outcome dry = Call({"index", "drop", "T", "ByKind", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr(R"("IndexName": "ByKind")"));
  EXPECT_EQ(Call({"index", "drop", "T", "ByKin", "--yes"}).exit_code, 3);
  EXPECT_TRUE(updates_.empty());

  const Outcome dropped = Call({"index", "drop", "T", "ByKind", "--yes"});
  EXPECT_EQ(dropped.exit_code, 0) << dropped.err;
  EXPECT_EQ(dropped.out, dry.out);
  ASSERT_EQ(updates_.size(), 1u);
  ASSERT_EQ(updates_[0].global_secondary_index_deletions_size(), 1);
  EXPECT_EQ(updates_[0].global_secondary_index_deletions(0), "ByKind");
  EXPECT_EQ(updates_[0].global_secondary_index_creations_size(), 0);
}

TEST_F(IndexCommands, ACheckEndsWithExitCode7WhenSomethingIsLeft) {
  v1::CheckDatabaseRequest seen;
  int repaired = 0;
  daemon_.check_database = [&](const v1::CheckDatabaseRequest& request, v1::CheckDatabaseReply* reply) {
    seen = request;
    reply->set_items_checked(40);
    reply->set_index_entries_checked(38);
    reply->set_skipped_items(2);
    reply->set_finding_count(2);
    reply->add_findings("an entry without an item");
    reply->add_findings("another");
    reply->set_repaired_count(request.repair() ? repaired : 0);
    return grpc::Status::OK;
  };
  Outcome outcome = Call({"index", "check", "T"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(seen.table_name() + seen.index_name(), "T");
  EXPECT_FALSE(seen.repair());
  EXPECT_EQ(outcome.out, R"({"change_sequence": 0, "items_checked": 40, "index_entries_checked": 38, )"
                         R"("skipped_items": 2, "finding_count": 2, "repaired_count": 0, )"
                         R"("findings": ["an entry without an item", "another"]})"
                         "\n");
  EXPECT_EQ(outcome.err, "itemctl: the check found 2 disagreements; the first: an entry without an item\n");

  repaired = 1;
  outcome = Call({"index", "check", "T", "ByKind", "--repair"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(seen.index_name(), "ByKind");
  EXPECT_TRUE(seen.repair());
  EXPECT_THAT(outcome.err, HasSubstr("2 disagreements, 1 of which are left"));

  repaired = 2;
  outcome = Call({"index", "check", "T", "--repair"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(R"("repaired_count": 2)"));
}

}  // namespace
}  // namespace itemdb::tools
