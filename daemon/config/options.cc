#include "daemon/config/options.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <system_error>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "daemon/access/access_keys.h"
#include "daemon/access/encryption_key_file.h"
#include "daemon/access/key_file_changes.h"
#include "daemon/access/s3_credentials_file.h"
#include "daemon/config/command_line.h"
#include "daemon/config/config_file.h"
#include "daemon/config/dev_command.h"
#include "daemon/config/path_checks.h"
#include "daemon/config/setting_values.h"
#include "daemon/config/settings.h"
#include "storage/base/cron_schedule.h"
#include "storage/base/s3_endpoint.h"

namespace itemdb::daemon {
namespace {

// The winning value of each setting, by name. A setting without value and default is missing.
using Merged = std::map<std::string_view, SettingValue>;

ParsedOptions Fail(const absl::Status& status) {
  bool unreadable = absl::IsUnavailable(status);
  return {.options = std::nullopt,
          .exit_code = unreadable ? kExitIo : kExitUsage,
          .text = absl::StrFormat("itemd: %s\n%s", storage::MessageOf(status),
                                  unreadable ? "" : "Run itemd --help for the settings.\n"),
          .config_file = ""};
}

ParsedOptions Print(std::string text) {
  return {.options = std::nullopt, .exit_code = kExitOk, .text = std::move(text), .config_file = ""};
}

// The configuration file to read; empty without one.
absl::StatusOr<std::string> ConfigFile(const CommandLine& line, const OptionSources& sources) {
  if (!line.config_file.empty()) return line.config_file;
  constexpr std::string_view kVariable = "ITEMD_CONFIG=";
  for (const std::string& entry : sources.environment) {
    if (!entry.starts_with(kVariable)) continue;
    std::string path = entry.substr(kVariable.size());
    if (path.empty()) return storage::ValidationError("ITEMD_CONFIG is empty: it must be the name of a file");
    return path;
  }
  if (line.dev) return "";
  // A default file that exists but cannot be read counts as existing: reading it then is an error.
  bool exists = access(sources.default_config_file.c_str(), F_OK) == 0 || errno == EACCES;
  return exists ? sources.default_config_file : "";
}

// Replaces the values that one source has. in-memory and data-dir both say where the database is: one of them
// replaces the other too.
void Take(const std::vector<SettingValue>& values, Merged* merged) {
  for (const SettingValue& value : values) {
    if (value.setting->name == "data-dir") merged->erase("in-memory");
    if (value.setting->name == "in-memory" && value.texts == std::vector<std::string>{"true"})
      merged->erase("data-dir");
  }
  for (const SettingValue& value : values) (*merged)[value.setting->name] = value;
}

absl::StatusOr<Merged> Merge(const CommandLine& line, const std::string& config_file,
                             const OptionSources& sources) {
  Merged merged;
  for (const Setting& setting : Settings()) {
    if (setting.fallback.empty()) continue;
    merged[setting.name] = {&setting, {std::string(setting.fallback)}, "default", setting.flag()};
  }
  // From here on a later source replaces the values of an earlier one.
  if (line.dev) Take(DevValues(), &merged);
  if (!config_file.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(const std::vector<SettingValue> values, ReadConfigFile(config_file));
    Take(values, &merged);
  }
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<SettingValue> variables, ReadEnvironment(sources.environment));
  Take(variables, &merged);
  Take(line.values, &merged);
  return merged;
}

// The beginning of a message about the setting `name`.
std::string Subject(const Merged& merged, std::string_view name) {
  auto value = merged.find(name);
  return value == merged.end() ? FindSetting(name)->flag() : value->second.subject;
}

// Parses `texts`, the value of the setting `name`, and appends the results to `addresses`.
absl::Status ParseAddresses(const Merged& merged, std::string_view name,
                            const std::vector<std::string>& texts, std::vector<ListenAddress>& addresses) {
  for (const std::string& text : texts) {
    absl::StatusOr<ListenAddress> address = ParseListenAddress(text);
    if (!address.ok())
      return storage::ValidationError(Subject(merged, name) + ": " + storage::MessageOf(address.status()));
    bool fixed = !address->text.ends_with(":0");
    for (const ListenAddress& earlier : addresses) {
      if (fixed && earlier.text == address->text) {
        return storage::ValidationError(
            absl::StrFormat("%s: %s is given twice", Subject(merged, name), address->text));
      }
    }
    address->setting = Subject(merged, name);
    addresses.push_back(*std::move(address));
  }
  return absl::OkStatus();
}

// Refuses an HTTP address that other machines can reach, unless there are TLS and access keys.
absl::Status CheckHttpAddress(const Merged& merged, const Options& options, std::string_view name,
                              const ListenAddress& address) {
  if (!address.socket_path.empty()) {
    return storage::ValidationError(absl::StrFormat("%s: %s is not allowed: HTTP is served at HOST:PORT only",
                                                    Subject(merged, name), address.text));
  }
  std::vector<std::string> needed;
  if (!options.tls()) needed = {"--tls-cert", "--tls-key"};
  if (options.access_keys.empty()) needed.push_back("--access-keys");
  if (address.loopback || needed.empty()) return absl::OkStatus();
  return storage::ValidationError(
      absl::StrFormat("%s: other machines can reach %s, so it needs %s; without, listen on 127.x.x.x, [::1] "
                      "or localhost",
                      Subject(merged, name), address.text, absl::StrJoin(needed, ", ")));
}

uint16_t PortOf(const SocketAddress& address) {
  return ntohs(address.storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(address.get())->sin_port);
}

// 0.0.0.0 or [::].
bool IsAnyAddress(const SocketAddress& address) {
  if (address.storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address.get());
    return std::memcmp(&v6->sin6_addr, &in6addr_any, sizeof(in6addr_any)) == 0;
  }
  return reinterpret_cast<const sockaddr_in*>(address.get())->sin_addr.s_addr == INADDR_ANY;
}

