// One list of calls over gRPC and over HTTP to one itemd: all results and errors are the same.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "itemdb/bulk_writer.h"
#include "itemdb/client.h"
#include "itemdb/errors.h"
#include "tests/client/http/call_text.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"
#include "tools/json/table_json.h"

namespace itemdb {
namespace {

// '@' in names is the prefix of the transport: "g-" or "h-".
// With its attributes by name, as they are shown over HTTP.
constexpr char kTable[] = R"({
  "TableName": "@Things",
  "AttributeDefinitions": [{"AttributeName": "color", "AttributeType": "S"}, {"AttributeName": "pk", "AttributeType": "S"},
                           {"AttributeName": "size", "AttributeType": "N"}, {"AttributeName": "sk", "AttributeType": "N"}],
  "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
  "GlobalSecondaryIndexes": [{"IndexName": "byColor", "KeySchema": [{"AttributeName": "color", "KeyType": "HASH"},
    {"AttributeName": "size", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["name"]}}],
  "LocalSecondaryIndexes": [{"IndexName": "bySize", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"},
    {"AttributeName": "size", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "ALL"}}],
  "BillingMode": "PAY_PER_REQUEST",
  "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"},
  "Tags": [{"Key": "team", "Value": "blue"}]
})";

struct Step {
  const char* operation;
  const char* request;
};

