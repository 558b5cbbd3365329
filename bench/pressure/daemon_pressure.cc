// Measurements of itemd under load. A program and not a test, because the results depend on the machine.
//
//   daemon_pressure memory [--memory 256MiB] [--callers 64] [--seconds 20]
//       Resident memory while callers write, read and query items of 300 KB.
//   daemon_pressure connections [--count 1000] [--callers 4] [--seconds 5] [--rounds 3]
//       Latency of GetItem without and with --count idle and slow connections, alternating.
//   daemon_pressure attack NAME [--memory 128MiB] [--count N] [--seconds 60]
//       Resident memory, and what other callers get, while unfriendly peers attack (attacks.h). `attack all`
//       runs one after another, each on a database of its own.
//
// Databases are created in $TMPDIR, else in /var/tmp, and removed at the end.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "bench/percentiles.h"
#include "bench/pressure/attacks.h"
#include "bench/report.h"
#include "bench/scratch.h"
#include "bench/seconds.h"
#include "itemdb/client.h"
#include "storage/base/check.h"
#include "tests/processes/daemon_process.h"
#include "tests/processes/slow_peers.h"

namespace itemdb::bench {
namespace {

struct Arguments {
  std::string memory = "256MiB";
  int callers = 0;
  int seconds = 0;
  int count = 1'000;
  int attackers = 0;
  int rounds = 3;
  std::string attack;
  std::vector<std::string> daemon;
};

// A started daemon with a table of partition key `id` and sort key `n`.
class Bench {
 public:
  explicit Bench(std::vector<std::string> daemon_arguments, bool keys = false)
      : daemon_(scratch_.path()), keys_(keys) {
    if (keys) {
      const std::string file = scratch_.path() + "/keys.toml";
      std::ofstream(file) << "[[key]]\nid = \"" << kKeyId << "\"\nsecret = \"" << kSecret
                          << "\"\nrole = \"admin\"\n";
      ITEMDB_CHECK(chmod(file.c_str(), 0600) == 0);
      daemon_arguments.insert(daemon_arguments.end(), {"--access-keys", file});
    }
    absl::Status started = daemon_.Start(daemon_arguments);
    if (!started.ok()) std::fprintf(stderr, "%s\n", std::string(started.message()).c_str());
    ITEMDB_CHECK(started.ok());
    ITEMDB_CHECK(Open()
                     .CreateTable({.table_name = kTable,
                                   .attribute_definitions = {{"id", ScalarAttributeType::kString},
                                                             {"n", ScalarAttributeType::kString}},
                                   .key_schema = {{"id", KeyType::kHash}, {"n", KeyType::kRange}}})
                     .ok());
  }
  ~Bench() {
    if (daemon_.Terminate() != 0) std::fprintf(stderr, "itemd did not end well:\n%s", daemon_.log().c_str());
  }

  Client Open() const { return OpenClient(target(), 5); }
  uint16_t port() const { return PortOf(daemon_.endpoint()); }
  Target target() const {
    return {.grpc_port = port(),
            .http_port = daemon_.http_endpoint().empty() ? uint16_t{0} : PortOf(daemon_.http_endpoint()),
            .keys = keys_};
  }
  double rss_mib() const { return static_cast<double>(daemon_.ReadMemory().rss_kib) / kKiBPerMiB; }
  double peak_rss_mib() const { return static_cast<double>(daemon_.ReadMemory().peak_rss_kib) / kKiBPerMiB; }

 private:
  static uint16_t PortOf(const std::string& address) {
    return static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }

