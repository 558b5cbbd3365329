// Keys with roles for some tables, over the JSON protocol: every operation with every kind of grant, and
// requests that hide the name of a table which the key may not use (ERR-17).
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/access/request_access.h"
#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

using daemon::Role;
using daemon::Scope;
using ::testing::HasSubstr;
using ::testing::Not;

// What the table that no key may use has in its items.
constexpr char kHidden[] = "mehitabel";
constexpr char kArnBegin[] = "arn:aws:dynamodb:local:000000000000:table/";

// Request bodies, in which TABLE stands for the name of the table, ARN for its ARN, STREAM for the ARN of its
// stream, SHARD for its shard and ITERATOR for an iterator of it, BACKUP, EXPORT and IMPORT for the ARNs of a
// backup, an export and an import of it. Every operation is here or in kTableless.
const std::map<std::string_view, std::string>& BodiesOfOneTable() {
  static const auto* const bodies = new std::map<std::string_view, std::string>{
      {"PutItem", R"({"TableName":"TABLE","Item":{"pk":{"S":"p"},"sk":{"S":"new"}}})"},
      {"GetItem", R"({"TableName":"TABLE","Key":{"pk":{"S":"p"},"sk":{"S":"1"}}})"},
      {"UpdateItem", R"({"TableName":"TABLE","Key":{"pk":{"S":"p"},"sk":{"S":"1"}},"ReturnValues":"ALL_OLD",
        "UpdateExpression":"SET n = :n","ExpressionAttributeValues":{":n":{"N":"1"}}})"},
      {"DeleteItem",
       R"({"TableName":"TABLE","Key":{"pk":{"S":"p"},"sk":{"S":"2"}},"ReturnValues":"ALL_OLD"})"},
      {"Query", R"({"TableName":"TABLE","IndexName":"Swapped","KeyConditionExpression":"sk = :s",
        "ExpressionAttributeValues":{":s":{"S":"1"}}})"},
      {"Scan", R"({"TableName":"TABLE"})"},
      {"SearchVectors",
       R"({"TableName":"TABLE","IndexName":"ByVector","SearchVector":[{"N":"1"}],"TopK":1})"},
      {"BatchGetItem", R"({"RequestItems":{"TABLE":{"Keys":[{"pk":{"S":"p"},"sk":{"S":"1"}}]}}})"},
      {"BatchWriteItem",
       R"({"RequestItems":{"TABLE":[{"PutRequest":{"Item":{"pk":{"S":"p"},"sk":{"S":"b"}}}}]}})"},
      {"TransactGetItems", R"({"TransactItems":[{"Get":{"TableName":"TABLE",
        "Key":{"pk":{"S":"p"},"sk":{"S":"1"}}}}]})"},
      {"TransactWriteItems", R"({"TransactItems":[{"Put":{"TableName":"TABLE",
        "Item":{"pk":{"S":"p"},"sk":{"S":"t"}}}}]})"},
      {"ExecuteStatement", R"({"Statement":"SELECT * FROM \"TABLE\""})"},
      {"BatchExecuteStatement",
       R"({"Statements":[{"Statement":"SELECT * FROM \"TABLE\" WHERE pk = 'p' AND sk = '1'"}]})"},
      {"ExecuteTransaction",
       R"({"TransactStatements":[{"Statement":"SELECT * FROM \"TABLE\" WHERE pk = 'p' AND sk = '1'"}]})"},
      {"CreateTable", R"({"TableName":"TABLE","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]})"},
      {"UpdateTable", R"({"TableName":"TABLE","DeletionProtectionEnabled":false})"},
      {"DeleteTable", R"({"TableName":"TABLE"})"},
      {"DescribeTable", R"({"TableName":"TABLE"})"},
      {"TagResource", R"({"ResourceArn":"ARN","Tags":[{"Key":"k","Value":"v"}]})"},
      {"UntagResource", R"({"ResourceArn":"ARN","TagKeys":["k"]})"},
      {"ListTagsOfResource", R"({"ResourceArn":"ARN"})"},
      {"UpdateTimeToLive",
       R"({"TableName":"TABLE","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"t"}})"},
      {"DescribeTimeToLive", R"({"TableName":"TABLE"})"},
      {"CreateBackup", R"({"TableName":"TABLE","BackupName":"backup"})"},
      {"DescribeBackup", R"({"BackupArn":"BACKUP"})"},
      {"DeleteBackup", R"({"BackupArn":"BACKUP"})"},
      {"RestoreTableFromBackup", R"({"TargetTableName":"TABLE","BackupArn":"BACKUP"})"},
      {"RestoreTableToPointInTime",
       R"({"SourceTableName":"TABLE","TargetTableName":"TABLE","UseLatestRestorableTime":true})"},
      {"ImportTable",
       R"({"S3BucketSource":{"S3Bucket":"bucket"},"InputFormat":"CSV","TableCreationParameters":{
        "TableName":"TABLE","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}})"},
      {"DescribeImport", R"({"ImportArn":"IMPORT"})"},
      {"StartBulkPutItems", R"({"TableName":"TABLE","InputS3Configuration":{"S3Bucket":"bucket",
        "InputFormat":"ION"},"OutputS3Configuration":{"OutputType":["ERROR"]}})"},
      {"DescribeBulkOperation", R"({"BulkOperationArn":"OPERATION"})"},
      {"CancelBulkOperation", R"({"BulkOperationArn":"OPERATION"})"},
      {"DescribeContinuousBackups", R"({"TableName":"TABLE"})"},
      {"UpdateContinuousBackups", R"({"TableName":"TABLE",
        "PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":false}})"},
      {"ExportTableToPointInTime", R"({"TableArn":"ARN","S3Bucket":"bucket"})"},
      {"DescribeExport", R"({"ExportArn":"EXPORT"})"},
      {"UpdateContributorInsights", R"({"TableName":"TABLE","ContributorInsightsAction":"ENABLE"})"},
      {"DescribeContributorInsights", R"({"TableName":"TABLE"})"},
      {"ListContributorInsights", R"({"TableName":"TABLE"})"},
      {"DescribeKinesisStreamingDestination", R"({"TableName":"TABLE"})"},
      {"GetResourcePolicy", R"({"ResourceArn":"ARN"})"},
      {"DeleteResourcePolicy", R"({"ResourceArn":"ARN"})"},
      {"ListStreams", R"({"TableName":"TABLE"})"},
      {"DescribeStream", R"({"StreamArn":"STREAM"})"},
      {"GetShardIterator", R"({"StreamArn":"STREAM","ShardId":"SHARD","ShardIteratorType":"TRIM_HORIZON"})"},
      {"GetRecords", R"({"ShardIterator":"ITERATOR"})"},
  };
  return *bodies;
}
constexpr std::string_view kTableless[] = {"ListTables",       "DescribeLimits",    "DescribeEndpoints",
                                           "ListBackups",      "ListExports",       "ListImports",
                                           "ListGlobalTables", "ListBulkOperations"};

