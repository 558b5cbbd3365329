#include "daemon/http/api/request_check.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/http/api/errors.h"
#include "storage/base/limits.h"
#include "storage/json/json_values.h"
#include "storage/json/json_writer.h"

namespace itemdb::http {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// At most so many violations of one request are reported, and so many bytes of one value are shown.
constexpr size_t kMaxViolations = 10;
constexpr size_t kMaxShownBytes = 256;

constexpr std::string_view kNamePattern = "[a-zA-Z0-9_.-]+";

// `end` if a character begins there, else the beginning of the character that contains `end`.
size_t CharacterBefore(std::string_view text, size_t end) {
  if (end >= text.size()) return text.size();
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return end;
}

// `text`, cut between characters if it is longer than kMaxShownBytes.
std::string Shortened(std::string_view text) {
  if (text.size() <= kMaxShownBytes) return std::string(text);
  return absl::StrCat(std::string(text.substr(0, CharacterBefore(text, kMaxShownBytes))), "...");
}

std::string Quoted(std::string_view text) { return absl::StrCat("'", Shortened(text), "'"); }

// The place of a value in the request. Show() makes its text only for an error.
struct Place {
  const Place* parent = nullptr;
  // A member or a key of a map; empty for an element of a list.
  std::string_view name = {};
  bool is_member = false;
  // The position of an element in its list, from 1; 0: not an element of a list.
  size_t position = 0;
};

// "keySchema.1.member.attributeName".
std::string Show(const Place& place) {
  std::string text =
      place.parent != nullptr && place.parent->parent != nullptr ? Show(*place.parent) + "." : "";
  if (place.position > 0) return absl::StrCat(text, place.position, ".member");
  if (!place.is_member) return absl::StrCat(text, Shortened(place.name), ".member");
  std::string name(place.name);
  name[0] = absl::ascii_tolower(static_cast<unsigned char>(name[0]));
  return text + name;
}

size_t CharactersOf(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; });
}

bool IsName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  });
}

// Appends the beginning of `value`'s JSON, at least kMaxShownBytes of a long one. Quoted() cuts the rest.
void AppendBeginning(const element& value, std::string* out) {
  if (out->size() > kMaxShownBytes) return;
  if (value.is_string()) {
    const auto text = As<std::string_view>(value);
    return storage::AppendJsonString(text.substr(0, CharacterBefore(text, kMaxShownBytes + 1)), out);
  }
  if (value.is_array()) {
    out->push_back('[');
    for (element one : AsArray(value)) {
      if (out->size() > kMaxShownBytes) return;
      if (out->back() != '[') out->push_back(',');
      AppendBeginning(one, out);
    }
    return out->push_back(']');
  }
  if (value.is_object()) {
    out->push_back('{');
    for (auto [name, one] : AsObject(value)) {
      if (out->size() > kMaxShownBytes) return;
      if (out->back() != '{') out->push_back(',');
      storage::AppendJsonString(name.substr(0, CharacterBefore(name, kMaxShownBytes + 1)), out);
      out->push_back(':');
      AppendBeginning(one, out);
    }
    return out->push_back('}');
  }
  out->append(simdjson::minify(value));
}

class Checker {
 public:
  // `values`: check attribute values too.
  explicit Checker(bool values) : values_(values) {}

  // False: the check failed with error().
  bool Value(const Shape& shape, const element& value, const Place& place);
  bool Structure(const Shape& shape, const simdjson::dom::object& object, const Place& place);

  const absl::Status& error() const { return error_; }

  absl::Status Violations() const {
    if (violations_.empty()) return absl::OkStatus();
    return storage::ValidationError(
        "SEM-115", absl::StrCat(violations_.size(), " validation error", violations_.size() > 1 ? "s" : "",
                                " detected: ", absl::StrJoin(violations_, "; ")));
  }

 private:
  bool AttributeValue(const element& value);
  bool List(const Shape& shape, const element& list, const Place& place);
  bool Map(const Shape& shape, const element& map, const Place& place);
  void Text(const Shape& shape, std::string_view text, const Place& place);
  void TableName(std::string_view text, const Place& place);
  bool Number(const Shape& shape, const element& value, const Place& place);
  void Entries(const Shape& shape, size_t count, const element& value, const Place& place);

