#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "itemdb/bulk_writer.h"
#include "tools/base/exit_codes.h"
#include "tools/base/text_table.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/commands/index_build.h"
#include "tools/commands/model_commands.h"
#include "tools/model/model_tables.h"

namespace itemdb::tools {
namespace {

// The steps for one table.
struct TableSteps {
  const LiveTable* table;
  bool deletes = false;
  bool creates = false;
  // Indexes that are being created. Others are added after them, because only one is created at a time.
  std::vector<std::string> awaited_indexes = {};
  std::vector<GlobalSecondaryIndex> indexes = {};
  bool puts_items = false;
  // Differences that this command does not change.
  std::vector<const TableDifference*> left = {};

  const std::string& table_name() const { return table->model->definition.table_name; }
  std::string_view Action() const {
    if (deletes) return "REPLACE";
    if (creates) return "CREATE";
    if (!indexes.empty()) return "ADD_INDEXES";
    return awaited_indexes.empty() ? "KEEP" : "AWAIT_INDEXES";
  }
  size_t ItemCount() const { return puts_items ? table->model->items.size() : 0; }
};

std::string TextOf(const TableDifference& difference) {
  return absl::StrFormat("%s: %s in the model, %s live", difference.what, difference.model, difference.live);
}

// FAILED_PRECONDITION: a table has another key schema, or a table to replace is protected from deletion.
absl::StatusOr<std::vector<TableSteps>> Plan(const std::vector<LiveTable>& tables,
                                             const ModelApplyOptions& options) {
  std::vector<TableSteps> plans;
  std::vector<std::string> other_keys;
  std::vector<std::string> undeletable;
  for (const LiveTable& table : tables) {
    TableSteps plan{.table = &table};
    plan.deletes = table.live.has_value() && options.replace;
    plan.creates = !table.live.has_value() || plan.deletes;
    plan.puts_items = !options.only_tables && (plan.creates || options.items);
    if (plan.deletes && table.live->definition.deletion_protection_enabled)
      undeletable.push_back(plan.table_name());
    for (const TableDifference& difference : table.differences) {
      if (plan.creates) break;
      if (difference.of_key) other_keys.push_back(plan.table_name() + ": " + TextOf(difference));
      if (difference.missing_index.has_value()) {
        plan.indexes.push_back(*difference.missing_index);
      } else if (difference.index_in_creation.has_value()) {
        plan.awaited_indexes.push_back(*difference.index_in_creation);
      } else {
        plan.left.push_back(&difference);
      }
    }
    plans.push_back(std::move(plan));
  }
  if (!undeletable.empty()) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "nothing was changed: --replace cannot delete tables with deletion protection: %s; to turn it off: "
        "itemctl table update TABLE --no-deletion-protection-enabled",
        absl::StrJoin(undeletable, ", ")));
  }
  if (other_keys.empty()) return plans;
  return absl::FailedPreconditionError(absl::StrFormat(
      "nothing was changed: the key schema of a table cannot be changed: %s; with --replace these tables are "
      "deleted and created again",
      absl::StrJoin(other_keys, "; ")));
}

// "delete Order with 12 items, music with 2 items, and create them again"; empty if nothing is deleted.
std::string DeletionText(const std::vector<TableSteps>& plans) {
  std::vector<std::string> tables;
  for (const TableSteps& plan : plans) {
    if (!plan.deletes) continue;
    tables.push_back(absl::StrFormat("%s with %d items", plan.table_name(), plan.table->live->item_count));
  }
  return tables.empty() ? ""
                        : absl::StrFormat("delete %s, and create them again", absl::StrJoin(tables, ", "));
}

absl::Status AddIndex(Context& context, const Client& client, const TableDefinition& table,
                      const GlobalSecondaryIndex& index) {
  UpdateTableRequest request{.table_name = table.table_name, .create_global_secondary_index = index};
  for (const KeySchemaElement& element : index.key_schema) {
    for (const AttributeDefinition& attribute : table.attribute_definitions) {
      if (attribute.attribute_name == element.attribute_name)
        request.attribute_definitions.push_back(attribute);
    }
  }
  ITEMDB_ASSIGN_OR_RETURN(TableResult created, client.UpdateTable(request, context.Call()));
  return AwaitIndex(context, client, table.table_name, index.index_name).status();
}

absl::Status PutItems(Context& context, const Client& client, const ModelFolder& folder,
                      const ModelTable& table) {
  const std::string& name = table.definition.table_name;
  Progress progress(
      ProgressStream(context),
      {.doing = "writing " + name, .unit = "items", .total = static_cast<int64_t>(table.items.size())});
  BulkWriter writer(client, {.call = context.Call()});
  for (const ModelItem& item : table.items) {
    if (context.session().interrupted()) return absl::CancelledError("interrupted");
    ITEMDB_RETURN_IF_ERROR(writer.Put(name, item.item));
    progress.Add(1);
  }
  ITEMDB_ASSIGN_OR_RETURN(const BulkWriteResult result, writer.Finish());
  if (result.rejected.empty()) return absl::OkStatus();
  const RejectedWrite& first = result.rejected.front();
  return ToolError(ExitCode::kRefused,
                   absl::StrFormat("%d of %d items were refused, the first of them in %s line %d: %s",
                                   result.rejected.size(), table.items.size(),
                                   folder.PathOf(absl::StrCat(name, kItemsFileEnding)),
                                   table.items[first.position].line, first.message));
}

