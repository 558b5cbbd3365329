#include "tools/cli/error_report.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/nearest.h"
#include "itemdb/errors.h"
#include "tools/base/control_characters.h"
#include "tools/base/text_width.h"
#include "tools/cli/command_table.h"
#include "tools/cli/live_names.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {
namespace {

// Longest error message printed, in bytes.
constexpr size_t kMaxMessageBytes = 2'000;
constexpr absl::Duration kEndpointPatience = absl::Seconds(1);

std::string Bounded(std::string_view message) {
  if (message.size() <= kMaxMessageBytes) return std::string(message);
  return std::string(message.substr(0, kMaxMessageBytes)) + " ...";
}

// Each control character becomes a space.
std::string WithoutControlCharacters(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t control = ControlCharacterBytes(text);
    out.push_back(control > 0 ? ' ' : text.front());
    text.remove_prefix(std::max<size_t>(control, 1));
  }
  return out;
}

// The value of the option or argument whose value is called `value_name`; empty if it was not given.
std::string GivenTo(const CLI::App& command, std::string_view value_name) {
  for (const CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
    if (ValueNameOf(*option) == value_name && !option->empty()) return option->results().front();
  }
  return "";
}

absl::Status UnknownOption(const CLI::App& command, const std::string& text, std::string* did_you_mean) {
  std::vector<std::string> spellings;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : OptionsOf(*app)) {
      for (std::string& spelling : SpellingsOf(*option)) spellings.push_back(std::move(spelling));
    }
  }
  *did_you_mean = common::Nearest(text.substr(0, text.find('=')), spellings);
  const std::string path = PathOf(command);
  return UsageError(
      absl::StrFormat("unknown option %s%s (see itemctl %s--help)", JsonString(text),
                      did_you_mean->empty() ? "" : "; did you mean " + JsonString(*did_you_mean) + "?",
                      path.empty() ? "" : path + " "));
}

// The nearest command one level below the commands of `group`: "order-entry place-order" for "place-ordr"
// without its group.
std::string NearestBelow(const CLI::App& group, const std::string& text) {
  for (const CLI::App* below : CommandsOf(group)) {
    std::vector<std::string> names;
    for (const CLI::App* command : CommandsOf(*below)) names.push_back(command->get_name());
    if (std::string nearest = common::Nearest(text, names); !nearest.empty())
      return below->get_name() + " " + nearest;
  }
  return "";
}

// "item get" for "get": the first command of this name one level below the commands of `group`.
std::string ExactlyBelow(const CLI::App& group, const std::string& text) {
  for (const CLI::App* below : CommandsOf(group)) {
    for (const CLI::App* command : CommandsOf(*below)) {
      if (command->get_name() == text) return below->get_name() + " " + text;
    }
  }
  return "";
}

// What `words` with the verb first mean: "table create" for "create table" and for "create tables". `group`
// is where CLI11 took the names that it knows. Empty if they mean nothing.
std::string InOrder(const CLI::App& root, const CLI::App& group, const std::vector<std::string>& words) {
  const auto has = [&words](const CLI::App& candidate) {
    for (const CLI::App* command : CommandsOf(candidate)) {
      if (command->get_name() == words.front()) return true;
    }
    return false;
  };
  if (group.get_parent() != nullptr) return has(group) ? PathOf(group) + " " + words.front() : "";
  if (words.size() < 2) return "";
  std::vector<std::string> groups;
  for (const CLI::App* candidate : CommandsOf(root)) {
    if (has(*candidate)) groups.push_back(candidate->get_name());
  }
  const std::string nearest = common::Nearest(words[1], groups);
  return nearest.empty() ? "" : nearest + " " + words.front();
}

absl::Status UnknownCommand(const CLI::App& root, const CLI::App& group,
                            const std::vector<std::string>& words, std::string* did_you_mean) {
  std::vector<std::string> names;
  for (const CLI::App* command : CommandsOf(group)) names.push_back(command->get_name());
  const bool is_root = group.get_parent() == nullptr;
  const std::string all = absl::StrFormat(
      "; allowed %sare %s", is_root ? "" : "after \"" + group.get_name() + "\" ", absl::StrJoin(names, ", "));
  if (words.empty()) return UsageError("a command is missing" + all);
  const std::string& text = words.front();
  if (*did_you_mean = InOrder(root, group, words); !did_you_mean->empty()) {
    return UsageError(absl::StrFormat("the verb %s comes last; write: itemctl %s", text, *did_you_mean));
  }
  *did_you_mean = ExactlyBelow(group, text);
  if (did_you_mean->empty()) *did_you_mean = common::Nearest(text, names);
  if (did_you_mean->empty()) *did_you_mean = NearestBelow(group, text);
  const std::string unknown = "unknown command " + JsonString(text);
  if (!did_you_mean->empty())
    return UsageError(unknown + "; did you mean " + JsonString(*did_you_mean) + "?");
  return UsageError(unknown + (is_root ? "; itemctl help lists the commands" : all));
}

// `text` in lines of at most `width` columns, broken at spaces; words that are longer stay whole.
std::string Wrapped(const std::string& text, size_t width) {
  if (width == 0) return text;
  std::string out;
  size_t line = 0;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(text, ' '))) {
    const size_t columns = TextWidth(word);
    if (line > 0 && line + 1 + columns > width) {
      out += "\n";
      line = 0;
    } else if (!out.empty()) {
      out += " ";
      ++line;
    }
    out += word;
    line += columns;
  }
  return out;
}

}  // namespace

