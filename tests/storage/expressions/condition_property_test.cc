// Random conditions on random items must have the same result as an evaluation on plain objects.
#include <gtest/gtest.h>

#include <functional>

#include "storage/expressions/condition.h"
#include "tests/storage/expressions/model.h"
#include "tests/storage/expressions/notation.h"
#include "tests/storage/values/test_seed.h"
#include "tests/support/repetitions.h"

namespace itemdb::storage {
namespace {

// An operand's text and its value for an item; no value: missing. `no_size`: the value has no size.
struct GeneratedOperand {
  struct Result {
    std::optional<Model> value;
    bool no_size = false;
  };
  std::string text;
  std::function<Result(const Model&)> evaluate;
};

// A condition's text and its result. `strength`: the precedence of its outermost operator (EXP-07).
struct GeneratedCondition {
  enum Strength { kOr, kAnd, kNot, kLeaf, kParentheses };
  std::string text;
  std::function<bool(const Model&)> holds;
  Strength strength = kLeaf;
};

bool IsOrdered(const Model& a, const Model& b) {
  return a.type == b.type && (a.type == ValueType::kN || a.type == ValueType::kS || a.type == ValueType::kB);
}
bool Less(const Model& a, const Model& b) {
  return a.type == ValueType::kN ? a.number < b.number : a.text < b.text;
}

bool ModelCompares(const std::string& sign, const GeneratedOperand::Result& a,
                   const GeneratedOperand::Result& b) {
  if (a.no_size || b.no_size) return false;
  if (!a.value || !b.value) return sign == "<>";
  if (sign == "=") return *a.value == *b.value;
  if (sign == "<>") return *a.value != *b.value;
  if (!IsOrdered(*a.value, *b.value)) return false;
  if (sign == "<") return Less(*a.value, *b.value);
  if (sign == "<=") return !Less(*b.value, *a.value);
  if (sign == ">") return Less(*b.value, *a.value);
  return !Less(*a.value, *b.value);
}

bool ModelContains(const Model& container, const Model& part) {
  switch (container.type) {
    case ValueType::kS:
    case ValueType::kB:
      return part.type == container.type && container.text.find(part.text) != std::string::npos;
    case ValueType::kSS:
      return part.type == ValueType::kS && container.texts.contains(part.text);
    case ValueType::kBS:
      return part.type == ValueType::kB && container.texts.contains(part.text);
    case ValueType::kNS:
      return part.type == ValueType::kN && container.numbers.contains(part.number);
    case ValueType::kL:
      return std::find(container.list.begin(), container.list.end(), part) != container.list.end();
    default:
      return false;
  }
}

std::optional<double> ModelSize(const Model& model) {
  switch (model.type) {
    case ValueType::kS:
    case ValueType::kB:
      return model.text.size();
    case ValueType::kSS:
    case ValueType::kBS:
      return model.texts.size();
    case ValueType::kNS:
      return model.numbers.size();
    case ValueType::kL:
      return model.list.size();
    case ValueType::kM:
      return model.map.size();
    default:
      return std::nullopt;
  }
}

class Generator {
 public:
  explicit Generator(std::mt19937_64& random) : random_(random) {}

  GeneratedCondition Condition(int depth) {
    switch (depth > 0 ? Pick(random_, 0, 5) : 9) {
      case 0:
        return Chain(GeneratedCondition::kAnd, depth);
      case 1:
        return Chain(GeneratedCondition::kOr, depth);
      case 2: {
        GeneratedCondition inner = Wrap(Condition(depth - 1), GeneratedCondition::kNot);
        return {"NOT " + inner.text, [inner](const Model& item) { return !inner.holds(item); },
                GeneratedCondition::kNot};
      }
      default:
        return Leaf();
    }
  }

  const PlaceholderTexts& placeholders() const { return placeholders_; }

 private:
  // In parentheses where precedence requires them, and sometimes where it does not.
  GeneratedCondition Wrap(GeneratedCondition inner, GeneratedCondition::Strength outer) {
    bool needed = inner.strength < outer;
    bool possible = inner.strength != GeneratedCondition::kParentheses;
    if (needed || (possible && Pick(random_, 0, 3) == 0)) {
      inner.text = "(" + inner.text + ")";
      inner.strength = GeneratedCondition::kParentheses;
    }
    return inner;
  }

  GeneratedCondition Chain(GeneratedCondition::Strength kind, int depth) {
    bool conjunction = kind == GeneratedCondition::kAnd;
    std::vector<GeneratedCondition> terms;
    std::string text;
    for (int64_t i = Pick(random_, 2, 4); i > 0; --i) {
      terms.push_back(Wrap(Condition(depth - 1), kind));
      if (!text.empty()) text += conjunction ? " AND " : " OR ";
      text += terms.back().text;
    }
    auto holds = [terms, conjunction](const Model& item) {
      for (const GeneratedCondition& term : terms) {
        if (term.holds(item) != conjunction) return !conjunction;
      }
      return conjunction;
    };
    return {text, holds, kind};
  }

