#include "tools/commands/model_draft.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/cli/command_table.h"
#include "tools/cli/progress.h"

namespace itemdb::tools {
namespace {

bool IsWord(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Converts shapes to expressions. Each attribute name gets an alias, because it may be a reserved word. Each
// `?` becomes a placeholder named like the attribute before it.
class ExpressionWriter {
 public:
  std::string Write(std::string_view shape) {
    std::string text;
    for (size_t i = 0; i < shape.size();) {
      const char c = shape[i];
      if (c == '"') {
        text += Alias(TakeQuoted(shape, &i));
      } else if (c == '[') {
        const size_t close = shape.find(']', i);
        if (close == std::string_view::npos) {
          is_whole_ = false;
          return text;
        }
        const size_t end = close + 1;
        text += shape.substr(i, end - i);
        i = end;
      } else if (c == '?') {
        text += Placeholder();
        ++i;
      } else if (IsWord(c)) {
        size_t end = i;
        while (end < shape.size() && IsWord(shape[end])) ++end;
        const std::string_view word = shape.substr(i, end - i);
        const bool is_function = end < shape.size() && shape[end] == '(';
        text += is_function || IsOperator(word) ? std::string(word) : Alias(std::string(word));
        i = end;
      } else {
        text += c;
        ++i;
      }
    }
    return text;
  }

  // False if a shape so far was truncated.
  bool is_whole() const { return is_whole_; }

  // The placeholder for the value of a key attribute; a key attribute needs no alias.
  std::string KeyPlaceholder(const std::string& attribute) {
    last_name_ = attribute;
    return Placeholder();
  }

  JsonValue Names() const {
    JsonValue names = JsonValue::Object();
    for (const auto& [name, alias] : aliases_) names.Add(alias, name);
    return names;
  }
  bool has_names() const { return !aliases_.empty(); }
  ModelParameters parameters() const {
    ModelParameters parameters;
    for (const std::string& placeholder : placeholders_) parameters.emplace(placeholder, std::nullopt);
    return parameters;
  }

 private:
  static bool IsOperator(std::string_view word) {
    static constexpr std::array<std::string_view, 5> kOperators = {"AND", "OR", "NOT", "IN", "BETWEEN"};
    return std::find(kOperators.begin(), kOperators.end(), word) != kOperators.end();
  }

  static std::string TakeQuoted(std::string_view shape, size_t* i) {
    std::string name;
    for (++*i; *i < shape.size(); ++*i) {
      if (shape[*i] == '"' && (*i + 1 == shape.size() || shape[*i + 1] != '"')) break;
      if (shape[*i] == '"') ++*i;
      name += shape[*i];
    }
    ++*i;
    return name;
  }

  // Makes a token of `name`: replaces characters that are not allowed in tokens, and appends a number until
  // `taken` is false.
  template <typename Taken>
  static std::string Token(char first, std::string_view name, const Taken& taken) {
    std::string token(1, first);
    for (char c : name.substr(0, 60)) token += IsWord(c) ? c : '_';
    std::string unique = token;
    for (int i = 2; taken(unique); ++i) unique = absl::StrCat(token, "_", i);
    return unique;
  }

  std::string Alias(const std::string& name) {
    last_name_ = name;
    const auto found = aliases_.find(name);
    if (found != aliases_.end()) return found->second;
    const std::string alias =
        Token('#', name, [this](const std::string& token) { return used_aliases_.contains(token); });
    used_aliases_.insert(alias);
    return aliases_.emplace(name, alias).first->second;
  }

  std::string Placeholder() {
    return *placeholders_
                .insert(Token(':', last_name_.empty() ? "value" : last_name_,
                              [this](const std::string& token) { return placeholders_.contains(token); }))
                .first;
  }

  bool is_whole_ = true;
  std::string last_name_;
  std::map<std::string, std::string> aliases_;
  std::set<std::string> used_aliases_;
  std::set<std::string> placeholders_;
};

bool IsCut(std::string_view shape) { return shape.ends_with("..."); }

JsonValue KeyOf(const TableDefinition& table, ExpressionWriter& writer) {
  JsonValue key = JsonValue::Object();
  for (const KeySchemaElement& element : table.key_schema) {
    key.Add(element.attribute_name, writer.KeyPlaceholder(element.attribute_name));
  }
  return key;
}

JsonValue ArrayOf(JsonValue element) {
  JsonValue array = JsonValue::Array();
  array.elements.push_back(std::move(element));
  return array;
}

JsonValue RequestOf(const AccessPattern& seen, const TableDefinition& table, ExpressionWriter& writer) {
  const JsonValue name = JsonValue::String(seen.table_name);
  const auto of_table = [&](JsonValue value) {
    return JsonValue::Object().Add(seen.table_name, std::move(value));
  };
  const auto of_one = [&](const char* action, const char* what) {
    return JsonValue::Object().Add(
        action, JsonValue::Object().Add("TableName", name).Add(what, KeyOf(table, writer)));
  };
  if (seen.operation == "BatchGetItem") {
    return JsonValue::Object().Add("RequestItems",
                                   of_table(JsonValue::Object().Add("Keys", ArrayOf(KeyOf(table, writer)))));
  }
  if (seen.operation == "BatchWriteItem") {
    return JsonValue::Object().Add(
        "RequestItems", of_table(ArrayOf(JsonValue::Object().Add(
                            "PutRequest", JsonValue::Object().Add("Item", KeyOf(table, writer))))));
  }
  if (seen.operation == "TransactGetItems")
    return JsonValue::Object().Add("TransactItems", ArrayOf(of_one("Get", "Key")));
  if (seen.operation == "TransactWriteItems")
    return JsonValue::Object().Add("TransactItems", ArrayOf(of_one("Put", "Item")));

  JsonValue request = JsonValue::Object().Add("TableName", name);
  const bool reads_pages = seen.operation == "Query" || seen.operation == "Scan";
  if (!seen.index_name.empty()) request.Add("IndexName", seen.index_name);
  if (!reads_pages) request.Add(seen.operation == "PutItem" ? "Item" : "Key", KeyOf(table, writer));
  if (!seen.key_condition.empty()) request.Add("KeyConditionExpression", writer.Write(seen.key_condition));
  if (!seen.filter.empty()) {
    request.Add(reads_pages ? "FilterExpression" : "ConditionExpression", writer.Write(seen.filter));
  }
  if (writer.has_names()) request.Add("ExpressionAttributeNames", writer.Names());
  if (seen.descending) request.Add("ScanIndexForward", false);
  return request;
}

std::string TitleOf(const AccessPattern& seen) {
  std::string title = seen.operation;
  if (!seen.key_condition.empty()) absl::StrAppend(&title, " ", seen.key_condition);
  if (!seen.filter.empty()) absl::StrAppend(&title, title == seen.operation ? " " : ", only ", seen.filter);
  return absl::StrFormat("%s: %s calls, %s items scanned, %s returned, p50 %d us, p99 %d us", title,
                         WithSeparators(seen.calls), WithSeparators(seen.items_scanned),
                         WithSeparators(seen.items_returned), absl::ToInt64Microseconds(seen.p50),
                         absl::ToInt64Microseconds(seen.p99));
}

// "query-Order-by-OpenOrders"; if the name exists already, "~2", "~3", ... is appended.
std::string PatternNameOf(const AccessPattern& seen, std::map<std::string, int>* names) {
  std::string name = absl::StrCat(absl::AsciiStrToLower(seen.operation), "-", seen.table_name);
  if (!seen.index_name.empty()) absl::StrAppend(&name, "-by-", seen.index_name);
  const int number = ++(*names)[name];
  return number == 1 ? name : absl::StrCat(name, "~", number);
}

absl::StatusOr<std::vector<std::string>> TableNames(Context& context, const Client& client,
                                                    const std::string& only) {
  if (!only.empty()) return std::vector<std::string>{only};
  std::vector<std::string> names;
  ListTablesRequest request;
  while (true) {
    ITEMDB_ASSIGN_OR_RETURN(ListTablesResult page, client.ListTables(request, context.Call()));
    names.insert(names.end(), page.table_names.begin(), page.table_names.end());
    if (!page.last_evaluated_table_name.has_value()) return names;
    request.exclusive_start_table_name = *page.last_evaluated_table_name;
  }
}

}  // namespace

std::optional<ModelPattern> DraftPattern(const AccessPattern& seen, const TableDefinition& table,
                                         const std::string& name) {
  if (seen.operation == "BulkWrite" || IsCut(seen.key_condition) || IsCut(seen.filter)) return std::nullopt;
  ExpressionWriter writer;
  ModelPattern pattern{.name = name, .title = TitleOf(seen)};
  JsonValue request = RequestOf(seen, table, writer);
  if (!writer.is_whole()) return std::nullopt;
  pattern.requests.push_back({.operation = seen.operation, .request = std::move(request)});
  pattern.parameters = writer.parameters();
  return pattern;
}

absl::Status RunModelDraft(Context& context, const ModelDraftOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(AccessPatternsResult seen,
                          client.GetAccessPatterns(options.table_name, context.Call()));
  ITEMDB_ASSIGN_OR_RETURN(std::vector<std::string> table_names,
                          TableNames(context, client, options.table_name));
  ModelFolder folder{.directory = options.directory, .tables = {}, .patterns = {}};
  for (const std::string& name : table_names) {
    ITEMDB_ASSIGN_OR_RETURN(TableResult table, client.DescribeTable(name, context.Call()));
    ITEMDB_ASSIGN_OR_RETURN(TimeToLiveResult time_to_live, client.DescribeTimeToLive(name, context.Call()));
    folder.tables.push_back({.definition = std::move(table.table.definition),
                             .time_to_live = std::move(time_to_live.attribute_name)});
  }
  int64_t left_out = 0;
  std::map<std::string, int> names;
  for (const AccessPattern& each : seen.patterns) {
    const ModelTable* table = folder.FindTable(each.table_name);
    // The table was created after the tables were listed.
    if (table == nullptr) continue;
    std::optional<ModelPattern> pattern = DraftPattern(each, table->definition, PatternNameOf(each, &names));
    if (pattern.has_value()) {
      folder.patterns.push_back(*std::move(pattern));
    } else {
      ++left_out;
    }
  }
  ITEMDB_RETURN_IF_ERROR(WriteModelFolder(folder));
  context.PrintSummary(JsonValue::Object()
                           .Add("Folder", options.directory)
                           .Add("Tables", folder.tables.size())
                           .Add("Patterns", folder.patterns.size())
                           .Add("PatternsLeftOut", left_out));
  return absl::OkStatus();
}

void RegisterModelDraft(CommandTable& table, CLI::App* group) {
  auto options = std::make_shared<ModelDraftOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "draft",
       .summary = "Write the tables and access patterns that the daemon has seen as a model folder",
       .details =
           "Each pattern of \"itemctl patterns\" becomes a request with a parameter for every value; write "
           "the values into the file, or give them with --set of \"model run\". The title of a pattern has "
           "its statistics. The daemon does not keep what an update changes, the attributes of an item "
           "besides its key, and the contents of a batch, so complete requests that write by hand. Chunks of "
           "bulk writes and conditions longer than 1024 bytes are left out. The folder must be new or empty.",
       .examples = {{"itemctl model draft seen", "every table, into the folder seen"},
                    {"itemctl model draft seen-orders --table Order", "one table"}}},
      [options](Context& context) { return RunModelDraft(context, *options); });
  command->add_option(std::string(kFolderName), options->directory, "The model folder")->required();
  command->add_option("--table", options->table_name, "Only this table. Default: all")->type_name("TABLE");
}

}  // namespace itemdb::tools
