#include "daemon/console/console_calls.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/access/request_access.h"
#include "daemon/http/api/errors.h"
#include "itemdb/v1/data.pb.h"
#include "itemdb/v1/tables.pb.h"
#include "storage/json/json_writer.h"

namespace itemdb::daemon {
namespace {

using http::JsonReply;
using storage::Database;
using storage::JsonWriter;

absl::Status ReadMessage(std::string_view json, google::protobuf::Message& message) {
  if (json.empty()) return absl::OkStatus();
  const auto read = google::protobuf::util::JsonStringToMessage({json.data(), json.size()}, &message);
  if (read.ok()) return absl::OkStatus();
  return storage::ValidationError(absl::StrCat("the body is not a ", message.GetDescriptor()->full_name(),
                                               " as JSON: ", std::string(read.message())));
}

JsonReply MessageReply(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  JsonReply reply;
  const auto written = google::protobuf::util::MessageToJsonString(message, &reply.body, options);
  return written.ok() ? std::move(reply) : http::ErrorReply(absl::InternalError(written.ToString()));
}

JsonReply ToReply(const google::protobuf::Message& message) { return MessageReply(message); }

// Encoded items and records are fields of the message that clients get.
template <typename Message>
JsonReply EncodedReply(const google::protobuf::MessageLite& reply, std::string_view encoded) {
  Message message;
  if (!message.ParseFromString(reply.SerializeAsString() + std::string(encoded)))
    return http::ErrorReply(absl::InternalError("a reply does not decode"));
  return MessageReply(message);
}
JsonReply ToReply(const storage::Page& page) {
  // QueryReply and ScanReply have the same fields.
  JsonReply reply = EncodedReply<v1::QueryReply>(page.reply, page.encoded_items);
  reply.items = ItemsOf(page);
  return reply;
}
JsonReply ToReply(const storage::WatchPage& page) {
  return EncodedReply<v1::WatchReply>(page.reply, page.encoded_records);
}

// Checks whether the caller may make `request`, calls `kOperation` of the database and answers.
template <auto kOperation, typename Request>
void CallDatabase(const ConsoleMethod& method, ConsoleCall call, Request request) {
  CallLogFields fields = LogFieldsOf(request);
  if (auto denied = CheckTables(call.caller, method.name, method.access, request)) {
    JsonReply reply = http::ErrorReply(denied->status);
    fields.table_name = std::move(denied->table_name);
    reply.log_fields = std::move(fields);
    return std::move(call.done)(std::move(reply));
  }
  auto answer = [done = std::move(call.done), fields = std::move(fields)](auto result) mutable {
    JsonReply reply = result.ok() ? ToReply(*result) : http::ErrorReply(result.status());
    reply.log_fields = std::move(fields);
    std::move(done)(std::move(reply));
  };
  Database& database = call.target.database;
  if constexpr (requires { answer((database.*kOperation)(request)); }) {
    answer((database.*kOperation)(request));
  } else if constexpr (requires {
                         (database.*kOperation)(std::move(request), std::move(answer), call.cancellation);
                       }) {
    (database.*kOperation)(std::move(request), std::move(answer), call.cancellation);
  } else {
    (database.*kOperation)(std::move(request), std::move(answer));
  }
}

// A method whose JSON is a `Request`.
template <typename Request, auto kOperation>
void Unary(const ConsoleMethod& method, ConsoleCall call) {
  Request request;
  if (absl::Status read = ReadMessage(call.body, request); !read.ok())
    return std::move(call.done)(http::ErrorReply(read));
  // With a storage id the database would not look at the name, by which access is decided.
  if constexpr (requires { request.clear_table_storage_id(); }) request.clear_table_storage_id();
  CallDatabase<kOperation>(method, std::move(call), std::move(request));
}

// The same for a request that the database takes in its wire form.
template <typename Request, auto kOperation>
void ReadPage(const ConsoleMethod& method, ConsoleCall call) {
  Request request;
  if (absl::Status read = ReadMessage(call.body, request); !read.ok())
    return std::move(call.done)(http::ErrorReply(read));
  wire::PageRequest wire;
  if (!wire.ParseFromString(request.SerializeAsString()))
    return std::move(call.done)(http::ErrorReply(storage::ValidationError("the request does not decode")));
  CallDatabase<kOperation>(method, std::move(call), std::move(wire));
}

void GetStatus(const ConsoleMethod&, ConsoleCall call) {
  v1::GetStatusRequest request;
  if (absl::Status read = ReadMessage(call.body, request); !read.ok())
    return std::move(call.done)(http::ErrorReply(read));
  const ConsoleTarget& target = call.target;
  std::move(call.done)(MessageReply(GetDaemonStatus(request, target.database, target.serving, target.info)));
}

void GetMetrics(const ConsoleMethod&, ConsoleCall call) {
  JsonReply reply;
  reply.body = call.target.metrics();
  std::move(call.done)(std::move(reply));
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

void ListSlowRequests(const ConsoleMethod&, ConsoleCall call) {
  const SlowRequestLog& log = call.target.serving.slow_log;
  const bool is_on = log.threshold() != std::chrono::steady_clock::duration::max();
  JsonReply reply;
  JsonWriter json(&reply.body);
  json.BeginObject().Name("threshold_ms");
  json.Real(is_on ? std::chrono::duration<double, std::milli>(log.threshold()).count() : 0);
  json.Name("requests").BeginArray();
  for (const SlowRequest& one : log.Recent()) {
    json.BeginObject();
    json.Name("time").String(TimeText(one.time)).Name("method").String(one.method);
    json.Name("table").String(one.table).Name("milliseconds").Real(one.milliseconds);
    json.Name("request_bytes").Integer(static_cast<int64_t>(one.request_bytes));
    json.Name("reply_bytes").Integer(static_cast<int64_t>(one.reply_bytes));
    json.Name("items").Integer(one.items).Name("code").String(one.code).EndObject();
  }
  json.EndArray().EndObject();
  std::move(call.done)(std::move(reply));
}

void ListAuditedCalls(const ConsoleMethod&, ConsoleCall call) {
  std::vector<RecentCall> calls = call.target.serving.audit.Recent();
  std::vector<RecentCall> own = call.target.own.audit.Recent();
  calls.insert(calls.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  std::stable_sort(calls.begin(), calls.end(),
                   [](const RecentCall& a, const RecentCall& b) { return a.time < b.time; });
  JsonReply reply;
  JsonWriter json(&reply.body);
  json.BeginObject();
  json.Name("has_file").Boolean(call.target.serving.audit.file() != nullptr);
  json.Name("calls").BeginArray();
  for (const RecentCall& one : calls) {
    json.BeginObject().Name("time").String(TimeText(one.time));
    json.Name("key_id").String(one.call.key_id).Name("peer").String(one.call.peer);
    json.Name("operation").String(one.call.operation).Name("table").String(one.call.table);
    json.Name("outcome").String(one.call.outcome).Name("reason").String(one.call.reason).EndObject();
  }
  json.EndArray().EndObject();
  std::move(call.done)(std::move(reply));
}

ConsoleMethod Method(std::string_view name, void (*run)(const ConsoleMethod&, ConsoleCall)) {
  return {.name = name, .access = AccessOfMethod(name), .run = run};
}
ConsoleMethod EditingMethod(std::string_view name, void (*run)(const ConsoleMethod&, ConsoleCall)) {
  return {.name = name, .access = AccessOfMethod(name), .needs_editing = true, .run = run};
}
ConsoleMethod PageMethod(std::string_view name, void (*run)(const ConsoleMethod&, ConsoleCall)) {
  return {.name = name, .access = AccessOfMethod(name), .large_replies = true, .run = run};
}

const std::vector<ConsoleMethod>& Methods() {
  static const auto* const methods = new std::vector<ConsoleMethod>{
      Method("itemdb.v1.Admin/GetStatus", GetStatus),
      Method("itemdb.v1.Admin/GetAccessPatterns",
             Unary<v1::GetAccessPatternsRequest, &Database::GetAccessPatterns>),
      EditingMethod("itemdb.v1.Admin/CheckDatabase",
                    Unary<v1::CheckDatabaseRequest, &Database::CheckDatabase>),
      Method("itemdb.v1.Admin/ListDatabaseBackups",
             Unary<v1::ListDatabaseBackupsRequest, &Database::ListDatabaseBackups>),
      EditingMethod("itemdb.v1.Admin/CreateDatabaseBackup",
                    Unary<v1::CreateDatabaseBackupRequest, &Database::CreateDatabaseBackup>),
      EditingMethod("itemdb.v1.Admin/VerifyDatabaseBackup",
                    Unary<v1::VerifyDatabaseBackupRequest, &Database::VerifyDatabaseBackup>),
      Method("itemdb.v1.Admin/ListDamage", Unary<v1::ListDamageRequest, &Database::ListDamage>),
      Method("itemdb.v1.Tables/DescribeTable", Unary<v1::DescribeTableRequest, &Database::DescribeTable>),
      PageMethod("itemdb.v1.Data/Query", ReadPage<v1::QueryRequest, &Database::Query>),
      PageMethod("itemdb.v1.Data/Scan", ReadPage<v1::ScanRequest, &Database::Scan>),
      PageMethod("itemdb.v1.Changes/ReadChanges", Unary<v1::ReadChangesRequest, &Database::ReadChanges>),
      PageMethod("itemdb.v1.Changes/Watch", Unary<v1::WatchRequest, &Database::WatchChanges>),
      EditingMethod("itemdb.v1.Changes/UndoChanges", Unary<v1::UndoChangesRequest, &Database::UndoChanges>),
      {.name = "console.ListSlowRequests",
       .access = {.role = Role::kRead, .scope = Scope::kDatabase},
       .run = ListSlowRequests},
      {.name = "console.ListAuditedCalls",
       .access = {.role = Role::kAdmin, .scope = Scope::kDatabase},
       .run = ListAuditedCalls},
      {.name = "console.GetMetrics",
       .access = {.role = Role::kRead, .scope = Scope::kDatabase},
       .content_type = "text/plain; charset=utf-8",
       .run = GetMetrics},
  };
  return *methods;
}

}  // namespace

const ConsoleMethod* FindConsoleMethod(std::string_view name) {
  const auto found = std::find_if(Methods().begin(), Methods().end(),
                                  [name](const ConsoleMethod& one) { return one.name == name; });
  return found == Methods().end() ? nullptr : &*found;
}

}  // namespace itemdb::daemon