constexpr Step kSteps[] = {
    {"PutItem",
     R"json({"TableName": "@Things", "Item": {"pk": {"S": "a"}, "sk": {"N": "1"}, "color": {"S": "red"},
      "size": {"N": "1.50"}, "name": {"S": "Ünïcode \" \\ \u0001"}, "bytes": {"B": "AAEC/w=="}, "yes": {"BOOL": true},
      "no": {"BOOL": false}, "nothing": {"NULL": true}, "texts": {"SS": ["b", "a"]}, "numbers": {"NS": ["3", "1e2"]},
      "blobs": {"BS": ["AQ==", ""]}, "list": {"L": [{"S": ""}, {"N": "-0"}, {"L": []}]},
      "map": {"M": {"x": {"M": {}}, " ": {"S": "a space"}}}}})json"},
    {"PutItem",
     R"json({"TableName": "@Things", "Item": {"pk": {"S": "a"}, "sk": {"N": "1"}, "color": {"S": "red"},
      "size": {"N": "1.50"}, "name": {"S": "Ünïcode \" \\ \u0001"}, "bytes": {"B": "AAEC/w=="}, "yes": {"BOOL": true},
      "no": {"BOOL": false}, "nothing": {"NULL": true}, "texts": {"SS": ["b", "a"]}, "numbers": {"NS": ["3", "1e2"]},
      "blobs": {"BS": ["AQ=="]}, "list": {"L": [{"S": ""}, {"N": "-0"}, {"L": []}]}, "map": {"M": {"x": {"M": {}}}}},
      "ReturnConsumedCapacity": "INDEXES", "ReturnItemCollectionMetrics": "SIZE"})json"},
    {"GetItem",
     R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "1.0"}}, "ReturnConsumedCapacity": "TOTAL"})json"},
    {"GetItem",
     R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}}, "ConsistentRead": true,
      "ProjectionExpression": "#n, list[1], #m.x", "ExpressionAttributeNames": {"#n": "name", "#m": "map"}})json"},
    {"GetItem", R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "2"}}})json"},
    {"GetItem", R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}}})json"},
    {"GetItem", R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"S": "1"}}})json"},
    {"GetItem", R"json({"TableName": "@NoTable", "Key": {"pk": {"S": "a"}}})json"},
    {"GetItem",
     R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}}, "ProjectionExpression": "a b"})json"},
    {"PutItem", R"json({"TableName": "@Things", "Item": {"pk": {"S": "a"}, "sk": {"N": "1"}},
      "ConditionExpression": "attribute_not_exists(pk)"})json"},
    {"PutItem", R"json({"TableName": "@Things", "Item": {"pk": {"S": "a"}, "sk": {"N": "1"}},
      "ConditionExpression": "attribute_not_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})json"},
    {"PutItem",
     R"json({"TableName": "@Things", "Item": {"pk": {"S": "a"}, "sk": {"N": "2"}, "size": {"N": "7"}},
      "ConditionExpression": "attribute_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})json"},
    {"PutItem", R"json({"TableName": "@Things", "Item": {"pk": {"S": ""}, "sk": {"N": "2"}}})json"},
    {"PutItem", R"json({"TableName": "@Things", "Item": {"pk": {"S": "a"}, "sk": {"N": "1e200"}}})json"},
    {"PutItem",
     R"json({"TableName": "@Things", "Item": {"pk": {"S": "a"}, "sk": {"N": "2"}, "s": {"SS": ["x", "x"]}}})json"},
    {"PutItem", R"json({"TableName": "@Things", "Item": {}})json"},
    {"PutItem",
     R"json({"TableName": "@Things", "Item": {"pk": {"S": "a"}, "sk": {"N": "2"}, "m": {"M": {"": {"S": "x"}, "y": {"S": "z"}}}}})json"},
    {"PutItem",
     R"json({"TableName": "@Things", "Item": {"pk": {"S": "a"}, "sk": {"N": "2"}, "l": {"L": [{"M": {"": {"S": "x"}}}]}}})json"},
    {"PutItem",
     R"json({"TableName": "@Things", "Item": {"": {"S": "x"}, "pk": {"S": "a"}, "sk": {"N": "2"}}})json"},
    {"PutItem",
     R"json({"TableName": "@Things", "Item": {"pk": {"S": "a"}, "sk": {"N": "2"}, "color": {"S": "blue"},
      "size": {"N": "2"}}, "ReturnValues": "ALL_OLD"})json"},
    {"PutItem",
     R"json({"TableName": "@Things", "Item": {"pk": {"S": "a"}, "sk": {"N": "2"}, "color": {"S": "red"},
      "size": {"N": "3"}}, "ReturnValues": "ALL_OLD", "ReturnConsumedCapacity": "INDEXES"})json"},
    {"UpdateItem", R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "3"}},
      "UpdateExpression": "SET #s = if_not_exists(#s, :zero) + :n, color = :c", "ExpressionAttributeNames": {"#s": "size"},
      "ExpressionAttributeValues": {":n": {"N": "2"}, ":zero": {"N": "0"}, ":c": {"S": "red"}}, "ReturnValues": "ALL_NEW"})json"},
    {"UpdateItem", R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "3"}},
      "UpdateExpression": "SET #s = #s + :n", "ExpressionAttributeNames": {"#s": "size"},
      "ExpressionAttributeValues": {":n": {"N": "2"}}, "ReturnValues": "UPDATED_OLD"})json"},
    {"UpdateItem", R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "3"}},
      "UpdateExpression": "SET #s = #s + :n", "ExpressionAttributeNames": {"#s": "size"},
      "ExpressionAttributeValues": {":n": {"N": "2"}}, "ReturnValues": "UPDATED_NEW",
      "ConditionExpression": "#s > :n", "ReturnConsumedCapacity": "TOTAL"})json"},
    {"UpdateItem", R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "3"}},
      "UpdateExpression": "SET #s = :n", "ExpressionAttributeNames": {"#s": "size"},
      "ExpressionAttributeValues": {":n": {"N": "2"}}, "ConditionExpression": "#s < :n",
      "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})json"},
    {"UpdateItem", R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "9"}}})json"},
    {"UpdateItem",
     R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "3"}}, "UpdateExpression": "SET"})json"},
    {"UpdateItem", R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "3"}},
      "UpdateExpression": "SET pk = :p", "ExpressionAttributeValues": {":p": {"S": "b"}}})json"},
    {"DeleteItem",
     R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "9"}}, "ReturnValues": "ALL_OLD"})json"},
    {"DeleteItem",
     R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "9"}}, "ReturnValues": "ALL_OLD"})json"},
    {"DeleteItem", R"json({"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "3"}},
      "ConditionExpression": "color = :c", "ExpressionAttributeValues": {":c": {"S": "green"}}})json"},
    {"BatchWriteItem", R"json({"RequestItems": {"@Things": [
      {"PutRequest": {"Item": {"pk": {"S": "b"}, "sk": {"N": "1"}, "color": {"S": "red"}, "size": {"N": "10"}, "name": {"S": "b1"}}}},
      {"PutRequest": {"Item": {"pk": {"S": "b"}, "sk": {"N": "2"}, "color": {"S": "red"}, "size": {"N": "9"}}}},
      {"PutRequest": {"Item": {"pk": {"S": "b"}, "sk": {"N": "3"}}}},
      {"DeleteRequest": {"Key": {"pk": {"S": "nobody"}, "sk": {"N": "3"}}}}]},
      "ReturnConsumedCapacity": "INDEXES", "ReturnItemCollectionMetrics": "SIZE"})json"},
    {"BatchWriteItem",
     R"json({"RequestItems": {"@Things": [{"PutRequest": {"Item": {"pk": {"S": "b"}}}}]}})json"},
    {"BatchWriteItem",
     R"json({"RequestItems": {"@NoTable": [{"PutRequest": {"Item": {"pk": {"S": "b"}}}}]}})json"},
    {"BatchWriteItem",
     R"json({"RequestItems": {"@Things": [{"DeleteRequest": {"Key": {"pk": {"S": "b"}, "sk": {"N": "3"}}}},
      {"DeleteRequest": {"Key": {"pk": {"S": "b"}, "sk": {"N": "3.0"}}}}]}})json"},
    {"BatchGetItem",
     R"json({"RequestItems": {"@Things": {"Keys": [{"pk": {"S": "b"}, "sk": {"N": "2"}}, {"pk": {"S": "b"}, "sk": {"N": "99"}},
      {"pk": {"S": "a"}, "sk": {"N": "1"}}, {"pk": {"S": "b"}, "sk": {"N": "1.0"}}],
      "ProjectionExpression": "#s", "ExpressionAttributeNames": {"#s": "size"}, "ConsistentRead": true}},
      "ReturnConsumedCapacity": "TOTAL"})json"},
    {"BatchGetItem", R"json({"RequestItems": {"@NoTable": {"Keys": [{"pk": {"S": "b"}}]}}})json"},
    {"BatchGetItem", R"json({"RequestItems": {"@Things": {"Keys": [{"pk": {"S": "b"}}]}}})json"},
    {"Query",
     R"json({"TableName": "@Things", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "b"}},
      "ReturnConsumedCapacity": "INDEXES"})json"},
    {"Query",
     R"json({"TableName": "@Things", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "b"}},
      "Limit": 2, "ScanIndexForward": false})json"},
    {"Query",
     R"json({"TableName": "@Things", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "b"}},
      "Limit": 2, "ExclusiveStartKey": {"pk": {"S": "b"}, "sk": {"N": "1"}}})json"},
    {"Query",
     R"json({"TableName": "@Things", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "b"}},
      "Select": "COUNT", "FilterExpression": "attribute_exists(color)"})json"},
    {"Query",
     R"json({"TableName": "@Things", "IndexName": "byColor", "KeyConditionExpression": "color = :c AND #s < :s",
      "ExpressionAttributeNames": {"#s": "size"}, "ReturnConsumedCapacity": "INDEXES",
      "ExpressionAttributeValues": {":c": {"S": "red"}, ":s": {"N": "10"}}, "Limit": 2})json"},
    {"Query",
     R"json({"TableName": "@Things", "IndexName": "bySize", "KeyConditionExpression": "pk = :p", "ConsistentRead": true,
      "ExpressionAttributeValues": {":p": {"S": "b"}}, "ReturnConsumedCapacity": "INDEXES"})json"},
    {"Query", R"json({"TableName": "@Things", "IndexName": "noIndex", "KeyConditionExpression": "pk = :p",
      "ExpressionAttributeValues": {":p": {"S": "b"}}})json"},
    {"Query",
     R"json({"TableName": "@Things", "KeyConditionExpression": "sk = :p", "ExpressionAttributeValues": {":p": {"N": "1"}}})json"},
    {"Scan",
     R"json({"TableName": "@Things", "FilterExpression": "#s >= :s", "ExpressionAttributeNames": {"#s": "size"},
      "ExpressionAttributeValues": {":s": {"N": "9"}}, "ReturnConsumedCapacity": "TOTAL"})json"},
    {"Scan", R"json({"TableName": "@Things", "Limit": 1})json"},
    {"Scan", R"json({"TableName": "@Things", "IndexName": "byColor", "ProjectionExpression": "pk"})json"},
    {"Scan", R"json({"TableName": "@Things", "Select": "COUNT"})json"},
    {"Scan", R"json({"TableName": "@NoTable"})json"},
    {"TransactWriteItems", R"json({"TransactItems": [
      {"Put": {"TableName": "@Things", "Item": {"pk": {"S": "t"}, "sk": {"N": "1"}}, "ConditionExpression": "attribute_not_exists(pk)"}},
      {"Update": {"TableName": "@Things", "Key": {"pk": {"S": "t"}, "sk": {"N": "2"}}, "UpdateExpression": "ADD #n :one",
        "ExpressionAttributeNames": {"#n": "n"}, "ExpressionAttributeValues": {":one": {"N": "1"}}}},
      {"Delete": {"TableName": "@Things", "Key": {"pk": {"S": "b"}, "sk": {"N": "3"}}}},
      {"ConditionCheck": {"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}}, "ConditionExpression": "attribute_exists(pk)"}}],
      "ReturnConsumedCapacity": "INDEXES", "ReturnItemCollectionMetrics": "SIZE"})json"},
    {"TransactWriteItems", R"json({"TransactItems": [
      {"Put": {"TableName": "@Things", "Item": {"pk": {"S": "t"}, "sk": {"N": "5"}}}},
      {"Put": {"TableName": "@Things", "Item": {"pk": {"S": "t"}, "sk": {"N": "1"}}, "ConditionExpression": "attribute_not_exists(pk)"}},
      {"Update": {"TableName": "@Things", "Key": {"pk": {"S": "t"}, "sk": {"N": "2"}}, "UpdateExpression": "SET #n = missing + :one",
        "ExpressionAttributeNames": {"#n": "n"}, "ExpressionAttributeValues": {":one": {"N": "1"}}}}],
      "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})json"},
    {"TransactWriteItems", R"json({"TransactItems": [
      {"Put": {"TableName": "@Things", "Item": {"pk": {"S": "t"}, "sk": {"N": "5"}}}},
      {"Delete": {"TableName": "@Things", "Key": {"pk": {"S": "t"}, "sk": {"N": "5"}}}}]})json"},
    {"TransactWriteItems",
     R"json({"TransactItems": [{"Put": {"TableName": "@NoTable", "Item": {"pk": {"S": "t"}}}}]})json"},
    {"TransactGetItems", R"json({"TransactItems": [
      {"Get": {"TableName": "@Things", "Key": {"pk": {"S": "t"}, "sk": {"N": "2"}}}},
      {"Get": {"TableName": "@Things", "Key": {"pk": {"S": "t"}, "sk": {"N": "99"}}}},
      {"Get": {"TableName": "@Things", "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}}, "ProjectionExpression": "#n",
        "ExpressionAttributeNames": {"#n": "name"}}}], "ReturnConsumedCapacity": "TOTAL"})json"},
    {"TransactGetItems",
     R"json({"TransactItems": [{"Get": {"TableName": "@NoTable", "Key": {"pk": {"S": "t"}}}}]})json"},
    {"GetItem", R"json({"TableName": "@Things", "Key": {"pk": {"S": "t"}, "sk": {"N": "5"}}})json"},
};

