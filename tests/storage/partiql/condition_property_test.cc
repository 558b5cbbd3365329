// Random conditions select the same items, or are refused, as PartiQL statements and as filter expressions.
#include <random>

#include "tests/storage/expressions/model.h"
#include "tests/storage/expressions/notation.h"
#include "tests/storage/partiql/statements.h"
#include "tests/storage/values/test_seed.h"

namespace itemdb::testing {
namespace {

// The same text in both languages.
struct Text {
  std::string expression;
  std::string statement;
};

class Generator {
 public:
  explicit Generator(std::mt19937_64& random) : random_(random) {}

  Text Condition(int depth) {
    switch (depth > 0 ? Pick(random_, 0, 4) : 9) {
      case 0:
        return Chain(" AND ", depth);
      case 1:
        return Chain(" OR ", depth);
      case 2: {
        Text inner = Condition(depth - 1);
        return {"NOT (" + inner.expression + ")", "NOT (" + inner.statement + ")"};
      }
      default:
        return Leaf();
    }
  }

  // The placeholders of the expression.
  const PlaceholderTexts& placeholders() const { return placeholders_; }
  // The parameters of the statement.
  const Values& parameters() const { return parameters_; }

 private:
  Text Chain(const std::string& joined_by, int depth) {
    Text text;
    for (int64_t i = Pick(random_, 2, 3); i > 0; --i) {
      Text term = Condition(depth - 1);
      // Parentheses around every term have the same meaning in both languages. Parentheses around a single
      // leaf are allowed, and no pair is directly inside another.
      text.expression += (text.expression.empty() ? "" : joined_by) + "(" + term.expression + ")";
      text.statement += (text.statement.empty() ? "" : joined_by) + "(" + term.statement + ")";
    }
    return text;
  }

  static Text Join(const std::vector<Text>& operands, const std::vector<std::string>& expression,
                   const std::vector<std::string>& statement) {
    Text text{expression[0], statement[0]};
    for (size_t i = 0; i < operands.size(); ++i) {
      text.expression += operands[i].expression + expression[i + 1];
      text.statement += operands[i].statement + statement[i + 1];
    }
    return text;
  }

  Text Leaf() {
    switch (Pick(random_, 0, 8)) {
      case 0: {
        Text path = PathOperand();
        return Pick(random_, 0, 1) ? Join({path}, {"attribute_exists(", ")"}, {"", " IS NOT MISSING"})
                                   : Join({path}, {"attribute_not_exists(", ")"}, {"", " IS MISSING"});
      }
      case 1:
        return Call("contains(", "CONTAINS(");
      case 2:
        return Call("begins_with(", "begins_with(");
      case 3: {
        Text a = Operand(true), b = Operand(true), c = Operand(true);
        return Join({a, b, c}, {"", " BETWEEN ", " AND ", ""}, {"", " BETWEEN ", " AND ", ""});
      }
      case 4: {
        std::vector<Text> operands = {Operand(true)};
        std::vector<std::string> signs = {"", " IN ("};
        for (int64_t i = Pick(random_, 0, 3); i > 0; --i) {
          operands.push_back(Operand(true));
          signs.push_back(", ");
        }
        operands.push_back(Operand(true));
        signs.push_back(")");
        return Join(operands, signs, signs);
      }
      case 5: {
        constexpr std::pair<const char*, const char*> kTypes[] = {{"S", "STRING"},  {"N", "number"},
                                                                  {"NULL", "NULL"}, {"L", "LIST"},
                                                                  {"M", "MAP"},     {"BOOL", "BOOLEAN"}};
        const auto& [type, name] = kTypes[Pick(random_, 0, 5)];
        Text path = PathOperand();
        return Join({path}, {"attribute_type(", ", " + Placeholder(':', "'" + std::string(type) + "'") + ")"},
                    {"", std::string(" IS ") + name});
      }
      default: {
        constexpr const char* kSigns[] = {"=", "<>", "<", "<=", ">", ">="};
        const std::string sign = std::string(" ") + kSigns[Pick(random_, 0, 5)] + " ";
        Text a = Operand(true), b = Operand(true);
        return Join({a, b}, {"", sign, ""}, {"", sign, ""});
      }
    }
  }

  Text Call(const std::string& expression, const std::string& statement) {
    Text a = Operand(false), b = Operand(false);
    return Join({a, b}, {expression, ", ", ")"}, {statement, ", ", ")"});
  }

