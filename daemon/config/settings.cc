#include "daemon/config/settings.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/nearest.h"
#include "daemon/config/memory_budget.h"
#include "daemon/config/setting_values.h"

namespace itemdb::daemon {
namespace {

constexpr int64_t kSecondMs = 1'000;
constexpr int64_t kDayMs = 24 * 3'600 * kSecondMs;
constexpr std::string_view kVariablePrefix = "ITEMD_";
constexpr std::string_view kConfigVariable = "ITEMD_CONFIG";
constexpr std::string_view kUnlimited = "unlimited";

std::vector<std::string> ChoicesOf(const Setting& setting) {
  return absl::StrSplit(absl::string_view(setting.choices.data(), setting.choices.size()), '|');
}

absl::Status Wrong(const SettingValue& value, std::string_view message) {
  return storage::ValidationError(absl::StrFormat("%s: %s", value.subject, message));
}

absl::Status NotAllowed(const SettingValue& value) {
  return Wrong(value, absl::StrFormat("\"%s\" is not allowed: it takes %s", value.texts.front(),
                                      value.setting->allowed()));
}

bool Within(const Setting& setting, int64_t number) { return setting.min <= number && number <= setting.max; }

// Checks a value and writes it into its field; one function per type of field.
struct Assign {
  const SettingValue& value;
  uint64_t machine_memory_bytes;
  Options& options;

  const Setting& setting() const { return *value.setting; }
  const std::string& text() const { return value.texts.front(); }

