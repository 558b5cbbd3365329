#include "tools/model/read_advice.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

// Advice is given if less than one in kWorthAnIndex of the items read passes the filter.
constexpr int64_t kWorthAnIndex = 2;

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

bool Contains(const std::set<std::string>& fixed, const std::vector<std::string>& names) {
  return !names.empty() && std::all_of(names.begin(), names.end(),
                                       [&](const std::string& name) { return fixed.contains(name); });
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

// The parts of `filter` that AND connects at its top level. The AND of BETWEEN connects nothing.
std::vector<std::vector<std::string>> Conjuncts(const std::string& filter) {
  std::vector<std::vector<std::string>> parts(1);
  int depth = 0;
  bool between = false;
  for (std::string& token : Tokens(filter)) {
    if (token == "(") ++depth;
    if (token == ")") --depth;
    if (absl::EqualsIgnoreCase(token, "between")) between = true;
    if (depth == 0 && absl::EqualsIgnoreCase(token, "and")) {
      if (!between) {
        parts.emplace_back();
        continue;
      }
      between = false;
    }
    parts.back().push_back(std::move(token));
  }
  return parts;
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

bool Mentions(const std::vector<std::string>& conjunct, const std::string& attribute,
              const ExpressionAttributeNames& names) {
  return std::any_of(conjunct.begin(), conjunct.end(),
                     [&](const std::string& token) { return NameIn(token, names) == attribute; });
}

bool IsEquality(const std::vector<std::string>& conjunct) {
  return conjunct.size() == 3 && conjunct[1] == "=" && (IsValue(conjunct[0]) || IsValue(conjunct[2]));
}

// The placeholders of `text` that `all` defines, as a JSON object.
template <typename Placeholders, typename ToJson>
JsonValue UsedIn(const std::string& text, const Placeholders& all, ToJson to_json) {
  JsonValue used = JsonValue::Object();
  const std::vector<std::string> tokens = Tokens(text);
  for (const auto& [name, value] : all) {
    const std::string& placeholder = name;
    // An alias may begin a path: #m.color.
    const bool is_used = std::any_of(tokens.begin(), tokens.end(), [&placeholder](const std::string& token) {
      return token == placeholder || token.starts_with(placeholder + ".");
    });
    if (is_used) used.Add(placeholder, to_json(value));
  }
  return used;
}

// Plain JSON where it reads back as the same value.
JsonValue ValueAsTyped(const Value& value) {
  const bool plain = value.type() == ValueType::kString || value.type() == ValueType::kNumber ||
                     value.type() == ValueType::kBool;
  return ValueToJson(value, plain ? ItemForm::kPlain : ItemForm::kTyped);
}

// Advice to query by the partition key `partition`; `index_name` is empty for the table. `sort` are the
// sort-key attributes.
std::string QueryInstead(const ObservedRead& read, const TableDefinition& table,
                         const std::string& index_name, const std::vector<std::string>& partition,
                         const std::vector<std::string>& sort) {
  const ExpressionAttributeNames& names = read.expression_attribute_names;
  std::vector<std::string> key_condition;
  std::vector<std::string> filter;
  const std::string first_sort = sort.empty() ? "" : sort.front();
  bool has_sort = false;
  for (const std::vector<std::string>& conjunct : Conjuncts(read.filter_expression)) {
    const bool of_partition = std::any_of(partition.begin(), partition.end(), [&](const std::string& name) {
      return IsEquality(conjunct) && Mentions(conjunct, name, names);
    });
    // A key condition has at most one part about the sort key.
    const bool of_sort = !first_sort.empty() && !has_sort && Mentions(conjunct, first_sort, names) &&
                         (conjunct.size() <= 4 || absl::EqualsIgnoreCase(conjunct[1], "between") ||
                          conjunct.front() == "begins_with");
    has_sort = has_sort || of_sort;
    (of_partition || of_sort ? key_condition : filter).push_back(Joined(conjunct));
  }
  const std::string condition_text = absl::StrJoin(key_condition, " AND ");
  const std::string filter_text = absl::StrJoin(filter, " AND ");
  std::string command = "itemctl query " + table.table_name;
  if (!index_name.empty()) absl::StrAppend(&command, " --index ", index_name);
  absl::StrAppend(&command, " --key-condition ", Quoted(condition_text));
  if (!filter.empty()) absl::StrAppend(&command, " --filter ", Quoted(filter_text));
  const std::string both = condition_text + " " + filter_text;
  const JsonValue used_names =
      UsedIn(both, names, [](const std::string& name) { return JsonValue::String(name); });
  const JsonValue used_values = UsedIn(both, read.expression_attribute_values, ValueAsTyped);
  if (!used_names.members.empty()) absl::StrAppend(&command, " --names ", Quoted(OneLine(used_names)));
  if (!used_values.members.empty()) absl::StrAppend(&command, " --values ", Quoted(OneLine(used_values)));
  return absl::StrFormat("the filter fixes %s, the partition key of %s; a query reads only that: %s",
                         absl::StrJoin(partition, ", "),
                         index_name.empty() ? "the table" : "the index " + index_name, command);
}

}  // namespace

std::set<std::string> FixedAttributes(const std::string& filter, const ExpressionAttributeNames& names) {
  const std::vector<std::string> tokens = Tokens(filter);
  std::set<std::string> fixed;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (absl::EqualsIgnoreCase(tokens[i], "or") || absl::EqualsIgnoreCase(tokens[i], "not")) return {};
    const bool equals =
        tokens[i] == "=" && i > 0 && i + 1 < tokens.size() && tokens[i - 1] != "<" && tokens[i - 1] != ">";
    if (!equals) continue;
    for (const auto& [name, value] :
         {std::pair(tokens[i - 1], tokens[i + 1]), std::pair(tokens[i + 1], tokens[i - 1])}) {
      if (!IsName(name) || !IsValue(value)) continue;
      const auto alias = names.find(name);
      fixed.insert(alias == names.end() ? name : alias->second);
    }
  }
  return fixed;
}

std::vector<std::string> AdviceFor(const ObservedRead& read, const TableDefinition& table) {
  std::vector<std::string> advice;
  const std::set<std::string> fixed =
      FixedAttributes(read.filter_expression, read.expression_attribute_names);
  const std::vector<std::string> partition = AttributesOf(table.key_schema, KeyType::kHash);
  // A query of the table or of a local index has a key condition on the table's partition key already.
  if ((!read.is_query || !read.index_name.empty()) && Contains(fixed, partition)) {
    advice.push_back(
        QueryInstead(read, table, "", partition, AttributesOf(table.key_schema, KeyType::kRange)));
  }
  for (const GlobalSecondaryIndex& index : table.global_secondary_indexes) {
    const std::vector<std::string> own = AttributesOf(index.key_schema, KeyType::kHash);
    if (read.is_query && index.index_name == read.index_name) continue;
    if (!Contains(fixed, own)) continue;
    advice.push_back(
        QueryInstead(read, table, index.index_name, own, AttributesOf(index.key_schema, KeyType::kRange)));
  }
  for (const LocalSecondaryIndex& index : table.local_secondary_indexes) {
    const std::vector<std::string> sort = AttributesOf(index.key_schema, KeyType::kRange);
    if (!read.is_query || !read.index_name.empty() || !Contains(fixed, sort)) continue;
    advice.push_back(absl::StrFormat(
        "the filter fixes %s, the sort key of the local index %s: with --index %s it can be part of the "
        "key condition",
        absl::StrJoin(sort, ", "), index.index_name, index.index_name));
  }
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
