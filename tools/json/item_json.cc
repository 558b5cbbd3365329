#include "tools/json/item_json.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"

namespace itemdb::tools {
namespace {

using Kind = JsonValue::Kind;

// ---- writing -------------------------------------------------------------------------------------

std::string Base64(std::string_view bytes) {
  return absl::Base64Escape(absl::string_view(bytes.data(), bytes.size()));
}

// Whether `text` is a number in JSON's grammar. The data model accepts more: ".5", "+5".
bool IsJsonNumber(std::string_view text) {
  auto skip_digits = [&text] {
    size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(digits);
    return digits;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  bool leading_zero = text.starts_with('0');
  size_t integer_digits = skip_digits();
  if (integer_digits == 0 || (leading_zero && integer_digits > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (skip_digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (skip_digits() == 0) return false;
  }
  return text.empty();
}

JsonValue PlainNumber(const Number& number) {
  return IsJsonNumber(number.text()) ? JsonValue::Number(number.text()) : JsonValue::String(number.text());
}

// `convert` converts one element to a JsonValue.
template <typename T, typename Convert>
JsonValue ArrayOf(const std::vector<T>& values, Convert convert) {
  JsonValue array = JsonValue::Array();
  for (const T& value : values) array.elements.push_back(convert(value));
  return array;
}

JsonValue StringOf(const std::string& text) { return JsonValue::String(text); }
JsonValue Base64Of(const std::string& bytes) { return JsonValue::String(Base64(bytes)); }
JsonValue NumberTextOf(const Number& number) { return JsonValue::String(number.text()); }

// The JSON of `value` without the object that names its type.
JsonValue ContentToJson(const Value& value, ItemForm form) {
  switch (value.type()) {
    case ValueType::kString:
      return StringOf(*value.string_or_null());
    case ValueType::kNumber:
      return form == ItemForm::kTyped ? NumberTextOf(*value.number_or_null())
                                      : PlainNumber(*value.number_or_null());
    case ValueType::kBinary:
      return Base64Of(*value.binary_or_null());
    case ValueType::kStringSet:
      return ArrayOf(*value.string_set_or_null(), StringOf);
    case ValueType::kNumberSet:
      return ArrayOf(*value.number_set_or_null(), form == ItemForm::kTyped ? NumberTextOf : PlainNumber);
    case ValueType::kBinarySet:
      return ArrayOf(*value.binary_set_or_null(), Base64Of);
    case ValueType::kList:
      return ArrayOf(*value.list_or_null(),
                     [form](const Value& element) { return ValueToJson(element, form); });
    case ValueType::kMap:
      return ItemToJson(*value.map_or_null(), form);
    case ValueType::kBool:
      return JsonValue::Bool(*value.bool_or_null());
    case ValueType::kNull:
      return form == ItemForm::kTyped ? JsonValue::Bool(true) : JsonValue::Null();
  }
  return JsonValue::Null();
}

// ---- telling the forms apart ---------------------------------------------------------------------

bool LooksTyped(const JsonValue& json);

bool AllStrings(const JsonValue& json) {
  return json.kind == Kind::kArray && std::all_of(json.elements.begin(), json.elements.end(),
                                                  [](const JsonValue& e) { return e.kind == Kind::kString; });
}

bool MembersLookTyped(const JsonValue& json) {
  return json.kind == Kind::kObject &&
         std::all_of(json.members.begin(), json.members.end(),
                     [](const auto& member) { return LooksTyped(member.second); });
}

// Whether `json` has the shape of a typed attribute value. The text of a number or binary is not checked:
// {"N": "1O"} is reported as a malformed number, not read as a plain map.
bool LooksTyped(const JsonValue& json) {
  if (json.kind != Kind::kObject || json.members.size() != 1) return false;
  const auto& [type, content] = json.members.front();
  if (type == "S" || type == "N" || type == "B") return content.kind == Kind::kString;
  if (type == "SS" || type == "NS" || type == "BS") return AllStrings(content);
  if (type == "BOOL" || type == "NULL") return content.kind == Kind::kBool;
  if (type == "M") return MembersLookTyped(content);
  return type == "L" && content.kind == Kind::kArray &&
         std::all_of(content.elements.begin(), content.elements.end(), LooksTyped);
}

// ---- reading -------------------------------------------------------------------------------------

absl::StatusOr<Number> ReadNumber(const std::string& text, const std::string& path) {
  absl::StatusOr<Number> number = Number::Parse(text);
  if (!number.ok()) {
    return UsageError(absl::StrFormat("%s: %s", path, std::string(number.status().message())));
  }
  return number;
}

absl::StatusOr<std::string> ReadBase64(const std::string& text, const std::string& path) {
  std::string bytes;
  // Comparing with the text encoded again refuses what the decoder accepts: white space, missing padding,
  // unused bits that are not 0.
  if (!absl::Base64Unescape(text, &bytes) || Base64(bytes) != text) {
    return UsageError(
        absl::StrFormat("%s: %s is not base64 (A-Z a-z 0-9 + / with = padding)", path, JsonString(text)));
  }
  return bytes;
}

absl::StatusOr<Value> ReadPlain(const JsonValue& json, const std::string& path);
absl::StatusOr<Value> ReadTyped(const JsonValue& json, const std::string& path);

// Reads each element with `read(element, path of the element)`, which returns absl::StatusOr<T>.
template <typename T, typename Read>
absl::StatusOr<std::vector<T>> ReadElements(const JsonValue& array, const std::string& path, Read read) {
  std::vector<T> values;
  for (size_t i = 0; i < array.elements.size(); ++i) {
    ITEMDB_ASSIGN_OR_RETURN(T value, read(array.elements[i], absl::StrFormat("%s[%d]", path, i)));
    values.push_back(std::move(value));
  }
  return values;
}

// Reads each member of an object as an attribute. `path` is empty for a whole item.
template <typename Read>
absl::StatusOr<Item> ReadMembers(const JsonValue& object, const std::string& path, Read read) {
  Item item;
  for (const auto& [name, json] : object.members) {
    ITEMDB_ASSIGN_OR_RETURN(Value value,
                            read(json, path.empty() ? name : absl::StrFormat("%s.%s", path, name)));
    item.Set(name, std::move(value));
  }
  return item;
}

absl::StatusOr<Value> ReadPlain(const JsonValue& json, const std::string& path) {
  switch (json.kind) {
    case Kind::kNull:
      return Value::Null();
    case Kind::kBool:
      return Value(json.boolean);
    case Kind::kNumber: {
      ITEMDB_ASSIGN_OR_RETURN(Number number, ReadNumber(json.text, path));
      return Value(std::move(number));
    }
    case Kind::kString:
      return Value(json.text);
    case Kind::kArray: {
      ITEMDB_ASSIGN_OR_RETURN(std::vector<Value> values, ReadElements<Value>(json, path, ReadPlain));
      return Value::List(std::move(values));
    }
    case Kind::kObject: {
      ITEMDB_ASSIGN_OR_RETURN(Item members, ReadMembers(json, path, ReadPlain));
      return Value::Map(std::move(members));
    }
  }
  return Value::Null();
}

absl::Status WrongContent(const std::string& path, const std::string& type, std::string_view wanted,
                          const JsonValue& content) {
  return UsageError(absl::StrFormat("%s: %s needs %s, not %s", path, type, std::string(wanted),
                                    std::string(KindName(content.kind))));
}

absl::StatusOr<std::string> ReadString(const JsonValue& json, const std::string& path) {
  if (json.kind != Kind::kString) return WrongContent(path, "a set element", "a string", json);
  return json.text;
}

// SS, NS and BS.
absl::StatusOr<Value> ReadSet(const std::string& type, const JsonValue& content, const std::string& path) {
  if (content.kind != Kind::kArray) return WrongContent(path, type, "an array of strings", content);
  if (type == "NS") {
    ITEMDB_ASSIGN_OR_RETURN(
        auto numbers,
        ReadElements<Number>(content, path, [](const JsonValue& json, const std::string& element_path) {
          absl::StatusOr<std::string> text = ReadString(json, element_path);
          return text.ok() ? ReadNumber(*text, element_path) : absl::StatusOr<Number>(text.status());
        }));
    return Value::NumberSet(std::move(numbers));
  }
  ITEMDB_ASSIGN_OR_RETURN(
      auto strings,
      ReadElements<std::string>(content, path, [&](const JsonValue& json, const std::string& element_path) {
        absl::StatusOr<std::string> text = ReadString(json, element_path);
        return text.ok() && type == "BS" ? ReadBase64(*text, element_path) : text;
      }));
  return type == "BS" ? Value::BinarySet(std::move(strings)) : Value::StringSet(std::move(strings));
}

// S, N and B.
absl::StatusOr<Value> ReadScalar(const std::string& type, const JsonValue& content, const std::string& path) {
  if (content.kind != Kind::kString) {
    return WrongContent(path, type, type == "N" ? "a number in a string" : "a string", content);
  }
  if (type == "S") return Value(content.text);
  if (type == "B") {
    ITEMDB_ASSIGN_OR_RETURN(std::string bytes, ReadBase64(content.text, path));
    return Value::Binary(std::move(bytes));
  }
  ITEMDB_ASSIGN_OR_RETURN(Number number, ReadNumber(content.text, path));
  return Value(std::move(number));
}

absl::StatusOr<Value> ReadTyped(const JsonValue& json, const std::string& path) {
  static constexpr std::string_view kTypes = "S, N, B, SS, NS, BS, L, M, BOOL or NULL";
  if (json.kind != Kind::kObject || json.members.size() != 1) {
    return UsageError(absl::StrFormat("%s: DynamoDB JSON needs an object with exactly one member called %s",
                                      path, std::string(kTypes)));
  }
  const auto& [type, content] = json.members.front();
  if (type == "S" || type == "N" || type == "B") return ReadScalar(type, content, path);
  if (type == "SS" || type == "NS" || type == "BS") return ReadSet(type, content, path);
  if (type == "L") {
    if (content.kind != Kind::kArray) return WrongContent(path, type, "an array", content);
    ITEMDB_ASSIGN_OR_RETURN(std::vector<Value> values, ReadElements<Value>(content, path, ReadTyped));
    return Value::List(std::move(values));
  }
  if (type == "M") {
    if (content.kind != Kind::kObject) return WrongContent(path, type, "an object", content);
    ITEMDB_ASSIGN_OR_RETURN(Item members, ReadMembers(content, path, ReadTyped));
    return Value::Map(std::move(members));
  }
  if (type == "BOOL") {
    if (content.kind != Kind::kBool) return WrongContent(path, type, "true or false", content);
    return Value(content.boolean);
  }
  if (type == "NULL") {
    if (content.kind != Kind::kBool || !content.boolean) return UsageError(path + ": NULL must be true");
    return Value::Null();
  }
  return UsageError(
      absl::StrFormat("%s: unknown type %s; allowed are %s", path, JsonString(type), std::string(kTypes)));
}

// Prepends the document's name to an error message.
absl::Status Within(std::string_view what, const absl::Status& status) {
  return UsageError(absl::StrFormat("%s: %s", std::string(what), std::string(status.message())));
}

absl::StatusOr<JsonValue> ParseObject(std::string_view text, std::string_view what) {
  absl::StatusOr<JsonValue> json = ParseJson(text);
  if (!json.ok()) return Within(what, json.status());
  if (json->kind != Kind::kObject) {
    return UsageError(absl::StrFormat("%s must be a JSON object, not %s", std::string(what),
                                      std::string(KindName(json->kind))));
  }
  return json;
}

}  // namespace

JsonValue ValueToJson(const Value& value, ItemForm form) {
  JsonValue content = ContentToJson(value, form);
  if (form == ItemForm::kPlain) return content;
  JsonValue typed = JsonValue::Object();
  typed.Add(std::string(TypeName(value.type())), std::move(content));
  return typed;
}

JsonValue ItemToJson(const Item& item, ItemForm form) {
  JsonValue object = JsonValue::Object();
  for (const Attribute& attribute : item) object.Add(attribute.name, ValueToJson(attribute.value, form));
  return object;
}

absl::StatusOr<Item> ItemFromJson(const JsonValue& json, ReadForm form, std::string_view what) {
  if (json.kind != Kind::kObject) {
    return UsageError(absl::StrFormat("%s must be a JSON object, not %s", std::string(what),
                                      std::string(KindName(json.kind))));
  }
  const bool typed = form == ReadForm::kTyped || (form == ReadForm::kDetect && MembersLookTyped(json));
  absl::StatusOr<Item> item = ReadMembers(json, "", typed ? ReadTyped : ReadPlain);
  if (!item.ok()) return Within(what, item.status());
  return item;
}

absl::StatusOr<Item> ParseItem(std::string_view text, ReadForm form, std::string_view what) {
  ITEMDB_ASSIGN_OR_RETURN(JsonValue json, ParseObject(text, what));
  return ItemFromJson(json, form, what);
}

absl::StatusOr<ExpressionAttributeNames> ParseNames(std::string_view text, std::string_view what) {
  ExpressionAttributeNames names;
  if (text.empty()) return names;
  ITEMDB_ASSIGN_OR_RETURN(JsonValue json, ParseObject(text, what));
  for (const auto& [placeholder, name] : json.members) {
    if (name.kind != Kind::kString) {
      return UsageError(absl::StrFormat("%s: %s must be an attribute name in a string, not %s",
                                        std::string(what), placeholder, std::string(KindName(name.kind))));
    }
    names.emplace(placeholder, name.text);
  }
  return names;
}

absl::StatusOr<ExpressionAttributeValues> ParseValues(std::string_view text, ReadForm form,
                                                      std::string_view what) {
  ExpressionAttributeValues values;
  if (text.empty()) return values;
  ITEMDB_ASSIGN_OR_RETURN(Item item, ParseItem(text, form, what));
  for (const Attribute& attribute : item) values.emplace(attribute.name, attribute.value);
  return values;
}

}  // namespace itemdb::tools
