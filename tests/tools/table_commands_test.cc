#include "tools/commands/table_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

using TableCommands = ItemctlTest;

// The CreateTable request of the e-commerce document (SEED-053), from standard input.
TEST_F(TableCommands, CreatesATableFromADocument) {
  v1::CreateTableRequest seen;
  daemon_.create_table = [&seen](const v1::CreateTableRequest& request, v1::CreateTableReply* reply) {
    seen = request;
    reply->mutable_table()->set_table_name(request.table_name());
    reply->mutable_table()->set_table_status(v1::TABLE_STATUS_ACTIVE);
    *reply->mutable_table()->mutable_key_schema() = request.key_schema();
    *reply->mutable_table()->mutable_attribute_definitions() = request.attribute_definitions();
    return grpc::Status::OK;
  };
  const std::string document = R"({
"TableName": "ecommerce",
"KeySchema": [
{ "AttributeName": "PK", "KeyType": "HASH" },
{ "AttributeName": "SK", "KeyType": "RANGE" }
],
"AttributeDefinitions": [
{ "AttributeName": "PK", "AttributeType": "S" },
{ "AttributeName": "SK", "AttributeType": "S" }
],
"ProvisionedThroughput": {
"ReadCapacityUnits": 5,
"WriteCapacityUnits": 5
}
})";
  const Outcome outcome = Call({"table", "create", "-f", "-", "-o", "table"}, document);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(seen.provisioned_throughput().read_capacity_units(), 5);
  EXPECT_EQ(seen.billing_mode(), v1::BILLING_MODE_PROVISIONED);
  EXPECT_EQ(outcome.out,
            "table / index  status  items  size  key schema             projection\n"
            "-------------  ------  -----  ----  ---------------------  ----------\n"
            "ecommerce      ACTIVE      0   0 B  PK S HASH, SK S RANGE\n");
}

TEST_F(TableCommands, ListsTablesOverAllPages) {
  daemon_.list_tables = [](const v1::ListTablesRequest& request, v1::ListTablesReply* reply) {
    if (request.exclusive_start_table_name().empty()) {
      reply->add_table_names("A");
      reply->set_last_evaluated_table_name("A");
    } else if (request.exclusive_start_table_name() == "A") {
      reply->add_table_names("B");
    }
    return grpc::Status::OK;
  };
  EXPECT_EQ(Call({"table", "list"}).out, "{\"TableName\": \"A\"}\n{\"TableName\": \"B\"}\n");
  EXPECT_EQ(Call({"table", "list", "-o", "json"}).out, "{\n  \"TableNames\": [\"A\", \"B\"]\n}\n");
  EXPECT_EQ(Call({"table", "list"}, "", true).out, "table\n-----\nA\nB\n2 tables\n");
}

TEST_F(TableCommands, AMissingTableIsExitCode3) {
  daemon_.describe_table = [](const auto&, auto*) {
    return ErrorReply(grpc::StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND", "no table\nof the name T");
  };
  const Outcome outcome = Call({"table", "describe", "T"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "itemctl: no table of the name T\n");
}

}  // namespace
}  // namespace itemdb::tools
