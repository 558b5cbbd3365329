#include "tests/metrics/metered_daemon.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <chrono>
#include <cmath>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/support/await.h"

namespace itemdb::metrics {
namespace {

constexpr std::chrono::seconds kPatience(20);

// Move by themselves, or by how long something takes.
bool IsFree(const std::string& name) {
  for (const char* part :
       {"process_", "itemdb_store_", "itemdb_memory_", "itemdb_disk_", "itemdb_commit_group_commits",
        "itemdb_commit_write_duration_seconds", "itemdb_check_", "itemdb_archive_lag_seconds",
        "itemdb_archive_oldest_timestamp_seconds", "itemdb_watch_lag_seconds", "itemdb_watcher_lag_",
        "itemdb_change_hold_age_seconds", "itemdb_build_info"}) {
    if (absl::StartsWith(name, part)) return true;
  }
  const std::string family = name.substr(0, name.find('{'));
  return absl::EndsWith(family, "_sum") || absl::EndsWith(family, "_bucket");
}

// The value of `label` in the name of a series.
std::string LabelOf(const std::string& name, const std::string& label) {
  const std::string begin = label + "=\"";
  const size_t at = name.find(begin);
  if (at == std::string::npos) return "";
  return name.substr(at + begin.size(), name.find('"', at + begin.size()) - at - begin.size());
}

std::string Listed(const Series& series) {
  std::string text;
  for (const auto& [name, value] : series) absl::StrAppend(&text, "\n  ", name, " ", value);
  return text.empty() ? "\n  nothing" : text;
}

std::unique_ptr<google::protobuf::Message> NewMessage(const google::protobuf::Descriptor* type) {
  return std::unique_ptr<google::protobuf::Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
}

// What moved from one page to another. The series of a table that is gone do not count, but its gauges do.
Series Moved(const Series& before, const Series& after) {
  Series moved;
  std::set<std::string> tables;
  for (const auto& [name, value] : after) {
    if (absl::StartsWith(name, "itemdb_table_items{")) tables.insert(LabelOf(name, "table"));
    const auto earlier = before.find(name);
    const double by = value - (earlier == before.end() ? 0 : earlier->second);
    if (by != 0) moved[name] = by;
  }
  for (const auto& [name, value] : before) {
    const std::string table = LabelOf(name, "table");
    if (after.contains(name) || value == 0 || (!table.empty() && !tables.contains(table))) continue;
    moved[name] = -value;
  }
  return moved;
}

}  // namespace

std::vector<std::string> MeteredDaemon::NamesOf(const std::string& short_name) {
  if (short_name == "tables") return {"itemdb_tables"};
  if (short_name == "changes") return {"itemdb_changes_total", "itemdb_durable_changes_total"};
  if (short_name == "commits") return {"itemdb_commits_total"};
  if (short_name == "refused commits") return {"itemdb_commits_refused_total"};
  if (short_name == "streams") return {"itemdb_open_streams"};
  if (short_name == "watches") return {"itemdb_open_watches", "itemdb_watchers"};
  const size_t space = short_name.find(' ');
  const std::string kind = short_name.substr(0, space);
  if (space == std::string::npos || kind.find('{') != std::string::npos) return {short_name};
  const std::string of = short_name.substr(space + 1);
  const size_t dot = of.find('.');
  if (kind == "read" || kind == "write") {
    if (dot == std::string::npos)
      return {absl::StrCat("itemdb_table_consumed_", kind, "_units_total{table=\"", of, "\"}")};
    return {absl::StrCat("itemdb_index_consumed_", kind, "_units_total{table=\"", of.substr(0, dot),
                         "\",index=\"", of.substr(dot + 1), "\"}")};
  }
  const std::map<std::string, std::string> families = {{"items", "itemdb_table_items"},
                                                       {"bytes", "itemdb_table_bytes"},
                                                       {"indexes", "itemdb_table_indexes"},
                                                       {"expired", "itemdb_table_expired_items_total"}};
  return {absl::StrCat(families.at(kind), "{table=\"", of, "\"}")};
}

void MeteredDaemon::Start(std::vector<std::string> arguments) {
  for (const char* argument : {"--http-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"})
    arguments.push_back(argument);
  const absl::Status started = daemon_.Start(arguments);
  ASSERT_TRUE(started.ok()) << started;
  grpc_ = std::make_unique<e2e::RawClient>(daemon_.endpoint());
  http_ = std::make_unique<http::RawHttpClient>(daemon_.http_endpoint());
  LookAgain();
}

Series MeteredDaemon::Scrape() const {
  http::RawHttpClient client(daemon_.metrics_endpoint());
  EXPECT_TRUE(client.Send(absl::StrCat("GET /metrics HTTP/1.1\r\nHost: ", daemon_.metrics_endpoint(), "\r\n",
                                       scrape_headers_, "\r\n")));
  const http::RawReply page = client.ReadReply().value_or(http::RawReply());
  EXPECT_EQ(page.status, 200) << page.body;
  Series series;
  std::istringstream lines(page.body);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.rfind(' ');
    double value = 0;
    EXPECT_TRUE(absl::SimpleAtod(line.substr(space + 1), &value)) << line;
    if (!IsFree(line)) series[line.substr(0, space)] = value;
  }
  return series;
}