std::string TextOfMember(const std::string& body, const std::string& name) {
  std::smatch match;
  std::regex_search(body, match, std::regex("\"" + name + "\":\"([^\"]*)\""));
  return match.empty() ? "" : match[1].str();
}

class TableAccess : public ::testing::Test {
 protected:
  TableAccess() {
    for (const char* table : {"Open", "Secret"}) {
      json_.Succeed("CreateTable", absl::StrReplaceAll(kCreate, {{"TABLE", table}}));
      for (const char* sk : {"1", "2"}) {
        json_.Succeed(
            "PutItem",
            absl::StrCat(R"({"TableName":")", table, R"(","Item":{"pk":{"S":"p"},"sk":{"S":")", sk,
                         R"("},"text":{"S":")", table == std::string("Secret") ? kHidden : "open", "\"}}}"));
      }
      const std::string stream = TextOfMember(
          json_.Succeed("DescribeTable", absl::StrCat(R"({"TableName":")", table, "\"}")), "LatestStreamArn");
      const std::string shard =
          TextOfMember(json_.Succeed("DescribeStream", R"({"StreamArn":")" + stream + "\"}"), "ShardId");
      const std::string iterator = TextOfMember(
          json_.Succeed("GetShardIterator", R"({"StreamArn":")" + stream + R"(","ShardId":")" + shard +
                                                R"(","ShardIteratorType":"TRIM_HORIZON"})"),
          "ShardIterator");
      streams_[table] = {stream, shard, iterator};
    }
    before_ = Hidden();
  }

  // The items and the definition of the table that no key may use.
  std::string Hidden() {
    return json_.Succeed("Scan", R"({"TableName":"Secret"})") +
           json_.Succeed("DescribeTable", R"({"TableName":"Secret"})");
  }

  static daemon::Caller Granted(std::vector<daemon::TableGrant> grants, Role role = Role::kNone) {
    return {.key_id = "AKSOMEONE",
            .role = role,
            .grants = std::make_shared<daemon::TableGrants>(std::move(grants))};
  }
  // May do everything with the table Open and nothing else.
  static daemon::Caller AdminOfOpen() {
    return Granted({{.names = {"Open"}, .role = Role::kAdmin, .streams = true}});
  }

  // As a connection does: the operation is checked first, then the request.
  JsonReply AskAs(const daemon::Caller& caller, const std::string& operation, const std::string& body) {
    const JsonOperation* found = FindOperation("DynamoDB_20120810." + operation);
    if (found == nullptr) found = FindOperation("DynamoDBStreams_20120810." + operation);
    const absl::Status allowed = daemon::CheckOperation(caller, operation, AccessOf(*found));
    JsonReply reply;
    if (!allowed.ok()) {
      reply.http_status = 400;
      reply.code = "PERMISSION_DENIED";
      reply.body = storage::MessageOf(allowed);
      return reply;
    }
    reply = json_.Ask(operation, body, caller);
    EXPECT_THAT(reply.body, Not(HasSubstr(kHidden))) << operation << " " << body;
    return reply;
  }
  static bool IsDenied(const JsonReply& reply) { return reply.code == "PERMISSION_DENIED"; }

  // The body of `operation` for `table`, whose name is written as `name`.
  std::string BodyFor(std::string_view operation, const std::string& table, const std::string& name) {
    const auto& [stream, shard, iterator] = streams_[table];
    return absl::StrReplaceAll(
        BodiesOfOneTable().at(operation),
        {{"TABLE", name},
         {"ARN", name.starts_with("arn:") ? name : kArnBegin + name},
         {"BACKUP", BackupArnOf(table)},
         {"EXPORT", absl::StrReplaceAll(BackupArnOf(table), {{"/backup/", "/export/"}})},
         {"OPERATION", kArnBegin + table + "/bulk-operation/01700000000000-0123abcd"},
         {"IMPORT", kArnBegin + table + "/import/01700000000000-0123abcd"},
         {"STREAM", stream},
         {"SHARD\"", shard + "\""},
         {"ITERATOR", iterator}});
  }
  // Of a backup that need not exist.
  static std::string BackupArnOf(const std::string& table) {
    return kArnBegin + table + "/backup/01700000000000-0123abcd";
  }
  // Texts that name `table`. ListStreams, ImportTable and the restores take no ARN.
  static std::vector<std::string> FormsOf(const std::string& table, std::string_view operation = "") {
    if (operation == "ListStreams" || operation == "CreateTable" || operation == "ImportTable" ||
        operation.starts_with("RestoreTable"))
      return {table};
    return {table, kArnBegin + table, "arn:a:table/arn:b:table/" + table};
  }

  static constexpr char kCreate[] = R"({"TableName":"TABLE","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],
    "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
    "GlobalSecondaryIndexes":[{"IndexName":"Swapped","KeySchema":[{"AttributeName":"sk","KeyType":"HASH"}],
      "Projection":{"ProjectionType":"ALL"}}],
    "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}})";

  JsonFixture json_;
  // ARN, shard and iterator of each table's stream.
  std::map<std::string, std::tuple<std::string, std::string, std::string>> streams_;
  std::string before_;
};

