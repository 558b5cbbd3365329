// The configuration of itemd. Every setting is a field here and a line of the table in settings.cc. Its name
// gives the flag `--shutdown-timeout`, the variable `ITEMD_SHUTDOWN_TIMEOUT` and the key `shutdown-timeout`
// of the configuration file. The first of these three that is given wins over the others and the default.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/access/tls_files.h"
#include "daemon/process/exit_codes.h"
#include "daemon/process/listen_address.h"
#include "daemon/process/machine_memory.h"
#include "storage/api/options.h"

namespace itemdb::daemon {

enum class Command {
  // Serve the database or, with --recover=plan, only print what a recovery with losses would do.
  kServe,
  // Print what the data directory has, and its damage.
  kInspect,
  // Write what is intact into a new database.
  kSalvage,
  // Make a database of a backup.
  kRestore,
};

// Whether the value of `standby` is the address of a primary ("HOST:PORT", "unix:/PATH"), and no directory.
inline bool IsPrimaryAddress(const std::string& text) {
  return !text.starts_with('/') && !text.starts_with('.') && text.find(':') != std::string::npos;
}

// The help text of each setting (settings.cc) says what it means.
struct Options {
  // Empty with in_memory: main() makes one (daemon/process/memory_directory.h).
  std::string data_directory;
  bool in_memory = false;
  // Empty: not encrypted.
  std::string encryption_key_file;
  // The texts as given; `addresses` holds them parsed.
  std::vector<std::string> listen;
  // The texts as given; `http_addresses` holds them parsed.
  std::vector<std::string> http_listen;
  // The texts as given; `metrics_addresses` holds them parsed.
  std::vector<std::string> metrics_listen;
  std::string address_file;
  std::string durability;
  std::string recover;
  // `itemd dev` (daemon/config/dev_command.h).
  bool dev = false;
  // What to do with the directory.
  Command command = Command::kServe;
  // The second directory of Command::kSalvage.
  std::string salvage_target;
  // Command::kRestore: the directory of the backups, and the number of one; 0: the newest.
  std::string restore_from;
  uint32_t restored_backup_id = 0;
  // Empty: no commits are replayed. At most one of the next two.
  std::string restored_archive;
  std::optional<uint64_t> restored_change;
  std::optional<int64_t> restored_time_us;

  // daemon/config/memory_budget.h divides it.
  uint64_t memory_bytes = 0;
  uint64_t max_item_collection_bytes = 0;
  // Zero: changes do not leave the change log because of their age.
  absl::Duration change_retention;
  uint64_t max_change_log_bytes = 0;
  // Zero: a table's time to live may be changed at any time.
  absl::Duration time_to_live_wait;
  // Each region has tables of its own (daemon/server/regional_handler.h).
  bool regions_apart = false;
  // Zero: the statuses of tables are shown as they are.
  absl::Duration status_delay;
  // Empty: `backups` in the data directory.
  std::string backup_directory;
  // 0: no limit.
  uint64_t backup_bytes_per_second = 0;
  // Empty: no scheduled backups.
  std::string backup_schedule;
  // 0: any number; zero: any age.
  int backup_keep = 0;
  absl::Duration backup_keep_age;
  // Zero: scheduled backups are not proven.
  absl::Duration backup_prove_interval;
  // Empty: commit groups are not kept.
  std::string archive_directory;
  absl::Duration archive_window;
  bool standby_acknowledge = false;
  // Empty: no standby. A directory, and then standby_backups is not empty, or the address of the primary
  // (follows_address).
  std::string standby;
  std::string standby_backups;
  // How the primary at an address is reached.
  std::string standby_ca;
  std::string standby_cert;
  std::string standby_key;
  std::string standby_access_key;
  bool follows_address() const { return IsPrimaryAddress(standby); }
  // Empty: `exports` in the data directory.
  std::string export_directory;
  // Empty: buckets are folders of export_directory. Otherwise that is empty, and s3_credentials_file is not.
  std::string s3_endpoint;
  std::string s3_region;
  std::string s3_credentials_file;
  // Empty: the authorities of the system.
  std::string s3_ca_file;
  // Records per second; 0: no check in the background.
  int background_check_rate = 0;
  // Bytes per second; 0: table files are not checked in the background.
  uint64_t file_check_rate = 0;
  int max_connections = 0;
  int max_calls_per_connection = 0;
  absl::Duration handshake_timeout;
  // Zero: idle connections are not closed.
  absl::Duration idle_timeout;

  // 0, the default: four per core, at most 64.
  int io_threads = 0;
  // 0, the default: one per core.
  int http_threads = 0;
  absl::Duration http_request_timeout;
  // Path of a key file; empty: calls need no key, and signatures are not verified.
  std::string access_keys;
  // Path of the audit log; empty: none.
  std::string audit_log;
  std::string audit_calls;

  // Paths of PEM files; all empty: no TLS.
  std::string tls_cert;
  std::string tls_key;
  std::string tls_client_ca;
  bool tls_without_client_certificates = false;
  absl::Duration tls_reload_interval;
  // Octal digits.
  std::string socket_mode;

  std::string log_level;
  std::string log_format;
  // Zero: no slow calls are logged.
  absl::Duration slow_request;
  // The URL of a collector; empty: calls are not traced.
  std::string trace_endpoint;
  std::string trace_ratio;
  absl::Duration shutdown_timeout;

  // ---- derived from the above ----

  // Read from `encryption_key_file`.
  storage::EncryptionKeys encryption_keys;
  // Never empty.
  std::vector<ListenAddress> addresses;
  // HOST:PORT only; may be empty.
  std::vector<ListenAddress> http_addresses;
  std::vector<ListenAddress> metrics_addresses;
  // Permission bits of unix sockets.
  unsigned socket_permissions = 0;
  // Where spans are sent to; empty without `trace_endpoint`.
  std::string trace_url;
  // The share of calls that are traced, 0 to 1.
  double traced_share = 0;

  bool durable() const { return durability == "durable"; }
  bool recover_last_good() const { return recover == "last-good"; }
  bool recover_plan() const { return recover == "plan"; }
  bool tls() const { return !tls_cert.empty(); }
};

// The TLS files of options that have a certificate.
TlsOptions TlsOptionsOf(const Options& options);

// The sources of options beside the command line.
struct OptionSources {
  // "NAME=VALUE", as in environ; only names that begin with ITEMD_ matter.
  std::vector<std::string> environment;
  // Read when neither --config nor ITEMD_CONFIG names a file, and only if it exists.
  std::string default_config_file = "/etc/itemdb/itemd.toml";
  // The whole of which --memory=25% is a share.
  uint64_t machine_memory_bytes = MachineMemoryBytes();
};

// With `options`: run the daemon. Without: print `text` (kExitOk: to stdout, else to stderr) and exit.
struct ParsedOptions {
  std::optional<Options> options;
  ExitCode exit_code = kExitOk;
  std::string text;
  // The configuration file that was read; empty if none was.
  std::string config_file;
};

// Reads and checks the whole configuration: command line, environment, configuration file, certificates,
// access keys and encryption keys. Never throws and prints nothing.
//
// kExitUsage: the configuration is wrong. kExitIo: the configuration file or a file it names is unreadable.
ParsedOptions ParseOptions(int argc, const char* const* argv, const OptionSources& sources);

// The environment of this process.
std::vector<std::string> ProcessEnvironment();

}  // namespace itemdb::daemon
