#include "daemon/http/api/request_members.h"

#include <algorithm>
#include <cmath>

#include <google/protobuf/descriptor.h>

namespace itemdb::http {
namespace {

constexpr std::string_view kUnspecified = "UNSPECIFIED";

// The prefix of the names of an enumeration's values: by our convention the value 0 is PREFIX_UNSPECIFIED.
std::string_view PrefixOf(const google::protobuf::EnumDescriptor& type) {
  std::string_view zero = type.FindValueByNumber(0)->name();
  return zero.substr(0, zero.size() - kUnspecified.size());
}

}  // namespace

std::optional<JsonElement> MemberOf(const JsonObject& object, std::string_view name) {
  JsonElement value;
  if (object.at_key(name).get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

bool HasMember(const JsonObject& object, std::string_view name) { return MemberOf(object, name).has_value(); }

std::string_view TextOf(const JsonElement& element) {
  std::string_view text;
  return element.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

std::string_view TextOf(const JsonObject& object, std::string_view name) {
  std::optional<JsonElement> member = MemberOf(object, name);
  return member.has_value() ? TextOf(*member) : std::string_view();
}

bool FlagOf(const JsonObject& object, std::string_view name) {
  std::optional<JsonElement> member = MemberOf(object, name);
  bool flag = false;
  return member.has_value() && member->get(flag) == simdjson::SUCCESS && flag;
}

std::optional<int64_t> MillisecondsOf(const JsonObject& object, std::string_view name) {
  constexpr double kMaxSeconds = 1e12;
  const std::optional<JsonElement> member = MemberOf(object, name);
  double seconds = 0;
  if (!member.has_value() || member->get(seconds) != simdjson::SUCCESS) return std::nullopt;
  return std::llround(std::clamp(seconds, -kMaxSeconds, kMaxSeconds) * 1'000);
}

std::optional<int64_t> NumberOf(const JsonObject& object, std::string_view name) {
  std::optional<JsonElement> member = MemberOf(object, name);
  int64_t number;
  if (!member.has_value() || member->get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

std::string_view EnumText(const google::protobuf::EnumDescriptor& type, int value) {
  const auto* found = type.FindValueByNumber(value);
  if (found == nullptr) return {};
  return std::string_view(found->name()).substr(PrefixOf(type).size());
}

int EnumValue(const google::protobuf::EnumDescriptor& type, std::string_view text) {
  const auto* found = type.FindValueByName(std::string(PrefixOf(type)).append(text));
  return found == nullptr ? 0 : found->number();
}

std::string_view ExpressionOf(const JsonObject& object, std::string_view name) {
  std::optional<JsonElement> member = MemberOf(object, name);
  if (!member.has_value()) return {};
  const std::string_view text = TextOf(*member);
  return text.empty() ? " " : text;
}

absl::StatusOr<std::string> ItemOf(const JsonObject& object, std::string_view name) {
  std::optional<JsonElement> item = MemberOf(object, name);
  if (!item.has_value()) return std::string();
  return storage::EncodeJsonItem(AsObject(*item));
}

bool IsEmptyMap(const JsonObject& object, std::string_view name) {
  std::optional<JsonElement> map = MemberOf(object, name);
  if (!map.has_value()) return false;
  const JsonObject entries = AsObject(*map);
  return entries.begin() == entries.end();
}

}  // namespace itemdb::http