// A new operation must be written into one of the two lists.
TEST_F(TableAccess, EveryOperationIsTested) {
  for (const std::string& target : OperationTargets()) {
    const JsonOperation& operation = *FindOperation(target);
    const Scope scope = AccessOf(operation).scope;
    const bool tableless = std::ranges::find(kTableless, NameOf(operation)) != std::end(kTableless);
    EXPECT_NE(tableless, BodiesOfOneTable().contains(NameOf(operation))) << target;
    EXPECT_EQ(!tableless, scope == Scope::kTables || scope == Scope::kStreams) << target;
    EXPECT_EQ((std::set<std::string_view>{"ListTables", "ListBackups", "ListExports", "ListImports",
                                          "ListBulkOperations"}
                   .contains(NameOf(operation))),
              scope == Scope::kTableNames)
        << target;
  }
}

// Every operation, with every role for one table: allowed exactly if the role is high enough, and never for
// the other table, however its name is written.
TEST_F(TableAccess, AnOperationNeedsTheRoleForItsTable) {
  for (const auto& [name, template_body] : BodiesOfOneTable()) {
    const std::string operation(name);
    const JsonOperation* found = FindOperation("DynamoDB_20120810." + operation);
    if (found == nullptr) found = FindOperation("DynamoDBStreams_20120810." + operation);
    ASSERT_NE(found, nullptr) << operation;
    const daemon::OperationAccess needed = AccessOf(*found);
    for (const Role role : {Role::kNone, Role::kRead, Role::kWrite, Role::kAdmin}) {
      for (const bool streams : {false, true}) {
        const daemon::Caller caller = Granted({{.names = {"Open"}, .role = role, .streams = streams},
                                               {.names = {"Other*"}, .role = Role::kRead}});
        const bool may = needed.scope == Scope::kStreams ? streams : role >= needed.role;
        for (const std::string& form : FormsOf("Secret", operation)) {
          const JsonReply reply = AskAs(caller, operation, BodyFor(operation, "Secret", form));
          EXPECT_TRUE(IsDenied(reply)) << operation << " " << form << " " << reply.body;
          EXPECT_THAT(reply.body, HasSubstr("User: AKSOMEONE is not authorized to perform: dynamodb:"));
          EXPECT_THAT(reply.body, HasSubstr(" on table Secret because ")) << operation;
          EXPECT_EQ(reply.log_fields.table_name, "Secret") << operation;
        }
        if (operation == "DeleteTable" && may) continue;
        for (const std::string& form : FormsOf("Open", operation)) {
          const JsonReply reply = AskAs(caller, operation, BodyFor(operation, "Open", form));
          EXPECT_EQ(IsDenied(reply), !may)
              << operation << " " << form << " " << NameOf(role) << " " << streams << " " << reply.body;
        }
      }
    }
  }
  EXPECT_FALSE(IsDenied(AskAs(AdminOfOpen(), "DeleteTable", BodyFor("DeleteTable", "Open", "Open"))));
  EXPECT_EQ(Hidden(), before_);
}