// Takes a member out of a document; its text, or nothing.
std::string TakeMember(std::string_view name, tools::JsonValue* json) {
  std::string text;
  std::erase_if(json->members, [&](const auto& member) {
    if (member.first != name) return false;
    text = member.second.text;
    return true;
  });
  return text;
}

// A call with members that the documents of itemctl do not have. ReturnValuesOnConditionCheckFailure of a
// transaction is that of all its actions.
absl::StatusOr<tools::Call> CallOf(const Step& step, const std::string& request) {
  absl::StatusOr<tools::JsonValue> json = tools::ParseJson(request);
  if (!json.ok()) return json.status();
  const std::string capacity = TakeMember("ReturnConsumedCapacity", &*json);
  const std::string metrics = TakeMember("ReturnItemCollectionMetrics", &*json);
  const std::string old = TakeMember("ReturnValuesOnConditionCheckFailure", &*json);
  absl::StatusOr<tools::Call> call = tools::CallFromJson(step.operation, *json, request);
  if (!call.ok()) return call;
  std::visit(
      [&](auto& made) {
        if (capacity == "INDEXES") made.return_consumed_capacity = ReturnConsumedCapacity::kIndexes;
        if (capacity == "TOTAL") made.return_consumed_capacity = ReturnConsumedCapacity::kTotal;
        if constexpr (requires { made.return_item_collection_metrics; }) {
          if (!metrics.empty()) made.return_item_collection_metrics = ReturnItemCollectionMetrics::kSize;
        }
        const auto ask_for_old = [&](auto& write) {
          if (!old.empty())
            write.return_values_on_condition_check_failure = ReturnValuesOnConditionCheckFailure::kAllOld;
        };
        if constexpr (requires { made.return_values_on_condition_check_failure; }) ask_for_old(made);
        if constexpr (requires { made.actions; }) {
          for (TransactAction& action : made.actions) std::visit(ask_for_old, action);
        }
      },
      *call);
  return call;
}

