#include "storage/expressions/key_condition.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/expressions/binding.h"
#include "storage/expressions/compare.h"
#include "storage/expressions/grammar.h"
#include "storage/expressions/parser.h"
#include "storage/keys/key_codec.h"
#include "storage/values/item_size.h"

namespace itemdb::storage {

// The condition on one key attribute: `<attribute> <kind> <operand>`, for BETWEEN two operands. Borrows from
// the binding.
struct KeyClause {
  std::string_view attribute;
  ConditionKind kind = ConditionKind::kEqual;
  ValueView operand;
  ValueView upper;
};

namespace {

constexpr std::string_view kKeyConditionName = "KeyConditionExpression";

// Returns the operator for exchanged operands: `:v < a` is `a > :v`.
ConditionKind Reversed(ConditionKind kind) {
  switch (kind) {
    case ConditionKind::kLess:
      return ConditionKind::kGreater;
    case ConditionKind::kLessEqual:
      return ConditionKind::kGreaterEqual;
    case ConditionKind::kGreater:
      return ConditionKind::kLess;
    case ConditionKind::kGreaterEqual:
      return ConditionKind::kLessEqual;
    default:
      return kind;
  }
}

bool IsComparison(ConditionKind kind) { return kind == ConditionKind::kEqual || Reversed(kind) != kind; }

std::string Names(const std::vector<KeyAttribute>& attributes) {
  std::string names;
  for (const KeyAttribute& attribute : attributes) {
    if (!names.empty()) names += ", ";
    names += attribute.name;
  }
  return names;
}

absl::Status Error(std::string_view rule, std::initializer_list<std::string_view> message) {
  return ValidationError(rule, Concat(message));
}

// Reads the clauses of a condition and makes all checks that need no key schema.
class ClauseReader {
 public:
  explicit ClauseReader(const Binding& binding) : binding_(binding) {}

  absl::StatusOr<std::vector<KeyClause>> Read() {
    ITEMDB_RETURN_IF_ERROR(Collect(binding_.tree().root));
    return std::move(clauses_);
  }

 private:
  // Adds the clauses in written order. Recursion is bounded by the parser's nesting.
  absl::Status Collect(uint32_t position) {
    const ConditionSyntax& condition = binding_.tree().conditions[position];
    if (condition.kind != ConditionKind::kAnd) return AddClause(condition);
    for (uint32_t i = 0; i < condition.count; ++i) {
      ITEMDB_RETURN_IF_ERROR(Collect(binding_.tree().links[condition.first + i]));
    }
    return absl::OkStatus();
  }

  absl::Status AddClause(const ConditionSyntax& condition) {
    KeyClause clause;
    clause.kind = condition.kind;
    if (!IsComparison(condition.kind) && condition.kind != ConditionKind::kBetween &&
        condition.kind != ConditionKind::kBeginsWith) {
      return Error("EXP-08",
                   {"Invalid operator used in KeyConditionExpression: ", ConditionName(condition.kind)});
    }
    const OperandSyntax* attribute = &Operand(condition, 0);
    const OperandSyntax* value = &Operand(condition, 1);
    if (IsComparison(condition.kind) && attribute->kind != OperandKind::kPath) {
      std::swap(attribute, value);
      clause.kind = Reversed(clause.kind);
    }
    ITEMDB_RETURN_IF_ERROR(CheckOperands(*attribute, *value));
    Path path = binding_.path(attribute->first);
    if (path.size() > 1)
      return Error("EXP-08", {"KeyConditionExpressions cannot have conditions on nested attributes"});
    clause.attribute = path[0].name;
    clause.operand = binding_.value(value->first);
    if (clause.kind == ConditionKind::kBetween) {
      const OperandSyntax& upper = Operand(condition, 2);
      ITEMDB_RETURN_IF_ERROR(CheckOperands(*attribute, upper));
      clause.upper = binding_.value(upper.first);
    }
    ITEMDB_RETURN_IF_ERROR(CheckTypes(clause));
    clauses_.push_back(clause);
    return absl::OkStatus();
  }

  absl::Status CheckOperands(const OperandSyntax& attribute, const OperandSyntax& value) const {
    for (const OperandSyntax* operand : {&attribute, &value}) {
      if (operand->kind == OperandKind::kSize) {
        return Error("EXP-08", {"KeyConditionExpressions cannot contain nested operations"});
      }
    }
    if (attribute.kind != OperandKind::kPath) {
      return Error("EXP-08", {"Invalid condition in KeyConditionExpression: No key attribute specified"});
    }
    if (value.kind != OperandKind::kValue) {
      return Error(
          "EXP-08",
          {"Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"});
    }
    return absl::OkStatus();
  }

