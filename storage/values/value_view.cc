#include "storage/values/value_view.h"

namespace itemdb::storage {
std::string_view ValueTypeName(ValueType type) {
  switch (type) {
    case ValueType::kS:
      return "S";
    case ValueType::kN:
      return "N";
    case ValueType::kB:
      return "B";
    case ValueType::kSS:
      return "SS";
    case ValueType::kNS:
      return "NS";
    case ValueType::kBS:
      return "BS";
    case ValueType::kL:
      return "L";
    case ValueType::kM:
      return "M";
    case ValueType::kBool:
      return "BOOL";
    case ValueType::kNull:
      return "NULL";
  }
  return "unknown";
}

template <typename Element>
size_t RepeatedView<Element>::Count() const {
  size_t count = 0;
  std::string_view rest = encoded_;
  for (std::string_view contents; wire::ConsumeContents(&rest, &contents);) ++count;
  return count;
}

template size_t RepeatedView<std::string_view>::Count() const;
template size_t RepeatedView<ValueView>::Count() const;
template size_t RepeatedView<AttributeView>::Count() const;

std::optional<ValueView> ItemView::Find(std::string_view name) const {
  for (const AttributeView& attribute : *this) {
    int order = attribute.name.compare(name);
    if (order == 0) return attribute.value;
    if (order > 0) break;  // Sorted by name.
  }
  return std::nullopt;
}

void AppendAttribute(std::string_view name, std::string_view encoded_value, std::string* out) {
  size_t size = 2 + wire::VarintSize(name.size()) + name.size() + wire::VarintSize(encoded_value.size()) +
                encoded_value.size();
  wire::AppendVarint(wire::Tag(kElementsField, wire::kLengthDelimited), out);
  wire::AppendVarint(size, out);
  wire::AppendBytesField(kNameField, name, out);
  wire::AppendBytesField(kValueField, encoded_value, out);
}

void AppendListElement(std::string_view encoded_value, std::string* out) {
  wire::AppendBytesField(kElementsField, encoded_value, out);
}

void AppendSetElement(std::string_view element, std::string* out) {
  wire::AppendBytesField(kElementsField, element, out);
}

std::string EncodeValue(ValueType type, std::string_view payload) {
  std::string encoded;
  encoded.reserve(1 + wire::VarintSize(payload.size()) + payload.size());
  wire::AppendBytesField(static_cast<uint32_t>(type), payload, &encoded);
  return encoded;
}

std::string EncodeBool(bool value) {
  std::string encoded;
  wire::AppendVarintField(static_cast<uint32_t>(ValueType::kBool), value ? 1 : 0, &encoded);
  return encoded;
}

std::string EncodeNull() {
  std::string encoded;
  wire::AppendVarintField(static_cast<uint32_t>(ValueType::kNull), 1, &encoded);
  return encoded;
}

}  // namespace itemdb::storage
