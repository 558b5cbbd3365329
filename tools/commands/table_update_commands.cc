#include "tools/commands/table_update_commands.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/commands/table_commands.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

// Read and write units; one of the two may be missing.
struct SomeUnits {
  std::optional<int64_t> read;
  std::optional<int64_t> write;
};

// Checks only the form; the daemon checks the numbers.
absl::StatusOr<SomeUnits> ParseSomeUnits(const std::string& text, const std::string& option) {
  const size_t comma = text.find(',');
  SomeUnits units;
  auto parse = [](const std::string& side, std::optional<int64_t>* number) {
    return side.empty() || absl::SimpleAtoi(side, &number->emplace());
  };
  if (comma != std::string::npos && text.size() > 1 && parse(text.substr(0, comma), &units.read) &&
      parse(text.substr(comma + 1), &units.write)) {
    return units;
  }
  return UsageError(
      absl::StrFormat("%s is %s; it must be READ,WRITE, two whole numbers of which one may be left out",
                      option, JsonString(text)));
}

// Reads the settings that itemdb only stores and returns.
absl::Status ReadSettings(const TableUpdateOptions& options, UpdateTableRequest* request) {
  for (TableClass table_class : {TableClass::kStandard, TableClass::kStandardInfrequentAccess}) {
    if (NameOf(table_class) == options.table_class) request->table_class = table_class;
  }
  if (!options.sse_type.empty() || !options.kms_master_key_id.empty()) {
    const bool enabled = options.sse_type != "DISABLED";
    request->sse_specification = SseSpecification{.enabled = enabled,
                                                  .sse_type = enabled ? options.sse_type : "",
                                                  .kms_master_key_id = options.kms_master_key_id};
  }
  if (!options.on_demand_throughput.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(const SomeUnits units,
                            ParseSomeUnits(options.on_demand_throughput, "--on-demand-throughput"));
    request->on_demand_throughput =
        OnDemandThroughput{.max_read_request_units = units.read, .max_write_request_units = units.write};
  }
  if (!options.warm_throughput.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(const SomeUnits units,
                            ParseSomeUnits(options.warm_throughput, "--warm-throughput"));
    request->warm_throughput =
        WarmThroughput{.read_units_per_second = units.read, .write_units_per_second = units.write};
  }
  return absl::OkStatus();
}

absl::StatusOr<UpdateTableRequest> RequestOf(const TableUpdateOptions& options) {
  UpdateTableRequest request{.table_name = options.table_name};
  if (!options.billing_mode.empty()) {
    request.billing_mode =
        options.billing_mode == "PROVISIONED" ? BillingMode::kProvisioned : BillingMode::kPayPerRequest;
  }
  if (!options.throughput.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(ProvisionedThroughput throughput,
                            ParseThroughput(options.throughput, "--provisioned-throughput"));
    request.provisioned_throughput = throughput;
  }
  for (const std::string& text : options.index_throughputs) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return UsageError(
          absl::StrFormat("--index-throughput is %s; it must be INDEX=READ,WRITE", JsonString(text)));
    }
    ITEMDB_ASSIGN_OR_RETURN(ProvisionedThroughput throughput,
                            ParseThroughput(text.substr(equals + 1), "--index-throughput"));
    if (!request.global_secondary_index_throughputs.emplace(text.substr(0, equals), throughput).second) {
      return UsageError(
          absl::StrFormat("--index-throughput names the index %s twice", text.substr(0, equals)));
    }
  }
  if (options.protect && options.unprotect) {
    return UsageError("give --deletion-protection-enabled or --no-deletion-protection-enabled, not both");
  }
  if (options.protect || options.unprotect) request.deletion_protection_enabled = options.protect;
  if (options.enable_stream && options.disable_stream) {
    return UsageError("give --stream-enabled or --no-stream-enabled, not both");
  }
  if (options.enable_stream || options.disable_stream) request.stream_enabled = options.enable_stream;
  for (StreamViewType type : {StreamViewType::kKeysOnly, StreamViewType::kNewImage, StreamViewType::kOldImage,
                              StreamViewType::kNewAndOldImages}) {
    if (NameOf(type) == options.stream_view_type) request.stream_view_type = type;
  }
  ITEMDB_RETURN_IF_ERROR(ReadSettings(options, &request));
  return request;
}

