// What the page can call besides DynamoDB's JSON protocol: methods of gRPC's services with their messages as
// JSON, and what only the console shows. A call is named in X-Amz-Target, as in "itemdb.v1.Admin/GetStatus".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "daemon/http/api/json_api.h"
#include "daemon/serving/daemon_status.h"
#include "storage/database.h"

namespace itemdb::daemon {

// What calls work on. `own` is of the connections of the console's address, `serving` of all others.
struct ConsoleTarget {
  storage::Database& database;
  const ServingContext& own;
  const ServingContext& serving;
  DaemonInfo info;
  // Where clients reach this daemon: "HOST:PORT" or "unix:PATH"; empty: there is no such address.
  std::string grpc_address = "";
  std::string http_address = "";
  // The text of the page /metrics.
  std::function<std::string()> metrics;
};

struct ConsoleCall {
  const ConsoleTarget& target;
  std::string body;
  Caller caller;
  storage::CancellationPtr cancellation;
  absl::AnyInvocable<void(http::JsonReply) &&> done;
};

struct ConsoleMethod {
  // Lives as long as the program.
  std::string_view name;
  OperationAccess access;
  // It changes something or reads the whole database: refused in a session that is read-only.
  bool needs_editing = false;
  bool large_replies = false;
  std::string_view content_type = "application/json";
  void (*run)(const ConsoleMethod& method, ConsoleCall call) = nullptr;
};

// Null: there is no such method.
const ConsoleMethod* FindConsoleMethod(std::string_view name);

}  // namespace itemdb::daemon
