#include "tests/protocols/dynamodb_json.h"

#include <gtest/gtest.h>

#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "itemdb/v1/data.pb.h"
#include "itemdb/v1/item.pb.h"

namespace itemdb::protocols {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The JSON name of a field: "ReturnValues" for return_values. Names with abbreviations are irregular.
std::string JsonName(const FieldDescriptor& field) {
  static const auto* irregular = new std::map<std::string, std::string>{
      {"sse_specification", "SSESpecification"},
      {"sse_type", "SSEType"},
      {"kms_master_key_id", "KMSMasterKeyId"},
      {"size_estimate_range_gb", "SizeEstimateRangeGB"},
  };
  const std::string proto_name(field.name());
  if (const auto found = irregular->find(proto_name); found != irregular->end()) return found->second;
  std::string name;
  bool word_begins = true;
  for (char c : proto_name) {
    if (c != '_') name.push_back(word_begins ? absl::ascii_toupper(static_cast<unsigned char>(c)) : c);
    word_begins = c == '_';
  }
  return name;
}

// The common prefix of an enum's values, "RETURN_VALUES_" for ReturnValues: the text before UNSPECIFIED.
std::string EnumPrefix(const google::protobuf::EnumDescriptor& type) {
  const std::string zero(type.FindValueByNumber(0)->name());
  return zero.substr(0, zero.rfind("UNSPECIFIED"));
}

std::string Decoded(const std::string& base64) {
  std::string bytes;
  EXPECT_TRUE(absl::Base64Unescape(base64, &bytes)) << base64;
  return bytes;
}

// ---- items and values, by the classes of item.proto

void FromJson(const Json& json, v1::AttributeValue* value);

template <typename Attributes>
void AttributesFromJson(const Json& json, Attributes* attributes) {
  for (const auto& [name, value] : json.items()) {
    v1::Attribute* attribute = attributes->Add();
    attribute->set_name(name);
    FromJson(value, attribute->mutable_value());
  }
}

void FromJson(const Json& json, v1::AttributeValue* value) {
  ASSERT_LE(json.size(), 1u) << "a message holds one type: " << json;
  for (const auto& [type, data] : json.items()) {
    if (type == "S") value->set_s(data.get<std::string>());
    if (type == "N") value->set_n(data.get<std::string>());
    if (type == "B") value->set_b(Decoded(data));
    if (type == "BOOL") value->set_bool_(data.get<bool>());
    if (type == "NULL") value->set_null(data.get<bool>());
    if (type == "M") AttributesFromJson(data, value->mutable_m()->mutable_attributes());
    if (type == "L") value->mutable_l();
    if (type == "SS") value->mutable_ss();
    if (type == "NS") value->mutable_ns();
    if (type == "BS") value->mutable_bs();
    if (!data.is_array()) continue;
    for (const Json& element : data) {
      if (type == "L") FromJson(element, value->mutable_l()->add_values());
      if (type == "SS") value->mutable_ss()->add_values(element.get<std::string>());
      if (type == "NS") value->mutable_ns()->add_values(element.get<std::string>());
      if (type == "BS") value->mutable_bs()->add_values(Decoded(element));
    }
  }
}

Json ToJson(const v1::AttributeValue& value);

template <typename Attributes>
Json AttributesToJson(const Attributes& attributes) {
  Json json = Json::object();
  for (const v1::Attribute& attribute : attributes) json[attribute.name()] = ToJson(attribute.value());
  return json;
}

Json ToJson(const v1::AttributeValue& value) {
  Json list = Json::array();
  switch (value.value_case()) {
    case v1::AttributeValue::kS:
      return {{"S", value.s()}};
    case v1::AttributeValue::kN:
      return {{"N", value.n()}};
    case v1::AttributeValue::kB:
      return {{"B", absl::Base64Escape(value.b())}};
    case v1::AttributeValue::kBool:
      return {{"BOOL", value.bool_()}};
    case v1::AttributeValue::kNull:
      return {{"NULL", value.null()}};
    case v1::AttributeValue::kM:
      return {{"M", AttributesToJson(value.m().attributes())}};
    case v1::AttributeValue::kL:
      for (const auto& element : value.l().values()) list.push_back(ToJson(element));
      return {{"L", list}};
    case v1::AttributeValue::kSs:
      for (const auto& element : value.ss().values()) list.push_back(element);
      return {{"SS", list}};
    case v1::AttributeValue::kNs:
      for (const auto& element : value.ns().values()) list.push_back(element);
      return {{"NS", list}};
    case v1::AttributeValue::kBs:
      for (const auto& element : value.bs().values()) list.push_back(absl::Base64Escape(element));
      return {{"BS", list}};
    case v1::AttributeValue::VALUE_NOT_SET:
      break;
  }
  return Json::object();
}

// ---- messages

void MessageFromJson(const Json& json, Message* message) {
  if (auto* item = dynamic_cast<v1::Item*>(message))
    return AttributesFromJson(json, item->mutable_attributes());
  if (auto* value = dynamic_cast<v1::AttributeValue*>(message)) return FromJson(json, value);
  FromDynamoDbJson(json, message);
}

Json MessageToJson(const Message& message) {
  if (const auto* item = dynamic_cast<const v1::Item*>(&message)) return AttributesToJson(item->attributes());
  if (const auto* value = dynamic_cast<const v1::AttributeValue*>(&message)) return ToJson(*value);
  return ToDynamoDbJson(message);
}

// Sets a field, or adds an element if it is repeated.
void SetField(const FieldDescriptor& field, const Json& json, Message* message) {
  const auto& reflection = *message->GetReflection();
  const bool repeated = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageFromJson(json, repeated ? reflection.AddMessage(message, &field)
                                            : reflection.MutableMessage(message, &field));
    case FieldDescriptor::CPPTYPE_STRING:
      return repeated ? reflection.AddString(message, &field, json.get<std::string>())
                      : reflection.SetString(message, &field, json.get<std::string>());
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(message, &field, json.get<bool>());
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.SetInt32(message, &field, json.get<int32_t>());
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.SetInt64(message, &field, json.get<int64_t>());
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* value =
          field.enum_type()->FindValueByName(EnumPrefix(*field.enum_type()) + json.get<std::string>());
      // An unknown name is sent as an unknown number.
      return reflection.SetEnumValue(message, &field, value != nullptr ? value->number() : 99);
    }
    default:
      ADD_FAILURE() << "no request has a field like " << field.full_name();
  }
}

