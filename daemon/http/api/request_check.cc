#include "daemon/http/api/request_check.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/http/api/errors.h"
#include "storage/base/check.h"
#include "storage/base/limits.h"
#include "storage/database.h"
#include "storage/json/json_values.h"
#include "storage/json/json_writer.h"

namespace itemdb::http {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// At most so many violations of one request are reported, and so many bytes of one value are shown.
constexpr size_t kMaxViolations = 10;
constexpr size_t kMaxShownBytes = 4'096;

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

// "attributeName" for "AttributeName".
std::string MemberName(std::string_view name) {
  std::string shown(name);
  if (!shown.empty()) shown[0] = absl::ascii_tolower(static_cast<unsigned char>(shown[0]));
  return shown;
}

// "keySchema.1.member.attributeName".
std::string Show(const Place& place) {
  std::string text =
      place.parent != nullptr && place.parent->parent != nullptr ? Show(*place.parent) + "." : "";
  if (place.position > 0) return absl::StrCat(text, place.position, ".member");
  if (!place.is_member) return absl::StrCat(text, Shortened(place.name), ".member");
  return text + MemberName(place.name);
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

// Whether `text` has the bounds of an ARN, and not those of a name.
bool IsTableArn(std::string_view text) {
  if (!text.starts_with("arn:")) return false;
  if (text.size() > storage::kMaxTableArnBytes) return true;
  const std::string_view name = storage::Database::TableNameOf(text);
  return IsName(name) && name.size() >= storage::kMinTableNameBytes &&
         name.size() <= storage::kMaxTableNameBytes;
}

void AppendBeginning(const element& value, const Shape* shape, std::string* out);

// "KeySchemaElement(attributeName=pk, keyType=HASH)".
void AppendStructure(const simdjson::dom::object& object, const Shape& shape, std::string* out) {
  out->append(shape.type).push_back('(');
  for (const ShapeMember& member : shape.members) {
    if (out->size() > kMaxShownBytes) return;
    if (&member != shape.members.data()) out->append(", ");
    out->append(MemberName(member.name)).push_back('=');
    element value;
    if (object.at_key(member.name).get(value) != simdjson::SUCCESS) {
      out->append("null");
    } else {
      AppendBeginning(value, member.shape, out);
    }
  }
  out->push_back(')');
}

// Appends the beginning of `value` as the service's framework, which is written in Java, shows it: at least
// kMaxShownBytes of a long value. Quoted() cuts the rest. `shape` may be null.
void AppendBeginning(const element& value, const Shape* shape, std::string* out) {
  if (out->size() > kMaxShownBytes) return;
  if (value.is_string()) {
    const auto text = As<std::string_view>(value);
    out->append(text.substr(0, CharacterBefore(text, kMaxShownBytes + 1)));
    return;
  }
  const Shape* inner = shape != nullptr ? shape->element : nullptr;
  if (value.is_array()) {
    out->push_back('[');
    bool first = true;
    for (element one : AsArray(value)) {
      if (out->size() > kMaxShownBytes) return;
      if (!std::exchange(first, false)) out->append(", ");
      AppendBeginning(one, inner, out);
    }
    return out->push_back(']');
  }
  if (value.is_object()) {
    if (shape != nullptr && !shape->type.empty()) return AppendStructure(AsObject(value), *shape, out);
    out->push_back('{');
    bool first = true;
    for (auto [name, one] : AsObject(value)) {
      if (out->size() > kMaxShownBytes) return;
      if (!std::exchange(first, false)) out->append(", ");
      out->append(name.substr(0, CharacterBefore(name, kMaxShownBytes + 1))).push_back('=');
      AppendBeginning(one, inner, out);
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
  void TableName(const Shape& shape, std::string_view text, const Place& place);
  bool Number(const Shape& shape, const element& value, const Place& place);
  void Entries(const Shape& shape, size_t count, const element& value, const Place& place);
  void MapEntries(const Shape& shape, const element& map, const Place& place);

  bool Fail(absl::Status error) {
    error_ = std::move(error);
    return false;
  }
  // `shown` is the value in quotes, or null.
  void Violation(const std::string& shown, const Place& place, const std::string& constraint) {
    Violation(absl::StrCat("Value ", shown, " at '", Show(place), "'"),
              absl::StrCat("Member must ", constraint));
  }
  void Violation(const std::string& where, const std::string& constraint) {
    if (violations_.size() == kMaxViolations) return;
    violations_.push_back(absl::StrCat(where, " failed to satisfy constraint: ", constraint));
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
      if (!value.is_object()) {
        const ShapeKind inner = shape.element->kind;
        return Fail(storage::WrongJsonType(value, inner == ShapeKind::kAttributeValue ? "Map"
                                                  : inner == ShapeKind::kString       ? "NameMap"
                                                                                      : "OtherMap"));
      }
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
    if (!Value(*shape.element, value, here)) return false;
  }
  if (count == 0 && !shape.if_empty.empty()) return Fail(storage::ValidationError("SEM-115", shape.if_empty));
  MapEntries(shape, map, place);
  Entries(shape, count, map, place);
  return true;
}

// "[Member must have length less than or equal to 25, Member must have length greater than or equal to 1]".
std::string LengthConstraints(int64_t min, int64_t max, std::string_view pattern = {}) {
  std::string text = absl::StrCat("[Member must have length less than or equal to ", max,
                                  ", Member must have length greater than or equal to ", min);
  if (!pattern.empty())
    absl::StrAppend(&text, ", Member must satisfy regular expression pattern: ", std::string(pattern));
  return text + "]";
}

// The bounds of the keys of a map, and of lists that are its values, are violated by the map as a whole.
void Checker::MapEntries(const Shape& shape, const element& map, const Place& place) {
  std::string key_constraint, value_constraint;
  for (auto [name, value] : AsObject(map)) {
    if (shape.key != nullptr && key_constraint.empty()) {
      Checker key(/*values=*/false);
      key.Text(*shape.key, name, place);
      if (!key.Violations().ok()) {
        key_constraint =
            name.empty() || IsTableArn(name)
                ? LengthConstraints(1, storage::kMaxTableArnBytes)
                : LengthConstraints(storage::kMinTableNameBytes, storage::kMaxTableNameBytes, kNamePattern);
      }
    }
    if (shape.element->kind == ShapeKind::kList && value.is_array()) {
      size_t count = 0;
      for (element one : AsArray(value)) {
        (void)one;
        ++count;
      }
      if (static_cast<int64_t>(count) < shape.element->min ||
          static_cast<int64_t>(count) > shape.element->max)
        value_constraint = LengthConstraints(shape.element->min, shape.element->max);
    }
  }
  if (key_constraint.empty() && value_constraint.empty()) return;
  std::string shown;
  AppendBeginning(map, &shape, &shown);
  const std::string where = absl::StrCat("Value ", Quoted(shown), " at '", Show(place), "'");
  if (!key_constraint.empty()) Violation(where, "Map keys must satisfy constraint: " + key_constraint);
  if (!value_constraint.empty()) Violation(where, "Map value must satisfy constraint: " + value_constraint);
}

void Checker::Text(const Shape& shape, std::string_view text, const Place& place) {
  if (shape.kind == ShapeKind::kTableName) return TableName(shape, text, place);
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

// A table is named by its name or its ARN, which have different bounds (SEM-008). An ARN that is none of a
// table is checked like a name, and so is every ARN if `shape` has the pattern of names.
void Checker::TableName(const Shape& shape, std::string_view text, const Place& place) {
  constexpr Shape kArn{.kind = ShapeKind::kString, .min = 1, .max = storage::kMaxTableArnBytes};
  constexpr Shape kName{.kind = ShapeKind::kString,
                        .min = storage::kMinTableNameBytes,
                        .max = storage::kMaxTableNameBytes,
                        .pattern = kNamePattern};
  const bool is_arn = shape.pattern.empty() && IsTableArn(text);
  // An empty name violates only what names and ARNs have in common.
  Text(text.empty() || is_arn ? kArn : kName, text, place);
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
  // MapEntries() reports the lists of a map.
  if (place.parent != nullptr && !place.is_member && place.position == 0) return;
  if (shape.is_not_shown) {
    const std::string bound = static_cast<int64_t>(count) < shape.min
                                  ? absl::StrCat("greater than or equal to ", shape.min)
                                  : absl::StrCat("less than or equal to ", shape.max);
    return Violation(
        absl::StrCat("Value at 'RequestItems.", std::string(place.parent->name), ".member.Keys'"),
        "Member must have length " + bound);
  }
  std::string shown;
  AppendBeginning(value, &shape, &shown);
  Length(shape, count, shown, place);
}

}  // namespace

void CheckHasType(simdjson::error_code error) { ITEMDB_CHECK(error == simdjson::SUCCESS); }

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
