// A JsonApi with a database in a temporary directory, called synchronously.
#pragma once

#include <chrono>
#include <future>
#include <string>

#include "daemon/http/api/json_api.h"
#include "gtest/gtest.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {

// Tests name the types of daemon/http as daemon/http itself does.
using namespace http;

class JsonFixture {
 public:
  explicit JsonFixture(std::chrono::milliseconds status_delay = std::chrono::milliseconds(0))
      : api_(*database_, memory_, "127.0.0.1:8000", status_delay) {}

  JsonApi& api() { return api_; }
  daemon::CallMemory& memory() { return memory_; }
  storage::Database& database() { return *database_; }
  const std::string& data_directory() const { return database_.options().data_directory; }

  // The reply of `operation`, e.g. "PutItem", which must exist.
  JsonReply Ask(const std::string& operation, std::string body, daemon::Caller caller = daemon::Caller()) {
    const JsonOperation* found = FindOperation("DynamoDB_20120810." + operation);
    if (found == nullptr) found = FindOperation("DynamoDBStreams_20120810." + operation);
    if (found == nullptr) {
      ADD_FAILURE() << operation << " is not offered";
      return {};
    }
    body.reserve(body.size() + kJsonPadding);
    std::promise<JsonReply> promise;
    auto future = promise.get_future();
    api_.Answer(*found, std::move(body), std::move(caller), nullptr,
                [&promise](JsonReply reply) { promise.set_value(std::move(reply)); });
    return future.get();
  }

  // Expects success; returns the body of the reply.
  std::string Succeed(const std::string& operation, const std::string& body) {
    JsonReply reply = Ask(operation, body);
    EXPECT_EQ(reply.http_status, 200u) << operation << " " << body << "\n" << reply.body;
    return reply.body;
  }

  // Expects a client error (400); returns the body of the reply.
  std::string Fail(const std::string& operation, const std::string& body) {
    JsonReply reply = Ask(operation, body);
    EXPECT_EQ(reply.http_status, 400u) << operation << " " << body << "\n" << reply.body;
    return reply.body;
  }

 private:
  TestDatabase database_;
  daemon::CallMemory memory_{size_t{64} << 20};
  JsonApi api_;
};

// The table Things with the string keys pk and sk.
inline constexpr char kCreateThings[] = R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",
  "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],
  "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]})";

// The bodies of error replies.
inline std::string DetailMember(const std::string& detail) {
  return detail.empty() ? "" : R"(,"Detail":")" + detail + "\"";
}
inline std::string ValidationBody(const std::string& message, const std::string& detail = "") {
  return R"({"__type":"com.amazon.coral.validate#ValidationException","message":")" + message + "\"" +
         DetailMember(detail) + "}";
}
inline std::string SerializationBody(const std::string& message, const std::string& detail = "") {
  return R"({"__type":"com.amazon.coral.service#SerializationException","Message":")" + message + "\"" +
         DetailMember(detail) + "}";
}

}  // namespace itemdb::testing