  // Checks the types of the values: operators that need an order need N, S or B; a prefix is S or B.
  static absl::Status CheckTypes(const KeyClause& clause) {
    ValueType type = clause.operand.type();
    bool fits = clause.kind == ConditionKind::kEqual || IsScalar(type);
    if (clause.kind == ConditionKind::kBeginsWith) fits = type == ValueType::kS || type == ValueType::kB;
    if (!fits) return OperandTypeError(kKeyConditionName, ConditionName(clause.kind), type);
    if (clause.kind != ConditionKind::kBetween) return absl::OkStatus();
    if (!IsScalar(clause.upper.type()))
      return OperandTypeError(kKeyConditionName, ConditionName(clause.kind), clause.upper.type());
    return CheckBetweenBounds(kKeyConditionName, clause.operand, clause.upper);
  }

  const OperandSyntax& Operand(const ConditionSyntax& condition, uint32_t i) const {
    return binding_.operand(binding_.tree().links[condition.first + i]);
  }

  const Binding& binding_;
  std::vector<KeyClause> clauses_;
};

// Builds the key range that the clauses select under a key schema.
class RangeBuilder {
 public:
  RangeBuilder(const std::vector<KeyAttribute>& partition, const std::vector<KeyAttribute>& sort)
      : partition_(partition),
        sort_(sort),
        partition_clauses_(partition.size()),
        sort_clauses_(sort.size()) {}

  absl::StatusOr<KeyConditionRange> Build(const std::vector<KeyClause>& clauses, bool describe) {
    for (const KeyClause& clause : clauses) ITEMDB_RETURN_IF_ERROR(Assign(clauses, clause));
    ITEMDB_RETURN_IF_ERROR(CheckPartition());
    ITEMDB_RETURN_IF_ERROR(CheckSort());
    ITEMDB_RETURN_IF_ERROR(CheckSizes());
    KeyConditionRange result = BuildRange();
    if (describe) result.text = Describe();
    return result;
  }

 private:
  // The error for a clause that the key schema does not allow.
  static absl::Status NotSupported(std::initializer_list<std::string_view> addition) {
    return DetailedError("EXP-21", "Query key condition not supported", Concat(addition));
  }

  // The service names the first key attribute without a condition, if the other conditions are on attributes
  // that are no keys. Empty: there is none, or it need not have a condition.
  std::string_view Missed(const std::vector<KeyClause>& clauses) const {
    for (const auto* attributes : {&partition_, &sort_}) {
      for (const KeyAttribute& attribute : *attributes) {
        if (std::none_of(clauses.begin(), clauses.end(),
                         [&](const KeyClause& clause) { return clause.attribute == attribute.name; }))
          return attribute.name;
      }
    }
    return {};
  }

  absl::Status Assign(const std::vector<KeyClause>& clauses, const KeyClause& clause) {
    bool in_partition = true;
    const KeyAttribute* attribute = nullptr;
    std::optional<KeyClause>* place = Find(partition_, &partition_clauses_, clause.attribute, &attribute);
    if (place == nullptr) {
      in_partition = false;
      place = Find(sort_, &sort_clauses_, clause.attribute, &attribute);
    }
    if (place == nullptr) {
      // The service looks for the key attributes first, and names one that has no condition.
      absl::Status error = NotSupported({": attribute ", clause.attribute, " is not in the key schema (",
                                         Names(partition_), sort_.empty() ? "" : ", ", Names(sort_), ")"});
      const std::string_view missed = Missed(clauses);
      if (missed.empty()) return error;
      return WithServiceText(Concat({"Query condition missed key schema element: ", missed}),
                             std::move(error));
    }
    if (place->has_value())
      return Error("EXP-21", {"KeyConditionExpressions must only contain one condition per key"});
    if (in_partition && clause.kind != ConditionKind::kEqual) {
      if (partition_.size() > 1) return NoEquality();
      return NotSupported({": partition key attribute ", attribute->name, " allows only ="});
    }
    ITEMDB_RETURN_IF_ERROR(CheckClause(*attribute, clause));
    *place = clause;
    return absl::OkStatus();
  }

