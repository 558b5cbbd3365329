#include "tools/commands/partiql_commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/statement_text.h"
#include "tools/cli/command_table.h"
#include "tools/cli/live_names.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/output.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

absl::StatusOr<std::vector<std::string>> ReadStatements(Context& context, const PartiqlOptions& options) {
  if (options.statement.empty() == options.file.empty())
    return UsageError("give the statement either as an argument (- for standard input) or with --file");
  std::string text = options.statement;
  if (!options.file.empty() || options.statement == "-") {
    ITEMDB_ASSIGN_OR_RETURN(std::string content, context.ReadFile(options.file.empty() ? "-" : options.file));
    text = std::move(content);
  }
  StatementTexts texts = SplitStatements(text);
  if (!texts.rest.empty()) texts.ended.push_back(std::move(texts.rest));
  if (texts.ended.empty()) return UsageError("there is no statement");
  for (std::string& statement : texts.ended) statement = WithQuotedTable(statement);
  return std::move(texts.ended);
}

absl::StatusOr<Value> ParseParameter(const std::string& text) {
  const absl::StatusOr<Item> item = ParseItem("{\"p\": " + text + "}", ReadForm::kDetect, "the parameter");
  if (!item.ok() || item->size() != 1) {
    return UsageError(
        absl::StrFormat("the parameter %s is not JSON; a string is written '\"text\"', a number 25.5", text));
  }
  return item->begin()->value;
}

// The number of `?` outside quotes.
size_t ParametersIn(const std::string& statement) {
  size_t count = 0;
  char quote = 0;
  for (const char c : statement) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '?') {
      ++count;
    }
  }
  return count;
}

// The parameters of each statement.
absl::StatusOr<std::vector<std::vector<Value>>> DividedParameters(const std::vector<std::string>& statements,
                                                                  const std::vector<std::string>& texts) {
  std::vector<std::vector<Value>> divided;
  size_t next = 0;
  for (const std::string& statement : statements) {
    std::vector<Value>& own = divided.emplace_back();
    for (size_t i = ParametersIn(statement); i > 0 && next < texts.size(); --i) {
      ITEMDB_ASSIGN_OR_RETURN(Value value, ParseParameter(texts[next++]));
      own.push_back(std::move(value));
    }
  }
  if (next < texts.size())
    return UsageError(
        absl::StrFormat("there are %d parameters, but only %d ? in the statement", texts.size(), next));
  return divided;
}

ItemForm FormOf(const PartiqlOptions& options) { return options.typed ? ItemForm::kTyped : ItemForm::kPlain; }

// `status` of `statement` with what itemctl itself offers for what PartiQL refuses. The service's text is the
// one of its protocol, where "the request's Limit" means something.
absl::Status WithAdvice(const absl::Status& status, const std::string& statement) {
  std::string advice;
  if (absl::StrContains(status.message(), "LIMIT and OFFSET are not supported")) {
    advice = "write itemctl partiql --limit N with the statement without LIMIT";
  } else if (absl::StrContains(status.message(), "Aggregate functions are not supported")) {
    const std::string table = TargetOfSelect(statement).table_name;
    advice = "itemctl count " + (table.empty() ? "TABLE" : table) + " counts items";
  }
  if (advice.empty()) return status;
  absl::Status advised(status.code(), absl::StrCat(std::string(status.message()), "; ", advice));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { advised.SetPayload(url, payload); });
  return advised;
}

absl::Status RunSelect(Context& context, Client& client, const PartiqlOptions& options,
                       ExecuteStatementRequest request) {
  ItemWriter::Options writer_options{
      .format = context.format(), .form = FormOf(options), .layout = context.layout(), .with_count = true};
  if (context.format() == OutputFormat::kTable || context.format() == OutputFormat::kCsv) {
    const SelectTarget target = TargetOfSelect(request.statement);
    writer_options.leading_columns = target.attributes;
    if (target.attributes.empty() && !target.table_name.empty())
      writer_options.leading_columns = LeadingColumns(client, target.table_name, target.index_name);
  }
  ItemWriter writer(std::move(writer_options), &context.out());
  request.limit = options.limit;
  request.next_token = options.next_token;
  ConsumedTotal consumed;
  std::string next_token;
  while (context.out().good()) {
    absl::StatusOr<ExecuteStatementResult> executed = client.ExecuteStatement(request, context.Call());
    if (!executed.ok()) return WithAdvice(executed.status(), request.statement);
    const ExecuteStatementResult page = *std::move(executed);
    for (const Item& item : page.items) ITEMDB_RETURN_IF_ERROR(writer.Write(item));
    consumed.Add(page.consumed_capacity);
    next_token = page.next_token.value_or("");
    if (next_token.empty() || options.limit.has_value()) break;
    request.next_token = next_token;
    if (context.session().interrupted()) return absl::CancelledError("interrupted");
  }
  JsonValue summary = JsonValue::Object();
  if (!next_token.empty()) summary.Add("NextToken", next_token);
  writer.Finish(summary);
  if (!next_token.empty() && context.format() != OutputFormat::kJson)
    context.err() << "NextToken: " << next_token << '\n';
  consumed.Print(context);
  return absl::OkStatus();
}