  bool Fail(absl::Status error) {
    error_ = std::move(error);
    return false;
  }
  // `shown` is the value in quotes, or null.
  void Violation(const std::string& shown, const Place& place, const std::string& constraint) {
    if (violations_.size() == kMaxViolations) return;
    violations_.push_back(absl::StrCat("Value ", shown, " at '", Show(place),
                                       "' failed to satisfy constraint: Member must ", constraint));
  }
  void Length(const Shape& shape, size_t length, std::string_view shown, const Place& place) {
    if (static_cast<int64_t>(length) < shape.min)
      Violation(Quoted(shown), place, absl::StrCat("have length greater than or equal to ", shape.min));
    if (static_cast<int64_t>(length) > shape.max)
      Violation(Quoted(shown), place, absl::StrCat("have length less than or equal to ", shape.max));
  }

  const bool values_;
  absl::Status error_;
  std::vector<std::string> violations_;
};

bool Checker::Value(const Shape& shape, const element& value, const Place& place) {
  switch (shape.kind) {
    case ShapeKind::kString:
    case ShapeKind::kTableName:
      if (!value.is_string()) return Fail(storage::WrongJsonType(value, "String"));
      Text(shape, As<std::string_view>(value), place);
      return true;
    case ShapeKind::kInteger:
    case ShapeKind::kLong:
      return Number(shape, value, place);
    case ShapeKind::kTimestamp:
      return value.is_number() || Fail(storage::WrongJsonType(value, "Timestamp"));
    case ShapeKind::kBoolean:
      return value.is_bool() || Fail(storage::WrongJsonType(value, "Boolean"));
    case ShapeKind::kList:
      if (!value.is_array()) return Fail(storage::WrongJsonType(value, "List"));
      return List(shape, value, place);
    case ShapeKind::kMap:
      if (!value.is_object()) return Fail(storage::WrongJsonType(value, "Map"));
      return Map(shape, value, place);
    case ShapeKind::kStructure:
      if (!value.is_object()) return Fail(storage::WrongJsonType(value, "Structure"));
      return Structure(shape, AsObject(value), place);
    case ShapeKind::kAttributeValue:
      return AttributeValue(value);
    case ShapeKind::kUnsupported:
      return Fail(storage::ValidationError(absl::StrCat(
          std::string(place.name), " is not supported: ", std::string(shape.why), "; leave it out")));
  }
  return true;
}

bool Checker::Structure(const Shape& shape, const simdjson::dom::object& object, const Place& place) {
  std::array<element, kMaxShapeMembers> values;
  uint32_t seen = 0, present = 0;
  for (auto [name, value] : object) {
    for (size_t i = 0; i < shape.members.size(); ++i) {
      if (shape.members[i].name != name) continue;
      if (seen >> i & 1)
        return Fail(storage::SerializationError(
            absl::StrCat("Member ", std::string(name), " occurs more than once")));
      seen |= uint32_t{1} << i;
      if (value.is_null()) break;
      present |= uint32_t{1} << i;
      values[i] = value;
      break;
    }
  }
  for (size_t i = 0; i < shape.members.size(); ++i) {
    const ShapeMember& member = shape.members[i];
    Place here{.parent = &place, .name = member.name, .is_member = true};
    if (present >> i & 1) {
      if (!Value(*member.shape, values[i], here)) return false;
    } else if (member.required) {
      Violation("null", here, "not be null");
    }
  }
  return true;
}

// JSON null is accepted here; the reader of the value handles it.
bool Checker::AttributeValue(const element& value) {
  if (!values_) return true;
  absl::Status error = storage::EncodeJsonValue(value).status();
  return error.ok() || !IsSerializationError(error) || Fail(std::move(error));
}