class ConformanceTest : public ::testing::Test {
 protected:
  struct Side {
    std::string prefix;
    Client client;
    std::string Named(std::string_view text) const {
      return absl::StrReplaceAll({text.data(), text.size()}, {{"@", prefix}});
    }
  };

  void SetUp() override {
    const absl::Status started = daemon_.Start({"--http-listen", "127.0.0.1:0"});
    ASSERT_TRUE(started.ok()) << started;
    for (const auto& [prefix, endpoint] :
         {std::pair{"g-", daemon_.endpoint()}, std::pair{"h-", "http://" + daemon_.http_endpoint()}}) {
      absl::StatusOr<Client> client = Client::Open({.endpoint = endpoint});
      ASSERT_TRUE(client.ok()) << client.status();
      sides_.push_back({prefix, *std::move(client)});
    }
  }

  // Runs `operation` on both sides; the texts must be the same but for the prefix. Returns it.
  std::string Compare(const std::string& what, const std::function<std::string(const Side&)>& operation) {
    const std::string grpc = absl::StrReplaceAll(operation(sides_[0]), {{"g-", "@"}});
    const std::string http = absl::StrReplaceAll(operation(sides_[1]), {{"h-", "@"}});
    EXPECT_EQ(grpc, http) << what;
    return grpc;
  }

  void CreateThings() {
    const std::string created = Compare("CreateTable", [](const Side& side) {
      return TextOf(side.client.CreateTable(*tools::ParseTableDefinition(side.Named(kTable))));
    });
    EXPECT_TRUE(created.starts_with("OK")) << created;
  }

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
  std::vector<Side> sides_;
};

