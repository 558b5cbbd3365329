#include "tools/model/read_advice.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

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

// "a = :a AND b = :b".
std::string EqualityOn(const std::vector<std::string>& names) {
  return absl::StrJoin(names, " AND ", [](std::string* out, const std::string& name) {
    out->append(name).append(" = :").append(name);
  });
}

// Advice to query by the partition key `partition`; `index_name` is empty for the table.
std::string QueryInstead(const TableDefinition& table, const std::string& index_name,
                         const std::vector<std::string>& partition) {
  return absl::StrFormat(
      "the filter fixes %s, the partition key of %s: itemctl query %s%s --key-condition '%s' reads only that",
      absl::StrJoin(partition, ", "), index_name.empty() ? "the table" : "the index " + index_name,
      table.table_name, index_name.empty() ? "" : " --index " + index_name, EqualityOn(partition));
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
    advice.push_back(QueryInstead(table, "", partition));
  }
  for (const GlobalSecondaryIndex& index : table.global_secondary_indexes) {
    const std::vector<std::string> own = AttributesOf(index.key_schema, KeyType::kHash);
    if (read.is_query && index.index_name == read.index_name) continue;
    if (Contains(fixed, own)) advice.push_back(QueryInstead(table, index.index_name, own));
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
        "%d items were read from the table, because the local index does not project all attributes that are "
        "returned: name fewer with --projection",
        read.base_items_read));
  }
  return advice;
}

}  // namespace itemdb::tools