  static std::optional<KeyClause>* Find(const std::vector<KeyAttribute>& attributes,
                                        std::vector<std::optional<KeyClause>>* clauses, std::string_view name,
                                        const KeyAttribute** attribute) {
    for (size_t i = 0; i < attributes.size(); ++i) {
      if (attributes[i].name != name) continue;
      *attribute = &attributes[i];
      return &(*clauses)[i];
    }
    return nullptr;
  }

  absl::Status CheckClause(const KeyAttribute& attribute, const KeyClause& clause) const {
    if (clause.operand.type() != attribute.type) {
      return DetailedError(
          "EXP-21",
          "One or more parameter values were invalid: Condition parameter type does not match schema type",
          Concat({"; key: ", attribute.name, ", expected: ", ValueTypeName(attribute.type),
                  ", actual: ", ValueTypeName(clause.operand.type())}));
    }
    for (ValueView value : {clause.operand, clause.upper}) {
      if (value.encoded().empty() || !value.payload().empty()) continue;
      return Error(
          "SEM-007",
          {"One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
           "contain an empty ",
           attribute.type == ValueType::kB ? "binary" : "string", " value. Key: ", attribute.name});
    }
    return absl::OkStatus();
  }

  // Equality on every partition attribute (SEM-080).
  absl::Status CheckPartition() const {
    for (size_t i = 0; i < partition_.size(); ++i) {
      if (partition_clauses_[i].has_value()) continue;
      if (partition_.size() == 1)
        return Error("EXP-21", {"Query condition missed key schema element: ", partition_[0].name});
      return NoEquality();
    }
    return absl::OkStatus();
  }
  absl::Status NoEquality() const {
    return Error("SEM-080", {"HASH key attributes ", Names(partition_),
                             " must have equality conditions specified in the query"});
  }

  // Sort attributes left to right without a gap, all but the last by equality (SEM-081).
  absl::Status CheckSort() const {
    size_t last = sort_.size();
    while (last > 0 && !sort_clauses_[last - 1].has_value()) --last;
    for (size_t i = 0; i + 1 < last; ++i) {
      if (sort_clauses_[i].has_value() && sort_clauses_[i]->kind == ConditionKind::kEqual) continue;
      return Error("SEM-081", {"RANGE key attributes ", sort_[i].name,
                               " must have equality conditions specified in the query because "
                               "a condition is present on key attribute ",
                               sort_[last - 1].name});
    }
    return absl::OkStatus();
  }

  // Partition attributes together have at most 2,048 bytes, sort attributes at most 1,024 (SEM-006, SEM-084).
  absl::Status CheckSizes() const {
    size_t partition_bytes = 0;
    for (const std::optional<KeyClause>& clause : partition_clauses_)
      partition_bytes += ValueSizeBytes(clause->operand);
    if (partition_bytes > kMaxPartitionKeyBytes) {
      return Error(
          "SEM-006",
          {"One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit "
           "of",
           std::to_string(kMaxPartitionKeyBytes), " bytes"});
    }
    size_t sort_bytes = 0;
    for (const std::optional<KeyClause>& clause : sort_clauses_) {
      if (!clause) continue;
      size_t bytes = ValueSizeBytes(clause->operand);
      if (clause->kind == ConditionKind::kBetween) bytes = std::max(bytes, ValueSizeBytes(clause->upper));
      sort_bytes += bytes;
    }
    if (sort_bytes > kMaxSortKeyBytes) {
      return Error(
          "SEM-006",
          {"One or more parameter values were invalid: Aggregated size of all range keys has exceeded the "
           "size limit of ",
           std::to_string(kMaxSortKeyBytes), " bytes"});
    }
    return absl::OkStatus();
  }

  KeyConditionRange BuildRange() const {
    KeyConditionRange result;
    for (const std::optional<KeyClause>& clause : partition_clauses_)
      AppendKeyValue(clause->operand, &result.prefix);
    // All keys of the range begin with `base`: the partition key and the sort attributes given by equality.
    std::string base = result.prefix;
    const KeyClause* range = nullptr;
    for (const std::optional<KeyClause>& clause : sort_clauses_) {
      if (!clause) break;
      ++result.shape.sort_attributes;
      result.shape.last = clause->kind;
      if (clause->kind != ConditionKind::kEqual) {
        range = &*clause;
        break;
      }
      AppendKeyValue(clause->operand, &base);
    }
    result.range = range == nullptr ? KeyRange{base, PrefixSuccessor(base)} : RangeWithin(base, *range);
    return result;
  }