// Two sockets cannot listen on `a` and `b`.
bool Clash(const ListenAddress& a, const ListenAddress& b) {
  if (!a.socket_path.empty() || !b.socket_path.empty()) return a.text == b.text;
  const SocketAddress left = ToSocketAddress(a);
  const SocketAddress right = ToSocketAddress(b);
  if (PortOf(left) == 0 || PortOf(left) != PortOf(right)) return false;
  return IsAnyAddress(left) || IsAnyAddress(right) ||
         (left.bytes == right.bytes && std::memcmp(&left.storage, &right.storage, left.bytes) == 0);
}

// Refuses an address that two settings name.
absl::Status CheckNoClash(const Merged& merged, const Options& options) {
  const std::pair<const char*, const std::vector<ListenAddress>*> kSettings[] = {
      {"listen", &options.addresses},
      {"http-listen", &options.http_addresses},
      {"metrics-listen", &options.metrics_addresses}};
  std::vector<std::pair<const char*, const ListenAddress*>> earlier;
  for (const auto& [name, addresses] : kSettings) {
    for (const ListenAddress& address : *addresses) {
      for (const auto& [other_name, other] : earlier) {
        if (!Clash(address, *other)) continue;
        return storage::ValidationError(
            absl::StrFormat("%s: %s clashes with %s of %s: each needs a port of its own",
                            Subject(merged, name), address.text, other->text, Subject(merged, other_name)));
      }
      earlier.emplace_back(name, &address);
    }
  }
  return absl::OkStatus();
}

