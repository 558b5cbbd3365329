#include "tools/cli/command_table.h"

#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "tools/cli/option_validators.h"

namespace itemdb::tools {
namespace {

constexpr std::string_view kVariablePrefix = "ITEMDB_";
constexpr double kShortestTimeoutSeconds = 0.001;
constexpr double kLongestTimeoutSeconds = 86'400;

// Options had variables that begin with ITEMCTL_ before all variables began with ITEMDB_. An old one is read
// if the new one is not set.
void AcceptOldVariables(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](CLI::Option*) { return true; })) {
    const std::string name = option->get_envname();
    if (!name.starts_with(kVariablePrefix) || std::getenv(name.c_str()) != nullptr) continue;
    const std::string old_name = "ITEMCTL_" + name.substr(kVariablePrefix.size());
    if (std::getenv(old_name.c_str()) != nullptr) option->envname(old_name);
  }
}

void AddGlobalOptions(CLI::App& app, GlobalOptions& options) {
  app.add_option(
         "--endpoint", options.endpoint,
         "Where the daemon listens, HOST:PORT or unix:/PATH; several with commas between them, a "
         "primary and its standbys. Or the URL of a service of DynamoDB's protocol, http://HOST:PORT or "
         "https://HOST. Default: unix:/run/itemdb/itemd.sock if it exists, else 127.0.0.1:7420")
      ->envname("ITEMDB_ENDPOINT")
      ->type_name("ADDRESS");
  app.add_option("-o,--output", options.output,
                 "Form of the output. Default: table on a terminal, jsonl otherwise")
      ->check(OneOfWords({"table", "json", "jsonl", "csv"}))
      ->type_name("table|json|jsonl|csv");
  app.add_option(
         "--output-version", options.output_version,
         "Names of members in json, jsonl and csv: 1: as every command named them first, 2: as AWS names "
         "them in all commands, such as TableName. Default: 1")
      ->envname("ITEMDB_OUTPUT_VERSION")
      ->check(WholeNumberBetween(1, 2))
      ->type_name("1|2");
  app.add_flag("-x,--expanded", options.expanded, "In the table form, print one column a line");
  app.add_option("--timeout", options.timeout_seconds,
                 "Seconds that one call may take, or each page of a long answer, 0.001 to 86400. Default: 30")
      ->check(SecondsBetween(kShortestTimeoutSeconds, kLongestTimeoutSeconds))
      ->type_name("SECONDS");
  app.add_flag("--tls", options.tls,
               "Connect with TLS, trusting the system's authorities; implied by the other --tls options");
  app.add_option(
         "--tls-ca", options.tls_ca,
         "PEM file with the authorities that may have signed the daemon's certificate. Default: the system's")
      ->envname("ITEMDB_TLS_CA")
      ->type_name(std::string(kFileName));
  app.add_option("--tls-cert", options.tls_cert,
                 "PEM file with the certificate to show to the daemon. Default: none is shown")
      ->envname("ITEMDB_TLS_CERT")
      ->type_name(std::string(kFileName));
  app.add_option("--tls-key", options.tls_key,
                 "PEM file with the private key of --tls-cert; needed with it. Default: none")
      ->envname("ITEMDB_TLS_KEY")
      ->type_name(std::string(kFileName));
  app.add_option("--tls-server-name", options.tls_server_name,
                 "The name that the daemon's certificate must contain. Default: the host of the endpoint")
      ->envname("ITEMDB_TLS_SERVER_NAME")
      ->type_name("NAME");
  app.add_option(
         "--access-key-id", options.access_key_id,
         "Id of the access key to send, for a daemon with --access-keys; its secret is in the environment "
         "variable ITEMDB_SECRET_ACCESS_KEY or in --secret-access-key-file. Default: none")
      ->envname("ITEMDB_ACCESS_KEY_ID")
      ->type_name("ID");
  app.add_option("--secret-access-key-file", options.secret_access_key_file,
                 "File with the secret of --access-key-id. Default: ITEMDB_SECRET_ACCESS_KEY is the secret")
      ->envname("ITEMDB_SECRET_ACCESS_KEY_FILE")
      ->type_name(std::string(kFileName));
  app.add_option(
         "--profile", options.profile,
         "Take options that are not given from this profile in ~/.config/itemdb/profiles.toml. Default: "
         "the profile \"default\", if there is one")
      ->envname("ITEMDB_PROFILE")
      ->type_name("NAME");
  app.add_option("-c,--command", options.command,
                 "Run this text as the shell would: commands, a line each, or PartiQL statements. Default: a "
                 "command, or on a terminal the shell")
      ->type_name("COMMANDS");
  AcceptOldVariables(app);
}

}  // namespace

CommandTable::CommandTable(void (*add_commands)(CommandTable&))
    : root_("Administers an itemdb daemon and reads and writes its items", "itemctl") {
  specs_[&root_] = {.name = "itemctl", .summary = root_.get_description()};
  root_.set_version_flag("--version", ITEMDB_VERSION, "Print the version and exit");
  // Allows global options also after the command. Commands added later inherit this setting.
  root_.fallthrough();
  root_.require_subcommand(1);
  AddGlobalOptions(root_, options_);
  add_commands(*this);
}

void CommandTable::IgnoreEnvironment() {
  for (CLI::Option* option : root_.get_options([](CLI::Option*) { return true; })) option->envname("");
}

CLI::App* CommandTable::AddGroup(CommandSpec spec) {
  CLI::App* group = root_.add_subcommand(spec.name, spec.summary);
  group->require_subcommand(1);
  specs_[group] = std::move(spec);
  return group;
}

CLI::App* CommandTable::Add(CLI::App* parent, CommandSpec spec, Command run) {
  CLI::App* command = parent->add_subcommand(spec.name, spec.summary);
  if (spec.hidden) command->group("");
  command->callback([this, run = std::move(run)] { selected_ = run; });
  specs_[command] = std::move(spec);
  return command;
}

std::vector<const CLI::App*> CommandsOf(const CLI::App& app, bool with_hidden) {
  return app.get_subcommands(
      [with_hidden](const CLI::App* command) { return with_hidden || !command->get_group().empty(); });
}

std::string PathOf(const CLI::App& command) {
  if (command.get_parent() == nullptr) return "";
  const std::string above = PathOf(*command.get_parent());
  return above.empty() ? command.get_name() : above + " " + command.get_name();
}

std::vector<const CLI::Option*> ArgumentsOf(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::Option*> OptionsOf(const CLI::App& command) {
  return command.get_options([&command](const CLI::Option* option) {
    return !option->get_positional() && option != command.get_help_ptr();
  });
}

std::vector<std::string> SpellingsOf(const CLI::Option& option) {
  std::vector<std::string> spellings;
  for (const std::string& name : option.get_snames()) spellings.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) spellings.push_back("--" + name);
  return spellings;
}

const CLI::App& Innermost(const CLI::App& root) {
  const CLI::App* command = &root;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string ValueNameOf(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  if (option.get_expected_max() == 0 || option.get_items_expected_max() == 0) return "";
  return option.get_type_name();
}

}  // namespace itemdb::tools
