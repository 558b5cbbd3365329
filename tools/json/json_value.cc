#include "tools/json/json_value.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "tools/base/control_characters.h"

namespace itemdb::tools {
namespace {

using nlohmann::json;

// The position of the byte at `offset` (from 0) as text: "line 3, column 7".
std::string Position(std::string_view text, size_t offset) {
  std::string_view before = text.substr(0, std::min(offset, text.size()));
  size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  size_t line_start = before.rfind('\n');
  size_t column = before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
  return absl::StrFormat("line %d, column %d", line, column);
}

// The parser's message, "syntax error while parsing value - ...", without its exception id, its position and
// the text that it read last, which may be long or not UTF-8.
std::string Reason(std::string message) {
  if (size_t bracket = message.find("] "); bracket != std::string::npos) message.erase(0, bracket + 2);
  if (message.starts_with("parse error")) {
    if (size_t colon = message.find(": "); colon != std::string::npos) message.erase(0, colon + 2);
  }
  if (size_t last_read = message.find("; last read: "); last_read != std::string::npos)
    message.erase(last_read);
  return message;
}

// Receives the parser's events and builds the tree. `open_` holds the containers that are not closed yet,
// outermost first. A container moves into its parent when it closes, so no pointer into a growing vector is
// kept.
class TreeBuilder : public nlohmann::json_sax<json> {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}

  JsonValue root;
  absl::Status status;

  bool null() override { return Add(JsonValue::Null()); }
  bool boolean(bool value) override { return Add(JsonValue::Bool(value)); }
  bool number_integer(int64_t value) override { return Add(JsonValue::Number(value)); }
  bool number_unsigned(uint64_t value) override { return Add(JsonValue::Number(value)); }
  // Also called for integers that do not fit in 64 bits. `text` is the number as written in the document.
  bool number_float(double, const std::string& text) override { return Add(JsonValue::Number(text)); }
  bool string(std::string& value) override { return Add(JsonValue::String(std::move(value))); }
  bool binary(json::binary_t&) override { return false; }

  bool start_object(size_t) override { return Open(JsonValue::Kind::kObject); }
  bool key(std::string& name) override {
    open_.back().members.emplace_back(std::move(name), JsonValue{});
    return true;
  }
  bool end_object() override {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : open_.back().members) names.push_back(name);
    std::sort(names.begin(), names.end());
    if (auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
      status = absl::InvalidArgumentError(
          absl::StrFormat("malformed JSON: the member %s occurs twice in one object; names must be distinct",
                          JsonString(*twice)));
      return false;
    }
    return Close();
  }
  bool start_array(size_t) override { return Open(JsonValue::Kind::kArray); }
  bool end_array() override { return Close(); }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // `position` is the number of bytes read, including the byte with the error.
    status = absl::InvalidArgumentError(absl::StrFormat(
        "malformed JSON at %s: %s", Position(text_, position == 0 ? 0 : position - 1), Reason(error.what())));
    return false;
  }

 private:
  bool Open(JsonValue::Kind kind) {
    if (open_.size() >= static_cast<size_t>(kMaxJsonDepth)) {
      status = absl::InvalidArgumentError(
          absl::StrFormat("JSON nests deeper than the %d levels allowed", kMaxJsonDepth));
      return false;
    }
    open_.push_back({.kind = kind});
    return true;
  }

  bool Close() {
    JsonValue closed = std::move(open_.back());
    open_.pop_back();
    return Add(std::move(closed));
  }

  bool Add(JsonValue value) {
    if (open_.empty()) {
      root = std::move(value);
    } else if (open_.back().kind == JsonValue::Kind::kArray) {
      open_.back().elements.push_back(std::move(value));
    } else {
      open_.back().members.back().second = std::move(value);
    }
    return true;
  }

  std::string_view text_;
  std::vector<JsonValue> open_;
};

// An array or object of scalars stays on one line up to this many bytes.
constexpr size_t kShortLine = 80;

bool HasContainers(const JsonValue& value) {
  auto is_container = [](const JsonValue& inner) {
    return inner.kind == JsonValue::Kind::kArray || inner.kind == JsonValue::Kind::kObject;
  };
  return std::any_of(value.elements.begin(), value.elements.end(), is_container) ||
         std::any_of(value.members.begin(), value.members.end(),
                     [&](const auto& member) { return is_container(member.second); });
}