TEST_F(ConformanceTest, CallsOnItemsAnswerTheSame) {
  CreateThings();
  int failures = 0;
  for (const Step& step : kSteps) {
    const std::string text = Compare(std::string(step.operation) + " " + step.request, [&](const Side& side) {
      const std::string request = side.Named(step.request);
      const absl::StatusOr<tools::Call> call = CallOf(step, request);
      EXPECT_TRUE(call.ok()) << call.status() << " " << request;
      return call.ok() ? RunAsText(side.client, *call) : "";
    });
    if (!text.starts_with("OK")) ++failures;
  }
  for (const int segment : {0, 1, 2}) {
    Compare("Scan of a segment", [&](const Side& side) {
      return RunAsText(
          side.client,
          ScanRequest{.table_name = side.Named("@Things"), .segment = segment, .total_segments = 2});
    });
  }
  Compare("Scan of pages of 0", [](const Side& side) {
    return RunAsText(side.client, ScanRequest{.table_name = side.Named("@Things"), .limit = 0});
  });
  // The list has both kinds of calls.
  EXPECT_GE(failures, 20);
  EXPECT_GT(static_cast<int>(std::size(kSteps)) - failures, 20);
}

TEST_F(ConformanceTest, CallsOnTablesAnswerTheSame) {
  CreateThings();
  const auto describe = [](const Side& side) {
    return TextOf(side.client.DescribeTable(side.Named("@Things")));
  };
  Compare("CreateTable again", [](const Side& side) {
    return TextOf(side.client.CreateTable(*tools::ParseTableDefinition(side.Named(kTable))));
  });
  Compare("CreateTable without keys", [](const Side& side) {
    return TextOf(side.client.CreateTable({.table_name = side.Named("@Bad")}));
  });
  EXPECT_NE(Compare("DescribeTable", describe).find("blue"), std::string::npos);
  Compare("DescribeTable of none",
          [](const Side& side) { return TextOf(side.client.DescribeTable(side.Named("@NoTable"))); });
  Compare("TagTable", [](const Side& side) {
    return TextOf(
        side.client.TagTable({.table_name = side.Named("@Things"), .tags = {{"stage", "test"}}}).status());
  });
  Compare("TagTable of none", [](const Side& side) {
    return TextOf(
        side.client.TagTable({.table_name = side.Named("@NoTable"), .tags = {{"stage", "test"}}}).status());
  });
  Compare("UntagTable", [](const Side& side) {
    return TextOf(
        side.client.UntagTable({.table_name = side.Named("@Things"), .tag_keys = {"team"}}).status());
  });
  const std::string tagged = Compare("DescribeTable with tags", describe);
  EXPECT_NE(tagged.find("stage"), std::string::npos);
  EXPECT_EQ(tagged.find("blue"), std::string::npos);
  for (const bool enabled : {true, true, false}) {
    Compare("UpdateTimeToLive", [&](const Side& side) {
      return TextOf(
          side.client
              .UpdateTimeToLive(
                  {.table_name = side.Named("@Things"), .enabled = enabled, .attribute_name = "expires"})
              .status());
    });
    Compare("DescribeTimeToLive", [](const Side& side) {
      const absl::StatusOr<TimeToLiveResult> result = side.client.DescribeTimeToLive(side.Named("@Things"));
      // gRPC says ENABLING for a moment, HTTP says ENABLED at once.
      return TextOf(result.status()) +
             (result.ok()
                  ? result->attribute_name + (result->status == TimeToLiveStatus::kDisabled ? " off" : " on")
                  : "");
    });
  }
  const auto insights_text = [](const ContributorInsights& insights) {
    const bool on = insights.status == ContributorInsightsStatus::kEnabled ||
                    insights.status == ContributorInsightsStatus::kEnabling;
    return insights.index_name + (on ? " on" : " off") +
           (insights.mode == ContributorInsightsMode::kThrottledKeys ? " throttled" : "");
  };
  for (const bool enabled : {true, false}) {
    const auto mode = enabled ? ContributorInsightsMode::kThrottledKeys
                              : ContributorInsightsMode::kAccessedAndThrottledKeys;
    // HTTP answers a change with ENABLING or DISABLING.
    const std::string updated = Compare("UpdateContributorInsights", [&](const Side& side) {
      const absl::StatusOr<ContributorInsights> result = side.client.UpdateContributorInsights(
          {.table_name = side.Named("@Things"), .enabled = enabled, .mode = mode});
      return TextOf(result.status()) + (result.ok() ? insights_text(*result) : "");
    });
    EXPECT_NE(updated.find(enabled ? " on throttled" : " off"), std::string::npos) << updated;
    Compare("DescribeContributorInsights", [&](const Side& side) {
      const auto result = side.client.DescribeContributorInsights(side.Named("@Things"));
      EXPECT_TRUE(!result.ok() || absl::Now() - result->last_update_time < absl::Minutes(10));
      return TextOf(result.status()) + (result.ok() ? insights_text(*result) : "");
    });
    const std::string listed = Compare("ListContributorInsights", [&](const Side& side) {
      const auto result = side.client.ListContributorInsights(side.Named("@Things"));
      std::string text = TextOf(result.status());
      if (result.ok())
        for (const ContributorInsights& insights : *result) text += insights_text(insights) + ";";
      return text;
    });
    EXPECT_EQ(listed.find(" on") != std::string::npos, enabled) << listed;
  }
  Compare("DescribeContributorInsights of no index", [](const Side& side) {
    return TextOf(side.client.DescribeContributorInsights(side.Named("@Things"), "NoIndex").status());
  });
  Compare("UpdateContributorInsights of no table", [](const Side& side) {
    return TextOf(
        side.client.UpdateContributorInsights({.table_name = side.Named("@NoTable"), .enabled = true})
            .status());
  });
  Compare("UpdateTable", [](const Side& side) {
    return TextOf(
        side.client.UpdateTable({.table_name = side.Named("@Things"), .deletion_protection_enabled = true}));
  });
  Compare("UpdateTable of the stream", [](const Side& side) {
    return TextOf(side.client.UpdateTable({.table_name = side.Named("@Things"), .stream_enabled = false}));
  });
  Compare("UpdateTable of nothing", [](const Side& side) {
    return TextOf(side.client.UpdateTable({.table_name = side.Named("@Things")}));
  });
  Compare("DeleteTable that is protected",
          [](const Side& side) { return TextOf(side.client.DeleteTable(side.Named("@Things"))); });
  Compare("UpdateTable to provisioned", [](const Side& side) {
    return TextOf(side.client.UpdateTable({.table_name = side.Named("@Things"),
                                           .billing_mode = BillingMode::kProvisioned,
                                           .provisioned_throughput = ProvisionedThroughput{5, 6}}));
  });
  Compare("UpdateTable of two things", [](const Side& side) {
    return TextOf(side.client.UpdateTable({.table_name = side.Named("@Things"),
                                           .billing_mode = BillingMode::kPayPerRequest,
                                           .deletion_protection_enabled = false}));
  });
  Compare("UpdateTable without protection", [](const Side& side) {
    return TextOf(
        side.client.UpdateTable({.table_name = side.Named("@Things"), .deletion_protection_enabled = false}));
  });
  Compare("UpdateTable without an index", [](const Side& side) {
    return TextOf(side.client.UpdateTable(
        {.table_name = side.Named("@Things"), .delete_global_secondary_index = "byColor"}));
  });
  Compare("DescribeTable at the end", describe);
  Compare("ListTables", [](const Side& side) {
    const absl::StatusOr<ListTablesResult> first = side.client.ListTables({.limit = 1});
    EXPECT_TRUE(first.ok()) << first.status();
    // The tables are the same for both.
    return absl::StrReplaceAll(first.value_or(ListTablesResult()).last_evaluated_table_name.value_or("none"),
                               {{"g-", ""}});
  });
  Compare("DescribeLimits", [](const Side& side) {
    const absl::StatusOr<TableLimits> limits = side.client.DescribeLimits();
    return TextOf(limits.status()) +
           std::to_string(limits.value_or(TableLimits()).table_max_read_capacity_units);
  });
  Compare("DeleteTable",
          [](const Side& side) { return TextOf(side.client.DeleteTable(side.Named("@Things"))); });
  Compare("DeleteTable again",
          [](const Side& side) { return TextOf(side.client.DeleteTable(side.Named("@Things"))); });
}

