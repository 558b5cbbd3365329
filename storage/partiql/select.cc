#include "storage/partiql/select.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "itemdb/v1/data.pb.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/partiql/next_token.h"
#include "storage/partiql/trees.h"
#include "storage/query/page.h"

namespace itemdb::storage::partiql {
namespace {

static_assert(static_cast<int>(v1::QueryReply::kItemsFieldNumber) ==
              static_cast<int>(v1::ExecuteStatementReply::kItemsFieldNumber));

// A page over several ranges ends before the next range if it has this many bytes already. The page of one
// range may fill the rest of a message.
constexpr size_t kMaxContinuedBytes = 512 << 10;

// ---- planning ------------------------------------------------------------------------------------

struct Plan {
  std::shared_ptr<const ReadView> view;
  // Holds only table, index and options, no expressions.
  wire::PageRequest request;
  // The ranges of a Query, in the order in which they are read; empty for a Scan.
  std::vector<KeyCondition> ranges;
  std::optional<Condition> filter;
  std::optional<Projection> projection;
};

absl::StatusOr<std::optional<Projection>> MakeProjection(const Statement& statement) {
  if (statement.projection.empty()) return std::nullopt;
  TreeWriter writer(statement);
  for (uint32_t path : statement.projection) writer.CopyPath(path);
  return Projection::Columns("SELECT list", writer.Finish());
}

absl::StatusOr<std::optional<Condition>> MakeFilter(const Statement& statement,
                                                    const std::vector<uint32_t>& conjuncts) {
  if (conjuncts.empty()) return std::nullopt;
  TreeWriter writer(statement);
  std::vector<uint32_t> copies;
  for (uint32_t position : conjuncts) copies.push_back(writer.CopyCondition(position));
  return Condition::FromTree("WHERE clause", writer.Finish(writer.AddConjunction(copies)));
}

// Splits WHERE into key conditions and a filter. The key schema has at most one sort attribute.
class RangePlanner {
 public:
  RangePlanner(const Statement& statement, const std::vector<KeyAttribute>& partition,
               const std::vector<KeyAttribute>& sort)
      : statement_(statement), partition_(partition), sort_(sort), rest_(Conjuncts(statement)) {}

  // Returns the key conditions, one for each value of the partition key in ascending order, and removes their
  // parts from rest(). Empty: a Scan. INVALID_ARGUMENT: a value does not fit the key, or there are too many.
  absl::StatusOr<std::vector<KeyCondition>> Ranges() {
    std::optional<uint32_t> hash = TakeFirst(&RangePlanner::IsPartitionEquality);
    if (!hash) hash = TakeFirst(&RangePlanner::IsPartitionIn);
    if (!hash) return std::vector<KeyCondition>();
    std::optional<uint32_t> sorted;
    if (!sort_.empty()) {
      // An equality gives a narrower range than any other condition.
      sorted = TakeFirst(&RangePlanner::IsSortEquality);
      if (!sorted) sorted = TakeFirst(&RangePlanner::IsSortRange);
    }
    const ConditionSyntax& condition = statement_.conditions[*hash];
    if (condition.kind == ConditionKind::kIn && condition.count - 1 > kMaxPartitionsOfSelect) {
      return ValidationError("PQL-08",
                             absl::StrCat("IN on the partition key takes at most ", kMaxPartitionsOfSelect,
                                          " values; it has ", condition.count - 1));
    }
    // Each range with its encoded partition key, by which ranges are sorted and duplicates removed.
    std::vector<std::pair<std::string, KeyCondition>> ranges;
    const bool reversed = AttributeAt(statement_, condition, 0) == nullptr;
    const uint32_t attribute = statement_.links[condition.first + (reversed ? 1 : 0)];
    if (sorted) ITEMDB_RETURN_IF_ERROR(CheckTypes(statement_.conditions[*sorted], sort_[0]));
    ITEMDB_RETURN_IF_ERROR(CheckTypes(condition, partition_[0]));
    for (uint32_t i = reversed ? 0 : 1; i < condition.count - (reversed ? 1 : 0); ++i) {
      ITEMDB_ASSIGN_OR_RETURN(KeyCondition range,
                              MakeRange(attribute, statement_.links[condition.first + i], sorted));
      ITEMDB_ASSIGN_OR_RETURN(KeyConditionRange selected, range.Select(partition_, sort_));
      ranges.emplace_back(std::move(selected.prefix), std::move(range));
    }
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    ranges.erase(std::unique(ranges.begin(), ranges.end(),
                             [](const auto& a, const auto& b) { return a.first == b.first; }),
                 ranges.end());
    std::vector<KeyCondition> result;
    for (auto& range : ranges) result.push_back(std::move(range.second));
    return result;
  }

