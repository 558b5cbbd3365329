// Operations on tables.
#include "tests/protocols/both_protocols.h"
#include "tests/protocols/requests.h"

namespace itemdb::protocols {
namespace {

using TablesOverBoth = BothProtocols;

// A valid CreateTable request, changed by `more`.
Json NewTable(const Json& more = Json::object()) {
  Json table = Tables()[0];
  table["TableName"] = "New";
  return With(table, more);
}

Json Arn(const char* table) { return std::string("arn:aws:dynamodb:local:000000000000:table/") + table; }

Json Throughput(int reads, int writes) {
  return {{"ReadCapacityUnits", reads}, {"WriteCapacityUnits", writes}};
}

// CreateTable, DescribeTable, DeleteTable (OP-01 to OP-05): indexes (SEM-067), projections (SEM-068), checks
// (SEM-093), settings without effect (SEM-099).
TEST_F(TablesOverBoth, CreateDescribeDelete) {
  const std::vector<Json> good = {
      NewTable(),
      Json{{"TableName", "New"},
           {"ProvisionedThroughput", Throughput(5, 7)},
           {"AttributeDefinitions", Tables()[1]["AttributeDefinitions"]},
           {"KeySchema", Tables()[1]["KeySchema"]}},
      NewTable({{"TableClass", "STANDARD_INFREQUENT_ACCESS"}, {"DeletionProtectionEnabled", false}}),
      NewTable(
          {{"SSESpecification", {{"Enabled", true}, {"SSEType", "KMS"}, {"KMSMasterKeyId", "alias/key"}}}}),
      NewTable({{"SSESpecification", {{"Enabled", false}}}}),
      NewTable({{"OnDemandThroughput", {{"MaxReadRequestUnits", 10}, {"MaxWriteRequestUnits", -1}}}}),
      NewTable({{"WarmThroughput", {{"ReadUnitsPerSecond", 20'000}, {"WriteUnitsPerSecond", 9'000}}}}),
      NewTable({{"Tags", List(Json{{"Key", "k"}, {"Value", "v"}}, Json{{"Key", "empty"}, {"Value", ""}})}}),
  };
  for (const Json& table : good) {
    Succeed("CreateTable", table);
    Succeed("DescribeTable", {{"TableName", "New"}});
    Succeed("ListTagsOfResource", {{"ResourceArn", Arn("New")}});
    Expect({{"CreateTable", table}});
    Succeed("DeleteTable", {{"TableName", Arn("New")}});
    Expect({{"DeleteTable", {{"TableName", "New"}}}, {"DescribeTable", {{"TableName", "New"}}}});
  }
  EXPECT_EQ(succeeded_, 0);
}

TEST_F(TablesOverBoth, TablesThatAreNotCreated) {
  const Json tables = Tables();
  const auto index = [&](const char* name, const Json& schema,
                         const Json& projection = {{"ProjectionType", "ALL"}}) {
    return NewTable({{"GlobalSecondaryIndexes",
                      List(Json{{"IndexName", name}, {"KeySchema", schema}, {"Projection", projection}})}});
  };
  const auto element = [](const char* name, const char* type) {
    return Json{{"AttributeName", name}, {"KeyType", type}};
  };
  const Json schema = tables[0]["KeySchema"];
  std::vector<Json> bad = {
      NewTable({{"KeySchema", List(element("pk", "RANGE"))}}),
      NewTable({{"KeySchema", List(element("pk", "HASH"), element("sk", "HASH"))}}),
      NewTable({{"KeySchema", List(element("pk", "HASH"), element("pk", "RANGE"))}}),
      NewTable({{"KeySchema", List(element("undefined", "HASH"))}}),
      NewTable({{"AttributeDefinitions", Json::array()}}),
      index("ByN", schema, {{"ProjectionType", "INCLUDE"}}),
      index("ByN", schema, {{"ProjectionType", "ALL"}, {"NonKeyAttributes", List("x")}}),
      index("ByN", schema, {{"ProjectionType", "INCLUDE"}, {"NonKeyAttributes", List("x", "x")}}),
      index("ByN", schema, Json::object()),
      index("ByN", List(element("undefined", "HASH"))),
      index("ByK", schema),
      NewTable({{"BillingMode", "PROVISIONED"}}),
      NewTable({{"ProvisionedThroughput", Throughput(1, 1)}}),
      NewTable({{"OnDemandThroughput", {{"MaxReadRequestUnits", 0}}}}),
      NewTable({{"SSESpecification", {{"Enabled", true}, {"KMSMasterKeyId", std::string(2'049, 'k')}}}}),
      NewTable({{"Tags", List(Json{{"Key", "k"}, {"Value", "v"}}, Json{{"Key", "k"}, {"Value", "w"}})}}),
  };
  Json definitions = tables[0]["AttributeDefinitions"];
  definitions.push_back({{"AttributeName", "unused"}, {"AttributeType", "S"}});
  bad.push_back(NewTable({{"AttributeDefinitions", definitions}}));
  std::vector<Request> requests;
  for (const Json& table : bad) requests.push_back({"CreateTable", table});
  for (const char* name : {"ab", "a b c", "", "name/with/slashes"})
    requests.push_back({"CreateTable", NewTable({{"TableName", name}}), Difference::kBoundsFirst});
  requests.push_back(
      {"CreateTable", NewTable({{"TableName", std::string(256, 'n')}}), Difference::kBoundsFirst});
  requests.push_back({"CreateTable", NewTable({{"BillingMode", "FREE"}}), Difference::kBoundsFirst});
  requests.push_back({"CreateTable", NewTable({{"TableClass", "GOLD"}}), Difference::kBoundsFirst});
  requests.push_back(
      {"CreateTable", NewTable({{"KeySchema", List(element("pk", "KEY"))}}), Difference::kBoundsFirst});
  requests.push_back({"CreateTable", index("x", schema), Difference::kBoundsFirst});
  requests.push_back(
      {"CreateTable", index("ByN", schema, {{"ProjectionType", "SOME"}}), Difference::kBoundsFirst});
  Expect(requests);
  EXPECT_EQ(succeeded_, 0);
}

// ListTables in the order of names (OP-04).
TEST_F(TablesOverBoth, Lists) {
  Expect({
      {"ListTables", Json::object()},
      {"ListTables", {{"Limit", 1}}},
      {"ListTables", {{"Limit", 1}, {"ExclusiveStartTableName", "Blobs"}}},
      {"ListTables", {{"ExclusiveStartTableName", "Things"}}},
      {"ListTables", {{"ExclusiveStartTableName", "not.there"}}},
      {"ListTables", {{"Limit", 0}}, Difference::kBoundsFirst},
      {"ListTables", {{"Limit", 101}}, Difference::kBoundsFirst},
      {"DescribeLimits", Json::object()},
      {"DescribeTable", {{"TableName", "Things"}}},
      {"DescribeTable", {{"TableName", Arn("Things")}}},
      {"DescribeTable", {{"TableName", "Missing"}}},
      {"DescribeTable", {{"TableName", "x"}}, Difference::kBoundsFirst},
      {"DeleteTable", {{"TableName", "Missing"}}},
  });
}

// UpdateTable (OP-05).
TEST_F(TablesOverBoth, Updates) {
  const auto update = [](const Json& more) { return With({{"TableName", "Changing"}}, more); };
  Succeed("CreateTable", NewTable({{"TableName", "Changing"}}));
  Expect({
      {"UpdateTable", update({{"DeletionProtectionEnabled", true}})},
      {"DeleteTable", update(Json::object())},
      {"UpdateTable", update({{"DeletionProtectionEnabled", false}})},
      {"UpdateTable", update({{"TableClass", "STANDARD_INFREQUENT_ACCESS"}})},
      {"UpdateTable", update({{"OnDemandThroughput", {{"MaxReadRequestUnits", 5}}}})},
      {"UpdateTable", update({{"WarmThroughput", {{"ReadUnitsPerSecond", 12'000}}}})},
      {"UpdateTable", update({{"SSESpecification", {{"Enabled", true}}}})},
      {"UpdateTable", update({{"TableClass", "STANDARD"}, {"BillingMode", "PAY_PER_REQUEST"}})},
      {"UpdateTable", update({{"BillingMode", "PROVISIONED"}})},
      {"UpdateTable", update({{"BillingMode", "PROVISIONED"}, {"ProvisionedThroughput", Throughput(3, 4)}})},
      {"UpdateTable", update({{"ProvisionedThroughput", Throughput(3, 4)}})},
      {"UpdateTable", update({{"BillingMode", "PAY_PER_REQUEST"}})},
      {"UpdateTable", update(Json::object())},
      {"UpdateTable", With(update({{"TableClass", "STANDARD"}}), {{"TableName", "Missing"}})},
      {"UpdateTable", update({{"ProvisionedThroughput", Throughput(0, 4)}}), Difference::kBoundsFirst},
      {"UpdateTable", update({{"TableClass", "GOLD"}}), Difference::kBoundsFirst},
      {"DescribeTable", update(Json::object())},
      {"DeleteTable", update(Json::object())},
  });
  EXPECT_GT(succeeded_, 6);
  EXPECT_GT(failed_, 3);
}

// Tags of tables (OP-08 to OP-10).
TEST_F(TablesOverBoth, Tags) {
  const auto tag = [](const Json& tags) { return Json{{"ResourceArn", Arn("Single")}, {"Tags", tags}}; };
  const auto one = [](const std::string& key, const std::string& value) {
    return Json{{"Key", key}, {"Value", value}};
  };
  Json many = Json::array();
  for (int i = 0; i < 51; ++i) many.push_back(one(std::to_string(i), "v"));
  const Json arn = {{"ResourceArn", Arn("Single")}};
  Expect({
      {"TagResource", tag(List(one("a", "1"), one("b", "")))},
      {"ListTagsOfResource", arn},
      {"TagResource", tag(List(one("a", "2")))},
      {"ListTagsOfResource", arn},
      {"TagResource", tag(many)},
      {"TagResource", tag(Json::array())},
      {"TagResource", tag(List(one("a", "1"), one("a", "2")))},
      {"TagResource", tag(List(one("aws:reserved", "1")))},
      {"TagResource", tag(List(one("a", "1"), one("AWS:x", "1")))},
      {"TagResource", tag(List(one("a", "1"), one("a,b", "1")))},
      {"TagResource", tag(List(one("a", "tab\t")))},
      {"TagResource", tag(List(one("sch\xC3\xB6n \xE6\x97\xA5\xE6\x9C\xAC 7 +-=._:/@", "\xD0\x96")))},
      {"TagResource", tag(List(one("a", "\xF0\x9F\x98\x80")))},
      {"UntagResource", With(arn, {{"TagKeys", List("a", "aws:x")}})},
      {"TagResource", tag(List(one("", "1"))), Difference::kBoundsFirst},
      {"TagResource", tag(List(one(std::string(129, 'k'), "1"))), Difference::kBoundsFirst},
      {"TagResource", tag(List(one("k", std::string(257, 'v')))), Difference::kBoundsFirst},
      {"UntagResource", With(arn, {{"TagKeys", List("a", "not there")}})},
      {"UntagResource", With(arn, {{"TagKeys", Json::array()}})},
      {"ListTagsOfResource", arn},
      {"TagResource", {{"ResourceArn", Arn("Missing")}, {"Tags", List(one("a", "1"))}}},
      {"UntagResource", {{"ResourceArn", Arn("Missing")}, {"TagKeys", List("a")}}},
  });
  EXPECT_GT(succeeded_, 4);
  EXPECT_GT(failed_, 4);
}

// UpdateTimeToLive (OP-11), DescribeTimeToLive (OP-12) and repeated requests (SEM-111). While the existing
// items are read, the description depends on the time of the call.
TEST_F(TablesOverBoth, TimeToLive) {
  const auto update = [](bool enabled, const Json& attribute, const Json& table = "Single") {
    return Json{{"TableName", table},
                {"TimeToLiveSpecification", {{"Enabled", enabled}, {"AttributeName", attribute}}}};
  };
  Expect({
      {"DescribeTimeToLive", {{"TableName", "Single"}}},
      {"UpdateTimeToLive", update(false, "ttl")},
      {"UpdateTimeToLive", update(true, "ttl", Arn("Single"))},
      {"UpdateTimeToLive", update(true, "ttl")},
      {"UpdateTimeToLive", update(true, "other")},
      {"UpdateTimeToLive", update(false, "other")},
      {"UpdateTimeToLive", update(false, "ttl")},
      {"DescribeTimeToLive", {{"TableName", Arn("Single")}}},
      {"UpdateTimeToLive", update(true, ""), Difference::kBoundsFirst},
      {"UpdateTimeToLive", update(true, std::string(255, 'a'))},
      {"UpdateTimeToLive", update(false, std::string(255, 'a'))},
      {"UpdateTimeToLive", update(true, std::string(256, 'a')), Difference::kBoundsFirst},
      {"UpdateTimeToLive", update(true, "ttl", "Missing")},
      {"DescribeTimeToLive", {{"TableName", "Missing"}}},
  });
  EXPECT_GT(succeeded_, 5);
  EXPECT_GT(failed_, 5);
}

}  // namespace
}  // namespace itemdb::protocols
