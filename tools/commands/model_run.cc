#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/nearest.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/commands/model_commands.h"
#include "tools/json/call_json.h"
#include "tools/model/model_answer.h"
#include "tools/model/model_calls.h"
#include "tools/model/model_folder.h"
#include "tools/model/model_parameters.h"
#include "tools/model/model_report.h"

namespace itemdb::tools {
namespace {

// How many items beyond the expected number are kept from an answer that differs.
constexpr size_t kMostUnexpected = 100;
// How many items are kept with --show-items.
constexpr size_t kMostShown = 1'000;

// ---- what is run ---------------------------------------------------------------------------------

absl::StatusOr<std::vector<const ModelPattern*>> Selected(const ModelFolder& folder,
                                                          const std::vector<std::string>& names) {
  const std::string path = folder.PathOf(kPatternsFile);
  if (folder.patterns.empty()) return UsageError(path + " has no patterns to run");
  std::vector<const ModelPattern*> selected;
  std::vector<std::string> known;
  for (const ModelPattern& pattern : folder.patterns) {
    known.push_back(pattern.name);
    if (names.empty()) selected.push_back(&pattern);
  }
  for (const std::string& name : names) {
    const auto it = std::find(known.begin(), known.end(), name);
    if (it == known.end()) {
      return UsageError(absl::StrFormat("%s has no pattern %s; it has %s%s", path, JsonString(name),
                                        absl::StrJoin(known, ", "), common::DidYouMean(name, known)));
    }
    selected.push_back(&folder.patterns[static_cast<size_t>(it - known.begin())]);
  }
  return selected;
}

// Reads the --set options. UsageError: one is malformed, more than one pattern is selected, or the pattern
// has no such name.
absl::StatusOr<ParameterValues> Settings(const std::vector<std::string>& texts,
                                         const std::vector<const ModelPattern*>& selected) {
  ParameterValues settings;
  if (texts.empty()) return settings;
  if (selected.size() != 1)
    return UsageError("--set needs the name of exactly one PATTERN, whose value it sets");
  const std::set<std::string> names = SettableNames(*selected.front());
  for (const std::string& text : texts) {
    ITEMDB_ASSIGN_OR_RETURN(auto setting, ParseSetting(text));
    if (!names.contains(setting.first)) {
      return UsageError(absl::StrFormat(
          "--set: the pattern %s has no parameter, placeholder or key attribute %s; it has %s",
          selected.front()->name, JsonString(setting.first), absl::StrJoin(names, ", ")));
    }
    settings.insert_or_assign(setting.first, std::move(setting.second));
  }
  return settings;
}

// Sets `*values` to the values of all parameters. Returns the names of the parameters without a value.
std::vector<std::string> ValuesOf(const ModelPattern& pattern, const ParameterValues& settings,
                                  ParameterValues* values) {
  std::vector<std::string> missing;
  *values = settings;
  for (const auto& [name, value] : pattern.parameters) {
    if (settings.contains(name)) continue;
    if (value.has_value()) {
      values->emplace(name, *value);
    } else {
      missing.push_back(name);
    }
  }
  return missing;
}

// ---- running -------------------------------------------------------------------------------------

// Whether the next pattern would probably fail with the same error.
bool IsOfTheDaemon(const absl::Status& status) {
  const ExitCode code = ExitCodeOf(status);
  return code == ExitCode::kUnreachable || code == ExitCode::kOutcomeUnknown ||
         status.code() == absl::StatusCode::kCancelled ||
         status.code() == absl::StatusCode::kUnauthenticated ||
         status.code() == absl::StatusCode::kPermissionDenied;
}

class Runner {
 public:
  // `options` are borrowed.
  Runner(Context& context, const ModelFolder& folder, Client client, const ModelRunOptions& options)
      : context_(context), folder_(folder), client_(std::move(client)), options_(options) {}

