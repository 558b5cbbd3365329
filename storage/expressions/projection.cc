#include "storage/expressions/projection.h"

#include <algorithm>

#include "storage/expressions/binding.h"
#include "storage/expressions/parser.h"
#include "storage/expressions/path.h"
#include "storage/values/canonical.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kProjectionName = "ProjectionExpression";

}  // namespace

struct Projection::Rep {
  struct Column {
    std::string name;
    Path path;
  };

  Binding binding;
  // Empty: the paths keep their maps and lists. Otherwise the columns by name.
  std::vector<Column> columns;
  PathTree paths;
  std::vector<std::string> top_level;
  std::vector<std::string> nested;
};

absl::StatusOr<Projection> Projection::Compile(std::string_view text, Placeholders& placeholders) {
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const Tree> tree,
                          ParseExpression(ExpressionKind::kProjection, kProjectionName, text));
  auto rep = std::make_shared<Rep>();
  ITEMDB_RETURN_IF_ERROR(rep->binding.Bind(kProjectionName, std::move(tree), placeholders));
  return FromRep(kProjectionName, std::move(rep));
}

absl::StatusOr<Projection> Projection::FromTree(std::string_view expression_name, ValuedTree tree) {
  auto rep = std::make_shared<Rep>();
  rep->binding.Bind(std::move(tree.tree), std::move(tree.values));
  return FromRep(expression_name, std::move(rep));
}

absl::StatusOr<Projection> Projection::FromRep(std::string_view expression_name, std::shared_ptr<Rep> rep) {
  size_t count = rep->binding.tree().paths.size();
  for (size_t i = 0; i < count; ++i) {
    ITEMDB_RETURN_IF_ERROR(rep->paths.Insert(expression_name, rep->binding.path(i), static_cast<int>(i)));
  }
  rep->top_level = rep->paths.TopLevelAttributes();
  rep->nested = rep->binding.NestedAttributes();
  Projection projection;
  projection.rep_ = std::move(rep);
  return projection;
}

absl::StatusOr<Projection> Projection::Columns(std::string_view expression_name, ValuedTree tree) {
  auto rep = std::make_shared<Rep>();
  rep->binding.Bind(std::move(tree.tree), std::move(tree.values));
  for (uint32_t i = 0; i < rep->binding.tree().paths.size(); ++i) {
    const Path path = rep->binding.path(i);
    std::string name;
    for (const PathStep& step : path)
      step.is_index() ? name += "[" + std::to_string(step.index) + "]" : name = std::string(step.name);
    rep->columns.push_back({std::move(name), path});
  }
  std::sort(rep->columns.begin(), rep->columns.end(),
            [](const Rep::Column& a, const Rep::Column& b) { return a.name < b.name; });
  const auto same =
      std::adjacent_find(rep->columns.begin(), rep->columns.end(),
                         [](const Rep::Column& a, const Rep::Column& b) { return a.name == b.name; });
  if (same != rep->columns.end())
    return ValidationError("PQL-01", "Duplicate identifiers in select clause: " + same->name);
  return FromRep(expression_name, std::move(rep));
}

void Projection::Apply(ItemView item, std::string* out) const {
  if (rep_->columns.empty()) return ProjectItem(rep_->paths, item, out);
  for (const Rep::Column& column : rep_->columns) {
    std::optional<ValueView> value = FindPath(item, column.path);
    if (value.has_value()) AppendAttribute(column.name, value->encoded(), out);
  }
}

const std::vector<std::string>& Projection::TopLevelAttributes() const { return rep_->top_level; }
const std::vector<std::string>& Projection::NestedAttributes() const { return rep_->nested; }

}  // namespace itemdb::storage
