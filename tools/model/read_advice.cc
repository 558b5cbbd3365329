#include "tools/model/read_advice.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

// Advice is given if less than one in kWorthAnIndex of the items read passes the filter.
constexpr int64_t kWorthAnIndex = 2;
// Values of sort keys are at most so many bytes long; those of partition keys may be longer.
constexpr size_t kLongestSortKey = 1024;

// Splits `text` into words, which may contain dots, # and :, and single other characters.
std::vector<std::string> Tokens(std::string_view text) {
  const auto is_word = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '#' || c == ':';
  };
  std::vector<std::string> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (is_word(text[i])) {
      while (end < text.size() && is_word(text[end])) ++end;
    }
    if (!absl::ascii_isspace(static_cast<unsigned char>(text[i])))
      tokens.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

bool IsValue(const std::string& token) { return token.starts_with(':'); }

bool IsName(const std::string& token) {
  const char first = token.front();
  return (absl::ascii_isalpha(static_cast<unsigned char>(first)) || first == '_' || first == '#') &&
         token.find('.') == std::string::npos;
}

// The names of the partition-key (or sort-key) attributes of a key schema.
std::vector<std::string> AttributesOf(const std::vector<KeySchemaElement>& key_schema, KeyType type) {
  std::vector<std::string> names;
  for (const KeySchemaElement& element : key_schema) {
    if (element.key_type == type) names.push_back(element.attribute_name);
  }
  return names;
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The text of `tokens`, in which Tokens() has cut operators of two characters into two.
std::string Joined(const std::vector<std::string>& tokens) {
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    const bool second =
        i > 0 && (token == "=" || token == ">") && (tokens[i - 1] == "<" || tokens[i - 1] == ">");
    const bool close = token == ")" || token == "," || token == "[" || token == "]";
    const bool after_open = i > 0 && (tokens[i - 1] == "(" || tokens[i - 1] == "[");
    const bool call = token == "(" && i > 0 && IsName(tokens[i - 1]) &&
                      !absl::EqualsIgnoreCase(tokens[i - 1], "and") &&
                      !absl::EqualsIgnoreCase(tokens[i - 1], "in");
    if (i > 0 && !second && !close && !after_open && !call) text += ' ';
    text += token;
  }
  return text;
}

// Those of an expression or of a part of it.
using TokenList = std::vector<std::string>;

// Calls `visit(i)` for each token that is outside of all parentheses.
template <typename Visit>
void ForEachOutside(const TokenList& tokens, Visit visit) {
  int depth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == ")") --depth;
    if (depth == 0 && tokens[i] != ")") visit(i);
    if (tokens[i] == "(") ++depth;
  }
}

bool HasOr(const TokenList& tokens) {
  bool found = false;
  ForEachOutside(tokens, [&](size_t i) { found = found || absl::EqualsIgnoreCase(tokens[i], "or"); });
  return found;
}

// `tokens` without parentheses around all of them.
TokenList WithoutParentheses(TokenList tokens) {
  while (tokens.size() > 2 && tokens.front() == "(" && tokens.back() == ")") {
    size_t outside = 0;
    ForEachOutside(tokens, [&](size_t) { ++outside; });
    if (outside != 1) break;  // (a) AND (b)
    tokens = TokenList(tokens.begin() + 1, tokens.end() - 1);
  }
  return tokens;
}

// Appends the conditions that AND connects in `tokens`, without parentheses around them, to `parts`. The AND
// of BETWEEN connects nothing.
void AppendConjuncts(TokenList tokens, std::vector<TokenList>* parts) {
  tokens = WithoutParentheses(std::move(tokens));
  std::vector<size_t> ands;
  bool between = false;
  ForEachOutside(tokens, [&](size_t i) {
    if (absl::EqualsIgnoreCase(tokens[i], "between")) between = true;
    if (!absl::EqualsIgnoreCase(tokens[i], "and")) return;
    if (!between) ands.push_back(i);
    between = false;
  });
  if (ands.empty() || HasOr(tokens)) {
    if (!tokens.empty()) parts->push_back(std::move(tokens));
    return;
  }
  ands.push_back(tokens.size());
  size_t begin = 0;
  for (const size_t end : ands) {
    AppendConjuncts(TokenList(tokens.begin() + static_cast<ptrdiff_t>(begin),
                              tokens.begin() + static_cast<ptrdiff_t>(std::max(begin, end))),
                    parts);
    begin = end + 1;
  }
}

