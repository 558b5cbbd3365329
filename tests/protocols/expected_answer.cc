#include "tests/protocols/expected_answer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "daemon/http/api/errors.h"
#include "itemdb/v1/data.pb.h"
#include "itemdb/v1/tables.pb.h"
#include "storage/base/service_text.h"
#include "storage/base/status.h"
#include "tests/support/error_details.h"

namespace itemdb::protocols {
namespace {

template <typename Request, typename Reply>
Method MakeMethod(const std::string& operation, const std::string& name) {
  return {operation, "itemdb.v1." + name, &Request::default_instance(), &Reply::default_instance()};
}

const std::vector<Method>& Methods() {
  using namespace v1;
  static const auto* methods = new std::vector<Method>{
      MakeMethod<PutItemRequest, PutItemReply>("PutItem", "Data/PutItem"),
      MakeMethod<GetItemRequest, GetItemReply>("GetItem", "Data/GetItem"),
      MakeMethod<UpdateItemRequest, UpdateItemReply>("UpdateItem", "Data/UpdateItem"),
      MakeMethod<DeleteItemRequest, DeleteItemReply>("DeleteItem", "Data/DeleteItem"),
      MakeMethod<QueryRequest, QueryReply>("Query", "Data/Query"),
      MakeMethod<ScanRequest, ScanReply>("Scan", "Data/Scan"),
      MakeMethod<SearchVectorsRequest, SearchVectorsReply>("SearchVectors", "Data/SearchVectors"),
      MakeMethod<BatchGetItemRequest, BatchGetItemReply>("BatchGetItem", "Data/BatchGetItem"),
      MakeMethod<BatchWriteItemRequest, BatchWriteItemReply>("BatchWriteItem", "Data/BatchWriteItem"),
      MakeMethod<TransactGetItemsRequest, TransactGetItemsReply>("TransactGetItems", "Data/TransactGetItems"),
      MakeMethod<TransactWriteItemsRequest, TransactWriteItemsReply>("TransactWriteItems",
                                                                     "Data/TransactWriteItems"),
      MakeMethod<ExecuteStatementRequest, ExecuteStatementReply>("ExecuteStatement", "Data/ExecuteStatement"),
      MakeMethod<BatchExecuteStatementRequest, BatchExecuteStatementReply>("BatchExecuteStatement",
                                                                           "Data/BatchExecuteStatement"),
      MakeMethod<ExecuteTransactionRequest, ExecuteTransactionReply>("ExecuteTransaction",
                                                                     "Data/ExecuteTransaction"),
      MakeMethod<CreateTableRequest, CreateTableReply>("CreateTable", "Tables/CreateTable"),
      MakeMethod<UpdateTableRequest, UpdateTableReply>("UpdateTable", "Tables/UpdateTable"),
      MakeMethod<DeleteTableRequest, DeleteTableReply>("DeleteTable", "Tables/DeleteTable"),
      MakeMethod<DescribeTableRequest, DescribeTableReply>("DescribeTable", "Tables/DescribeTable"),
      MakeMethod<ListTablesRequest, ListTablesReply>("ListTables", "Tables/ListTables"),
      MakeMethod<TagTableRequest, TagTableReply>("TagResource", "Tables/TagTable"),
      MakeMethod<UntagTableRequest, UntagTableReply>("UntagResource", "Tables/UntagTable"),
      MakeMethod<DescribeTableRequest, DescribeTableReply>("ListTagsOfResource", "Tables/DescribeTable"),
      MakeMethod<UpdateTimeToLiveRequest, UpdateTimeToLiveReply>("UpdateTimeToLive",
                                                                 "Tables/UpdateTimeToLive"),
      MakeMethod<DescribeTimeToLiveRequest, DescribeTimeToLiveReply>("DescribeTimeToLive",
                                                                     "Tables/DescribeTimeToLive"),
      MakeMethod<DescribeLimitsRequest, DescribeLimitsReply>("DescribeLimits", "Tables/DescribeLimits"),
  };
  return *methods;
}

struct Exception {
  grpc::StatusCode code;
  int http_status;
  std::string type;
};

const std::string kService = "com.amazonaws.dynamodb.v20120810#";

// The exceptions by reason (the ERR rows of docs/rules.md) that occur in these tests.
const std::map<std::string, Exception>& Exceptions() {
  using grpc::StatusCode;
  static const auto* exceptions = new std::map<std::string, Exception>{
      {"VALIDATION", {StatusCode::INVALID_ARGUMENT, 400, "com.amazon.coral.validate#ValidationException"}},
      {"RESOURCE_NOT_FOUND", {StatusCode::NOT_FOUND, 400, kService + "ResourceNotFoundException"}},
      {"RESOURCE_IN_USE", {StatusCode::ALREADY_EXISTS, 400, kService + "ResourceInUseException"}},
      {"LIMIT_EXCEEDED", {StatusCode::RESOURCE_EXHAUSTED, 400, kService + "LimitExceededException"}},
      {"DUPLICATE_ITEM", {StatusCode::ALREADY_EXISTS, 400, kService + "DuplicateItemException"}},
      {"IDEMPOTENT_PARAMETER_MISMATCH",
       {StatusCode::INVALID_ARGUMENT, 400, kService + "IdempotentParameterMismatchException"}},
  };
  return *exceptions;
}

// The codes for single statements and actions, by reason.
const std::map<std::string, std::string>& Codes() {
  static const auto* codes = new std::map<std::string, std::string>{
      {"CONDITIONAL_CHECK_FAILED", "ConditionalCheckFailed"},
      {"VALIDATION", "ValidationError"},
      {"VALIDATION_ERROR", "ValidationError"},
      {"RESOURCE_NOT_FOUND", "ResourceNotFound"},
      {"DUPLICATE_ITEM", "DuplicateItem"},
      {"NONE", "None"},
  };
  return *codes;
}

std::string CodeOf(const Json& reason) {
  const auto found = Codes().find(reason.get<std::string>());
  EXPECT_NE(found, Codes().end()) << reason;
  return found == Codes().end() ? "" : found->second;
}

Answer ExpectedError(const Method& method, const Json& request, const e2e::RawReply& reply) {
  const ErrorDetails details = DetailsOf(reply.status);
  const auto found = Exceptions().find(details.reason);
  if (found == Exceptions().end()) {
    ADD_FAILURE() << "unexpected reason " << details.reason << ": " << reply.status.error_message();
    return {};
  }
  EXPECT_EQ(reply.status.error_code(), found->second.code);
  // The status in the daemon, of which gRPC sends all parts.
  absl::Status status = storage::WithRule(
      details.rule, storage::MakeError(static_cast<absl::StatusCode>(reply.status.error_code()),
                                       details.reason, reply.status.error_message()));
  if (details.service_text.has_value())
    status = storage::WithServiceText(*details.service_text, std::move(status));
  // The operations on tags name a table by its ARN, also over HTTP only.
  if (details.reason == "RESOURCE_NOT_FOUND" && request.contains("ResourceArn")) {
    status = storage::WithServiceText("Requested resource not found: ResourceArn: " +
                                          request["ResourceArn"].get<std::string>() + " not found",
                                      std::move(status));
  }
  const http::JsonReply expected = http::ErrorReply(status, method.operation);
  Answer answer{static_cast<int>(expected.http_status), Json::parse(expected.body)};
  EXPECT_EQ(answer.body["__type"], found->second.type);
  return answer;
}

Answer ConditionFailed(const Json& failed) {
  Answer answer{400,
                {{"__type", kService + "ConditionalCheckFailedException"},
                 {"message", "The conditional request failed"}}};
  if (failed.contains("Item")) answer.body["Item"] = failed["Item"];
  return answer;
}

Answer Cancelled(const Json& cancelled) {
  Json reasons = Json::array();
  std::string codes;
  for (Json reason : cancelled["Reasons"]) {
    reason["Code"] = CodeOf(reason["Code"]);
    codes += (codes.empty() ? "" : ", ") + reason["Code"].get<std::string>();
    reasons.push_back(reason);
  }
  return {400,
          {{"__type", kService + "TransactionCanceledException"},
           {"message",
            "Transaction cancelled, please refer cancellation reasons for specific reasons [" + codes + "]"},
           {"CancellationReasons", reasons}}};
}

// ---- tables

void FillIndex(bool global, Json* index) {
  if (index->contains("Projection") && (*index)["Projection"].contains("NonKeyAttributes")) {
    Json& names = (*index)["Projection"]["NonKeyAttributes"];
    std::sort(names.begin(), names.end());
  }
  for (const char* number : {"ItemCount", "IndexSizeBytes"}) (*index)[number] = index->value(number, 0);
  index->erase("ProvisionedThroughput");
  if (index->contains("WarmThroughput")) (*index)["WarmThroughput"]["Status"] = (*index)["IndexStatus"];
  if (!global) index->erase("IndexStatus");
}

// The description of a table as the service returns it, including settings without effect (SEM-099).
Json DescribedTable(Json table) {
  // The service lists attributes by name.
  if (table.contains("AttributeDefinitions")) {
    std::sort(table["AttributeDefinitions"].begin(), table["AttributeDefinitions"].end(),
              [](const Json& a, const Json& b) { return a["AttributeName"] < b["AttributeName"]; });
  }
  for (const char* number : {"ItemCount", "TableSizeBytes"}) table[number] = table.value(number, 0);
  table["DeletionProtectionEnabled"] = table.value("DeletionProtectionEnabled", false);
  for (const char* only_in_grpc : {"CreationTimeMs", "TableId", "StreamViewType", "Tags"})
    table.erase(only_in_grpc);
  const std::string billing = table.value("BillingMode", "");
  table.erase("BillingMode");
  // A table that was never on demand has no summary.
  if (table.contains("LastUpdateToPayPerRequestTimeMs"))
    table["BillingModeSummary"] = {{"BillingMode", billing}};
  table.erase("LastUpdateToPayPerRequestTimeMs");
  // The service does not show the default.
  if (table.value("TableClass", "STANDARD") != "STANDARD")
    table["TableClassSummary"] = {{"TableClass", table["TableClass"]}};
  table.erase("TableClass");
  if (table.contains("SSESpecification")) {
    const Json sse = table["SSESpecification"];
    if (sse.value("Enabled", false)) {
      table["SSEDescription"] = {{"Status", "ENABLED"}, {"SSEType", sse.value("SSEType", "KMS")}};
      if (sse.contains("KMSMasterKeyId")) table["SSEDescription"]["KMSMasterKeyArn"] = sse["KMSMasterKeyId"];
    }
    table.erase("SSESpecification");
  }
  if (table.contains("WarmThroughput")) table["WarmThroughput"]["Status"] = "ACTIVE";
  for (const char* kind : {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"}) {
    if (!table.contains(kind)) continue;
    for (Json& index : table[kind]) FillIndex(kind[0] == 'G', &index);
  }
  if (!table.contains("ProvisionedThroughput"))
    table["ProvisionedThroughput"] = {{"ReadCapacityUnits", 0}, {"WriteCapacityUnits", 0}};
  return table;
}

// What the reply of DeleteTable says of a table.
Json DeletedTable(const Json& table) {
  Json deleted;
  for (const char* member : {"TableName", "TableStatus", "ProvisionedThroughput", "TableSizeBytes",
                             "ItemCount", "BillingModeSummary", "DeletionProtectionEnabled"}) {
    if (table.contains(member)) deleted[member] = table[member];
  }
  return deleted;
}

// ---- replies that have something always

Json WithAlways(const Method& method, const Json& request, Json reply) {
  const std::string& operation = method.operation;
  const auto always = [&reply](const char* name, Json empty) {
    if (!reply.contains(name)) reply[name] = std::move(empty);
  };
  if (operation == "Query" || operation == "Scan") {
    always("Count", 0);
    always("ScannedCount", 0);
    // Select COUNT returns no Items member (SEM-036).
    if (request.value("Select", "") != "COUNT") always("Items", Json::array());
  }
  if (operation == "BatchGetItem") {
    always("Responses", Json::object());
    always("UnprocessedKeys", Json::object());
  }
  if (operation == "BatchWriteItem") always("UnprocessedItems", Json::object());
  if (operation == "ExecuteStatement") always("Items", Json::array());
  if (operation == "TransactGetItems" || operation == "BatchExecuteStatement" ||
      operation == "ExecuteTransaction")
    always("Responses", Json::array());
  if (operation == "ListTables") always("TableNames", Json::array());
  if (operation == "BatchExecuteStatement") {
    for (Json& response : reply["Responses"]) {
      if (!response.contains("Error")) continue;
      response["Error"]["Code"] = CodeOf(response["Error"]["Reason"]);
      // gRPC has our text, HTTP the service's only.
      if (response["Error"].contains("ServiceText"))
        response["Error"]["Message"] = response["Error"]["ServiceText"];
      response["Error"].erase("ServiceText");
      if (response["Error"]["Reason"] == "RESOURCE_NOT_FOUND")
        response["Error"]["Message"] = "Requested resource not found";
      response["Error"].erase("Reason");
    }
  }
  return reply;
}

}  // namespace

const Method& MethodOf(std::string_view operation) {
  for (const Method& method : Methods()) {
    if (method.operation == operation) return method;
  }
  ADD_FAILURE() << operation << " is no operation";
  return Methods().front();
}

std::string EncodeRequest(const Method& method, Json request) {
  if (request.contains("ResourceArn")) {
    request["TableName"] = request["ResourceArn"];
    request.erase("ResourceArn");
  }
  if (method.operation == "TransactGetItems") {
    for (Json& item : request["TransactItems"]) item = item["Get"];
  }
  if (request.contains("GlobalSecondaryIndexUpdates")) {
    for (const Json& update : request["GlobalSecondaryIndexUpdates"])
      request["GlobalSecondaryIndexThroughputs"].push_back(update["Update"]);
    request.erase("GlobalSecondaryIndexUpdates");
  }
  const std::unique_ptr<google::protobuf::Message> message(method.request->New());
  FromDynamoDbJson(request, message.get());
  return message->SerializeAsString();
}

Answer ExpectedAnswer(const Method& method, const Json& request, const e2e::RawReply& reply) {
  if (!reply.status.ok()) return ExpectedError(method, request, reply);
  const std::unique_ptr<google::protobuf::Message> message(method.reply->New());
  EXPECT_TRUE(message->ParseFromString(reply.bytes));
  Json json = ToDynamoDbJson(*message);
  if (json.contains("ConditionFailed")) return ConditionFailed(json["ConditionFailed"]);
  if (json.contains("Cancelled")) return Cancelled(json["Cancelled"]);
  json.erase("Committed");
  if (json.contains("Result")) {
    const Json result = json["Result"];
    json.erase("Result");
    json.update(result);
  }
  if (method.operation == "ListTagsOfResource") {
    Json tags = json["Table"].value("Tags", Json::array());
    for (Json& tag : tags) tag["Value"] = tag.value("Value", "");
    return {200, {{"Tags", tags}}};
  }
  if (method.operation == "DescribeTimeToLive") {
    for (const char* only_in_grpc : {"Build", "ItemsWithTime", "ItemsExpired"}) json.erase(only_in_grpc);
    return {200, {{"TimeToLiveDescription", json}}};
  }
  if (method.operation == "UpdateTimeToLive") {
    Json& specification = json["TimeToLiveSpecification"];
    specification["Enabled"] = specification.value("Enabled", false);
  }
  if (json.contains("Table") && json["Table"].contains("TableName")) {
    Json table = DescribedTable(json["Table"]);
    if (method.operation == "DeleteTable") table = DeletedTable(table);
    return {200, {{method.operation == "DescribeTable" ? "Table" : "TableDescription", table}}};
  }
  return {200, WithAlways(method, request, std::move(json))};
}

Answer WithoutExtras(const Method& method, Answer answer) {
  const char* member = method.operation == "DescribeTable" ? "Table" : "TableDescription";
  if (!answer.ok() || !answer.body.contains(member)) return answer;
  Json& table = answer.body[member];
  for (const char* extra : {"CreationDateTime", "TableArn", "TableId"}) {
    EXPECT_EQ(table.contains(extra), method.operation != "DeleteTable" || extra[0] == 'T') << extra;
    table.erase(extra);
  }
  if (table.contains("BillingModeSummary")) {
    EXPECT_TRUE(table["BillingModeSummary"].contains("LastUpdateToPayPerRequestDateTime"));
    table["BillingModeSummary"].erase("LastUpdateToPayPerRequestDateTime");
  }
  table["ProvisionedThroughput"].erase("NumberOfDecreasesToday");
  for (const char* kind : {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"}) {
    if (!table.contains(kind)) continue;
    for (Json& index : table[kind]) {
      index.erase("IndexArn");
      index.erase("ProvisionedThroughput");
    }
  }
  return answer;
}

}  // namespace itemdb::protocols
