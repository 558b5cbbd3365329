// Computes the expected HTTP answer from the gRPC answer to the same request.
#pragma once

#include <string>
#include <string_view>

#include "tests/processes/raw_client.h"
#include "tests/protocols/dynamodb_json.h"

namespace itemdb::protocols {

struct Answer {
  int http_status = 0;
  Json body;

  bool ok() const { return http_status == 200; }
  // The message of an error.
  std::string message() const { return body.value("message", ""); }
  bool operator==(const Answer&) const = default;
};

// An operation of DynamoDB and its gRPC method.
struct Method {
  std::string operation;
  // "itemdb.v1.Data/PutItem".
  std::string name;
  const google::protobuf::Message* request;
  const google::protobuf::Message* reply;
};
const Method& MethodOf(std::string_view operation);

// The bytes of the gRPC request that is equal to the JSON `request`.
std::string EncodeRequest(const Method& method, Json request);

// The expected HTTP answer; `request` is the JSON request.
Answer ExpectedAnswer(const Method& method, const Json& request, const e2e::RawReply& reply);

// `answer` without the parts that only HTTP returns for tables: ARNs, ids, times, and zeros.
Answer WithoutExtras(const Method& method, Answer answer);

}  // namespace itemdb::protocols
