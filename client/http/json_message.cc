#include "client/http/json_message.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "client/errors_internal.h"
#include "client/http/message_types.h"
#include "common/status_macros.h"
#include "storage/json/json_values.h"
#include "storage/json/json_writer.h"
#include "storage/values/wire.h"

namespace itemdb {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageLite;
using google::protobuf::Reflection;
using simdjson::dom::element;
using simdjson::dom::object;

// Fields whose members have another name than the field in CamelCase.
struct Spelling {
  std::string_view field;
  std::string_view member;
};
constexpr Spelling kSpellings[] = {
    {"size_estimate_range_gb", "SizeEstimateRangeGB"},
    {"sse_specification", "SSESpecification"},
    {"sse_type", "SSEType"},
    {"kms_master_key_id", "KMSMasterKeyId"},
};

// Lists of these messages are objects in JSON: each element is a member with the name of its table. An
// element with one field besides the name is that field's list; others are objects.
constexpr std::string_view kKeyedByTable[] = {"itemdb.v1.KeysAndAttributes", "itemdb.v1.TableItems",
                                              "itemdb.v1.TableWriteRequests",
                                              "itemdb.v1.TableItemCollectionMetrics"};

// The fields of these messages are members of the object that they belong to.
constexpr std::string_view kInlined[] = {"itemdb.v1.WriteResult", "itemdb.v1.TransactionCommitted",
                                         "itemdb.v1.ContributorInsightsSummary"};

constexpr std::string_view kItem = "itemdb.v1.Item";
constexpr std::string_view kAttributeValue = "itemdb.v1.AttributeValue";
// Is in an object with the name of its kind: {"Get": {...}}.
constexpr std::string_view kTransactGet = "itemdb.v1.TransactGet";
// Is an object with an attribute's name.
constexpr std::string_view kVectorAttribute = "vector_attribute";

// Flags that are written although they are false.
constexpr std::string_view kAlwaysWritten[] = {"itemdb.v1.TimeToLiveSpecification.enabled",
                                               "itemdb.v1.SseSpecification.enabled"};

template <size_t N>
bool IsOneOf(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string MemberName(const FieldDescriptor& field) {
  const auto* spelling = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                                      [&](const Spelling& one) { return one.field == field.name(); });
  if (spelling != std::end(kSpellings)) return std::string(spelling->member);
  std::string name;
  bool upper = true;
  for (const char c : field.name()) {
    if (c != '_') name.push_back(upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
    upper = c == '_';
  }
  return name;
}

// "RETURN_VALUES_" for the enum ReturnValues: the text before the names of its values.
std::string PrefixOf(const EnumDescriptor& type) {
  constexpr std::string_view kUnspecified = "UNSPECIFIED";
  const std::string& first = type.value(0)->name();
  return first.substr(0, first.size() - kUnspecified.size());
}

bool IsKeyedByTable(const FieldDescriptor& field) {
  return field.is_repeated() && field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         IsOneOf(kKeyedByTable, field.message_type()->full_name());
}

bool IsInlined(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated() &&
         IsOneOf(kInlined, field.message_type()->full_name());
}

// ---- writing

struct Output {
  std::string* text;
  // Why the message cannot be written.
  absl::Status status;
};

// storage/json reads items without decoding them, and takes an attribute whose name or value is left out, as
// protobuf does with empty ones, for the end of the item. The other side refuses such items in any case.
bool HasNamesAndValues(std::string_view attributes);

bool HasType(std::string_view value) {
  wire::Field field;
  if (!wire::ConsumeField(&value, &field)) return false;
  const auto type = static_cast<storage::ValueType>(field.number);
  if (type == storage::ValueType::kM) return HasNamesAndValues(field.bytes);
  if (type != storage::ValueType::kL) return true;
  wire::Field element;
  while (!field.bytes.empty())
    if (!wire::ConsumeField(&field.bytes, &element) || !HasType(element.bytes)) return false;
  return true;
}

bool HasNamesAndValues(std::string_view attributes) {
  wire::Field attribute, name, value;
  while (!attributes.empty()) {
    if (!wire::ConsumeField(&attributes, &attribute) || !wire::ConsumeField(&attribute.bytes, &name) ||
        name.number != storage::kNameField || !wire::ConsumeField(&attribute.bytes, &value) ||
        !HasType(value.bytes))
      return false;
  }
  return true;
}

// As storage::JsonWriter does between elements and members.
void AppendComma(std::string* out) {
  if (!out->empty() && out->back() != '{' && out->back() != '[' && out->back() != ':') out->push_back(',');
}

void AppendFieldsFrom(const Message& message, int first, Output* out);

void AppendMessageValue(const Message& message, Output* out) {
  AppendComma(out->text);
  const std::string_view type = message.GetDescriptor()->full_name();
  if (type == kItem || type == kAttributeValue) {
    const std::string encoded = message.SerializeAsString();
    const bool is_whole = type == kItem ? HasNamesAndValues(encoded) : HasType(encoded);
    if (!is_whole) {
      out->status =
          InvalidRequest("an item or a value has an attribute whose name is empty, or a value without type");
      return;
    }
    return type == kItem ? storage::AppendJsonItem(storage::ItemView(encoded), out->text)
                         : storage::AppendJsonValue(storage::ValueView(encoded), out->text);
  }
  out->text->append(type == kTransactGet ? "{\"Get\":{" : "{");
  AppendFieldsFrom(message, /*first=*/0, out);
  out->text->append(type == kTransactGet ? "}}" : "}");
}

// The value of a field that is no list, or the element `index` of a list.
void AppendValue(const Message& message, const FieldDescriptor& field, int index, Output* out) {
  const Reflection& reflection = *message.GetReflection();
  storage::JsonWriter writer(out->text);
  const bool element = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string scratch;
      writer.String(element ? reflection.GetRepeatedStringReference(message, &field, index, &scratch)
                            : reflection.GetStringReference(message, &field, &scratch));
      return;
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      writer.Boolean(element ? reflection.GetRepeatedBool(message, &field, index)
                             : reflection.GetBool(message, &field));
      return;
    case FieldDescriptor::CPPTYPE_INT32:
      writer.Integer(element ? reflection.GetRepeatedInt32(message, &field, index)
                             : reflection.GetInt32(message, &field));
      return;
    case FieldDescriptor::CPPTYPE_INT64:
      writer.Integer(element ? reflection.GetRepeatedInt64(message, &field, index)
                             : reflection.GetInt64(message, &field));
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      writer.Real(element ? reflection.GetRepeatedDouble(message, &field, index)
                          : reflection.GetDouble(message, &field));
      return;
    case FieldDescriptor::CPPTYPE_ENUM: {
      const EnumValueDescriptor& value = *(element ? reflection.GetRepeatedEnum(message, &field, index)
                                                   : reflection.GetEnum(message, &field));
      writer.String(std::string_view(value.name()).substr(PrefixOf(*field.enum_type()).size()));
      return;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      AppendMessageValue(element ? reflection.GetRepeatedMessage(message, &field, index)
                                 : reflection.GetMessage(message, &field),
                         out);
      return;
    default:
      // No request has fields of other types.
      out->text->append("null");
  }
}

void AppendList(const Message& message, const FieldDescriptor& field, Output* out) {
  out->text->push_back('[');
  const int size = message.GetReflection()->FieldSize(message, &field);
  for (int i = 0; i < size; ++i) AppendValue(message, field, i, out);
  out->text->push_back(']');
}

// {"TABLE": ...} for a list of messages that begin with the name of a table.
void AppendKeyed(const Message& message, const FieldDescriptor& field, Output* out) {
  const Reflection& reflection = *message.GetReflection();
  const Descriptor& type = *field.message_type();
  out->text->push_back('{');
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& one = reflection.GetRepeatedMessage(message, &field, i);
    std::string scratch;
    storage::JsonWriter(out->text).Name(
        one.GetReflection()->GetStringReference(one, type.field(0), &scratch));
    if (type.field_count() == 2) {
      AppendList(one, *type.field(1), out);
      continue;
    }
    out->text->push_back('{');
    AppendFieldsFrom(one, /*first=*/1, out);
    out->text->push_back('}');
  }
  out->text->push_back('}');
}

void AppendMap(const Message& message, const FieldDescriptor& field, Output* out) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& key = *field.message_type()->map_key();
  const FieldDescriptor& value = *field.message_type()->map_value();
  out->text->push_back('{');
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    std::string scratch;
    storage::JsonWriter(out->text).Name(entry.GetReflection()->GetStringReference(entry, &key, &scratch));
    AppendValue(entry, value, 0, out);
  }
  out->text->push_back('}');
}