  // Runs one pattern. An error ends the whole command.
  absl::StatusOr<PatternRun> Run(const ModelPattern& pattern, const ParameterValues& settings) {
    PatternRun run{.pattern = &pattern};
    ParameterValues values;
    if (const std::vector<std::string> missing = ValuesOf(pattern, settings, &values); !missing.empty()) {
      run.why = absl::StrFormat("no value for %s: give one in Parameters or with --set %s=VALUE",
                                absl::StrJoin(missing, ", "), missing.front());
      return run;
    }
    ITEMDB_ASSIGN_OR_RETURN(std::vector<Call> calls, CallsOf(pattern, values));
    if (!options_.writes && std::any_of(calls.begin(), calls.end(), Writes)) {
      run.why = "it writes, and --writes was not given";
      return run;
    }
    size_t most_items = pattern.items.has_value() ? pattern.items->size() + kMostUnexpected : 0;
    if (options_.show_items) most_items = std::max(most_items, kMostShown);
    for (const Call& call : calls) {
      absl::Status sent = Send(context_, client_, folder_, call, most_items, &run.figures);
      if (sent.ok()) continue;
      if (IsOfTheDaemon(sent)) return sent;
      run.result = Result::kFailed;
      run.why = std::string(sent.message());
      return run;
    }
    run.result = Result::kNoAnswer;
    if (!pattern.items.has_value() || !settings.empty()) return run;
    std::vector<Item> found = run.figures.items;
    if (const auto keys = IndexSortKeyOf(pattern); keys.has_value())
      OrderTiesAs(*pattern.items, *keys, found);
    run.differences = AnswerDifferences(*pattern.items, found, pattern.any_order);
    run.result = run.differences.empty() ? Result::kOk : Result::kDiffers;
    return run;
  }

 private:
  // The attributes that order the answer of a pattern that is one query of an index: items with equal ones
  // may come in any order. Nothing of another pattern.
  std::optional<std::vector<std::string>> IndexSortKeyOf(const ModelPattern& pattern) const {
    if (pattern.requests.size() != 1 || pattern.requests.front().operation != "Query") return std::nullopt;
    const JsonValue& request = pattern.requests.front().request;
    const auto text_of = [&](const char* name) {
      const JsonValue* member = request.FindOrNull(name);
      return member == nullptr ? std::string() : member->text;
    };
    const ModelTable* table = folder_.FindTable(text_of("TableName"));
    const std::string index_name = text_of("IndexName");
    if (table == nullptr || index_name.empty()) return std::nullopt;
    std::optional<std::vector<std::string>> attributes;
    const auto look = [&](const auto& indexes) {
      for (const auto& index : indexes) {
        if (index.index_name != index_name) continue;
        attributes.emplace();
        for (const auto& element : index.key_schema) {
          if (element.key_type == KeyType::kRange) attributes->push_back(element.attribute_name);
        }
      }
    };
    look(table->definition.global_secondary_indexes);
    look(table->definition.local_secondary_indexes);
    return attributes;
  }

  absl::StatusOr<std::vector<Call>> CallsOf(const ModelPattern& pattern,
                                            const ParameterValues& values) const {
    std::vector<Call> calls;
    std::set<std::string> used;
    for (const ModelRequest& request : pattern.requests) {
      ITEMDB_ASSIGN_OR_RETURN(Call call,
                              CallFromJson(request.operation, WithParameters(request.request, values, &used),
                                           "the pattern " + pattern.name));
      calls.push_back(std::move(call));
    }
    return calls;
  }

  Context& context_;
  const ModelFolder& folder_;
  const Client client_;
  const ModelRunOptions& options_;
};

}  // namespace

absl::Status RunModelRun(Context& context, const ModelRunOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(ModelFolder folder, ReadModelFolder(context, options.directory));
  ITEMDB_ASSIGN_OR_RETURN(std::vector<const ModelPattern*> selected, Selected(folder, options.patterns));
  ITEMDB_ASSIGN_OR_RETURN(ParameterValues settings, Settings(options.settings, selected));
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  Runner runner(context, folder, std::move(client), options);
  std::vector<PatternRun> runs;
  for (const ModelPattern* pattern : selected) {
    absl::StatusOr<PatternRun> run = runner.Run(*pattern, settings);
    if (!run.ok()) {
      // Print the patterns that were run: they may have written.
      if (!runs.empty()) PrintRuns(context, runs, options.show_items);
      return run.status();
    }
    runs.push_back(*std::move(run));
  }
  PrintRuns(context, runs, options.show_items);
  if (CountOf(runs, Result::kDiffers) + CountOf(runs, Result::kFailed) > 0) {
    return absl::FailedPreconditionError(SummaryOf(runs));
  }
  for (const PatternRun& run : runs) {
    // Only a pattern that was given by its name.
    if (run.result != Result::kNotRun || options.patterns.empty()) continue;
    return UsageError(absl::StrFormat("the pattern %s was not run: %s", run.pattern->name, run.why));
  }
  return absl::OkStatus();
}

}  // namespace itemdb::tools
