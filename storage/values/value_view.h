// Items and attribute values as views over their canonical encoded bytes.
//
// The bytes are encoded itemdb.v1.Item and itemdb.v1.AttributeValue messages in canonical form (canonical.h):
// the form that is stored and that a checked request has. Views borrow: they are valid as long as the bytes
// they were made from. Views do not validate; only canonical bytes may be viewed.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "storage/values/wire.h"

namespace itemdb::storage {

// Field numbers of the messages in proto/itemdb/v1/item.proto.
inline constexpr uint32_t kElementsField = 1;  // Item.attributes, Map.attributes, List.values, *Set.values
inline constexpr uint32_t kNameField = 1;      // Attribute.name
inline constexpr uint32_t kValueField = 2;     // Attribute.value

// The ten types; the numbers are the field numbers of itemdb.v1.AttributeValue.
enum class ValueType : uint8_t { kS = 1, kN, kB, kSS, kNS, kBS, kL, kM, kBool, kNull };

// "S", "N", ... as in the service's messages.
std::string_view ValueTypeName(ValueType type);

// An encoded AttributeValue.
class ValueView {
 public:
  ValueView() = default;
  // `encoded` is a whole canonical AttributeValue message (tag, length, contents).
  explicit ValueView(std::string_view encoded) : encoded_(encoded) {}

  ValueType type() const { return static_cast<ValueType>(static_cast<uint8_t>(encoded_[0]) >> 3); }
  // The whole message.
  std::string_view encoded() const { return encoded_; }
  // S, N, B: the text or bytes. SS, NS, BS, L, M: the encoded set, list or map message.
  std::string_view payload() const {
    std::string_view rest = encoded_;
    std::string_view contents;
    return wire::ConsumeContents(&rest, &contents) ? contents : std::string_view();
  }
  // BOOL only.
  bool boolean() const { return encoded_[1] != 0; }

 private:
  std::string_view encoded_;
};

// An attribute of an item or map.
struct AttributeView {
  std::string_view name;
  ValueView value;
};

// Walks the repeated elements of an encoded Item, Map (-> AttributeView), List (-> ValueView) or set
// (-> std::string_view). A forward range: `for (AttributeView a : ItemView(bytes))`.
template <typename Element>
class RepeatedView {
 public:
  class Iterator {
   public:
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using pointer = const Element*;
    using reference = const Element&;

    Iterator() = default;
    explicit Iterator(std::string_view rest) : rest_(rest) { Next(); }
    const Element& operator*() const { return element_; }
    const Element* operator->() const { return &element_; }
    Iterator& operator++() {
      Next();
      return *this;
    }
    // Equal when both are at the same place of the same bytes; end() equals any exhausted iterator.
    bool operator==(const Iterator& other) const {
      return at_end_ == other.at_end_ && (at_end_ || rest_.size() == other.rest_.size());
    }

   private:
    void Next();
    std::string_view rest_;
    Element element_{};
    bool at_end_ = false;
  };

  RepeatedView() = default;
  explicit RepeatedView(std::string_view encoded) : encoded_(encoded) {}
  Iterator begin() const { return Iterator(encoded_); }
  Iterator end() const { return Iterator(std::string_view()); }
  std::string_view encoded() const { return encoded_; }
  bool empty() const { return encoded_.empty(); }
  // Number of elements; walks them.
  size_t Count() const;

 private:
  std::string_view encoded_;
};

// The walk ends at bytes that do not decode. So a view never reads outside its bytes.
template <>
inline void RepeatedView<std::string_view>::Iterator::Next() {
  at_end_ = !wire::ConsumeContents(&rest_, &element_);
}

template <>
inline void RepeatedView<ValueView>::Iterator::Next() {
  std::string_view value;
  at_end_ = !wire::ConsumeContents(&rest_, &value);
  element_ = ValueView(value);
}

template <>
inline void RepeatedView<AttributeView>::Iterator::Next() {
  std::string_view attribute;
  std::string_view value;
  at_end_ = !wire::ConsumeContents(&rest_, &attribute) ||
            !wire::ConsumeContents(&attribute, &element_.name) || !wire::ConsumeContents(&attribute, &value);
  element_.value = ValueView(value);
}

using ListView = RepeatedView<ValueView>;
using SetView = RepeatedView<std::string_view>;

// An encoded Item or Map: attributes sorted by name.
class ItemView : public RepeatedView<AttributeView> {
 public:
  using RepeatedView::RepeatedView;
  // The value of attribute `name`, if there is one.
  std::optional<ValueView> Find(std::string_view name) const;
};

// Append one element in the encoding that it has inside an Item or Map, a List, or a set.
void AppendAttribute(std::string_view name, std::string_view encoded_value, std::string* out);
void AppendListElement(std::string_view encoded_value, std::string* out);
void AppendSetElement(std::string_view element, std::string* out);

// Return encoded AttributeValues. `payload` is as in ValueView::payload(): for kN the canonical number text.
std::string EncodeValue(ValueType type, std::string_view payload);
std::string EncodeBool(bool value);
std::string EncodeNull();

}  // namespace itemdb::storage
