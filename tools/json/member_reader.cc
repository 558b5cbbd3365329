#include "tools/json/member_reader.h"

#include <algorithm>

#include "tools/base/exit_codes.h"

namespace itemdb::tools {

MemberReader::MemberReader(const JsonValue& json, std::string document, std::string path)
    : json_(json), document_(std::move(document)), path_(std::move(path)) {
  if (json.kind == Kind::kObject) return;
  const std::string kind(KindName(json.kind));
  KeepFirstError(UsageError(
      path_.empty() ? absl::StrFormat("%s must be an object, not %s", document_, kind)
                    : absl::StrFormat("%s: %s must be an object, not %s", document_, path_, kind)));
}

void MemberReader::Allow(const std::vector<std::string_view>& allowed,
                         std::span<const NotOffered> not_offered) {
  for (const auto& [name, value] : json_.members) {
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    for (const NotOffered& member : not_offered) {
      if (member.name == name) Fail(absl::StrFormat("%s: %s", PathOf(name), std::string(member.why)));
    }
    Fail(absl::StrFormat(
        "unknown member %s%s; allowed are %s", JsonString(name), path_.empty() ? "" : " in " + path_,
        absl::StrJoin(allowed, ", ", [](std::string* out, std::string_view part) { out->append(part); })));
  }
}

const JsonValue* MemberReader::Member(std::string_view name, Kind kind, bool required) {
  const JsonValue* value = json_.FindOrNull(name);
  if (value == nullptr) {
    if (required) Fail(absl::StrFormat("%s is missing", PathOf(name)));
    return nullptr;
  }
  if (value->kind == kind) return value;
  Fail(absl::StrFormat("%s must be %s, not %s", PathOf(name), std::string(KindName(kind)),
                       std::string(KindName(value->kind))));
  return nullptr;
}

std::string MemberReader::RequiredString(std::string_view name) {
  const JsonValue* value = Member(name, Kind::kString, true);
  return value == nullptr ? "" : value->text;
}

std::string MemberReader::OptionalString(std::string_view name) {
  const JsonValue* value = Member(name, Kind::kString, false);
  return value == nullptr ? "" : value->text;
}

int64_t MemberReader::RequiredInt64(std::string_view name) {
  const JsonValue* value = Member(name, Kind::kNumber, true);
  if (value == nullptr) return 0;
  absl::StatusOr<Number> number = Number::Parse(value->text);
  absl::StatusOr<int64_t> integer = number.ok() ? number->ToInt64() : number.status();
  if (integer.ok()) return *integer;
  Fail(absl::StrFormat("%s must be a whole number of 64 bits, not %s", PathOf(name), value->text));
  return 0;
}

std::optional<int64_t> MemberReader::OptionalInt64(std::string_view name) {
  if (!Has(name)) return std::nullopt;
  return RequiredInt64(name);
}

bool MemberReader::RequiredBool(std::string_view name) {
  const JsonValue* value = Member(name, Kind::kBool, true);
  return value != nullptr && value->boolean;
}

bool MemberReader::OptionalBool(std::string_view name) {
  const JsonValue* value = Member(name, Kind::kBool, false);
  return value != nullptr && value->boolean;
}

std::vector<std::string> MemberReader::Strings(std::string_view name) {
  std::vector<std::string> strings;
  const JsonValue* array = Member(name, Kind::kArray, false);
  for (size_t i = 0; array != nullptr && i < array->elements.size(); ++i) {
    const JsonValue& element = array->elements[i];
    if (element.kind != Kind::kString) {
      Fail(absl::StrFormat("%s[%d] must be a string, not %s", PathOf(name), i,
                           std::string(KindName(element.kind))));
    }
    strings.push_back(element.text);
  }
  return strings;
}

Item MemberReader::RequiredItem(std::string_view name, ReadForm form) {
  const JsonValue* value = Member(name, Kind::kObject, true);
  if (value == nullptr) return {};
  absl::StatusOr<Item> item = ItemFromJson(*value, form, document_ + ": " + PathOf(name));
  if (item.ok()) return *std::move(item);
  KeepFirstError(item.status());
  return {};
}

ExpressionAttributeNames MemberReader::Names() {
  ExpressionAttributeNames names;
  const JsonValue* object = Member("ExpressionAttributeNames", Kind::kObject, false);
  if (object == nullptr) return names;
  for (const auto& [placeholder, name] : object->members) {
    if (name.kind != Kind::kString) {
      Fail(absl::StrFormat("%s: %s must be an attribute name in a string, not %s",
                           PathOf("ExpressionAttributeNames"), placeholder,
                           std::string(KindName(name.kind))));
    }
    names.emplace(placeholder, name.text);
  }
  return names;
}

ExpressionAttributeValues MemberReader::Values(ReadForm form) {
  ExpressionAttributeValues values;
  if (!Has("ExpressionAttributeValues")) return values;
  for (const Attribute& attribute : RequiredItem("ExpressionAttributeValues", form)) {
    values.emplace(attribute.name, attribute.value);
  }
  return values;
}

std::string MemberReader::OnlyName() const {
  return json_.members.size() == 1 ? json_.members.front().first : "";
}

std::string MemberReader::PathOf(std::string_view name) const {
  return path_.empty() ? std::string(name) : absl::StrFormat("%s.%s", path_, std::string(name));
}

void MemberReader::Fail(const std::string& message) {
  KeepFirstError(UsageError(document_ + ": " + message));
}

}  // namespace itemdb::tools
