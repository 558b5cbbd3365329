#include "storage/json/json_values.h"

#include <array>
#include <optional>

#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/base/status.h"
#include "storage/values/value_view.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

using simdjson::dom::element;

std::optional<ValueType> TypeOf(std::string_view name) {
  for (int type = static_cast<int>(ValueType::kS); type <= static_cast<int>(ValueType::kNull); ++type)
    if (name == ValueTypeName(static_cast<ValueType>(type))) return static_cast<ValueType>(type);
  return std::nullopt;
}

// The six bits of each base64 digit; 255 for all other characters.
constexpr std::array<uint8_t, 256> MakeBase64Values() {
  std::array<uint8_t, 256> values;
  values.fill(255);
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < digits.size(); ++i)
    values[static_cast<uint8_t>(digits[i])] = static_cast<uint8_t>(i);
  return values;
}
constexpr std::array<uint8_t, 256> kBase64Values = MakeBase64Values();

// What the service's framework, which is written in Java, calls the types in its errors.
struct JavaClass {
  std::string_view wanted;
  std::string_view name;
};
constexpr JavaClass kJavaClasses[] = {
    {"String", "class java.lang.String"},
    {"Integer", "class java.lang.Integer"},
    {"Long", "class java.lang.Long"},
    {"Boolean", "class java.lang.Boolean"},
    {"Blob", "class java.nio.ByteBuffer"},
    {"Map", "java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>"},
    {"NameMap", "java.util.Map<java.lang.String, java.lang.String>"},
    {"AttributeValue", "class com.amazonaws.dynamodb.v20120810.AttributeValue"},
};

class Encoder {
 public:
  explicit Encoder(std::string* out) : out_(*out) {}

  // False: encoding failed with error().
  bool Attributes(const simdjson::dom::object& attributes, int depth);
  bool Value(const element& value, int depth);

  absl::Status error() const { return error_; }

 private:
  bool Typed(ValueType type, const element& value, int depth);
  bool Scalar(ValueType type, const element& value, uint32_t field);
  bool Set(ValueType type, const element& value);
  bool List(const element& value, int depth);

  bool Fail(absl::Status error) {
    error_ = std::move(error);
    return false;
  }

  // Appends a length-delimited field; `append` appends its contents. One byte is reserved for the length. If
  // the length needs more bytes, the contents are moved afterwards.
  template <typename Append>
  bool Nested(uint32_t field, Append append) {
    const uint64_t tag = wire::Tag(field, wire::kLengthDelimited);
    *wire::WriteVarint(tag, wire::GrowBy(wire::VarintSize(tag) + 1, &out_)) = 0;
    const size_t length_at = out_.size() - 1;
    if (!append()) return false;
    const size_t length = out_.size() - length_at - 1;
    if (length < 0x80) {
      out_[length_at] = static_cast<char>(length);
      return true;
    }
    std::string varint;
    wire::AppendVarint(length, &varint);
    out_.replace(length_at, 1, varint);
    return true;
  }

  std::string& out_;
  absl::Status error_;
};

bool Encoder::Attributes(const simdjson::dom::object& attributes, int depth) {
  for (auto [name, value] : attributes) {
    bool encoded = Nested(kElementsField, [&, name = name, value = value] {
      wire::AppendBytesField(kNameField, name, &out_);
      return Nested(kValueField, [&] { return Value(value, depth); });
    });
    if (!encoded) return false;
  }
  return true;
}

bool Encoder::Value(const element& value, int depth) {
  // A deeper value is not encoded: storage refuses an item of this depth in any case (SEM-017).
  if (depth > kMaxDepth || value.is_null()) return true;
  simdjson::dom::object members;
  if (value.get(members) != simdjson::SUCCESS) return Fail(WrongJsonType(value, "AttributeValue"));
  size_t count = 0, known = 0;
  for (auto [name, member] : members) {
    if (member.is_null()) continue;
    ++count;
    std::optional<ValueType> type = TypeOf(name);
    if (!type.has_value()) continue;
    ++known;
    if (!Typed(*type, member, depth)) return false;
  }
  // A value with one known and one unknown type is refused here, because the encoding omits the unknown type.
  // Storage refuses values with no type or several known types, with the same text.
  if (count > 1 && known == 1) {
    return Fail(
        ValidationError("SEM-010",
                        "Supplied AttributeValue has more than one datatypes set, must contain exactly "
                        "one of the supported datatypes"));
  }
  return true;
}

bool Encoder::Typed(ValueType type, const element& value, int depth) {
  const uint32_t field = static_cast<uint32_t>(type);
  switch (type) {
    case ValueType::kS:
    case ValueType::kN:
    case ValueType::kB:
      return Scalar(type, value, field);
    case ValueType::kSS:
    case ValueType::kNS:
    case ValueType::kBS:
      return Nested(field, [&] { return Set(type, value); });
    case ValueType::kL:
      return Nested(field, [&] { return List(value, depth + 1); });
    case ValueType::kM: {
      simdjson::dom::object attributes;
      if (value.get(attributes) != simdjson::SUCCESS) return Fail(WrongJsonType(value, "Map"));
      return Nested(field, [&] { return Attributes(attributes, depth + 1); });
    }
    case ValueType::kBool:
    case ValueType::kNull: {
      bool truth;
      if (value.get(truth) != simdjson::SUCCESS) return Fail(WrongJsonType(value, "Boolean"));
      wire::AppendVarintField(field, truth ? 1 : 0, &out_);
      return true;
    }
  }
  return true;
}

