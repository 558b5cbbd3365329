#include "daemon/http/api/legacy_conditions.h"

namespace itemdb::http {
namespace {

// Reads the member AttributeValueList.
absl::Status ReadValues(const JsonObject& object, google::protobuf::RepeatedPtrField<std::string>* values) {
  std::optional<JsonElement> list = MemberOf(object, "AttributeValueList");
  if (!list.has_value()) return absl::OkStatus();
  for (JsonElement value : AsArray(*list)) {
    ITEMDB_ASSIGN_OR_RETURN(*values->Add(), storage::EncodeJsonValue(value));
  }
  return absl::OkStatus();
}

v1::ComparisonOperator ComparisonOf(const JsonObject& object) {
  return EnumOf<v1::ComparisonOperator>(object, "ComparisonOperator");
}

}  // namespace

absl::Status ReadExpected(const JsonObject& object, wire::WriteItemRequest* request) {
  request->set_conditional_operator(EnumOf<v1::ConditionalOperator>(object, "ConditionalOperator"));
  return ForEachEntry(
      object, "Expected", [&](std::string_view name, const JsonElement& value) -> absl::Status {
        const JsonObject expected = AsObject(value);
        auto* entry = request->add_expected();
        entry->set_name(std::string(name));
        wire::ExpectedAttributeValue& read = *entry->mutable_value();
        if (auto attribute = MemberOf(expected, "Value"); attribute.has_value()) {
          ITEMDB_ASSIGN_OR_RETURN(*read.mutable_value(), storage::EncodeJsonValue(*attribute));
        }
        if (HasMember(expected, "Exists")) read.set_exists(FlagOf(expected, "Exists"));
        read.set_comparison_operator(ComparisonOf(expected));
        return ReadValues(expected, read.mutable_attribute_value_list());
      });
}

absl::Status ReadAttributeUpdates(const JsonObject& object, wire::WriteItemRequest* request) {
  return ForEachEntry(
      object, "AttributeUpdates", [&](std::string_view name, const JsonElement& value) -> absl::Status {
        const JsonObject update = AsObject(value);
        auto* entry = request->add_attribute_updates();
        entry->set_name(std::string(name));
        wire::AttributeValueUpdate& read = *entry->mutable_value();
        read.set_action(EnumOf<v1::AttributeAction>(update, "Action"));
        if (auto attribute = MemberOf(update, "Value"); attribute.has_value()) {
          ITEMDB_ASSIGN_OR_RETURN(*read.mutable_value(), storage::EncodeJsonValue(*attribute));
        }
        return absl::OkStatus();
      });
}

absl::Status ReadConditions(const JsonObject& object, std::string_view name,
                            google::protobuf::RepeatedPtrField<wire::NamedCondition>* conditions) {
  return ForEachEntry(object, name,
                      [&](std::string_view attribute, const JsonElement& value) -> absl::Status {
                        const JsonObject condition = AsObject(value);
                        wire::NamedCondition* entry = conditions->Add();
                        entry->set_name(std::string(attribute));
                        entry->mutable_value()->set_comparison_operator(ComparisonOf(condition));
                        return ReadValues(condition, entry->mutable_value()->mutable_attribute_value_list());
                      });
}

}  // namespace itemdb::http
