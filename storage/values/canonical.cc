// One pass over the wire bytes appends the canonical form to an output string. Elements are appended in the
// order of the input. Then the container checks their order and sorts the appended bytes only if they were
// unordered. So canonical input costs one walk and one copy.
#include "storage/values/canonical.h"

#include <algorithm>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/escaping.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/values/number.h"
#include "storage/values/utf8.h"

namespace itemdb::storage {
namespace {

// Longest text that an error message quotes: status messages are sent in a header of some KB.
constexpr size_t kMaxQuotedBytes = 128;
// Longest text of a set with duplicates, which the service shows as a whole.
constexpr size_t kMaxShownSetBytes = 640;

constexpr std::string_view kInvalidParameters = "One or more parameter values were invalid: ";

// Returns `text` cut to `max_bytes`. Never cuts inside a UTF-8 character.
std::string Quoted(std::string_view text, size_t max_bytes = kMaxQuotedBytes) {
  if (text.size() <= max_bytes) return std::string(text);
  size_t end = max_bytes;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

// True when `text` is a canonical number (SEM-012) of at most 38 digits, including leading zeros of the
// fraction. Such a number is in range and needs no other check. Nearly every number takes this path.
bool IsShortCanonicalNumber(std::string_view text) {
  bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > kMaxNumberDigits) return false;
  size_t point = text.size();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] >= '0' && text[i] <= '9') continue;
    if (text[i] != '.' || point != text.size()) return false;
    point = i;
  }
  if (point == 0 || (text.front() == '0' && point != 1)) return false;
  if (point == text.size()) return !(negative && text == "0");
  return point + 1 < text.size() && text.back() != '0';
}

class Canonicalizer {
 public:
  explicit Canonicalizer(std::string* out) : out_(*out) {}

  // Append the canonical form of the argument to the output. False after Fail().
  bool Attributes(std::string_view encoded, int depth);
  bool Value(std::string_view encoded, int depth);

  absl::Status status() const {
    absl::Status status = DetailedError(rule_, message_, addition_);
    if (path_.empty()) return addition_.empty() ? ValidationError(rule_, message_) : status;
    return Reworded(status, {.addition = " (attribute \"" + Quoted(path_) + "\")"});
  }

 private:
  bool Attribute(std::string_view encoded, int depth, std::string_view* name);
  bool List(std::string_view encoded, int depth);
  bool Set(ValueType type, std::string_view encoded);
  bool NumberText(std::string_view text);
  bool SortAttributes(size_t begin);
  bool SortSet(ValueType type, size_t begin);
  bool CheckName(std::string_view name);

  // `message` is the service's text; `addition` follows in the message of the status.
  bool Fail(std::string_view rule, std::string message, std::string addition = "") {
    rule_ = rule;
    message_ = std::move(message);
    addition_ = std::move(addition);
    return false;
  }
  bool Malformed() {
    return Fail("SEM-010",
                "The bytes are not a well-formed encoding of itemdb.v1.Item or itemdb.v1.AttributeValue");
  }
  bool UnknownField(std::string_view in, const wire::Field& field) {
    return Fail("SEM-010", "itemdb.v1." + std::string(in) + " has no field " + std::to_string(field.number) +
                               " of wire type " + std::to_string(field.wire_type));
  }
  // Add a name or list index to the front of the failure's path, on the way out of the recursion.
  bool FailBelow(std::string_view name) { return FailAt(Quoted(name)); }
  bool FailBelow(size_t index) { return FailAt(absl::StrCat("[", index, "]")); }
  bool FailAt(std::string step) {
    if (!path_.empty() && path_.front() != '[') step.push_back('.');
    path_.insert(0, step);
    return false;
  }

