// A JSON document as it was written: members in order, numbers as text.
//
// The tool never turns a number into a double, because items carry 38 decimal digits. Used by item_json.h
// (items) and table_json.h (CreateTable requests).
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

  // The member called `name`, or null when this is no object or has none. Valid while this value is
  // unchanged.
  const JsonValue* FindOrNull(std::string_view name) const;
};

// What an error message calls a value of this kind: "a string", "an object", "null", ...
std::string_view KindName(JsonValue::Kind kind);

// Parses one JSON document; white space around it is allowed, anything else after it is not.
//
// INVALID_ARGUMENT: `text` is not JSON (the message gives line and column, both from 1, the column in bytes),
// has two members of one name in an object, or nests deeper than kMaxJsonDepth.
absl::StatusOr<JsonValue> ParseJson(std::string_view text);

// An item's 32 levels need 65 in DynamoDB JSON; beyond this only mistakes nest.
inline constexpr int kMaxJsonDepth = 100;

// The document on one line: `{"a": 1, "b": [true, null]}`.
std::string OneLine(const JsonValue& value);
// The document over several lines, two spaces a level, without a newline at the end. `level` is the depth at
// which it is to stand; its first line is not indented. Arrays and objects without containers in them stay on
// one line when they are short.
std::string Indented(const JsonValue& value, int level = 0);

// Appends `text` to `out` as a JSON string with its quotes. UTF-8 is kept; quotes, backslashes and control
// characters are escaped, so the result is one line.
void AppendJsonString(std::string_view text, std::string* out);
std::string JsonString(std::string_view text);

}  // namespace itemdb::tools
