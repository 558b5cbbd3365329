#include "daemon/config/command_line.h"

#include <CLI/CLI.hpp>
#include <sstream>

#include "absl/strings/str_format.h"
#include "common/nearest.h"
#include "daemon/config/setting_values.h"
#include "daemon/process/version.h"

namespace itemdb::daemon {
namespace {

constexpr char kDescription[] =
    "itemd - database server with DynamoDB's data model: keeps tables, items, secondary indexes and a change "
    "log in one directory, and serves them over gRPC and DynamoDB's HTTP protocol.";

constexpr char kFooter[] = R"(Settings:
  Each setting can be given as a flag (--log-level debug), in the environment (ITEMD_LOG_LEVEL=debug) or in the
  configuration file (log-level = "debug"). For each setting the flag wins over the environment, and the environment
  over the file. itemd --print-config shows every value and where it comes from.

Examples:
  itemd --data-dir /var/lib/itemdb
      Serves the database in /var/lib/itemdb; creates it when the directory is empty or missing. Listens on
      127.0.0.1:7420 and, if /run/itemdb is writable, on /run/itemdb/itemd.sock: the addresses that itemctl tries
      without an --endpoint.
  itemd --data-dir ./data --listen 127.0.0.1:0 --address-file ./itemd.json
      For scripts: the kernel chooses a free port. itemd writes it to ./itemd.json as soon as it serves.
  itemd --data-dir ./data --listen unix:/tmp/itemd.sock --durability relaxed
      Answers writes before they are on disk: several times faster for single writers. A power cut can lose the last
      second of answered writes; a crash of itemd alone loses none.
  itemd --data-dir ./data --listen 0.0.0.0:7420 --tls-cert itemd.pem --tls-key itemd.key --tls-client-ca clients.pem
      Serves clients on other machines, if an authority in clients.pem has signed their certificate.

  itemd --data-dir /var/lib/itemdb --recover=plan
      Prints, table by table, what --recover=last-good would keep and lose of a damaged directory. Changes nothing.
  itemd inspect /var/lib/itemdb
      The same, with all files and column families of RocksDB.
  itemd salvage /var/lib/itemdb /mnt/other/itemdb
      Writes what is intact into a new database on another disk, and prints a report. Changes nothing in the first
      directory.

  itemd restore /mnt/backups/itemdb /var/lib/itemdb
      Makes a database of the newest backup that "itemctl backup create" has made with --backup-directory
      /mnt/backups/itemdb.

