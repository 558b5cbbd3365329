// itemd's configuration. Every setting is a field here and a line of the table in settings.cc, which gives it
// one name: `--shutdown-timeout` on the command line, `ITEMD_SHUTDOWN_TIMEOUT` in the environment,
// `shutdown-timeout` in the configuration file. Each setting takes its value from the first of these that has
// one, else its default.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/access/tls_files.h"
#include "daemon/process/exit_codes.h"
#include "daemon/process/listen_address.h"
#include "daemon/process/machine_memory.h"

namespace itemdb {

// The text of --help says what each means.
struct Options {
  std::string data_directory;
  // As written; `addresses` is what they mean.
  std::vector<std::string> listen;
  // As written; `http_addresses` is what they mean.
  std::vector<std::string> http_listen;
  std::string address_file;
  std::string durability;
  std::string recover;

  // All memory the daemon plans with, in bytes; daemon/config/memory_budget.h splits it.
  uint64_t memory_bytes = 0;
  uint64_t max_item_collection_bytes = 0;
  // Zero: changes do not leave the log for their age.
  absl::Duration change_retention;
  uint64_t max_change_log_bytes = 0;
  // Zero: a table's time to live may be changed at any time.
  absl::Duration time_to_live_wait;
  // Records a second; 0: no check in the background.
  int background_check_rate = 0;
  int max_connections = 0;
  int max_calls_per_connection = 0;
  absl::Duration handshake_timeout;
  // Zero: connections may stay idle for ever.
  absl::Duration idle_timeout;

  // 0, when not given: four a core, at most 64.
  int io_threads = 0;
  // 0, when not given: as many as there are cores.
  int http_threads = 0;
  absl::Duration http_request_timeout;
  // Path of a key file; empty: no key is asked for, and no signature verified.
  std::string access_keys;

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
  // Zero: none is logged.
  absl::Duration slow_request;
  absl::Duration shutdown_timeout;

  // ---- derived from the above ----

  // Never empty.
  std::vector<ListenAddress> addresses;
  // HOST:PORT only; may be empty.
  std::vector<ListenAddress> http_addresses;
  // Permission bits of unix sockets.
  unsigned socket_permissions = 0;

  bool durable() const { return durability == "durable"; }
  bool recover_last_good() const { return recover == "last-good"; }
  bool tls() const { return !tls_cert.empty(); }
};

// Of options with a certificate.
TlsOptions TlsOptionsOf(const Options& options);

// What options are read from, beside the command line.
struct OptionSources {
  // "NAME=VALUE", as in environ; only names that begin with ITEMD_ matter.
  std::vector<std::string> environment;
  // Read when neither --config nor ITEMD_CONFIG names a file, and only if it exists.
  std::string default_config_file = "/etc/itemdb/itemd.toml";
  // What --memory is a share of.
  uint64_t machine_memory_bytes = MachineMemoryBytes();
};

// What to do after parsing: run with `options`, or print `text` (errors to stderr, everything else to stdout)
// and exit.
struct ParsedOptions {
  std::optional<Options> options;
  ExitCode exit_code = kExitOk;
  std::string text;
  // The configuration file that was read, or empty.
  std::string config_file;
};

// Never throws and prints nothing. Reads the configuration file, the certificates and the access keys.
//
// Exit codes: kExitUsage the configuration is wrong; kExitIo a file it names cannot be read.
ParsedOptions ParseOptions(int argc, const char* const* argv, const OptionSources& sources);

// The environment of this process.
std::vector<std::string> ProcessEnvironment();

}  // namespace itemdb
