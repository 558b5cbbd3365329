#include <string>
#include <utility>
#include <vector>

#include "client/convert.h"
#include "client/enum_table.h"
#include "client/errors_internal.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

absl::Status BrokenReply(const std::string& what) {
  return MakeError(absl::StatusCode::kDataLoss, "DATA_LOSS", "the daemon's reply is not valid: " + what);
}

// Items, lists and maps are converted by recursive functions: ToProto goes at most kMaxNesting levels deep,
// FromProto as deep as protobuf parses.
absl::Status ValueToProto(const Value& value, int nesting, v1::AttributeValue* message);

template <typename Attributes>
absl::Status AttributesToProto(const Item& item, int nesting, Attributes* attributes) {
  attributes->Reserve(static_cast<int>(item.size()));
  for (const Attribute& attribute : item) {
    v1::Attribute* added = attributes->Add();
    added->set_name(attribute.name);
    ITEMDB_RETURN_IF_ERROR(ValueToProto(attribute.value, nesting, added->mutable_value()));
  }
  return absl::OkStatus();
}

absl::Status ValueToProto(const Value& value, int nesting, v1::AttributeValue* message) {
  if (nesting > kMaxNesting) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "a value nests deeper than the 32 levels of lists and maps that are allowed");
  }
  switch (value.type()) {
    case ValueType::kNull:
      message->set_null(true);
      break;
    case ValueType::kString:
      message->set_s(*value.string_or_null());
      break;
    case ValueType::kNumber:
      message->set_n(value.number_or_null()->text());
      break;
    case ValueType::kBinary:
      message->set_b(*value.binary_or_null());
      break;
    case ValueType::kBool:
      message->set_bool_(*value.bool_or_null());
      break;
    case ValueType::kStringSet:
      message->mutable_ss();
      for (const std::string& text : *value.string_set_or_null()) message->mutable_ss()->add_values(text);
      break;
    case ValueType::kNumberSet:
      message->mutable_ns();
      for (const Number& number : *value.number_set_or_null())
        message->mutable_ns()->add_values(number.text());
      break;
    case ValueType::kBinarySet:
      message->mutable_bs();
      for (const std::string& bytes : *value.binary_set_or_null()) message->mutable_bs()->add_values(bytes);
      break;
    case ValueType::kList: {
      v1::List* list = message->mutable_l();
      for (const Value& element : *value.list_or_null()) {
        ITEMDB_RETURN_IF_ERROR(ValueToProto(element, nesting + 1, list->add_values()));
      }
      break;
    }
    case ValueType::kMap:
      return AttributesToProto(*value.map_or_null(), nesting + 1, message->mutable_m()->mutable_attributes());
  }
  return absl::OkStatus();
}

template <typename Attributes>
absl::StatusOr<Item> ItemFromAttributes(const Attributes& attributes) {
  Item item;
  for (const v1::Attribute& attribute : attributes) {
    ITEMDB_ASSIGN_OR_RETURN(Value value, FromProto(attribute.value()));
    item.Set(attribute.name(), std::move(value));
  }
  return item;
}

template <typename Texts>
std::vector<std::string> ToStrings(const Texts& texts) {
  return std::vector<std::string>(texts.begin(), texts.end());
}

absl::StatusOr<Number> NumberFromProto(const std::string& text) {
  absl::StatusOr<Number> number = Number::Parse(text);
  if (!number.ok()) return BrokenReply(MessageOf(number.status()));
  return number;
}

}  // namespace

absl::Status ToProto(const Item& item, v1::Item* message) {
  return AttributesToProto(item, 0, message->mutable_attributes());
}

absl::Status ToProto(const Value& value, v1::AttributeValue* message) {
  return ValueToProto(value, 0, message);
}

absl::StatusOr<Item> FromProto(const v1::Item& message) { return ItemFromAttributes(message.attributes()); }

absl::StatusOr<Value> FromProto(const v1::AttributeValue& message) {
  switch (message.value_case()) {
    case v1::AttributeValue::kS:
      return Value(message.s());
    case v1::AttributeValue::kB:
      return Value::Binary(message.b());
    case v1::AttributeValue::kBool:
      return Value(message.bool_());
    case v1::AttributeValue::kNull:
      return Value::Null();
    case v1::AttributeValue::kSs:
      return Value::StringSet(ToStrings(message.ss().values()));
    case v1::AttributeValue::kBs:
      return Value::BinarySet(ToStrings(message.bs().values()));
    case v1::AttributeValue::kN: {
      ITEMDB_ASSIGN_OR_RETURN(Number number, NumberFromProto(message.n()));
      return Value(std::move(number));
    }
    case v1::AttributeValue::kNs: {
      std::vector<Number> numbers;
      for (const std::string& text : message.ns().values()) {
        ITEMDB_ASSIGN_OR_RETURN(Number number, NumberFromProto(text));
        numbers.push_back(std::move(number));
      }
      return Value::NumberSet(std::move(numbers));
    }
    case v1::AttributeValue::kL: {
      std::vector<Value> values;
      values.reserve(message.l().values_size());
      for (const v1::AttributeValue& element : message.l().values()) {
        ITEMDB_ASSIGN_OR_RETURN(Value value, FromProto(element));
        values.push_back(std::move(value));
      }
      return Value::List(std::move(values));
    }
    case v1::AttributeValue::kM: {
      ITEMDB_ASSIGN_OR_RETURN(Item map, ItemFromAttributes(message.m().attributes()));
      return Value::Map(std::move(map));
    }
    case v1::AttributeValue::VALUE_NOT_SET:
      break;
  }
  return BrokenReply("an attribute value has no type");
}

v1::ReturnValues ToProto(ReturnValues value) {
  using enum ReturnValues;
  static constexpr std::pair<ReturnValues, v1::ReturnValues> kValues[] = {
      {kNone, v1::RETURN_VALUES_NONE},
      {kAllOld, v1::RETURN_VALUES_ALL_OLD},
      {kUpdatedOld, v1::RETURN_VALUES_UPDATED_OLD},
      {kAllNew, v1::RETURN_VALUES_ALL_NEW},
      {kUpdatedNew, v1::RETURN_VALUES_UPDATED_NEW}};
  return ProtoOf(kValues, value);
}

v1::ReturnValuesOnConditionCheckFailure ToProto(ReturnValuesOnConditionCheckFailure value) {
  return value == ReturnValuesOnConditionCheckFailure::kAllOld
             ? v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD
             : v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_NONE;
}

}  // namespace itemdb
