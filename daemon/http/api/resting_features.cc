#include "daemon/http/api/resting_features.h"

#include "absl/strings/str_cat.h"

namespace itemdb::http::json {
namespace {

// A request about one table.
struct AboutTable {
  std::string table_name;
};

absl::StatusOr<AboutTable> ReadAboutTable(const JsonObject& object) {
  return AboutTable{std::string(TextOf(object, "TableName"))};
}

absl::StatusOr<v1::DescribeTableReply> Describe(JsonCall& call, const std::string& table_name) {
  v1::DescribeTableRequest request;
  request.set_table_name(table_name);
  return call.database.DescribeTable(request);
}

// Answers with an object that has the members that `write` writes.
template <typename Write>
void AnswerWith(JsonAnswer answer, Write write) {
  std::string body;
  storage::JsonWriter writer(&body);
  writer.BeginObject();
  write(&writer);
  writer.EndObject();
  std::move(answer).Succeed(std::move(body));
}

// Answers a list that is always empty.
void AnswerEmptyList(JsonCall call, std::string_view name) {
  // No reply has a token that a request could return.
  if (HasMember(call.document->root(), "NextToken"))
    return std::move(call.answer)
        .Fail(storage::ValidationError("Invalid Request: Provided nextToken is invalid"));
  AnswerWith(std::move(call.answer),
             [name](storage::JsonWriter* writer) { writer->Name(name).BeginArray().EndArray(); });
}

// ---- streams to Kinesis

void ExecuteDescribeKinesis(JsonCall call, const AboutTable& request) {
  auto reply = Describe(call, request.table_name);
  if (!reply.ok()) return std::move(call.answer).Fail(reply.status());
  AnswerWith(std::move(call.answer), [&](storage::JsonWriter* writer) {
    writer->Name("TableName").String(reply->table().table_name());
    writer->Name("KinesisDataStreamDestinations").BeginArray().EndArray();
  });
}

// ---- policies

struct AboutPolicy {
  // An ARN.
  std::string table_name;
  bool must_exist = true;
};

absl::StatusOr<AboutPolicy> ReadGetPolicy(const JsonObject& object) {
  return AboutPolicy{std::string(TextOf(object, "ResourceArn"))};
}

// Without an expected revision the service deletes a policy that does not exist too.
absl::StatusOr<AboutPolicy> ReadDeletePolicy(const JsonObject& object) {
  return AboutPolicy{std::string(TextOf(object, "ResourceArn")), HasMember(object, "ExpectedRevisionId")};
}

void ExecutePolicy(JsonCall call, const AboutPolicy& request) {
  if (absl::Status found = Describe(call, request.table_name).status(); !found.ok())
    return std::move(call.answer).Fail(found);
  if (!request.must_exist) return AnswerWith(std::move(call.answer), [](storage::JsonWriter*) {});
  std::move(call.answer)
      .Send(ErrorReply(400, "PolicyNotFoundException",
                       absl::StrCat("Resource-based policy not found for the provided ResourceArn: ",
                                    request.table_name)));
}

}  // namespace

void ListGlobalTables(JsonCall call) { AnswerEmptyList(std::move(call), "GlobalTables"); }
void DescribeKinesisStreamingDestination(JsonCall call) {
  HandleOperation<ReadAboutTable, ExecuteDescribeKinesis>(std::move(call));
}
void GetResourcePolicy(JsonCall call) { HandleOperation<ReadGetPolicy, ExecutePolicy>(std::move(call)); }
void DeleteResourcePolicy(JsonCall call) {
  HandleOperation<ReadDeletePolicy, ExecutePolicy>(std::move(call));
}

}  // namespace itemdb::http::json