  Scratch scratch_ = Scratch::Make().value();
  e2e::DaemonProcess daemon_;
  const bool keys_;
};

// Text that does not compress.
std::string Noise(std::mt19937_64& random, size_t bytes) {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  std::string text(bytes, ' ');
  for (char& c : text) c = kLetters[random() & 63];
  return text;
}

void Memory(const Arguments& arguments) {
  Bench bench({"--memory", arguments.memory});
  std::printf("memory %s, idle RSS %.1f MiB\n", arguments.memory.c_str(), bench.rss_mib());
  std::atomic<bool> stop = false;
  std::atomic<int64_t> writes = 0, reads = 0, pages = 0, refused = 0, failed = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < arguments.callers; ++caller) {
    callers.emplace_back([&, caller] {
      Client client = bench.Open();
      std::mt19937_64 random(caller);
      const auto count = [&](const absl::Status& status, std::atomic<int64_t>& done) {
        std::atomic<int64_t>& counter = status.ok()                         ? done
                                        : absl::IsResourceExhausted(status) ? refused
                                                                            : failed;
        ++counter;
      };
      const std::string noise = Noise(random, 1 << 20);
      for (int i = 0; !stop; ++i) {
        const std::string id = std::to_string(random() % 16), n = std::to_string(random() % 100);
        const std::string text = noise.substr(random() % 700'000, 300'000);
        count(client.PutItem({.table_name = kTable, .item = {{"id", id}, {"n", n}, {"text", text}}}).status(),
              writes);
        count(client.GetItem({.table_name = kTable, .key = {{"id", id}, {"n", n}}}).status(), reads);
        count(client
                  .Query({.table_name = kTable,
                          .key_condition_expression = "id = :id",
                          .expression_attribute_values = {{":id", id}}})
                  .status(),
              pages);
      }
    });
  }
  for (int second = 1; second <= arguments.seconds; ++second) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    if (second % 5 == 0) std::printf("  after %2d s RSS %.1f MiB\n", second, bench.rss_mib());
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  std::printf(
      "  %d callers, %d s: %ld puts and %ld gets of 300 KB, %ld pages of 1 MiB; %ld refused, %ld failed\n",
      arguments.callers, arguments.seconds, writes.load(), reads.load(), pages.load(), refused.load(),
      failed.load());
  std::printf("  highest RSS %.1f MiB\n", bench.peak_rss_mib());
  absl::StatusOr<DaemonStatus> status = bench.Open().GetStatus();
  ITEMDB_CHECK(status.ok());
  const auto mib = [](int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  std::printf("  block cache %.1f of %.1f MiB, memtables %.1f of %.1f MiB, calls limited to %.1f MiB\n",
              mib(status->memory.block_cache), mib(status->memory.block_cache_capacity),
              mib(status->memory.memtables), mib(status->memory.memtable_budget),
              mib(status->memory.call_limit));
}

// Latencies in microseconds.
Percentiles MeasureGets(const Bench& bench, const Arguments& arguments) {
  std::atomic<bool> stop = false;
  std::vector<std::vector<double>> taken(arguments.callers);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < arguments.callers; ++caller) {
    callers.emplace_back([&, caller] {
      Client client = bench.Open();
      while (!stop) {
        const Clock::time_point start = Clock::now();
        ITEMDB_CHECK(client.GetItem({.table_name = kTable, .key = {{"id", "a"}, {"n", "1"}}}).ok());
        taken[caller].push_back(SecondsSince(start) * 1e6);
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::seconds(arguments.seconds));
  stop = true;
  for (std::thread& caller : callers) caller.join();
  std::vector<double> all;
  for (const std::vector<double>& one : taken) all.insert(all.end(), one.begin(), one.end());
  return PercentilesOf(std::move(all));
}

void Connections(const Arguments& arguments) {
  Bench bench({});
  ITEMDB_CHECK(
      bench.Open().PutItem({.table_name = kTable, .item = {{"id", "a"}, {"n", "1"}, {"x", "y"}}}).ok());
  std::vector<double> ratios;
  for (int round = 0; round < arguments.rounds; ++round) {
    const Percentiles without = MeasureGets(bench, arguments);
    e2e::SlowPeers peers(bench.port(), arguments.count);
    const Percentiles with = MeasureGets(bench, arguments);
    const auto per_second = [&](const Percentiles& gets) {
      return static_cast<double>(gets.count) / arguments.seconds;
    };
    std::printf(
        "round %d: without p50 %.0f us p99 %.0f us %.0f/s; with %d slow connections p50 %.0f us p99 %.0f us "
        "%.0f/s (itemd closed %ld, RSS %.1f MiB); p99 ratio %.2f\n",
        round + 1, without.p50, without.p99, per_second(without), arguments.count, with.p50, with.p99,
        per_second(with), peers.closed_by_server(), bench.rss_mib(), with.p99 / without.p99);
    ratios.push_back(with.p99 / without.p99);
  }
  std::printf("median p99 ratio %.2f\n", SpreadOf(ratios).median);
}

// The data that attacks use.
void Fill(const Client& client, bool wide) {
  std::mt19937_64 random(1);
  const std::string noise = Noise(random, 1 << 20);
  for (int i = 0; i < 40; ++i) {
    ITEMDB_CHECK(client
                     .PutItem({.table_name = kTable,
                               .item = {{"id", "large"},
                                        {"n", std::to_string(i)},
                                        {"text", noise.substr(random() % 900'000, 100'000)}}})
                     .ok());
  }
  ITEMDB_CHECK(client.PutItem({.table_name = kTable, .item = {{"id", "a"}, {"n", "1"}, {"x", "y"}}}).ok());
  if (!wide) return;
  TableDefinition request = {.table_name = kWideTable,
                             .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                             .key_schema = {{"id", KeyType::kHash}}};
  for (int i = 0; i < 5; ++i) {
    const std::string key = "k" + std::to_string(i);
    request.attribute_definitions.push_back({key, ScalarAttributeType::kString});
    request.global_secondary_indexes.push_back(
        {.index_name = "by-" + key, .key_schema = {{key, KeyType::kHash}}});
  }
  ITEMDB_CHECK(client.CreateTable(request).ok());
  for (int i = 0; i < kWideItems; ++i) {
    Item item = {{"id", std::to_string(i)}, {"text", noise.substr(random() % 600'000, 405'000)}};
    for (int k = 0; k < 5; ++k) item.Set("k" + std::to_string(k), "x");
    ITEMDB_CHECK(client.PutItem({.table_name = kWideTable, .item = item}).ok());
  }
}

struct Others {
  std::atomic<int64_t> served = 0;
  std::mutex mutex;
  std::map<std::string, int64_t> failed;
  std::vector<double> taken_us;
};

// Calls GetItem and PutItem in turn, without retries, until `stop`; every 100th call over a new connection.
void CallBesides(const Target& target, const std::atomic<bool>& stop, Others& others) {
  constexpr int kCallsOfConnection = 100;
  std::vector<double> taken_us;
  std::map<std::string, int64_t> failed;
  std::optional<Client> client;
  const CallOptions options = {.timeout = absl::Seconds(2)};
  for (int i = 0; !stop; ++i) {
    if (i % kCallsOfConnection == 0) client = OpenClient(target, 1);
    const Clock::time_point start = Clock::now();
    const absl::Status status =
        i % 2 == 0
            ? client->GetItem({.table_name = kTable, .key = {{"id", "a"}, {"n", "1"}}}, options).status()
            : client->PutItem({.table_name = kTable, .item = {{"id", "a"}, {"n", "2"}}}, options).status();
    taken_us.push_back(SecondsSince(start) * 1e6);
    if (status.ok()) {
      ++others.served;
    } else {
      ++failed[absl::StatusCodeToString(status.code()) + " " + std::string(status.message().substr(0, 60))];
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::lock_guard<std::mutex> lock(others.mutex);
  others.taken_us.insert(others.taken_us.end(), taken_us.begin(), taken_us.end());
  for (const auto& [text, count] : failed) others.failed[text] += count;
}

// Gets over HTTP, on one connection.
void GetBesides(const Target& target, const std::atomic<bool>& stop, Others& others) {
  std::vector<double> taken_us;
  HttpCaller caller(target.http_port);
  int64_t failed = 0;
  while (!stop) {
    const Clock::time_point start = Clock::now();
    if (caller.Get()) {
      ++others.served;
    } else {
      ++failed;
      caller = HttpCaller(target.http_port);
    }
    taken_us.push_back(SecondsSince(start) * 1e6);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::lock_guard<std::mutex> lock(others.mutex);
  others.taken_us.insert(others.taken_us.end(), taken_us.begin(), taken_us.end());
  if (failed > 0) others.failed["HTTP"] += failed;
}

void RunAttack(const Attack& attack, const Arguments& arguments) {
  std::vector<std::string> daemon = {"--memory",    arguments.memory, "--http-listen",
                                     "127.0.0.1:0", "--http-threads", "1"};
  daemon.insert(daemon.end(), arguments.daemon.begin(), arguments.daemon.end());
  Bench bench(daemon, attack.keys);
  const int count = arguments.attackers > 0 ? arguments.attackers : attack.count;
  Fill(bench.Open(), std::string_view(attack.name) == "transactions");
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const double before = bench.rss_mib();
  std::atomic<bool> stop = false;
  AttackCounts counts;
  Others others;
  std::vector<std::thread> threads;
  threads.emplace_back([&] { attack.run(bench.target(), count, stop, counts); });
  for (int i = 0; i < arguments.callers; ++i)
    threads.emplace_back([&] {
      attack.http_others ? GetBesides(bench.target(), stop, others)
                         : CallBesides(bench.target(), stop, others);
    });
  double highest = before;
  const Clock::time_point begin = Clock::now();
  while (SecondsSince(begin) < arguments.seconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    highest = std::max(highest, bench.rss_mib());
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const Percentiles taken = PercentilesOf(std::move(others.taken_us));
  std::printf(
      "%s, %d, --memory %s, %d s: RSS %.0f MiB before, %.0f highest (kernel: %.0f, with loading); attackers: "
      "%ld rounds, %ld refused or cut off; others: %ld of %zu calls served, p50 %.1f ms, p99 %.1f ms\n",
      attack.name, count, arguments.memory.c_str(), arguments.seconds, before, highest, bench.peak_rss_mib(),
      counts.rounds.load(), counts.refused.load(), others.served.load(), taken.count, taken.p50 / 1e3,
      taken.p99 / 1e3);
  for (const auto& [text, failures] : others.failed) std::printf("  %ld x %s\n", failures, text.c_str());
}

void RunAttacks(const Arguments& arguments) {
  bool any = false;
  for (const Attack& attack : Attacks()) {
    if (arguments.attack != "all" && arguments.attack != attack.name) continue;
    any = true;
    RunAttack(attack, arguments);
  }
  if (any) return;
  std::fprintf(stderr, "no such attack; there are:\n");
  for (const Attack& attack : Attacks()) std::fprintf(stderr, "  %-16s %s\n", attack.name, attack.what);
}

}  // namespace
}  // namespace itemdb::bench

int main(int argc, char** argv) {
  using namespace itemdb::bench;
  Arguments arguments;
  CLI::App app("Figures about itemd under pressure");
  app.require_subcommand(1);
  CLI::App* memory = app.add_subcommand("memory", "Resident memory under large items");
  memory->add_option("--memory", arguments.memory);
  CLI::App* connections = app.add_subcommand("connections", "Latency beside slow connections");
  connections->add_option("--count", arguments.count)->check(CLI::Range(1, 10'000));
  connections->add_option("--rounds", arguments.rounds)->check(CLI::Range(1, 100));
  CLI::App* attack = app.add_subcommand("attack", "Resident memory and other callers under an attack");
  attack->add_option("NAME", arguments.attack, "One of those that an unknown name lists, or all")->required();
  attack->add_option("--memory", arguments.memory);
  attack->add_option("--count", arguments.attackers)->check(CLI::Range(1, 100'000));
  attack->add_option("--daemon", arguments.daemon, "Further arguments of itemd");
  for (CLI::App* command : {memory, connections, attack}) {
    command->add_option("--callers", arguments.callers)->check(CLI::Range(1, 1'000));
    command->add_option("--seconds", arguments.seconds)->check(CLI::Range(1, 3'600));
  }
  CLI11_PARSE(app, argc, argv);
  if (arguments.callers == 0) arguments.callers = memory->parsed() ? 64 : 4;
  if (arguments.seconds == 0) arguments.seconds = attack->parsed() ? 60 : memory->parsed() ? 20 : 5;
  setvbuf(stdout, nullptr, _IOLBF, 0);
  if (memory->parsed()) Memory(arguments);
  if (connections->parsed()) Connections(arguments);
  if (attack->parsed()) RunAttacks(arguments);
}