// Prints the tags that the table has now.
absl::Status PrintTags(Context& context, const Client& client, const std::string& table_name) {
  ITEMDB_ASSIGN_OR_RETURN(const TableResult table, client.DescribeTable(table_name, context.Call()));
  const std::map<std::string, std::string>& tags = table.table.definition.tags;
  if (context.format() == OutputFormat::kTable) {
    TextTable text({"tag", "value"});
    for (const auto& [key, value] : tags) text.AddRow({key, value});
    context.Print(text);
  } else {
    context.Print(JsonValue::Object().Add("Tags", TagsToJson(tags)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ProvisionedThroughput> ParseThroughput(const std::string& text, const std::string& option) {
  const size_t comma = text.find(',');
  ProvisionedThroughput throughput;
  if (comma != std::string::npos &&
      absl::SimpleAtoi(text.substr(0, comma), &throughput.read_capacity_units) &&
      absl::SimpleAtoi(text.substr(comma + 1), &throughput.write_capacity_units)) {
    return throughput;
  }
  return UsageError(absl::StrFormat("%s is %s; it must be READ,WRITE, two whole numbers of capacity units",
                                    option, JsonString(text)));
}

absl::Status RunTableUpdate(Context& context, const TableUpdateOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(UpdateTableRequest request, RequestOf(options));
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const TableResult result, client.UpdateTable(request, context.Call()));
  PrintTable(result.table, context);
  return absl::OkStatus();
}

absl::Status RunTableTag(Context& context, const TableTagOptions& options) {
  TagTableRequest request{.table_name = options.table_name};
  for (const std::string& text : options.tags) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return UsageError(absl::StrFormat("the tag %s has no value; it must be KEY=VALUE", JsonString(text)));
    }
    if (!request.tags.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      return UsageError(absl::StrFormat("the tag %s is given twice", JsonString(text.substr(0, equals))));
    }
  }
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  const absl::StatusOr<TagTableResult> result = client.TagTable(request, context.Call());
  return result.ok() ? PrintTags(context, client, options.table_name) : result.status();
}

absl::Status RunTableUntag(Context& context, const TableTagOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  const absl::StatusOr<TagTableResult> result =
      client.UntagTable({.table_name = options.table_name, .tag_keys = options.tags}, context.Call());
  return result.ok() ? PrintTags(context, client, options.table_name) : result.status();
}

absl::Status RunTableLimits(Context& context) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const TableLimits limits, client.DescribeLimits(context.Call()));
  context.PrintSummary(JsonValue::Object()
                           .Add("AccountMaxReadCapacityUnits", limits.account_max_read_capacity_units)
                           .Add("AccountMaxWriteCapacityUnits", limits.account_max_write_capacity_units)
                           .Add("TableMaxReadCapacityUnits", limits.table_max_read_capacity_units)
                           .Add("TableMaxWriteCapacityUnits", limits.table_max_write_capacity_units));
  return absl::OkStatus();
}