void MeteredDaemon::LookAgain() {
  // A call is in flight until a moment after its answer, and may be durable later.
  testing::Await([&] {
    before_ = Scrape();
    return before_["itemdb_requests_in_flight"] == 0 &&
           before_["itemdb_durable_changes_total"] == before_["itemdb_changes_total"];
  });
}

void MeteredDaemon::ExpectMoves(const Series& moves) {
  Series after, moved;
  const auto without_any = [&moves](Series series) {
    for (const auto& [name, by] : moves) {
      if (std::isnan(by)) series.erase(name);
    }
    return series;
  };
  const Series expected = without_any(moves);
  // An answer may arrive before it is counted, and work in the background ends later.
  const auto until = std::chrono::steady_clock::now() + kPatience;
  do {
    after = Scrape();
    moved = without_any(Moved(before_, after));
  } while (moved != expected && std::chrono::steady_clock::now() < until);
  before_ = after;
  Series unexpected = moved, missing = expected;
  for (const auto& [name, by] : expected) {
    const auto found = unexpected.find(name);
    if (found == unexpected.end() || found->second != by) continue;
    unexpected.erase(found);
    missing.erase(name);
  }
  if (unexpected.empty() && missing.empty()) return;
  ADD_FAILURE() << "expected:" << Listed(missing) << "\ninstead moved:" << Listed(unexpected);
}

std::string MeteredDaemon::Filled(std::string request) const {
  for (const auto& [name, value] : kept_)
    request = absl::StrReplaceAll(request, {{absl::StrCat("@", name, "@"), value}});
  return request;
}

MeteredDaemon::Outcome MeteredDaemon::Call(const Step& step) {
  Outcome outcome;
  const std::string request = Filled(step.request);
  const size_t slash = step.operation.find('/');
  if (slash == std::string::npos) {
    const bool of_streams = step.operation.find("Stream") != std::string::npos &&
                            step.operation.find("Kinesis") == std::string::npos;
    const bool of_shards = step.operation == "GetShardIterator" || step.operation == "GetRecords";
    std::string bytes = http::PostRequest(step.operation, request);
    if (of_streams || of_shards)
      bytes = absl::StrReplaceAll(bytes, {{"DynamoDB_2012", "DynamoDBStreams_2012"}});
    EXPECT_TRUE(http_->Send(bytes));
    const http::RawReply reply = http_->ReadReply().value_or(http::RawReply());
    outcome.request_bytes = static_cast<int64_t>(request.size());
    outcome.reply_bytes = static_cast<int64_t>(reply.body.size());
    outcome.reply = Json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
    if (reply.status != 200) outcome.error = absl::StrCat(reply.status, " ", reply.body);
    return outcome;
  }
  const auto* method = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      absl::StrCat("itemdb.v1.", absl::StrReplaceAll(step.operation, {{"/", "."}})));
  if (method == nullptr) {
    ADD_FAILURE() << "no such method";
    return outcome;
  }
  const auto message = NewMessage(method->input_type());
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(request, message.get())) << request;
  const std::string bytes = message->SerializeAsString();
  const e2e::RawReply reply = grpc_->Call("itemdb.v1." + step.operation, bytes);
  outcome.request_bytes = static_cast<int64_t>(bytes.size());
  outcome.reply_bytes = static_cast<int64_t>(reply.bytes.size());
  if (!reply.status.ok()) outcome.error = absl::StrCat(reply.reason, ": ", reply.status.error_message());
  const auto answer = NewMessage(method->output_type());
  std::string json;
  EXPECT_TRUE(answer->ParseFromString(reply.bytes));
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(*answer, &json, options).ok());
  outcome.reply = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  return outcome;
}