bool Checker::List(const Shape& shape, const element& list, const Place& place) {
  size_t count = 0;
  for (element value : AsArray(list)) {
    ++count;
    if (shape.element->kind == ShapeKind::kAttributeValue) {
      if (!AttributeValue(value)) return false;
      continue;
    }
    if (value.is_null()) return Fail(storage::SerializationError("A list contains null"));
    if (!Value(*shape.element, value, Place{.parent = &place, .position = count})) return false;
  }
  Entries(shape, count, list, place);
  return true;
}

bool Checker::Map(const Shape& shape, const element& map, const Place& place) {
  size_t count = 0;
  for (auto [name, value] : AsObject(map)) {
    ++count;
    if (shape.element->kind == ShapeKind::kAttributeValue) {
      if (!AttributeValue(value)) return false;
      continue;
    }
    Place here{.parent = &place, .name = name};
    if (value.is_null())
      return Fail(storage::SerializationError(absl::StrCat("The value of ", Quoted(name), " is null")));
    if (shape.key != nullptr) Text(*shape.key, name, here);
    if (!Value(*shape.element, value, here)) return false;
  }
  Entries(shape, count, map, place);
  return true;
}

void Checker::Text(const Shape& shape, std::string_view text, const Place& place) {
  if (shape.kind == ShapeKind::kTableName) return TableName(text, place);
  if (!shape.values.empty()) {
    if (std::find(shape.values.begin(), shape.values.end(), text) == shape.values.end())
      Violation(
          Quoted(text), place,
          absl::StrCat("satisfy enum value set: [",
                       absl::StrJoin(shape.values, ", ",
                                     [](std::string* out, std::string_view value) { out->append(value); }),
                       "]"));
    return;
  }
  if (!shape.pattern.empty() && !IsName(text))
    Violation(Quoted(text), place,
              absl::StrCat("satisfy regular expression pattern: ", std::string(shape.pattern)));
  if (shape.min > 0 || shape.max < std::numeric_limits<int64_t>::max())
    Length(shape, CharactersOf(text), text, place);
}

// A table is named by its name or its ARN, which have different bounds (SEM-008).
void Checker::TableName(std::string_view text, const Place& place) {
  constexpr Shape kArn{.kind = ShapeKind::kString, .min = 1, .max = storage::kMaxTableArnBytes};
  constexpr Shape kName{.kind = ShapeKind::kString,
                        .min = storage::kMinTableNameBytes,
                        .max = storage::kMaxTableNameBytes,
                        .pattern = kNamePattern};
  Text(text.starts_with("arn:") ? kArn : kName, text, place);
}

bool Checker::Number(const Shape& shape, const element& value, const Place& place) {
  const bool is_long = shape.kind == ShapeKind::kLong;
  int64_t number;
  if (value.get(number) != simdjson::SUCCESS)
    return Fail(storage::WrongJsonType(value, is_long ? "Long" : "Integer"));
  if (!is_long && number != static_cast<int32_t>(number))
    return Fail(
        storage::SerializationError(absl::StrCat("Number ", number, " is out of the range of Integer")));
  if (number < shape.min)
    Violation(absl::StrCat("'", number, "'"), place,
              absl::StrCat("have value greater than or equal to ", shape.min));
  if (number > shape.max)
    Violation(absl::StrCat("'", number, "'"), place,
              absl::StrCat("have value less than or equal to ", shape.max));
  return true;
}

void Checker::Entries(const Shape& shape, size_t count, const element& value, const Place& place) {
  if (static_cast<int64_t>(count) >= shape.min && static_cast<int64_t>(count) <= shape.max) return;
  std::string shown;
  AppendBeginning(value, &shown);
  Length(shape, count, shown, place);
}

}  // namespace

absl::Status CheckRequest(const Shape& input, const simdjson::dom::object& request) {
  Checker checker(/*values=*/false);
  checker.Structure(input, request, Place{});
  if (!checker.error().ok()) return checker.error();
  absl::Status violations = checker.Violations();
  if (!violations.ok()) ITEMDB_RETURN_IF_ERROR(CheckValueTypes(input, request));
  return violations;
}

absl::Status CheckValueTypes(const Shape& input, const simdjson::dom::object& request) {
  Checker checker(/*values=*/true);
  checker.Structure(input, request, Place{});
  return checker.error();
}

}  // namespace itemdb::http
