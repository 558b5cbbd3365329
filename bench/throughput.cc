#include "bench/throughput.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>

#include "bench/order_store.h"
#include "storage/values/canonical.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;

struct Candidate {
  std::string name;
  bool durable;
  absl::StatusOr<std::unique_ptr<Contender>> (*start)(const ContenderSetup&);
};

// Gets are the same in both durability modes, and echo has no durability, so these are measured once.
std::vector<Candidate> CandidatesOf(const ThroughputOptions& options) {
  std::vector<Candidate> all = {
      {"itemd", true, StartItemd}, {"database", true, OpenDatabase}, {"rocksdb", true, OpenRocksDB}};
  if (options.operation == Operation::kPut) {
    all.insert(
        all.end(),
        {{"itemd", false, StartItemd}, {"database", false, OpenDatabase}, {"rocksdb", false, OpenRocksDB}});
  }
  all.push_back({"echo", false, StartEcho});
  std::erase_if(all, [&options](const Candidate& candidate) {
    return !options.only.empty() &&
           std::find(options.only.begin(), options.only.end(), candidate.name) == options.only.end();
  });
  return all;
}

// All rounds of one candidate with one number of callers.
struct Row {
  const Candidate* candidate;
  int callers;
  std::vector<Measured> rounds;

  std::vector<double> Values(double (*value)(const Measured&)) const {
    std::vector<double> values;
    for (const Measured& round : rounds) values.push_back(value(round));
    return values;
  }
  Spread OperationsPerSecond() const {
    return SpreadOf(Values([](const Measured& m) { return m.operations_per_second; }));
  }
  double Median(double (*value)(const Measured&)) const { return SpreadOf(Values(value)).median; }
  double ServerCpuUs() const {
    return Median([](const Measured& m) { return m.server_cpu_us; });
  }
};

double P50(const Measured& m) { return m.p50_us; }
double P99(const Measured& m) { return m.p99_us; }
double OthersCores(const Measured& m) { return m.others_cores; }
double ClientCpu(const Measured& m) { return m.client_cpu_us.value_or(0); }

// Waits until earlier writes are on disk and `contender` has finished the work of its start.
void Settle(const std::string& directory, const Contender& contender) {
  int file = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file >= 0) {
    syncfs(file);
    close(file);
  }
  constexpr std::chrono::milliseconds kInterval(20);
  constexpr int kMaxIntervals = 100;
  nanoseconds before = contender.ServerCpu();
  for (int interval = 0; interval < kMaxIntervals; ++interval) {
    std::this_thread::sleep_for(kInterval);
    nanoseconds now = contender.ServerCpu();
    if (now - before < kInterval / 20) return;
    before = now;
  }
}

class Throughput {
 public:
  Throughput(Session& session, const ThroughputOptions& options)
      : session_(session),
        options_(options),
        candidates_(CandidatesOf(options)),
        requests_(puts() ? Requests::Puts(PutsPerRun(options)) : Requests::Gets(options.orders)) {}

  absl::Status Run() {
    ITEMDB_RETURN_IF_ERROR(Prepare());
    for (int callers : options_.callers) {
      for (const Candidate& candidate : candidates_) rows_.push_back({&candidate, callers, {}});
    }
    for (int round = 0; round < options_.rounds; ++round) {
      for (size_t i = 0; i < rows_.size(); ++i) {
        Row& row = rows_[round % 2 == 0 ? i : rows_.size() - 1 - i];
        ITEMDB_RETURN_IF_ERROR(session_.CheckInterrupted());
        session_.Progress(name() + " round " + std::to_string(round + 1) + " of " +
                          std::to_string(options_.rounds) + ": " + row.candidate->name + ", " +
                          std::to_string(row.callers) + " callers");
        absl::StatusOr<Measured> measured = MeasureOnce(*row.candidate, row.callers);
        if (!measured.ok()) {
          return absl::Status(measured.status().code(),
                              row.candidate->name + ": " + storage::MessageOf(measured.status()));
        }
        row.rounds.push_back(*std::move(measured));
      }
    }
    session_.Progress("");
    contenders_.clear();
    Print();
    return absl::OkStatus();
  }

