// itemd: opens a database, serves it, reloads files on SIGHUP, and stops on SIGTERM or SIGINT. Or runs a
// command that serves nothing.
#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/log/log.h"
#include "daemon/access/audit_log.h"
#include "daemon/access/s3_credentials_file.h"
#include "daemon/config/dev_command.h"
#include "daemon/config/memory_budget.h"
#include "daemon/config/options.h"
#include "daemon/config/setting_values.h"
#include "daemon/metrics/metrics_server.h"
#include "daemon/offline/offline_commands.h"
#include "daemon/process/address_file.h"
#include "daemon/process/exit_codes.h"
#include "daemon/process/log_format.h"
#include "daemon/process/memory_directory.h"
#include "daemon/process/service_manager.h"
#include "daemon/process/stop_limit.h"
#include "daemon/process/stop_signals.h"
#include "daemon/process/version.h"
#include "daemon/process/watchdog.h"
#include "daemon/server/server.h"
#include "daemon/serving/listener.h"
#include "daemon/standby/primary_copy.h"
#include "storage/database.h"
#include "storage/restore.h"

namespace itemdb::daemon {
namespace {

using common::Log;

// How long a stop may write memtables to table files. At the default --memory that takes about a second.
constexpr std::chrono::seconds kMaxFlushTime{10};

// How long a stop may take beside that and --shutdown-timeout.
constexpr std::chrono::seconds kMaxClosingTime{10};
// How long the log may take to be told that it took longer.
constexpr std::chrono::seconds kMaxLastWords{1};

// How long a stop waits for the copy of a primary.
constexpr std::chrono::seconds kMaxCopyingStop{3};

// An opening that takes longer is reported as slow.
constexpr absl::Duration kSlowOpening = absl::Seconds(10);

// While the database opens: tells the log and systemd every few seconds that it goes on, so that systemd does
// not end a start that takes longer than the unit's TimeoutStartSec.
class OpeningReports {
 public:
  explicit OpeningReports(Log log)
      : log_(std::move(log)), thread_([this](std::stop_token stop) { Run(stop); }) {}

 private:
  void Run(const std::stop_token& stop) {
    constexpr std::chrono::seconds kInterval{5};
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    for (auto waited = kInterval;
         !stopped.wait_for(lock, stop, kInterval, [&] { return stop.stop_requested(); });
         waited += kInterval) {
      log_->info("the database is still opening seconds={}", waited.count());
      NotifyServiceManager("EXTEND_TIMEOUT_USEC=30000000");
    }
  }

