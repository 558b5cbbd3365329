#include "bench/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/contender.h"
#include "bench/order_data.h"
#include "bench/order_store.h"
#include "bench/server_processes.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;

enum class HttpOperation { kGet, kPut, kQuery };

struct OperationFacts {
  HttpOperation operation;
  const char* name;
  const char* title;
};
constexpr OperationFacts kOperations[] = {
    {HttpOperation::kGet, "GetItem", "GetItem over HTTP, order headers of about 268 bytes"},
    {HttpOperation::kPut, "PutItem",
     "PutItem over HTTP, order headers of about 268 bytes, 4 indexes, durable"},
    {HttpOperation::kQuery, "Query", "Query over HTTP, 20 order headers of a customer from an index"},
};

// The wrk script. The file has one request body per line. With N threads, thread i sends the lines i, i + N,
// i + 2N and so on, again and again.
constexpr char kScript[] = R"lua(
local head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n" ..
  "X-Amz-Target: DynamoDB_20120810." .. os.getenv("ITEMBENCH_OPERATION") .. "\r\nX-Amz-Date: 20260101T000000Z\r\n" ..
  "Authorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, " ..
  "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0000\r\nContent-Length: "
local threads = tonumber(os.getenv("ITEMBENCH_THREADS"))
local count = 0
function setup(thread)
  thread:set("own", count)
  count = count + 1
end
local requests, sent = {}, 0
function init()
  local line = 0
  for body in io.lines(os.getenv("ITEMBENCH_BODIES")) do
    if line % threads == own then requests[#requests + 1] = head .. #body .. "\r\n\r\n" .. body end
    line = line + 1
  end
end
function request()
  sent = sent + 1
  if sent > #requests then sent = 1 end
  return requests[sent]
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('{"requests":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
)lua";

// Runs wrk and returns the JSON that the script prints as the last line.
absl::StatusOr<ordered_json> RunWrk(const std::string& script, const std::string& address, int connections,
                                    int seconds) {
  const int threads = connections == 1 ? 1 : 2;
  setenv("ITEMBENCH_THREADS", std::to_string(threads).c_str(), 1);
  std::string command = "wrk -t" + std::to_string(threads) + " -c" + std::to_string(connections) + " -d" +
                        std::to_string(seconds) + "s -s '" + script + "' http://" + address + "/ 2>&1";
  FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) return absl::UnavailableError("cannot run wrk");
  std::string printed, last;
  char line[512];
  while (fgets(line, sizeof(line), output) != nullptr) printed += last = line;
  int exit_status = pclose(output);
  ordered_json figures = ordered_json::parse(last, nullptr, /*allow_exceptions=*/false);
  if (exit_status != 0 || !figures.is_object()) return absl::UnavailableError("wrk failed: " + printed);
  if (figures["failed"] != 0) return absl::DataLossError("not every request was answered with 200: " + last);
  return figures;
}

std::chrono::nanoseconds CpuOfEndedChildren() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  auto duration = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return duration(usage.ru_utime) + duration(usage.ru_stime);
}

// Sends one request and returns the length of the reply's body.
absl::StatusOr<size_t> ReplyBytes(const std::string& address, const std::string& operation,
                                  const std::string& body) {
  namespace http = boost::beast::http;
  boost::asio::io_context io;
  boost::asio::ip::tcp::socket socket(io);
  boost::system::error_code error;
  const size_t colon = address.rfind(':');
  socket.connect({boost::asio::ip::make_address(address.substr(0, colon)),
                  static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))},
                 error);
  if (error) return absl::UnavailableError("cannot connect to " + address + ": " + error.message());
  http::request<http::string_body> request(http::verb::post, "/", 11, body);
  request.set(http::field::host, address);
  request.set(http::field::content_type, "application/x-amz-json-1.0");
  request.set("X-Amz-Target", "DynamoDB_20120810." + operation);
  request.set("X-Amz-Date", "20260101T000000Z");
  request.set(http::field::authorization,
              "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
              "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0000");
  request.prepare_payload();
  http::write(socket, request, error);
  if (error) return absl::UnavailableError("cannot write to " + address + ": " + error.message());
  boost::beast::flat_buffer buffer;
  http::response<http::string_body> reply;
  http::read(socket, buffer, reply, error);
  if (error) return absl::UnavailableError("cannot read from " + address + ": " + error.message());
  if (reply.result() != http::status::ok) return absl::DataLossError(operation + ": " + reply.body());
  return reply.body().size();
}

