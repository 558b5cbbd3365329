#include "tools/model/model_parameters.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

using Kind = JsonValue::Kind;

constexpr std::string_view kValues = "ExpressionAttributeValues";

// The placeholders for values, ":name", in an expression.
std::set<std::string> PlaceholdersIn(std::string_view expression) {
  const auto is_word = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::set<std::string> placeholders;
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] != ':') continue;
    size_t end = i + 1;
    while (end < expression.size() && is_word(expression[end])) ++end;
    if (end > i + 1) placeholders.emplace(expression.substr(i, end - i));
  }
  return placeholders;
}

std::set<std::string> PlaceholdersOf(const JsonValue& request) {
  std::set<std::string> placeholders;
  for (const auto& [name, value] : request.members) {
    if (name.ends_with("Expression") && value.kind == Kind::kString)
      placeholders.merge(PlaceholdersIn(value.text));
  }
  return placeholders;
}

class Substitution {
 public:
  Substitution(const ParameterValues& values, std::set<std::string>* used) : values_(values), used_(*used) {}

  // Replaces in a request, in an object of it, or in an array or object that contains such objects.
  JsonValue OfRequest(const JsonValue& json) {
    JsonValue result = json;
    for (JsonValue& element : result.elements) element = OfRequest(element);
    for (auto& [name, value] : result.members) {
      if (name == "Key" || name == kValues) {
        value = OfNamed(value);
      } else if (name == "Keys") {
        for (JsonValue& key : value.elements) key = OfNamed(key);
      } else if (name == "Item" || name == "ExclusiveStartKey") {
        value = OfStrings(value);
      } else {
        value = OfRequest(value);
      }
    }
    for (const std::string& placeholder : PlaceholdersOf(json)) AddValue(placeholder, &result);
    return result;
  }

 private:
  // Null if `name` has no value.
  const JsonValue* Find(const std::string& name) {
    const auto it = values_.find(name);
    if (it == values_.end()) return nullptr;
    used_.insert(name);
    return &it->second;
  }

  // Replaces the members of a key or of ExpressionAttributeValues by their name.
  JsonValue OfNamed(const JsonValue& json) {
    JsonValue result = json;
    for (auto& [name, value] : result.members) {
      const JsonValue* set = Find(name);
      value = set == nullptr ? OfStrings(value) : *set;
    }
    return result;
  }

  // Replaces strings in an attribute value, at any depth, by their text.
  JsonValue OfStrings(const JsonValue& json) {
    if (json.kind == Kind::kString && json.text.starts_with(':')) {
      if (const JsonValue* set = Find(json.text); set != nullptr) return *set;
    }
    JsonValue result = json;
    for (JsonValue& element : result.elements) element = OfStrings(element);
    for (auto& [name, value] : result.members) value = OfStrings(value);
    return result;
  }

  void AddValue(const std::string& placeholder, JsonValue* request) {
    const JsonValue* given = request->FindOrNull(kValues);
    if (given != nullptr && given->FindOrNull(placeholder) != nullptr) return;
    const JsonValue* set = Find(placeholder);
    if (set == nullptr) return;
    if (given == nullptr) request->Add(std::string(kValues), JsonValue::Object());
    for (auto& [name, value] : request->members) {
      if (name == kValues && value.kind == Kind::kObject) value.Add(placeholder, *set);
    }
  }

  const ParameterValues& values_;
  std::set<std::string>& used_;
};

void AddMemberNames(const JsonValue& json, std::set<std::string>* names) {
  for (const auto& [name, value] : json.members) names->insert(name);
}

void AddSettableNames(const JsonValue& request, std::set<std::string>* names) {
  for (const JsonValue& element : request.elements) AddSettableNames(element, names);
  for (const auto& [name, value] : request.members) {
    if (name == "Key" || name == kValues) {
      AddMemberNames(value, names);
    } else if (name == "Keys") {
      for (const JsonValue& key : value.elements) AddMemberNames(key, names);
    } else if (name != "Item" && name != "ExclusiveStartKey") {
      AddSettableNames(value, names);
    }
  }
}

}  // namespace

JsonValue WithParameters(const JsonValue& request, const ParameterValues& values,
                         std::set<std::string>* used) {
  return Substitution(values, used).OfRequest(request);
}

std::set<std::string> SettableNames(const ModelPattern& pattern) {
  std::set<std::string> names;
  for (const auto& [name, value] : pattern.parameters) names.insert(name);
  for (const ModelRequest& request : pattern.requests) AddSettableNames(request.request, &names);
  return names;
}

absl::StatusOr<std::pair<std::string, JsonValue>> ParseSetting(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return UsageError(absl::StrFormat("--set: %s must be NAME=VALUE", JsonString(text)));
  }
  std::string name = text.substr(0, equals);
  absl::StatusOr<JsonValue> json = ParseJson(text.substr(equals + 1));
  const JsonValue value = json.ok() ? *std::move(json) : JsonValue::String(text.substr(equals + 1));
  ITEMDB_ASSIGN_OR_RETURN(Item item,
                          ItemFromJson(JsonValue::Object().Add(name, value), ReadForm::kDetect, "--set"));
  return std::pair(name, ValueToJson(*item.find_or_null(name), ItemForm::kTyped));
}

}  // namespace itemdb::tools