  GeneratedCondition Leaf() {
    switch (Pick(random_, 0, 7)) {
      case 0: {
        GeneratedOperand path = PathOperand();
        bool exists = Pick(random_, 0, 1) == 1;
        return {
            (exists ? "attribute_exists(" : "attribute_not_exists(") + path.text + ")",
            [path, exists](const Model& item) { return path.evaluate(item).value.has_value() == exists; }};
      }
      case 1: {
        GeneratedOperand a = Operand(false), b = Operand(false);
        return {"contains(" + a.text + ", " + b.text + ")", [a, b](const Model& item) {
                  auto container = a.evaluate(item).value, part = b.evaluate(item).value;
                  return container && part && ModelContains(*container, *part);
                }};
      }
      case 2: {
        GeneratedOperand a = Operand(false), b = Operand(false);
        return {"begins_with(" + a.text + ", " + b.text + ")", [a, b](const Model& item) {
                  auto value = a.evaluate(item).value, prefix = b.evaluate(item).value;
                  return value && prefix && value->type == prefix->type && IsOrdered(*value, *prefix) &&
                         value->type != ValueType::kN && value->text.rfind(prefix->text, 0) == 0;
                }};
      }
      case 3: {
        GeneratedOperand tested = Operand(true), lower = Operand(true), upper = Operand(true);
        return {tested.text + " BETWEEN " + lower.text + " AND " + upper.text,
                [tested, lower, upper](const Model& item) {
                  auto value = tested.evaluate(item);
                  return ModelCompares(">=", value, lower.evaluate(item)) &&
                         ModelCompares("<=", value, upper.evaluate(item));
                }};
      }
      case 4: {
        GeneratedOperand tested = Operand(true);
        std::vector<GeneratedOperand> candidates;
        std::string text;
        for (int64_t i = Pick(random_, 1, 4); i > 0; --i) {
          candidates.push_back(Operand(true));
          text += (text.empty() ? "" : ", ") + candidates.back().text;
        }
        return {tested.text + " IN (" + text + ")", [tested, candidates](const Model& item) {
                  auto value = tested.evaluate(item);
                  return std::any_of(candidates.begin(), candidates.end(),
                                     [&](const GeneratedOperand& candidate) {
                                       return ModelCompares("=", value, candidate.evaluate(item));
                                     });
                }};
      }
      default: {
        constexpr const char* kSigns[] = {"=", "<>", "<", "<=", ">", ">="};
        std::string sign = kSigns[Pick(random_, 0, 5)];
        GeneratedOperand a = Operand(true), b = Operand(true);
        return {a.text + " " + sign + " " + b.text, [a, b, sign](const Model& item) {
                  return ModelCompares(sign, a.evaluate(item), b.evaluate(item));
                }};
      }
    }
  }

  GeneratedOperand Operand(bool size_allowed) {
    int64_t choice = Pick(random_, 0, size_allowed ? 5 : 4);
    if (choice < 3) return PathOperand();
    if (choice < 5) return ValueOperand();
    GeneratedOperand measured = Operand(false);
    return {"size(" + measured.text + ")", [measured](const Model& item) {
              std::optional<Model> value = measured.evaluate(item).value;
              std::optional<double> size = value ? ModelSize(*value) : std::nullopt;
              if (!size) return GeneratedOperand::Result{std::nullopt, true};
              return GeneratedOperand::Result{NumberModel(*size), false};
            }};
  }

  GeneratedOperand PathOperand() {
    ModelPath path = RandomPath(random_);
    std::string text;
    for (const ModelStep& step : path) {
      if (const size_t* index = std::get_if<size_t>(&step)) {
        text += "[" + std::to_string(*index) + "]";
        continue;
      }
      if (!text.empty()) text += ".";
      text +=
          Pick(random_, 0, 3) ? std::get<std::string>(step) : Placeholder('#', std::get<std::string>(step));
    }
    return {text, [path](const Model& item) {
              const Model* found = Find(item, path);
              return GeneratedOperand::Result{found ? std::optional<Model>(*found) : std::nullopt, false};
            }};
  }

  GeneratedOperand ValueOperand() {
    Model value = RandomValue(random_, 2);
    return {Placeholder(':', Notation(value)), [value](const Model&) {
              return GeneratedOperand::Result{value, false};
            }};
  }

  std::string Placeholder(char sigil, const std::string& text) {
    std::string token = sigil + std::to_string(placeholders_.size());
    placeholders_.emplace_back(token, text);
    return token;
  }

  std::mt19937_64& random_;
  PlaceholderTexts placeholders_;
};

TEST(ConditionProperty, AgreesWithTheModel) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int accepted = 0, held = 0, evaluated = 0;
  for (int i = 0; i < testing::Repetitions(20'000); ++i) {
    Generator generator(random);
    GeneratedCondition generated = generator.Condition(3);
    Placeholders placeholders = MakePlaceholders(generator.placeholders());
    auto condition = Condition::Compile("ConditionExpression", generated.text, placeholders);
    // Refused because of the types of literals, or because a path is compared with itself; the syntax is
    // right.
    if (!condition.ok()) {
      ASSERT_EQ(MessageOf(condition.status()).find("yntax"), std::string::npos) << generated.text;
      ASSERT_EQ(MessageOf(condition.status()).find("redundant"), std::string::npos) << generated.text;
      continue;
    }
    ++accepted;
    EXPECT_TRUE(placeholders.CheckAllUsed().ok());
    for (int j = 0; j < 4; ++j) {
      Model item = RandomItem(random);
      std::string encoded = Item(Notation(item));
      bool expected = generated.holds(item);
      ++evaluated;
      held += expected;
      ASSERT_EQ(condition->Evaluate(ItemView(encoded)), expected)
          << generated.text << " of " << ShowItem(encoded);
    }
  }
  EXPECT_GT(accepted, testing::Repetitions(5'000));
  EXPECT_GT(held, evaluated / 5);
  EXPECT_LT(held, evaluated * 4 / 5);
}

}  // namespace
}  // namespace itemdb::storage
