#include "tools/commands/index_commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/number_text.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/progress.h"
#include "tools/commands/check_report.h"
#include "tools/commands/index_build.h"
#include "tools/commands/table_update_commands.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

// The time between two polls of a check's progress.
constexpr absl::Duration kIndexPollInterval = absl::Milliseconds(200);

// Reads "name:TYPE".
absl::Status AddKeyAttribute(const std::string& text, KeyType key_type, UpdateTableRequest* request) {
  const size_t colon = text.rfind(':');
  for (ScalarAttributeType type :
       {ScalarAttributeType::kString, ScalarAttributeType::kNumber, ScalarAttributeType::kBinary}) {
    if (colon == std::string::npos || text.substr(colon + 1) != NameOf(type)) continue;
    const std::string name = text.substr(0, colon);
    request->attribute_definitions.push_back({.attribute_name = name, .attribute_type = type});
    request->create_global_secondary_index->key_schema.push_back(
        {.attribute_name = name, .key_type = key_type});
    return absl::OkStatus();
  }
  return UsageError(
      absl::StrFormat("the key attribute %s must be NAME:TYPE, where TYPE is S, N or B", JsonString(text)));
}

absl::StatusOr<UpdateTableRequest> RequestOf(const IndexAddOptions& options) {
  UpdateTableRequest request{.table_name = options.table_name};
  GlobalSecondaryIndex& index = request.create_global_secondary_index.emplace();
  index.index_name = options.index_name;
  for (const std::string& attribute : options.hash) {
    ITEMDB_RETURN_IF_ERROR(AddKeyAttribute(attribute, KeyType::kHash, &request));
  }
  for (const std::string& attribute : options.range) {
    ITEMDB_RETURN_IF_ERROR(AddKeyAttribute(attribute, KeyType::kRange, &request));
  }
  for (ProjectionType type : {ProjectionType::kAll, ProjectionType::kKeysOnly, ProjectionType::kInclude}) {
    if (NameOf(type) == options.projection) index.projection.projection_type = type;
  }
  index.projection.non_key_attributes = options.non_key_attributes;
  if (!options.throughput.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(ProvisionedThroughput throughput,
                            ParseThroughput(options.throughput, "--provisioned-throughput"));
    index.provisioned_throughput = throughput;
  }
  return request;
}

// Prints the index `index_name`, or all indexes if it is empty.
void PrintIndexes(Context& context, const TableDescription& table, const std::string& index_name) {
  if (context.format() == OutputFormat::kTable) {
    std::vector<std::vector<std::string>> shown, builds;
    bool any_build = false;
    const auto add = [&](const auto& index) {
      if (!index_name.empty() && index.definition.index_name != index_name) return;
      const IndexBuild build = index.build.value_or(IndexBuild{});
      const bool building = index.build.has_value();
      any_build |= building;
      shown.push_back({index.definition.index_name, std::string(NameOf(index.index_status)),
                       WithSeparators(index.item_count), BytesText(index.index_size_bytes),
                       absl::StrCat(building ? build.skipped_items : index.skipped_items)});
      builds.emplace_back();
      if (!building) return;
      builds.back() = {PhaseText(build),
                       absl::StrCat(build.done),
                       absl::StrCat(build.total),
                       absl::StrCat(build.per_second),
                       absl::FormatDuration(build.time_left),
                       build.last_error};
    };
    for (const IndexDescription& index : table.indexes) add(index);
    for (const VectorIndexDescription& index : table.vector_indexes) add(index);
    std::vector<TableColumn> columns = {"index", "status", NumberColumn("items"), NumberColumn("size"),
                                        NumberColumn("skipped")};
    // The columns of a build are only there if an index is being built.
    if (any_build) {
      columns.insert(columns.end(), {"doing", NumberColumn("done"), NumberColumn("of"),
                                     NumberColumn("per second"), "left", "last error"});
    }
    TextTable text(std::move(columns));
    for (size_t i = 0; i < shown.size(); ++i) {
      shown[i].insert(shown[i].end(), builds[i].begin(), builds[i].end());
      text.AddRow(shown[i]);
    }
    context.Print(text, {.one = "index", .many = "indexes"});
    return;
  }
  JsonValue indexes = JsonValue::Array();
  for (const IndexDescription& index : table.indexes) {
    if (index_name.empty() || index.definition.index_name == index_name)
      indexes.elements.push_back(IndexToJson(index));
  }
  JsonValue document = JsonValue::Object()
                           .Add("TableName", table.definition.table_name)
                           .Add("TableStatus", NameOf(table.table_status))
                           .Add("GlobalSecondaryIndexes", std::move(indexes));
  JsonValue vector_indexes = JsonValue::Array();
  for (const VectorIndexDescription& index : table.vector_indexes) {
    if (index_name.empty() || index.definition.index_name == index_name)
      vector_indexes.elements.push_back(VectorIndexToJson(index));
  }
  if (!vector_indexes.elements.empty()) document.Add("VectorIndexes", std::move(vector_indexes));
  context.Print(document);
}