struct HttpRow {
  std::string contender;
  int connections;
  std::vector<Measured> rounds;

  Spread Of(double Measured::*value) const {
    std::vector<double> values;
    for (const Measured& round : rounds) values.push_back(round.*value);
    return SpreadOf(values);
  }
};

class HttpThroughput {
 public:
  HttpThroughput(Session& session, const HttpOptions& options, const OperationFacts& facts)
      : session_(session), options_(options), facts_(facts) {}

  absl::Status Run() {
    ITEMDB_RETURN_IF_ERROR(Prepare());
    for (int connections : options_.connections) {
      for (const char* contender : {"itemd", "echo"}) rows_.push_back({contender, connections, {}});
    }
    for (int round = 0; round < options_.rounds; ++round) {
      for (size_t i = 0; i < rows_.size(); ++i) {
        HttpRow& row = rows_[round % 2 == 0 ? i : rows_.size() - 1 - i];
        ITEMDB_RETURN_IF_ERROR(session_.CheckInterrupted());
        session_.Progress(std::string(facts_.name) + " over HTTP, round " + std::to_string(round + 1) +
                          " of " + std::to_string(options_.rounds) + ": " + row.contender + ", " +
                          std::to_string(row.connections) + " connections");
        ITEMDB_ASSIGN_OR_RETURN(Measured measured, Measure(row));
        row.rounds.push_back(measured);
      }
    }
    session_.Progress("");
    Print();
    return absl::OkStatus();
  }

 private:
  bool puts() const { return facts_.operation == HttpOperation::kPut; }
  int seconds() const { return std::max(1, static_cast<int>(std::lround(options_.seconds))); }

  absl::Status Prepare() {
    session_.Progress(std::string(facts_.name) + " over HTTP: preparing the data");
    original_ = session_.scratch.NewPath();
    ITEMDB_RETURN_IF_ERROR(MakeOrderDatabase(original_, puts() ? 0 : options_.orders));
    script_ = session_.scratch.NewPath();
    std::ofstream(script_) << kScript;
    bodies_ = session_.scratch.NewPath();
    std::ofstream file(bodies_);
    constexpr uint64_t kPutsPerSecond = 80'000;
    constexpr uint64_t kMaxReads = 100'000;
    const uint64_t lines =
        puts() ? kPutsPerSecond * static_cast<uint64_t>(seconds()) : std::min(kMaxReads, 2 * options_.orders);
    const Requests reads = Requests::Gets(options_.orders);
    for (uint64_t line = 0; line < lines; ++line) file << Body(puts() ? line : reads.order(line)) << '\n';
    if (!file.flush()) return absl::UnavailableError("cannot write " + bodies_);
    setenv("ITEMBENCH_OPERATION", facts_.name, 1);
    setenv("ITEMBENCH_BODIES", bodies_.c_str(), 1);

    ITEMDB_ASSIGN_OR_RETURN(HttpServerProcess itemd, StartItemd());
    ITEMDB_ASSIGN_OR_RETURN(reply_bytes_, ReplyBytes(itemd.address, facts_.name, Body(0)));
    return absl::OkStatus();
  }

