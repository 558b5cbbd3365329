#include "daemon/config/command_line.h"

#include <CLI/CLI.hpp>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/nearest.h"
#include "daemon/config/help_text.h"
#include "daemon/config/man_pages.h"
#include "daemon/config/setting_values.h"
#include "daemon/process/version.h"

namespace itemdb::daemon {
namespace {

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
    return storage::ValidationError(absl::StrFormat(
        "%s is not a flag and not a command: itemd takes flags, dev, inspect DIR, salvage DIR TO, "
        "restore BACKUPS TO and keys add|rotate|remove ID",
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
  CLI::App* dev = nullptr;
  CLI::App* inspect = nullptr;
  CLI::App* salvage = nullptr;
  CLI::App* restore = nullptr;
  CLI::App* add_key = nullptr;
  CLI::App* rotate_key = nullptr;
  CLI::App* remove_key = nullptr;
  std::string directory;
  std::string target;
  uint32_t backup_id = 0;
  std::string archive;
  std::string to;
  std::string key_id;
  std::string role;
};

void AddCommands(CLI::App& app, CommandArguments& arguments) {
  arguments.dev = app.add_subcommand(
      "dev", "For development: serve a database in memory over HTTP on port 8000, and say how to reach it");
  arguments.dev->fallthrough();
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
  arguments.restore
      ->add_option("--archive", arguments.archive,
                   "The --archive-directory of the database: its commits after the backup are restored too")
      ->type_name("DIR");
  arguments.restore
      ->add_option(
          "--to", arguments.to,
          "With --archive: the last change to restore, a number, or the time of the last commit, for "
          "example 2026-11-25T14:30:00Z (default: the last one in the archive)")
      ->type_name("CHANGE|TIME");
  CLI::App* keys = app.add_subcommand("keys", "Add, renew or remove a key in the file of --access-keys");
  keys->fallthrough();
  keys->require_subcommand(1);
  arguments.add_key = keys->add_subcommand("add", "Add a key and print its new secret");
  arguments.rotate_key = keys->add_subcommand("rotate", "Give a key a new secret and print it");
  arguments.remove_key = keys->add_subcommand("remove", "Remove a key");
  for (CLI::App* command : {arguments.add_key, arguments.rotate_key, arguments.remove_key}) {
    command->fallthrough();
    command->add_option("ID", arguments.key_id, "The access key id")->required();
  }
  arguments.add_key->add_option("ROLE", arguments.role, "metrics, read, write or admin, for all tables")
      ->required();
  for (CLI::App* command : {arguments.salvage, arguments.restore}) {
    command->add_option("TO", arguments.target, "An empty directory, or one that is to be made")->required();
  }
}

// The value of --to.
absl::Status ParseRestorePoint(const CommandArguments& arguments, CommandLine* line) {
  if (arguments.to.empty()) return absl::OkStatus();
  if (arguments.archive.empty())
    return storage::ValidationError("--to needs --archive: without an archive a backup is restored as it is");
  uint64_t change = 0;
  absl::Time time;
  std::string error;
  if (absl::SimpleAtoi(arguments.to, &change) && change > 0) {
    line->restored_change = change;
  } else if (absl::ParseTime(absl::RFC3339_full, arguments.to, &time, &error)) {
    line->restored_time_us = absl::ToUnixMicros(time);
  } else {
    return storage::ValidationError(absl::StrFormat(
        "--to must be the number of a change, or a time with its offset such as 2026-11-25T14:30:00Z or "
        "2026-11-25T15:30:00.5+01:00; it is \"%s\"",
        arguments.to));
  }
  return absl::OkStatus();
}

// Puts what the commands say into `*line`.
absl::Status ApplyCommands(const CommandArguments& arguments, CommandLine* line) {
  line->dev = arguments.dev->parsed();
  if (arguments.inspect->parsed()) line->command = Command::kInspect;
  if (arguments.salvage->parsed()) line->command = Command::kSalvage;
  if (arguments.restore->parsed()) line->command = Command::kRestore;
  using Kind = KeyFileChange::Kind;
  for (const auto& [command, kind] :
       {std::pair{arguments.add_key, Kind::kAdd}, std::pair{arguments.rotate_key, Kind::kRotate},
        std::pair{arguments.remove_key, Kind::kRemove}}) {
    if (command->parsed())
      line->key_change = KeyFileChange{.kind = kind, .id = arguments.key_id, .role = arguments.role};
  }
  if (line->command == Command::kServe) return absl::OkStatus();
  for (const SettingValue& value : line->values) {
    if (value.setting->name == "data-dir" || value.setting->name == "recover")
      return storage::ValidationError(absl::StrFormat(
          "%s is not allowed with a command: its data directory is an argument", value.subject));
  }
  if (line->command == Command::kRestore) {
    line->restore_from = arguments.directory;
    line->restored_backup_id = arguments.backup_id;
    line->restored_archive = arguments.archive;
    ITEMDB_RETURN_IF_ERROR(ParseRestorePoint(arguments, line));
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
  CLI::App app("itemd - " + std::string(kDaemonDescription), "itemd");
  app.footer(kHelpNotes);
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
  std::string man_page;
  CLI::Option* man = app.add_option("--man", man_page, "Print the manual page itemd or itemd.toml and exit");
  man->check(CLI::IsMember({"itemd", "itemd.toml"}))->group("");  // For the build; not in --help.
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
  if (man->count() > 0) {
    line.answer = man_page == "itemd" ? DaemonManPage() : ConfigFileManPage();
    return line;
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