// `text` as one word of a shell.
std::string Quoted(const std::string& text) {
  return "'" + absl::StrReplaceAll(text, {{"'", "'\\''"}}) + "'";
}

// The attribute that `token` names, through an alias or itself.
std::string NameIn(const std::string& token, const ExpressionAttributeNames& names) {
  const auto alias = names.find(token);
  return alias == names.end() ? token : alias->second;
}

// One of the conditions that must all be true.
struct Conjunct {
  TokenList tokens;
  // The attribute, if a key condition may have this form: a comparison other than <>, BETWEEN, begins_with.
  std::string attribute = {};
  bool is_equality = false;
  // The placeholders of the values that the attribute is compared with.
  TokenList values = {};
  bool of_filter = true;

  // As a part of conditions that AND connects.
  std::string Text() const { return HasOr(tokens) ? "(" + Joined(tokens) + ")" : Joined(tokens); }
};

Conjunct ConjunctOf(TokenList tokens, const ExpressionAttributeNames& names, bool of_filter) {
  Conjunct condition{.tokens = std::move(tokens), .of_filter = of_filter};
  const TokenList& t = condition.tokens;
  const auto is_of = [&](const std::string& name, const TokenList& values) {
    if (!IsName(name) || !std::all_of(values.begin(), values.end(), IsValue)) return false;
    condition.attribute = NameIn(name, names);
    condition.values = values;
    return true;
  };
  const bool short_operator = t.size() == 3 && (t[1] == "=" || t[1] == "<" || t[1] == ">");
  const bool long_operator = t.size() == 4 && (t[1] == "<" || t[1] == ">") && t[2] == "=";
  if (short_operator || long_operator) {
    condition.is_equality = (is_of(t.front(), {t.back()}) || is_of(t.back(), {t.front()})) && t[1] == "=";
  } else if (t.size() == 5 && absl::EqualsIgnoreCase(t[1], "between")) {
    is_of(t[0], {t[2], t[4]});
  } else if (t.size() == 6 && t[0] == "begins_with") {
    is_of(t[2], {t[4]});
  }
  return condition;
}

std::vector<Conjunct> ConjunctsOf(const std::string& expression, const ExpressionAttributeNames& names,
                                  bool of_filter) {
  std::vector<TokenList> parts;
  AppendConjuncts(Tokens(expression), &parts);
  std::vector<Conjunct> conditions;
  for (TokenList& part : parts) conditions.push_back(ConjunctOf(std::move(part), names, of_filter));
  return conditions;
}

// The top-level attributes that `tokens` name.
std::set<std::string> NamedIn(const TokenList& tokens, const ExpressionAttributeNames& names) {
  std::set<std::string> named;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool function = i + 1 < tokens.size() && tokens[i + 1] == "(";
    const std::string first = tokens[i].substr(0, tokens[i].find('.'));
    if (!function && !first.empty() && IsName(first)) named.insert(NameIn(first, names));
  }
  return named;
}

// The placeholders of `text` that `all` defines, as a JSON object.
template <typename Placeholders, typename ToJson>
JsonValue UsedIn(const std::string& text, const Placeholders& all, ToJson to_json) {
  std::set<std::string> words;
  for (const std::string& token : Tokens(text)) {
    // An alias may be a part of a path: #m.color, m.#color.
    for (std::string& part : std::vector<std::string>(absl::StrSplit(token, '.')))
      words.insert(std::move(part));
  }
  JsonValue used = JsonValue::Object();
  for (const auto& [name, value] : all) {
    if (words.contains(name)) used.Add(name, to_json(value));
  }
  return used;
}