// A restore takes the role for both tables, and a caller sees the backups of its tables only.
TEST_F(TableAccess, BackupsBelongToTheirTables) {
  for (const char* table : {"Open", "Secret"}) {
    json_.Succeed("CreateBackup",
                  absl::StrCat(R"({"TableName":")", table, R"(","BackupName":"of-)", table, "\"}"));
  }
  for (const auto& [target, source] :
       {std::pair("Open", "Secret"), std::pair("Secret", "Open"), std::pair("New", "Open")}) {
    const JsonReply reply = AskAs(
        AdminOfOpen(), "RestoreTableFromBackup",
        absl::StrCat(R"({"TargetTableName":")", target, R"(","BackupArn":")", BackupArnOf(source), "\"}"));
    EXPECT_TRUE(IsDenied(reply)) << reply.body;
    for (const std::string& from : {absl::StrCat(R"("SourceTableName":")", source),
                                    absl::StrCat(R"("SourceTableArn":")", kArnBegin, source)}) {
      EXPECT_TRUE(IsDenied(AskAs(AdminOfOpen(), "RestoreTableToPointInTime",
                                 absl::StrCat(R"({"TargetTableName":")", target, "\",", from,
                                              R"(","UseLatestRestorableTime":true})"))))
          << from;
    }
  }
  const std::string listed = AskAs(AdminOfOpen(), "ListBackups", "{}").body;
  EXPECT_THAT(listed, HasSubstr("of-Open"));
  EXPECT_THAT(listed, Not(HasSubstr("Secret")));
  EXPECT_EQ(AskAs(AdminOfOpen(), "ListBackups", R"({"TableName":"Secret"})").body,
            R"({"BackupSummaries":[]})");
  EXPECT_THAT(json_.Succeed("ListBackups", "{}"), HasSubstr("of-Secret"));
}

