#include "storage/query/page_request.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/catalog/key_paths.h"
#include "storage/expressions/from_request.h"
#include "storage/indexes/index_entry.h"
#include "storage/keys/key_codec.h"
#include "storage/values/canonical.h"

namespace itemdb::storage {
namespace {

// The names of all attributes in the last evaluated key, sorted.
std::vector<std::string> PositionAttributes(const PreparedPage& page) {
  std::vector<std::string> names;
  auto add = [&names](const std::vector<KeyAttribute>& attributes) {
    for (const KeyAttribute& attribute : attributes) names.push_back(attribute.name);
  };
  add(page.table->partition);
  add(page.table->sort);
  if (page.index != nullptr) {
    add(page.index->partition);
    add(page.index->sort);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool Contains(const std::vector<KeyAttribute>& attributes, const std::string& name) {
  return std::any_of(attributes.begin(), attributes.end(),
                     [&name](const KeyAttribute& a) { return a.name == name; });
}

// The filter of a Query may not name key attributes of the table (SEM-040) or index (SEM-086) that is
// queried; they belong in the key condition.
absl::Status CheckFilterNamesNoKey(const PreparedPage& page, const wire::PageRequest& request) {
  const std::string parameter = request.legacy_filter().empty() ? "Filter Expression" : "QueryFilter";
  for (const std::string& name : page.filter->TopLevelAttributes()) {
    if (Contains(page.partition(), name) || Contains(page.sort(), name)) {
      return ValidationError(
          "SEM-040",
          parameter + " can only contain non-primary key attributes: Primary key attribute: " + name);
    }
  }
  return absl::OkStatus();
}

// Those of `names` that `index` does not project, with ", " between them.
std::string NotProjected(const std::vector<std::string>& names, const Index& index) {
  std::string text;
  for (const std::string& name : names) {
    if (!index.Projects(name)) text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

// A request on a global index may name only attributes that the index projects (SEM-037). Attributes that a
// local index lacks are fetched from the table (SEM-091).
absl::Status CheckProjected(PreparedPage* page) {
  if (page->index == nullptr) return absl::OkStatus();
  constexpr std::string_view kFilter = "filter";
  auto check = [page, kFilter](const std::vector<std::string>& names, std::string_view what) {
    for (const std::string& name : names) {
      if (page->index->Projects(name)) continue;
      if (!page->index->local) {
        absl::Status error =
            ValidationError("SEM-037", "One or more parameter values were invalid: Secondary index " +
                                           page->index->name + " does not project one or more " +
                                           std::string(what) + " attributes: [" + name + "]");
        if (what == kFilter) return error;
        return WithServiceText("One or more parameter values were invalid: Global secondary index " +
                                   page->index->name + " does not project [" +
                                   NotProjected(names, *page->index) + "]",
                               std::move(error));
      }
      page->fetch_items = true;
    }
    return absl::OkStatus();
  };
  if (page->filter.has_value()) ITEMDB_RETURN_IF_ERROR(check(page->filter->TopLevelAttributes(), kFilter));
  if (page->projection.has_value())
    ITEMDB_RETURN_IF_ERROR(check(page->projection->TopLevelAttributes(), "projected"));
  return absl::OkStatus();
}

absl::Status CannotProject(const wire::PageRequest& request, const std::string& selected) {
  std::string parameter = request.attributes_to_get().empty() ? "ProjectionExpression" : "AttributesToGet";
  return ValidationError("SEM-036", "Cannot specify the " + parameter + " when choosing to get " + selected);
}

// Checks Select, and sets what the page contains (SEM-036).
absl::Status CheckSelect(const wire::PageRequest& request, PreparedPage* page) {
  const bool projects = page->projection.has_value();
  switch (request.select()) {
    case v1::SELECT_UNSPECIFIED:
      break;
    case v1::SELECT_SPECIFIC_ATTRIBUTES:
      if (!projects)
        return ValidationError(
            "SEM-036",
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES");
      break;
    case v1::SELECT_ALL_ATTRIBUTES:
      if (projects) return CannotProject(request, "ALL_ATTRIBUTES");
      if (page->index != nullptr && page->index->projection != v1::PROJECTION_TYPE_ALL) {
        if (!page->index->local) {
          return ValidationError(
              "SEM-036",
              "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for "
              "global secondary index " +
                  page->index->name + " because its projection type is not ALL");
        }
        page->fetch_items = page->whole_items = true;
      }
      break;
    case v1::SELECT_ALL_PROJECTED_ATTRIBUTES:
      if (projects) {
        return CannotProject(request, "ALL_PROJECTED_ATTRIBUTES");
      }
      if (page->index == nullptr)
        return ValidationError("SEM-036",
                               "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
      break;
    case v1::SELECT_COUNT:
      if (projects) return CannotProject(request, "only the Count");
      page->count_only = true;
      break;
    default:
      return ValidationError("SEM-036",
                             "Select " + std::to_string(request.select()) +
                                 " is unknown; it must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, "
                                 "SPECIFIC_ATTRIBUTES or COUNT");
  }
  if (request.count_all() && (!page->count_only || request.has_limit())) {
    return ValidationError("SEM-036",
                           "count_all counts a whole range: it needs Select COUNT and takes no Limit");
  }
  page->count_all = request.count_all();
  return absl::OkStatus();
}

// Segment and TotalSegments are for Scan, and are given together (SEM-033).
absl::Status CheckSegment(bool query, const wire::PageRequest& request) {
  if (!request.has_segment() && !request.has_total_segments()) return absl::OkStatus();
  if (query) return ValidationError("SEM-033", "Query takes neither Segment nor TotalSegments; use Scan");
  if (!request.has_total_segments())
    return ValidationError("SEM-033",
                           "The TotalSegments parameter is required but was not present in the request when "
                           "Segment parameter is present");
  if (!request.has_segment())
    return ValidationError(
        "SEM-033",
        "The Segment parameter is required but was not present in the request when parameter "
        "TotalSegments is present");
  if (request.total_segments() < 1 || request.total_segments() > kMaxScanSegments) {
    return ValidationError("SEM-033", "TotalSegments must be 1 to " + std::to_string(kMaxScanSegments) +
                                          "; it is " + std::to_string(request.total_segments()));
  }
  if (request.segment() < 0 || request.segment() >= request.total_segments()) {
    return ValidationError(
        "SEM-033",
        "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
        "Segment: " +
            std::to_string(request.segment()) +
            " is not less than TotalSegments: " + std::to_string(request.total_segments()));
  }
  return absl::OkStatus();
}

bool HasExpression(const wire::PageRequest& request) {
  return !request.key_condition_expression().empty() || !request.filter_expression().empty() ||
         !request.projection_expression().empty();
}

// Refuses combinations of parameters, such as expressions together with legacy parameters (SEM-026).
// KeyConditions are allowed beside a FilterExpression or ProjectionExpression.
absl::Status CheckParameters(bool query, const wire::PageRequest& request) {
  const bool has_key_conditions = !request.key_conditions().empty();
  const bool has_key_expression = !request.key_condition_expression().empty();
  const bool has_filter = !request.legacy_filter().empty();
  ITEMDB_RETURN_IF_ERROR(CheckNotMixed(
      {{"AttributesToGet", !request.attributes_to_get().empty()},
       {query ? "QueryFilter" : "ScanFilter", has_filter},
       {"ConditionalOperator", request.conditional_operator() != v1::CONDITIONAL_OPERATOR_UNSPECIFIED},
       {"KeyConditions", has_key_conditions && has_key_expression}},
      {{"ProjectionExpression", !request.projection_expression().empty()},
       {"FilterExpression", !request.filter_expression().empty()},
       {"KeyConditionExpression", has_key_expression}}));
  ITEMDB_RETURN_IF_ERROR(CheckConditionalOperator(request.conditional_operator(), has_filter));
  const bool selects_keys = has_key_conditions || has_key_expression;
  if (query && !selects_keys) {
    return ValidationError(
        "EXP-21",
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  }
  if (!query && (selects_keys || request.has_scan_index_forward()))
    return ValidationError("SEM-035", "Scan takes neither a key condition nor ScanIndexForward; use Query");
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Condition>> MakeFilter(const wire::PageRequest& request,
                                                    Placeholders& placeholders) {
  if (!request.filter_expression().empty())
    return Condition::Compile("FilterExpression", request.filter_expression(), placeholders);
  if (request.legacy_filter().empty()) return std::nullopt;
  ITEMDB_ASSIGN_OR_RETURN(ValuedTree legacy,
                          FilterTree(request.legacy_filter(), request.conditional_operator()));
  return Condition::FromLegacy(std::move(legacy));
}

absl::StatusOr<KeyCondition> MakeKeyCondition(const wire::PageRequest& request, Placeholders& placeholders) {
  if (request.key_conditions().empty())
    return KeyCondition::Compile(request.key_condition_expression(), placeholders);
  ITEMDB_ASSIGN_OR_RETURN(ValuedTree legacy, KeyConditionsTree(request.key_conditions()));
  return KeyCondition::FromTree(std::move(legacy));
}

// `error`, with the service's text for a start key that does not fit the key schema.
absl::Status InvalidStart(absl::Status error) {
  return WithServiceText(
      "The provided starting key is invalid: The provided key element does not match the schema",
      std::move(error));
}

// The error for a start key whose attributes do not make a key because of `error`.
absl::Status InvalidStartKey(const absl::Status& error) {
  absl::Status invalid =
      WithRule("SEM-032", Reworded(error, {.before = "The provided starting key is invalid: "}));
  // The service tells of empty values; of types as of other names.
  return absl::StrContains(ServiceTextOf(error), "Type mismatch") ? InvalidStart(std::move(invalid))
                                                                  : invalid;
}

// Shrinks the page's range to the keys after the request's ExclusiveStartKey (SEM-032). `prefix` is the
// encoded partition key of a Query; empty for a Scan.
absl::Status StartAfter(const wire::PageRequest& request, std::string_view prefix, PreparedPage* page) {
  page->is_first = false;
  ITEMDB_ASSIGN_OR_RETURN(std::string start, CanonicalizeItem(request.exclusive_start_key()));
  std::vector<std::string> expected = PositionAttributes(*page);
  bool matches = ItemView(start).Count() == expected.size();
  std::string listed;
  for (const std::string& name : expected) {
    matches = matches && ItemView(start).Find(name).has_value();
    listed += (listed.empty() ? "" : ", ") + name;
  }
  if (!matches) {
    return InvalidStart(ValidationError(
        "SEM-032",
        "The provided starting key is invalid: it must consist of exactly these attributes: " + listed));
  }
  auto base_key = EncodePrimaryKey(*page->table, ItemView(start));
  if (!base_key.ok()) return InvalidStartKey(base_key.status());
  std::string key = *base_key;
  if (page->index != nullptr) {
    auto entry = MakeIndexEntry(*page->index, ItemView(start), *base_key);
    if (!entry.ok()) return InvalidStartKey(entry.status());
    key = (*entry)->key;
  }
  if (std::string_view(key).substr(0, prefix.size()) != prefix) {
    return ValidationError(
        "SEM-032", "The provided starting key is outside query boundaries based on provided conditions");
  }
  bool below = key < page->range.lower;
  bool above = !page->range.upper.empty() && key >= page->range.upper;
  if (below || above) {
    if (!prefix.empty())
      return ValidationError("SEM-032", "The provided starting key does not match the range key predicate");
    return WithServiceText(
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "
        "correct Segment. TotalSegments: " +
            std::to_string(request.total_segments()) + " Segment: " + std::to_string(request.segment()),
        ValidationError("SEM-032", "The provided starting key is outside of the Segment it is given for"));
  }
  if (page->forward) {
    page->range.lower = key + '\0';  // No key is a prefix of another, so no key lies between.
  } else {
    page->range.upper = key;
  }
  return absl::OkStatus();
}

// The plan shows the range that all pages of the request read together, whatever the ExclusiveStartKey is.
void SetBounds(PreparedPage* page) {
  page->plan->set_lower_bound(page->range.lower);
  page->plan->set_upper_bound(page->range.upper);
}

// Reads the parameters of a request, except expressions, that can be checked without the table.
absl::StatusOr<PreparedPage> BeginPage(std::shared_ptr<const ReadView> view,
                                       const wire::PageRequest& request) {
  PreparedPage page;
  page.view = std::move(view);
  if (request.has_limit()) {
    if (request.limit() < 1)
      return ValidationError("SEM-029", "Limit must be at least 1; it is " + std::to_string(request.limit()));
    page.limit = request.limit();
  }
  page.forward = !request.has_scan_index_forward() || request.scan_index_forward();

  ITEMDB_RETURN_IF_ERROR(CheckReturnConsumedCapacity(request.return_consumed_capacity()));
  page.capacity = CapacityMeter(request.return_consumed_capacity());
  page.consistent_read = request.consistent_read();
  page.skip_damage = request.skip_damage();
  if (page.skip_damage && !page.forward)
    return ValidationError("skip_damage reads in key order only: scan_index_forward must be true");
  if (page.skip_damage && request.has_total_segments())
    return ValidationError("skip_damage does not read segments: leave segment and total_segments out");
  return page;
}

absl::StatusOr<PageExpressions> CompileExpressions(bool query, const wire::PageRequest& request) {
  ITEMDB_RETURN_IF_ERROR(CheckParameters(query, request));
  ITEMDB_ASSIGN_OR_RETURN(Placeholders placeholders, MakePlaceholders(request, HasExpression(request)));
  PageExpressions expressions;
  if (query) {
    ITEMDB_ASSIGN_OR_RETURN(expressions.key_condition, MakeKeyCondition(request, placeholders));
  }
  ITEMDB_ASSIGN_OR_RETURN(expressions.filter, MakeFilter(request, placeholders));
  ITEMDB_ASSIGN_OR_RETURN(expressions.projection, MakeProjection(request, placeholders));
  ITEMDB_RETURN_IF_ERROR(placeholders.CheckAllUsed());
  return expressions;
}

// Fills in the table and the index.
absl::Status FindTableAndIndex(PageOperation operation, const wire::PageRequest& request,
                               PreparedPage* page) {
  ITEMDB_ASSIGN_OR_RETURN(page->table, page->view->catalog().Find(request.table_name()));
  ITEMDB_ASSIGN_OR_RETURN(page->index, FindIndex(*page->table, request.index_name(), operation));
  return absl::OkStatus();
}

// Binds the call to its access pattern.
void FindPattern(KeyConditionShape key_condition, PreparedPage* page) {
  PatternKey key;
  key.operation = page->one_collection ? AccessOperation::kQuery : AccessOperation::kScan;
  key.descending = !page->forward;
  key.key_condition = key_condition.code();
  if (page->index != nullptr) key.index_storage_id = page->index->storage_id;
  if (page->filter.has_value()) key.filter = page->filter->ShapeHash();
  page->call.Bind(*page->table->patterns, key, [&] {
    AccessTexts texts;
    if (page->index != nullptr) texts.index_name = page->index->name;
    if (page->one_collection)
      texts.key_condition = KeyConditionText(page->partition(), page->sort(), key_condition);
    if (page->filter.has_value()) texts.filter = page->filter->Shape();
    return texts;
  });
}

// Fills in the rest. `keyless_filter`: the filter of a Query may not name key attributes.
absl::StatusOr<PreparedPage> FinishPage(PreparedPage page, const wire::PageRequest& request,
                                        PageExpressions expressions, bool keyless_filter) {
  page.filter = std::move(expressions.filter);
  page.projection = std::move(expressions.projection);
  ITEMDB_RETURN_IF_ERROR(CheckSelect(request, &page));

  std::string prefix;
  std::string key_range;
  KeyConditionShape key_condition;
  if (expressions.key_condition.has_value()) {
    ITEMDB_ASSIGN_OR_RETURN(
        KeyConditionRange selected,
        expressions.key_condition->Select(page.partition(), page.sort(), request.explain()));
    page.range = std::move(selected.range);
    key_range = std::move(selected.text);
    prefix = std::move(selected.prefix);
    key_condition = selected.shape;
    page.one_collection = true;
    if (keyless_filter && page.filter.has_value())
      ITEMDB_RETURN_IF_ERROR(CheckFilterNamesNoKey(page, request));
  }
  ITEMDB_RETURN_IF_ERROR(CheckProjected(&page));
  if (request.explain()) {
    page.plan.emplace();
    page.plan->set_index_name(request.index_name());
    page.plan->set_key_range(std::move(key_range));
    page.plan->set_forward(page.forward);
    SetBounds(&page);
  }
  if (request.has_exclusive_start_key()) {
    if (page.one_collection && page.index == nullptr && page.table->sort.empty()) {
      return WithServiceText(
          "The query can return at most one row and cannot be restarted",
          ValidationError("SEM-032",
                          "ExclusiveStartKey is not allowed in a Query on a table without a sort key: one "
                          "partition key value has at most one item, so there is no second page"));
    }
    ITEMDB_RETURN_IF_ERROR(StartAfter(request, prefix, &page));
  }
  if (page.projection.has_value())
    ITEMDB_RETURN_IF_ERROR(CheckNoPathIntoKeys(*page.table, page.projection->NestedAttributes()));
  if (page.filter.has_value())
    ITEMDB_RETURN_IF_ERROR(CheckNoPathIntoKeys(*page.table, page.filter->NestedAttributes()));
  FindPattern(key_condition, &page);
  return page;
}

}  // namespace

std::string PreparedPage::Owner() const {
  return index != nullptr ? "index " + index->name + " of table " + table->name : "table " + table->name;
}

absl::StatusOr<const Index*> FindIndex(const Table& table, const std::string& index_name,
                                       PageOperation operation) {
  if (index_name.empty()) return nullptr;
  const Index* index = table.FindIndex(index_name);
  if (index != nullptr && index->vector.has_value()) {
    return ValidationError("VEC-22", operation == PageOperation::kQuery
                                         ? "Query operation not supported on this index type."
                                         : "Scan operation not supported on this index type");
  }
  if (index != nullptr && index->state != IndexState::kActive) {
    return ValidationError("SEM-097", "Cannot read from backfilling global secondary index: " + index_name);
  }
  if (index != nullptr) return index;
  return DetailedError("SEM-039", "The table does not have the specified index: " + index_name,
                       " (table " + table.name + ")");
}

absl::StatusOr<PreparedPage> PreparePage(PageOperation operation, std::shared_ptr<const ReadView> view,
                                         const wire::PageRequest& request,
                                         ConsistentIndexReads consistent_index_reads) {
  ITEMDB_ASSIGN_OR_RETURN(PreparedPage page, BeginPage(std::move(view), request));
  // All checks that do not need the table come before the lookup of the table (SEM-115, EXP-22).
  const bool query = operation == PageOperation::kQuery;
  ITEMDB_RETURN_IF_ERROR(CheckSegment(query, request));
  ITEMDB_ASSIGN_OR_RETURN(PageExpressions expressions, CompileExpressions(query, request));
  ITEMDB_RETURN_IF_ERROR(FindTableAndIndex(operation, request, &page));
  const bool global_index = page.index != nullptr && !page.index->local;
  if (consistent_index_reads == ConsistentIndexReads::kRefused && global_index && page.consistent_read)
    return ValidationError("SEM-038", "Consistent reads are not supported on global secondary indexes");
  return FinishPage(std::move(page), request, std::move(expressions), /*keyless_filter=*/true);
}

absl::StatusOr<PreparedPage> PreparePage(std::shared_ptr<const ReadView> view,
                                         const wire::PageRequest& request, PageExpressions expressions) {
  ITEMDB_ASSIGN_OR_RETURN(PreparedPage page, BeginPage(std::move(view), request));
  ITEMDB_RETURN_IF_ERROR(FindTableAndIndex(PageOperation::kScan, request, &page));
  return FinishPage(std::move(page), request, std::move(expressions), /*keyless_filter=*/false);
}

absl::Status RestrictToSegment(KeyRange segment, const wire::PageRequest& request, PreparedPage* page) {
  page->range = segment;
  if (page->plan.has_value()) SetBounds(page);
  if (!request.has_exclusive_start_key()) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(StartAfter(request, "", page));
  return absl::OkStatus();
}

std::string EncodeLastEvaluatedKey(const PreparedPage& page, ItemView item) {
  std::string key;
  for (const std::string& name : PositionAttributes(page)) {
    AppendAttribute(name, item.Find(name)->encoded(), &key);
  }
  return key;
}

}  // namespace itemdb::storage
