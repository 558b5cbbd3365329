// A JSON document that keeps the order of its members and the digits of its numbers.
//
// itemctl never converts a number to a double, because numbers in items have up to 38 decimal digits. Used by
// item_json.h (items) and table_json.h (CreateTable requests).
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace itemdb::tools {

struct JsonValue {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  // kString: the text, UTF-8. kNumber: every digit as written (an integer loses only a "-" before 0).
  std::string text = {};
  std::vector<JsonValue> elements = {};                         // kArray
  std::vector<std::pair<std::string, JsonValue>> members = {};  // kObject; names are distinct

  static JsonValue Null() { return {}; }
  static JsonValue Bool(bool value);
  // `digits` must be a JSON number.
  static JsonValue Number(std::string digits);
  static JsonValue Number(std::integral auto value) { return Number(std::to_string(value)); }
  static JsonValue String(std::string text);
  static JsonValue Array(std::vector<JsonValue> elements = {});
  static JsonValue Object() { return {.kind = Kind::kObject}; }

  // Appends a member to an object and returns the object, for building one in a single expression.
  JsonValue& Add(std::string name, JsonValue value);
  // The same for texts, an integer or a boolean.
  JsonValue& Add(std::string name, const std::vector<std::string>& texts);
  template <typename T>
  requires(std::integral<T> ||
           std::convertible_to<const T&, std::string_view>) JsonValue& Add(std::string name, const T& value) {
    if constexpr (std::same_as<T, bool>) {
      return Add(std::move(name), Bool(value));
    } else if constexpr (std::integral<T>) {
      return Add(std::move(name), Number(value));
    } else {
      return Add(std::move(name), String(std::string(std::string_view(value))));
    }
  }

  // The member called `name`; null if this is not an object or has no such member. Valid until this value is
  // changed.
  const JsonValue* FindOrNull(std::string_view name) const;
};

// The name of `kind` in error messages: "a string", "an object", "null", ...
std::string_view KindName(JsonValue::Kind kind);

// Parses one JSON document; white space around it is allowed, anything else after it is not.
//
// INVALID_ARGUMENT: `text` is not JSON (the message gives line and column, both from 1, the column in bytes),
// has two members of one name in an object, or nests deeper than kMaxJsonDepth.
absl::StatusOr<JsonValue> ParseJson(std::string_view text);

// In levels. An item has at most 32 levels, which are 65 in DynamoDB JSON; deeper documents are mistakes.
inline constexpr int kMaxJsonDepth = 100;

// The document on one line: `{"a": 1, "b": [true, null]}`.
std::string OneLine(const JsonValue& value);
// The document on several lines, indented by two spaces a level, without a newline at the end. `level` is the
// depth at which the caller prints it; the first line is not indented. A short array or object without arrays
// and objects inside stays on one line.
std::string Indented(const JsonValue& value, int level = 0);

// Appends `text` to `out` as a JSON string with its quotes. UTF-8 is kept; quotes, backslashes and control
// characters are escaped, so the result is one line.
void AppendJsonString(std::string_view text, std::string* out);
std::string JsonString(std::string_view text);

}  // namespace itemdb::tools