// The answer for a table that does not exist is the same.
TEST_F(TableAccess, ADenialDoesNotTellWhetherTheTableExists) {
  for (const char* operation :
       {"DescribeTable", "PutItem", "DeleteTable", "CreateTable", "ExecuteStatement"}) {
    const std::string there = AskAs(AdminOfOpen(), operation, BodyFor(operation, "Secret", "Secret")).body;
    const std::string missing = AskAs(AdminOfOpen(), operation, BodyFor(operation, "Secret", "Nobody")).body;
    EXPECT_EQ(absl::StrReplaceAll(there, {{"Secret", "Nobody"}}), missing);
    EXPECT_THAT(missing, HasSubstr("AccessDeniedException"));
  }
  EXPECT_EQ(
      AskAs(AdminOfOpen(), "GetItem", BodyFor("GetItem", "Secret", "Secret")).body,
      R"({"__type":"com.amazon.coral.service#AccessDeniedException","message":"User: AKSOMEONE is not )"
      R"(authorized to perform: dynamodb:GetItem on table Secret because its role there is none and this )"
      R"(takes read"})");
  EXPECT_THAT(
      AskAs(AdminOfOpen(), "DescribeStream", BodyFor("DescribeStream", "Secret", "Secret")).body,
      HasSubstr("dynamodb:DescribeStream on table Secret because this takes streams = true in a grant"));
}