const VectorIndexDescription* FindVectorIndex(const TableDescription& table, const std::string& index_name) {
  for (const VectorIndexDescription& index : table.vector_indexes) {
    if (index.definition.index_name == index_name) return &index;
  }
  return nullptr;
}

int64_t RecordsOf(const TableDescription& table, const std::string& index_name) {
  int64_t records = table.item_count;
  for (const IndexDescription& index : table.indexes) {
    if (index_name.empty() || index.definition.index_name == index_name) records += index.item_count;
  }
  for (const LocalIndexDescription& index : table.local_indexes) {
    if (index_name.empty() || index.definition.index_name == index_name) records += index.item_count;
  }
  for (const VectorIndexDescription& index : table.vector_indexes) {
    if (index_name.empty() || index.definition.index_name == index_name) records += index.item_count;
  }
  return records;
}

// Runs the check and shows its progress.
absl::StatusOr<CheckDatabaseResult> RunCheck(Context& context, const Client& client, const std::string& doing,
                                             int64_t records, const CheckDatabaseRequest& request) {
  const ProgressTerminal terminal = ProgressStream(context);
  Progress progress(terminal, {.doing = doing, .unit = "records", .total = records});
  std::atomic<bool> checked = false;
  std::thread looker([&, call = context.Call()] {
    while (terminal.stream != nullptr && !checked) {
      absl::StatusOr<DaemonStatus> status = client.GetStatus({}, call);
      if (status.ok() && status->check.has_value()) {
        progress.Set(status->check->done);
        progress.SetTotal(status->check->total);
      }
      absl::SleepFor(kIndexPollInterval);
    }
  });
  absl::StatusOr<CheckDatabaseResult> result = client.CheckAndRepair(request, context.ExplicitTimeout());
  checked = true;
  looker.join();
  return result;
}

}  // namespace

absl::Status RunIndexAdd(Context& context, const IndexAddOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(UpdateTableRequest request, RequestOf(options));
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(TableResult created, client.UpdateTable(request, context.Call()));
  if (!options.wait) {
    PrintIndexes(context, created.table, options.index_name);
    return absl::OkStatus();
  }
  ITEMDB_ASSIGN_OR_RETURN(TableDescription table,
                          AwaitIndex(context, client, options.table_name, options.index_name));
  PrintIndexes(context, table, options.index_name);
  return absl::OkStatus();
}

absl::Status RunIndexStatus(Context& context, const IndexOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(TableResult result, client.DescribeTable(options.table_name, context.Call()));
  if (!options.index_name.empty() && FindIndex(result.table, options.index_name) == nullptr &&
      FindVectorIndex(result.table, options.index_name) == nullptr)
    return NoSuchIndex(options.table_name, options.index_name);
  PrintIndexes(context, result.table, options.index_name);
  return absl::OkStatus();
}

absl::Status RunIndexDrop(Context& context, const IndexDropOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(TableResult found, client.DescribeTable(options.table_name, context.Call()));
  const IndexDescription* index = FindIndex(found.table, options.index_name);
  const VectorIndexDescription* vector_index = FindVectorIndex(found.table, options.index_name);
  if (index == nullptr && vector_index == nullptr) return NoSuchIndex(options.table_name, options.index_name);
  const std::string action = absl::StrFormat(
      "delete the index %s of the table %s with %s (%s)", options.index_name, options.table_name,
      NumberOf(index != nullptr ? index->item_count : vector_index->item_count,
               {.one = "entry", .many = "entries"}),
      BytesText(index != nullptr ? index->index_size_bytes : vector_index->index_size_bytes));
  ITEMDB_ASSIGN_OR_RETURN(bool go_on, Confirm(context, options.confirm, action, Unattended::kRefuse));
  if (go_on) {
    UpdateTableRequest request{.table_name = options.table_name};
    (index != nullptr ? request.delete_global_secondary_index : request.delete_vector_index) =
        options.index_name;
    ITEMDB_RETURN_IF_ERROR(client.UpdateTable(request, context.Call()).status());
  }
  PrintIndexes(context, found.table, options.index_name);
  return absl::OkStatus();
}

absl::Status RunIndexCheck(Context& context, const IndexCheckOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(TableResult table, client.DescribeTable(options.table_name, context.Call()));
  ITEMDB_ASSIGN_OR_RETURN(
      CheckDatabaseResult result,
      RunCheck(
          context, client, absl::StrCat("checking ", options.table_name),
          RecordsOf(table.table, options.index_name),
          {.table_name = options.table_name, .index_name = options.index_name, .repair = options.repair}));
  return ReportCheck(context, result,
                     {{"items checked", "items_checked", result.items_checked},
                      {"index entries checked", "index_entries_checked", result.index_entries_checked},
                      {"skipped items", "skipped_items", result.skipped_items},
                      {"findings", "finding_count", result.finding_count},
                      {"repaired", "repaired_count", result.repaired_count}},
                     options.repair);
}