  // The conditions for the filter.
  const std::vector<uint32_t>& rest() const { return rest_; }

 private:
  absl::StatusOr<KeyCondition> MakeRange(uint32_t attribute, uint32_t value,
                                         std::optional<uint32_t> sorted) const {
    TreeWriter writer(statement_);
    const uint32_t path = writer.CopyOperand(attribute);
    std::vector<uint32_t> conditions = {
        writer.AddCondition(ConditionKind::kEqual, {path, writer.CopyOperand(value)})};
    if (sorted) conditions.push_back(writer.CopyCondition(*sorted));
    return KeyCondition::FromTree(writer.Finish(writer.AddConjunction(conditions)));
  }

  // Checks the values in `condition`, which is on the key attribute `attribute`.
  absl::Status CheckTypes(const ConditionSyntax& condition, const KeyAttribute& attribute) const {
    for (uint32_t i = 0; i < condition.count; ++i) {
      const std::string* value = ValueAt(statement_, condition, i);
      if (value != nullptr) ITEMDB_RETURN_IF_ERROR(CheckKeyType(attribute, *value));
    }
    return absl::OkStatus();
  }

  std::optional<uint32_t> TakeFirst(bool (RangePlanner::*fits)(const ConditionSyntax&) const) {
    for (size_t i = 0; i < rest_.size(); ++i) {
      if (!(this->*fits)(statement_.conditions[rest_[i]])) continue;
      uint32_t found = rest_[i];
      rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(i));
      return found;
    }
    return std::nullopt;
  }

  bool IsPartitionEquality(const ConditionSyntax& condition) const {
    return DemandedValue(statement_, condition, partition_[0].name) != nullptr;
  }

  bool IsPartitionIn(const ConditionSyntax& condition) const {
    return condition.kind == ConditionKind::kIn && IsOnValues(condition, partition_[0].name);
  }

  bool IsSortEquality(const ConditionSyntax& condition) const {
    return DemandedValue(statement_, condition, sort_[0].name) != nullptr;
  }

  bool IsSortRange(const ConditionSyntax& condition) const {
    switch (condition.kind) {
      case ConditionKind::kBetween:
      case ConditionKind::kBeginsWith:
        return IsOnValues(condition, sort_[0].name);
      case ConditionKind::kLess:
      case ConditionKind::kLessEqual:
      case ConditionKind::kGreater:
      case ConditionKind::kGreaterEqual:
        break;
      default:
        return false;
    }
    for (uint32_t i : {0u, 1u}) {
      const std::string* attribute = AttributeAt(statement_, condition, i);
      if (attribute != nullptr && *attribute == sort_[0].name)
        return ValueAt(statement_, condition, 1 - i) != nullptr;
    }
    return false;
  }

  // Whether the first operand is attribute `name` and all others are values.
  bool IsOnValues(const ConditionSyntax& condition, const std::string& name) const {
    const std::string* attribute = AttributeAt(statement_, condition, 0);
    if (attribute == nullptr || *attribute != name) return false;
    for (uint32_t i = 1; i < condition.count; ++i) {
      if (ValueAt(statement_, condition, i) == nullptr) return false;
    }
    return true;
  }

