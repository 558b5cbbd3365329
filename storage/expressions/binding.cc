#include "storage/expressions/binding.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "storage/expressions/compare.h"
#include "storage/expressions/grammar.h"
#include "storage/expressions/parser.h"

namespace itemdb::storage {
namespace {

// Largest number of bytes of a value that a message shows.
constexpr size_t kMaxDescribedBytes = 64;

// Returns the longest prefix of at most `limit` bytes that does not end inside a UTF-8 sequence.
std::string_view CutUtf8(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return text.substr(0, limit);
}

// The rule about the operand types of an operator or function.
std::string_view RuleOfOperation(std::string_view operation) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {{"attribute_type", "EXP-15"},
                                                                      {"begins_with", "EXP-16"},
                                                                      {"contains", "EXP-17"},
                                                                      {"size", "EXP-18"},
                                                                      {"BETWEEN", "EXP-19"},
                                                                      {"+", "EXP-30"},
                                                                      {"-", "EXP-30"},
                                                                      {"list_append", "EXP-10"}};
  for (const auto& [name, rule] : kRules) {
    if (name == operation) return rule;
  }
  return "EXP-13";
}

}  // namespace

absl::Status Binding::Bind(std::string_view expression_name, std::shared_ptr<const Tree> tree,
                           Placeholders& placeholders) {
  tree_ = std::move(tree);
  names_.reserve(tree_->aliases.size());
  for (std::string_view token : tree_->aliases) {
    const std::string* name = placeholders.UseName(token);
    if (name == nullptr) {
      return ExpressionError("SEM-024", expression_name,
                             Concat({"An expression attribute name used in the document path is not defined; "
                                     "attribute name: ",
                                     token}));
    }
    names_.push_back(*name);
  }
  values_.reserve(tree_->values.size());
  for (std::string_view token : tree_->values) {
    const std::string* value = placeholders.UseValue(token);
    if (value == nullptr) {
      return ExpressionError(
          "SEM-024", expression_name,
          Concat({"An expression attribute value used in expression is not defined; attribute "
                  "value: ",
                  token}));
    }
    values_.push_back(*value);
  }
  ResolveSteps();
  return absl::OkStatus();
}

void Binding::Bind(std::shared_ptr<const Tree> tree, std::vector<std::string> values) {
  tree_ = std::move(tree);
  values_ = std::move(values);
  ResolveSteps();
}

void Binding::ResolveSteps() {
  steps_.reserve(tree_->segments.size());
  for (const SegmentSyntax& segment : tree_->segments) {
    PathStep step;
    switch (segment.kind) {
      case SegmentSyntax::Kind::kName:
        step.name = segment.name;
        break;
      case SegmentSyntax::Kind::kAlias:
        step.name = names_[segment.number];
        break;
      case SegmentSyntax::Kind::kIndex:
        step.index = segment.number;
        break;
    }
    steps_.push_back(step);
  }
}

std::vector<std::string> Binding::TopLevelAttributes() const { return FirstNames(1); }
std::vector<std::string> Binding::NestedAttributes() const { return FirstNames(2); }

std::vector<std::string> Binding::FirstNames(uint32_t steps) const {
  std::vector<std::string> names;
  // Most requests have no longer paths, and need no memory for them.
  if (steps == 1) names.reserve(tree_->paths.size());
  for (const PathSyntax& path : tree_->paths) {
    if (path.count >= steps) names.emplace_back(steps_[path.first].name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

absl::Status OperandTypeError(std::string_view expression_name, std::string_view operation, ValueType type) {
  return OperandTypeError(expression_name, operation, ValueTypeName(type));
}

absl::Status OperandTypeError(std::string_view expression_name, std::string_view operation,
                              std::string_view types) {
  return ExpressionError(RuleOfOperation(operation), expression_name,
                         Concat({"Incorrect operand type for operator or function; operator or function: ",
                                 operation, ", operand type: ", types}));
}

absl::Status CheckBetweenBounds(std::string_view expression_name, ValueView lower, ValueView upper) {
  std::string_view demand;
  if (lower.type() != upper.type()) {
    demand = "requires same data type for lower and upper bounds";
  } else if (CompareScalars(lower, upper) > 0) {
    demand = "requires upper bound to be greater than or equal to lower bound";
  } else {
    return absl::OkStatus();
  }
  return ExpressionError("EXP-19", expression_name,
                         Concat({"The BETWEEN operator ", demand,
                                 "; lower bound operand: AttributeValue: ", DescribeValue(lower),
                                 ", upper bound operand: AttributeValue: ", DescribeValue(upper)}));
}

std::string_view CutForMessage(std::string_view text) { return CutUtf8(text, kMaxDescribedBytes); }

std::string DescribeValue(ValueView value) {
  std::string text;
  switch (value.type()) {
    case ValueType::kS:
    case ValueType::kN:
      text = CutForMessage(value.payload());
      break;
    case ValueType::kB: {
      std::string_view bytes = value.payload().substr(0, kMaxDescribedBytes);
      text = absl::Base64Escape(absl::string_view(bytes.data(), bytes.size()));
      break;
    }
    default:
      break;
  }
  bool whole = IsScalar(value.type()) && value.payload().size() <= kMaxDescribedBytes;
  return Concat({"{", ValueTypeName(value.type()), ":", text, whole ? "" : "...", "}"});
}

}  // namespace itemdb::storage
