#include "tests/storage/values/random_item.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tests/storage/values/decimal_oracle.h"
#include "tests/storage/values/test_seed.h"

namespace itemdb::storage {
namespace {

struct NumericOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    return DecimalOracle::Parse(a).Compare(DecimalOracle::Parse(b)) < 0;
  }
};

std::string RandomBytes(std::mt19937_64& random, int max_bytes) {
  std::string bytes(Pick(random, 0, max_bytes), '\0');
  for (char& byte : bytes) byte = static_cast<char>(Pick(random, 0, 255));
  return bytes;
}

std::string RandomCanonicalNumber(std::mt19937_64& random) {
  return DecimalOracle::Parse(RandomNumberText(random)).ToString();
}

template <typename Compare, typename Make, typename Set>
void FillSet(std::mt19937_64& random, Make make, Set* out) {
  std::set<std::string, Compare> elements;
  for (int64_t i = Pick(random, 1, 6); i > 0; --i) elements.insert(make());
  for (const std::string& element : elements) out->add_values(element);
}

void FillValue(std::mt19937_64& random, int depth, v1::AttributeValue* value);

template <typename Attributes>
void FillAttributes(std::mt19937_64& random, int depth, Attributes* out) {
  std::map<std::string, v1::AttributeValue> attributes;
  for (int64_t i = Pick(random, 0, depth == 0 ? 8 : 4); i > 0; --i) {
    std::string name = RandomText(random, 6);
    v1::AttributeValue value;
    FillValue(random, depth, &value);
    if (!name.empty()) attributes[name] = value;
  }
  for (auto& [name, value] : attributes) {
    v1::Attribute* attribute = out->add_attributes();
    attribute->set_name(name);
    *attribute->mutable_value() = value;
  }
}

void FillValue(std::mt19937_64& random, int depth, v1::AttributeValue* value) {
  switch (Pick(random, depth > 4 ? 2 : 0, 9)) {
    case 0:
      return FillAttributes(random, depth + 1, value->mutable_m());
    case 1:
      value->mutable_l();
      for (int64_t i = Pick(random, 0, 4); i > 0; --i)
        FillValue(random, depth + 1, value->mutable_l()->add_values());
      return;
    case 2:
      return value->set_s(RandomText(random, 200));
    case 3:
      return value->set_n(RandomCanonicalNumber(random));
    case 4:
      return value->set_b(RandomBytes(random, 200));
    case 5:
      return FillSet<std::less<>>(
          random, [&] { return RandomText(random, 5); }, value->mutable_ss());
    case 6:
      return FillSet<NumericOrder>(
          random, [&] { return RandomCanonicalNumber(random); }, value->mutable_ns());
    case 7:
      return FillSet<std::less<>>(
          random, [&] { return RandomBytes(random, 3); }, value->mutable_bs());
    case 8:
      return value->set_bool_(Pick(random, 0, 1) != 0);
    default:
      return value->set_null(true);
  }
}

// Another text for the same number.
std::string Rewrite(std::string number, std::mt19937_64& random) {
  bool negative = number.front() == '-';
  if (negative) number.erase(0, 1);
  switch (Pick(random, 0, 4)) {
    case 0:
      break;
    case 1:
      number.insert(0, Pick(random, 1, 3), '0');
      break;
    case 2:
      number += number.find('.') == std::string::npos ? ".00" : "00";
      break;
    case 3:
      number += "e+00";
      break;
    default: {
      // Moves the point to the front.
      size_t point = std::min(number.find('.'), number.size());
      if (point < number.size()) number.erase(point, 1);
      number = "." + number + "E" + std::to_string(point);
    }
  }
  std::string signed_number;
  if (negative || Pick(random, 0, 5) == 0) signed_number.push_back(negative ? '-' : '+');
  return signed_number.append(number);
}

class LooseEncoder {
 public:
  explicit LooseEncoder(std::mt19937_64& random) : random_(random) {}

  template <typename Attributes>
  std::string EncodeAttributes(const Attributes& item) {
    std::vector<std::string> parts;
    for (const v1::Attribute& attribute : item.attributes()) {
      std::string name = Field(1, attribute.name()), value = Field(2, EncodeValue(attribute.value()));
      parts.push_back(Field(1, Pick(random_, 0, 3) == 0 ? value + name : name + value));
    }
    return Shuffled(parts);
  }

 private:
  std::string EncodeValue(const v1::AttributeValue& value) {
    switch (value.value_case()) {
      case v1::AttributeValue::kS:
        return Field(1, value.s());
      case v1::AttributeValue::kN:
        return Field(2, Rewrite(value.n(), random_));
      case v1::AttributeValue::kB:
        return Field(3, value.b());
      case v1::AttributeValue::kSs:
        return Field(4, EncodeSet(value.ss(), false));
      case v1::AttributeValue::kNs:
        return Field(5, EncodeSet(value.ns(), true));
      case v1::AttributeValue::kBs:
        return Field(6, EncodeSet(value.bs(), false));
      case v1::AttributeValue::kL: {
        std::string list;
        for (const v1::AttributeValue& element : value.l().values()) list += Field(1, EncodeValue(element));
        return Field(7, list);
      }
      case v1::AttributeValue::kM:
        return Field(8, EncodeAttributes(value.m()));
      case v1::AttributeValue::kBool:
        return Varint(9 << 3) + Varint(value.bool_() ? Pick(random_, 1, 1'000'000) : 0);
      default:
        return Varint(10 << 3) + Varint(1);
    }
  }

  template <typename Set>
  std::string EncodeSet(const Set& set, bool numbers) {
    std::vector<std::string> parts;
    for (const std::string& element : set.values()) {
      parts.push_back(Field(1, numbers ? Rewrite(element, random_) : element));
    }
    return Shuffled(parts);
  }

  std::string Shuffled(std::vector<std::string>& parts) {
    if (Pick(random_, 0, 2) != 0) std::shuffle(parts.begin(), parts.end(), random_);
    std::string joined;
    for (const std::string& part : parts) joined += part;
    return joined;
  }

  std::string Field(int number, const std::string& contents) {
    return Varint(number << 3 | 2) + Varint(contents.size()) + contents;
  }

  std::string Varint(uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
    bytes.push_back(static_cast<char>(value));
    if (Pick(random_, 0, 9) == 0) {
      bytes.back() |= '\x80';
      bytes.append(Pick(random_, 0, 1), '\x80').push_back('\0');
    }
    return bytes;
  }

  std::mt19937_64& random_;
};

}  // namespace

std::string RandomText(std::mt19937_64& random, int max_characters) {
  static constexpr std::string_view kCharacters[] = {std::string_view("\0", 1),
                                                     "\x01",
                                                     "a",
                                                     "b",
                                                     "Z",
                                                     "\x7F",
                                                     "\xC2\x80",
                                                     "\xDF\xBF",
                                                     "\xE0\xA0\x80",
                                                     "\xED\x9F\xBF",
                                                     "\xEF\xBF\xBF",
                                                     "\xF0\x90\x80\x80",
                                                     "\xF4\x8F\xBF\xBF"};
  std::string text;
  for (int64_t i = Pick(random, 0, max_characters); i > 0; --i) {
    text += kCharacters[Pick(random, 0, std::size(kCharacters) - 1)];
  }
  return text;
}

v1::Item RandomCanonicalItem(std::mt19937_64& random) {
  v1::Item item;
  FillAttributes(random, 0, &item);
  return item;
}

std::string EncodeLoosely(const v1::Item& item, std::mt19937_64& random) {
  return LooseEncoder(random).EncodeAttributes(item);
}

}  // namespace itemdb::storage
