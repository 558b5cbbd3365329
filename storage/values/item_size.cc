#include "storage/values/item_size.h"

#include "storage/values/number.h"

namespace itemdb::storage {

size_t ItemSizeBytes(ItemView item) {
  size_t size = 0;
  for (const AttributeView& attribute : item) size += attribute.name.size() + ValueSizeBytes(attribute.value);
  return size;
}

size_t ValueSizeBytes(ValueView value) {
  constexpr size_t kContainerBytes = 3;
  constexpr size_t kElementBytes = 1;
  size_t size = 0;
  switch (value.type()) {
    case ValueType::kS:
    case ValueType::kB:
      return value.payload().size();
    case ValueType::kN:
      return Number::SizeBytes(value.payload());
    case ValueType::kSS:
    case ValueType::kBS:
      for (std::string_view element : SetView(value.payload())) size += element.size();
      return size;
    case ValueType::kNS:
      for (std::string_view element : SetView(value.payload())) size += Number::SizeBytes(element);
      return size;
    case ValueType::kL:
      size = kContainerBytes;
      for (ValueView element : ListView(value.payload())) size += kElementBytes + ValueSizeBytes(element);
      return size;
    case ValueType::kM:
      size = kContainerBytes;
      for (const AttributeView& attribute : ItemView(value.payload())) {
        size += kElementBytes + attribute.name.size() + ValueSizeBytes(attribute.value);
      }
      return size;
    case ValueType::kBool:
    case ValueType::kNull:
      return 1;
  }
  return size;
}

}  // namespace itemdb::storage