TEST_F(ConformanceTest, StatementsAnswerTheSame) {
  CreateThings();
  struct Statement {
    const char* text;
    std::vector<Value> parameters;
  };
  const Statement kStatements[] = {
      {R"(INSERT INTO "@Things" VALUE {'pk': 'p', 'sk': 1, 'color': 'red', 'size': 3})", {}},
      {R"(INSERT INTO "@Things" VALUE {'pk': 'p', 'sk': 1})", {}},
      {R"(INSERT INTO "@Things" VALUE {'pk': ?, 'sk': ?})", {"p", 2}},
      {R"(SELECT * FROM "@Things" WHERE pk = ?)", {"p"}},
      {R"(SELECT color FROM "@Things"."byColor" WHERE color = 'red')", {}},
      {R"(UPDATE "@Things" SET size = size + 1 WHERE pk = 'p' AND sk = 1 RETURNING ALL NEW *)", {}},
      {R"(UPDATE "@Things" SET size = 1 WHERE pk = 'p' AND sk = 77)", {}},
      {R"(DELETE FROM "@Things" WHERE pk = 'p' AND sk = 2 RETURNING ALL OLD *)", {}},
      {R"(DELETE FROM "@NoTable" WHERE pk = 'p')", {}},
      {R"(SELECT FROM)", {}},
  };
  for (const Statement& statement : kStatements) {
    Compare(statement.text, [&](const Side& side) {
      return TextOf(side.client.ExecuteStatement(
          {.statement = side.Named(statement.text),
           .parameters = statement.parameters,
           .return_consumed_capacity = ReturnConsumedCapacity::kTotal,
           .return_values_on_condition_check_failure = ReturnValuesOnConditionCheckFailure::kAllOld}));
    });
  }
  const auto batch = [this](std::vector<std::string> statements) {
    return Compare("BatchExecuteStatement", [&](const Side& side) {
      BatchExecuteStatementRequest request{.statements = {},
                                           .return_consumed_capacity = ReturnConsumedCapacity::kTotal};
      for (const std::string& statement : statements) {
        request.statements.push_back(
            {.statement = side.Named(statement),
             .return_values_on_condition_check_failure = ReturnValuesOnConditionCheckFailure::kAllOld});
      }
      return TextOf(side.client.BatchExecuteStatement(request));
    });
  };
  EXPECT_TRUE(batch({R"(INSERT INTO "@Things" VALUE {'pk': 'x', 'sk': 1})",
                     R"(INSERT INTO "@Things" VALUE {'pk': 'x', 'sk': 2})"})
                  .starts_with("OK"));
  const std::string writes =
      batch({R"(INSERT INTO "@Things" VALUE {'pk': 'b', 'sk': 1, 'size': 3})",
             R"(INSERT INTO "@Things" VALUE {'pk': 'p', 'sk': 1})",
             R"(UPDATE "@Things" SET size = 5 WHERE pk = 'x' AND sk = 1 RETURNING ALL NEW *)",
             R"(DELETE FROM "@Things" WHERE pk = 'x' AND sk = 2 AND size = 77)",
             R"(DELETE FROM "@NoTable" WHERE pk = 'p')", R"(INSERT INTO)"});
  EXPECT_TRUE(writes.starts_with("OK")) << writes;
  for (const char* reason :
       {"DUPLICATE_ITEM", "CONDITIONAL_CHECK_FAILED", "RESOURCE_NOT_FOUND", "VALIDATION"})
    EXPECT_NE(writes.find(reason), std::string::npos) << writes;
  EXPECT_TRUE(batch({R"(DELETE FROM "@Things" WHERE pk = 'x' AND sk = 1)",
                     R"(DELETE FROM "@Things" WHERE pk = 'x' AND sk = 2)"})
                  .starts_with("OK"));
  EXPECT_TRUE(batch({R"(SELECT * FROM "@Things" WHERE pk = 'b' AND sk = 1)",
                     R"(SELECT size FROM "@Things" WHERE pk = 'b' AND sk = 1)"})
                  .starts_with("INVALID_ARGUMENT VALIDATION"));
  EXPECT_TRUE(
      batch({R"(SELECT * FROM "@Things" WHERE pk = 'b' AND sk = 1)",
             R"(SELECT * FROM "@Things" WHERE pk = 'b' AND sk = 2)",
             R"(SELECT * FROM "@Things" WHERE pk = 'b')", R"(SELECT * FROM "@NoTable" WHERE pk = 'b')"})
          .starts_with("OK"));
  EXPECT_TRUE(batch({R"(SELECT * FROM "@Things" WHERE pk = 'b' AND sk = 1)",
                     R"(DELETE FROM "@Things" WHERE pk = 'b' AND sk = 1)"})
                  .starts_with("INVALID_ARGUMENT VALIDATION"));
  EXPECT_TRUE(batch({}).starts_with("INVALID_ARGUMENT VALIDATION"));
  const auto transaction = [this](std::vector<std::string> statements) {
    return Compare("ExecuteTransaction", [&](const Side& side) {
      ExecuteTransactionRequest request{.statements = {},
                                        .return_consumed_capacity = ReturnConsumedCapacity::kTotal};
      for (const std::string& statement : statements) request.statements.push_back({side.Named(statement)});
      return TextOf(side.client.ExecuteTransaction(request));
    });
  };
  EXPECT_TRUE(transaction({R"(INSERT INTO "@Things" VALUE {'pk': 'q', 'sk': 1})",
                           R"(UPDATE "@Things" SET size = 9 WHERE pk = 'p' AND sk = 1)"})
                  .starts_with("OK"));
  EXPECT_TRUE(transaction({R"(SELECT * FROM "@Things" WHERE pk = 'q' AND sk = 1)",
                           R"(SELECT * FROM "@Things" WHERE pk = 'q' AND sk = 2)"})
                  .starts_with("OK"));
  EXPECT_TRUE(transaction({R"(INSERT INTO "@Things" VALUE {'pk': 'q', 'sk': 2})",
                           R"(INSERT INTO "@Things" VALUE {'pk': 'q', 'sk': 1})"})
                  .starts_with("FAILED_PRECONDITION TRANSACTION_CANCELLED"));
}