  // Appends a length-delimited field whose contents `append` appends. First writes `guess` as the length, the
  // length of the source, which is right for canonical input. Corrects the length afterwards if it is wrong.
  template <typename Append>
  bool Nested(uint32_t field, size_t guess, Append append) {
    const uint64_t tag = wire::Tag(field, wire::kLengthDelimited);
    const size_t length_at = out_.size() + wire::VarintSize(tag);
    wire::WriteVarint(
        guess, wire::WriteVarint(tag, wire::GrowBy(wire::VarintSize(tag) + wire::VarintSize(guess), &out_)));
    size_t begin = out_.size();
    if (!append()) return false;
    size_t actual = out_.size() - begin;
    if (actual != guess) {
      std::string length;
      wire::AppendVarint(actual, &length);
      out_.replace(length_at, begin - length_at, length);
    }
    return true;
  }

  std::string& out_;
  // The first failure.
  std::string_view rule_;
  std::string message_;
  std::string addition_;
  std::string path_;
};

bool Canonicalizer::CheckName(std::string_view name) {
  if (name.empty()) return Fail("SEM-009", std::string(kInvalidParameters) + "Empty attribute name");
  if (name.size() > kMaxAttributeNameBytes) {
    return Fail("SEM-009", "Attribute name is too large, must be at most 65535 bytes",
                ", has " + std::to_string(name.size()));
  }
  if (!IsValidUtf8(name)) {
    std::string_view start = name.substr(0, kMaxQuotedBytes);
    return Fail("SEM-009",
                "Attribute name is not valid UTF-8: " + absl::CHexEscape({start.data(), start.size()}));
  }
  return true;
}

bool Canonicalizer::Attributes(std::string_view encoded, int depth) {
  const size_t begin = out_.size();
  bool sorted = true;
  std::string_view previous;
  while (!encoded.empty()) {
    wire::Field field;
    if (!wire::ConsumeField(&encoded, &field)) return Malformed();
    if (field.number != kElementsField || field.wire_type != wire::kLengthDelimited) {
      return UnknownField(depth == 1 ? "Item" : "Map", field);
    }
    std::string_view name;
    if (!Nested(kElementsField, field.bytes.size(), [&] { return Attribute(field.bytes, depth, &name); })) {
      return false;
    }
    // Names are not empty, so the empty `previous` of the first round sorts before every name.
    sorted = sorted && previous < name;
    previous = name;
  }
  return sorted || SortAttributes(begin);
}

bool Canonicalizer::Attribute(std::string_view encoded, int depth, std::string_view* name) {
  std::string_view value;
  bool has_name = false, has_value = false;
  while (!encoded.empty()) {
    wire::Field field;
    if (!wire::ConsumeField(&encoded, &field)) return Malformed();
    bool is_name = field.number == kNameField, is_value = field.number == kValueField;
    if ((!is_name && !is_value) || field.wire_type != wire::kLengthDelimited)
      return UnknownField("Attribute", field);
    if (is_name ? has_name : has_value)
      return Fail("SEM-010", "An attribute has its name or its value more than once");
    (is_name ? has_name : has_value) = true;
    (is_name ? *name : value) = field.bytes;
  }
  if (!CheckName(*name)) return false;
  wire::AppendBytesField(kNameField, *name, &out_);
  // A missing value is treated as an empty one, which Value refuses.
  if (!Nested(kValueField, value.size(), [&] { return Value(value, depth); })) return FailBelow(*name);
  return true;
}