// `values` as JSON that reads back as the same values: plain if that is possible for all of them, because an
// object is read in one of both forms.
JsonValue ValuesUsedIn(const std::string& text, const ExpressionAttributeValues& values) {
  bool plain = true;
  UsedIn(text, values, [&plain](const Value& value) {
    plain = plain && (value.type() == ValueType::kString || value.type() == ValueType::kNumber ||
                      value.type() == ValueType::kBool);
    return JsonValue::Object();
  });
  return UsedIn(text, values, [plain](const Value& value) {
    return ValueToJson(value, plain ? ItemForm::kPlain : ItemForm::kTyped);
  });
}

std::string_view TypeWord(ScalarAttributeType type) {
  switch (type) {
    case ScalarAttributeType::kString:
      return "strings";
    case ScalarAttributeType::kNumber:
      return "numbers";
    default:
      return "binary";
  }
}

bool IsOfType(const Value& value, ScalarAttributeType type) {
  switch (type) {
    case ScalarAttributeType::kString:
      return value.type() == ValueType::kString;
    case ScalarAttributeType::kNumber:
      return value.type() == ValueType::kNumber;
    default:
      return value.type() == ValueType::kBinary;
  }
}

// A table or an index that a query could read.
struct Keyed {
  std::string index_name = {};
  const std::vector<KeySchemaElement>* key_schema = nullptr;
  // Empty for the table.
  std::optional<Projection> projection = std::nullopt;
  bool is_local = false;

  std::vector<std::string> partition() const { return AttributesOf(*key_schema, KeyType::kHash); }
  std::vector<std::string> sort() const { return AttributesOf(*key_schema, KeyType::kRange); }
  bool HasAll() const {
    return !projection.has_value() || projection->projection_type == ProjectionType::kAll;
  }
};

// How a query of `keyed` would do what the read does.
struct QueryPlan {
  Keyed keyed;
  std::vector<const Conjunct*> key = {};
  std::vector<const Conjunct*> filter = {};
  // Those of `filter` that name key attributes of `keyed`: a query refuses that.
  std::vector<const Conjunct*> refused = {};
  // Attributes that `filter` names and the index does not hold.
  std::vector<std::string> missing = {};

  bool CanRun() const { return refused.empty() && missing.empty(); }
};

class Adviser {
 public:
  Adviser(const ObservedRead& read, const TableDefinition& table)
      : read_(read),
        table_(table),
        conditions_(ConjunctsOf(read.filter_expression, read.expression_attribute_names, true)) {
    for (Conjunct& condition :
         ConjunctsOf(read.key_condition_expression, read.expression_attribute_names, false))
      conditions_.push_back(std::move(condition));
  }

  std::vector<std::string> QueriesInstead() const {
    if (std::string sentence = NoItemPasses(); !sentence.empty()) return {std::move(sentence)};
    // The best first; one advice for each partition key.
    std::vector<QueryPlan> plans;
    for (const Keyed& keyed : Readable()) {
      if (std::optional<QueryPlan> plan = PlanFor(keyed)) plans.push_back(*std::move(plan));
    }
    std::stable_sort(plans.begin(), plans.end(), [this](const QueryPlan& a, const QueryPlan& b) {
      const auto rank = [this](const QueryPlan& plan) {
        return std::tuple(!plan.CanRun(), -static_cast<int>(plan.key.size()), !plan.keyed.HasAll(),
                          Required(plan).size());
      };
      return rank(a) < rank(b);
    });
    std::vector<std::string> advice;
    std::set<std::vector<std::string>> done;
    for (const QueryPlan& plan : plans) {
      if (!done.insert(plan.keyed.partition()).second) continue;
      std::vector<std::string> others;
      for (const QueryPlan& other : plans) {
        const bool same = other.keyed.partition() == plan.keyed.partition();
        if (same && !other.keyed.is_local && other.CanRun() &&
            other.keyed.index_name != plan.keyed.index_name)
          others.push_back(NameOf(other.keyed));
      }
      advice.push_back(Sentence(plan, others));
    }
    return advice;
  }

