// What HTTP should answer where gRPC answers this.
#pragma once

#include <string>

#include "tests/processes/raw_client.h"
#include "tests/protocols/dynamodb_json.h"

namespace itemdb::protocols {

struct Answer {
  int http_status = 0;
  Json body;

  bool ok() const { return http_status == 200; }
  // Of an error.
  std::string message() const { return body.value("message", ""); }
  bool operator==(const Answer&) const = default;
};

// An operation of DynamoDB and the method that is the same.
struct Method {
  std::string operation;
  // "itemdb.v1.Data/PutItem".
  std::string name;
  const google::protobuf::Message* request;
  const google::protobuf::Message* reply;
};
const Method& MethodOf(const std::string& operation);

// The bytes of the request that says the same.
std::string EncodeRequest(const Method& method, Json request);

// `request` as above.
Answer ExpectedAnswer(const Method& method, const Json& request, const e2e::RawReply& reply);

// `answer` without what only HTTP tells of tables: ARNs, ids, times, and zeros.
Answer WithoutExtras(const Method& method, Answer answer);

}  // namespace itemdb::protocols