// Appends the members of the fields from the one with index `first` on.
void AppendFieldsFrom(const Message& message, int first, Output* out) {
  const Reflection& reflection = *message.GetReflection();
  const Descriptor& type = *message.GetDescriptor();
  for (int i = first; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const bool is_set = field.is_repeated() ? reflection.FieldSize(message, &field) > 0
                                            : reflection.HasField(message, &field);
    if (!is_set && !IsOneOf(kAlwaysWritten, field.full_name())) continue;
    storage::JsonWriter(out->text).Name(MemberName(field));
    if (field.is_map()) {
      AppendMap(message, field, out);
    } else if (IsKeyedByTable(field)) {
      AppendKeyed(message, field, out);
    } else if (field.is_repeated()) {
      AppendList(message, field, out);
    } else if (field.name() == kVectorAttribute) {
      out->text->append("{\"AttributeName\":");
      AppendValue(message, field, 0, out);
      out->text->push_back('}');
    } else {
      AppendValue(message, field, 0, out);
    }
  }
}

// ---- reading

absl::Status Unexpected(const FieldDescriptor& field) {
  return MakeError(absl::StatusCode::kDataLoss, "DATA_LOSS",
                   "the member " + MemberName(field) + " is not of the type that the service gives it");
}

// The encoded item or attribute value `encoded` becomes `message`.
absl::Status ReadEncoded(absl::StatusOr<std::string> encoded, Message* message) {
  if (!encoded.ok()) return MakeError(absl::StatusCode::kDataLoss, "DATA_LOSS", MessageOf(encoded.status()));
  if (message->ParseFromString(*encoded)) return absl::OkStatus();
  return MakeError(absl::StatusCode::kDataLoss, "DATA_LOSS", "an item does not decode");
}

