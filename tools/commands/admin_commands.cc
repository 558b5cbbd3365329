#include "tools/commands/admin_commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/interrupt.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/commands/check_report.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

std::string_view ChangeKindName(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kInsert:
      return "INSERT";
    case ChangeKind::kModify:
      return "MODIFY";
    case ChangeKind::kRemove:
      return "REMOVE";
    case ChangeKind::kCreateTable:
      return "CREATE_TABLE";
    case ChangeKind::kDeleteTable:
      return "DELETE_TABLE";
    case ChangeKind::kUpdateTable:
      return "UPDATE_TABLE";
    case ChangeKind::kUnknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

std::string ChangeTimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

// Without fractions of a second, for people.
std::string ShortTimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", time, absl::UTCTimeZone());
}

// The names of tables by their storage ids. Asks the daemon when an id is met for the first time.
class TableNames {
 public:
  TableNames(const Client& client, CallOptions call) : client_(client), call_(std::move(call)) {}

  // Empty if the table was deleted, or the daemon does not tell.
  std::string NameOf(const ChangeRecord& record) {
    if (record.table.has_value()) names_[record.table_storage_id] = record.table->definition.table_name;
    const auto found = names_.find(record.table_storage_id);
    if (found != names_.end()) return found->second;
    Load();
    return names_[record.table_storage_id];
  }

 private:
  void Load() {
    ListTablesRequest request;
    do {
      const absl::StatusOr<ListTablesResult> page = client_.ListTables(request, call_);
      if (!page.ok()) return;
      for (const std::string& name : page->table_names) {
        if (!asked_.insert(name).second) continue;
        const absl::StatusOr<TableResult> described = client_.DescribeTable(name, call_);
        if (described.ok()) names_[described->table.storage_id] = name;
      }
      request.exclusive_start_table_name = page->last_evaluated_table_name.value_or("");
    } while (!request.exclusive_start_table_name.empty());
  }

  const Client& client_;
  const CallOptions call_;
  std::map<uint64_t, std::string> names_;
  std::set<std::string> asked_;
};

JsonValue RecordToJson(const ChangeRecord& record, const std::string& table_name, ItemForm form) {
  JsonValue object = JsonValue::Object()
                         .Add("change_sequence", record.change_sequence)
                         .Add("commit_time", ChangeTimeText(record.commit_time))
                         .Add("table_storage_id", record.table_storage_id);
  if (!table_name.empty()) object.Add("table_name", table_name);
  object.Add("kind", ChangeKindName(record.kind))
      .Add("commit_first_sequence", record.commit_first_sequence)
      .Add("commit_last_sequence", record.commit_last_sequence);
  if (record.key.has_value()) object.Add("key", ItemToJson(*record.key, form));
  if (record.old_image.has_value()) object.Add("old_image", ItemToJson(*record.old_image, form));
  if (record.new_image.has_value()) object.Add("new_image", ItemToJson(*record.new_image, form));
  if (record.expired) object.Add("expired", true);
  if (record.discarded) object.Add("discarded", true);
  if (record.table.has_value()) object.Add("table", TableToJson(*record.table));
  return object;
}

// Writes pages of change records in the three output forms, as ItemWriter does for items.
class RecordWriter {
 public:
  // Borrows both.
  RecordWriter(Context& context, const Client& client, ItemForm form)
      : context_(context), form_(form), names_(client, context.Call()) {}

  // Writes one record immediately. A table has fixed column widths, because the width of later records is not
  // known.
  void WriteOne(const ChangeRecord& record) {
    if (context_.format() != OutputFormat::kTable || context_.options().expanded) {
      WritePage({record});
    } else {
      constexpr char kLine[] = "%8s  %-19s  %-6s  %-10s  %s\n";
      if (written_++ == 0) {
        context_.out() << absl::StrFormat(kLine, "sequence", "commit time (UTC)", "kind", "table", "key");
      }
      context_.out() << absl::StrFormat(
          kLine, absl::StrCat(record.change_sequence), ShortTimeText(record.commit_time),
          std::string(ChangeKindName(record.kind)), TableText(record), KeyText(record));
    }
    context_.out().flush();
  }

