#include "tools/commands/batch_commands.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/json/request_json.h"

namespace itemdb::tools {
namespace {

constexpr char kBatchOption[] = "--request-items";
// Lines written with one call of the client: 40 batches of 25.
constexpr size_t kLinesAtOnce = 1'000;

// ---- batch-get -----------------------------------------------------------------------------------

// {"Responses": {"T": [...]}, "Missing": {"T": [...]}}: as AWS answers, plus the keys without an item.
JsonValue ResultToJson(const BatchGetItemRequest& request, const BatchGetItemResult& result, ItemForm form) {
  JsonValue responses = JsonValue::Object();
  JsonValue missing = JsonValue::Object();
  for (size_t t = 0; t < result.tables.size(); ++t) {
    JsonValue items = JsonValue::Array();
    JsonValue keys = JsonValue::Array();
    for (size_t k = 0; k < result.tables[t].items.size(); ++k) {
      const std::optional<Item>& item = result.tables[t].items[k];
      if (item.has_value()) {
        items.elements.push_back(ItemToJson(*item, form));
      } else {
        keys.elements.push_back(ItemToJson(request.request_items[t].keys[k], form));
      }
    }
    responses.Add(result.tables[t].table_name, std::move(items));
    if (!keys.elements.empty()) missing.Add(result.tables[t].table_name, std::move(keys));
  }
  return JsonValue::Object().Add("Responses", std::move(responses)).Add("Missing", std::move(missing));
}

// Prints one line a key.
void PrintLines(const BatchGetItemRequest& request, const BatchGetItemResult& result, ItemForm form,
                Context& context) {
  for (size_t t = 0; t < result.tables.size(); ++t) {
    for (size_t k = 0; k < result.tables[t].items.size(); ++k) {
      const std::optional<Item>& item = result.tables[t].items[k];
      context.Print(JsonValue::Object()
                        .Add("TableName", result.tables[t].table_name)
                        .Add("Key", ItemToJson(request.request_items[t].keys[k], form))
                        .Add("Item", item.has_value() ? ItemToJson(*item, form) : JsonValue::Null()));
    }
  }
}

// Prints the items of each table below its name, and the keys without an item to stderr.
void PrintTables(Context& context, const BatchGetItemRequest& request, const BatchGetItemResult& result,
                 ItemForm form) {
  for (size_t t = 0; t < result.tables.size(); ++t) {
    const KeysAndAttributes& asked = request.request_items[t];
    ItemWriter::Options options{.format = OutputFormat::kTable, .form = form, .layout = context.layout()};
    for (const Attribute& attribute : asked.keys.front()) options.leading_columns.push_back(attribute.name);
    context.out() << (t == 0 ? "" : "\n") << asked.table_name << ":\n";
    ItemWriter writer(std::move(options), &context.out());
    for (size_t k = 0; k < asked.keys.size(); ++k) {
      const std::optional<Item>& item = result.tables[t].items[k];
      if (item.has_value()) {
        // Only csv can fail.
        writer.Write(*item).IgnoreError();
      } else {
        context.err() << "the table " << asked.table_name << " has no item with the key "
                      << OneLine(ItemToJson(asked.keys[k], ItemForm::kPlain)) << '\n';
      }
    }
    writer.Finish(JsonValue::Object());
  }
}

// ---- batch-write ---------------------------------------------------------------------------------

struct WriteCounts {
  size_t puts = 0;
  size_t deletes = 0;

  void Add(const std::vector<BatchWrite>& writes) {
    for (const BatchWrite& write : writes) ++(std::holds_alternative<BatchPut>(write) ? puts : deletes);
  }
};

// Reads the writes in parts: a whole document, or kLinesAtOnce JSON lines.
class WriteSource {
 public:
  // UsageError: the document is malformed, or the file cannot be read.
  static absl::StatusOr<WriteSource> Open(Context& context, const BatchWriteOptions& options) {
    WriteSource source(options);
    if (options.table_name.empty()) {
      ITEMDB_ASSIGN_OR_RETURN(std::string text, ReadDocument(context, options, kBatchOption));
      ITEMDB_ASSIGN_OR_RETURN(std::vector<BatchWrite> writes, ParseBatchWrites(text, options.form()));
      source.document_ = std::move(writes);
      return source;
    }
    if (!options.text.empty()) {
      return UsageError("give either a table, for JSON lines, or --request-items, which name their tables");
    }
    source.lines_ = &context.in();
    if (options.file.empty() || options.file == "-") {
      if (context.session().is_shell) {
        return UsageError(
            "the shell reads its statements from standard input, so this command cannot read it; name a "
            "file, or run itemctl outside the shell");
      }
      return source;
    }
    errno = 0;
    source.file_ = std::make_unique<std::ifstream>(options.file, std::ios::binary);
    source.lines_ = source.file_.get();
    if (!source.file_->is_open()) {
      return UsageError(absl::StrFormat("cannot read %s: %s", options.file, std::strerror(errno)));
    }
    return source;
  }

