#include "storage/expressions/parser.h"

#include <algorithm>

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/expressions/grammar.h"
#include "storage/expressions/parse_cache.h"

namespace itemdb::storage {
namespace {

// One cache for the process. Trees depend only on texts, so sharing the cache between databases has no
// visible effect, and Compile functions need no extra argument.
ParseCache& Cache() {
  static ParseCache* cache = new ParseCache;
  return *cache;
}

absl::Status ParseInto(ExpressionKind kind, std::string_view expression_name, Tree* tree) {
  switch (kind) {
    case ExpressionKind::kCondition:
      return ParseConditionInto(expression_name, tree);
    case ExpressionKind::kUpdate:
      return ParseUpdateInto(expression_name, tree);
    case ExpressionKind::kProjection:
      return ParseProjectionInto(expression_name, tree);
  }
  return absl::OkStatus();
}

absl::Status CheckLength(std::string_view expression_name, std::string_view text) {
  if (text.find_first_not_of(" \t\n\r\f\v") == std::string_view::npos) {
    return ExpressionError("SEM-019", expression_name, "The expression can not be empty;");
  }
  if (text.size() > kMaxExpressionBytes) {
    // The service tells the size in filters alone.
    const std::string size = Concat({" expression size: ", std::to_string(text.size())});
    const std::string maximum = Concat({", maximum: ", std::to_string(kMaxExpressionBytes)});
    const std::string_view message = "Expression size has exceeded the maximum allowed size;";
    if (expression_name == "FilterExpression")
      return ExpressionError("SEM-019", expression_name, Concat({message, size}), maximum);
    return ExpressionError("SEM-019", expression_name, message, Concat({size, maximum}));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Tree>> ParseExpression(ExpressionKind kind,
                                                            std::string_view expression_name,
                                                            std::string_view text) {
  if (std::shared_ptr<const Tree> known = Cache().Find(kind, text)) return known;
  ITEMDB_RETURN_IF_ERROR(CheckLength(expression_name, text));
  auto tree = std::make_shared<Tree>(text);
  ITEMDB_RETURN_IF_ERROR(ParseInto(kind, expression_name, tree.get()));
  Cache().Insert(kind, tree);
  return std::shared_ptr<const Tree>(std::move(tree));
}

absl::Status ExpressionError(std::string_view rule, std::string_view expression_name,
                             std::string_view message, std::string_view addition) {
  const std::string text = Concat({"Invalid ", expression_name, ": ", message});
  // Of the clauses of a PartiQL statement the service names none.
  if (!expression_name.ends_with("Expression"))
    return WithServiceText(std::string(message), ValidationError(rule, Concat({text, addition})));
  return addition.empty() ? ValidationError(rule, text) : DetailedError(rule, text, addition);
}

}  // namespace itemdb::storage