  const Statement& statement_;
  const std::vector<KeyAttribute>& partition_;
  const std::vector<KeyAttribute>& sort_;
  std::vector<uint32_t> rest_;
};

// Whether an operand of `condition` is the top-level attribute `name`.
bool Compares(const Statement& statement, const ConditionSyntax& condition, std::string_view name) {
  for (uint32_t i = 0; i < condition.count; ++i) {
    const std::string* attribute = AttributeAt(statement, condition, i);
    if (attribute != nullptr && *attribute == name) return true;
  }
  return false;
}

struct Order {
  bool partitions_descending = false;
  bool items_descending = false;
  // Whether ORDER BY names the sort key before the partition key.
  bool sort_first = false;
};

absl::StatusOr<Order> MakeOrder(const Statement& statement, const std::vector<KeyAttribute>& partition,
                                const std::vector<KeyAttribute>& sort) {
  Order order;
  if (!statement.order.empty() && !statement.where.has_value()) {
    return ValidationError("PQL-01", "Must have WHERE clause in the statement when using ORDER BY clause.");
  }
  bool has_partition = false, has_sort = false;
  for (const SortOrder& key : statement.order) {
    const bool is_partition = key.attribute == partition[0].name;
    if (!is_partition && (sort.empty() || key.attribute != sort[0].name)) {
      return ValidationError("PQL-01", "Variable reference " + key.attribute +
                                           " in ORDER BY clause must be part of the primary key");
    }
    bool& seen = is_partition ? has_partition : has_sort;
    if (std::exchange(seen, true))
      return ValidationError("PQL-01", "ORDER BY names " + key.attribute + " more than once");
    if (is_partition) {
      order.partitions_descending = key.descending;
    } else {
      order.items_descending = key.descending;
      order.sort_first = !has_partition;
    }
  }
  return order;
}

// Values that are compared with key attributes, of the table or of the index that is read, have their types.
absl::Status CheckComparedTypes(const Statement& statement, const std::vector<uint32_t>& conjuncts,
                                const std::vector<const std::vector<KeyAttribute>*>& keys) {
  std::vector<uint32_t> left = conjuncts;
  while (!left.empty()) {
    const ConditionSyntax& condition = statement.conditions[left.back()];
    left.pop_back();
    switch (condition.kind) {
      case ConditionKind::kAnd:
      case ConditionKind::kOr:
      case ConditionKind::kNot:
        for (uint32_t i = 0; i < condition.count; ++i) left.push_back(statement.links[condition.first + i]);
        continue;
      case ConditionKind::kAttributeExists:
      case ConditionKind::kAttributeNotExists:
      case ConditionKind::kAttributeType:
        continue;
      default:
        break;
    }
    for (const std::vector<KeyAttribute>* part : keys) {
      for (const KeyAttribute& attribute : *part) {
        if (!Compares(statement, condition, attribute.name)) continue;
        for (uint32_t i = 0; i < condition.count; ++i) {
          const std::string* value = ValueAt(statement, condition, i);
          if (value == nullptr || ValueView(*value).type() == attribute.type) continue;
          return DetailedError("PQL-16",
                               "One or more parameter values were invalid: Condition parameter type does not "
                               "match schema type",
                               "; key: " + attribute.name);
        }
      }
    }
  }
  return absl::OkStatus();
}

// Fills in the parts of the plan that depend on the table.
absl::Status PlanRanges(const Statement& statement, Plan* plan) {
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const Table> table,
                          plan->view->catalog().Find(statement.table_name));
  ITEMDB_ASSIGN_OR_RETURN(const Index* index, FindIndex(*table, statement.index_name));
  if (index != nullptr && (index->partition.size() > 1 || index->sort.size() > 1)) {
    return ValidationError(
        "SEM-087",
        "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute "
        "RANGE keys.");
  }
  if (index != nullptr && !index->local && plan->request.consistent_read()) {
    return DetailedError("PQL-17", "Strongly consistent read is not supported on Global Secondary Indexes",
                         ": index " + index->name);
  }
  const auto& partition = index != nullptr ? index->partition : table->partition;
  const auto& sort = index != nullptr ? index->sort : table->sort;
  RangePlanner planner(statement, partition, sort);
  ITEMDB_ASSIGN_OR_RETURN(plan->ranges, planner.Ranges());
  if (plan->ranges.empty() && !statement.order.empty() && statement.where.has_value()) {
    return ValidationError(
        "PQL-01",
        "Must have at least one non-optional hash key condition in WHERE clause when using "
        "ORDER BY clause.");
  }
  ITEMDB_ASSIGN_OR_RETURN(Order order, MakeOrder(statement, partition, sort));
  if (order.partitions_descending) std::reverse(plan->ranges.begin(), plan->ranges.end());
  if (plan->ranges.size() > 1 && order.sort_first) {
    return ValidationError(
        "PQL-01", "ORDER BY " + sort[0].name + " needs a condition that is met by one value of " +
                      partition[0].name + "; with several, order by " + partition[0].name + " first");
  }
  ITEMDB_RETURN_IF_ERROR(
      CheckComparedTypes(statement, planner.rest(), {&partition, &sort, &table->partition, &table->sort}));
  plan->request.set_scan_index_forward(!order.items_descending);
  ITEMDB_ASSIGN_OR_RETURN(plan->filter, MakeFilter(statement, planner.rest()));
  return absl::OkStatus();
}