  // Every encoded value has an end mark, and more attributes may follow it. So the range "up to and including
  // v" ends before the successor of v as a prefix.
  static KeyRange RangeWithin(const std::string& base, const KeyClause& clause) {
    std::string bound = base;
    KeyRange range{base, PrefixSuccessor(base)};
    if (clause.kind == ConditionKind::kBeginsWith) {
      AppendKeyPrefix(clause.operand, &bound);
      return {bound, PrefixSuccessor(bound)};
    }
    AppendKeyValue(clause.operand, &bound);
    switch (clause.kind) {
      case ConditionKind::kLess:
        range.upper = bound;
        break;
      case ConditionKind::kLessEqual:
        range.upper = PrefixSuccessor(bound);
        break;
      case ConditionKind::kGreater:
        range.lower = PrefixSuccessor(bound);
        break;
      case ConditionKind::kGreaterEqual:
        range.lower = bound;
        break;
      default: {
        std::string upper = base;
        AppendKeyValue(clause.upper, &upper);
        range = {bound, PrefixSuccessor(upper)};
        break;
      }
    }
    return range;
  }

  std::string Describe() const {
    std::string text;
    for (size_t i = 0; i < partition_.size(); ++i)
      AppendClause(partition_[i].name, *partition_clauses_[i], &text);
    for (size_t i = 0; i < sort_.size(); ++i) {
      if (sort_clauses_[i].has_value()) AppendClause(sort_[i].name, *sort_clauses_[i], &text);
    }
    return text;
  }

  static void AppendClause(const std::string& name, const KeyClause& clause, std::string* text) {
    if (!text->empty()) text->append(" AND ");
    const std::string operand = Shown(clause.operand);
    if (clause.kind == ConditionKind::kBeginsWith) {
      absl::StrAppend(text, "begins_with(", name, ", ", operand, ")");
    } else if (clause.kind == ConditionKind::kBetween) {
      absl::StrAppend(text, name, " BETWEEN ", operand, " AND ", Shown(clause.upper));
    } else {
      absl::StrAppend(text, name, " ", std::string(ConditionName(clause.kind)), " ", operand);
    }
  }

  // "text", 12.5, 0x00ff.
  static std::string Shown(ValueView value) {
    absl::string_view payload(value.payload().data(), value.payload().size());
    switch (value.type()) {
      case ValueType::kS:
        return absl::StrCat("\"", absl::Utf8SafeCEscape(payload), "\"");
      case ValueType::kB:
        return absl::StrCat("0x", absl::BytesToHexString(payload));
      default:
        return std::string(payload);
    }
  }

  const std::vector<KeyAttribute>& partition_;
  const std::vector<KeyAttribute>& sort_;
  // The clause of each attribute, if it has one.
  std::vector<std::optional<KeyClause>> partition_clauses_;
  std::vector<std::optional<KeyClause>> sort_clauses_;
};

}  // namespace

struct KeyCondition::Rep {
  Binding binding;
  // In written order; borrow from `binding`.
  std::vector<KeyClause> clauses;
};

absl::StatusOr<KeyCondition> KeyCondition::Compile(std::string_view text, Placeholders& placeholders) {
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const Tree> tree,
                          ParseExpression(ExpressionKind::kCondition, kKeyConditionName, text));
  auto rep = std::make_shared<Rep>();
  ITEMDB_RETURN_IF_ERROR(rep->binding.Bind(kKeyConditionName, std::move(tree), placeholders));
  return FromRep(std::move(rep));
}

absl::StatusOr<KeyCondition> KeyCondition::FromTree(ValuedTree tree) {
  auto rep = std::make_shared<Rep>();
  rep->binding.Bind(std::move(tree.tree), std::move(tree.values));
  return FromRep(std::move(rep));
}

absl::StatusOr<KeyCondition> KeyCondition::FromRep(std::shared_ptr<Rep> rep) {
  ITEMDB_ASSIGN_OR_RETURN(rep->clauses, ClauseReader(rep->binding).Read());
  KeyCondition condition;
  condition.rep_ = std::move(rep);
  return condition;
}

absl::StatusOr<KeyConditionRange> KeyCondition::Select(const std::vector<KeyAttribute>& partition,
                                                       const std::vector<KeyAttribute>& sort,
                                                       bool describe) const {
  return RangeBuilder(partition, sort).Build(rep_->clauses, describe);
}

}  // namespace itemdb::storage
