// itembench: measures how fast itemd is, compared with gRPC alone and RocksDB alone.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <thread>

#include "bench/backups.h"
#include "bench/echo_server.h"
#include "bench/epoll_server.h"
#include "bench/http.h"
#include "bench/http_echo_server.h"
#include "bench/imports.h"
#include "bench/live.h"
#include "bench/ordering_cost.h"
#include "bench/reclaim.h"
#include "bench/session.h"
#include "bench/standby.h"
#include "bench/start.h"
#include "bench/tables.h"
#include "bench/throughput.h"
#include "bench/time_to_live.h"
#include "bench/vectors.h"
#include "bench/watches.h"

namespace itemdb::bench {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitInterrupted = 130;

constexpr char kDescription[] =
    "itembench - measures itemd, and in the same run gRPC alone and RocksDB alone doing the same work. On a "
    "shared machine, trust the ratios and the CPU times, not the operations per second.";

constexpr char kFooter[] = R"(
Contenders of put and get (--only):
  itemd      the daemon in the directory of this program, in a process of its own, through gRPC
  database   storage alone, in this process
  rocksdb    RocksDB with the same options, making the same writes and reads
  echo       a gRPC server that answers the same requests with replies of the same size

Databases are made in $TMPDIR, or else /var/tmp, and removed at the end.)";

struct Options {
  double seconds = 1;
  int rounds = 3;
  std::vector<int> callers;
  std::vector<std::string> only;
  uint64_t orders = 50'000;
  uint64_t writes = 20'000;
  double settle_seconds = 2;
  uint64_t live_orders = 1'000'000;
  int live_writers = 4;
  uint64_t backup_items = 1'000'000;
  uint64_t import_items = 1'000'000;
  bool backup_imported = false;
  double put_rate = 0;
  uint64_t reclaim_items = 1'000'000;
  uint64_t reclaim_collection_items = 1;
  int64_t reclaim_mib = 16;
  int tables = 300;
  int table_indexes = 2;
  int table_puts = 20'000;
  int expiries = 10'000;
  double expiry_seconds = 20;
  int64_t expired = 1'000'000;
  int watches = 10'000;
  int64_t vectors = 100'000;
  int vector_dimensions = 128;
  int vector_clusters = 1'000;
  int vector_queries = 500;
  bool vector_graphs = true;
  bool vector_beside = true;
  std::string vector_directory;
  std::string transport = "tcp";
  std::string output = "text";
  // echo-server.
  std::string listen;
  std::string address_file;
  size_t reply_bytes = 0;
};