// One table that is not granted among ten, at each place and in each kind of element.
TEST_F(TableAccess, ARequestIsRefusedForOneTableOfMany) {
  const std::string key = R"({"pk":{"S":"p"},"sk":{"S":"1"}})";
  const auto list = [](const std::string& granted, const std::string& other, int place) {
    std::string all;
    for (int i = 0; i < 10; ++i) {
      std::string element = i == place ? other : granted;
      all += (all.empty() ? "" : ",") + absl::StrReplaceAll(element, {{"NUMBER", std::to_string(i)}});
    }
    return all;
  };
  const std::string item = R"({"pk":{"S":"NUMBER"},"sk":{"S":"1"}})";
  const std::vector<std::pair<std::string, std::string>> actions = {
      {R"({"Put":{"TableName":"TABLE","Item":)" + item + "}}", "write"},
      {R"({"Delete":{"TableName":"TABLE","Key":)" + item + "}}", "write"},
      {R"({"Update":{"TableName":"TABLE","Key":)" + item +
           R"(,"UpdateExpression":"SET n = :n","ExpressionAttributeValues":{":n":{"N":"1"}}}})",
       "write"},
      {R"({"ConditionCheck":{"TableName":"TABLE","Key":)" + item +
           R"~(,"ConditionExpression":"attribute_not_exists(q)"}})~",
       "read"}};
  const auto of = [](const std::string& text, const std::string& table) {
    return absl::StrReplaceAll(text, {{"TABLE", table}});
  };
  for (int place = 0; place < 10; ++place) {
    for (const std::string& form : FormsOf("Secret")) {
      for (const auto& [action, role] : actions) {
        const JsonReply reply = AskAs(
            AdminOfOpen(), "TransactWriteItems",
            R"({"TransactItems":[)" + list(of(actions[0].first, "Open"), of(action, form), place) + "]}");
        EXPECT_TRUE(IsDenied(reply)) << action;
        EXPECT_THAT(reply.body,
                    HasSubstr("on table Secret because its role there is none and this takes " + role));
      }
      const std::string get = R"({"Get":{"TableName":"TABLE","Key":)" + item + "}}";
      EXPECT_TRUE(
          IsDenied(AskAs(AdminOfOpen(), "TransactGetItems",
                         R"({"TransactItems":[)" + list(of(get, "Open"), of(get, form), place) + "]}")));
      const std::string select =
          R"({"Statement":"SELECT * FROM \"TABLE\" WHERE pk = 'NUMBER' AND sk = '1'"})";
      const std::string insert = R"({"Statement":"INSERT INTO \"TABLE\" VALUE {'pk': 'NUMBER', 'sk': '1'}"})";
      const std::string exists =
          R"~({"Statement":"EXISTS(SELECT * FROM \"TABLE\" WHERE pk = 'NUMBER' AND sk = '1' AND q = 1)"})~";
      for (const std::string& statement : {select, insert}) {
        const std::string ten = list(of(statement, "Open"), of(statement, form), place);
        EXPECT_TRUE(
            IsDenied(AskAs(AdminOfOpen(), "BatchExecuteStatement", R"({"Statements":[)" + ten + "]}")));
        EXPECT_TRUE(
            IsDenied(AskAs(AdminOfOpen(), "ExecuteTransaction", R"({"TransactStatements":[)" + ten + "]}")));
      }
      EXPECT_TRUE(IsDenied(
          AskAs(AdminOfOpen(), "ExecuteTransaction",
                R"({"TransactStatements":[)" + list(of(insert, "Open"), of(exists, form), place) + "]}")));
      const std::string keys = R"("TABLE":{"Keys":[)" + key + "]}";
      const std::string puts = R"("TABLE":[{"PutRequest":{"Item":)" + key + "}}]";
      for (const bool before : {false, true}) {
        const auto both = [&](const std::string& text) {
          return R"({"RequestItems":{)" + of(text, before ? form : "Open") + "," +
                 of(text, before ? "Open" : form) + "}}";
        };
        EXPECT_TRUE(IsDenied(AskAs(AdminOfOpen(), "BatchGetItem", both(keys))));
        EXPECT_TRUE(IsDenied(AskAs(AdminOfOpen(), "BatchWriteItem", both(puts))));
      }
    }
  }
  // Nothing of the requests was executed, and the same requests without the other table are.
  EXPECT_THAT(json_.Succeed("Scan", R"({"TableName":"Open","Select":"COUNT"})"), HasSubstr(R"("Count":2)"));
  for (const auto& [action, role] : actions) {
    const JsonReply reply =
        AskAs(AdminOfOpen(), "TransactWriteItems",
              R"({"TransactItems":[)" + list(of(actions[0].first, "Open"), of(action, "Open"), 5) + "]}");
    EXPECT_EQ(reply.http_status, 200u) << action << reply.body;
  }
  EXPECT_EQ(Hidden(), before_);
}

// A condition on an item of a table needs the role read for it, its actions need the role write.
TEST_F(TableAccess, ATransactionMayCheckATableThatItMayOnlyRead) {
  const daemon::Caller caller =
      Granted({{.names = {"Open"}, .role = Role::kWrite}, {.names = {"Secret"}, .role = Role::kRead}});
  const std::string key = R"({"pk":{"S":"p"},"sk":{"S":"1"}})";
  const std::string put = R"({"Put":{"TableName":"Open","Item":{"pk":{"S":"q"},"sk":{"S":"1"}}}})";
  EXPECT_EQ(AskAs(caller, "TransactWriteItems",
                  R"({"TransactItems":[)" + put + R"(,{"ConditionCheck":{"TableName":"Secret","Key":)" + key +
                      R"~(,"ConditionExpression":"attribute_exists(pk)"}}]})~")
                .http_status,
            200u);
  EXPECT_TRUE(IsDenied(
      AskAs(caller, "TransactWriteItems",
            R"({"TransactItems":[)" + put + R"(,{"Delete":{"TableName":"Secret","Key":)" + key + "}}]}")));
  EXPECT_EQ(Hidden(), before_);
}

