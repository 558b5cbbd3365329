#include "bench/time_to_live.h"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/percentiles.h"
#include "bench/seconds.h"
#include "bench/server_processes.h"
#include "itemdb/v1/changes.grpc.pb.h"
#include "itemdb/v1/data.grpc.pb.h"
#include "itemdb/v1/tables.grpc.pb.h"
#include "storage/base/limits.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;
constexpr int kCallers = 8;
constexpr int64_t kMicros = 1'000'000;
// From an item's put to its expiry.
constexpr int64_t kLifeMicros = 5 * kMicros;
constexpr double kLagGoalSeconds = 5;
constexpr char kSteadyTable[] = "steady";
constexpr char kBacklogTable[] = "backlog";

struct ExpiringDaemon {
  ServerProcess server;
  std::unique_ptr<v1::Data::Stub> data;
  std::unique_ptr<v1::Tables::Stub> tables;
  std::unique_ptr<v1::Changes::Stub> changes;

  static absl::StatusOr<ExpiringDaemon> Start(const std::string& directory) {
    ExpiringDaemon daemon;
    ITEMDB_ASSIGN_OR_RETURN(daemon.server,
                            StartItemdProcess(directory, /*durable=*/true, /*unix_socket=*/false));
    daemon.data = v1::Data::NewStub(daemon.server.channel);
    daemon.tables = v1::Tables::NewStub(daemon.server.channel);
    daemon.changes = v1::Changes::NewStub(daemon.server.channel);
    return daemon;
  }