// Appends `value`; `level` < 0: on one line.
void AppendJson(const JsonValue& value, int level, std::string* out) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      out->append("null");
      return;
    case JsonValue::Kind::kBool:
      out->append(value.boolean ? "true" : "false");
      return;
    case JsonValue::Kind::kNumber:
      out->append(value.text);
      return;
    case JsonValue::Kind::kString:
      AppendJsonString(value.text, out);
      return;
    case JsonValue::Kind::kArray:
    case JsonValue::Kind::kObject:
      break;
  }
  if (level >= 0 && !HasContainers(value)) {
    std::string line;
    AppendJson(value, -1, &line);
    if (line.size() <= kShortLine) {
      out->append(line);
      return;
    }
  }
  const int inner_level = level < 0 ? -1 : level + 1;
  bool first = true;
  auto separate = [&] {
    if (!first) out->append(level < 0 ? ", " : ",");
    if (level >= 0) out->append("\n").append(2 * inner_level, ' ');
    first = false;
  };
  const bool is_object = value.kind == JsonValue::Kind::kObject;
  out->push_back(is_object ? '{' : '[');
  for (const JsonValue& element : value.elements) {
    separate();
    AppendJson(element, inner_level, out);
  }
  for (const auto& [name, member] : value.members) {
    separate();
    AppendJsonString(name, out);
    out->append(": ");
    AppendJson(member, inner_level, out);
  }
  if (!first && level >= 0) out->append("\n").append(2 * level, ' ');
  out->push_back(is_object ? '}' : ']');
}

}  // namespace

JsonValue JsonValue::Bool(bool value) {
  JsonValue made{.kind = Kind::kBool};
  made.boolean = value;
  return made;
}

JsonValue JsonValue::Number(std::string digits) { return {.kind = Kind::kNumber, .text = std::move(digits)}; }

JsonValue JsonValue::String(std::string text) { return {.kind = Kind::kString, .text = std::move(text)}; }

JsonValue JsonValue::Array(std::vector<JsonValue> elements) {
  JsonValue made{.kind = Kind::kArray};
  made.elements = std::move(elements);
  return made;
}

JsonValue& JsonValue::Add(std::string name, JsonValue value) {
  members.emplace_back(std::move(name), std::move(value));
  return *this;
}

JsonValue& JsonValue::Add(std::string name, const std::vector<std::string>& texts) {
  JsonValue array = Array();
  for (const std::string& text : texts) array.elements.push_back(String(text));
  return Add(std::move(name), std::move(array));
}

const JsonValue* JsonValue::FindOrNull(std::string_view name) const {
  for (const auto& [member_name, value] : members) {
    if (member_name == name) return &value;
  }
  return nullptr;
}

std::string_view KindName(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBool:
      return "a boolean";
    case JsonValue::Kind::kNumber:
      return "a number";
    case JsonValue::Kind::kString:
      return "a string";
    case JsonValue::Kind::kArray:
      return "an array";
    case JsonValue::Kind::kObject:
      return "an object";
  }
  return "a value";
}

absl::StatusOr<JsonValue> ParseJson(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return absl::InvalidArgumentError("malformed JSON: the text is empty, one JSON document is needed");
  }
  TreeBuilder builder(text);
  if (json::sax_parse(text.begin(), text.end(), &builder)) return std::move(builder.root);
  if (builder.status.ok()) return absl::InvalidArgumentError("malformed JSON");
  return builder.status;
}

std::string OneLine(const JsonValue& value) {
  std::string out;
  AppendJson(value, -1, &out);
  return out;
}

std::string Indented(const JsonValue& value, int level) {
  std::string out;
  AppendJson(value, level, &out);
  return out;
}

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        out->append("\\\"");
        break;
      case '\\':
        out->append("\\\\");
        break;
      case '\n':
        out->append("\\n");
        break;
      case '\r':
        out->append("\\r");
        break;
      case '\t':
        out->append("\\t");
        break;
      default:
        if (const size_t control = ControlCharacterBytes(text.substr(at)); control > 0) {
          absl::StrAppendFormat(out, "\\u%04x", ControlCharacter(text.substr(at), control));
          at += control - 1;
        } else {
          out->push_back(text[at]);
        }
    }
  }
  out->push_back('"');
}

std::string JsonString(std::string_view text) {
  std::string out;
  AppendJsonString(text, &out);
  return out;
}

}  // namespace itemdb::tools