  // The next part; empty at the end. UsageError: a line is malformed.
  absl::StatusOr<std::vector<BatchWrite>> Next() {
    if (document_.has_value()) return *std::exchange(document_, std::vector<BatchWrite>());
    std::vector<BatchWrite> writes;
    std::string line;
    while (lines_ != nullptr && writes.size() < kLinesAtOnce && std::getline(*lines_, line)) {
      ++line_number_;
      if (absl::StripAsciiWhitespace(line).empty()) continue;
      ITEMDB_ASSIGN_OR_RETURN(BatchWrite write, ParseWriteLine(line, options_.table_name, options_.form(),
                                                               absl::StrFormat("line %d", line_number_)));
      writes.push_back(std::move(write));
    }
    return writes;
  }

 private:
  explicit WriteSource(const BatchWriteOptions& options) : options_(options) {}

  BatchWriteOptions options_;
  std::optional<std::vector<BatchWrite>> document_;
  std::unique_ptr<std::ifstream> file_;
  std::istream* lines_ = nullptr;
  int64_t line_number_ = 0;
};

// `status` of a part, with the number of writes applied before it in the message.
absl::Status After(size_t applied, const absl::Status& status) {
  if (applied == 0) return status;
  absl::Status later(status.code(), absl::StrFormat("after %d writes that were applied: %s", applied,
                                                    std::string(status.message())));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { later.SetPayload(url, payload); });
  return later;
}

std::string ActionOf(const WriteCounts& counts, const BatchWriteOptions& options) {
  return absl::StrFormat("put %d items, replacing what is there, and delete %d%s", counts.puts,
                         counts.deletes,
                         options.table_name.empty() ? "" : ", in the table " + options.table_name);
}

// Reads `source` to the end and counts its writes.
absl::StatusOr<WriteCounts> CountWrites(WriteSource& source) {
  WriteCounts counts;
  while (true) {
    ITEMDB_ASSIGN_OR_RETURN(std::vector<BatchWrite> writes, source.Next());
    if (writes.empty()) return counts;
    counts.Add(writes);
  }
}

}  // namespace

absl::Status RunBatchGet(Context& context, const BatchGetOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(std::string text, ReadDocument(context, options, kBatchOption));
  ITEMDB_ASSIGN_OR_RETURN(std::vector<KeysAndAttributes> gets, ParseBatchGets(text, options.form()));
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  const BatchGetItemRequest request{.request_items = std::move(gets),
                                    .return_consumed_capacity = CapacityOf(options)};
  ITEMDB_ASSIGN_OR_RETURN(const BatchGetItemResult result, client.BatchGetItem(request, context.Call()));
  const ItemForm form = options.typed ? ItemForm::kTyped : ItemForm::kPlain;
  switch (context.format()) {
    case OutputFormat::kTable:
      PrintTables(context, request, result, form);
      break;
    case OutputFormat::kJson:
      context.Print(ResultToJson(request, result, form));
      break;
    case OutputFormat::kJsonLines:
    case OutputFormat::kCsv:
      PrintLines(request, result, form, context);
      break;
  }
  ConsumedTotal consumed;
  consumed.Add(result.consumed_capacity);
  consumed.Print(context);
  return absl::OkStatus();
}