  void WritePage(const std::vector<ChangeRecord>& records) {
    TextTable table({NumberColumn("sequence"), "commit time (UTC)", "kind", "table", "key"});
    for (const ChangeRecord& record : records) {
      switch (context_.format()) {
        case OutputFormat::kTable:
          table.AddRow({absl::StrCat(record.change_sequence), ShortTimeText(record.commit_time),
                        std::string(ChangeKindName(record.kind)), TableText(record), KeyText(record)});
          break;
        case OutputFormat::kJson:
          context_.out() << (written_ > 0                            ? ",\n    "
                             : context_.options().output_version > 1 ? "{\n  \"Records\": [\n    "
                                                                     : "{\n  \"records\": [\n    ")
                         << Indented(context_.Spelled(ToJson(record)), 2);
          break;
        case OutputFormat::kJsonLines:
        case OutputFormat::kCsv:
          context_.Print(ToJson(record));
          break;
      }
      ++written_;
    }
    if (!table.empty()) context_.Print(table);
  }

  // `change_sequence` is empty if no page was read.
  void Finish(std::optional<uint64_t> change_sequence) {
    if (context_.format() != OutputFormat::kJson) return;
    const bool as_aws = context_.options().output_version > 1;
    context_.out() << (written_ > 0 ? "\n  ]" : as_aws ? "{\n  \"Records\": []" : "{\n  \"records\": []");
    if (change_sequence.has_value()) {
      context_.out() << (as_aws ? ",\n  \"ChangeSequence\": " : ",\n  \"change_sequence\": ")
                     << *change_sequence;
    }
    context_.out() << "\n}\n";
  }

 private:
  JsonValue ToJson(const ChangeRecord& record) { return RecordToJson(record, names_.NameOf(record), form_); }

  // The number of a table that was deleted.
  std::string TableText(const ChangeRecord& record) {
    const std::string name = names_.NameOf(record);
    return name.empty() ? absl::StrCat("#", record.table_storage_id) : name;
  }

  std::string KeyText(const ChangeRecord& record) const {
    return record.key.has_value() ? OneLine(ItemToJson(*record.key, form_)) : "";
  }

  Context& context_;
  ItemForm form_;
  TableNames names_;
  size_t written_ = 0;
};

}  // namespace

absl::Status RunCheck(Context& context, const CheckOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  Progress progress(
      ProgressStream(context),
      {.doing = options.table_name.empty() ? "checking the database" : "checking " + options.table_name});
  absl::StatusOr<CheckDatabaseResult> result =
      client.CheckDatabase(options.table_name, context.ExplicitTimeout());
  progress.Finish();
  if (!result.ok()) return result.status();
  return ReportCheck(context, *result,
                     {{"items checked", "items_checked", result->items_checked},
                      {"index entries checked", "index_entries_checked", result->index_entries_checked},
                      {"change records checked", "change_records_checked", result->change_records_checked},
                      {"findings", "finding_count", result->finding_count}},
                     /*repairs=*/false);
}

absl::Status RunChangesRead(Context& context, const ChangesReadOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  RecordWriter writer(context, client, options.typed ? ItemForm::kTyped : ItemForm::kPlain);
  ReadChangesRequest request{.after_sequence = options.after_sequence, .limit = options.limit};
  std::optional<uint64_t> until;
  do {
    ITEMDB_ASSIGN_OR_RETURN(ReadChangesResult page, client.ReadChanges(request, context.Call()));
    if (!until.has_value()) until = page.change_sequence;
    writer.WritePage(page.records);
    if (page.records.empty()) break;
    request.after_sequence = page.records.back().change_sequence;
    if (context.session().interrupted()) return absl::CancelledError("interrupted");
  } while (!options.limit.has_value() && request.after_sequence < *until && context.out().good());
  writer.Finish(*until);
  return absl::OkStatus();
}