// The role for all tables and the grants of a key add up.
TEST_F(TableAccess, TheGreaterOfRoleAndGrantCounts) {
  const daemon::Caller reader = Granted({{.names = {"Open"}, .role = Role::kWrite}}, Role::kRead);
  EXPECT_EQ(AskAs(reader, "PutItem", BodyFor("PutItem", "Open", "Open")).http_status, 200u);
  EXPECT_EQ(json_.Ask("GetItem", BodyFor("GetItem", "Secret", "Secret"), reader).http_status, 200u);
  EXPECT_EQ(AskAs(reader, "DescribeStream", BodyFor("DescribeStream", "Open", "Open")).http_status, 200u);
  EXPECT_TRUE(IsDenied(AskAs(reader, "PutItem", BodyFor("PutItem", "Secret", "Secret"))));
  EXPECT_TRUE(IsDenied(AskAs(reader, "ExecuteStatement",
                             R"({"Statement":"DELETE FROM Secret WHERE pk = 'p' AND sk = '1'"})")));
  const daemon::Caller writer = Granted({{.names = {"Open"}, .role = Role::kRead}}, Role::kWrite);
  EXPECT_EQ(AskAs(writer, "PutItem", BodyFor("PutItem", "Open", "Open")).http_status, 200u);
  EXPECT_EQ(Hidden(), before_);
}

TEST_F(TableAccess, ListTablesShowsTheTablesThatAreGranted) {
  for (const char* table : {"Open-1", "Open-2", "Open-3", "Zebra"})
    json_.Succeed("CreateTable", absl::StrReplaceAll(kCreate, {{"TABLE", table}}));
  const daemon::Caller caller =
      Granted({{.names = {"Open-*"}, .role = Role::kRead}, {.names = {"Zebra"}, .streams = true}});
  EXPECT_EQ(AskAs(caller, "ListTables", "{}").body, R"({"TableNames":["Open-1","Open-2","Open-3","Zebra"]})");
  EXPECT_EQ(AskAs(caller, "ListTables", R"({"Limit":2})").body,
            R"({"TableNames":["Open-1","Open-2"],"LastEvaluatedTableName":"Open-2"})");
  // No page is empty, and no page is said to follow after the last granted name.
  EXPECT_EQ(AskAs(caller, "ListTables", R"({"Limit":2,"ExclusiveStartTableName":"Open-2"})").body,
            R"({"TableNames":["Open-3","Zebra"]})");
  EXPECT_EQ(AskAs(Granted({{.names = {"Nobody"}, .role = Role::kRead}}), "ListTables", R"({"Limit":1})").body,
            R"({"TableNames":[]})");
  EXPECT_EQ(AskAs(Granted({{.names = {"Nobody"}, .role = Role::kRead}}, Role::kRead), "ListTables",
                  R"({"Limit":1})")
                .body,
            R"({"TableNames":["Open"],"LastEvaluatedTableName":"Open"})");
}

// A request that names no table is about all of them.
TEST_F(TableAccess, WithoutATableNameAllTablesAreNeeded) {
  for (const char* operation : {"ListStreams", "ListContributorInsights"}) {
    EXPECT_TRUE(IsDenied(AskAs(AdminOfOpen(), operation, "{}"))) << operation;
    EXPECT_EQ(json_.Ask(operation, "{}", Granted({{.names = {"*"}, .role = Role::kRead, .streams = true}}))
                  .http_status,
              200u)
        << operation;
  }
  EXPECT_THAT(AskAs(AdminOfOpen(), "ListStreams", "{}").body,
              HasSubstr("dynamodb:ListStreams on all tables"));
  for (const std::string_view operation : kTableless)
    EXPECT_EQ(AskAs(AdminOfOpen(), std::string(operation), "{}").http_status, 200u) << operation;
}