absl::Status DeriveAddresses(const Merged& merged, Options& options) {
  ITEMDB_RETURN_IF_ERROR(ParseAddresses(merged, "listen", options.listen, options.addresses));
  if (options.listen.empty()) {
    options.addresses = DefaultListenAddresses();
    for (ListenAddress& address : options.addresses) address.setting = "--listen (default)";
  }
  ITEMDB_RETURN_IF_ERROR(ParseAddresses(merged, "http-listen", options.http_listen, options.http_addresses));
  for (const ListenAddress& address : options.http_addresses)
    ITEMDB_RETURN_IF_ERROR(CheckHttpAddress(merged, options, "http-listen", address));
  ITEMDB_RETURN_IF_ERROR(
      ParseAddresses(merged, "metrics-listen", options.metrics_listen, options.metrics_addresses));
  for (const ListenAddress& address : options.metrics_addresses)
    ITEMDB_RETURN_IF_ERROR(CheckHttpAddress(merged, options, "metrics-listen", address));
  return CheckNoClash(merged, options);
}

absl::Status CheckTls(const Merged& merged, const Options& options) {
  if (options.tls_cert.empty() != options.tls_key.empty()) {
    return storage::ValidationError(absl::StrFormat("%s needs %s: TLS needs a certificate and its key",
                                                    Subject(merged, options.tls() ? "tls-cert" : "tls-key"),
                                                    options.tls() ? "--tls-key" : "--tls-cert"));
  }
  if (!options.tls_client_ca.empty() && !options.tls()) {
    return storage::ValidationError(
        absl::StrFormat("%s needs --tls-cert and --tls-key: clients show certificates only when TLS is on",
                        Subject(merged, "tls-client-ca")));
  }
  if (!options.tls_client_ca.empty() && options.tls_without_client_certificates) {
    return storage::ValidationError(absl::StrFormat("%s is not allowed together with --tls-client-ca",
                                                    Subject(merged, "tls-without-client-certificates")));
  }
  bool clients_known = !options.tls_client_ca.empty() || options.tls_without_client_certificates ||
                       !options.access_keys.empty();
  for (const ListenAddress& address : options.addresses) {
    if (address.loopback) continue;
    if (!options.tls()) {
      return storage::ValidationError(absl::StrFormat(
          "%s: other machines can reach %s, so it needs TLS (--tls-cert, --tls-key) and --tls-client-ca or "
          "--access-keys; without, listen on 127.x.x.x, [::1], localhost or unix:/PATH",
          Subject(merged, "listen"), address.text));
    }
    if (!clients_known) {
      return storage::ValidationError(
          absl::StrFormat("%s: other machines can reach %s, so it needs --tls-client-ca or --access-keys; "
                          "--tls-without-client-certificates lets everybody there read and write everything",
                          Subject(merged, "listen"), address.text));
    }
  }
  return absl::OkStatus();
}

absl::Status DeriveSocketPermissions(const Merged& merged, Options& options) {
  const std::string& text = options.socket_mode;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.socket_permissions, 8);
  bool octal = error == std::errc() && end == text.data() + text.size();
  if (octal && options.socket_permissions <= 0777 && (options.socket_permissions & 0600) == 0600) {
    return absl::OkStatus();
  }
  return storage::ValidationError(
      absl::StrFormat("%s: \"%s\" is not allowed: it takes octal permissions up to 0777 that let the owner "
                      "read and write, such as 0660",
                      Subject(merged, "socket-mode"), text));
}

absl::Status CheckBackupSchedule(const Merged& merged, const Options& options) {
  if (options.backup_schedule.empty()) return absl::OkStatus();
  const absl::Status schedule = storage::CronSchedule::Parse(options.backup_schedule).status();
  if (schedule.ok()) return absl::OkStatus();
  return storage::ValidationError(absl::StrFormat("%s: \"%s\" is not allowed: %s",
                                                  Subject(merged, "backup-schedule"), options.backup_schedule,
                                                  storage::MessageOf(schedule)));
}

