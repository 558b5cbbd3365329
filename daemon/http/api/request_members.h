// Reads members of a request that CheckRequest() accepted; a missing or null member reads as its default.
#pragma once

#include <google/protobuf/generated_enum_reflection.h>
#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

#include "daemon/http/api/request_check.h"
#include "storage/base/status.h"
#include "storage/json/json_values.h"

namespace itemdb::http {

using JsonElement = simdjson::dom::element;
using JsonObject = simdjson::dom::object;

// The member `name`, unless it is missing or null.
std::optional<JsonElement> MemberOf(const JsonObject& object, std::string_view name);
bool HasMember(const JsonObject& object, std::string_view name);

// Returned views are valid as long as the document.
std::string_view TextOf(const JsonElement& element);
std::string_view TextOf(const JsonObject& object, std::string_view name);
bool FlagOf(const JsonObject& object, std::string_view name);
std::optional<int64_t> NumberOf(const JsonObject& object, std::string_view name);
// A time in seconds, which may have a fraction, as milliseconds.
std::optional<int64_t> MillisecondsOf(const JsonObject& object, std::string_view name);

// Calls `each` with every object of the list `name`, until `each` returns an error.
template <typename Each>
absl::Status ForEachIn(const JsonObject& object, std::string_view name, Each each) {
  std::optional<JsonElement> list = MemberOf(object, name);
  if (!list.has_value()) return absl::OkStatus();
  for (JsonElement element : AsArray(*list)) ITEMDB_RETURN_IF_ERROR(each(AsObject(element)));
  return absl::OkStatus();
}

// Calls `each` with every name and value of the map `name`, until `each` returns an error.
template <typename Each>
absl::Status ForEachEntry(const JsonObject& object, std::string_view name, Each each) {
  std::optional<JsonElement> map = MemberOf(object, name);
  if (!map.has_value()) return absl::OkStatus();
  for (auto [key, value] : AsObject(*map)) ITEMDB_RETURN_IF_ERROR(each(key, value));
  return absl::OkStatus();
}

// Converts a value of a proto enumeration to the service's text and back: RETURN_VALUES_ALL_OLD is "ALL_OLD".
// An unknown text becomes zero, an unknown value becomes an empty text.
std::string_view EnumText(const google::protobuf::EnumDescriptor& type, int value);
int EnumValue(const google::protobuf::EnumDescriptor& type, std::string_view text);

template <typename Enum>
std::string_view EnumText(Enum value) {
  return EnumText(*google::protobuf::GetEnumDescriptor<Enum>(), value);
}
template <typename Enum>
Enum EnumOf(const JsonObject& object, std::string_view name) {
  const std::string_view text = TextOf(object, name);
  if (text.empty()) return Enum();
  return static_cast<Enum>(EnumValue(*google::protobuf::GetEnumDescriptor<Enum>(), text));
}

// The expression `name`; empty if the member is missing. An empty expression must be refused (SEM-019), but
// storage treats an empty text as no expression. So it becomes " ", which storage refuses.
std::string_view ExpressionOf(const JsonObject& object, std::string_view name);

// The item `name`, encoded; an empty item if the member is missing. Errors as of storage::EncodeJsonItem().
absl::StatusOr<std::string> ItemOf(const JsonObject& object, std::string_view name);

// Whether the map `name` exists and is empty. Storage refuses it, after other mistakes: an empty map becomes
// one entry without name and value (storage/expressions/from_request.h).
bool IsEmptyMap(const JsonObject& object, std::string_view name);

// Reads ExpressionAttributeNames into `request`.
template <typename Request>
absl::Status ReadNames(const JsonObject& object, Request* request) {
  if (IsEmptyMap(object, "ExpressionAttributeNames")) request->add_expression_attribute_names();
  return ForEachEntry(object, "ExpressionAttributeNames",
                      [&](std::string_view name, const JsonElement& value) {
                        auto* entry = request->add_expression_attribute_names();
                        entry->set_name(std::string(name));
                        entry->set_value(std::string(TextOf(value)));
                        return absl::OkStatus();
                      });
}

// Reads ExpressionAttributeNames and ExpressionAttributeValues into `request`.
template <typename Request>
absl::Status ReadPlaceholders(const JsonObject& object, Request* request) {
  ITEMDB_RETURN_IF_ERROR(ReadNames(object, request));
  if (IsEmptyMap(object, "ExpressionAttributeValues")) request->add_expression_attribute_values();
  return ForEachEntry(object, "ExpressionAttributeValues",
                      [&](std::string_view name, const JsonElement& value) {
                        auto* entry = request->add_expression_attribute_values();
                        entry->set_name(std::string(name));
                        ITEMDB_ASSIGN_OR_RETURN(*entry->mutable_value(), storage::EncodeJsonValue(value));
                        return absl::OkStatus();
                      });
}

// Reads AttributesToGet into `request`.
template <typename Request>
void ReadAttributesToGet(const JsonObject& object, Request* request) {
  std::optional<JsonElement> names = MemberOf(object, "AttributesToGet");
  if (!names.has_value()) return;
  for (JsonElement name : AsArray(*names)) request->add_attributes_to_get(std::string(TextOf(name)));
}

}  // namespace itemdb::http