TEST_F(ConformanceTest, RangesAndBulkWritesAnswerTheSame) {
  CreateThings();
  const std::string written = Compare("BulkWriter", [](const Side& side) {
    BulkWriter writer(side.client, {.max_chunk_writes = 60});
    for (int i = 0; i < 200; ++i) {
      EXPECT_TRUE(writer.Put(side.Named("@Things"), {{"pk", "r"}, {"sk", i % 150}, {"round", i}}).ok());
      if (i % 40 == 7) writer.Put(side.Named("@Things"), {{"pk", "r"}}).IgnoreError();
      if (i % 50 == 9) writer.Delete(side.Named("@Things"), {{"pk", "r"}, {"sk", i % 150}}).IgnoreError();
    }
    const absl::StatusOr<BulkWriteResult> result = writer.Finish();
    std::string text = TextOf(result.status());
    if (!result.ok()) return text;
    text += " applied " + std::to_string(result->applied);
    for (const RejectedWrite& rejected : result->rejected)
      text += " " + std::to_string(rejected.position) + " " + rejected.reason;
    return text;
  });
  EXPECT_NE(written.find("applied 204 8 VALIDATION"), std::string::npos) << written;
  const QueryRequest query{.table_name = "",
                           .key_condition_expression = "pk = :p",
                           .expression_attribute_values = {{":p", "r"}},
                           .limit = 7};
  const auto texts = [](absl::StatusOr<std::vector<Item>> items) {
    return TextOf(items.status()) + TextOf(items.value_or(std::vector<Item>()));
  };
  const auto named = [](auto request, const Side& side) {
    request.table_name = side.Named("@Things");
    return request;
  };
  Compare("QueryStream",
          [&](const Side& side) { return texts(side.client.QueryStream(named(query, side)).ToVector()); });
  Compare("QueryAll",
          [&](const Side& side) { return texts(side.client.QueryAll(named(query, side)).ToVector()); });
  Compare("ScanStream", [&](const Side& side) {
    return texts(side.client.ScanStream(named(ScanRequest{.table_name = "", .limit = 11}, side)).ToVector());
  });
  Compare("ScanStream of none", [&](const Side& side) {
    return texts(side.client.ScanStream({.table_name = side.Named("@NoTable")}).ToVector());
  });
  Compare("count_all", [&](const Side& side) {
    QueryRequest request = named(query, side);
    request.select = Select::kCount;
    request.count_all = true;
    request.limit = std::nullopt;
    request.return_consumed_capacity = ReturnConsumedCapacity::kTotal;
    return RunAsText(side.client, tools::Call(request));
  });
}