  const Log log_;
  std::jthread thread_;
};

// gRPC and protobuf log to stderr in their own formats, for example when a client sends malformed bytes.
// Their messages are only useful for debugging, so they become lines of our log at level debug.
void RouteLibraryLogs() {
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  gpr_set_log_function(
      [](gpr_log_func_args* args) { Log(spdlog::default_logger()).debug("grpc text={}", args->message); });
  google::protobuf::SetLogHandler(
      [](google::protobuf::LogLevel, const char*, int, const std::string& message) {
        Log(spdlog::default_logger()).debug("protobuf text={}", message);
      });
}

ExitCode Fail(const Log& log, ExitCode code, const absl::Status& status) {
  log->error("{} exit_code={}", storage::MessageOf(status), static_cast<int>(code));
  return code;
}

// The configured number of connections, or fewer if file descriptors are short: RocksDB's files get as
// many descriptors as the connections of one protocol.
size_t MaxConnections(const Options& options, const Log& log) {
  constexpr size_t kOwnDescriptors = 128;
  const size_t descriptors = RaiseOpenFileLimit();
  // One share for gRPC connections, one for RocksDB, and one for HTTP connections if HTTP is served.
  const size_t shares = options.http_addresses.empty() ? 2 : 3;
  const size_t possible =
      descriptors > shares * kOwnDescriptors ? (descriptors - kOwnDescriptors) / shares : kOwnDescriptors;
  const auto wanted = static_cast<size_t>(options.max_connections);
  if (wanted > possible)
    log->warn("fewer connections than configured max_connections={} open_files={}", possible, descriptors);
  return std::min(wanted, possible);
}

storage::S3Options ToS3Options(const Options& options) {
  storage::S3Options s3;
  s3.endpoint = options.s3_endpoint;
  s3.region = options.s3_region;
  s3.ca_file = options.s3_ca_file;
  s3.credentials = [file = options.s3_credentials_file] { return ReadS3Credentials(file); };
  return s3;
}

ServerOptions ToServerOptions(const Options& options, const MemoryBudget& budget, const Log& log) {
  ServerOptions server;
  server.addresses = options.addresses;
  server.socket_permissions = options.socket_permissions;
  if (options.tls()) server.tls = TlsOptionsOf(options);
  server.access_keys = options.access_keys;
  server.audit_all_calls = options.audit_calls == "all";
  server.reload_interval = options.tls_reload_interval;
  server.max_connections = MaxConnections(options, log);
  server.max_calls_per_connection = options.max_calls_per_connection;
  server.handshake_timeout = options.handshake_timeout;
  server.idle_timeout = options.idle_timeout;
  server.memory_bytes = options.memory_bytes;
  server.call_bytes = budget.calls;
  server.slow_request = options.slow_request;
  if (!options.trace_url.empty()) {
    server.tracer = std::make_unique<Tracer>(
        TracerOptions{.url = options.trace_url, .ratio = options.traced_share, .log = log});
  }
  server.transport_bytes = budget.transport;
  server.status_delay = options.status_delay;
  server.http.addresses = options.http_addresses;
  server.http.threads = options.http_threads;
  server.http.request_timeout = options.http_request_timeout;
  server.log = log;
  return server;
}

// More threads than cores, because a read that waits for the disk uses no core.
int DefaultIoThreads() {
  return static_cast<int>(std::clamp(4 * std::thread::hardware_concurrency(), 4u, 64u));
}

// The data directory of an earlier version, or one that somebody else has created, may be open to others.
void WarnIfOthersMayRead(const std::string& directory, const Log& log) {
  struct stat info = {};
  if (stat(directory.c_str(), &info) != 0 || (info.st_mode & (S_IRWXG | S_IRWXO)) == 0) return;
  log->warn("other users may enter the data directory data_dir={} mode={:04o}", directory,
            info.st_mode & 07777);
}

// Those of a region with --regions-apart: little memory, because there may be many, and backups of its own.
storage::DatabaseOptions RegionOptions(const storage::DatabaseOptions& main) {
  constexpr size_t kRegionBytes = 16 << 20;
  storage::DatabaseOptions options = main;
  options.block_cache_bytes = std::min<size_t>(main.block_cache_bytes, 2 * kRegionBytes);
  options.vector_memory_bytes = std::min<size_t>(main.vector_memory_bytes, kRegionBytes);
  options.index_build_bytes = std::min<size_t>(main.index_build_bytes, kRegionBytes / 2);
  options.memtable_bytes = std::min<size_t>(main.memtable_bytes, kRegionBytes);
  options.max_queue_bytes = std::min<size_t>(main.max_queue_bytes, kRegionBytes);
  options.max_unit_bytes = std::min<size_t>(main.max_unit_bytes, 4 * kRegionBytes);
  options.io_threads = std::min(main.io_threads, 4);
  options.backup_directory.clear();
  return options;
}

absl::StatusOr<std::unique_ptr<storage::Database>> OpenRegion(storage::DatabaseOptions options) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(options.data_directory).parent_path(), error);
  if (error) return absl::UnavailableError(options.data_directory + ": " + error.message());
  options.log->info("opening the database of a region data_dir={}", options.data_directory);
  return storage::Database::Open(std::move(options));
}

// Null without --audit-log.
absl::StatusOr<std::shared_ptr<AuditLog>> OpenAuditLog(const Options& options, const Log& log) {
  if (options.audit_log.empty()) return nullptr;
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<AuditLog> opened, AuditLog::Open(options.audit_log, log));
  return opened;
}

// Null without --metrics-listen.
absl::StatusOr<std::unique_ptr<MetricsServer>> StartMetrics(const Options& options,
                                                            std::shared_ptr<AuditLog> audit_log,
                                                            const Log& log) {
  if (options.metrics_addresses.empty()) return nullptr;
  MetricsServerOptions metrics;
  metrics.addresses = options.metrics_addresses;
  if (options.tls()) metrics.tls = TlsOptionsOf(options);
  metrics.access_keys = options.access_keys;
  metrics.data_is_open = !options.http_addresses.empty() ||
                         std::any_of(options.addresses.begin(), options.addresses.end(),
                                     [](const auto& address) { return address.socket_path.empty(); });
  metrics.reload_interval = options.tls_reload_interval;
  metrics.facts = {.version = std::string(Version()),
                   .start_time_s = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()),
                   .memory_bytes = options.memory_bytes};
  metrics.audit_log = std::move(audit_log);
  metrics.audit_all_calls = options.audit_calls == "all";
  metrics.log = log;
  return MetricsServer::Start(std::move(metrics));
}

