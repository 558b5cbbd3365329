#include "tools/commands/time_to_live_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

// A daemon with one table, whose time to live is ENABLING for three polls.
class TimeToLiveCommands : public ItemctlTest {
 protected:
  void SetUp() override {
    daemon_.describe_time_to_live = [this](const v1::DescribeTimeToLiveRequest& request,
                                           v1::DescribeTimeToLiveReply* reply) {
      if (request.table_name() != "T") return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such table");
      *reply = state_;
      if (++looks_ >= 3 && state_.time_to_live_status() == v1::TIME_TO_LIVE_STATUS_ENABLING) {
        state_.set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_ENABLED);
        state_.clear_build();
        state_.set_items_with_time(40);
      }
      return grpc::Status::OK;
    };
    daemon_.update_time_to_live = [this](const v1::UpdateTimeToLiveRequest& request,
                                         v1::UpdateTimeToLiveReply*) {
      updates_.push_back(request.time_to_live_specification());
      state_.Clear();
      if (!request.time_to_live_specification().enabled()) {
        state_.set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_DISABLED);
        return grpc::Status::OK;
      }
      state_.set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_ENABLING);
      state_.set_attribute_name(request.time_to_live_specification().attribute_name());
      state_.mutable_build()->set_phase(v1::IndexBuild::PHASE_SCANNING);
      state_.mutable_build()->set_done(10);
      return grpc::Status::OK;
    };
  }

  int looks_ = 0;
  v1::DescribeTimeToLiveReply state_;
  std::vector<v1::TimeToLiveSpecification> updates_;
};

TEST_F(TimeToLiveCommands, EnableShowsHowFarItIs) {  // UpdateTimeToLive (OP-11).
  const Outcome outcome = Call({"ttl", "enable", "T", "expires"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            R"({"TableName": "T", "TimeToLiveStatus": "ENABLING", "AttributeName": "expires", )"
            R"("ItemsExpired": 0, "Build": {"Phase": "SCANNING", "Done": 10, "Total": 0, "PerSecond": 0, )"
            R"("SecondsLeft": 0, "SkippedItemCount": 0}})"
            "\n");
  ASSERT_EQ(updates_.size(), 1u);
  EXPECT_TRUE(updates_[0].enabled());
  EXPECT_EQ(updates_[0].attribute_name(), "expires");
}

TEST_F(TimeToLiveCommands, EnableWaitsWhenItIsAskedTo) {
  const Outcome outcome = Call({"ttl", "enable", "T", "expires", "--wait"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, R"({"TableName": "T", "TimeToLiveStatus": "ENABLED", "AttributeName": "expires", )"
                         R"("ItemsWithTime": 40, "ItemsExpired": 0})"
                         "\n");
}

TEST_F(TimeToLiveCommands, DisableNamesTheAttributeThatItIsEnabledFor) {
  const Outcome none = Call({"ttl", "disable", "T"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("the table T has no time to live"));
  EXPECT_TRUE(updates_.empty());
  state_.set_attribute_name("expires");
  state_.set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_ENABLED);
  const Outcome disabled = Call({"ttl", "disable", "T"});
  EXPECT_EQ(disabled.exit_code, 0) << disabled.err;
  EXPECT_EQ(disabled.out, R"({"TableName": "T", "TimeToLiveStatus": "DISABLED", "ItemsExpired": 0})"
                          "\n");
  ASSERT_EQ(updates_.size(), 1u);
  EXPECT_FALSE(updates_[0].enabled());
  EXPECT_EQ(updates_[0].attribute_name(), "expires");
}

TEST_F(TimeToLiveCommands, StatusOfATableThatIsNotThere) {  // DescribeTimeToLive (OP-12).
  EXPECT_EQ(Call({"ttl", "status", "T"}).exit_code, 0);
  EXPECT_EQ(Call({"ttl", "status", "Missing"}).exit_code, 3);
}

}  // namespace
}  // namespace itemdb::tools