bool Encoder::Scalar(ValueType type, const element& value, uint32_t field) {
  const bool binary = type == ValueType::kB || type == ValueType::kBS;
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return Fail(WrongJsonType(value, binary ? "Blob" : "String"));
  if (!binary) {
    wire::AppendBytesField(field, text, &out_);
    return true;
  }
  return Nested(field, [&] {
    absl::Status decoded = AppendDecodedBase64(text, &out_);
    return decoded.ok() || Fail(std::move(decoded));
  });
}

bool Encoder::Set(ValueType type, const element& value) {
  simdjson::dom::array elements;
  if (value.get(elements) != simdjson::SUCCESS) return Fail(WrongJsonType(value, "List"));
  for (element one : elements) {
    if (one.is_null()) {
      std::string_view text = type == ValueType::kSS   ? "An string set may not have a null as a member"
                              : type == ValueType::kNS ? "An number set may not have a null as a member"
                                                       : "Binary sets may not contain null or empty values";
      return Fail(ValidationError(
          "SEM-015", absl::StrCat("One or more parameter values were invalid: ", std::string(text))));
    }
    if (!Scalar(type, one, kElementsField)) return false;
  }
  return true;
}

bool Encoder::List(const element& value, int depth) {
  simdjson::dom::array elements;
  if (value.get(elements) != simdjson::SUCCESS) return Fail(WrongJsonType(value, "List"));
  for (element one : elements)
    if (!Nested(kElementsField, [&] { return Value(one, depth); })) return false;
  return true;
}

}  // namespace

absl::Status AppendDecodedBase64(std::string_view text, std::string* out) {
  if (text.size() % 4 != 0) {
    return SerializationError(
        absl::StrCat("Base64 encoded length is expected a multiple of 4 bytes but found: ", text.size()));
  }
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  const std::string_view digits = text.substr(0, text.size() - padding);
  uint32_t bits = 0;
  int count = 0;
  for (char c : digits) {
    const uint8_t value = kBase64Values[static_cast<uint8_t>(c)];
    if (value == 255)
      return WithServiceText(
          absl::StrCat("Invalid Base64 character: '", std::string(1, c), "'"),
          SerializationError(
              "Invalid Base64 character in a binary value; allowed are A-Z, a-z, 0-9, '+' and '/'"));
    bits = bits << 6 | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out->push_back(static_cast<char>(bits >> count));
    bits &= (1u << count) - 1;
  }
  // The service's text has this misspelling.
  if (bits != 0)
    return WithServiceText("Invalid last non-pad Base64 character dectected",
                           SerializationError("Invalid last non-pad Base64 character in a binary value"));
  return absl::OkStatus();
}

absl::StatusOr<std::string> EncodeJsonItem(const simdjson::dom::object& item) {
  // Without it the text would be moved five times until it has the length of a usual item.
  constexpr size_t kUsualBytes = 256;
  std::string encoded;
  encoded.reserve(kUsualBytes);
  Encoder encoder(&encoded);
  if (!encoder.Attributes(item, /*depth=*/1)) return encoder.error();
  return encoded;
}

absl::StatusOr<std::string> EncodeJsonValue(const element& value) {
  std::string encoded;
  Encoder encoder(&encoded);
  if (!encoder.Value(value, /*depth=*/1)) return encoder.error();
  return encoded;
}

absl::Status WrongJsonType(const element& value, std::string_view wanted) {
  const bool scalar =
      wanted != "List" && !wanted.ends_with("Map") && wanted != "Structure" && wanted != "AttributeValue";
  std::string_view found;
  switch (value.type()) {
    case simdjson::dom::element_type::ARRAY:
      for (const JavaClass& java : kJavaClasses) {
        if (java.wanted == wanted)
          return SerializationError(absl::StrCat("Unrecognized collection type ", std::string(java.name)));
      }
      return SerializationError("Start of list found where not expected");
    case simdjson::dom::element_type::OBJECT:
      return SerializationError("Start of structure or map found where not expected");
    case simdjson::dom::element_type::STRING:
      found = "STRING_VALUE";
      break;
    case simdjson::dom::element_type::DOUBLE:
      found = "DECIMAL_VALUE";
      break;
    case simdjson::dom::element_type::BOOL:
      found = value.get_bool().value_unsafe() ? "TRUE_VALUE" : "FALSE_VALUE";
      break;
    case simdjson::dom::element_type::NULL_VALUE:
      found = "NULL_VALUE";
      break;
    default:
      found = "NUMBER_VALUE";
  }
  if (wanted == "AttributeValue") return SerializationError("Unexpected value type in payload");
  if (!scalar) return SerializationError("Unexpected field type");
  if (wanted == "Blob") return SerializationError("only base-64-encoded strings are convertible to bytes");
  if (wanted == "Boolean" && found == "STRING_VALUE")
    return SerializationError("Unexpected token received from parser");
  return SerializationError(
      absl::StrCat(std::string(found), " cannot be converted to ", std::string(wanted)));
}

absl::Status SerializationError(std::string_view message) {
  return MakeError(absl::StatusCode::kInvalidArgument, kReasonSerialization, message);
}

}  // namespace itemdb::storage