  // For a query of the table: local indexes with a sort key that the filter has a condition on.
  std::vector<std::string> LocalIndexes() const {
    std::vector<std::string> advice;
    if (!read_.is_query || !read_.index_name.empty() || !NoItemPasses().empty()) return advice;
    for (const LocalSecondaryIndex& index : table_.local_secondary_indexes) {
      const std::vector<std::string> sort = AttributesOf(index.key_schema, KeyType::kRange);
      const Conjunct* found = sort.empty() ? nullptr : Find(sort.front(), /*equality=*/false);
      if (found == nullptr || !found->of_filter) continue;
      std::string sentence = absl::StrFormat(
          "the filter %s %s, the sort key of the local index %s: with --index %s it can be part of the "
          "key condition",
          found->is_equality ? "fixes" : "bounds", sort.front(), index.index_name, index.index_name);
      const std::optional<QueryPlan> plan = PlanFor(KeyedOf(index));
      if (plan.has_value() && plan->CanRun()) absl::StrAppend(&sentence, ": ", Command(*plan));
      advice.push_back(std::move(sentence));
    }
    return advice;
  }

 private:
  static Keyed KeyedOf(const LocalSecondaryIndex& index) {
    return {.index_name = index.index_name,
            .key_schema = &index.key_schema,
            .projection = index.projection,
            .is_local = true};
  }

  static std::string NameOf(const Keyed& keyed) {
    return keyed.index_name.empty() ? "the table" : "the index " + keyed.index_name;
  }

  // The sort-key attributes of the index without which an item is not in it, although the read may return it.
  std::vector<std::string> Required(const QueryPlan& plan) const {
    std::vector<std::string> required = plan.keyed.sort();
    std::erase_if(required, [&](const std::string& attribute) {
      const bool has_condition = std::any_of(plan.key.begin(), plan.key.end(), [&](const Conjunct* conjunct) {
        return conjunct->attribute == attribute;
      });
      return has_condition || IsKeyOf(table_.key_schema, attribute);
    });
    return required;
  }

  static bool IsKeyOf(const std::vector<KeySchemaElement>& schema, const std::string& attribute) {
    return std::any_of(schema.begin(), schema.end(),
                       [&](const KeySchemaElement& element) { return element.attribute_name == attribute; });
  }

  // The table and the indexes of which a query could replace the read.
  std::vector<Keyed> Readable() const {
    std::vector<Keyed> all;
    // A query of the table or of a local index has a key condition on the table's partition key already.
    const bool local =
        std::any_of(table_.local_secondary_indexes.begin(), table_.local_secondary_indexes.end(),
                    [&](const LocalSecondaryIndex& index) { return index.index_name == read_.index_name; });
    if (!read_.is_query || (!read_.index_name.empty() && !local)) {
      all.push_back({.key_schema = &table_.key_schema});
      for (const LocalSecondaryIndex& index : table_.local_secondary_indexes) all.push_back(KeyedOf(index));
    }
    for (const GlobalSecondaryIndex& index : table_.global_secondary_indexes) {
      if (read_.is_query && index.index_name == read_.index_name) continue;
      all.push_back(
          {.index_name = index.index_name, .key_schema = &index.key_schema, .projection = index.projection});
    }
    return all;
  }

  std::optional<ScalarAttributeType> TypeOf(const std::string& attribute) const {
    for (const AttributeDefinition& definition : table_.attribute_definitions) {
      if (definition.attribute_name == attribute) return definition.attribute_type;
    }
    return std::nullopt;
  }

  const Value* ValueOf(const std::string& placeholder) const {
    const auto found = read_.expression_attribute_values.find(placeholder);
    return found == read_.expression_attribute_values.end() ? nullptr : &found->second;
  }

