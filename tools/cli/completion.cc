#include "tools/cli/completion.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "tools/cli/live_names.h"

namespace itemdb::tools {
namespace {

constexpr absl::Duration kCompletionPatience = absl::Milliseconds(500);
constexpr std::string_view kExpression = "EXPRESSION";

const CLI::Option* FindOptionOrNull(const CLI::App& command, const std::string& spelling) {
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : OptionsOf(*app)) {
      if (option->check_name(spelling)) return option;
    }
  }
  return nullptr;
}

// The state of the command line after all words except the last.
struct Position {
  const CLI::App* command = nullptr;
  // The option whose value comes next; null if no option's value comes next.
  const CLI::Option* option = nullptr;
  size_t arguments = 0;
  std::string table_name = {};
};

Position Walk(const CommandTable& table, const std::vector<std::string>& words) {
  Position at{.command = &table.root()};
  int values_left = 0;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (values_left > 0) {
      if (ValueNameOf(*at.option) == kTableName) at.table_name = word;
      if (--values_left == 0) at.option = nullptr;
      continue;
    }
    if (word.starts_with("-") && word.size() > 1) {
      const size_t equals = word.find('=');
      const CLI::Option* option = FindOptionOrNull(*at.command, word.substr(0, equals));
      if (option == nullptr || ValueNameOf(*option).empty()) continue;
      if (equals == std::string::npos) {
        at.option = option;
        values_left = option->get_type_size();
      } else if (ValueNameOf(*option) == kTableName) {
        at.table_name = word.substr(equals + 1);
      }
      continue;
    }
    const std::vector<const CLI::App*> below = CommandsOf(*at.command, true);
    const auto found = std::find_if(below.begin(), below.end(),
                                    [&word](const CLI::App* app) { return app->get_name() == word; });
    if (found != below.end()) {
      at.command = *found;
      continue;
    }
    const std::vector<const CLI::Option*> arguments = ArgumentsOf(*at.command);
    if (at.arguments < arguments.size() && ValueNameOf(*arguments[at.arguments]) == kTableName)
      at.table_name = word;
    ++at.arguments;
  }
  return at;
}

void Keep(const std::vector<std::string>& names, Completion* completion) {
  for (const std::string& name : names) {
    if (name.starts_with(completion->partial)) completion->candidates.push_back(name);
  }
}

bool IsNameLetter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

void CompleteValue(const std::string& value_name, const std::string& table_name, const NameSources& names,
                   Completion* completion) {
  if (value_name == kTableName) {
    Keep(names.tables(), completion);
  } else if (value_name == kIndexName) {
    Keep(names.indexes(table_name), completion);
  } else if (value_name == kFileName || value_name == kFolderName) {
    completion->files = true;
  } else if (value_name.find('|') != std::string::npos) {
    Keep(absl::StrSplit(value_name, '|'), completion);
  } else if (value_name == kExpression && names.attributes != nullptr && !table_name.empty()) {
    size_t start = completion->partial.size();
    while (start > 0 && IsNameLetter(completion->partial[start - 1])) --start;
    completion->partial = completion->partial.substr(start);
    if (!completion->partial.empty()) Keep(names.attributes(table_name), completion);
  }
}

// Also describes them.
std::vector<std::string> LongSpellings(const CLI::App& command,
                                       std::map<std::string, std::string>* descriptions) {
  std::vector<std::string> spellings;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : OptionsOf(*app)) {
      for (std::string& spelling : SpellingsOf(*option)) {
        if (!spelling.starts_with("--")) continue;
        descriptions->emplace(spelling, option->get_description());
        spellings.push_back(std::move(spelling));
      }
    }
  }
  spellings.push_back("--help");
  descriptions->emplace("--help", "Explain the command");
  return spellings;
}

}  // namespace

Completion Complete(const CommandTable& table, const std::vector<std::string>& words,
                    const NameSources& names) {
  Completion completion;
  if (words.empty()) return completion;
  completion.partial = words.back();
  const Position at = Walk(table, words);
  if (at.option != nullptr) {
    CompleteValue(ValueNameOf(*at.option), at.table_name, names, &completion);
    return completion;
  }
  if (completion.partial.starts_with("-")) {
    const size_t equals = completion.partial.find('=');
    if (equals == std::string::npos) {
      Keep(LongSpellings(*at.command, &completion.descriptions), &completion);
      return completion;
    }
    const CLI::Option* option = FindOptionOrNull(*at.command, completion.partial.substr(0, equals));
    completion.partial = completion.partial.substr(equals + 1);
    if (option != nullptr) CompleteValue(ValueNameOf(*option), at.table_name, names, &completion);
    return completion;
  }
  const std::vector<const CLI::App*> below = CommandsOf(*at.command);
  if (!below.empty()) {
    std::vector<std::string> commands;
    for (const CLI::App* command : below) {
      commands.push_back(command->get_name());
      completion.descriptions.emplace(command->get_name(), command->get_description());
    }
    Keep(commands, &completion);
    return completion;
  }
  const std::vector<const CLI::Option*> arguments = ArgumentsOf(*at.command);
  if (at.arguments < arguments.size()) {
    CompleteValue(ValueNameOf(*arguments[at.arguments]), at.table_name, names, &completion);
  }
  return completion;
}

GlobalOptions ConnectionOf(const std::vector<std::string>& words, GlobalOptions defaults) {
  struct Row {
    std::string_view spelling;
    std::string GlobalOptions::*member;
  };
  static constexpr Row kRows[] = {{"--endpoint", &GlobalOptions::endpoint},
                                  {"--tls-ca", &GlobalOptions::tls_ca},
                                  {"--tls-cert", &GlobalOptions::tls_cert},
                                  {"--tls-key", &GlobalOptions::tls_key},
                                  {"--tls-server-name", &GlobalOptions::tls_server_name},
                                  {"--access-key-id", &GlobalOptions::access_key_id},
                                  {"--secret-access-key-file", &GlobalOptions::secret_access_key_file}};
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--tls") defaults.tls = true;
    for (const Row& row : kRows) {
      const std::string with_equals = std::string(row.spelling) + "=";
      if (words[i] == row.spelling && i + 2 < words.size()) defaults.*row.member = words[i + 1];
      if (words[i].starts_with(with_equals)) defaults.*row.member = words[i].substr(with_equals.size());
    }
  }
  return defaults;
}

NameSources LiveNames(Session& session, const GlobalOptions& options) {
  const auto with_client = [&session, options](auto ask) {
    absl::StatusOr<Client> client = session.OpenClient(options);
    return client.ok() ? ask(*client) : std::vector<std::string>();
  };
  return {
      .tables =
          [with_client] {
            return with_client([](Client& client) { return LiveTableNames(client, kCompletionPatience); });
          },
      .indexes =
          [with_client](const std::string& table_name) {
            return with_client(
                [&](Client& client) { return LiveIndexNames(client, table_name, kCompletionPatience); });
          },
      .attributes =
          [with_client](const std::string& table_name) {
            return with_client(
                [&](Client& client) { return LiveAttributeNames(client, table_name, kCompletionPatience); });
          }};
}

}  // namespace itemdb::tools