absl::Status ReadMembers(const object& object, Message* message);

absl::Status ReadMessageValue(const element& value, const FieldDescriptor& field, Message* message) {
  if (field.message_type()->full_name() == kAttributeValue)
    return ReadEncoded(storage::EncodeJsonValue(value), message);
  object members;
  if (value.get(members) != simdjson::SUCCESS) return Unexpected(field);
  if (field.message_type()->full_name() == kItem)
    return ReadEncoded(storage::EncodeJsonItem(members), message);
  return ReadMembers(members, message);
}

// Sets the field, or appends to it if it is a list.
absl::Status ReadValue(const element& value, const FieldDescriptor& field, Message* message) {
  const Reflection& reflection = *message->GetReflection();
  const bool appends = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string_view text;
      if (value.get(text) != simdjson::SUCCESS) return Unexpected(field);
      appends ? reflection.AddString(message, &field, std::string(text))
              : reflection.SetString(message, &field, std::string(text));
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      bool truth;
      if (value.get(truth) != simdjson::SUCCESS || appends) return Unexpected(field);
      reflection.SetBool(message, &field, truth);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64: {
      int64_t number;
      if (value.get(number) != simdjson::SUCCESS || appends) return Unexpected(field);
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
        reflection.SetInt64(message, &field, number);
      } else {
        reflection.SetInt32(message, &field, static_cast<int32_t>(number));
      }
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      // Also of a number without a fraction.
      double number;
      if (value.get(number) != simdjson::SUCCESS) return Unexpected(field);
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT && !appends) {
        reflection.SetFloat(message, &field, static_cast<float>(number));
      } else if (appends) {
        reflection.AddDouble(message, &field, number);
      } else {
        reflection.SetDouble(message, &field, number);
      }
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      std::string_view text;
      if (value.get(text) != simdjson::SUCCESS || appends) return Unexpected(field);
      const EnumDescriptor& type = *field.enum_type();
      // A value that is newer than this client stays unspecified.
      const EnumValueDescriptor* known = type.FindValueByName(PrefixOf(type) + std::string(text));
      if (known != nullptr) reflection.SetEnum(message, &field, known);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ReadMessageValue(
          value, field,
          appends ? reflection.AddMessage(message, &field) : reflection.MutableMessage(message, &field));
    default:
      return Unexpected(field);
  }
}

absl::Status ReadList(const element& value, const FieldDescriptor& field, Message* message) {
  simdjson::dom::array elements;
  if (value.get(elements) != simdjson::SUCCESS) return Unexpected(field);
  for (const element one : elements) ITEMDB_RETURN_IF_ERROR(ReadValue(one, field, message));
  return absl::OkStatus();
}