// Null but for a standby of a primary at an address.
absl::StatusOr<std::shared_ptr<PrimaryCopy>> OpenPrimaryCopy(const Options& options, const Log& log) {
  if (!options.follows_address()) return nullptr;
  PrimaryCopyOptions copy;
  copy.directory = options.data_directory + "/standby-copy";
  copy.log = log;
  copy.primary.endpoint = options.standby;
  if (!options.standby_ca.empty()) {
    copy.primary.tls = itemdb::TlsOptions{.ca_file = options.standby_ca == "system" ? "" : options.standby_ca,
                                          .cert_file = options.standby_cert,
                                          .key_file = options.standby_key};
  }
  if (!options.standby_access_key.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(const auto keys, AccessKeys::Read(options.standby_access_key));
    if (keys->Only() == nullptr)
      return storage::ValidationError(options.standby_access_key + " has more than one key: one is needed");
    copy.primary.access_key_id = keys->Only()->id;
    copy.primary.secret_access_key = keys->Only()->secret;
  }
  return PrimaryCopy::Open(std::move(copy));
}

// What Run() needs beside the options.
struct Process {
  // The configuration file that was read; empty without one.
  std::string config_file;
  // The permissions of a file for everybody whom the umask of the caller allows.
  mode_t shared_file_mode;
  StopSignals& signals;
  Log log;
};

// Makes the first base of a new standby, which may take long, and ends at a signal. Then `*signal` is its
// number, and the status is not OK.
absl::Status PrepareStandby(const storage::DatabaseOptions& options, StopSignals& signals, const Log& log,
                            int* signal) {
  storage::Cancellation cancellation;
  std::atomic<int> received = 0;
  std::promise<void> ended;
  signals.OnNext([&, end = ended.get_future().share()](int number) {
    if (received.exchange(number) == 0) log->info("stopping signal={}", strsignal(number));
    cancellation.Cancel();
    if (end.wait_for(kMaxCopyingStop) == std::future_status::ready) return;
    // A primary or a mount does not answer. What was copied is no database yet; the next start begins anew.
    log->warn("the copy of the primary did not stop: the process ends without it");
    log->flush();
    _exit(kExitOk);
  });
  absl::Status prepared = storage::PrepareStandby(options, cancellation);
  ended.set_value();
  signals.Ignore();
  *signal = received;
  if (*signal != 0 && prepared.ok()) prepared = cancellation.Check();
  return prepared;
}