namespace {

// Calls `visit` with the records behind `after`, up to `until`, of the table with the id `table` (null: of
// all).
absl::Status ForEachRecord(Context& context, const Client& client, uint64_t after, uint64_t until,
                           const std::optional<uint64_t>& table,
                           const std::function<void(const ChangeRecord&)>& visit) {
  while (after < until && context.out().good() && !context.session().interrupted()) {
    ITEMDB_ASSIGN_OR_RETURN(ReadChangesResult page,
                            client.ReadChanges({.after_sequence = after}, context.Call()));
    if (page.records.empty()) break;
    for (const ChangeRecord& record : page.records) {
      if (record.change_sequence <= until && (!table.has_value() || record.table_storage_id == *table))
        visit(record);
    }
    after = page.records.back().change_sequence;
  }
  return absl::OkStatus();
}

// Prints what `options` ask for, up to the change that is the last one when the function starts, and returns
// the number of that change.
absl::StatusOr<uint64_t> PrintKept(Context& context, const Client& client, const ChangesTailOptions& options,
                                   RecordWriter& writer) {
  std::optional<uint64_t> table;
  if (!options.table_name.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(TableResult described, client.DescribeTable(options.table_name, context.Call()));
    table = described.table.storage_id;
  }
  // Starts after every possible change: returns no records, only the oldest and the last change sequence.
  ITEMDB_ASSIGN_OR_RETURN(ReadChangesResult extent,
                          client.ReadChanges({.after_sequence = UINT64_MAX, .limit = 1}, context.Call()));
  const uint64_t until = extent.change_sequence;
  if (options.from.has_value()) {
    ITEMDB_RETURN_IF_ERROR(ForEachRecord(context, client, *options.from - 1, until, table,
                                         [&writer](const ChangeRecord& record) { writer.WriteOne(record); }));
    return until;
  }
  // The log is read forwards, so the last records are looked for in longer and longer parts of its end.
  const auto wanted = static_cast<size_t>(options.lines);
  const uint64_t oldest = std::max<uint64_t>(extent.oldest_sequence, 1) - 1;
  std::deque<ChangeRecord> last;
  for (uint64_t length = std::max<uint64_t>(wanted, 1); wanted > 0; length *= 8) {
    const uint64_t after = until > oldest + length ? until - length : oldest;
    last.clear();
    ITEMDB_RETURN_IF_ERROR(
        ForEachRecord(context, client, after, until, table, [&](const ChangeRecord& record) {
          last.push_back(record);
          if (last.size() > wanted) last.pop_front();
        }));
    if (last.size() == wanted || after == oldest || context.session().interrupted()) break;
  }
  if (options.follow) {
    // The records that follow need columns of fixed widths, and these look like them.
    for (const ChangeRecord& record : last) writer.WriteOne(record);
  } else {
    writer.WritePage({last.begin(), last.end()});
  }
  return until;
}

absl::Status PrintAsTheyCome(Context& context, const Client& client, const ChangesTailOptions& options,
                             RecordWriter& writer) {
  std::optional<uint64_t> last;
  if (options.from.has_value()) {
    last = *options.from - 1;
  } else if (options.lines > 0) {
    ITEMDB_ASSIGN_OR_RETURN(last, PrintKept(context, client, options, writer));
  }
  WatchRequest request{
      .table_name = options.table_name,
      .on_progress = [&last](const WatchPosition& position) { last = position.change_sequence; }};
  request.after_sequence = last;
  ChangeRange changes = client.Watch(request, context.Call());
  for (const ChangeRecord& record : changes) {
    writer.WriteOne(record);
    last = record.change_sequence;
    if (!context.out().good()) break;
  }
  writer.Finish(last);
  return context.session().interrupted() ? absl::OkStatus() : changes.status();
}

}  // namespace