void AddOptions(CLI::App& app, Options& options) {
  constexpr double kMaxSeconds = 60;
  app.add_option("--seconds", options.seconds, "Length of each measurement (default 1)")
      ->check(CLI::Range(0.01, kMaxSeconds))
      ->type_name("S");
  app.add_option("--rounds", options.rounds, "Rounds, each of which measures everything once (default 3)")
      ->check(CLI::Range(1, 1'000))
      ->type_name("N");
  app.add_option("--callers", options.callers, "Callers in flight (default 1,16,64 for put and 64 for get)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000))
      ->type_name("N,...");
  app.add_option("--only", options.only, "Contenders of put and get (default all)")
      ->delimiter(',')
      ->check(CLI::IsMember({"itemd", "database", "rocksdb", "echo"}))
      ->type_name("NAME,...");
  app.add_option("--orders", options.orders, "Orders that get and http read (default 50000)")
      ->check(CLI::Range(1, 10'000'000))
      ->type_name("N");
  app.add_option("--writes", options.writes, "Puts in each round of order (default 20000)")
      ->check(CLI::Range(64, 1'000'000))
      ->type_name("N");
  app.add_option("--tables", options.tables, "Number of tables for the command tables (default 300)")
      ->check(CLI::Range(2, 9'900))
      ->type_name("N");
  app.add_option("--table-indexes", options.table_indexes, "Indexes of each of these tables (default 2)")
      ->check(CLI::Range(0, 20))
      ->type_name("N");
  app.add_option("--table-puts", options.table_puts,
                 "Puts, and gets, in each of the two rounds of tables (default 20000)")
      ->check(CLI::Range(100, 1'000'000))
      ->type_name("N");
  app.add_option("--expiries", options.expiries, "Items that expire per second in ttl (default 10000)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  app.add_option("--expiry-seconds", options.expiry_seconds, "How long items are put in ttl (default 20)")
      ->check(CLI::Range(0.01, 3'600.0))
      ->type_name("S");
  app.add_option("--expired", options.expired,
                 "Expired items when ttl turns the time to live on (default 1000000)")
      ->check(CLI::Range(int64_t{1}, int64_t{100'000'000}))
      ->type_name("N");
  app.add_option("--watches", options.watches, "Idle watches for the command watches (default 10000)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  app.add_option("--live-orders", options.live_orders, "Orders in the table of live (default 1000000)")
      ->check(CLI::Range(1'000, 100'000'000))
      ->type_name("N");
  app.add_option("--live-writers", options.live_writers,
                 "Writer threads in live, reclaim, watches and backups (default 4)")
      ->check(CLI::Range(1, 256))
      ->type_name("N");
  app.add_option("--backup-items", options.backup_items, "Items of the table of backups (default 1000000)")
      ->check(CLI::Range(1'000, 100'000'000))
      ->type_name("N");
  app.add_flag("--backup-imported", options.backup_imported,
               "backups imports its table and measures backups only: for tens of millions of items");
  app.add_option("--import-items", options.import_items, "Items that imports imports (default 1000000)")
      ->check(CLI::Range(1'000, 100'000'000))
      ->type_name("N");
  app.add_option(
         "--put-rate", options.put_rate,
         "Puts a second of all callers of standby; 0: each puts as soon as it has an answer (default 0)")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("N");
  app.add_option("--reclaim-items", options.reclaim_items,
                 "Items of the table that reclaim deletes (default 1000000)")
      ->check(CLI::Range(1'000, 100'000'000))
      ->type_name("N");
  app.add_option("--reclaim-collection-items", options.reclaim_collection_items,
                 "Items in each item collection of that table (default 1)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  app.add_option("--reclaim-mib", options.reclaim_mib,
                 "MiB per second at which files shared with other tables are rewritten (default 16)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->type_name("N");
  app.add_option("--settle", options.settle_seconds, "Idle seconds before start measures memory (default 2)")
      ->check(CLI::Range(0.0, kMaxSeconds))
      ->type_name("S");
  app.add_option("--vectors", options.vectors, "Vectors that vectors searches (default 100000)")
      ->check(CLI::Range(int64_t{100}, int64_t{100'000'000}))
      ->type_name("N");
  app.add_option("--vector-dimensions", options.vector_dimensions, "Their dimensions (default 128)")
      ->check(CLI::Range(1, 4'096))
      ->type_name("N");
  app.add_option("--vector-clusters", options.vector_clusters,
                 "Gaussian clusters that they are drawn from; 0: uniform (default 1000)")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
  app.add_option("--vector-queries", options.vector_queries, "Searches in vectors (default 500)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  app.add_flag("!--no-vector-graphs", options.vector_graphs, "vectors compares vectors one by one only");
  app.add_flag("!--no-vector-beside", options.vector_beside,
               "vectors measures neither hnswlib nor faiss beside itemdb");
  app.add_option("--vector-directory", options.vector_directory,
                 "Where vectors keeps its database; a second run searches what is there (default: nowhere)")
      ->type_name("DIR");
  app.add_option("--transport", options.transport, "tcp (127.0.0.1, the default) or unix (a socket)")
      ->check(CLI::IsMember({"tcp", "unix"}))
      ->type_name("KIND");
  app.add_option("-o,--output", options.output, "text (default) or jsonl")
      ->check(CLI::IsMember({"text", "jsonl"}))
      ->type_name("FORM");
}

void ReportMachine(Session& session) {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  unsigned cores = std::thread::hardware_concurrency();
  double syncs = SyncsPerSecond(session.scratch.path());
  TextTable table;
  table.title = "Machine: " + std::to_string(cores) + " cores, load average " + Figure(load) +
                ", databases on " + session.scratch.file_system() + " (" + Figure(syncs) +
                " synced appends of 1 KiB per second), " +
                (session.unix_socket ? "unix sockets" : "TCP on 127.0.0.1");
  session.report.Add(table, {{{"figure", "machine"},
                              {"cores", cores},
                              {"load_average", load},
                              {"file_system", session.scratch.file_system()},
                              {"syncs_per_second", syncs},
                              {"transport", session.unix_socket ? "unix" : "tcp"}}});
}

absl::Status RunCommand(const std::string& command, const Options& options) {
  ITEMDB_ASSIGN_OR_RETURN(Scratch scratch, Scratch::Make());
  Report report(options.output == "jsonl" ? Report::Format::kJsonLines : Report::Format::kText, &std::cout);
  Session session{scratch, report, options.transport == "unix"};
  ReportMachine(session);

  bool all = command == "all";
  if (all || command == "start") {
    ITEMDB_RETURN_IF_ERROR(
        RunStart(session, {.rounds = options.rounds, .settle_seconds = options.settle_seconds}));
  }
  ThroughputOptions throughput;
  throughput.seconds = options.seconds;
  throughput.rounds = options.rounds;
  throughput.orders = options.orders;
  throughput.only = options.only;
  if (all || command == "put") {
    throughput.operation = Operation::kPut;
    throughput.callers = options.callers.empty() ? std::vector<int>{1, 16, 64} : options.callers;
    ITEMDB_RETURN_IF_ERROR(RunThroughput(session, throughput));
  }
  if (all || command == "get") {
    throughput.operation = Operation::kGet;
    throughput.callers = options.callers.empty() ? std::vector<int>{64} : options.callers;
    ITEMDB_RETURN_IF_ERROR(RunThroughput(session, throughput));
  }
  if (all || command == "http") {
    ITEMDB_RETURN_IF_ERROR(RunHttp(
        session, {.connections = options.callers.empty() ? std::vector<int>{1, 16, 64} : options.callers,
                  .seconds = options.seconds,
                  .rounds = options.rounds,
                  .orders = options.orders}));
  }
  if (all || command == "tables") {
    ITEMDB_RETURN_IF_ERROR(RunTables(
        session, {.tables = options.tables, .indexes = options.table_indexes, .puts = options.table_puts}));
  }
  if (all || command == "ttl") {
    ITEMDB_RETURN_IF_ERROR(RunTimeToLive(
        session,
        {.per_second = options.expiries, .seconds = options.expiry_seconds, .backlog = options.expired}));
  }
  if (all || command == "live") {
    ITEMDB_RETURN_IF_ERROR(RunLive(
        session,
        {.orders = options.live_orders, .writers = options.live_writers, .seconds = 5 * options.seconds}));
  }
  if (all || command == "reclaim") {
    ITEMDB_RETURN_IF_ERROR(RunReclaim(session, {.items = options.reclaim_items,
                                                .collection_items = options.reclaim_collection_items,
                                                .bytes_per_second = options.reclaim_mib << 20,
                                                .writers = options.live_writers}));
  }
  if (all || command == "watches") {
    ITEMDB_RETURN_IF_ERROR(RunWatches(session, {.watches = options.watches,
                                                .writers = options.live_writers,
                                                .rounds = options.rounds,
                                                .seconds = options.seconds}));
  }
  if (all || command == "standby") {
    ITEMDB_RETURN_IF_ERROR(RunStandby(session, {.callers = options.callers.empty() ? 16 : options.callers[0],
                                                .seconds = options.seconds,
                                                .rounds = options.rounds,
                                                .puts_per_second = options.put_rate}));
  }
  if (all || command == "imports") {
    ITEMDB_RETURN_IF_ERROR(RunImports(session, {.items = options.import_items, .rounds = options.rounds}));
  }
  if (all || command == "backups") {
    ITEMDB_RETURN_IF_ERROR(RunBackups(session, {.items = options.backup_items,
                                                .imports = options.backup_imported,
                                                .writers = options.live_writers,
                                                .seconds = 5 * options.seconds}));
  }
  if (all || command == "vectors") {
    ITEMDB_RETURN_IF_ERROR(RunVectors(session, {.vectors = options.vectors,
                                                .dimensions = options.vector_dimensions,
                                                .clusters = options.vector_clusters,
                                                .queries = options.vector_queries,
                                                .graphs = options.vector_graphs,
                                                .beside = options.vector_beside,
                                                .directory = options.vector_directory}));
  }
  if (all || command == "order") {
    ITEMDB_RETURN_IF_ERROR(RunOrderingCost(session, {.writes = options.writes, .rounds = options.rounds}));
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(kDescription, "itembench");
  app.footer(kFooter);
  app.set_help_flag("-h,--help", "Print this and exit");
  app.require_subcommand(1);
  app.fallthrough();
  AddOptions(app, options);
  app.add_subcommand("all", "All commands below");
  app.add_subcommand("start", "Time from start to first answer on an empty directory, and idle memory");
  app.add_subcommand("put", "PutItem of new order headers into a table with 4 indexes");
  app.add_subcommand("get", "GetItem of order headers, from memory");
  app.add_subcommand("http", "GetItem, PutItem and Query over HTTP (by wrk), compared with Beast alone");
  app.add_subcommand("tables", "Many tables: creation, memory, WAL, start after SIGKILL, latencies");
  app.add_subcommand("ttl", "Time from expiry to deletion, and deletions per second of a backlog");
  app.add_subcommand("live", "Backfill of an index on a live table, its check, a watch; writes meanwhile");
  app.add_subcommand("reclaim", "Time to reclaim the space of a deleted table, and puts meanwhile");
  app.add_subcommand("watches", "Puts with and without idle watches of other tables");
  app.add_subcommand("standby", "Puts with an archive, backups and a standby, and the time of a promotion");
  app.add_subcommand("imports", "Items per second that ImportTable makes a table of");
  app.add_subcommand("backups", "Times and sizes of backups, restores, exports and imports; archive lag");
  app.add_subcommand("vectors",
                     "Searches of a vector index: exact, by its graph, and hnswlib and faiss alone");
  app.add_subcommand("order", "CPU time of each step of a put, on one thread");
  // Hidden commands: this program starts itself with them as a contender.
  CLI::App* echo = app.add_subcommand("echo-server", "")->group("");
  echo->add_option("--listen", options.listen)->required();
  echo->add_option("--address-file", options.address_file)->required();
  CLI::App* http_echo = app.add_subcommand("http-echo-server", "")->group("");
  http_echo->add_option("--address-file", options.address_file)->required();
  http_echo->add_option("--reply-bytes", options.reply_bytes)->required();
  CLI::App* epoll = app.add_subcommand("epoll-server", "")->group("");
  epoll->add_option("--address-file", options.address_file)->required();
  epoll->add_option("--reply-bytes", options.reply_bytes)->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    std::cerr << "itembench: " << error.what() << "\nRun itembench --help for the options.\n";
    return kExitUsage;
  }

  std::string command = app.get_subcommands().front()->get_name();
  absl::Status status;
  if (command == "echo-server") {
    status = RunEchoServer(options.listen, options.address_file);
  } else if (command == "http-echo-server") {
    status = RunHttpEchoServer(options.address_file, options.reply_bytes);
  } else if (command == "epoll-server") {
    status = RunEpollServer(options.address_file, options.reply_bytes);
  } else {
    CatchInterrupts();
    status = RunCommand(command, options);
  }
  if (status.ok()) return 0;
  std::cerr << "itembench: " << storage::MessageOf(status) << '\n';
  return absl::IsCancelled(status) ? kExitInterrupted : kExitFailed;
}

}  // namespace
}  // namespace itemdb::bench

int main(int argc, char** argv) { return itemdb::bench::Main(argc, argv); }