  printf '2026-11 %s\n' $(openssl rand -hex 32) > keys; chmod 0600 keys
  itemd --data-dir ./secret --encryption-key-file keys
      A database whose files and backups are encrypted. Nobody can read it without the file of keys.

Signals:
  SIGTERM, SIGINT   stop: report NOT_SERVING, refuse new calls, finish calls in flight (--shutdown-timeout at most),
                    close the database, exit 0. A second signal cancels the calls in flight at once.
  SIGHUP            read the certificates and the file of --access-keys again at once, reopen --audit-log, go on

Exit codes:
   0  stopped by a signal after finishing its calls; or --recover=plan or a command is done
  64  the configuration is wrong: command line, environment, file or certificates
  65  the data directory holds damaged data, files of another program, or a format this version does not know
  69  another process uses the data directory or an address
  70  internal error
  74  a file or directory cannot be created, read or written

Logs go to stderr, one line per event. Health (grpc.health.v1) and reflection are served on the same addresses.)";

// The value that CLI11 stores for one flag.
struct Given {
  const Setting* setting;
  std::string text;
  std::vector<std::string> texts;
};

std::string HelpOf(const Setting& setting) {
  if (setting.fallback.empty() || setting.is_boolean()) return std::string(setting.help);
  return absl::StrFormat("%s (default %s)", setting.help, setting.fallback);
}

CLI::Option* AddFlag(CLI::App& app, Given& given) {
  const Setting& setting = *given.setting;
  if (setting.is_boolean()) return app.add_flag(setting.flag(), given.text, HelpOf(setting));
  CLI::Option* option = setting.is_list() ? app.add_option(setting.flag(), given.texts, HelpOf(setting))
                                          : app.add_option(setting.flag(), given.text, HelpOf(setting));
  return option->type_name(std::string(setting.value_name))->allow_extra_args(false);
}

absl::Status Unknown(const std::string& argument) {
  if (!argument.starts_with("-")) {
    return storage::ValidationError(
        absl::StrFormat("%s is not a flag and not a command: itemd takes flags, inspect DIR, salvage DIR TO "
                        "and restore BACKUPS TO",
                        argument));
  }
  std::vector<std::string> names = NamesOf(&Setting::flag);
  names.insert(names.end(), {"--config", "--print-config", "--check-config", "--help", "--version"});
  std::string flag = argument.substr(0, argument.find('='));
  return storage::ValidationError(
      absl::StrFormat("%s is not a flag%s", flag, common::DidYouMean(flag, names)));
}

// The arguments of the commands.
struct CommandArguments {
  CLI::App* inspect = nullptr;
  CLI::App* salvage = nullptr;
  CLI::App* restore = nullptr;
  std::string directory;
  std::string target;
  uint32_t backup_id = 0;
};

void AddCommands(CLI::App& app, CommandArguments& arguments) {
  arguments.inspect = app.add_subcommand(
      "inspect", "Print the files, column families, tables, sequences and the damage of a data directory");
  arguments.salvage = app.add_subcommand(
      "salvage", "Write what is intact in a data directory into a new database in another directory");
  for (CLI::App* command : {arguments.inspect, arguments.salvage}) {
    command->fallthrough();
    command->add_option("DIR", arguments.directory, "The data directory; it is not changed")->required();
  }
  arguments.restore = app.add_subcommand("restore", "Make a database of a backup");
  arguments.restore->fallthrough();
  arguments.restore->add_option("BACKUPS", arguments.directory, "The directory of the backups")->required();
  arguments.restore->add_option("--backup", arguments.backup_id, "Number of the backup (default: the newest)")
      ->type_name("NUMBER");
  for (CLI::App* command : {arguments.salvage, arguments.restore}) {
    command->add_option("TO", arguments.target, "An empty directory, or one that is to be made")->required();
  }
}

// Puts what the commands say into `*line`.
absl::Status ApplyCommands(const CommandArguments& arguments, CommandLine* line) {
  if (arguments.inspect->parsed()) line->command = Command::kInspect;
  if (arguments.salvage->parsed()) line->command = Command::kSalvage;
  if (arguments.restore->parsed()) line->command = Command::kRestore;
  if (line->command == Command::kServe) return absl::OkStatus();
  for (const SettingValue& value : line->values) {
    if (value.setting->name == "data-dir" || value.setting->name == "recover")
      return storage::ValidationError(absl::StrFormat(
          "%s is not allowed with a command: its data directory is an argument", value.subject));
  }
  if (line->command == Command::kRestore) {
    line->restore_from = arguments.directory;
    line->restored_backup_id = arguments.backup_id;
    line->values.push_back({FindSetting("data-dir"), {arguments.target}, "argument TO", "TO"});
  } else {
    line->salvage_target = arguments.target;
    line->values.push_back({FindSetting("data-dir"), {arguments.directory}, "argument DIR", "DIR"});
  }
  line->values.push_back({FindSetting("recover"), {"no"}, "command", "command"});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app(kDescription, "itemd");
  app.footer(kFooter);
  app.get_formatter()->column_width(36);
  app.set_help_flag("-h,--help", "Print this and exit");
  app.set_version_flag("--version", absl::StrFormat("itemd %s", std::string(Version())),
                       "Print the version and exit");
  CLI::Option* config = app.add_option("--config", line.config_file,
                                       "Configuration file (default /etc/itemdb/itemd.toml if there is one); "
                                       "ITEMD_CONFIG in the environment");
  config->type_name("FILE");
  app.add_flag("--print-config", line.print_config,
               "Print each setting, its value and where it comes from, and exit");
  app.add_flag("--check-config", line.check_config,
               "Say whether the configuration is valid, certificates included, and exit");
  // Filled before AddFlag() is called: CLI11 keeps references to the elements.
  std::vector<Given> given;
  for (const Setting& setting : Settings()) given.push_back({&setting, "", {}});
  std::vector<CLI::Option*> options;
  for (Given& one : given) options.push_back(AddFlag(app, one));
  CommandArguments arguments;
  AddCommands(app, arguments);
  app.allow_extras();

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    std::ostringstream out;
    app.exit(request, out, out);
    line.answer = out.str();
    return line;
  } catch (const CLI::ParseError& error) {
    return storage::ValidationError(error.what());
  }
  if (!app.remaining().empty()) return Unknown(app.remaining().front());
  if (config->count() > 0 && line.config_file.empty()) {
    return storage::ValidationError("--config is empty: it must be the name of a file");
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (options[i]->count() == 0) continue;
    const Setting& setting = *given[i].setting;
    std::vector<std::string> texts =
        setting.is_list() ? given[i].texts : std::vector<std::string>{given[i].text};
    line.values.push_back({&setting, std::move(texts), "flag " + setting.flag(), setting.flag()});
  }
  ITEMDB_RETURN_IF_ERROR(ApplyCommands(arguments, &line));
  return line;
}

}  // namespace itemdb::daemon
