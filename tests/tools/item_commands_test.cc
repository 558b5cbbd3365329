#include "tools/commands/item_commands.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>

#include "tests/support/temporary_directory.h"
#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using ItemCommands = ItemctlTest;

v1::Item EveryType() {
  v1::Item item;
  auto add = [&item](const char* name) {
    v1::Attribute* attribute = item.add_attributes();
    attribute->set_name(name);
    return attribute->mutable_value();
  };
  add("b")->set_b(std::string("\x00\xff", 2));
  add("bool")->set_bool_(false);
  add("bs")->mutable_bs()->add_values(std::string("\x00", 1));
  v1::List* list = add("l")->mutable_l();
  list->add_values()->set_n("1");
  v1::Attribute* inner = list->add_values()->mutable_m()->add_attributes();
  inner->set_name("S");
  inner->mutable_value()->set_s("looks typed");
  add("m")->mutable_m();
  add("n")->set_n("-12345678901234567890123456789012345678");
  v1::NumberSet* numbers = add("ns")->mutable_ns();
  numbers->add_values("-1");
  numbers->add_values("0.5");
  add("null")->set_null(true);
  add("s")->set_s("é\"\n");
  v1::StringSet* strings = add("ss")->mutable_ss();
  strings->add_values("");
  strings->add_values("x");
  return item;
}

TEST_F(ItemCommands, GetTypedAndPutRoundTripEveryType) {
  daemon_.get_item = [](const auto&, v1::GetItemReply* reply) {
    *reply->mutable_item() = EveryType();
    return grpc::Status::OK;
  };
  v1::PutItemRequest seen;
  daemon_.put_item = [&seen](const v1::PutItemRequest& request, v1::PutItemReply* reply) {
    seen = request;
    reply->mutable_result();
    return grpc::Status::OK;
  };
  for (const char* format : {"json", "jsonl"}) {
    SCOPED_TRACE(format);
    const Outcome got = Call({"item", "get", "T", "{\"s\": \"k\"}", "--typed", "-o", format});
    ASSERT_EQ(got.exit_code, 0) << got.err;
    const Outcome put = Call({"item", "put", "T", "-"}, got.out);
    ASSERT_EQ(put.exit_code, 0) << put.err;
    EXPECT_EQ(put.out, "");
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(seen.item(), EveryType()))
        << seen.item().ShortDebugString();
  }
}

TEST_F(ItemCommands, GetPrintsPlainJson) {
  v1::GetItemRequest seen;
  daemon_.get_item = [&seen](const v1::GetItemRequest& request, v1::GetItemReply* reply) {
    seen = request;
    *reply->mutable_item() = EveryType();
    return grpc::Status::OK;
  };
  const Outcome outcome = Call({"item", "get", "T", R"({"id": {"N": "1"}})", "--projection", "#n",
                                "--expression-attribute-names", R"({"#n": "b"})"});
  EXPECT_EQ(outcome.out,
            R"({"b": "AP8=", "bool": false, "bs": ["AA=="], "l": [1, {"S": "looks typed"}], "m": {}, )"
            R"("n": -12345678901234567890123456789012345678, "ns": [-1, 0.5], "null": null, "s": "é\"\n", )"
            R"("ss": ["", "x"]})"
            "\n");
  EXPECT_EQ(seen.key().attributes(0).value().n(), "1");
  EXPECT_EQ(seen.projection_expression(), "#n");
  EXPECT_EQ(seen.expression_attribute_names().at("#n"), "b");
}

TEST_F(ItemCommands, AMissingItemIsExitCode3) {
  daemon_.get_item = [](const auto&, auto*) { return grpc::Status::OK; };
  const Outcome outcome = Call({"item", "get", "T", R"({"id": "a"})"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err, "itemctl: the table T has no item with the key {\"id\": \"a\"}\n");
}

TEST_F(ItemCommands, PutReadsAFile) {
  v1::PutItemRequest seen;
  daemon_.put_item = [&seen](const v1::PutItemRequest& request, v1::PutItemReply* reply) {
    seen = request;
    reply->mutable_result();
    return grpc::Status::OK;
  };
  testing::TemporaryDirectory directory;
  const std::string path = (std::filesystem::path(directory.path()) / "item.json").string();
  std::ofstream(path) << "{\"id\": {\"S\": \"a\"}}";
  EXPECT_EQ(Call({"item", "put", "T", "-f", path, "--plain"}).exit_code, 0);
  EXPECT_EQ(seen.item().attributes(0).value().m().attributes(0).name(), "S");
  std::ofstream(path).close();
  const Outcome outcome = Call({"item", "put", "T", "-f", path});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("the item: malformed JSON: the text is empty"));
}

TEST_F(ItemCommands, AFalseConditionIsExitCode4AndShowsTheItem) {
  v1::UpdateItemRequest seen;
  daemon_.update_item = [&seen](const v1::UpdateItemRequest& request, v1::UpdateItemReply* reply) {
    seen = request;
    *reply->mutable_condition_failed()->mutable_item() = ItemWithId("stored");
    return grpc::Status::OK;
  };
  const Outcome outcome = Call({"item", "update", "T", R"({"id": "a"})", "--update", "SET n = :n",
                                "--condition", "n < :n", "--values", R"({":n": 5})", "--return-values",
                                "UPDATED_NEW", "--return-values-on-condition-check-failure", "ALL_OLD"});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_EQ(outcome.out, "{\"id\": \"stored\"}\n");
  EXPECT_THAT(outcome.err, StartsWith("itemctl: "));
  EXPECT_EQ(seen.update_expression(), "SET n = :n");
  EXPECT_EQ(seen.condition_expression(), "n < :n");
  EXPECT_EQ(seen.expression_attribute_values().at(":n").n(), "5");
  EXPECT_EQ(seen.return_values(), v1::RETURN_VALUES_UPDATED_NEW);
  EXPECT_EQ(seen.return_values_on_condition_check_failure(),
            v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
}

TEST_F(ItemCommands, RefusalsAreExitCode1AndUnknownOutcomes6) {
  daemon_.put_item = [](const auto&, auto*) {
    return ErrorReply(grpc::StatusCode::INVALID_ARGUMENT, "VALIDATION", "the item is too large");
  };
  Outcome outcome = Call({"item", "put", "T", "{}"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "itemctl: the item is too large\n");
  daemon_.put_item = [](const auto&, auto*) {
    return ErrorReply(grpc::StatusCode::UNKNOWN, "WRITE_OUTCOME_UNKNOWN", "read before repeating");
  };
  EXPECT_EQ(Call({"item", "put", "T", "{}"}).exit_code, 6);
}

// The daemon has received the request and does not answer: a read can be repeated, the outcome of a write is
// unknown.
TEST_F(ItemCommands, ADeadlineIsExitCode5ForReadsAnd6ForWrites) {
  std::promise<void> done;
  std::shared_future<void> wait(done.get_future());
  daemon_.get_item = [wait](const auto&, auto*) {
    wait.wait();
    return grpc::Status::OK;
  };
  daemon_.put_item = [wait](const auto&, auto*) {
    wait.wait();
    return grpc::Status::OK;
  };
  const Outcome read = Call({"--timeout", "0.5", "item", "get", "T", "{}"});
  const Outcome write = Call({"--timeout", "0.5", "item", "put", "T", "{}"});
  done.set_value();
  EXPECT_EQ(read.exit_code, 5) << read.err;
  EXPECT_EQ(write.exit_code, 6) << write.err;
}

}  // namespace
}  // namespace itemdb::tools