absl::Status RunChangesTail(Context& context, const ChangesTailOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  InterruptScope interrupt([&context] { context.session().Interrupt(); });
  RecordWriter writer(context, client, options.typed ? ItemForm::kTyped : ItemForm::kPlain);
  if (options.follow) {
    if (context.format() == OutputFormat::kCsv)
      return UsageError("csv has a line of names for all records, so it cannot follow: choose jsonl");
    return PrintAsTheyCome(context, client, options, writer);
  }
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t last, PrintKept(context, client, options, writer));
  writer.Finish(last);
  return absl::OkStatus();
}

void RegisterAdminCommands(CommandTable& table) {
  auto check = std::make_shared<CheckOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "check",
       .summary = "Verify that items, index entries, size statistics and change log agree",
       .details = "Reads one snapshot, while reads and writes continue. The default timeout is one hour. "
                  "Ends with exit code 7 if something does not agree.",
       .examples = {{"itemctl check", "the whole database"},
                    {"itemctl check --table Order -o json", "one table, with all findings as JSON"}}},
      [check](Context& context) { return RunCheck(context, *check); });
  command->add_option("--table", check->table_name, "Only this table. Default: all")
      ->type_name(std::string(kTableName));

  CLI::App* group = table.AddGroup({.name = "changes", .summary = "The change log"});
  auto read = std::make_shared<ChangesReadOptions>();
  command = table.Add(
      group,
      {.name = "read",
       .summary = "Print change records in commit order",
       .details = "Prints all records that exist when the command starts, or with --limit one page.",
       .examples = {{"itemctl changes read", "all retained records"},
                    {"itemctl changes read --after 20 --limit 10", "the first page after change 20"}},
       .pages = true},
      [read](Context& context) { return RunChangesRead(context, *read); });
  command
      ->add_option("--after", read->after_sequence,
                   "Only records with a greater change sequence, 0 or more. Default: 0")
      ->check(WholeNumberFrom(0))
      ->type_name("SEQUENCE");
  command
      ->add_option(
          "--limit", read->limit,
          "One page of this many records, 1 to 1000; the last commit is never split. Default: all pages")
      ->check(PositiveInt32())
      ->type_name("RECORDS");
  command->add_flag("--typed", read->typed, "Print DynamoDB JSON");

  auto tail = std::make_shared<ChangesTailOptions>();
  command =
      table.Add(group,
                {.name = "tail",
                 .summary = "Print the last change records, and with --follow new ones as they are committed",
                 .details = "Ctrl-C ends the command with exit code 0. With --follow it waits for a daemon "
                            "that is being restarted, and no change is left out or printed twice.",
                 .examples = {{"itemctl changes tail --table Order", "the last ten changes of one table"},
                              {"itemctl changes tail --from 3 -o jsonl",
                               "the changes of all tables from change 3 on, as JSON lines"}}},
                [tail](Context& context) { return RunChangesTail(context, *tail); });
  command->add_option("--table", tail->table_name, "Only this table's changes. Default: all")
      ->type_name(std::string(kTableName));
  command
      ->add_option("--from", tail->from,
                   "Sequence of the first change to print, 1 or more. Default: the last --lines records")
      ->check(WholeNumberFrom(1))
      ->type_name("SEQUENCE");
  command
      ->add_option("-n,--lines", tail->lines,
                   "How many of the last records to print, 0 to 1000000; with --follow before the new ones. "
                   "Default: 10")
      ->check(WholeNumberBetween(0, 1'000'000))
      ->type_name("RECORDS");
  command->add_flag("--follow,-f", tail->follow, "Wait for new changes until Ctrl-C");
  command->add_flag("--typed", tail->typed, "Print DynamoDB JSON");
}

}  // namespace itemdb::tools