// Statements that try to hide the table. Some are not valid, and none may read or change it.
TEST_F(TableAccess, AStatementCannotHideItsTable) {
  const std::string statements[] = {
      "SELECT * FROM Secret",
      "select * from Secret",
      "SELECT * FROM /* Open */ Secret",
      "SELECT * FROM -- Open\\n Secret",
      "/* FROM Open */ SELECT * FROM \\\"Secret\\\"",
      "SELECT \\\"FROM\\\" FROM Secret",
      "SELECT * FROM Secret.Swapped",
      "SELECT * FROM \\\"Secret\\\".\\\"Swapped\\\" WHERE sk = '1'",
      "SELECT * FROM \\\"arn:aws:dynamodb:local:000000000000:table/Secret\\\"",
      "SELECT * FROM \\\"arn:a:table/arn:b:table/Secret\\\".Swapped",
      "SELECT * FROM Open, Secret",
      "SELECT * FROM Open JOIN Secret",
      "SELECT * FROM Open UNION SELECT * FROM Secret",
      "SELECT * FROM Open; SELECT * FROM Secret",
      "SELECT * FROM Open WHERE EXISTS(SELECT * FROM Secret)",
      "FROM Secret WHERE pk = 'p' AND sk = '1' SET n = 1 RETURNING ALL OLD *",
      "UPDATE Secret SET n = 1 WHERE pk = 'p' AND sk = '1' RETURNING ALL OLD *",
      "DELETE FROM Secret WHERE pk = 'p' AND sk = '1' RETURNING ALL OLD *",
      "INSERT INTO Secret VALUE {'pk': 'p', 'sk': '9'}",
      "EXISTS(SELECT * FROM Secret WHERE pk = 'p' AND sk = '1')",
  };
  for (const std::string& statement : statements) {
    const std::string one = R"({"Statement":")" + statement + "\"}";
    for (const auto& [operation, body] : std::map<std::string, std::string>{
             {"ExecuteStatement", one},
             {"BatchExecuteStatement", R"({"Statements":[)" + one + "]}"},
             {"ExecuteTransaction", R"({"TransactStatements":[)" + one + "]}"}}) {
      const JsonReply reply = AskAs(AdminOfOpen(), operation, body);
      EXPECT_EQ(reply.http_status, 400u) << operation << " " << statement << " " << reply.body;
    }
  }
  EXPECT_EQ(Hidden(), before_);
}

// Random requests of all operations, in which every name is one of many forms of the two tables' names.
TEST_F(TableAccess, NoRandomRequestGetsToAnotherTable) {
  std::mt19937 random(20261125);
  const auto pick = [&random](const auto& from) -> const auto& {
    return from[std::uniform_int_distribution<size_t>(0, std::size(from) - 1)(random)];
  };
  std::vector<std::string> names = {"Open",
                                    "Open/../Secret",
                                    "Secret/index/Swapped",
                                    "secret",
                                    " Secret",
                                    "Secret ",
                                    "Open,Secret",
                                    "*",
                                    "",
                                    "Secret*",
                                    "Open\\u0000Secret",
                                    "arn:aws:dynamodb:::",
                                    std::string(kArnBegin) + "Open/../Secret",
                                    std::string(kArnBegin) + "Secret/index/Swapped",
                                    std::string(kArnBegin) + "Secret/stream/2026",
                                    std::string(kArnBegin) + "Open:table/Secret"};
  for (const char* table : {"Open", "Secret", "Secret", "Secret"}) {
    for (const std::string& form : FormsOf(table)) names.push_back(form);
  }
  std::vector<std::string_view> operations;
  for (const auto& [operation, body] : BodiesOfOneTable()) {
    if (operation != "DeleteTable") operations.push_back(operation);
  }
  const std::string tables[] = {"Open", "Secret"};
  const std::string several[] = {"TransactWriteItems", "TransactGetItems", "BatchExecuteStatement",
                                 "ExecuteTransaction"};
  int denied = 0;
  int allowed = 0;
  for (int i = 0; i < 4'000; ++i) {
    std::string operation(pick(operations));
    std::string body = BodyFor(operation, pick(tables), pick(names));
    if (std::ranges::find(several, operation) != std::end(several) && random() % 2 == 0) {
      // Appends the element of another request to the list.
      const std::string other = BodyFor(operation, "Secret", pick(names));
      const size_t begin = other.find('[') + 1;
      const std::string element = other.substr(begin, other.rfind(']') - begin);
      body.insert(body.rfind(']'), "," + element);
    }
    const JsonReply reply = AskAs(AdminOfOpen(), operation, body);
    denied += IsDenied(reply) ? 1 : 0;
    allowed += reply.http_status == 200 ? 1 : 0;
  }
  EXPECT_GT(denied, 500);
  EXPECT_GT(allowed, 200);
  EXPECT_EQ(Hidden(), before_);
}

}  // namespace
}  // namespace itemdb::testing