 private:
  // More puts than a small machine can do. On a faster machine the runs end early.
  static uint64_t PutsPerRun(const ThroughputOptions& options) {
    constexpr double kPutsPerSecond = 80'000;
    constexpr uint64_t kMaxPuts = 250'000;
    return std::min(kMaxPuts, static_cast<uint64_t>(kPutsPerSecond * options.seconds * 1.2) + 1);
  }

  bool puts() const { return options_.operation == Operation::kPut; }
  std::string name() const { return puts() ? "PutItem" : "GetItem"; }

  absl::Status Prepare() {
    session_.Progress(name() + ": preparing the data");
    original_ = session_.scratch.NewPath();
    ITEMDB_RETURN_IF_ERROR(MakeOrderDatabase(original_, puts() ? 0 : options_.orders));
    if (!puts() ||
        std::none_of(candidates_.begin(), candidates_.end(), [](auto& c) { return c.name == "rocksdb"; })) {
      return absl::OkStatus();
    }
    std::string copy = session_.scratch.NewPath();
    ITEMDB_RETURN_IF_ERROR(CopyDatabase(original_, copy));
    ITEMDB_ASSIGN_OR_RETURN(batches_, MakeOrderBatches(copy, requests_));
    RemoveAll(copy);
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<Contender>> Start(const Candidate& candidate, const std::string& directory) {
    ITEMDB_RETURN_IF_ERROR(CopyDatabase(original_, directory));
    ContenderSetup setup;
    setup.operation = options_.operation;
    setup.directory = directory;
    setup.durable = candidate.durable;
    setup.unix_socket = session_.unix_socket;
    setup.requests = &requests_;
    setup.batches = &batches_;
    ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<Contender> contender, candidate.start(setup));
    Settle(directory, *contender);
    return contender;
  }

