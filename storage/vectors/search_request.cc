#include "storage/vectors/search_request.h"

#include <algorithm>

#include "storage/base/limits.h"
#include "storage/catalog/capacity.h"
#include "storage/catalog/key_paths.h"
#include "storage/expressions/from_request.h"
#include "storage/keys/key_codec.h"
#include "storage/values/canonical.h"
#include "storage/values/float_vector.h"

namespace itemdb::storage {
namespace {

absl::Status CheckTopK(const wire::SearchVectorsRequest& request) {
  if (request.top_k() >= 1 && request.top_k() <= kMaxTopK) return absl::OkStatus();
  return ValidationError("VEC-17", "Provided TopK value '" + std::to_string(request.top_k()) +
                                       "' is out of valid range. The value must be between 1 and " +
                                       std::to_string(kMaxTopK) + " inclusive");
}

absl::StatusOr<std::vector<float>> ReadQuery(const wire::SearchVectorsRequest& request) {
  std::vector<float> query;
  for (const std::string& element : request.search_vector()) {
    std::optional<float> number;
    const absl::StatusOr<std::string> value = CanonicalizeValue(element);
    if (value.ok() && ValueView(*value).type() == ValueType::kN)
      number = ToFloat(ValueView(*value).payload());
    if (!number.has_value()) {
      return ValidationError(
          "VEC-17",
          "Search vector contains invalid values. All values in the search vector must be a "
          "32-bit floating-point number attribute");
    }
    query.push_back(*number);
  }
  return query;
}

absl::Status NoIndexError(const std::string& name) {
  return ValidationError("VEC-09", "The table does not have the specified index: " + name);
}

absl::StatusOr<const Index*> FindVectorIndex(const Table& table, const std::string& name) {
  const Index* index = table.FindIndex(name);
  if (index == nullptr) return NoIndexError(name);
  if (!index->vector.has_value()) {
    return ValidationError("VEC-22", "SearchVectors operation not supported on this index type: " + name);
  }
  if (index->state != IndexState::kActive)
    return ValidationError("VEC-09", "Cannot search backfilling vector index: " + name);
  return index;
}

absl::Status CheckType(const KeyAttribute& attribute, ValueView value) {
  if (value.type() == attribute.type) return absl::OkStatus();
  return ValidationError(
      "VEC-20", "Type of '" + attribute.name + "' attribute in SearchConditionExpression (" +
                    std::string(ValueTypeName(value.type())) + ") does not match type in search schema (" +
                    std::string(ValueTypeName(attribute.type)) + ")");
}

// Assigns the clauses of the condition to the attributes of the search schema (VEC-20).
absl::Status ApplyCondition(PreparedSearch* search) {
  const Index& index = *search->index;
  if (!search->condition.has_value()) {
    if (index.partition.empty()) return absl::OkStatus();
    return ValidationError("VEC-20",
                           "SearchConditionExpression must be provided when SearchSchema has a HASH key");
  }
  for (const SearchClause& clause : search->condition->clauses()) {
    const auto is_named = [&clause](const KeyAttribute& attribute) {
      return attribute.name == clause.attribute;
    };
    if (!index.partition.empty() && is_named(index.partition[0])) {
      ITEMDB_RETURN_IF_ERROR(CheckType(index.partition[0], clause.value));
      AppendKeyValue(clause.value, &search->partition);
      continue;
    }
    const auto& filters = index.vector->filters;
    const auto filter = std::find_if(filters.begin(), filters.end(), is_named);
    if (filter == filters.end()) {
      return ValidationError("VEC-20",
                             "SearchConditionExpression must not contain any attributes that is not in "
                             "SearchSchema. Invalid attribute: " +
                                 std::string(clause.attribute));
    }
    ITEMDB_RETURN_IF_ERROR(CheckType(*filter, clause.value));
    search->filters.push_back({static_cast<size_t>(filter - filters.begin()), clause.value});
  }
  if (index.partition.empty() || !search->partition.empty()) return absl::OkStatus();
  return ValidationError(
      "VEC-20", "SearchConditionExpression must have all HASH attributes in configured SearchSchema");
}

absl::Status CompileExpressions(const wire::SearchVectorsRequest& request, PreparedSearch* search) {
  const bool has_condition = request.has_search_condition_expression();
  const bool has_projection = !request.projection_expression().empty();
  ITEMDB_ASSIGN_OR_RETURN(Placeholders placeholders,
                          MakePlaceholders(request, has_condition || has_projection));
  if (has_condition) {
    ITEMDB_ASSIGN_OR_RETURN(search->condition,
                            SearchCondition::Compile(request.search_condition_expression(), placeholders));
  }
  if (has_projection) {
    ITEMDB_ASSIGN_OR_RETURN(search->projection,
                            Projection::Compile(request.projection_expression(), placeholders));
  }
  return placeholders.CheckAllUsed();
}

}  // namespace

absl::StatusOr<PreparedSearch> PrepareSearch(std::shared_ptr<const ReadView> view,
                                             const wire::SearchVectorsRequest& request) {
  PreparedSearch search;
  search.view = std::move(view);
  ITEMDB_RETURN_IF_ERROR(CheckReturnConsumedCapacity(request.return_consumed_capacity()));
  search.wants_capacity = CapacityMeter(request.return_consumed_capacity()).wanted();
  ITEMDB_RETURN_IF_ERROR(CheckTopK(request));
  search.top_k = static_cast<size_t>(request.top_k());
  ITEMDB_ASSIGN_OR_RETURN(search.query, ReadQuery(request));
  ITEMDB_RETURN_IF_ERROR(CompileExpressions(request, &search));
  ITEMDB_ASSIGN_OR_RETURN(search.table, search.view->catalog().Find(request.table_name()));
  ITEMDB_ASSIGN_OR_RETURN(search.index, FindVectorIndex(*search.table, request.index_name()));
  if (search.projection.has_value())
    ITEMDB_RETURN_IF_ERROR(CheckNoPathIntoKeys(*search.table, search.projection->NestedAttributes()));
  const size_t dimensions = search.index->vector->dimensions;
  if (search.query.size() != dimensions) {
    return ValidationError("VEC-17", "Input search vector dimension " + std::to_string(search.query.size()) +
                                         " does not match vector index dimension " +
                                         std::to_string(dimensions));
  }
  ITEMDB_RETURN_IF_ERROR(ApplyCondition(&search));
  PatternKey pattern;
  pattern.operation = AccessOperation::kSearchVectors;
  pattern.index_storage_id = search.index->storage_id;
  search.patterns = search.table->patterns;
  search.call.Bind(*search.patterns, pattern, [&] {
    return AccessTexts{.index_name = search.index->name, .key_condition = {}, .filter = {}};
  });
  return search;
}

bool FitsFilters(const PreparedSearch& search, ItemView entry) {
  return std::all_of(search.filters.begin(), search.filters.end(), [&](const PreparedSearch::Filter& filter) {
    const std::optional<ValueView> value = entry.Find(search.index->vector->filters[filter.number].name);
    return value.has_value() && value->encoded() == filter.value.encoded();
  });
}

absl::Status MoveToView(std::shared_ptr<const ReadView> view, PreparedSearch* search) {
  std::shared_ptr<const Table> table = view->catalog().FindByName(search->table->name);
  const Index* index = table == nullptr ? nullptr : table->FindIndexByStorageId(search->index->storage_id);
  if (index == nullptr || index->state != IndexState::kActive) return NoIndexError(search->index->name);
  search->view = std::move(view);
  search->table = std::move(table);
  search->index = index;
  return absl::OkStatus();
}

}  // namespace itemdb::storage