void MeteredDaemon::AddCall(const std::string& protocol, const Step& step, int64_t request_bytes,
                            int64_t reply_bytes, Series* moves) const {
  const auto add = [moves](const std::string& name, double by) {
    if (by != 0) (*moves)[name] += by;
  };
  const std::string operation = step.operation.substr(step.operation.find('/') + 1);
  const std::string labels = absl::StrCat("{protocol=\"", protocol, "\",operation=\"", operation, "\"");
  add(absl::StrCat("itemdb_request_duration_seconds_count", labels, "}"), 1);
  add(absl::StrCat("itemdb_request_bytes_total", labels, "}"), static_cast<double>(request_bytes));
  add(absl::StrCat("itemdb_reply_bytes_total", labels, "}"), static_cast<double>(reply_bytes));
  add(absl::StrCat("itemdb_returned_items_total", labels, "}"), step.items);
  if (!step.reason.empty())
    add(absl::StrCat("itemdb_request_failures_total", labels, ",reason=\"", step.reason, "\"}"), 1);
  if (!step.table.empty()) {
    const std::string of_table = absl::StrCat("{table=\"", step.table, "\",operation=\"", operation, "\"");
    if (step.reason.empty()) {
      add(absl::StrCat("itemdb_table_request_duration_seconds_count", of_table, "}"), 1);
    } else {
      add(absl::StrCat("itemdb_table_request_failures_total", of_table, ",reason=\"", step.reason, "\"}"), 1);
    }
    add(absl::StrCat("itemdb_table_reply_bytes_total", of_table, "}"), static_cast<double>(reply_bytes));
    add(absl::StrCat("itemdb_table_returned_items_total", of_table, "}"), step.items);
  }
  for (const auto& [name, by] : step.moves) {
    for (const std::string& series : NamesOf(name)) add(series, by);
  }
}

void MeteredDaemon::Run(const Step& step) {
  SCOPED_TRACE(absl::StrCat(step.operation, " ", step.request));
  Outcome outcome = Call(step);
  if (!step.until.first.empty()) {
    const Json::json_pointer pointer(step.until.first);
    EXPECT_TRUE(testing::Await([&] {
      outcome = Call(step);
      return outcome.reply.contains(pointer) && outcome.reply[pointer] == step.until.second;
    })) << outcome.reply;
    LookAgain();
    return;
  }
  // Over gRPC a false condition is an answer.
  const bool is_answer =
      step.operation.find('/') != std::string::npos &&
      (step.reason == "CONDITIONAL_CHECK_FAILED" || step.reason == "TRANSACTION_CANCELLED");
  EXPECT_EQ(outcome.error.empty(), step.reason.empty() || is_answer) << outcome.error << outcome.reply;
  for (const auto& [name, pointer] : step.keeps) {
    const Json::json_pointer at(pointer);
    if (!outcome.reply.contains(at)) {
      ADD_FAILURE() << "no " << pointer << " in " << outcome.reply;
      continue;
    }
    const Json& kept = outcome.reply[at];
    kept_[name] = kept.is_string() ? kept.get<std::string>() : kept.dump();
  }
  Series moves;
  AddCall(step.operation.find('/') == std::string::npos ? "http" : "grpc", step, outcome.request_bytes,
          outcome.reply_bytes, &moves);
  ExpectMoves(moves);
}

}  // namespace itemdb::metrics