// Adds an element to a map field.
void AddEntry(const FieldDescriptor& field, const std::string& name, const Json& value, Message* message) {
  Message* entry = message->GetReflection()->AddMessage(message, &field);
  SetField(*entry->GetDescriptor()->FindFieldByName("key"), name, entry);
  SetField(*entry->GetDescriptor()->FindFieldByName("value"), value, entry);
}

// Adds an element to a list of tables, which is an object by table name in JSON.
void AddTable(const FieldDescriptor& field, const std::string& name, const Json& value, Message* message) {
  Message* table = message->GetReflection()->AddMessage(message, &field);
  SetField(*table->GetDescriptor()->FindFieldByName("table_name"), name, table);
  FromDynamoDbJson(value.is_array() ? Json{{"WriteRequests", value}} : value, table);
}

Json ScalarToJson(const FieldDescriptor& field, const Message& message, int index) {
  const auto& reflection = *message.GetReflection();
  const bool repeated = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageToJson(repeated ? reflection.GetRepeatedMessage(message, &field, index)
                                    : reflection.GetMessage(message, &field));
    case FieldDescriptor::CPPTYPE_STRING:
      return repeated ? reflection.GetRepeatedString(message, &field, index)
                      : reflection.GetString(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return repeated ? reflection.GetRepeatedDouble(message, &field, index)
                      : reflection.GetDouble(message, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.GetInt64(message, &field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return std::string(reflection.GetEnum(message, &field)->name())
          .substr(EnumPrefix(*field.enum_type()).size());
    default:
      return nullptr;
  }
}

Json RepeatedToJson(const FieldDescriptor& field, const Message& message) {
  // The messages for lists of tables, and the member that becomes the value in JSON; empty: the whole
  // message.
  static const auto* tables = new std::map<std::string, std::string>{
      {"TableItems", "Items"},
      {"TableItemCollectionMetrics", "ItemCollectionMetrics"},
      {"TableWriteRequests", "WriteRequests"},
      {"KeysAndAttributes", ""},
  };
  const auto* type = field.message_type();
  const auto table = type == nullptr ? tables->end() : tables->find(std::string(type->name()));
  Json list = Json::array(), by_name = Json::object();
  for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
    Json element = ScalarToJson(field, message, i);
    if (field.is_map()) {
      by_name[element["Key"].get<std::string>()] = element["Value"];
    } else if (table != tables->end()) {
      const std::string name = element["TableName"];
      element.erase("TableName");
      by_name[name] = table->second.empty() ? element : element.value(table->second, Json::array());
    } else {
      list.push_back(std::move(element));
    }
  }
  return field.is_map() || table != tables->end() ? by_name : list;
}

}  // namespace

void FromDynamoDbJson(const Json& request, Message* message) {
  const auto& type = *message->GetDescriptor();
  for (const auto& [name, value] : request.items()) {
    const FieldDescriptor* field = nullptr;
    for (int i = 0; i < type.field_count(); ++i) {
      if (JsonName(*type.field(i)) == name) field = type.field(i);
    }
    ASSERT_NE(field, nullptr) << type.full_name() << " cannot say " << name;
    if (!field->is_repeated()) {
      SetField(*field, value, message);
    } else if (value.is_object()) {
      for (const auto& [key, entry] : value.items()) {
        if (field->is_map()) {
          AddEntry(*field, key, entry, message);
        } else {
          AddTable(*field, key, entry, message);
        }
      }
    } else {
      for (const Json& element : value) SetField(*field, element, message);
    }
  }
}

Json ToDynamoDbJson(const Message& message) {
  Json json = Json::object();
  const auto& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    // Only gRPC returns these: sequences, storage ids.
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64) continue;
    if (field.is_repeated()) {
      Json elements = RepeatedToJson(field, message);
      if (!elements.empty()) json[JsonName(field)] = std::move(elements);
    } else if (message.GetReflection()->HasField(message, &field) ||
               field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      json[JsonName(field)] = ScalarToJson(field, message, 0);
    }
  }
  return json;
}

}  // namespace itemdb::protocols
