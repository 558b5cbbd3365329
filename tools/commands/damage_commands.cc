#include "tools/commands/damage_commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/text_table.h"
#include "tools/base/time_text.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

JsonValue RangeToJson(const DamagedRange& range) {
  JsonValue object = JsonValue::Object();
  if (!range.table_name.empty()) object.Add("table_name", range.table_name);
  if (!range.index_name.empty()) object.Add("index_name", range.index_name);
  if (range.after_key.has_value()) object.Add("after_key", ItemToJson(*range.after_key, ItemForm::kTyped));
  if (range.before_key.has_value()) object.Add("before_key", ItemToJson(*range.before_key, ItemForm::kTyped));
  if (range.after_sequence > 0) object.Add("after_sequence", range.after_sequence);
  if (range.before_sequence > 0) object.Add("before_sequence", range.before_sequence);
  return object;
}

JsonValue FileToJson(const DamagedFile& file) {
  std::vector<JsonValue> ranges;
  for (const DamagedRange& range : file.ranges) ranges.push_back(RangeToJson(range));
  JsonValue object = JsonValue::Object()
                         .Add("file", file.name)
                         .Add("family", file.family)
                         .Add("level", file.level)
                         .Add("size_bytes", file.size_bytes);
  if (!file.owner.empty()) object.Add("owner", file.owner);
  return object.Add("met_by", file.met_by)
      .Add("first_met_time", TimeText(file.first_met_time))
      .Add("error", file.error)
      .Add("ranges", JsonValue::Array(std::move(ranges)));
}

// A key, or a change sequence.
std::string PlaceText(const std::optional<Item>& key, uint64_t sequence) {
  if (key.has_value()) return OneLine(ItemToJson(*key, ItemForm::kPlain));
  return sequence > 0 ? absl::StrCat("change ", sequence) : "";
}

std::string OwnerText(const DamagedFile& file, const DamagedRange& range) {
  if (range.table_name.empty()) return file.owner.empty() ? file.family : file.owner;
  if (range.index_name.empty()) return "table " + range.table_name;
  return absl::StrCat("index ", range.index_name, " of table ", range.table_name);
}

TextTable ToTable(const std::vector<DamagedFile>& files) {
  TextTable table({{"file"},
                   {"of"},
                   NumberColumn("level"),
                   NumberColumn("bytes"),
                   {"met by"},
                   {"first met"},
                   {"unreadable after"},
                   {"and before"}});
  for (const DamagedFile& file : files) {
    std::vector<DamagedRange> ranges = file.ranges;
    if (ranges.empty()) ranges.emplace_back();
    for (const DamagedRange& range : ranges) {
      table.AddRow({file.name, OwnerText(file, range), absl::StrCat(file.level),
                    WithSeparators(file.size_bytes), file.met_by, TimeText(file.first_met_time),
                    PlaceText(range.after_key, range.after_sequence),
                    PlaceText(range.before_key, range.before_sequence)});
    }
  }
  return table;
}

}  // namespace

absl::Status RunDamageList(Context& context) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const DamageList list, client.ListDamage(context.Call()));
  if (context.format() != OutputFormat::kTable) {
    std::vector<JsonValue> files;
    for (const DamagedFile& file : list.files) files.push_back(FileToJson(file));
    context.Print(JsonValue::Object()
                      .Add("files", JsonValue::Array(std::move(files)))
                      .Add("paused_families", list.paused_families));
    return absl::OkStatus();
  }
  if (list.files.empty()) {
    context.out() << "no damage was met since the daemon began to serve\n";
  } else {
    context.Print(ToTable(list.files));
  }
  if (!list.paused_families.empty())
    context.out() << "compactions pause: " << absl::StrJoin(list.paused_families, ", ") << '\n';
  return absl::OkStatus();
}

absl::Status RunDamageDiscard(Context& context, const DamageDiscardOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(const Item key, ParseItem(options.key, ReadForm::kDetect, "--key"));
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  const std::string action =
      absl::StrFormat("discard from the table %s the damaged item with the key %s, whatever it was",
                      options.table_name, OneLine(ItemToJson(key, ItemForm::kPlain)));
  ITEMDB_ASSIGN_OR_RETURN(bool go_on, Confirm(context, options.confirm, action, Unattended::kRefuse));
  if (!go_on) return absl::OkStatus();
  // Asked twice: nothing brings the item back, and a backup may still have it.
  if (!options.confirm.yes) {
    ITEMDB_ASSIGN_OR_RETURN(go_on,
                            Confirm(context, options.confirm,
                                    "lose it for ever, with its index entries, instead of restoring a backup",
                                    Unattended::kRefuse));
    if (!go_on) return absl::OkStatus();
  }
  Progress progress(ProgressStream(context), {.doing = "reading the indexes of the table"});
  const auto discarded = client.DiscardDamagedItem(options.table_name, key, context.ExplicitTimeout());
  progress.Finish();
  if (!discarded.ok()) return discarded.status();
  if (context.format() == OutputFormat::kTable) {
    context.out() << absl::StrFormat("discarded in change %d, with %d index entries\n",
                                     discarded->change_sequence, discarded->index_entries_deleted);
    return absl::OkStatus();
  }
  context.Print(JsonValue::Object()
                    .Add("change_sequence", discarded->change_sequence)
                    .Add("index_entries_deleted", discarded->index_entries_deleted));
  return absl::OkStatus();
}

void RegisterDamageCommands(CommandTable& table) {
  CLI::App* group = table.AddGroup({.name = "damage", .summary = "Damaged table files, and their items"});
  table.Add(group,
            {.name = "list",
             .summary = "List the damaged table files, and the keys that may be lost",
             .details = "Damage that something has met since itemd began to serve: a read, a check or a "
                        "compaction. \"itemctl check\" meets all of it. Reads the damaged files once more.",
             .examples = {{"itemctl damage list", "as a table, a line for each place"},
                          {"itemctl damage list -o json", "as JSON, with what RocksDB says"}}},
            [](Context& context) { return RunDamageList(context); });
  auto discard = std::make_shared<DamageDiscardOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "discard",
       .summary = "Delete an item whose record cannot be read",
       .details =
           "Deletes the item without reading it, and its entries in all indexes, so that the key can be "
           "written again. An item that can be read is refused. Asks twice; without a terminal, --yes "
           "is needed. The default timeout is one hour.",
       .examples = {{R"(itemctl damage discard --table Product --key '{"product_id": "prod_100"}' --dry-run)",
                     "show what would be discarded"},
                    {R"(itemctl damage list && itemctl damage discard --table Product --key )"
                     R"('{"product_id": "prod_100"}' --dry-run)",
                     "first list what cannot be read"}}},
      [discard](Context& context) { return RunDamageDiscard(context, *discard); });
  command->add_option("--table", discard->table_name, "The table's name")
      ->required()
      ->type_name(std::string(kTableName));
  command->add_option("--key", discard->key, "Exactly the key attributes, for example '{\"id\": \"a\"}'")
      ->required()
      ->type_name("JSON");
  AddConfirmOptions(command, discard->confirm, "Print what would be discarded, and discard nothing");
}

}  // namespace itemdb::tools