ExitCode Run(const Options& options, const Process& process) {
  const Log& log = process.log;
  log->info("itemd starts version={} data_dir={} durability={} memory={} config={}", Version(),
            options.data_directory, options.durability, FormatSize(options.memory_bytes),
            process.config_file.empty() ? "none" : process.config_file);

  // Before anything is made: a second daemon by mistake leaves nothing behind.
  for (const auto* addresses : {&options.addresses, &options.http_addresses, &options.metrics_addresses}) {
    if (absl::Status free = CheckCanListen(*addresses); !free.ok()) return Fail(log, kExitUnavailable, free);
  }

  absl::StatusOr<std::shared_ptr<AuditLog>> audit_log = OpenAuditLog(options, log);
  if (!audit_log.ok()) {
    return Fail(log, absl::IsInvalidArgument(audit_log.status()) ? kExitUsage : kExitIo, audit_log.status());
  }

  absl::StatusOr<std::unique_ptr<MetricsServer>> metrics = StartMetrics(options, *audit_log, log);
  if (!metrics.ok()) return Fail(log, kExitUnavailable, metrics.status());

  const auto primary_copy = OpenPrimaryCopy(options, log);
  if (!primary_copy.ok()) return Fail(log, kExitUsage, primary_copy.status());

  storage::DatabaseOptions database_options;
  database_options.data_directory = options.data_directory;
  database_options.encryption_keys = options.encryption_keys;
  database_options.durable = options.durable();
  // Syncs of memory take no time.
  if (options.in_memory) database_options.spare_log_after_bytes = 0;
  database_options.recover_last_good = options.recover_last_good();
  const MemoryBudget budget = SplitMemory(options.memory_bytes);
  database_options.block_cache_bytes = budget.block_cache;
  database_options.memtable_bytes = budget.memtables;
  // Taken from the cache's memory while an index is being created.
  database_options.index_build_bytes = budget.block_cache / 4;
  // Taken from the cache's memory too, while vector indexes are searched.
  database_options.vector_memory_bytes = budget.block_cache / 4 * 3;
  database_options.max_queue_bytes = budget.write_queue;
  database_options.max_unit_bytes = budget.write_unit;
  database_options.max_item_collection_bytes = static_cast<int64_t>(options.max_item_collection_bytes);
  database_options.change_retention = absl::ToChronoMilliseconds(options.change_retention);
  database_options.max_change_log_bytes = options.max_change_log_bytes;
  database_options.time_to_live_wait = absl::ToChronoMilliseconds(options.time_to_live_wait);
  database_options.backup_directory = options.backup_directory;
  database_options.backup_bytes_per_second = static_cast<int64_t>(options.backup_bytes_per_second);
  database_options.backup_schedule = options.backup_schedule;
  database_options.backup_keep = options.backup_keep;
  database_options.backup_keep_age = absl::ToChronoMilliseconds(options.backup_keep_age);
  database_options.backup_prove_interval = absl::ToChronoMilliseconds(options.backup_prove_interval);
  database_options.archive_directory = options.archive_directory;
  database_options.standby_acknowledge = options.standby_acknowledge;
  database_options.standby_archive = options.standby;
  database_options.standby_backups = options.standby_backups;
  if (*primary_copy != nullptr) {
    database_options.standby_archive = (*primary_copy)->archive();
    database_options.standby_backups = (*primary_copy)->backups();
    database_options.primary_link = *primary_copy;
  }
  database_options.export_directory = options.export_directory;
  database_options.s3 = ToS3Options(options);
  if (!options.archive_directory.empty()) {
    database_options.archive_queue_bytes = budget.write_queue / 4;
    database_options.block_cache_bytes -= database_options.archive_queue_bytes;
  }
  database_options.archive_window = absl::ToChronoMilliseconds(options.archive_window);
  database_options.background_check_rate = options.background_check_rate;
  database_options.file_check_bytes_per_second = static_cast<int64_t>(options.file_check_rate);
  database_options.io_threads = options.io_threads != 0 ? options.io_threads : DefaultIoThreads();
  database_options.log = log;
  const storage::DatabaseOptions region_options = RegionOptions(database_options);
  const absl::Time opening = absl::Now();
  int stopped_by = 0;
  auto database = [&]() -> absl::StatusOr<std::unique_ptr<storage::Database>> {
    const OpeningReports reports(log);
    if (!database_options.standby_archive.empty())
      ITEMDB_RETURN_IF_ERROR(PrepareStandby(database_options, process.signals, log, &stopped_by));
    return storage::Database::Open(std::move(database_options));
  }();
  if (stopped_by != 0) {
    log->info("stopped before the standby had copied its primary");
    return kExitOk;
  }
  if (!database.ok()) return Fail(log, ExitCodeForOpen(database.status()), database.status());
  v1::GetStatusReply status = (*database)->GetStatus();
  const absl::Duration opened_after = absl::Now() - opening;
  log->info("database open database_id={} change_sequence={} tables={} ms={}", status.database_id(),
            (*database)->opened_sequence(), status.table_count(), absl::ToInt64Milliseconds(opened_after));
  if (opened_after > kSlowOpening) {
    log->warn(
        "the database opened slowly: a long write-ahead log was replayed, or files were checked seconds={}",
        absl::ToInt64Seconds(opened_after));
  }

  WarnIfOthersMayRead(options.data_directory, log);
  if (*primary_copy != nullptr) (*primary_copy)->Start(**database);
  // Before the database is destroyed, on every way out of this function.
  absl::Cleanup stop_copying = [&primary_copy] {
    if (*primary_copy != nullptr) (*primary_copy)->Stop();
  };

  ServerOptions server_options = ToServerOptions(options, budget, log);
  server_options.audit_log = *std::move(audit_log);
  if (options.regions_apart) {
    server_options.open_region = [&region_options](const std::string& name) {
      storage::DatabaseOptions region = region_options;
      region.data_directory += "/regions/" + name;
      return OpenRegion(std::move(region));
    };
  }
  auto server = Server::Start(**database, std::move(server_options));
  if (!server.ok()) return Fail(log, kExitUnavailable, server.status());
  AddressFile address_file(options.address_file, process.shared_file_mode);
  // Detached before the server is destroyed, on every way out of this function.
  absl::Cleanup detach = [&metrics] {
    if (*metrics != nullptr) (*metrics)->Detach();
  };
  std::vector<std::string> metrics_addresses;
  if (*metrics != nullptr) {
    (*metrics)->Attach(**database, (*server)->serving(), (*server)->addresses(), (*server)->http_addresses());
    metrics_addresses = (*metrics)->addresses();
  }
  if (absl::Status written =
          address_file.Write((*server)->addresses(), (*server)->http_addresses(), metrics_addresses);
      !written.ok()) {
    return Fail(log, kExitIo, written);
  }
  log->info("serving grpc={} http={} metrics={}", absl::StrJoin((*server)->addresses(), ","),
            options.http_addresses.empty() ? "none" : absl::StrJoin((*server)->http_addresses(), ","),
            metrics_addresses.empty() ? "none" : absl::StrJoin(metrics_addresses, ","));
  if (options.dev) {
    std::fputs(DevGreeting((*server)->http_addresses(), (*server)->addresses(), options).c_str(), stdout);
    std::fflush(stdout);
  }

  NotifyServiceManager("READY=1");
  // Destroyed before the database, after the server has stopped.
  std::optional<Watchdog> watchdog;
  watchdog.emplace(
      WatchdogInterval(), [&database] { (*database)->ProbeWrites(); },
      [] { NotifyServiceManager("WATCHDOG=1"); });

  int signal = process.signals.Wait([&] {
    log->info("reloading certificates and access keys, reopening the audit log signal={}", strsignal(SIGHUP));
    (*server)->ReloadFiles();
    if (*metrics != nullptr) (*metrics)->ReloadFiles();
  });
  if (*metrics != nullptr) (*metrics)->BeginStop();
  NotifyServiceManager("STOPPING=1");
  log->info("stopping signal={}", strsignal(signal));
  const auto grace_period = absl::ToChronoMilliseconds(options.shutdown_timeout);
  const StopLimit limit(grace_period + kMaxFlushTime + kMaxClosingTime, [log] {
    TellWithin(kMaxLastWords, [log] {
      log->error(
          "stopping takes too long, as with a file system that does not answer; itemd ends without closing "
          "the database. No answered write is lost: the next start replays the log");
      log.logger()->flush();
    });
    _exit(kExitIo);
  });
  storage::Cancellation flush;
  process.signals.OnNext([&](int again) {
    log->info("stopping at once signal={}", strsignal(again));
    flush.Cancel();
    (*server)->EndGracePeriod();
  });
  address_file.Remove();
  (*server)->Stop(grace_period);
  const absl::Status flushed =
      options.in_memory ? absl::OkStatus() : (*database)->FlushBeforeStop(kMaxFlushTime, flush);
  if (!flushed.ok())
    log->info("memtables were not flushed; the next start replays the log reason={}",
              storage::MessageOf(flushed));
  process.signals.Ignore();
  std::move(detach).Invoke();
  server->reset();
  watchdog.reset();
  // Closing the database may take as long as the watchdog waits.
  NotifyServiceManager("WATCHDOG=1");
  uint64_t change_sequence = (*database)->GetStatus().change_sequence();
  std::move(stop_copying).Invoke();
  database->reset();
  log->info("stopped change_sequence={}", change_sequence);
  return kExitOk;
}