absl::Status RunWrite(Context& context, Client& client, const PartiqlOptions& options,
                      const ExecuteStatementRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(ExecuteStatementResult result, client.ExecuteStatement(request, context.Call()));
  for (const Item& item : result.items) PrintItem(item, context.format(), FormOf(options), context.out());
  if (result.items.empty() && context.format() == OutputFormat::kTable) {
    const size_t word = request.statement.find_first_of(" \t\r\n");
    context.out() << absl::AsciiStrToUpper(request.statement.substr(0, word)) << " done\n";
  }
  ConsumedTotal consumed;
  consumed.Add(result.consumed_capacity);
  consumed.Print(context);
  return absl::OkStatus();
}

absl::Status RunTransaction(Context& context, Client& client, const PartiqlOptions& options,
                            const std::vector<std::string>& statements,
                            const std::vector<std::vector<Value>>& parameters) {
  ExecuteTransactionRequest request{.statements = {}, .return_consumed_capacity = CapacityOf(options)};
  for (size_t i = 0; i < statements.size(); ++i)
    request.statements.push_back({.statement = statements[i], .parameters = parameters[i]});
  ITEMDB_ASSIGN_OR_RETURN(ExecuteTransactionResult result,
                          client.ExecuteTransaction(request, context.Call()));
  const bool reads = !result.items.empty();
  if (reads || context.format() == OutputFormat::kJson) {
    ItemWriter writer(
        {.format = context.format(), .form = FormOf(options), .layout = context.layout(), .with_count = true},
        &context.out());
    for (const std::optional<Item>& item : result.items) {
      if (item.has_value()) ITEMDB_RETURN_IF_ERROR(writer.Write(*item));
    }
    writer.Finish(JsonValue::Object());
  } else if (context.format() == OutputFormat::kTable) {
    context.out() << NumberOf(static_cast<int64_t>(statements.size()),
                              {.one = "statement", .many = "statements"})
                  << " done\n";
  }
  ConsumedTotal consumed;
  consumed.Add(result.consumed_capacity);
  consumed.Print(context);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunPartiql(Context& context, const PartiqlOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> statements, ReadStatements(context, options));
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::vector<Value>> parameters,
                          DividedParameters(statements, options.parameters));
  if ((options.limit.has_value() || !options.next_token.empty()) &&
      (options.transaction || statements.size() > 1)) {
    return UsageError("--limit and --next-token are for a single SELECT");
  }
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  if (options.transaction) return RunTransaction(context, client, options, statements, parameters);
  for (size_t i = 0; i < statements.size(); ++i) {
    const ExecuteStatementRequest request{.statement = statements[i],
                                          .parameters = parameters[i],
                                          .return_consumed_capacity = CapacityOf(options)};
    ITEMDB_RETURN_IF_ERROR(IsSelectStatement(statements[i]) ? RunSelect(context, client, options, request)
                                                            : RunWrite(context, client, options, request));
  }
  return absl::OkStatus();
}

void RegisterPartiqlCommands(CommandTable& table) {
  auto options = std::make_shared<PartiqlOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "partiql",
       .summary = "Execute PartiQL statements: SELECT, INSERT, UPDATE, DELETE",
       .details = "Prints all items of a SELECT, and of a write the item that RETURNING asks for. Several "
                  "statements, with semicolons between them, are executed one after the other until one "
                  "fails, or with --transaction all or none. In the shell a statement needs no \"partiql\": "
                  "it ends with a semicolon and may have several lines.",
       .examples =
           {{R"(itemctl partiql "SELECT order_id, total_amount FROM \"Order\" WHERE PK = 'ord_001'")",
             "two attributes of an item collection"},
            {R"(itemctl partiql 'UPDATE music SET plays = ? WHERE artist = ? AND song = ? RETURNING ALL NEW *' )"
             R"(7 '"Bach"' '"Air"')",
             "a write with parameters, and the item after it"}},
       .pages = true},
      [options](Context& context) { return RunPartiql(context, *options); });
  command->add_option("STATEMENT", options->statement, "The statement, or several; - for standard input");
  command->add_option("PARAMETER", options->parameters,
                      "A value for each ? of the statement, in their order: JSON or DynamoDB JSON");
  command
      ->add_option(
          "-f,--file", options->file,
          "Read the statements from this file, - for standard input. Default: the argument STATEMENT")
      ->type_name(std::string(kFileName));
  command->add_flag("--transaction", options->transaction,
                    "Execute all statements or none; each names one item by its key");
  command
      ->add_option("--limit", options->limit,
                   "Read one page of at most this many items, counted before the filter, 1 to 2147483647. "
                   "Default: all pages")
      ->check(PositiveInt32())
      ->type_name("ITEMS");
  command
      ->add_option("--next-token", options->next_token,
                   "Continue behind the page that printed this NextToken. Default: from the first item")
      ->type_name("TOKEN");
  AddCapacityOption(command, *options);
  command->add_flag("--typed", options->typed, "Print DynamoDB JSON");
}

}  // namespace itemdb::tools
