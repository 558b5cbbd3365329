#include "tools/commands/undo_commands.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

const char* OutcomeText(UndoOutcome outcome, bool dry_run) {
  switch (outcome) {
    case UndoOutcome::kPut:
      return dry_run ? "would be put back" : "put back";
    case UndoOutcome::kDeleted:
      return dry_run ? "would be deleted" : "deleted";
    case UndoOutcome::kUnchanged:
      return "unchanged";
    case UndoOutcome::kChangedSince:
      return "changed since";
  }
  return "";
}

// All pages.
absl::StatusOr<std::vector<UndoneItem>> Undo(Context& context, const Client& client,
                                             UndoChangesRequest request) {
  std::vector<UndoneItem> items;
  do {
    ITEMDB_ASSIGN_OR_RETURN(UndoChangesResult page, client.UndoChanges(request, context.Call()));
    std::move(page.items.begin(), page.items.end(), std::back_inserter(items));
    request.exclusive_start_key = std::move(page.last_evaluated_key);
    if (context.session().interrupted()) return absl::CancelledError("interrupted");
  } while (request.exclusive_start_key.has_value());
  return items;
}

std::map<UndoOutcome, int64_t> CountOutcomes(const std::vector<UndoneItem>& items) {
  std::map<UndoOutcome, int64_t> counts;
  for (const UndoneItem& item : items) ++counts[item.outcome];
  return counts;
}

void PrintUndone(Context& context, const std::vector<UndoneItem>& items, bool dry_run) {
  if (context.format() == OutputFormat::kTable) {
    TextTable table({{"key"}, {"outcome"}, NumberColumn("change")});
    for (const UndoneItem& item : items) {
      table.AddRow({OneLine(ItemToJson(item.key, ItemForm::kPlain)), OutcomeText(item.outcome, dry_run),
                    item.changed_sequence == 0 ? "" : absl::StrCat(item.changed_sequence)});
    }
    return context.Print(table);
  }
  std::vector<JsonValue> rows;
  for (const UndoneItem& item : items) {
    JsonValue row = JsonValue::Object()
                        .Add("key", ItemToJson(item.key, ItemForm::kTyped))
                        .Add("outcome", OutcomeText(item.outcome, dry_run));
    if (item.changed_sequence != 0) row.Add("changed_sequence", item.changed_sequence);
    rows.push_back(std::move(row));
  }
  context.Print(JsonValue::Object().Add("items", JsonValue::Array(std::move(rows))));
}

}  // namespace

absl::Status RunUndo(Context& context, const UndoOptions& options) {
  UndoChangesRequest request{.table_name = options.table_name,
                             .from_sequence = options.from,
                             .to_sequence = options.to,
                             .dry_run = true};
  for (const std::string& key : options.keys) {
    ITEMDB_ASSIGN_OR_RETURN(Item item, ParseItem(key, ReadForm::kDetect, "--key"));
    request.keys.push_back(std::move(item));
  }
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(std::vector<UndoneItem> items, Undo(context, client, request));
  std::map<UndoOutcome, int64_t> counts = CountOutcomes(items);
  const std::string action = absl::StrFormat(
      "put back %d items of the table %s as they were before change %d, and delete %d that were created "
      "since "
      "(%d were changed later and stay)",
      counts[UndoOutcome::kPut], options.table_name, options.from, counts[UndoOutcome::kDeleted],
      counts[UndoOutcome::kChangedSince]);
  ITEMDB_ASSIGN_OR_RETURN(const bool goes_on, Confirm(context, options.confirm, action, Unattended::kRefuse));
  if (goes_on) {
    request.dry_run = false;
    ITEMDB_ASSIGN_OR_RETURN(items, Undo(context, client, request));
    counts = CountOutcomes(items);
  }
  if (goes_on || options.confirm.dry_run) PrintUndone(context, items, !goes_on);
  if (counts[UndoOutcome::kChangedSince] == 0) return absl::OkStatus();
  return ToolError(ExitCode::kFindings, absl::StrCat(counts[UndoOutcome::kChangedSince],
                                                     " items were changed since and are left as they are"));
}

void RegisterUndoCommands(CommandTable& table) {
  auto undo = std::make_shared<UndoOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "undo",
       .summary = "Take back a stretch of a table's changes",
       .details =
           "Writes each item that was changed from --from to --to as it was before, and deletes those that "
           "did not exist. First finds out what would be written, and asks. An item that was changed later "
           "is left as it is and listed; then the exit code is 7. Without old images in the table's stream "
           "itemd restores the items from its archive, which may need a larger --timeout. \"itemctl changes "
           "read\" shows the changes.",
       .examples = {{"itemctl undo music --from 1 --to 30 --dry-run", "show what would be written"},
                    {R"(itemctl undo music --from 1 --to 30 --yes --key '{"artist": "Bach", "song": "Air"}')",
                     "one item, without being asked"}}},
      [undo](Context& context) { return RunUndo(context, *undo); });
  command->add_option(std::string(kTableName), undo->table_name, "The table's name")->required();
  command->add_option("--from", undo->from, "The first change that is taken back")
      ->required()
      ->type_name("SEQUENCE");
  command->add_option("--to", undo->to, "The last change that is taken back")
      ->required()
      ->type_name("SEQUENCE");
  command
      ->add_option("--key", undo->keys,
                   "Only this item: exactly its key attributes, for example '{\"id\": \"a\"}'. May be given "
                   "up to 100 times. Default: all items")
      ->type_name("JSON");
  AddConfirmOptions(command, undo->confirm, "Print what would be written, and write nothing");
}

}  // namespace itemdb::tools
