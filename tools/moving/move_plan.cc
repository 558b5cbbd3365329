#include "tools/moving/move_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tools/moving/move_journal.h"
#include "tools/moving/target_features.h"

namespace itemdb::tools {
namespace {

// For the expected time: about half of what docs/outgrowing.md measured.
constexpr double kItemdRate = 50'000;
constexpr double kHttpRate = 5'000;
// Of a table that seems to be empty: each may be one of deleted items only.
constexpr int kMostEmptyPages = 20;

int64_t UnitsOf(const TableDescription& table) {
  const auto units = [](int64_t count, int64_t bytes) {
    return count == 0 ? 0 : count * std::max<int64_t>(1, (bytes / count + 1023) / 1024);
  };
  int64_t sum = units(table.item_count, table.table_size_bytes);
  for (const IndexDescription& index : table.indexes) sum += units(index.item_count, index.index_size_bytes);
  for (const LocalIndexDescription& index : table.local_indexes)
    sum += units(index.item_count, index.index_size_bytes);
  return sum;
}

// Why the table cannot be moved as it is; empty if it can.
std::string ProblemOf(const TablePlan& plan, const std::optional<TableDescription>& existing,
                      const Side& target, bool overwrite) {
  const TableDefinition& source = plan.source.definition;
  const std::string& name = source.table_name;
  if (plan.source.table_status != TableStatus::kActive && plan.source.table_status != TableStatus::kUpdating)
    return "table " + name + " of the source is being made: wait until it is ACTIVE";
  for (const IndexDescription& index : plan.source.indexes) {
    if (index.index_status != TableStatus::kActive)
      return "index " + index.definition.index_name + " of table " + name +
             " of the source is being made: wait until it is ACTIVE";
  }
  if (plan.source.write_fence.has_value() && plan.source.write_fence->moved)
    return "table " + name + " of the source has moved to " + plan.source.write_fence->endpoint + " already";
  if (!target.is_itemd() && !source.stream_enabled && source.stream_view_type != StreamViewType::kKeysOnly)
    return "the change log of table " + name +
           " has images without a stream, which the target has no like of: itemctl table update " + name +
           " --stream-view-type KEYS_ONLY";
  if (!existing.has_value()) return "";
  // An earlier move to this target, which was given up while it was away, may have left its fence.
  if (existing->write_fence.has_value() &&
      (existing->write_fence->moved || existing->write_fence->endpoint != target.endpoint()))
    return "table " + name + " of the target refuses writes, because it moves to " +
           existing->write_fence->endpoint;
  if (const std::string difference = DifferenceForCopy(source, existing->definition); !difference.empty())
    return "the target has another table " + name + " (" + difference +
           "): delete it there, or move to a target without it";
  if (plan.may_have_items_in_target && !overwrite)
    return absl::StrCat("table ", name, " of the target may have items: its first ", kMostEmptyPages,
                        " pages have none, and more follow. The move would overwrite or delete them: give "
                        "--overwrite if it may");
  if (plan.items_in_target > 0 && !overwrite)
    return absl::StrCat("table ", name, " of the target has ",
                        existing->item_count > 0 ? absl::StrCat(existing->item_count, " ") : "",
                        "items, which the move would overwrite or delete: give --overwrite if it may");
  return "";
}

// Fills how many items the table of the target has, at least 1 if it is known to have any. DynamoDB counts
// them every six hours, and Alternator does not.
absl::Status CountItemsInTarget(const Side& side, const TableDescription& table, TablePlan& plan) {
  plan.items_in_target = table.item_count;
  if (side.is_itemd() || table.item_count > 0) return absl::OkStatus();
  // It cannot be read yet, nor written.
  if (table.table_status == TableStatus::kCreating) return absl::OkStatus();
  ScanRequest first{.table_name = table.definition.table_name, .limit = 1, .consistent_read = true};
  // A page may be empty although items follow.
  for (int pages = 0; pages < kMostEmptyPages; ++pages) {
    const absl::StatusOr<ItemPage> page = side.Try([&] { return side.client().Scan(first, side.call()); });
    if (absl::IsNotFound(page.status())) return absl::OkStatus();
    ITEMDB_RETURN_IF_ERROR(page.status());
    plan.items_in_target = static_cast<int64_t>(page->items.size());
    if (!page->items.empty() || !page->last_evaluated_key.has_value()) return absl::OkStatus();
    first.exclusive_start_key = page->last_evaluated_key;
  }
  plan.may_have_items_in_target = true;
  return absl::OkStatus();
}

// Engines whose indexes have all attributes, whatever is asked for, say so (Alternator); readers get what
// they want and more.
void AllowAllAttributes(const TableDefinition& target, TableDefinition& source) {
  const auto allow = [](const auto& there, auto& here) {
    for (auto& index : here) {
      for (const auto& one : there) {
        if (one.index_name == index.index_name && one.projection.projection_type == ProjectionType::kAll)
          index.projection = one.projection;
      }
    }
  };
  allow(target.global_secondary_indexes, source.global_secondary_indexes);
  allow(target.local_secondary_indexes, source.local_secondary_indexes);
}

}  // namespace

TableDefinition DefinitionForCopy(TableDefinition definition) {
  definition.stream_enabled = false;
  definition.stream_view_type = StreamViewType::kKeysOnly;
  definition.deletion_protection_enabled = false;
  // Not sent: what a table has had is not a wish of its owner.
  definition.warm_throughput.reset();
  for (GlobalSecondaryIndex& index : definition.global_secondary_indexes) index.warm_throughput.reset();
  return definition;
}

std::string DifferenceForCopy(const TableDefinition& source, const TableDefinition& target) {
  TableDefinition wanted = DefinitionForCopy(source);
  AllowAllAttributes(target, wanted);
  return DescribeDifference(wanted, DefinitionForCopy(target));
}

absl::StatusOr<std::string> TimeToLiveOf(const Side& side, const std::string& table_name) {
  absl::StatusOr<TimeToLiveResult> result =
      side.Try([&] { return side.client().DescribeTimeToLive(table_name, side.call()); });
  // An engine without it: its tables have none.
  if (absl::IsUnimplemented(result.status()) || absl::IsInvalidArgument(result.status())) return "";
  ITEMDB_RETURN_IF_ERROR(result.status());
  return result->attribute_name;
}

namespace {

// What programs have called since the source was started, and the target does not have.
void AddWarnings(const Side& source, const Side& target, const std::string& table_name,
                 TargetFeatures& features, std::vector<std::string>& warnings) {
  if (!source.is_itemd() || target.is_itemd()) return;
  const absl::StatusOr<AccessPatternsResult> seen =
      source.Try([&] { return source.client().GetAccessPatterns(table_name, source.call()); });
  // Whoever moves tables need not be an administrator. What is not known is no reason against a move.
  if (!seen.ok()) return;
  std::set<std::string> operations;
  for (const AccessPattern& pattern : seen->patterns) operations.insert(pattern.operation);
  for (const std::string& operation : operations) {
    if (features.HasOperation(operation).value_or(true)) continue;
    warnings.push_back("programs call " + operation + " for table " + table_name + ", which the target " +
                       target.endpoint() + " does not offer: change them first, or move to another target");
  }
}

}  // namespace

absl::StatusOr<MovePlan> PlanMove(const Side& source, const Side& target, const PlanOptions& options) {
  std::vector<std::string> names = options.table_names;
  if (names.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(names, source.TableNames());
    std::erase(names, kMovesTable);
    if (names.empty()) return absl::FailedPreconditionError("the source has no tables");
  }
  MovePlan plan;
  TargetFeatures features(target);
  for (const std::string& name : names) {
    if (name == kMovesTable)
      return absl::InvalidArgumentError("table " + name + " holds the records of moves; it is not moved");
    ITEMDB_ASSIGN_OR_RETURN(std::optional<TableDescription> found, source.FindTable(name));
    if (!found.has_value()) return absl::NotFoundError("the source has no table " + name);
    TablePlan& table = plan.tables.emplace_back(TablePlan{.source = *std::move(found)});
    ITEMDB_ASSIGN_OR_RETURN(table.time_to_live_attribute, TimeToLiveOf(source, name));
    ITEMDB_ASSIGN_OR_RETURN(const std::optional<TableDescription> existing, target.FindTable(name));
    table.exists_in_target = existing.has_value();
    if (existing.has_value()) ITEMDB_RETURN_IF_ERROR(CountItemsInTarget(target, *existing, table));
    table.problem = ProblemOf(table, existing, target, options.overwrite);
    if (table.problem.empty()) {
      ITEMDB_ASSIGN_OR_RETURN(table.problem, features.LackingFor(table.source, table.time_to_live_attribute));
    }
    AddWarnings(source, target, name, features, plan.warnings);
    plan.items += table.source.item_count;
    plan.bytes += table.source.table_size_bytes;
    plan.write_units += UnitsOf(table.source);
  }
  double rate = source.is_itemd() && target.is_itemd() ? kItemdRate : kHttpRate;
  if (options.max_items_per_second > 0) rate = std::min(rate, options.max_items_per_second);
  plan.expected_copy_time = absl::Seconds(static_cast<double>(plan.items) / rate);
  return plan;
}

absl::Status CheckPlan(const MovePlan& plan) {
  for (const TablePlan& table : plan.tables) {
    if (!table.problem.empty()) return absl::FailedPreconditionError(table.problem);
  }
  return absl::OkStatus();
}

namespace {

// A table that an earlier run made, and was killed before it was there.
absl::Status AwaitUsable(const Side& target, const std::string& name) {
  return target.Try([&]() -> absl::Status {
    const absl::StatusOr<TableResult> described = target.client().DescribeTable(name, target.call());
    // Not all is known of a new table at once, such as its tags.
    if (!described.ok() && !absl::IsNotFound(described.status())) return described.status();
    if (described.ok() && described->table.table_status != TableStatus::kCreating) return absl::OkStatus();
    return absl::UnavailableError("table " + name + " is still being made");
  });
}

// Some engines make a table without its tags (dynalite).
absl::Status AddMissingTags(const Side& target, const TableDefinition& wanted) {
  if (wanted.tags.empty() || target.is_itemd()) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(const auto made, target.FindTable(wanted.table_name));
  if (!made.has_value()) return absl::OkStatus();
  const auto is_there = [&](const auto& tag) {
    const auto& tags = made->definition.tags;
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
  };
  if (std::all_of(wanted.tags.begin(), wanted.tags.end(), is_there)) return absl::OkStatus();
  const TagTableRequest request{.table_name = wanted.table_name, .tags = wanted.tags};
  return target.Try([&] { return target.client().TagTable(request, target.call()).status(); });
}

// Some engines find out what they do not offer only when the table is there (Alternator).
absl::Status CheckProtection(const Side& target, const TableDefinition& source) {
  if (!source.deletion_protection_enabled || target.is_itemd()) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(const auto made, target.FindTable(source.table_name));
  // Asked with the value that it has, so nothing changes.
  if (made.has_value() && made->definition.deletion_protection_enabled) return absl::OkStatus();
  const UpdateTableRequest update{.table_name = source.table_name, .deletion_protection_enabled = false};
  const absl::Status asked =
      target.Try([&] { return target.client().UpdateTable(update, target.call()).status(); });
  if (!absl::IsUnimplemented(asked)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the target " + target.endpoint() + " lacks deletion protection, which table " + source.table_name +
      " has: itemctl table update " + source.table_name +
      " --no-deletion-protection-enabled, or move to a target that has it; the table was made there");
}

}  // namespace

absl::Status MakeTables(const Side& target, const MovePlan& plan) {
  for (const TablePlan& table : plan.tables) {
    const TableDefinition definition = DefinitionForCopy(table.source.definition);
    bool is_there = table.exists_in_target;
    if (!is_there) {
      const absl::Status made =
          target.Try([&] { return target.client().CreateTable(definition, target.call()).status(); });
      // A call whose answer was lost may have made it.
      if (!made.ok() && !absl::IsAlreadyExists(made))
        return WithWords("table " + definition.table_name + " cannot be made in the target", made);
      is_there = !made.ok();
    }
    // CreateTable waits for it itself.
    if (is_there && !target.is_itemd()) ITEMDB_RETURN_IF_ERROR(AwaitUsable(target, definition.table_name));
    // Also for a table that an earlier run made, perhaps the last thing it did.
    ITEMDB_RETURN_IF_ERROR(AddMissingTags(target, definition));
    ITEMDB_RETURN_IF_ERROR(CheckProtection(target, table.source.definition));
  }
  return absl::OkStatus();
}

absl::Status FinishStream(const Side& target, const TableDefinition& source) {
  ITEMDB_ASSIGN_OR_RETURN(const auto existing, target.FindTable(source.table_name));
  if (!existing.has_value())
    return absl::NotFoundError("table " + source.table_name + " was deleted in the target");
  UpdateTableRequest update{.table_name = source.table_name};
  if (source.stream_enabled && !existing->definition.stream_enabled) {
    update.stream_enabled = true;
    update.stream_view_type = source.stream_view_type;
  } else if (!source.stream_enabled && existing->definition.stream_view_type != source.stream_view_type) {
    update.stream_view_type = source.stream_view_type;
  } else {
    return absl::OkStatus();
  }
  return target.Try([&] { return target.client().UpdateTable(update, target.call()).status(); });
}

absl::Status FinishTable(const Side& target, const TableDefinition& source,
                         const std::string& time_to_live_attribute) {
  const std::string& name = source.table_name;
  if (!time_to_live_attribute.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(const std::string present, TimeToLiveOf(target, name));
    if (present.empty()) {
      const UpdateTimeToLiveRequest update{
          .table_name = name, .enabled = true, .attribute_name = time_to_live_attribute};
      ITEMDB_RETURN_IF_ERROR(
          target.Try([&] { return target.client().UpdateTimeToLive(update, target.call()).status(); }));
    }
  }
  if (!source.deletion_protection_enabled) return absl::OkStatus();
  const UpdateTableRequest update{.table_name = name, .deletion_protection_enabled = true};
  return target.Try([&] { return target.client().UpdateTable(update, target.call()).status(); });
}

}  // namespace itemdb::tools