absl::Status ReadKeyed(const element& value, const FieldDescriptor& field, Message* message) {
  object tables;
  if (value.get(tables) != simdjson::SUCCESS) return Unexpected(field);
  for (const auto [table_name, contents] : tables) {
    Message* one = message->GetReflection()->AddMessage(message, &field);
    const Descriptor& type = *one->GetDescriptor();
    one->GetReflection()->SetString(one, type.field(0), std::string(table_name));
    if (type.field_count() == 2) {
      ITEMDB_RETURN_IF_ERROR(ReadList(contents, *type.field(1), one));
      continue;
    }
    object members;
    if (contents.get(members) != simdjson::SUCCESS) return Unexpected(field);
    ITEMDB_RETURN_IF_ERROR(ReadMembers(members, one));
  }
  return absl::OkStatus();
}

absl::Status ReadMap(const element& value, const FieldDescriptor& field, Message* message) {
  object entries;
  if (value.get(entries) != simdjson::SUCCESS) return Unexpected(field);
  for (const auto [name, contents] : entries) {
    Message* entry = message->GetReflection()->AddMessage(message, &field);
    entry->GetReflection()->SetString(entry, field.message_type()->map_key(), std::string(name));
    ITEMDB_RETURN_IF_ERROR(ReadValue(contents, *field.message_type()->map_value(), entry));
  }
  return absl::OkStatus();
}

absl::Status ReadMembers(const object& object, Message* message) {
  const Reflection& reflection = *message->GetReflection();
  const Descriptor& type = *message->GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (IsInlined(field)) {
      ITEMDB_RETURN_IF_ERROR(ReadMembers(object, reflection.MutableMessage(message, &field)));
      continue;
    }
    element value;
    if (object.at_key(MemberName(field)).get(value) != simdjson::SUCCESS || value.is_null()) continue;
    if (field.name() == kVectorAttribute) {
      simdjson::dom::object attribute;
      if (value.get(attribute) != simdjson::SUCCESS ||
          attribute.at_key("AttributeName").get(value) != simdjson::SUCCESS)
        return Unexpected(field);
      ITEMDB_RETURN_IF_ERROR(ReadValue(value, field, message));
    } else if (field.is_map()) {
      ITEMDB_RETURN_IF_ERROR(ReadMap(value, field, message));
    } else if (IsKeyedByTable(field)) {
      ITEMDB_RETURN_IF_ERROR(ReadKeyed(value, field, message));
    } else if (field.is_repeated()) {
      ITEMDB_RETURN_IF_ERROR(ReadList(value, field, message));
    } else {
      ITEMDB_RETURN_IF_ERROR(ReadValue(value, field, message));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AppendJsonMembers(const MessageLite& message, std::string* text) {
  Output out{.text = text, .status = absl::OkStatus()};
  if (const auto* full = dynamic_cast<const Message*>(&message)) {
    AppendFieldsFrom(*full, 0, &out);
    return out.status;
  }
  const std::unique_ptr<Message> twin = NewMessage(message.GetTypeName());
  if (twin == nullptr || !twin->ParsePartialFromString(message.SerializePartialAsString()))
    return MakeError(absl::StatusCode::kInternal, "INTERNAL", message.GetTypeName() + " has no descriptor");
  AppendFieldsFrom(*twin, 0, &out);
  return out.status;
}

absl::Status AppendJsonMessage(const MessageLite& message, std::string* text) {
  AppendComma(text);
  text->push_back('{');
  ITEMDB_RETURN_IF_ERROR(AppendJsonMembers(message, text));
  text->push_back('}');
  return absl::OkStatus();
}

absl::Status ReadJsonMessage(const object& object, MessageLite* message) {
  if (auto* full = dynamic_cast<Message*>(message)) return ReadMembers(object, full);
  const std::unique_ptr<Message> twin = NewMessage(message->GetTypeName());
  if (twin == nullptr || !twin->ParsePartialFromString(message->SerializePartialAsString()))
    return MakeError(absl::StatusCode::kInternal, "INTERNAL", message->GetTypeName() + " has no descriptor");
  ITEMDB_RETURN_IF_ERROR(ReadMembers(object, twin.get()));
  message->ParsePartialFromString(twin->SerializePartialAsString());
  return absl::OkStatus();
}

}  // namespace itemdb