absl::StatusOr<Plan> MakePlan(Engine& engine, const wire::ExecuteStatementRequest& request,
                              const Statement& statement) {
  Plan plan;
  plan.request.set_table_name(statement.table_name);
  plan.request.set_index_name(statement.index_name);
  plan.request.set_consistent_read(request.consistent_read());
  plan.request.set_return_consumed_capacity(request.return_consumed_capacity());
  if (request.has_limit()) {
    if (request.limit() < 1)
      return ValidationError("SEM-029", absl::StrCat("Limit must be at least 1; it is ", request.limit()));
    plan.request.set_limit(request.limit());
  }
  // Expressions are checked before the table is looked up (SEM-115).
  ITEMDB_ASSIGN_OR_RETURN(plan.projection, MakeProjection(statement));
  ITEMDB_RETURN_IF_ERROR(MakeFilter(statement, Conjuncts(statement)).status());
  ITEMDB_ASSIGN_OR_RETURN(plan.view, engine.View());
  ITEMDB_RETURN_IF_ERROR(PlanRanges(statement, &plan));
  if (plan.ranges.size() > 1 && (!request.has_limit() || request.limit() > kMaxItemsOfManyPartitions))
    plan.request.set_limit(kMaxItemsOfManyPartitions);
  return plan;
}

// ---- reading -------------------------------------------------------------------------------------

// A page that is being read, one range after another, all from one view.
class Reading {
 public:
  Reading(Engine& engine, wire::ExecuteStatementRequest request, Plan plan, PagePosition position,
          Done<StatementPage> done, CancellationPtr cancellation)
      : engine_(engine),
        request_(std::move(request)),
        plan_(std::move(plan)),
        position_(std::move(position)),
        done_(std::move(done)),
        cancellation_(std::move(cancellation)) {}

  // If everything is in memory, the calls for the ranges nest: at most kMaxPartitionsOfSelect deep.
  static void ReadRange(std::shared_ptr<Reading> reading) {
    PageExpressions expressions{.key_condition = std::nullopt,
                                .filter = reading->plan_.filter,
                                .projection = reading->plan_.projection};
    if (!reading->plan_.ranges.empty())
      expressions.key_condition = reading->plan_.ranges[reading->position_.range];
    wire::PageRequest& request = reading->plan_.request;
    request.clear_exclusive_start_key();
    if (!reading->position_.last_key.empty()) request.set_exclusive_start_key(reading->position_.last_key);
    auto page = PreparePage(reading->plan_.view, request, std::move(expressions));
    if (!page.ok()) return std::move(reading->done_)(page.status());
    ReadPreparedPage(
        reading->engine_, *std::move(page),
        [reading](absl::StatusOr<Page> page) {
          if (!page.ok()) return std::move(reading->done_)(page.status());
          if (reading->Take(*std::move(page))) return ReadRange(reading);
          std::move(reading->done_)(std::move(reading->result_));
        },
        reading->cancellation_);
  }