size_t ErrorWidth(const Streams& streams) {
  return streams.err_is_terminal && streams.terminal_size != nullptr ? streams.terminal_size().columns : 0;
}

ExitCode ReportError(const absl::Status& status, const std::string& did_you_mean, ErrorForm form,
                     std::ostream& err) {
  const ExitCode exit_code = ExitCodeOf(status);
  // A statement of a shell has already reported an error without a message.
  if (status.message().empty()) return exit_code;
  const std::string message = Bounded(std::string(status.message()));
  if (!form.json) {
    std::string text = "itemctl: " + WithoutControlCharacters(message);
    if (!did_you_mean.empty()) text += "; did you mean " + JsonString(did_you_mean) + "?";
    err << Wrapped(text, form.width) << '\n';
    return exit_code;
  }
  const ErrorName name = ErrorNameOf(status);
  JsonValue error = JsonValue::Object()
                        .Add("code", name.code)
                        .Add("reason", name.reason)
                        .Add("message", message)
                        .Add("exit_code", static_cast<int>(exit_code));
  if (const std::string rule = RuleOf(status); !rule.empty()) error.Add("rule", rule);
  if (!did_you_mean.empty()) error.Add("did_you_mean", did_you_mean);
  if (const absl::Duration wait = RetryAfterOf(status); wait > absl::ZeroDuration()) {
    error.Add("retry_after_ms", absl::ToInt64Milliseconds(wait));
  }
  err << OneLine(JsonValue::Object().Add("error", std::move(error))) << '\n';
  return exit_code;
}

ErrorForm ErrorFormOf(const std::vector<std::string>& arguments, std::string format) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if ((argument == "-o" || argument == "--output") && i + 1 < arguments.size()) {
      format = arguments[i + 1];
    } else if (argument.starts_with("--output=")) {
      format = argument.substr(argument.find('=') + 1);
    } else if (argument.starts_with("-o") && argument.size() > 2) {
      format = argument.substr(2);
    }
  }
  return {.json = format == "json" || format == "jsonl" || format == "csv"};
}

absl::Status ParseFailure(CLI::App& root, const CLI::Error& error, std::string* did_you_mean) {
  // For an unknown command CLI11 only reports that a command is missing.
  const CLI::App& command = Innermost(root);
  const std::vector<std::string> unknown = root.remaining(true);
  const bool about_names = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) ||
                           error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (about_names && !unknown.empty() && unknown.front().starts_with("-") && unknown.front().size() > 1) {
    return UnknownOption(command, unknown.front(), did_you_mean);
  }
  if (about_names && !CommandsOf(command).empty()) {
    return UnknownCommand(root, command, unknown, did_you_mean);
  }
  const std::string path = PathOf(command);
  const std::string see = absl::StrFormat(" (see itemctl %s--help)", path.empty() ? "" : path + " ");
  if (about_names && !unknown.empty())
    return UsageError("unexpected argument " + JsonString(unknown.front()) + see);
  return UsageError(std::string(error.what()) + see);
}

absl::Status WithKeyAdvice(const absl::Status& status, const GlobalOptions& options) {
  if (status.GetPayload(kAdvisedPayload).has_value()) return status;
  const bool is_url = options.endpoint.find("://") != std::string::npos;
  // A key that the AWS SDKs would use too.
  const bool of_environment = is_url && std::getenv("AWS_ACCESS_KEY_ID") != nullptr;
  if (is_url && (!options.access_key_id.empty() || of_environment)) return status;
  const std::string message =
      is_url ? absl::StrFormat("%s; give --access-key-id, and its secret in %s or --secret-access-key-file",
                               std::string(status.message()), kSecretVariable)
      : options.access_key_id.empty()
          ? absl::StrFormat(
                "the daemon asks for an access key: give --access-key-id, and its secret in %s or "
                "--secret-access-key-file",
                kSecretVariable)
          : absl::StrFormat(
                "the daemon does not accept the access key %s: its key file has no key with this id and "
                "secret",
                options.access_key_id);
  absl::Status advised(status.code(), message);
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { advised.SetPayload(url, payload); });
  return advised;
}

std::string NearestName(const absl::Status& status, const CLI::App& command, Context& context) {
  const bool no_table = absl::IsNotFound(status) && ReasonOf(status) == kReasonResourceNotFound;
  if (!absl::IsNotFound(status) && !absl::IsInvalidArgument(status)) return "";
  const std::string table = GivenTo(command, kTableName);
  const std::string index = GivenTo(command, kIndexName);
  if (table.empty() || (!no_table && index.empty())) return "";
  absl::StatusOr<Client> client = context.OpenClient();
  if (!client.ok()) return "";
  if (no_table) return common::Nearest(table, LiveTableNames(*client, kEndpointPatience));
  const std::vector<std::string> indexes = LiveIndexNames(*client, table, kEndpointPatience);
  if (std::find(indexes.begin(), indexes.end(), index) != indexes.end()) return "";
  return common::Nearest(index, indexes);
}

}  // namespace itemdb::tools