int Main(int argc, char** argv) {
  // Files and directories of the database are for this user only: 0600 and 0700.
  const mode_t shared_file_mode = 0666 & ~umask(0077);
  ParsedOptions parsed = ParseOptions(argc, argv, {.environment = ProcessEnvironment()});
  if (!parsed.options.has_value()) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == kExitOk ? stdout : stderr);
    return parsed.exit_code;
  }
  // A closed stderr (its reader ended) must not end the daemon.
  signal(SIGPIPE, SIG_IGN);
  const bool journal = StderrIsJournal(std::getenv("JOURNAL_STREAM"));
  Log log = MakeStderrLog(parsed.options->log_level,
                          {.json = parsed.options->log_format == "json", .journal = journal});
  spdlog::set_default_logger(log.logger());
  RouteLibraryLogs();
  // These commands end at signals as other programs do.
  if (IsOfflineCommand(*parsed.options)) return RunOfflineCommand(*parsed.options, log);
  StopSignals signals;
  // Removed when the database is closed.
  std::optional<MemoryDirectory> memory_directory;
  if (parsed.options->in_memory) {
    absl::StatusOr<MemoryDirectory> made = MemoryDirectory::Make();
    if (!made.ok()) return Fail(log, kExitIo, made.status());
    memory_directory.emplace(*std::move(made));
    parsed.options->data_directory = memory_directory->path();
  }
  return Run(*parsed.options, {.config_file = parsed.config_file,
                               .shared_file_mode = shared_file_mode,
                               .signals = signals,
                               .log = log});
}

}  // namespace
}  // namespace itemdb::daemon

int main(int argc, char** argv) { return itemdb::daemon::Main(argc, argv); }