  absl::Status Create(const std::string& name) {
    v1::CreateTableRequest request;
    request.set_table_name(name);
    request.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
    v1::AttributeDefinition* attribute = request.add_attribute_definitions();
    attribute->set_attribute_name("pk");
    attribute->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_N);
    v1::KeySchemaElement* element = request.add_key_schema();
    element->set_attribute_name("pk");
    element->set_key_type(v1::KEY_TYPE_HASH);
    grpc::ClientContext context;
    v1::CreateTableReply reply;
    return ToStatus(tables->CreateTable(&context, request, &reply));
  }

  absl::StatusOr<v1::DescribeTimeToLiveReply> Describe(const std::string& table) {
    v1::DescribeTimeToLiveRequest request;
    request.set_table_name(table);
    grpc::ClientContext context;
    v1::DescribeTimeToLiveReply reply;
    ITEMDB_RETURN_IF_ERROR(ToStatus(tables->DescribeTimeToLive(&context, request, &reply)));
    return reply;
  }

  // Turns the time to live on and returns when it is ENABLED.
  absl::Status Enable(Session& session, const std::string& table) {
    v1::UpdateTimeToLiveRequest request;
    request.set_table_name(table);
    request.mutable_time_to_live_specification()->set_enabled(true);
    request.mutable_time_to_live_specification()->set_attribute_name("expires");
    grpc::ClientContext context;
    v1::UpdateTimeToLiveReply reply;
    ITEMDB_RETURN_IF_ERROR(ToStatus(tables->UpdateTimeToLive(&context, request, &reply)));
    while (true) {
      ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
      ITEMDB_ASSIGN_OR_RETURN(v1::DescribeTimeToLiveReply described, Describe(table));
      if (described.time_to_live_status() == v1::TIME_TO_LIVE_STATUS_ENABLED) return absl::OkStatus();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  // Waits until the daemon has deleted `items` expired items, by its own count.
  absl::Status AwaitExpired(Session& session, const std::string& table, int64_t items) {
    while (true) {
      ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
      ITEMDB_ASSIGN_OR_RETURN(v1::DescribeTimeToLiveReply described, Describe(table));
      if (described.items_expired() >= items) return absl::OkStatus();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  // Puts the items `first` to `end` - 1; item i expires at expiry_us(i).
  absl::Status PutBatch(const std::string& table, int64_t first, int64_t end,
                        const std::function<int64_t(int64_t)>& expiry_us) {
    v1::BatchWriteItemRequest request;
    v1::TableWriteRequests* writes = request.add_request_items();
    writes->set_table_name(table);
    for (int64_t i = first; i < end; ++i) {
      v1::Item* item = writes->add_write_requests()->mutable_put_request()->mutable_item();
      const auto add = [item](const char* name) {
        v1::Attribute* attribute = item->add_attributes();
        attribute->set_name(name);
        return attribute->mutable_value();
      };
      add("pk")->set_n(std::to_string(i));
      add("text")->set_s(std::string(200, 'x'));
      std::string micros = std::to_string(expiry_us(i));
      add("expires")->set_n(micros.insert(micros.size() - 6, "."));
    }
    grpc::ClientContext context;
    v1::BatchWriteItemReply reply;
    return ToStatus(data->BatchWriteItem(&context, request, &reply));
  }

  // Puts the items 0 to `count` - 1 in batches, by several callers. `await_turn` blocks until the batch that
  // begins with item `first` is to be put.
  absl::Status Put(Session& session, const std::string& table, int64_t count,
                   const std::function<int64_t(int64_t)>& expiry_us,
                   const std::function<void(int64_t first)>& await_turn) {
    std::atomic<int64_t> next = 0;
    std::vector<absl::Status> statuses(kCallers);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < kCallers; ++caller) {
      callers.emplace_back([&, caller] {
        while (statuses[caller].ok()) {
          const int64_t first = next.fetch_add(storage::kMaxBatchWrites);
          if (first >= count) return;
          await_turn(first);
          statuses[caller] = session.CheckInterrupted();
          if (statuses[caller].ok())
            statuses[caller] =
                PutBatch(table, first, std::min(count, first + storage::kMaxBatchWrites), expiry_us);
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (const absl::Status& status : statuses) ITEMDB_RETURN_IF_ERROR(status);
    return absl::OkStatus();
  }

  // Calls `visit` with every change in the log.
  absl::Status ForEachChange(const std::function<void(const v1::ChangeRecord&)>& visit) {
    v1::ReadChangesRequest request;
    while (true) {
      grpc::ClientContext context;
      v1::ReadChangesReply reply;
      ITEMDB_RETURN_IF_ERROR(ToStatus(changes->ReadChanges(&context, request, &reply)));
      for (const v1::ChangeRecord& record : reply.records()) visit(record);
      if (reply.records().empty()) return absl::OkStatus();
      request.set_after_sequence(reply.records().rbegin()->change_sequence());
    }
  }
};

struct Steady {
  // Seconds from expiry to the commit of the deletion. For an item that was put after its expiry: from the
  // commit of the put.
  Percentiles lag_seconds;
  double deletes_per_second = 0;
  double puts_per_second = 0;
};

absl::StatusOr<Steady> MeasureSteady(Session& session, ExpiringDaemon& daemon,
                                     const TimeToLiveOptions& options) {
  ITEMDB_RETURN_IF_ERROR(daemon.Create(kSteadyTable));
  ITEMDB_RETURN_IF_ERROR(daemon.Enable(session, kSteadyTable));
  const auto count = std::max<int64_t>(1, static_cast<int64_t>(options.per_second * options.seconds));
  const int64_t begin_us = NowMicros();
  const auto put_us = [&](int64_t item) { return begin_us + item * kMicros / options.per_second; };
  const auto expiry_us = [&](int64_t item) { return put_us(item) + kLifeMicros; };
  ITEMDB_RETURN_IF_ERROR(daemon.Put(session, kSteadyTable, count, expiry_us, [&](int64_t first) {
    const int64_t early = put_us(first) - NowMicros();
    if (early > 0) std::this_thread::sleep_for(std::chrono::microseconds(early));
  }));
  const double put_seconds = static_cast<double>(NowMicros() - begin_us) / kMicros;
  ITEMDB_RETURN_IF_ERROR(daemon.AwaitExpired(session, kSteadyTable, count));

  std::vector<double> lags;
  std::vector<int64_t> due_us(count);
  int64_t first_us = INT64_MAX;
  int64_t last_us = 0;
  ITEMDB_RETURN_IF_ERROR(daemon.ForEachChange([&](const v1::ChangeRecord& record) {
    if (!record.has_key()) return;
    const int64_t item = std::stoll(record.key().attributes(0).value().n());
    if (record.kind() == v1::CHANGE_KIND_INSERT) {
      due_us[item] = std::max(expiry_us(item), record.commit_time_us());
    } else if (record.expired()) {
      lags.push_back(static_cast<double>(record.commit_time_us() - due_us[item]) / kMicros);
      first_us = std::min(first_us, record.commit_time_us());
      last_us = std::max(last_us, record.commit_time_us());
    }
  }));
  if (static_cast<int64_t>(lags.size()) != count)
    return absl::InternalError("not every item was deleted once because it had expired");
  const double seconds = std::max(1e-6, static_cast<double>(last_us - first_us) / kMicros);
  return Steady{.lag_seconds = PercentilesOf(std::move(lags)),
                .deletes_per_second = static_cast<double>(count) / seconds,
                .puts_per_second = static_cast<double>(count) / put_seconds};
}

}  // namespace

absl::Status RunTimeToLive(Session& session, const TimeToLiveOptions& options) {
  const std::string directory = session.scratch.NewPath();
  ITEMDB_ASSIGN_OR_RETURN(ExpiringDaemon daemon, ExpiringDaemon::Start(directory));
  session.Progress("ttl: items that are put and expire, for " + Figure(options.seconds) + " s");
  ITEMDB_ASSIGN_OR_RETURN(Steady steady, MeasureSteady(session, daemon, options));

  session.Progress("ttl: items that have expired");
  ITEMDB_RETURN_IF_ERROR(daemon.Create(kBacklogTable));
  const int64_t expired_us = NowMicros() - 1'000 * kMicros;
  ITEMDB_RETURN_IF_ERROR(daemon.Put(
      session, kBacklogTable, options.backlog, [&](int64_t item) { return expired_us + item; },
      [](int64_t) {}));
  session.Progress("ttl: turning the time to live on");
  const Clock::time_point asked = Clock::now();
  ITEMDB_RETURN_IF_ERROR(daemon.Enable(session, kBacklogTable));
  const double enable_seconds = SecondsSince(asked);
  session.Progress("ttl: deleting them");
  const Clock::time_point enabled = Clock::now();
  ITEMDB_RETURN_IF_ERROR(daemon.AwaitExpired(session, kBacklogTable, options.backlog));
  const double backlog_seconds = SecondsSince(enabled);
  daemon = ExpiringDaemon();
  session.Progress("");
  RemoveAll(directory);

  TextTable table;
  table.title = "Time to live: " + std::to_string(options.per_second) +
                " items put and expired a second, for " + Figure(options.seconds) + " s; then " +
                std::to_string(options.backlog) + " items that have expired";
  table.columns = {"", "figure", "goal"};
  const auto add = [&](const std::string& name, double value, const std::string& goal = "") {
    table.rows.push_back({name, Figure(value), goal});
  };
  add("puts/s", steady.puts_per_second);
  add("deletions/s", steady.deletes_per_second);
  add("from expiry to deletion, p50, s", steady.lag_seconds.p50);
  add("from expiry to deletion, p99, s", steady.lag_seconds.p99);
  add("from expiry to deletion, longest, s", steady.lag_seconds.max, "under " + Figure(kLagGoalSeconds));
  add("backlog: turning it on, s", enable_seconds);
  add("backlog: deletions/s", static_cast<double>(options.backlog) / backlog_seconds);
  session.report.Add(table, {ordered_json{{"figure", "ttl"},
                                          {"per_second", options.per_second},
                                          {"puts_per_second", steady.puts_per_second},
                                          {"deletions_per_second", steady.deletes_per_second},
                                          {"lag_seconds_p50", steady.lag_seconds.p50},
                                          {"lag_seconds_p99", steady.lag_seconds.p99},
                                          {"lag_seconds_max", steady.lag_seconds.max},
                                          {"backlog", options.backlog},
                                          {"backlog_enable_seconds", enable_seconds},
                                          {"backlog_delete_seconds", backlog_seconds}}});
  return absl::OkStatus();
}

}  // namespace itemdb::bench