  // A condition on a key attribute with a value of another type, which no item has.
  std::string NoItemPasses() const {
    for (const Conjunct& condition : conditions_) {
      const std::optional<ScalarAttributeType> type = TypeOf(condition.attribute);
      if (!type.has_value()) continue;
      for (const std::string& placeholder : condition.values) {
        const Value* value = ValueOf(placeholder);
        if (value == nullptr || IsOfType(*value, *type)) continue;
        return absl::StrFormat(
            "no item passes %s: the values of the key attribute %s are %s, and %s has another type; give it "
            "a value of that type",
            condition.Text(), condition.attribute, TypeWord(*type), placeholder);
      }
    }
    return "";
  }

  // A key condition takes the values of `condition`: none is empty or longer than keys are.
  bool TakesValues(const Conjunct& condition) const {
    return std::all_of(condition.values.begin(), condition.values.end(), [&](const std::string& placeholder) {
      const Value* value = ValueOf(placeholder);
      if (value == nullptr) return true;
      const std::string* text = value->string_or_null();
      if (text == nullptr) text = value->binary_or_null();
      return text == nullptr || (!text->empty() && text->size() <= kLongestSortKey);
    });
  }

  // A condition on `attribute` that a key condition may have, an equality if there is one; nullptr without.
  const Conjunct* Find(const std::string& attribute, bool equality) const {
    const Conjunct* found = nullptr;
    for (const Conjunct& condition : conditions_) {
      if (condition.attribute != attribute || !TakesValues(condition)) continue;
      if (condition.is_equality) return &condition;
      if (!equality && found == nullptr) found = &condition;
    }
    return found;
  }

  // Empty if a query of `keyed` needs a condition that the read does not have, or if none of the filter's
  // conditions would be in its key condition.
  std::optional<QueryPlan> PlanFor(const Keyed& keyed) const {
    QueryPlan plan{.keyed = keyed};
    for (const std::string& attribute : keyed.partition()) {
      const Conjunct* condition = Find(attribute, /*equality=*/true);
      if (condition == nullptr) return std::nullopt;
      plan.key.push_back(condition);
    }
    for (const std::string& attribute : keyed.sort()) {
      const Conjunct* condition = Find(attribute, /*equality=*/false);
      if (condition == nullptr) break;
      plan.key.push_back(condition);
      if (!condition->is_equality) break;  // Only the last condition may be no equality.
    }
    if (std::none_of(plan.key.begin(), plan.key.end(), [](const Conjunct* c) { return c->of_filter; }))
      return std::nullopt;
    for (const Conjunct& condition : conditions_) {
      if (std::find(plan.key.begin(), plan.key.end(), &condition) != plan.key.end()) continue;
      plan.filter.push_back(&condition);
      const std::set<std::string> named = NamedIn(condition.tokens, read_.expression_attribute_names);
      const bool of_key = std::any_of(
          keyed.key_schema->begin(), keyed.key_schema->end(),
          [&](const KeySchemaElement& element) { return named.contains(element.attribute_name); });
      if (of_key) plan.refused.push_back(&condition);
      for (const std::string& name : named) {
        if (!Holds(keyed, name)) plan.missing.push_back(name);
      }
    }
    // In the order of the read, as its writer knows them.
    std::sort(plan.key.begin(), plan.key.end());
    return plan;
  }

  // A filter of a query of `keyed` can use `attribute`.
  bool Holds(const Keyed& keyed, const std::string& attribute) const {
    if (keyed.HasAll() || keyed.is_local) return true;
    return IsKeyOf(*keyed.key_schema, attribute) || IsKeyOf(table_.key_schema, attribute) ||
           Contains(keyed.projection->non_key_attributes, attribute);
  }