absl::Status RunBatchWrite(Context& context, const BatchWriteOptions& given) {
  BatchWriteOptions options = given;
  // No table has this name: it is standard input, as in other commands.
  if (options.table_name == "-") {
    options.table_name.clear();
    if (options.file.empty() && options.text.empty()) options.file = "-";
  }
  absl::StatusOr<WriteSource> source = WriteSource::Open(context, options);
  if (!source.ok()) return source.status();
  // If the lines come from standard input, the answer to a question cannot be read from it.
  const bool from_input = options.file == "-" || (!options.table_name.empty() && options.file.empty());
  const bool asks = context.streams().in_is_terminal && !options.confirm.yes && !from_input;
  if (options.confirm.dry_run || asks) {
    ITEMDB_ASSIGN_OR_RETURN(WriteCounts counts, CountWrites(*source));
    if (options.confirm.dry_run || counts.deletes > 0) {
      ITEMDB_ASSIGN_OR_RETURN(
          bool go_on, Confirm(context, options.confirm, ActionOf(counts, options), Unattended::kGoOn));
      if (!go_on) return absl::OkStatus();
    }
    source = WriteSource::Open(context, options);
    if (!source.ok()) return source.status();
  }
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  Progress progress(ProgressStream(context), {.doing = "writing", .unit = "items"});
  size_t applied = 0;
  ConsumedTotal consumed;
  while (true) {
    absl::StatusOr<std::vector<BatchWrite>> writes = source->Next();
    if (!writes.ok()) return After(applied, writes.status());
    if (writes->empty()) break;
    const size_t count = writes->size();
    const absl::StatusOr<BatchWriteItemResult> result = client.BatchWriteItem(
        {.writes = *std::move(writes), .return_consumed_capacity = CapacityOf(options)}, context.Call());
    if (!result.ok()) return After(applied, result.status());
    consumed.Add(result->consumed_capacity);
    applied += count;
    progress.Set(static_cast<int64_t>(applied));
  }
  progress.Finish();
  context.PrintSummary(JsonValue::Object().Add("Applied", applied));
  consumed.Print(context);
  return absl::OkStatus();
}

void RegisterBatchCommands(CommandTable& table) {
  auto get = std::make_shared<BatchGetOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "batch-get",
       .summary = "Read any number of items of any tables by their keys",
       .details =
           "Takes what \"aws dynamodb batch-get-item --request-items\" takes, with keys in either form. "
           "Missing items are no error: they are printed as null, or listed as Missing.",
       .examples =
           {{R"(itemctl batch-get --request-items '{"Customer": {"Keys": [{"customer_id": "cust_001"}, )"
             R"({"customer_id": "cust_002"}]}}')",
             "two items"},
            {R"(echo '{"music": {"Keys": [{"artist": "Bach", "song": "Air"}]}}' | itemctl batch-get -f - -o json)",
             "from standard input, printed in the format of AWS's answer"}},
       .pages = true},
      [get](Context& context) { return RunBatchGet(context, *get); });
  AddDocumentOptions(command, *get, kBatchOption, "JSON object: table name to {\"Keys\": [...]}");
  AddCapacityOption(command, *get);
  command->add_flag("--typed", get->typed, "Print DynamoDB JSON");

  auto write = std::make_shared<BatchWriteOptions>();
  command = table.Add(
      &table.root(),
      {.name = "batch-write",
       .summary = "Put and delete any number of items, each independently of the others",
       .details =
           "With TABLE it reads JSON lines from --file or standard input, of any number: an item to put, or "
           R"({"DeleteRequest": {"Key": ...}}. Otherwise it takes what "aws dynamodb batch-write-item )"
           R"(--request-items" takes. No two writes in a row of 25 may be on the same item. On a terminal )"
           "it asks before it deletes; a script is not asked.",
       .examples =
           {{"itemctl scan music --typed -o jsonl | itemctl batch-write music", "copy items into a table"},
            {R"(itemctl batch-write --request-items '{"music": [{"PutRequest": {"Item": {"artist": "Bach", )"
             R"("song": "Badinerie"}}}, {"DeleteRequest": {"Key": {"artist": "Bach", "song": "Air"}}}]}')",
             "put one item and delete another"}}},
      [write](Context& context) { return RunBatchWrite(context, *write); });
  command->add_option(std::string(kTableName), write->table_name,
                      "The table that JSON lines are written to; or -: --request-items from standard input. "
                      "Default: --request-items names the tables");
  AddDocumentOptions(command, *write, kBatchOption, "JSON object: table name to an array of requests");
  AddCapacityOption(command, *write);
  AddConfirmOptions(command, write->confirm, "Print how many writes there would be, and write nothing");
}

}  // namespace itemdb::tools