  std::string Body(uint64_t order) const {
    switch (facts_.operation) {
      case HttpOperation::kPut:
        return R"({"TableName":"Order","Item":)" + OrderItemJson(order) + "}";
      case HttpOperation::kGet:
        return R"({"TableName":"Order","Key":)" + OrderKeyJson(order) + "}";
      case HttpOperation::kQuery:
        return R"({"TableName":"Order","IndexName":"OrderByCustomerDate","KeyConditionExpression":"customer_id = :c",)"
               R"("Limit":20,"ExpressionAttributeValues":{":c":{"S":")" +
               OrderCustomer(order) + R"("}}})";
    }
    return "";
  }

  absl::StatusOr<HttpServerProcess> StartItemd() {
    std::string directory = session_.scratch.NewPath();
    ITEMDB_RETURN_IF_ERROR(CopyDatabase(original_, directory));
    return StartItemdHttpProcess(directory, /*durable=*/true);
  }

  // Measures one contender, on a new copy of the database, so that earlier writes do not slow it down. After
  // the warm-up, reads find everything in the cache.
  absl::StatusOr<Measured> Measure(const HttpRow& row) {
    ITEMDB_ASSIGN_OR_RETURN(HttpServerProcess server,
                            row.contender == "itemd"
                                ? StartItemd()
                                : StartHttpEchoProcess(session_.scratch.NewPath(), reply_bytes_));
    constexpr int kWarmUpSeconds = 1;
    constexpr int kWarmUpConnections = 16;
    if (!puts()) {
      ITEMDB_RETURN_IF_ERROR(RunWrk(script_, server.address, kWarmUpConnections, kWarmUpSeconds).status());
    }
    const nanoseconds server_before = server.process->CpuTime(), wrk_before = CpuOfEndedChildren(),
                      machine_before = MachineCpu();
    const Clock::time_point begin = Clock::now();
    ITEMDB_ASSIGN_OR_RETURN(ordered_json figures,
                            RunWrk(script_, server.address, row.connections, seconds()));
    const nanoseconds elapsed = Clock::now() - begin;
    const nanoseconds server_cpu = server.process->CpuTime() - server_before,
                      wrk_cpu = CpuOfEndedChildren() - wrk_before, machine = MachineCpu() - machine_before;
    const double requests = std::max(1.0, figures["requests"].get<double>());
    Measured measured;
    measured.operations_per_second = requests / figures["duration_us"].get<double>() * 1e6;
    measured.p50_us = figures["p50_us"];
    measured.p99_us = figures["p99_us"];
    measured.server_cpu_us = static_cast<double>(server_cpu.count()) / 1e3 / requests;
    measured.others_cores = std::max(0.0, static_cast<double>((machine - server_cpu - wrk_cpu).count()) /
                                              static_cast<double>(elapsed.count()));
    return measured;
  }

  void Print() {
    TextTable table;
    table.title = std::string(facts_.title) + "; replies of " + std::to_string(reply_bytes_) + " bytes";
    table.columns = {"",       "connections",      "ops/s (min-max)", "p50 us",
                     "p99 us", "server CPU us/op", "of echo",         "others' cores"};
    std::vector<ordered_json> lines;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const HttpRow& row = rows_[i];
      Spread rate = row.Of(&Measured::operations_per_second);
      ordered_json line = {{"figure", std::string(facts_.name) + " over HTTP"},
                           {"contender", row.contender},
                           {"connections", row.connections},
                           {"ops_per_second", ToJson(rate)},
                           {"p50_us", row.Of(&Measured::p50_us).median},
                           {"p99_us", row.Of(&Measured::p99_us).median},
                           {"server_cpu_us", row.Of(&Measured::server_cpu_us).median},
                           {"others_cores", row.Of(&Measured::others_cores).median}};
      std::string of_echo;
      if (row.contender != "echo") {
        std::vector<double> ratios;
        for (size_t round = 0; round < row.rounds.size(); ++round) {
          // The next row is the echo server with the same number of connections.
          ratios.push_back(row.rounds[round].operations_per_second /
                           rows_[i + 1].rounds[round].operations_per_second);
        }
        Spread ratio = SpreadOf(ratios);
        of_echo = Figure(ratio);
        line["of_echo"] = ratio.median;
      }
      table.rows.push_back({row.contender, std::to_string(row.connections), Figure(rate),
                            Figure(row.Of(&Measured::p50_us).median),
                            Figure(row.Of(&Measured::p99_us).median),
                            Figure(row.Of(&Measured::server_cpu_us).median), of_echo,
                            Figure(row.Of(&Measured::others_cores).median)});
      lines.push_back(std::move(line));
    }
    session_.report.Add(table, lines);
  }

  Session& session_;
  const HttpOptions& options_;
  const OperationFacts& facts_;
  // The database; every run uses a copy of it.
  std::string original_;
  std::string script_;
  std::string bodies_;
  size_t reply_bytes_ = 0;
  std::vector<HttpRow> rows_;
};

}  // namespace

absl::Status RunHttp(Session& session, const HttpOptions& options) {
  if (system("command -v wrk >/dev/null") != 0) {
    return absl::FailedPreconditionError("wrk is not installed (Debian: apt install wrk)");
  }
  for (const OperationFacts& facts : kOperations) {
    ITEMDB_RETURN_IF_ERROR(HttpThroughput(session, options, facts).Run());
  }
  return absl::OkStatus();
}

}  // namespace itemdb::bench