void RegisterTableUpdateCommands(CommandTable& table, CLI::App* group) {
  auto update = std::make_shared<TableUpdateOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "update",
       .summary = "Change a table's settings, deletion protection or change records",
       .details = "Settings that are not given stay unchanged. Throughput, table class and encryption are "
                  "stored and shown, but have no effect. Prints the table's description after the update.",
       .examples =
           {{"itemctl table update music --deletion-protection-enabled --stream-view-type NEW_AND_OLD_IMAGES",
             "protect a table, and keep whole items in its change records"},
            {"itemctl table update music --billing-mode PROVISIONED --provisioned-throughput 100,50",
             "state a throughput"}}},
      [update](Context& context) { return RunTableUpdate(context, *update); });
  command->add_option(std::string(kTableName), update->table_name, "The table's name")->required();
  command
      ->add_option("--billing-mode", update->billing_mode,
                   "PROVISIONED needs the throughput of the table and of every index. Default: unchanged")
      ->check(OneOfWords({"PROVISIONED", "PAY_PER_REQUEST"}))
      ->type_name("PROVISIONED|PAY_PER_REQUEST");
  command
      ->add_option("--provisioned-throughput", update->throughput,
                   "Read and write capacity units of the table, 1 or more each. Default: unchanged")
      ->type_name("READ,WRITE");
  command
      ->add_option(
          "--index-throughput", update->index_throughputs,
          "Read and write capacity units of an index; may be given several times. Default: unchanged")
      ->type_name("INDEX=READ,WRITE");
  command->add_flag("--deletion-protection-enabled", update->protect, "Refuse to delete the table");
  command->add_flag("--no-deletion-protection-enabled", update->unprotect, "Allow to delete the table");
  command->add_flag(
      "--stream-enabled", update->enable_stream,
      "Enable a stream, with which the Streams API reads the table's changes; needs --stream-view-type");
  command->add_flag("--no-stream-enabled", update->disable_stream,
                    "Disable the stream; new change records then have keys only");
  command
      ->add_option("--stream-view-type", update->stream_view_type,
                   "The images of an item in new change records. Default: unchanged")
      ->check(OneOfWords({"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"}))
      ->type_name("KEYS_ONLY|NEW_IMAGE|OLD_IMAGE|NEW_AND_OLD_IMAGES");
  command->add_option("--table-class", update->table_class, "The class of storage. Default: unchanged")
      ->check(OneOfWords({"STANDARD", "STANDARD_INFREQUENT_ACCESS"}))
      ->type_name("STANDARD|STANDARD_INFREQUENT_ACCESS");
  command->add_option("--sse-type", update->sse_type, "The encryption at rest. Default: unchanged")
      ->check(OneOfWords({"DISABLED", "AES256", "KMS"}))
      ->type_name("DISABLED|AES256|KMS");
  command
      ->add_option("--kms-master-key-id", update->kms_master_key_id,
                   "The key of --sse-type KMS, which may then be left out. Default: none")
      ->type_name("ID");
  command
      ->add_option("--on-demand-throughput", update->on_demand_throughput,
                   "Maximum read and write request units, 1 or more each; -1 removes a bound. One may be "
                   "left out (\"100,\"). Default: unchanged")
      ->type_name("READ,WRITE");
  command
      ->add_option("--warm-throughput", update->warm_throughput,
                   "Read and write units per second, 1 or more each; one may be left out. Default: unchanged")
      ->type_name("READ,WRITE");

  auto tag = std::make_shared<TableTagOptions>();
  command = table.Add(group,
                      {.name = "tag",
                       .summary = "Add tags to a table or replace their values",
                       .details = "At most 50; keys have 1 to 128 characters, values up to 256. Prints the "
                                  "table's tags after the change.",
                       .examples = {{"itemctl table tag music team=blue env=test", "two tags"},
                                    {"itemctl table tag music env=", "a tag without a value"}}},
                      [tag](Context& context) { return RunTableTag(context, *tag); });
  command->add_option(std::string(kTableName), tag->table_name, "The table's name")->required();
  command->add_option("TAG", tag->tags, "The tags, each KEY=VALUE")->required();

  auto untag = std::make_shared<TableTagOptions>();
  command =
      table.Add(group,
                {.name = "untag",
                 .summary = "Remove tags from a table",
                 .details = "A tag that does not exist is ignored. Prints the table's tags after the change.",
                 .examples = {{"itemctl table untag music env", "remove one"},
                              {"itemctl table untag music team env", "remove two"}}},
                [untag](Context& context) { return RunTableUntag(context, *untag); });
  command->add_option(std::string(kTableName), untag->table_name, "The table's name")->required();
  command->add_option("KEY", untag->tags, "The tags' keys")->required();

  table.Add(group,
            {.name = "limits",
             .summary = "Show DynamoDB's throughput quotas, which are never enforced here",
             .examples = {{"itemctl table limits", "for people"},
                          {"itemctl table limits -o json", "in the format of AWS's DescribeLimits"}}},
            RunTableLimits);
}

}  // namespace itemdb::tools
