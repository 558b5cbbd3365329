#include "storage/expressions/projection.h"

#include "storage/expressions/binding.h"
#include "storage/expressions/parser.h"
#include "storage/expressions/path.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kProjectionName = "ProjectionExpression";

}  // namespace

struct Projection::Rep {
  Binding binding;
  PathTree paths;
  std::vector<std::string> top_level;
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
  Projection projection;
  projection.rep_ = std::move(rep);
  return projection;
}

void Projection::Apply(ItemView item, std::string* out) const { ProjectItem(rep_->paths, item, out); }

const std::vector<std::string>& Projection::TopLevelAttributes() const { return rep_->top_level; }

}  // namespace itemdb::storage
