#include "tools/commands/search_commands.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/output.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

// The column of a table with the scores; no attribute of an item hides behind it often.
constexpr char kScoreColumn[] = "(score)";

std::string FloatText(float number) {
  char text[32];
  char* const end = std::to_chars(text, text + sizeof(text), number).ptr;
  return std::string(text, end);
}

// The numbers of a JSON array, plain or as {"N": "1.5"}. `near` is the array, or a file with it.
absl::StatusOr<std::vector<float>> ParseVector(Context& context, const std::string& near) {
  const size_t first = near.find_first_not_of(" \t\r\n");
  std::string text = near;
  if (first == std::string::npos || near[first] != '[') {
    ITEMDB_ASSIGN_OR_RETURN(text, context.ReadFile(near));
  }
  const absl::StatusOr<JsonValue> json = ParseJson(text);
  if (!json.ok()) return UsageError(absl::StrCat("--near: ", std::string(json.status().message())));
  if (json->kind != JsonValue::Kind::kArray) return UsageError("--near must be a JSON array of numbers");
  std::vector<float> vector;
  for (const JsonValue& element : json->elements) {
    const JsonValue* typed = element.FindOrNull("N");
    const JsonValue& number = typed != nullptr && element.members.size() == 1 ? *typed : element;
    float value = 0;
    const char* const end = number.text.data() + number.text.size();
    const auto read = std::from_chars(number.text.data(), end, value);
    if ((number.kind != JsonValue::Kind::kNumber && typed == nullptr) || read.ec != std::errc() ||
        read.ptr != end) {
      return UsageError(absl::StrCat("--near: element ", vector.size(),
                                     " is no 32-bit floating-point number: ", OneLine(element)));
    }
    vector.push_back(value);
  }
  return vector;
}

absl::Status PrintResults(Context& context, const SearchVectorsResult& result, ItemForm form) {
  if (context.format() == OutputFormat::kTable || context.format() == OutputFormat::kCsv) {
    ItemWriter writer({.format = context.format(),
                       .form = form,
                       .layout = context.layout(),
                       .leading_columns = {kScoreColumn},
                       .with_count = true},
                      &context.out());
    for (const SearchResult& found : result.search_results) {
      Item item = found.item;
      item.Set(kScoreColumn, Value(FloatText(found.score)));
      ITEMDB_RETURN_IF_ERROR(writer.Write(item));
    }
    writer.Finish(JsonValue::Object());
    return absl::OkStatus();
  }
  std::vector<JsonValue> results;
  for (const SearchResult& found : result.search_results) {
    results.push_back(JsonValue::Object()
                          .Add("Item", ItemToJson(found.item, form))
                          .Add("Score", JsonValue::Number(FloatText(found.score))));
    if (context.format() == OutputFormat::kJsonLines)
      PrintDocument(results.back(), OutputFormat::kJsonLines, context.out());
  }
  if (context.format() != OutputFormat::kJsonLines)
    context.Print(JsonValue::Object().Add("SearchResults", JsonValue::Array(std::move(results))));
  return absl::OkStatus();
}

}  // namespace

absl::Status RunSearch(Context& context, const SearchOptions& options) {
  SearchVectorsRequest request{.table_name = options.table_name, .index_name = options.index_name};
  ITEMDB_ASSIGN_OR_RETURN(request.search_vector, ParseVector(context, options.near));
  request.top_k = options.top;
  request.search_condition_expression = options.search_condition_expression;
  request.projection_expression = options.projection_expression;
  ITEMDB_RETURN_IF_ERROR(FillPlaceholders(options, request));
  ITEMDB_ASSIGN_OR_RETURN(const Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const SearchVectorsResult result, client.SearchVectors(request, context.Call()));
  return PrintResults(context, result, options.typed ? ItemForm::kTyped : ItemForm::kPlain);
}

void RegisterSearchCommands(CommandTable& table) {
  auto options = std::make_shared<SearchOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "search",
       .summary = "Find the items of a vector index that are nearest to a vector",
       .details =
           "Prints the nearest items with their scores, nearest first. The index's distance function says "
           "what a score is: with COSINE and EUCLIDEAN lower is nearer, with DOT_PRODUCT higher.",
       .examples = {{"itemctl search articles ByMeaning --near '[0.9, 0.1, 0.2]' --top 2",
                     "the two nearest items"},
                    {R"(itemctl search articles ByMeaning --near '[0.9, 0.1, 0.2]' --filter 'topic = :t' )"
                     R"(--values '{":t": "music"}' -o json)",
                     "only items with a value of a filter attribute"}}},
      [options](Context& context) { return RunSearch(context, *options); });
  command->add_option(std::string(kTableName), options->table_name, "The table's name")->required();
  command->add_option(std::string(kIndexName), options->index_name, "A vector index of the table")
      ->required();
  command
      ->add_option("--near", options->near,
                   "The vector to search for: a JSON array of numbers, or a file with one")
      ->required()
      ->type_name("FILE|JSON");
  command->add_option("--top-k,--top", options->top, "How many items to print at most, 1 to 100. Default: 10")
      ->check(WholeNumberBetween(1, 100))
      ->type_name("ITEMS");
  command
      ->add_option("--search-condition-expression,--filter", options->search_condition_expression,
                   "Search only items for which this is true: equality on attributes of the index's search "
                   "schema. Default: all")
      ->type_name("EXPRESSION");
  command
      ->add_option("--projection-expression,--projection", options->projection_expression,
                   "Attributes to print. Default: all that the index has but the vector")
      ->type_name("EXPRESSION");
  command
      ->add_option("--expression-attribute-names,--names", options->names,
                   "JSON object: placeholder \"#n\" to name. Default: none")
      ->type_name("JSON");
  command
      ->add_option("--expression-attribute-values,--values", options->values,
                   "JSON object: placeholder \":v\" to value, plain or DynamoDB JSON. Default: none")
      ->type_name("JSON");
  command->add_flag("--plain", options->plain, "The values are plain JSON");
  command->add_flag("--typed", options->typed, "Print DynamoDB JSON");
}

}  // namespace itemdb::tools