// `status` with the message that `reword` returns for its message; code and payloads are kept.
template <typename Reword>
absl::Status Reworded(const absl::Status& status, Reword reword) {
  absl::Status reworded(status.code(), reword(std::string(status.message())));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { reworded.SetPayload(url, payload); });
  return reworded;
}

absl::Status Execute(Context& context, const Client& client, const ModelFolder& folder,
                     const TableSteps& plan) {
  if (plan.deletes) {
    ITEMDB_ASSIGN_OR_RETURN(TableResult deleted, client.DeleteTable(plan.table_name(), context.Call()));
  }
  if (plan.creates) {
    ITEMDB_ASSIGN_OR_RETURN(TableResult created,
                            client.CreateTable(plan.table->model->definition, context.Call()));
  }
  for (const std::string& index : plan.awaited_indexes) {
    ITEMDB_ASSIGN_OR_RETURN(TableDescription created, AwaitIndex(context, client, plan.table_name(), index));
  }
  for (const GlobalSecondaryIndex& index : plan.indexes) {
    ITEMDB_RETURN_IF_ERROR(AddIndex(context, client, plan.table->model->definition, index));
  }
  if (plan.creates && !plan.table->model->time_to_live.empty()) {
    absl::StatusOr<UpdateTimeToLiveResult> enabled = client.UpdateTimeToLive(
        {.table_name = plan.table_name(), .enabled = true, .attribute_name = plan.table->model->time_to_live},
        context.Call());
    if (!enabled.ok()) {
      return Reworded(enabled.status(), [&](const std::string& message) {
        return absl::StrFormat(
            "%s; the table was created without time to live and without items: run itemctl ttl enable %s %s, "
            "then this command again with --items",
            message, plan.table_name(), plan.table->model->time_to_live);
      });
    }
  }
  if (!plan.puts_items) return absl::OkStatus();
  const absl::Status put = PutItems(context, client, folder, *plan.table->model);
  if (put.ok()) return put;
  // The table exists now, so the same command without --items would put no items.
  return Reworded(put, [](const std::string& message) {
    return absl::StrCat(message, "; not all items were put: run this command again with --items");
  });
}

// An existing table with fewer items than the folder may come from an interrupted run.
void HintAtMissingItems(Context& context, const std::vector<TableSteps>& plans) {
  for (const TableSteps& plan : plans) {
    const auto in_folder = static_cast<int64_t>(plan.table->model->items.size());
    if (plan.creates || plan.puts_items || plan.table->live->item_count >= in_folder) continue;
    context.err() << absl::StrFormat("hint: the table %s has %d items, its file has %d; --items puts them\n",
                                     plan.table_name(), plan.table->live->item_count, in_folder);
  }
}

void Print(Context& context, const std::vector<TableSteps>& plans) {
  TextTable text({"table", "what was done", "indexes added", NumberColumn("items put"), "still differs"});
  JsonValue all = JsonValue::Array();
  for (const TableSteps& plan : plans) {
    std::vector<std::string> indexes;
    for (const GlobalSecondaryIndex& index : plan.indexes) indexes.push_back(index.index_name);
    std::vector<std::string> left;
    for (const TableDifference* difference : plan.left) left.push_back(TextOf(*difference));
    text.AddRow({plan.table_name(), std::string(plan.Action()), absl::StrJoin(indexes, ", "),
                 absl::StrCat(plan.ItemCount()), absl::StrJoin(left, "; ")});
    all.elements.push_back(JsonValue::Object()
                               .Add("TableName", plan.table_name())
                               .Add("Action", plan.Action())
                               .Add("IndexesAdded", indexes)
                               .Add("ItemsPut", plan.ItemCount())
                               .Add("StillDiffers", left));
  }
  if (context.format() == OutputFormat::kTable) return context.Print(text);
  context.PrintList("Tables", std::move(all));
}

// FAILED_PRECONDITION: differences are left.
absl::Status Outcome(const std::vector<TableSteps>& plans) {
  size_t left = 0;
  for (const TableSteps& plan : plans) left += plan.left.size();
  if (left == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("%d differences remain: remove them with table update, index drop or ttl, or with "
                      "--replace, which deletes the tables and creates them again",
                      left));
}

}  // namespace

absl::Status RunModelApply(Context& context, const ModelApplyOptions& options) {
  if (options.only_tables && options.items) {
    return UsageError("give --only-tables or --items, not both");
  }
  ITEMDB_ASSIGN_OR_RETURN(ModelFolder folder, ReadModelFolder(context, options.directory));
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(std::vector<LiveTable> tables, LiveTablesOf(context, client, folder));
  ITEMDB_ASSIGN_OR_RETURN(std::vector<TableSteps> plans, Plan(tables, options));
  if (!options.only_tables) HintAtMissingItems(context, plans);
  if (options.confirm.dry_run) {
    context.err() << "dry run: this is what would be done\n";
    Print(context, plans);
    return Outcome(plans);
  }
  if (const std::string deletion = DeletionText(plans); !deletion.empty()) {
    ITEMDB_RETURN_IF_ERROR(Confirm(context, options.confirm, deletion, Unattended::kRefuse).status());
  }
  for (const TableSteps& plan : plans) {
    absl::Status done = Execute(context, client, folder, plan);
    if (done.ok()) continue;
    return Reworded(
        done, [&](const std::string& message) { return absl::StrCat(plan.table_name(), ": ", message); });
  }
  Print(context, plans);
  return Outcome(plans);
}

}  // namespace itemdb::tools
