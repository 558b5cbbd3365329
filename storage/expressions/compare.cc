#include "storage/expressions/compare.h"

#include <string.h>

#include <algorithm>

namespace itemdb::storage {
namespace {

// Compares two numbers that are not negative. Canonical texts have no needless zeros. So the number with more
// integer digits is greater. With equally many integer digits, the texts compare like the numbers; if one
// text continues the other, the longer one is greater.
std::strong_ordering CompareMagnitudes(std::string_view a, std::string_view b) {
  size_t a_integer = std::min(a.find('.'), a.size());
  size_t b_integer = std::min(b.find('.'), b.size());
  if (a_integer != b_integer) return a_integer <=> b_integer;
  return a <=> b;
}

// memmem is linear where std::string_view::find takes time proportional to the product of both lengths.
bool HasSubstring(std::string_view text, std::string_view part) {
  if (part.empty()) return true;
  return memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

uint64_t Utf16CodeUnits(std::string_view utf8) {
  uint64_t units = 0;
  for (char c : utf8) {
    auto byte = static_cast<unsigned char>(c);
    units += (byte & 0xc0) != 0x80;  // the first byte of a character
    units += byte >= 0xf0;           // characters of four bytes take a surrogate pair
  }
  return units;
}

// The type of the members of a set.
ValueType MemberType(ValueType set) {
  switch (set) {
    case ValueType::kSS:
      return ValueType::kS;
    case ValueType::kNS:
      return ValueType::kN;
    default:
      return ValueType::kB;
  }
}

}  // namespace

std::strong_ordering CompareNumberTexts(std::string_view a, std::string_view b) {
  if (a == b) return std::strong_ordering::equal;
  bool a_negative = a.starts_with('-');
  bool b_negative = b.starts_with('-');
  if (a_negative != b_negative)
    return a_negative ? std::strong_ordering::less : std::strong_ordering::greater;
  return a_negative ? CompareMagnitudes(b.substr(1), a.substr(1)) : CompareMagnitudes(a, b);
}

std::strong_ordering CompareScalars(ValueView a, ValueView b) {
  if (a.type() == ValueType::kN) return CompareNumberTexts(a.payload(), b.payload());
  return a.payload() <=> b.payload();
}

bool BeginsWith(ValueView value, ValueView prefix) {
  if (value.type() != prefix.type()) return false;
  if (value.type() != ValueType::kS && value.type() != ValueType::kB) return false;
  return value.payload().starts_with(prefix.payload());
}

bool Contains(ValueView container, ValueView part) {
  switch (container.type()) {
    case ValueType::kS:
    case ValueType::kB:
      return part.type() == container.type() && HasSubstring(container.payload(), part.payload());
    case ValueType::kSS:
    case ValueType::kNS:
    case ValueType::kBS: {
      if (part.type() != MemberType(container.type())) return false;
      for (std::string_view member : SetView(container.payload())) {
        if (member == part.payload()) return true;
      }
      return false;
    }
    case ValueType::kL:
      for (ValueView element : ListView(container.payload())) {
        if (SameValue(element, part)) return true;
      }
      return false;
    default:
      return false;
  }
}

std::optional<uint64_t> SizeOf(ValueView value) {
  switch (value.type()) {
    case ValueType::kS:
      return Utf16CodeUnits(value.payload());
    case ValueType::kB:
      return value.payload().size();
    case ValueType::kSS:
    case ValueType::kNS:
    case ValueType::kBS:
      return SetView(value.payload()).Count();
    case ValueType::kL:
      return ListView(value.payload()).Count();
    case ValueType::kM:
      return ItemView(value.payload()).Count();
    default:
      return std::nullopt;
  }
}

int DepthOf(ValueView value) {
  int deepest = 0;
  if (value.type() == ValueType::kL) {
    for (ValueView element : ListView(value.payload())) deepest = std::max(deepest, DepthOf(element));
  } else if (value.type() == ValueType::kM) {
    for (const AttributeView& attribute : ItemView(value.payload()))
      deepest = std::max(deepest, DepthOf(attribute.value));
  }
  return deepest + 1;
}

}  // namespace itemdb::storage