bool Canonicalizer::Value(std::string_view encoded, int depth) {
  if (depth > kMaxDepth) return Fail("SEM-017", std::string(kTooDeepMessage));
  if (encoded.empty()) {
    return Fail("SEM-010",
                "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
  }
  wire::Field field;
  if (!wire::ConsumeField(&encoded, &field)) return Malformed();
  ValueType type = static_cast<ValueType>(field.number);
  if (field.number > static_cast<uint32_t>(ValueType::kNull)) return UnknownField("AttributeValue", field);
  bool is_varint = type == ValueType::kBool || type == ValueType::kNull;
  if (field.wire_type != (is_varint ? wire::kVarint : wire::kLengthDelimited))
    return UnknownField("AttributeValue", field);
  if (!encoded.empty()) {
    wire::Field other;
    if (!wire::ConsumeField(&encoded, &other)) return Malformed();
    return Fail(
        "SEM-010",
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
        "datatypes");
  }

  switch (type) {
    case ValueType::kBool:
      wire::AppendVarintField(field.number, field.varint != 0 ? 1 : 0, &out_);
      return true;
    case ValueType::kNull:
      if (field.varint == 0) {
        return Fail("SEM-010", std::string(kInvalidParameters) +
                                   "Null attribute value types must have the value of true");
      }
      wire::AppendVarintField(field.number, 1, &out_);
      return true;
    case ValueType::kS:
      if (!IsValidUtf8(field.bytes)) return Fail("SEM-010", "A value of type S is not valid UTF-8");
      [[fallthrough]];
    case ValueType::kB:
      wire::AppendBytesField(field.number, field.bytes, &out_);
      return true;
    case ValueType::kN:
      return Nested(field.number, field.bytes.size(), [&] { return NumberText(field.bytes); });
    case ValueType::kSS:
    case ValueType::kNS:
    case ValueType::kBS:
      return Nested(field.number, field.bytes.size(), [&] { return Set(type, field.bytes); });
    case ValueType::kL:
      return Nested(field.number, field.bytes.size(), [&] { return List(field.bytes, depth + 1); });
    case ValueType::kM:
      return Nested(field.number, field.bytes.size(), [&] { return Attributes(field.bytes, depth + 1); });
  }
  return Malformed();
}

bool Canonicalizer::NumberText(std::string_view text) {
  if (IsShortCanonicalNumber(text)) {
    out_.append(text);
    return true;
  }
  absl::StatusOr<Number> number = Number::Parse(text);
  if (!number.ok()) return Fail("SEM-011", MessageOf(number.status()));
  out_.append(number->ToString());
  // The text may be much longer than the input ("1e125" has 126 digits) and still small by SEM-002.
  if (out_.size() > kMaxEncodedItemBytes) {
    return Fail("SEM-001", "The item takes more than 8 MiB when its numbers are written out in full");
  }
  return true;
}

bool Canonicalizer::List(std::string_view encoded, int depth) {
  for (size_t index = 0; !encoded.empty(); ++index) {
    wire::Field field;
    if (!wire::ConsumeField(&encoded, &field)) return Malformed();
    if (field.number != kElementsField || field.wire_type != wire::kLengthDelimited)
      return UnknownField("List", field);
    if (!Nested(kElementsField, field.bytes.size(), [&] { return Value(field.bytes, depth); })) {
      return FailBelow(index);
    }
  }
  return true;
}

bool Canonicalizer::Set(ValueType type, std::string_view encoded) {
  if (encoded.empty()) {
    // As the service writes it, with two spaces, and otherwise for binary sets.
    std::string_view text = type == ValueType::kSS   ? "An string set  may not be empty"
                            : type == ValueType::kNS ? "An number set  may not be empty"
                                                     : "Binary sets should not be empty";
    return Fail("SEM-016", std::string(kInvalidParameters) + std::string(text));
  }
  const size_t begin = out_.size();
  bool sorted = true, first = true;
  std::string_view previous;
  Number previous_number;
  while (!encoded.empty()) {
    wire::Field field;
    if (!wire::ConsumeField(&encoded, &field)) return Malformed();
    if (field.number != kElementsField || field.wire_type != wire::kLengthDelimited) {
      return UnknownField(type == ValueType::kSS   ? "StringSet"
                          : type == ValueType::kNS ? "NumberSet"
                                                   : "BinarySet",
                          field);
    }
    if (type == ValueType::kNS) {
      absl::StatusOr<Number> number = Number::Parse(field.bytes);
      if (!number.ok()) return Fail("SEM-011", MessageOf(number.status()));
      if (!Nested(kElementsField, field.bytes.size(), [&] { return NumberText(field.bytes); })) return false;
      sorted = sorted && (first || previous_number < *number);
      previous_number = *number;
    } else {
      if (type == ValueType::kSS && !IsValidUtf8(field.bytes))
        return Fail("SEM-010", "An element of a SS is not valid UTF-8");
      wire::AppendBytesField(kElementsField, field.bytes, &out_);
      sorted = sorted && (first || previous < field.bytes);
      previous = field.bytes;
    }
    first = false;
  }
  return sorted || SortSet(type, begin);
}

// Sorts the canonical attributes from `begin` to the end of the output by name.
bool Canonicalizer::SortAttributes(size_t begin) {
  struct Encoded {
    std::string_view name;
    // With its tag and length.
    std::string_view field;
  };
  absl::InlinedVector<Encoded, 16> attributes;
  std::string_view rest = std::string_view(out_).substr(begin);
  for (std::string_view before = rest, attribute; wire::ConsumeContents(&rest, &attribute); before = rest) {
    std::string_view name;
    wire::ConsumeContents(&attribute, &name);
    attributes.push_back({name, before.substr(0, before.size() - rest.size())});
  }
  std::sort(attributes.begin(), attributes.end(),
            [](const Encoded& a, const Encoded& b) { return a.name < b.name; });
  std::string sorted;
  sorted.reserve(out_.size() - begin);
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (i > 0 && attributes[i - 1].name == attributes[i].name)
      return Fail("SEM-009", "Duplicate attribute name: \"" + Quoted(attributes[i].name) + "\"");
    sorted.append(attributes[i].field);
  }
  out_.replace(begin, std::string::npos, sorted);
  return true;
}