absl::Status CheckStandby(const Merged& merged, const Options& options) {
  if (options.standby_acknowledge && options.archive_directory.empty()) {
    return storage::ValidationError(
        Subject(merged, "standby-acknowledge") +
        ": also give --archive-directory, from which standbys are sent what they copy");
  }
  for (const auto& [name, value] :
       {std::pair{"standby-ca", &options.standby_ca}, std::pair{"standby-cert", &options.standby_cert},
        std::pair{"standby-key", &options.standby_key},
        std::pair{"standby-access-key", &options.standby_access_key}}) {
    if (!value->empty() && !options.follows_address())
      return storage::ValidationError(Subject(merged, name) + ": only with --standby HOST:PORT");
  }
  const bool has_certificate = !options.standby_cert.empty();
  if (has_certificate == options.standby_key.empty() || (has_certificate && options.standby_ca.empty())) {
    return storage::ValidationError(Subject(merged, has_certificate ? "standby-cert" : "standby-key") +
                                    ": give --standby-ca, --standby-cert and --standby-key together");
  }
  if (options.follows_address() && options.standby.find(',') != std::string::npos) {
    return storage::ValidationError(Subject(merged, "standby") + ": \"" + options.standby +
                                    "\" is not allowed: a standby follows one primary");
  }
  if (options.follows_address()) {
    if (options.standby_backups.empty()) return absl::OkStatus();
    return storage::ValidationError(Subject(merged, "standby-backups") +
                                    ": only with --standby DIR: a primary at an address sends its backups");
  }
  if (options.standby.empty() == options.standby_backups.empty()) {
    if (options.standby.empty() || options.standby != options.archive_directory) return absl::OkStatus();
    return storage::ValidationError(
        Subject(merged, "archive-directory") +
        ": the archive that a standby follows cannot be its own: a promoted standby begins another");
  }
  const bool lacks_backups = options.standby_backups.empty();
  return storage::ValidationError(Subject(merged, lacks_backups ? "standby" : "standby-backups") +
                                  (lacks_backups
                                       ? ": also give --standby-backups, the backup directory of the primary"
                                       : ": only with --standby"));
}

absl::Status CheckS3(const Merged& merged, const Options& options) {
  const auto wrong = [&](std::string_view setting, const std::string& message) {
    return storage::ValidationError(Subject(merged, setting) + ": " + message);
  };
  if (options.s3_endpoint.empty()) {
    if (!options.s3_credentials_file.empty()) return wrong("s3-credentials-file", "only with --s3-endpoint");
    if (!options.s3_ca_file.empty()) return wrong("s3-ca-file", "only with --s3-endpoint");
    return absl::OkStatus();
  }
  if (!options.export_directory.empty()) {
    return wrong("s3-endpoint",
                 "not together with --export-directory: buckets are at the endpoint or in the directory");
  }
  const absl::Status endpoint = storage::ParseS3Endpoint(options.s3_endpoint).status();
  if (!endpoint.ok()) return wrong("s3-endpoint", storage::MessageOf(endpoint));
  if (options.s3_credentials_file.empty()) {
    return wrong("s3-endpoint",
                 "also give --s3-credentials-file, the file with the key that signs requests to it");
  }
  return absl::OkStatus();
}

