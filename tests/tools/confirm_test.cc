#include "tools/cli/confirm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

class Confirmation : public ItemctlTest {
 protected:
  void SetUp() override {
    daemon_.describe_table = [](const auto&, v1::DescribeTableReply* reply) {
      reply->mutable_table()->set_table_name("T");
      reply->mutable_table()->set_item_count(5);
      return grpc::Status::OK;
    };
    daemon_.get_item = [](const auto&, v1::GetItemReply* reply) {
      *reply->mutable_item() = ItemWithId("a");
      return grpc::Status::OK;
    };
  }

  // Runs itemctl on a terminal where the user answers `answer`.
  Outcome Asked(std::vector<std::string> arguments, const std::string& answer) {
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.endpoint()});
    std::istringstream in(answer);
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = RunItemctl(
        arguments, {.in = in, .out = out, .err = err, .in_is_terminal = true, .err_is_terminal = true});
    return {.exit_code = static_cast<int>(code), .out = out.str(), .err = err.str()};
  }
};

// The fake daemon has no handlers for DeleteTable and DeleteItem and refuses them. So exit code 2 shows that
// nothing was sent, and 1 that the deletion was sent.
constexpr int kNotSent = 2;
constexpr int kSent = 1;

TEST_F(Confirmation, OfATableIsNeededFromSomebody) {
  const std::vector<std::string> command = {"table", "delete", "T"};
  EXPECT_EQ(Call(command).exit_code, kNotSent);
  EXPECT_THAT(Call(command).err, HasSubstr("this would delete the table T with 5 items"));
  EXPECT_THAT(Call(command).err, HasSubstr("--yes is needed"));
  EXPECT_EQ(Call({"table", "delete", "T", "--yes"}).exit_code, kSent);
  EXPECT_EQ(Asked({"table", "delete", "T", "-y"}, "").exit_code, kSent);
  for (const char* answer : {"n\n", "\n", "", "Yesterday\n", "no"}) {
    SCOPED_TRACE(answer);
    const Outcome outcome = Asked(command, answer);
    EXPECT_EQ(outcome.exit_code, kNotSent);
    EXPECT_THAT(outcome.err, HasSubstr("Go on? [y/N] "));
    EXPECT_THAT(outcome.err, HasSubstr("nothing was deleted"));
  }
  for (const char* answer : {"y\n", "Y\n", " yes \n", "y"})
    EXPECT_EQ(Asked(command, answer).exit_code, kSent) << answer;
}

// A script that deletes single items is not asked.
TEST_F(Confirmation, OfAnItemIsAskedForOnATerminalOnly) {
  const std::vector<std::string> command = {"item", "delete", "T", R"({"id": "a"})"};
  EXPECT_EQ(Call(command).exit_code, kSent);
  const Outcome refused = Asked(command, "n\n");
  EXPECT_EQ(refused.exit_code, kNotSent);
  EXPECT_THAT(refused.err, HasSubstr(R"(delete from the table T the item {"id": "a"}. Go on?)"));
  EXPECT_EQ(Asked(command, "y\n").exit_code, kSent);
}

// Nothing brings the item back.
TEST_F(Confirmation, OfDiscardingADamagedItemIsAskedForTwice) {
  const std::vector<std::string> command = {"damage", "discard", "--table", "T", "--key", R"({"id": "a"})"};
  EXPECT_EQ(Call(command).exit_code, kNotSent);
  EXPECT_EQ(Asked(command, "y\n").exit_code, kNotSent);
  EXPECT_EQ(Asked(command, "y\nn\n").exit_code, kNotSent);
  EXPECT_EQ(Asked(command, "n\ny\n").exit_code, kNotSent);
  const Outcome sent = Asked(command, "y\ny\n");
  EXPECT_EQ(sent.exit_code, kSent);
  EXPECT_THAT(sent.err, HasSubstr("instead of restoring a backup"));
}

TEST_F(Confirmation, DryRunsShowAndDoNothing) {
  Outcome outcome = Call({"table", "delete", "T", "--dry-run", "--yes"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "dry run: this would delete the table T with 5 items (0 B) and 0 indexes\n");
  EXPECT_THAT(outcome.out, HasSubstr("\"TableName\": \"T\""));
  outcome = Call({"item", "delete", "T", R"({"id": "a"})", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "{\"id\": \"a\"}\n");
  // A false condition is an error in a dry run too.
  v1::TransactWriteItemsRequest seen;
  daemon_.transact_write_items = [&seen](const v1::TransactWriteItemsRequest& request, auto* reply) {
    seen = request;
    reply->mutable_cancelled()->add_reasons()->set_code(v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED);
    return grpc::Status::OK;
  };
  outcome = Call({"item", "delete", "T", R"({"id": "a"})", "--dry-run", "--condition", "size(x) > y"});
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  ASSERT_EQ(seen.transact_items_size(), 1);
  EXPECT_TRUE(seen.transact_items(0).has_condition_check());
}

// itemctl does not ask before writes that delete nothing, and never asks in a script.
TEST_F(Confirmation, OfSeveralDeletionsIsNeededFromSomebody) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> commands = {
      {{"batch-write", "--request-items", R"({"T": [{"DeleteRequest": {"Key": {"id": "a"}}}]})"},
       {"batch-write", "--request-items", R"({"T": [{"PutRequest": {"Item": {"id": "a"}}}]})"}},
      {{"transact", "--transact-items", R"([{"Delete": {"TableName": "T", "Key": {"id": "a"}}}])"},
       {"transact", "--transact-items", R"([{"Put": {"TableName": "T", "Item": {"id": "a"}}}])"}}};
  for (const auto& [deletes, puts] : commands) {
    SCOPED_TRACE(deletes.front());
    const Outcome refused = Asked(deletes, "n\n");
    EXPECT_EQ(refused.exit_code, kNotSent);
    EXPECT_THAT(refused.err, HasSubstr("Go on? [y/N] "));
    EXPECT_EQ(Asked(deletes, "y\n").exit_code, kSent);
    EXPECT_EQ(Asked(puts, "").exit_code, kSent);
    EXPECT_EQ(Call(deletes).exit_code, kSent);
    std::vector<std::string> agreed = deletes;
    agreed.push_back("--yes");
    EXPECT_EQ(Asked(agreed, "").exit_code, kSent);
    agreed.back() = "--dry-run";
    EXPECT_EQ(Asked(agreed, "").exit_code, 0);
  }
}

}  // namespace
}  // namespace itemdb::tools