bool Canonicalizer::SortSet(ValueType type, size_t begin) {
  const std::string emitted = out_.substr(begin);
  struct Element {
    std::string_view bytes;
    Number number;
  };
  std::vector<Element> elements;
  for (std::string_view element : SetView(emitted)) {
    elements.push_back({element, type == ValueType::kNS ? *Number::Parse(element) : Number()});
  }
  std::sort(elements.begin(), elements.end(), [type](const Element& a, const Element& b) {
    return type == ValueType::kNS ? a.number < b.number : a.bytes < b.bytes;
  });
  out_.resize(begin);
  for (size_t i = 0; i < elements.size(); ++i) {
    // Equal numbers have equal canonical text.
    if (i > 0 && elements[i - 1].bytes == elements[i].bytes) {
      if (type == ValueType::kNS) {
        return Fail("SEM-015", "Input collection contains duplicates",
                    ": " + Quoted(elements[i].bytes) + " is there more than once");
      }
      std::string shown;
      for (std::string_view element : SetView(emitted)) {
        if (shown.size() > kMaxShownSetBytes) break;
        if (!shown.empty()) shown += ", ";
        shown += type == ValueType::kBS ? absl::Base64Escape({element.data(), element.size()})
                                        : std::string(element);
      }
      return Fail("SEM-015", std::string(kInvalidParameters) + "Input collection [" +
                                 Quoted(shown, kMaxShownSetBytes) + "]" +
                                 (type == ValueType::kBS ? "of type BS" : "") + " contains duplicates.");
    }
    AppendSetElement(elements[i].bytes, &out_);
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> CanonicalizeItem(std::string_view encoded) {
  std::string out;
  out.reserve(encoded.size());
  Canonicalizer canonicalizer(&out);
  if (!canonicalizer.Attributes(encoded, /*depth=*/1)) return canonicalizer.status();
  return out;
}

absl::StatusOr<std::string> CanonicalizeValue(std::string_view encoded) {
  std::string out;
  out.reserve(encoded.size());
  Canonicalizer canonicalizer(&out);
  if (!canonicalizer.Value(encoded, /*depth=*/1)) return canonicalizer.status();
  return out;
}

}  // namespace itemdb::storage