absl::Status DeriveTracing(const Merged& merged, Options& options) {
  const auto wrong = [&](std::string_view setting, const absl::Status& why) {
    return storage::ValidationError(
        absl::StrFormat("%s: %s", Subject(merged, setting), storage::MessageOf(why)));
  };
  absl::StatusOr<double> share = ParseShare(options.trace_ratio);
  if (!share.ok()) return wrong("trace-ratio", share.status());
  options.traced_share = *share;
  if (options.trace_endpoint.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> url = ParseTraceEndpoint(options.trace_endpoint);
  if (!url.ok()) return wrong("trace-endpoint", url.status());
  options.trace_url = *std::move(url);
  return absl::OkStatus();
}

// Checks each value by itself.
absl::StatusOr<Options> Apply(const Merged& merged, uint64_t machine_memory_bytes) {
  Options options;
  for (const auto& [name, value] : merged) {
    ITEMDB_RETURN_IF_ERROR(ApplySetting(value, machine_memory_bytes, options));
  }
  return options;
}

// Where the database is.
absl::Status CheckPlace(const Merged& merged, const Options& options) {
  if (options.in_memory && !options.data_directory.empty()) {
    return storage::ValidationError(
        absl::StrFormat("%s: not together with %s: the database is in memory or in that directory",
                        Subject(merged, "in-memory"), Subject(merged, "data-dir")));
  }
  if (options.in_memory && options.recover != "no") {
    return storage::ValidationError(Subject(merged, "recover") +
                                    ": not together with --in-memory: a new database has nothing to recover");
  }
  if (options.regions_apart) {
    for (const auto& [name, value] :
         {std::pair{"standby", &options.standby}, std::pair{"archive-directory", &options.archive_directory},
          std::pair{"backup-schedule", &options.backup_schedule}}) {
      if (value->empty()) continue;
      return storage::ValidationError(
          Subject(merged, name) +
          ": not together with --regions-apart: it would keep the tables of one region only");
    }
  }
  if (options.in_memory || !options.data_directory.empty()) return absl::OkStatus();
  return storage::ValidationError(
      "the directory of the database is missing: give --data-dir, ITEMD_DATA_DIR, or data-dir in the "
      "configuration file; itemd dev needs none");
}

// Checks the values against each other and sets the derived options.
absl::Status Derive(const Merged& merged, Options& options) {
  ITEMDB_RETURN_IF_ERROR(DeriveAddresses(merged, options));
  ITEMDB_RETURN_IF_ERROR(CheckTls(merged, options));
  ITEMDB_RETURN_IF_ERROR(DeriveSocketPermissions(merged, options));
  ITEMDB_RETURN_IF_ERROR(CheckBackupSchedule(merged, options));
  ITEMDB_RETURN_IF_ERROR(CheckStandby(merged, options));
  ITEMDB_RETURN_IF_ERROR(CheckS3(merged, options));
  ITEMDB_RETURN_IF_ERROR(DeriveTracing(merged, options));
  return CheckPlace(merged, options);
}

// `itemd keys ...`: the file is that of --access-keys.
ParsedOptions ChangeKeys(const Merged& merged, const KeyFileChange& change) {
  const auto setting = merged.find("access-keys");
  const std::string path = setting == merged.end() ? "" : setting->second.texts.front();
  if (path.empty()) {
    return Fail(
        storage::ValidationError("itemd keys changes the file of --access-keys: give it as a flag, in "
                                 "ITEMD_ACCESS_KEYS, or as access-keys in "
                                 "the configuration file"));
  }
  const absl::StatusOr<std::string> secret = ChangeKeyFile(path, change);
  if (!secret.ok()) return Fail(secret.status());
  if (change.kind == KeyFileChange::Kind::kRemove)
    return Print(absl::StrFormat("removed %s from %s\n", change.id, path));
  return Print(absl::StrFormat("access key id      %s\nsecret access key  %s\n", change.id, *secret));
}

// `text` as a TOML string.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string PrintedValue(const SettingValue& value) {
  if (value.setting->is_boolean() || std::holds_alternative<int Options::*>(value.setting->field)) {
    return value.texts.front();
  }
  if (!value.setting->is_list()) return Quoted(value.texts.front());
  std::vector<std::string> texts;
  for (const std::string& text : value.texts) texts.push_back(Quoted(text));
  return absl::StrFormat("[%s]", absl::StrJoin(texts, ", "));
}

// Prints TOML, so that the output can serve as a configuration file.
std::string PrintConfig(Merged merged, const Options& options) {
  if (!merged.contains("listen")) {
    SettingValue value{FindSetting("listen"), {}, "default", ""};
    for (const ListenAddress& address : DefaultListenAddresses()) value.texts.push_back(address.text);
    merged["listen"] = std::move(value);
  }
  std::string text;
  for (const Setting& setting : Settings()) {
    auto value = merged.find(setting.name);
    std::string assignment = value == merged.end()
                                 ? absl::StrFormat("# %s is not set", setting.name)
                                 : absl::StrFormat("%s = %s", setting.name, PrintedValue(value->second));
    std::string origin = value == merged.end() ? "default" : value->second.origin;
    if (setting.name == "memory") origin += ": " + FormatSize(options.memory_bytes);
    absl::StrAppendFormat(&text, "%-48s  # %s\n", assignment, origin);
  }
  return text;
}

}  // namespace

