#include "tools/model/model_report.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/base/number_text.h"
#include "tools/base/text_table.h"
#include "tools/cli/output.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

struct ResultWords {
  Result result;
  const char* in_table;
  const char* in_json;
};
constexpr ResultWords kResults[] = {{Result::kOk, "ok", "OK"},
                                    {Result::kDiffers, "DIFFERS", "DIFFERS"},
                                    {Result::kNoAnswer, "not compared", "NO_ANSWER"},
                                    {Result::kNotRun, "not run", "NOT_RUN"},
                                    {Result::kFailed, "FAILED", "FAILED"}};

const ResultWords& WordsOf(Result result) {
  return *std::find_if(std::begin(kResults), std::end(kResults),
                       [result](const ResultWords& words) { return words.result == result; });
}

// Adds the tables that the request, or a request inside it, names.
void AddTables(const JsonValue& request, std::set<std::string>* tables) {
  for (const JsonValue& element : request.elements) AddTables(element, tables);
  for (const auto& [name, value] : request.members) {
    if (name == "TableName") {
      tables->insert(value.text);
    } else if (name == "RequestItems") {
      for (const auto& [table, requests] : value.members) tables->insert(table);
    } else if (name != "Item" && name != "Key") {
      AddTables(value, tables);
    }
  }
}

// "Query Order.OpenOrdersByDate"; different requests are separated by commas.
std::string RequestsText(const ModelPattern& pattern) {
  std::vector<std::string> texts;
  for (const ModelRequest& request : pattern.requests) {
    std::set<std::string> tables;
    AddTables(request.request, &tables);
    std::string text = absl::StrCat(request.operation, " ", absl::StrJoin(tables, "+"));
    if (const JsonValue* index = request.request.FindOrNull("IndexName"); index != nullptr) {
      absl::StrAppend(&text, ".", index->text);
    }
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
  }
  return absl::StrJoin(texts, ", ");
}

JsonValue ItemsToJson(const std::vector<Item>& items) {
  JsonValue array = JsonValue::Array();
  for (const Item& item : items) array.elements.push_back(ItemToJson(item, ItemForm::kTyped));
  return array;
}

JsonValue ToJson(const PatternRun& run, bool show_items) {
  JsonValue object = JsonValue::Object().Add("Name", run.pattern->name);
  if (run.pattern->number.has_value()) object.Add("Pattern", *run.pattern->number);
  object.Add("Requests", RequestsText(*run.pattern))
      .Add("Calls", run.figures.calls)
      .Add("ScannedCount", run.figures.scanned)
      .Add("Count", run.figures.returned)
      .Add("Result", WordsOf(run.result).in_json);
  if (!run.why.empty()) object.Add("Why", run.why);
  if (!run.differences.empty()) object.Add("Differences", run.differences);
  object.Add("Warnings", run.figures.warnings);
  if (show_items) object.Add("Items", ItemsToJson(run.figures.items));
  if (show_items && run.figures.items_left_out > 0) object.Add("ItemsNotShown", run.figures.items_left_out);
  return object;
}

void PrintRows(Context& context, const std::vector<PatternRun>& runs, bool show_items) {
  TextTable text({"pattern", "requests", NumberColumn("calls"), NumberColumn("scanned"),
                  NumberColumn("returned"), "answer"});
  for (const PatternRun& run : runs) {
    text.AddRow({run.pattern->name, RequestsText(*run.pattern),
                 WithSeparators(static_cast<int64_t>(run.figures.calls)),
                 WithSeparators(static_cast<int64_t>(run.figures.scanned)),
                 WithSeparators(static_cast<int64_t>(run.figures.returned)), WordsOf(run.result).in_table});
  }
  context.Print(text);
  context.out() << SummaryOf(runs) << '\n';
  const auto print = [&context](const PatternRun& run, const char* what, const std::string& line) {
    context.out() << what << ": " << run.pattern->name << ": " << line << '\n';
  };
  for (const PatternRun& run : runs) {
    for (const std::string& line : run.differences) print(run, "differs", line);
    if (!run.why.empty()) print(run, WordsOf(run.result).in_table, run.why);
    for (const std::string& line : run.figures.warnings) print(run, "warning", line);
    for (const Item& item : run.figures.items) {
      if (show_items) print(run, "found", OneLine(ItemToJson(item, ItemForm::kTyped)));
    }
    if (show_items && run.figures.items_left_out > 0)
      print(run, "found", absl::StrCat(run.figures.items_left_out, " more, which are not shown"));
  }
}

void PrintJson(Context& context, const std::vector<PatternRun>& runs, bool show_items) {
  JsonValue all = JsonValue::Array();
  for (const PatternRun& run : runs) all.elements.push_back(ToJson(run, show_items));
  context.PrintList("Patterns", std::move(all));
}

}  // namespace

size_t CountOf(const std::vector<PatternRun>& runs, Result result) {
  return static_cast<size_t>(std::count_if(runs.begin(), runs.end(),
                                           [result](const PatternRun& run) { return run.result == result; }));
}

std::string SummaryOf(const std::vector<PatternRun>& runs) {
  std::vector<std::string> parts;
  for (const ResultWords& words : kResults) {
    const size_t count = CountOf(runs, words.result);
    if (count > 0) parts.push_back(absl::StrCat(count, " ", words.in_table));
  }
  int64_t calls = 0, scanned = 0, returned = 0;
  for (const PatternRun& run : runs) {
    calls += run.figures.calls;
    scanned += run.figures.scanned;
    returned += run.figures.returned;
  }
  return absl::StrFormat("%s: %s; %s, %s scanned, %d returned",
                         NumberOf(static_cast<int64_t>(runs.size()), {.one = "pattern", .many = "patterns"}),
                         absl::StrJoin(parts, ", "), NumberOf(calls, {.one = "call", .many = "calls"}),
                         NumberOf(scanned, kItemNoun), returned);
}

void PrintRuns(Context& context, const std::vector<PatternRun>& runs, bool show_items) {
  if (context.format() == OutputFormat::kTable) {
    PrintRows(context, runs, show_items);
  } else {
    PrintJson(context, runs, show_items);
  }
}

}  // namespace itemdb::tools
