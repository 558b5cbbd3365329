// DynamoDB's JSON protocol, from request body to reply body, without connections, headers and signatures.
//
// Thread-safe. No function waits for the disk.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "daemon/access/access_keys.h"
#include "daemon/serving/call_log_fields.h"
#include "daemon/serving/serving_context.h"
#include "storage/base/cancellation.h"
#include "storage/database.h"

namespace itemdb::http {

// The parser may read this many bytes after the end of a body; the body's string must have the capacity.
inline constexpr size_t kJsonPadding = 64;

struct JsonOperation;
class ParserMemory;
class ShownStatuses;

// The operation that the header X-Amz-Target names, e.g. "DynamoDB_20120810.PutItem"; null for an unknown
// name (OP-64: UnknownOperationException).
const JsonOperation* FindOperation(std::string_view target);
// The values of X-Amz-Target for all operations.
std::vector<std::string> OperationTargets();
// "PutItem".
std::string_view NameOf(const JsonOperation& operation);
daemon::OperationAccess AccessOf(const JsonOperation& operation);
inline daemon::Role RoleOf(const JsonOperation& operation) { return AccessOf(operation).role; }
// As HttpOperation::large_replies.
bool HasLargeReplies(const JsonOperation& operation);

struct JsonReply {
  unsigned http_status = 200;
  std::string body = {};
  // The Content-Encoding of `body`; empty: none. Operations do not compress; the connection does.
  std::string_view content_encoding = {};
  // For the log of slow calls: the name of the status code, the table and items of the request, the items in
  // the reply (negative: the reply does not count items).
  std::string code = "OK";
  // For counters: why the call failed, or the outcome of a false condition; empty: success. Lives as long as
  // the program.
  std::string_view reason = {};
  daemon::CallLogFields log_fields = {};
  int64_t items = -1;
};

class JsonApi {
 public:
  // The parsers of long requests are counted in `memory`. `address`, "HOST:PORT", is the reply of
  // DescribeEndpoints (OP-07). `status_delay`: how long CREATING, UPDATING and ENABLING are shown
  // (shown_statuses.h). `database` and `memory` are borrowed.
  JsonApi(storage::Database& database, daemon::CallMemory& memory, std::string address,
          std::chrono::milliseconds status_delay = std::chrono::milliseconds(0));
  // All calls must have been answered.
  ~JsonApi();
  JsonApi(const JsonApi&) = delete;
  JsonApi& operator=(const JsonApi&) = delete;

  // Answers the request `body`, whose capacity must include kJsonPadding more bytes. Calls `done` exactly
  // once, before Answer() returns or later on another thread. An invalid body gets an error. The caller must
  // have passed daemon::CheckOperation(); only checks that need the body are made here: those of its tables,
  // and of PartiQL statements.
  void Answer(const JsonOperation& operation, std::string body, daemon::Caller caller,
              storage::CancellationPtr cancellation, absl::AnyInvocable<void(JsonReply) &&> done);

 private:
  storage::Database& database_;
  const std::unique_ptr<ParserMemory> parser_memory_;
  const std::string address_;
  const std::unique_ptr<ShownStatuses> statuses_;
};

}  // namespace itemdb::http