ParsedOptions ParseOptions(int argc, const char* const* argv, const OptionSources& sources) {
  absl::StatusOr<CommandLine> line = ParseCommandLine(argc, argv);
  if (!line.ok()) return Fail(line.status());
  if (!line->answer.empty()) return Print(line->answer);
  absl::StatusOr<std::string> config_file = ConfigFile(*line, sources);
  if (!config_file.ok()) return Fail(config_file.status());
  absl::StatusOr<Merged> merged = Merge(*line, *config_file, sources);
  if (!merged.ok()) return Fail(merged.status());
  if (line->key_change.has_value()) return ChangeKeys(*merged, *line->key_change);
  absl::StatusOr<Options> options = Apply(*merged, sources.machine_memory_bytes);
  if (!options.ok()) return Fail(options.status());
  // --print-config comes before the check of values against each other: it helps to find contradictions.
  if (line->print_config) return Print(PrintConfig(*merged, *options));
  if (absl::Status whole = Derive(*merged, *options); !whole.ok()) return Fail(whole);
  options->dev = line->dev;
  options->command = line->command;
  options->salvage_target = line->salvage_target;
  options->restore_from = line->restore_from;
  options->restored_backup_id = line->restored_backup_id;
  options->restored_archive = line->restored_archive;
  options->restored_change = line->restored_change;
  options->restored_time_us = line->restored_time_us;
  // Certificates and keys are read here too, to report errors before the database opens, which can take long.
  absl::Status certificates =
      options->tls() ? ReadTlsFiles(TlsOptionsOf(*options)).status() : absl::OkStatus();
  if (!certificates.ok()) return Fail(certificates);
  absl::Status keys =
      options->access_keys.empty() ? absl::OkStatus() : AccessKeys::Read(options->access_keys).status();
  if (!keys.ok())
    return Fail(absl::Status(keys.code(), Subject(*merged, "access-keys") + ": " + storage::MessageOf(keys)));
  if (!options->encryption_key_file.empty()) {
    auto encryption_keys = ReadEncryptionKeys(options->encryption_key_file);
    if (!encryption_keys.ok())
      return Fail(absl::Status(
          encryption_keys.status().code(),
          Subject(*merged, "encryption-key-file") + ": " + storage::MessageOf(encryption_keys.status())));
    options->encryption_keys = *std::move(encryption_keys);
  }
  if (!options->s3_credentials_file.empty()) {
    // They are read again for each export and import; a file that cannot be used is better refused now.
    const absl::Status credentials = ReadS3Credentials(options->s3_credentials_file).status();
    if (!credentials.ok())
      return Fail(absl::Status(credentials.code(), Subject(*merged, "s3-credentials-file") + ": " +
                                                       storage::MessageOf(credentials)));
  }
  const auto subject_of = [&merged](std::string_view name) { return Subject(*merged, name); };
  if (absl::Status differ = CheckDirectoriesDiffer(*options, subject_of); !differ.ok()) return Fail(differ);
  if (line->check_config) {
    std::vector<std::string> notes = {"the configuration is valid"};
    const absl::Status usable = CheckPaths(*options, subject_of, &notes);
    return usable.ok() ? Print(absl::StrJoin(notes, "\n") + "\n") : Fail(usable);
  }
  return {.options = *std::move(options), .exit_code = kExitOk, .text = "", .config_file = *config_file};
}

TlsOptions TlsOptionsOf(const Options& options) {
  return {.certificate_file = options.tls_cert,
          .key_file = options.tls_key,
          .client_ca_file = options.tls_client_ca};
}

std::vector<std::string> ProcessEnvironment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

}  // namespace itemdb::daemon