  absl::Status operator()(std::string Options::*field) const {
    std::vector<std::string> choices = ChoicesOf(setting());
    bool free = setting().choices.empty();
    if (!free && std::find(choices.begin(), choices.end(), text()) == choices.end()) return NotAllowed(value);
    options.*field = text();
    return absl::OkStatus();
  }
  absl::Status operator()(std::vector<std::string> Options::*field) const {
    options.*field = value.texts;
    return absl::OkStatus();
  }
  absl::Status operator()(uint64_t Options::*field) const {
    if (setting().allows_unlimited && text() == kUnlimited) return absl::OkStatus();
    absl::StatusOr<uint64_t> bytes = ParseSizeOrShare(text(), machine_memory_bytes);
    if (!bytes.ok()) return Wrong(value, storage::MessageOf(bytes.status()));
    // A share of a small machine that is below the minimum is raised to it. Such a size in bytes is refused.
    if (text().ends_with('%')) *bytes = std::max<uint64_t>(*bytes, static_cast<uint64_t>(setting().min));
    if (!Within(setting(), static_cast<int64_t>(*bytes))) return NotAllowed(value);
    options.*field = *bytes;
    return absl::OkStatus();
  }
  absl::Status operator()(int Options::*field) const {
    int number = 0;
    auto [end, error] = std::from_chars(text().data(), text().data() + text().size(), number);
    if (error != std::errc() || end != text().data() + text().size() || !Within(setting(), number)) {
      return NotAllowed(value);
    }
    options.*field = number;
    return absl::OkStatus();
  }
  absl::Status operator()(absl::Duration Options::*field) const {
    absl::StatusOr<absl::Duration> duration = ParseDuration(text());
    if (!duration.ok()) return Wrong(value, storage::MessageOf(duration.status()));
    if (*duration < absl::Milliseconds(setting().min) || *duration > absl::Milliseconds(setting().max)) {
      return NotAllowed(value);
    }
    options.*field = *duration;
    return absl::OkStatus();
  }
  absl::Status operator()(bool Options::*field) const {
    if (text() != "true" && text() != "false") return NotAllowed(value);
    options.*field = text() == "true";
    return absl::OkStatus();
  }
};

}  // namespace

const std::vector<Setting>& Settings() {
  static const std::vector<Setting>* const settings = new std::vector<Setting>{
      {"data-dir", &Options::data_directory, "DIR", "",
       "Directory of the database; created if it is missing. Only one itemd at a time can use it"},
      {"in-memory", &Options::in_memory, "", "false",
       "Instead of --data-dir: keep the database in a new directory of /dev/shm, which is removed when itemd "
       "stops, or by the next start with --in-memory if itemd was killed"},
      {"encryption-key-file", &Options::encryption_key_file, "FILE", "",
       "File of the keys that encrypt data directory and backups: a line for each key, an id and 64 "
       "hexadecimal digits; the first key encrypts new files. A directory is encrypted from its beginning or "
       "not at all"},
      {"listen", &Options::listen, "ADDR", "",
       "Address for gRPC: HOST:PORT (port 0: the kernel chooses one) or unix:/PATH; may be repeated, in "
       "ITEMD_LISTEN separated by commas. An address that other machines can reach needs TLS"},
      {"http-listen", &Options::http_listen, "ADDR", "",
       "Address for DynamoDB's HTTP protocol: HOST:PORT (port 0: the kernel chooses one); may be repeated, "
       "in ITEMD_HTTP_LISTEN separated by commas. An address that other machines can reach needs TLS and "
       "--access-keys"},
      {"metrics-listen", &Options::metrics_listen, "ADDR", "",
       "Address for metrics and health checks over HTTP: HOST:PORT (port 0: the kernel chooses one); may be "
       "repeated, in ITEMD_METRICS_LISTEN separated by commas. An address that other machines can reach "
       "needs TLS and --access-keys"},
      {"address-file", &Options::address_file, "FILE", "",
       "itemd writes its addresses to this file as JSON once it serves, and removes the file when it stops"},
      {"durability", &Options::durability, "MODE", "durable",
       "durable: a write is answered when it is synced to disk; relaxed: before that", "durable|relaxed"},
      {"recover", &Options::recover, "HOW", "no",
       "last-good: open a database that was refused as damaged: keep the readable data, rebuild the "
       "indexes, log the losses; plan: print, table by table, what last-good would keep and lose, change "
       "nothing, and exit",
       "no|last-good|plan"},
      {"memory",
       &Options::memory_bytes,
       "SIZE",
       "25%",
       "Memory for caches, writes not yet in files, the write queue and calls in flight; a size, or a share "
       "of the memory of the machine or control group",
       {},
       static_cast<int64_t>(kMinMemoryBytes),
       int64_t{1} << 50},
      {"max-item-collection-bytes",
       &Options::max_item_collection_bytes,
       "SIZE",
       "10GiB",
       "In tables with local indexes: the greatest size of all items with one partition key together with "
       "their local index entries; a write that would exceed it is refused",
       {},
       1 << 20,
       int64_t{1} << 50},
      {"change-retention",
       &Options::change_retention,
       "DURATION",
       "24h",
       "How long changes stay in the change log, for Watch and streams; 0s: no limit but "
       "--max-change-log-bytes",
       {},
       0,
       365 * kDayMs},
      {"max-change-log-bytes",
       &Options::max_change_log_bytes,
       "SIZE",
       "unlimited",
       "If the files of the change log are larger than this, the oldest changes are deleted before "
       "--change-retention has passed",
       {},
       64 << 20,
       int64_t{1} << 50,
       /*allows_unlimited=*/true},
      {"time-to-live-wait",
       &Options::time_to_live_wait,
       "DURATION",
       "0s",
       "How long after a change to a table's time to live the next change is refused; DynamoDB's own wait is "
       "about an hour",
       {},
       0,
       365 * kDayMs},
      {"status-delay",
       &Options::status_delay,
       "DURATION",
       "0s",
       "How long replies over HTTP show that a table is CREATING or UPDATING, its time to live ENABLING, and "
       "contributor insights ENABLING or DISABLING, for programs that test how they wait. The table can be "
       "used at once",
       {},
       0,
       365 * kDayMs},
      {"regions-apart", &Options::regions_apart, "", "false",
       "Over HTTP each region of the credential scope, and with --access-keys each key in it, has tables of "
       "its "
       "own, as in DynamoDB Local without -sharedDb. gRPC has those of the region local. For development: a "
       "region is a database of its own in the data directory"},
      {"backup-directory", &Options::backup_directory, "DIR", "",
       "Directory for backups of the whole database (itemctl backup); made with the first one. Should be on "
       "another disk than --data-dir. Without it: backups in --data-dir"},
      {"backup-bytes-per-second",
       &Options::backup_bytes_per_second,
       "SIZE",
       "unlimited",
       "How fast a backup copies files",
       {},
       1 << 20,
       1 << 30,
       /*allows_unlimited=*/true},
      {"backup-schedule", &Options::backup_schedule, "CRON", "",
       "When itemd makes backups by itself, in local time, as cron writes it: \"30 3 * * *\" is every day at "
       "03:30; also @hourly, @daily, @weekly, @monthly. Each backup is verified. Without it: never"},
      {"backup-keep",
       &Options::backup_keep,
       "NUMBER",
       "0",
       "After a scheduled backup only the newest NUMBER backups stay; 0: all",
       {},
       0,
       100'000},
      {"backup-keep-age",
       &Options::backup_keep_age,
       "DURATION",
       "0s",
       "After a scheduled backup older ones than this are deleted, but never the newest; 0s: none",
       {},
       0,
       365 * kDayMs},
      {"backup-prove-interval",
       &Options::backup_prove_interval,
       "DURATION",
       "24h",
       "A scheduled backup is proven (restored into a folder beside the backups, checked, and deleted there) "
       "when the last one that was is older than this; 0s: never",
       {},
       0,
       365 * kDayMs},
      {"archive-directory", &Options::archive_directory, "DIR", "",
       "Directory where every commit is kept, with the backups that it makes for this, so that any commit of "
       "the last --archive-window can be restored (itemd restore --archive). Should be on another disk than "
       "--data-dir. Without it: commits are not kept"},
      {"archive-window",
       &Options::archive_window,
       "DURATION",
       "168h",
       "How far back any commit can be restored",
       {},
       kDayMs,
       35 * kDayMs},
      {"standby-acknowledge", &Options::standby_acknowledge, "", "false",
       "Answer a write only when a standby that follows over the network has it on its disk. When none has "
       "it "
       "after 5 seconds, the outcome of the write is unknown, and further writes are refused until one "
       "answers. Needs --archive-directory"},
      {"standby", &Options::standby, "DIR|HOST:PORT", "",
       "Run as a standby: follow the archive in DIR, that is the --archive-directory of the primary, or the "
       "primary that serves gRPC at HOST:PORT. Serves reads, refuses writes, and becomes a database of its "
       "own with itemctl promote. The data directory must be empty, or of a standby of that primary"},
      {"standby-backups", &Options::standby_backups, "DIR", "",
       "With --standby DIR: the --backup-directory of the primary. A new standby is restored from there, and "
       "again after a gap of the archive"},
      {"standby-ca", &Options::standby_ca, "FILE|system", "",
       "With --standby HOST:PORT: use TLS, and trust the authorities in this PEM file, or those that the "
       "system trusts. Without it: no TLS"},
      {"standby-cert", &Options::standby_cert, "FILE", "",
       "With --standby-ca: the certificate that is shown to a primary with --tls-client-ca, PEM"},
      {"standby-key", &Options::standby_key, "FILE", "", "The private key of --standby-cert, PEM"},
      {"standby-access-key", &Options::standby_access_key, "FILE", "",
       "With --standby HOST:PORT: the access key for a primary with --access-keys, with the role admin. A "
       "file as --access-keys takes it, with one key"},
      {"export-directory", &Options::export_directory, "DIR", "",
       "Directory of exports and imports. A bucket is a folder in it. Without it: exports in the data "
       "directory"},
      {"s3-endpoint", &Options::s3_endpoint, "URL", "",
       "Export to and import from buckets at this S3-compatible endpoint instead of folders: "
       "http://HOST:PORT or https://HOST, such as https://s3.eu-central-1.amazonaws.com. Buckets are named "
       "in "
       "the path of requests. Not together with --export-directory"},
      {"s3-region", &Options::s3_region, "REGION", "us-east-1",
       "The region of the buckets at --s3-endpoint, for which requests are signed"},
      {"s3-credentials-file", &Options::s3_credentials_file, "FILE", "",
       "Credentials for --s3-endpoint, in the form of the AWS CLI's shared credentials: aws_access_key_id "
       "and "
       "aws_secret_access_key in a profile [default]. Read again for every request"},
      {"s3-ca-file", &Options::s3_ca_file, "FILE", "",
       "Certificates of authorities, PEM; one of them must have signed the certificate of --s3-endpoint. "
       "Without it: the authorities of the system"},
      {"background-check-rate",
       &Options::background_check_rate,
       "RECORDS",
       "500",
       "Items and index entries per second that a check in the background compares with each other, without "
       "end, once an hour at most; content sums a hundred times as fast, at most 100000 a second; 0: no "
       "check",
       {},
       0,
       1'000'000},
      {"file-check-rate",
       &Options::file_check_rate,
       "SIZE",
       "4MiB",
       "Bytes of table files per second that a check in the background compares with their checksums, "
       "without end, once an hour at most; 0: no check",
       {},
       0,
       1 << 30},
      {"max-connections",
       &Options::max_connections,
       "NUMBER",
       "4096",
       "Greatest number of connections, for gRPC and HTTP each; itemd closes further connections at once. "
       "From 64 on the last quarter is kept for addresses with less than half of them",
       {},
       1,
       1'000'000},
      {"max-calls-per-connection",
       &Options::max_calls_per_connection,
       "NUMBER",
       "1024",
       "Greatest number of calls in flight on one gRPC connection; clients delay further calls",
       {},
       1,
       1'000'000},
      {"handshake-timeout",
       &Options::handshake_timeout,
       "DURATION",
       "10s",
       "A gRPC connection is closed if the HTTP/2 preface (and TLS handshake) has not arrived after this "
       "time, or with --access-keys no call of a known key; an HTTP connection, if its TLS handshake or the "
       "head of a request has not, or no request of a known key has begun",
       {},
       100,
       kDayMs},
      {"idle-timeout",
       &Options::idle_timeout,
       "DURATION",
       "30m",
       "A connection without calls for this long is closed; clients reopen it by themselves; 0s: never",
       {},
       0,
       30 * kDayMs},
      {"io-threads",
       &Options::io_threads,
       "NUMBER",
       "",
       "Threads for reads that wait for the disk and for long pages (default: four per core, at most 64)",
       {},
       1,
       256},
      {"http-threads",
       &Options::http_threads,
       "NUMBER",
       "",
       "Threads that serve HTTP (default: one per core)",
       {},
       1,
       256},
      {"http-request-timeout",
       &Options::http_request_timeout,
       "DURATION",
       "60s",
       "An HTTP request that has not arrived whole after this time is refused; a connection whose client has "
       "not read its reply after this time is closed",
       {},
       100,
       kDayMs},
      {"access-keys", &Options::access_keys, "FILE", "",
       "File of access keys and their roles for all or some tables, TOML: gRPC calls must carry a key, HTTP "
       "requests must be signed with one. Without it everybody who can connect may do everything"},
      {"audit-log", &Options::audit_log, "FILE", "",
       "Write who did what, from where and with which outcome to this file, one JSON object per line, "
       "without "
       "contents of items. `itemctl audit verify FILE` checks that no line was changed"},
      {"audit-calls", &Options::audit_calls, "WHICH", "admin",
       "Calls in the audit log: admin: refused calls and those that need the role admin; all: every call",
       "admin|all"},
      {"tls-cert", &Options::tls_cert, "FILE", "",
       "The daemon's certificate and its chain, PEM; with --tls-key it turns TLS on for every HOST:PORT of "
       "gRPC and HTTP"},
      {"tls-key", &Options::tls_key, "FILE", "", "The private key of --tls-cert, PEM"},
      {"tls-client-ca", &Options::tls_client_ca, "FILE", "",
       "Certificates of authorities, PEM; one of them must have signed the certificate of each client"},
      {"tls-without-client-certificates", &Options::tls_without_client_certificates, "", "false",
       "Allow a gRPC address that other machines can reach with TLS but with neither --tls-client-ca nor "
       "--access-keys: everybody who can reach it may do everything"},
      {"tls-reload-interval",
       &Options::tls_reload_interval,
       "DURATION",
       "10s",
       "How often itemd reads the certificate files and the file of --access-keys again to find changes",
       {},
       kSecondMs,
       kDayMs},
      {"socket-mode", &Options::socket_mode, "MODE", "0660", "Permissions of unix sockets, octal"},
      {"log-level", &Options::log_level, "LEVEL", "info", "debug, info, warn or error",
       "debug|info|warn|error"},
      {"log-format", &Options::log_format, "FORMAT", "text",
       "text: a message and key=value pairs on one line; json: one object per line", "text|json"},
      {"slow-request",
       &Options::slow_request,
       "DURATION",
       "1s",
       "Log calls that took at least this long, without their contents; 0s: log none",
       {},
       0,
       kDayMs},
      {"trace-endpoint", &Options::trace_endpoint, "URL", "",
       "Send spans of calls to this collector, OTLP over HTTP as JSON; http://HOST:4318 stands for "
       "http://HOST:4318/v1/traces. Without it no call is traced"},
      {"trace-ratio", &Options::trace_ratio, "SHARE", "1%",
       "The share of calls that are traced if their caller does not decide it, as a percentage or a "
       "fraction: "
       "1% or 0.01"},
      {"shutdown-timeout",
       &Options::shutdown_timeout,
       "DURATION",
       "10s",
       "How long calls in flight may go on after SIGTERM before they are cancelled",
       {},
       0,
       kDayMs},
  };
  return *settings;
}

std::string Setting::flag() const { return absl::StrFormat("--%s", name); }

std::string Setting::variable() const {
  std::string upper = absl::AsciiStrToUpper(absl::string_view(name.data(), name.size()));
  return std::string(kVariablePrefix) + absl::StrReplaceAll(upper, {{"-", "_"}});
}

bool Setting::is_list() const { return std::holds_alternative<std::vector<std::string> Options::*>(field); }

bool Setting::is_boolean() const { return std::holds_alternative<bool Options::*>(field); }

std::string Setting::allowed() const {
  struct Describe {
    const Setting& setting;
    std::string operator()(std::string Options::*) const {
      return setting.choices.empty() ? "a text" : "one of " + absl::StrJoin(ChoicesOf(setting), ", ");
    }
    std::string operator()(std::vector<std::string> Options::*) const { return "texts"; }
    std::string operator()(uint64_t Options::*) const {
      return absl::StrFormat("a size from %s to %s, such as 512MiB, or %s",
                             FormatSize(static_cast<uint64_t>(setting.min)),
                             FormatSize(static_cast<uint64_t>(setting.max)),
                             setting.allows_unlimited ? kUnlimited : "a share of the memory such as 25%");
    }
    std::string operator()(int Options::*) const {
      return absl::StrFormat("a whole number from %d to %d", setting.min, setting.max);
    }
    std::string operator()(absl::Duration Options::*) const {
      return absl::StrFormat("a duration from %s to %s, such as 10s",
                             absl::FormatDuration(absl::Milliseconds(setting.min)),
                             absl::FormatDuration(absl::Milliseconds(setting.max)));
    }
    std::string operator()(bool Options::*) const { return "true or false"; }
  };
  return std::visit(Describe{*this}, field);
}

const Setting* FindSetting(std::string_view name) {
  for (const Setting& setting : Settings()) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

std::vector<std::string> NamesOf(std::string (Setting::*name)() const) {
  std::vector<std::string> names;
  for (const Setting& setting : Settings()) names.push_back((setting.*name)());
  return names;
}

absl::Status ApplySetting(const SettingValue& value, uint64_t machine_memory_bytes, Options& options) {
  for (const std::string& text : value.texts) {
    if (text.empty()) return Wrong(value, "the value is missing: it takes " + value.setting->allowed());
    if (text.find('\0') != std::string::npos) return Wrong(value, "a value must not contain a zero byte");
  }
  if (value.texts.empty()) return Wrong(value, "the value is missing: at least one is needed");
  return std::visit(Assign{value, machine_memory_bytes, options}, value.setting->field);
}

absl::StatusOr<std::vector<SettingValue>> ReadEnvironment(const std::vector<std::string>& environment) {
  std::vector<SettingValue> values;
  for (const std::string& entry : environment) {
    size_t equals = entry.find('=');
    std::string name = entry.substr(0, equals);
    if (!name.starts_with(kVariablePrefix) || name == kConfigVariable) continue;
    const auto& settings = Settings();
    auto setting = std::find_if(settings.begin(), settings.end(),
                                [&](const Setting& known) { return known.variable() == name; });
    if (setting == settings.end()) {
      return storage::ValidationError(absl::StrFormat("the environment variable %s is not a setting%s", name,
                                                      common::DidYouMean(name, NamesOf(&Setting::variable))));
    }
    std::string text = equals == std::string::npos ? "" : entry.substr(equals + 1);
    SettingValue value{&*setting, {text}, "environment " + name, name};
    if (setting->is_list()) value.texts = absl::StrSplit(text, ',');
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace itemdb::daemon
