// DynamoDB's JSON protocol, from the body of a request to the body of its reply. Knows the database and JSON;
// nothing of connections, headers or signatures.
//
// Thread-safe. Nothing here blocks the caller on disk.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "daemon/access/access_keys.h"
#include "daemon/serving/call_facts.h"
#include "daemon/serving/calls.h"
#include "storage/base/cancellation.h"
#include "storage/database.h"

namespace itemdb {

// Bytes behind a body that the parser may read: reserve them.
inline constexpr size_t kJsonPadding = 64;

struct JsonOperation;
class ParserMemory;

// The operation that the header X-Amz-Target names, e.g. "DynamoDB_20120810.PutItem"; null when none is
// offered under that name (OP-64).
const JsonOperation* FindOperation(std::string_view target);
// Every target that has one.
std::vector<std::string> OperationTargets();
// "PutItem".
std::string_view NameOf(const JsonOperation& operation);
Role RoleOf(const JsonOperation& operation);

struct JsonReply {
  unsigned http_status = 200;
  std::string body = {};
  // For the log: the canonical name of what happened ("OK"), what the call was about, items in the reply
  // (negative: none).
  std::string code = "OK";
  CallFacts facts = {};
  int64_t items = -1;
};

class JsonApi {
 public:
  // What long requests take to be read is counted in `memory`. `address` is what DescribeEndpoints answers
  // (OP-07), "HOST:PORT". The others are borrowed.
  JsonApi(Database& database, CallMemory& memory, std::string address);
  // Every answer must have been given.
  ~JsonApi();
  JsonApi(const JsonApi&) = delete;
  JsonApi& operator=(const JsonApi&) = delete;

  // Answers `body`, which has room for kJsonPadding more bytes (its capacity), by calling `done` exactly
  // once: before it returns, or later on another thread. Any bytes are answered, at worst with an error.
  // `caller` may use the operation; what it may do with it is decided here where that depends on the body.
  void Answer(const JsonOperation& operation, std::string body, Caller caller, CancellationPtr cancellation,
              absl::AnyInvocable<void(JsonReply) &&> done);

 private:
  Database& database_;
  const std::unique_ptr<ParserMemory> parser_memory_;
  const std::string address_;
};

}  // namespace itemdb