  Text Operand(bool size_allowed) {
    switch (Pick(random_, 0, size_allowed ? 5 : 4)) {
      case 0:
      case 1:
      case 2:
        return PathOperand();
      case 3:
      case 4:
        return ValueOperand();
      default:
        return Join({Operand(false)}, {"size(", ")"}, {"SIZE(", ")"});
    }
  }

  Text PathOperand() {
    Text text;
    for (const ModelStep& step : RandomPath(random_)) {
      if (const size_t* index = std::get_if<size_t>(&step)) {
        const std::string bracket = "[" + std::to_string(*index) + "]";
        text.expression += bracket;
        text.statement += bracket;
        continue;
      }
      const std::string& name = std::get<std::string>(step);
      const std::string dot = text.expression.empty() ? "" : ".";
      text.expression += dot + name;
      text.statement += dot + (Pick(random_, 0, 1) ? "\"" + name + "\"" : name);
    }
    return text;
  }

  Text ValueOperand() {
    const Model value = RandomValue(random_, 2);
    const std::string token = Placeholder(':', Notation(value));
    if (HasBinary(value) || Pick(random_, 0, 2) == 0) {
      parameters_.push_back(Notation(value));
      return {token, "?"};
    }
    return {token, Literal(value)};
  }

  static bool HasBinary(const Model& value) {
    if (value.type == ValueType::kB || value.type == ValueType::kBS) return true;
    for (const Model& element : value.list) {
      if (HasBinary(element)) return true;
    }
    for (const auto& [name, element] : value.map) {
      if (HasBinary(element)) return true;
    }
    return false;
  }

  // The notation differs from PartiQL only in sets and names.
  static std::string Literal(const Model& value) {
    std::string text;
    switch (value.type) {
      case ValueType::kSS:
      case ValueType::kNS: {
        const std::string set = Notation(value);
        return "<" + set + ">";
      }
      case ValueType::kL:
        for (const Model& element : value.list) text += (text.empty() ? "" : ", ") + Literal(element);
        return "[" + text + "]";
      case ValueType::kM:
        for (const auto& [name, element] : value.map)
          text += (text.empty() ? "'" : ", '") + name + "': " + Literal(element);
        return "{" + text + "}";
      default:
        return Notation(value);
    }
  }

  std::string Placeholder(char sigil, const std::string& text) {
    std::string token = sigil + std::to_string(placeholders_.size());
    placeholders_.emplace_back(token, text);
    return token;
  }

  std::mt19937_64& random_;
  PlaceholderTexts placeholders_;
  Values parameters_;
};

// Conditions mean the same in both languages (PQL-01, PQL-07, PQL-09, EXP-03 to EXP-07, EXP-12 to EXP-19).
TEST(PartiqlConditionProperty, SelectsWhatTheExpressionSelects) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  TestDatabase database;
  database.CreateTable(TableRequest("Things", /*sorted=*/false));
  for (int i = 0; i < 40; ++i) {
    Model item = RandomItem(random);
    item.map["pk"] = Model{.type = ValueType::kS, .text = std::to_string(i)};
    wire::WriteItemRequest put;
    put.set_table_name("Things");
    put.set_key_or_item(storage::Item(Notation(item)));
    auto reply = Await<wire::WriteItemReply>([&](auto done) { database->PutItem(put, std::move(done)); });
    ASSERT_TRUE(reply.ok()) << reply.status();
  }
  int accepted = 0, selected = 0;
  for (int i = 0; i < 1'500; ++i) {
    Generator generator(random);
    const Text text = generator.Condition(2);
    wire::PageRequest scan;
    scan.set_table_name("Things");
    scan.set_filter_expression(text.expression);
    for (const auto& [token, value] : generator.placeholders()) {
      auto* entry = scan.add_expression_attribute_values();
      entry->set_name(token);
      entry->set_value(Value(value));
    }
    const auto request =
        StatementRequest("SELECT * FROM Things WHERE " + text.statement, generator.parameters());
    auto expected = database.Scan(scan);
    auto page = Execute(database, request);
    ASSERT_EQ(expected.ok(), page.ok()) << text.expression << "\n"
                                        << text.statement << "\n"
                                        << expected.status() << "\n"
                                        << page.status();
    if (!page.ok()) {
      EXPECT_EQ(RuleOf(expected.status()), RuleOf(page.status())) << text.statement;
      continue;
    }
    ++accepted;
    selected += static_cast<int>(expected->reply.count());
    ASSERT_EQ(page->encoded_items, expected->encoded_items) << text.expression << "\n" << text.statement;
  }
  EXPECT_GT(accepted, 300);
  EXPECT_GT(selected, accepted);
}

}  // namespace
}  // namespace itemdb::testing