 private:
  // Adds the page of one range to the result. Returns whether the next range belongs to this page, too.
  bool Take(Page page) {
    wire::ExecuteStatementReply& reply = result_.reply;
    reply.set_change_sequence(page.reply.change_sequence());
    if (page.reply.has_consumed_capacity())
      AddConsumedCapacity(page.reply.consumed_capacity(), reply.mutable_consumed_capacity());
    if (result_.encoded_items.empty()) {
      result_.encoded_items = std::move(page.encoded_items);
    } else {
      result_.encoded_items += page.encoded_items;
    }
    if (page.reply.has_last_evaluated_key()) {
      position_.last_key = page.reply.last_evaluated_key();
      reply.set_last_evaluated_key(position_.last_key);
      reply.set_next_token(EncodeNextToken(request_, position_));
      return false;
    }
    if (++position_.range >= plan_.ranges.size()) return false;
    position_.last_key.clear();
    const int64_t left = plan_.request.limit() - page.reply.scanned_count();
    if (left > 0 && result_.encoded_items.size() < kMaxContinuedBytes) {
      plan_.request.set_limit(static_cast<int32_t>(left));
      return true;
    }
    reply.set_next_token(EncodeNextToken(request_, position_));
    return false;
  }

  Engine& engine_;
  const wire::ExecuteStatementRequest request_;
  Plan plan_;
  PagePosition position_;
  StatementPage result_;
  Done<StatementPage> done_;
  const CancellationPtr cancellation_;
};

}  // namespace

void Select(Engine& engine, const wire::ExecuteStatementRequest& request, const Statement& statement,
            Done<StatementPage> done, CancellationPtr cancellation) {
  auto position = DecodeNextToken(request);
  if (!position.ok()) return std::move(done)(position.status());
  auto plan = MakePlan(engine, request, statement);
  if (!plan.ok()) return std::move(done)(plan.status());
  if (position->range > 0 && position->range >= plan->ranges.size()) {
    return std::move(done)(ValidationError(
        "PQL-13", "The NextToken does not fit the table, which is not the one it was given for"));
  }
  Reading::ReadRange(std::make_shared<Reading>(engine, request, *std::move(plan), *std::move(position),
                                               std::move(done), std::move(cancellation)));
}

absl::StatusOr<PointRead> PrepareRead(const Statement& statement, std::string_view operation,
                                      const Catalog& catalog) {
  if (!statement.index_name.empty())
    return ValidationError("PQL-14", "A SELECT in a batch or transaction cannot read an index");
  if (!statement.order.empty())
    return ValidationError("PQL-14",
                           "A SELECT in a batch or transaction reads one item and takes no ORDER BY");
  auto projection = MakeProjection(statement);
  if (!projection.ok()) return projection.status();
  ITEMDB_RETURN_IF_ERROR(MakeFilter(statement, Conjuncts(statement)).status());
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const Table> table, catalog.Find(statement.table_name));
  absl::StatusOr<KeyAndRest> key = SplitKey(statement, *table);
  if (!key.ok() || !key->rest.empty()) {
    return ValidationError("PQL-14", absl::StrCat("Select statements within ", std::string(operation),
                                                  " must specify the primary key in the where clause."));
  }
  ITEMDB_ASSIGN_OR_RETURN(
      PointRead read, PrepareTransactRead(catalog, statement.table_name, key->key, *std::move(projection)));
  if (!key->key_error.ok()) read.key_error = key->key_error;
  return read;
}

}  // namespace itemdb::storage::partiql