void RegisterIndexCommands(CommandTable& table) {
  CLI::App* group = table.AddGroup(
      {.name = "index", .summary = "Create, delete, check and repair global indexes of live tables"});

  auto add = std::make_shared<IndexAddOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "add",
       .summary = "Create a global secondary index of a table that has items",
       .details =
           "The index is backfilled while reads and writes continue, and can be read when it is ACTIVE; "
           "`index status` shows the progress. Items whose key attributes have the wrong type, are empty or "
           "too long are left out and counted. One index of a table is created at a time.",
       .examples = {{"itemctl index add music by-genre --hash genre:S --range year:N --wait",
                     "an index with all attributes; wait until it can be read"},
                    {"itemctl index add music by-label --hash label:S --projection KEYS_ONLY",
                     "an index of the keys only"}}},
      [add](Context& context) { return RunIndexAdd(context, *add); });
  command->add_option(std::string(kTableName), add->table_name, "The table's name")->required();
  command->add_option("NAME", add->index_name, "The new index's name")->required();
  command
      ->add_option("--hash", add->hash,
                   "A partition key attribute and its type S, N or B; once for each of up to four, in order")
      ->required()
      ->allow_extra_args(false)
      ->type_name("NAME:TYPE");
  command
      ->add_option("--range", add->range,
                   "A sort key attribute and its type; once for each of up to four, in order. Default: none")
      ->allow_extra_args(false)
      ->type_name("NAME:TYPE");
  command
      ->add_option(
          "--projection", add->projection,
          "The attributes in entries besides the keys: all, none, or those of --include. Default: ALL")
      ->check(OneOfWords({"ALL", "KEYS_ONLY", "INCLUDE"}))
      ->type_name("ALL|KEYS_ONLY|INCLUDE");
  command
      ->add_option(
          "--include", add->non_key_attributes,
          "An attribute to project with --projection INCLUDE; may be given several times. Default: none")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command
      ->add_option("--provisioned-throughput", add->throughput,
                   "Read and write capacity units, which a table with billing mode PROVISIONED needs. "
                   "Default: none")
      ->type_name("READ,WRITE");
  command->add_flag("--wait", add->wait, "Wait until the index is ACTIVE");

  auto status = std::make_shared<IndexOptions>();
  command =
      table.Add(group,
                {.name = "status",
                 .summary = "Show a table's global indexes, and the progress of those that are being created",
                 .examples = {{"itemctl index status Order", "all of them"},
                              {"itemctl index status Order OpenOrdersByDate -o json", "one index, as JSON"}}},
                [status](Context& context) { return RunIndexStatus(context, *status); });
  command->add_option(std::string(kTableName), status->table_name, "The table's name")->required();
  command->add_option(std::string(kIndexName), status->index_name, "The index's name. Default: all");

  auto drop = std::make_shared<IndexDropOptions>();
  command = table.Add(
      group,
      {.name = "drop",
       .summary = "Delete a global secondary index",
       .details = "An index that is being created may be deleted too. Asks first; without a terminal, --yes "
                  "is needed. Prints the last description of the index.",
       .examples = {{"itemctl index drop Order OpenOrdersByDate --dry-run", "show what would be deleted"},
                    {"itemctl index drop Order OpenOrdersByDate --yes", "delete it without being asked"}}},
      [drop](Context& context) { return RunIndexDrop(context, *drop); });
  command->add_option(std::string(kTableName), drop->table_name, "The table's name")->required();
  command->add_option(std::string(kIndexName), drop->index_name, "The index's name")->required();
  AddConfirmOptions(command, drop->confirm);

  auto check = std::make_shared<IndexCheckOptions>();
  command =
      table.Add(group,
                {.name = "check",
                 .summary = "Verify that a table's items and index entries agree, and repair differences",
                 .details = "Compares items with entries, and entries with items, in one snapshot, while "
                            "reads and writes continue. The default timeout is one hour. Ends with exit code "
                            "7 if a difference is not repaired.",
                 .examples = {{"itemctl index check Order", "a table with all its indexes"},
                              {"itemctl index check --repair Order OpenOrdersByDate", "repair one index"}}},
                [check](Context& context) { return RunIndexCheck(context, *check); });
  command->add_option(std::string(kTableName), check->table_name, "The table's name")->required();
  command->add_option(std::string(kIndexName), check->index_name,
                      "Only this index. Default: all indexes and the table's counts");
  command->add_flag("--repair", check->repair,
                    "Repair the data derived from the items: index entries and counts");
}

}  // namespace itemdb::tools