  std::string Sentence(const QueryPlan& plan, const std::vector<std::string>& others) const {
    const std::string partition = absl::StrJoin(plan.keyed.partition(), ", ");
    std::string sentence =
        absl::StrFormat("the filter fixes %s, the partition key of %s", partition, NameOf(plan.keyed));
    if (const std::vector<std::string> required = Required(plan); !required.empty())
      absl::StrAppend(&sentence, ", which holds only items that have ", absl::StrJoin(required, " and "));
    if (!others.empty()) absl::StrAppend(&sentence, " (", absl::StrJoin(others, " and "), " would also do)");
    absl::StrAppend(&sentence, "; a query reads only that");
    if (plan.CanRun()) return absl::StrCat(sentence, ": ", Command(plan));
    if (!plan.refused.empty()) {
      std::vector<std::string> texts;
      for (const Conjunct* condition : plan.refused) texts.push_back(condition->Text());
      return absl::StrCat(sentence, ", but its filter must not name key attributes: leave out ",
                          absl::StrJoin(texts, " and "), " and check ", texts.size() == 1 ? "it" : "them",
                          " in your program");
    }
    return absl::StrCat(sentence, ", but the index does not hold ", absl::StrJoin(plan.missing, ", "),
                        ": let it project what the filter names, or filter in your program");
  }

  std::string Command(const QueryPlan& plan) const {
    const auto text_of = [](const std::vector<const Conjunct*>& conditions) {
      return absl::StrJoin(conditions, " AND ", [](std::string* out, const Conjunct* condition) {
        out->append(condition->Text());
      });
    };
    const std::string key_condition = text_of(plan.key);
    const std::string filter = text_of(plan.filter);
    std::string command = "itemctl query " + table_.table_name;
    if (!plan.keyed.index_name.empty()) absl::StrAppend(&command, " --index ", plan.keyed.index_name);
    absl::StrAppend(&command, " --key-condition ", Quoted(key_condition));
    if (!filter.empty()) absl::StrAppend(&command, " --filter ", Quoted(filter));
    if (!read_.projection_expression.empty())
      absl::StrAppend(&command, " --projection ", Quoted(read_.projection_expression));
    const std::string all = absl::StrCat(key_condition, " ", filter, " ", read_.projection_expression);
    const JsonValue names = UsedIn(all, read_.expression_attribute_names,
                                   [](const std::string& name) { return JsonValue::String(name); });
    const JsonValue values = ValuesUsedIn(all, read_.expression_attribute_values);
    if (!names.members.empty()) absl::StrAppend(&command, " --names ", Quoted(OneLine(names)));
    if (!values.members.empty()) absl::StrAppend(&command, " --values ", Quoted(OneLine(values)));
    return command;
  }

  const ObservedRead& read_;
  const TableDefinition& table_;
  // Plans point into it.
  std::vector<Conjunct> conditions_;
};

}  // namespace

std::set<std::string> FixedAttributes(const std::string& filter, const ExpressionAttributeNames& names) {
  std::set<std::string> fixed;
  for (const Conjunct& condition : ConjunctsOf(filter, names, true)) {
    if (condition.is_equality) fixed.insert(condition.attribute);
  }
  return fixed;
}

std::vector<std::string> AdviceFor(const ObservedRead& read, const TableDefinition& table) {
  const std::set<std::string> fixed =
      FixedAttributes(read.filter_expression, read.expression_attribute_names);
  const Adviser adviser(read, table);
  std::vector<std::string> advice = adviser.QueriesInstead();
  for (std::string& local : adviser.LocalIndexes()) advice.push_back(std::move(local));
  if (!read.filter_expression.empty() && read.count * kWorthAnIndex < read.scanned_count) {
    std::string sentence = absl::StrFormat("the filter discarded %d of %d items read",
                                           read.scanned_count - read.count, read.scanned_count);
    if (advice.empty() && !fixed.empty()) {
      sentence +=
          absl::StrFormat("; a query of an index with the partition key %s would read only the others",
                          absl::StrJoin(fixed, ", "));
    }
    advice.push_back(std::move(sentence));
  }
  if (read.base_items_read > 0) {
    advice.push_back(absl::StrFormat(
        "%s read from the table, because the local index does not project all attributes that are "
        "returned: name fewer with --projection",
        read.base_items_read == 1 ? "1 item was" : absl::StrCat(read.base_items_read, " items were")));
  }
  return advice;
}

}  // namespace itemdb::tools