  LoadOptions LoadOf(int callers) const {
    LoadOptions load;
    load.callers = callers;
    load.measured = std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(options_.seconds));
    load.warm_up = load.measured / 5;
    load.operations = requests_.operations();
    return load;
  }

  absl::StatusOr<Measured> MeasureOnce(const Candidate& candidate, int callers) {
    if (puts()) {
      // A new database for each run, so that earlier writes do not slow it down.
      std::string directory = session_.scratch.NewPath();
      ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<Contender> contender, Start(candidate, directory));
      ITEMDB_ASSIGN_OR_RETURN(Measured measured, RunLoad(*contender, LoadOf(callers)));
      ITEMDB_RETURN_IF_ERROR(contender->CheckOrders(measured.answered));
      contender.reset();
      RemoveAll(directory);
      return measured;
    }
    std::unique_ptr<Contender>& contender = contenders_[&candidate];
    if (contender == nullptr) {
      ITEMDB_ASSIGN_OR_RETURN(contender, Start(candidate, session_.scratch.NewPath()));
      ITEMDB_RETURN_IF_ERROR(FillCache(*contender));
    }
    return RunLoad(*contender, LoadOf(callers));
  }

  // Reads until nearly all blocks are in the cache.
  absl::Status FillCache(Contender& contender) const {
    constexpr int kCallers = 64;
    return RunAll(contender, kCallers, options_.orders).status();
  }

  const Row* Find(const std::string& contender, bool durable, int callers) const {
    for (const Row& row : rows_) {
      if (row.candidate->name == contender && row.candidate->durable == durable && row.callers == callers)
        return &row;
    }
    return nullptr;
  }

  // Operations per second of `row` divided by those of `base`, by rounds; nothing without a base.
  static std::optional<Spread> RatioTo(const Row& row, const Row* base) {
    if (base == nullptr || base == &row) return std::nullopt;
    std::vector<double> ratios;
    for (size_t round = 0; round < row.rounds.size(); ++round) {
      ratios.push_back(row.rounds[round].operations_per_second / base->rounds[round].operations_per_second);
    }
    return SpreadOf(ratios);
  }

  std::string ModeOf(const Candidate& candidate) const {
    if (!puts() || candidate.name == "echo") return "";
    return candidate.durable ? " durable" : " relaxed";
  }

  void Print() {
    TextTable table;
    std::string order = storage::CanonicalizeItem(OrderItem(0)).value();
    table.title = name() + ", order headers of about " +
                  std::to_string(storage::ItemSizeBytes(storage::ItemView(order))) + " bytes (" +
                  std::to_string(order.size()) + " encoded)" + (puts() ? ", 4 indexes" : "");
    table.columns = {"",        "callers",          "ops/s (min-max)",  "p50 us",
                     "p99 us",  "server CPU us/op", "client CPU us/op", "of rocksdb",
                     "of echo", "others' cores"};
    std::vector<ordered_json> lines;
    for (const Row& row : rows_) {
      std::optional<Spread> of_rocksdb = RatioTo(row, Find("rocksdb", row.candidate->durable, row.callers));
      std::optional<Spread> of_echo = RatioTo(row, Find("echo", false, row.callers));
      bool has_client = row.rounds[0].client_cpu_us.has_value();
      auto ratio = [](const std::optional<Spread>& r) { return r.has_value() ? Figure(r->median) : ""; };
      table.rows.push_back({row.candidate->name + ModeOf(*row.candidate), std::to_string(row.callers),
                            Figure(row.OperationsPerSecond()), Figure(row.Median(P50)),
                            Figure(row.Median(P99)), Figure(row.ServerCpuUs()),
                            has_client ? Figure(row.Median(ClientCpu)) : "", ratio(of_rocksdb),
                            ratio(of_echo)});
      lines.push_back(JsonOf(row, of_rocksdb, of_echo));
    }
    for (const Row& row : rows_) AddOwnShare(row, &table, &lines);
    session_.report.Add(table, lines);
  }

  ordered_json JsonOf(const Row& row, const std::optional<Spread>& of_rocksdb,
                      const std::optional<Spread>& of_echo) const {
    ordered_json line = {{"figure", name()}, {"contender", row.candidate->name}, {"callers", row.callers}};
    if (puts() && row.candidate->name != "echo") line["durable"] = row.candidate->durable;
    Spread rate = row.OperationsPerSecond();
    line["ops_per_second"] = ToJson(rate);
    line["p50_us"] = row.Median(P50);
    line["p99_us"] = row.Median(P99);
    line["server_cpu_us"] = row.ServerCpuUs();
    line["others_cores"] = row.Median(OthersCores);
    if (row.rounds[0].client_cpu_us.has_value()) line["client_cpu_us"] = row.Median(ClientCpu);
    if (of_rocksdb.has_value()) line["of_rocksdb"] = of_rocksdb->median;
    if (of_echo.has_value()) line["of_echo"] = of_echo->median;
    return line;
  }

  // Adds the CPU time per operation that itemd needs beyond the sum of echo and rocksdb.
  void AddOwnShare(const Row& row, TextTable* table, std::vector<ordered_json>* lines) const {
    const Row* rocksdb = Find("rocksdb", row.candidate->durable, row.callers);
    const Row* echo = Find("echo", false, row.callers);
    if (row.candidate->name != "itemd" || rocksdb == nullptr || echo == nullptr) return;
    double own = row.ServerCpuUs() - echo->ServerCpuUs() - rocksdb->ServerCpuUs();
    std::string mode = ModeOf(*row.candidate);
    table->notes.push_back("itemd" + mode + ", " + std::to_string(row.callers) + " in flight: server CPU " +
                           Figure(row.ServerCpuUs()) + " us/op, " + Figure(own) + " more than echo (" +
                           Figure(echo->ServerCpuUs()) + ") and rocksdb (" + Figure(rocksdb->ServerCpuUs()) +
                           ") together");
    ordered_json line = {{"figure", name() + " CPU beyond echo and rocksdb"}, {"callers", row.callers}};
    if (puts()) line["durable"] = row.candidate->durable;
    line["server_cpu_us"] = own;
    lines->push_back(std::move(line));
  }

  Session& session_;
  const ThroughputOptions options_;
  const std::vector<Candidate> candidates_;
  const Requests requests_;
  std::vector<std::string> batches_;
  // The database; every contender uses a copy of it.
  std::string original_;
  // The contenders for gets, which are used for all runs, so that their caches stay filled.
  std::map<const Candidate*, std::unique_ptr<Contender>> contenders_;
  std::vector<Row> rows_;
};

}  // namespace

absl::Status RunThroughput(Session& session, const ThroughputOptions& options) {
  return Throughput(session, options).Run();
}

}  // namespace itemdb::bench