// What the protocol lacks is named.
TEST_F(ConformanceTest, WhatTheProtocolLacksIsUnimplementedByName) {
  CreateThings();
  const Client& http = sides_[1].client;
  const std::vector<TransactGet> many(101, {.table_name = "h-Things", .key = {{"pk", "a"}, {"sk", 1}}});
  EXPECT_TRUE(http.TransactGetItems({.gets = {many[0]}, .large = true}).ok());
  BulkWriter with_pass(http, {.fence_pass = "a pass"});
  ASSERT_TRUE(with_pass.Put("h-Things", {{"pk", "a"}, {"sk", 1}}).ok());
  const std::pair<std::string, absl::Status> kRefusals[] = {
      {"fence_pass", with_pass.Finish().status()},
      {"explain", http.Scan({.table_name = "h-Things", .explain = true}).status()},
      {"skip_damage", http.Scan({.table_name = "h-Things", .skip_damage = true}).status()},
      {"large", http.TransactGetItems({.gets = many, .large = true}).status()},
      {"consistent read", http.Query({.table_name = "h-Things",
                                      .index_name = "byColor",
                                      .key_condition_expression = "color = :c",
                                      .expression_attribute_values = {{":c", "red"}},
                                      .consistent_read = true})
                              .status()},
      {"idempotent",
       http.PutItem({.table_name = "h-Things", .item = {{"pk", "a"}, {"sk", 1}}}, {.idempotent = true})
           .status()},
      {"Changes/ReadChanges", http.ReadChanges({}).status()},
      {"Changes/Watch", http.Watch({}).Next().status()},
      {"Admin/GetStatus", http.GetStatus().status()},
      {"Admin/CreateDatabaseBackup", http.CreateDatabaseBackup().status()},
      {"Backups/ListBackups", http.ListBackups().status()},
      {"one_state", http.ScanStream({.table_name = "h-Things"}, {.one_state = true}).Next().status()},
  };
  for (const auto& [name, status] : kRefusals) {
    EXPECT_TRUE(absl::IsUnimplemented(status)) << name << ": " << status;
    EXPECT_EQ(ReasonOf(status), "UNIMPLEMENTED") << name;
    EXPECT_NE(status.message().find(name), std::string::npos) << name << ": " << status;
  }
}

}  // namespace
}  // namespace itemdb
