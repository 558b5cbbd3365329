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

// Every write looks for the attributes of each index, so this compares the first bytes of names before the
// names, and decodes only the value that it returns.
std::optional<ValueView> ItemView::Find(std::string_view name) const {
  if (name.empty()) return std::nullopt;
  const auto first = static_cast<uint8_t>(name.front());
  std::string_view rest = encoded();
  std::string_view attribute, found, value;
  while (wire::ConsumeContents(&rest, &attribute) && wire::ConsumeContents(&attribute, &found) &&
         !found.empty()) {
    const auto its_first = static_cast<uint8_t>(found.front());
    if (its_first < first) continue;
    if (its_first > first) break;  // Sorted by name.
    const int order = found.compare(name);
    if (order > 0) break;
    if (order < 0) continue;
    if (!wire::ConsumeContents(&attribute, &value)) break;
    return ValueView(value);
  }
  return std::nullopt;
}

void AppendAttribute(std::string_view name, std::string_view encoded_value, std::string* out) {
  const size_t size =
      wire::BytesFieldSize(kNameField, name.size()) + wire::BytesFieldSize(kValueField, encoded_value.size());
  const uint64_t tag = wire::Tag(kElementsField, wire::kLengthDelimited);
  char* to = wire::GrowBy(wire::VarintSize(tag) + wire::VarintSize(size) + size, out);
  to = wire::WriteVarint(size, wire::WriteVarint(tag, to));
  wire::WriteBytesField(kValueField, encoded_value, wire::WriteBytesField(kNameField, name, to));
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
