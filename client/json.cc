// Items and values as JSON, and printed. Plain JSON is parsed first; the form of DynamoDB is read from its
// values.
#include "itemdb/json.h"

#include <ostream>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "client/decimal.h"
#include "client/errors_internal.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

constexpr int kMaxDepth = 64;

// ---- writing -------------------------------------------------------------------------------------

void WriteString(std::string_view text, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->append({'\\', c});
    } else if (c == '\n') {
      out->append("\\n");
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out->append("\\u00").append({kDigits[c >> 4], kDigits[c & 15]});
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

bool IsJsonNumber(std::string_view text) {
  size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - begin;
  };
  const size_t begin = at;
  const size_t whole = digits();
  if (whole == 0 || (whole > 1 && text[begin] == '0')) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

// JSON has no "+5", ".5", "5." and "05".
std::string JsonNumber(const Number& number) {
  if (IsJsonNumber(number.text())) return number.text();
  const Decimal decimal = SplitNumber(number);
  if (decimal.digits.empty()) return "0";
  return (decimal.negative ? "-" : "") + decimal.digits + "e" +
         std::to_string(decimal.magnitude - static_cast<int>(decimal.digits.size()));
}

std::string Base64(const std::string& bytes) {
  std::string text;
  absl::Base64Escape(bytes, &text);
  return text;
}

void Write(const Value& value, JsonForm form, std::string* out);

void Write(const Item& item, JsonForm form, std::string* out) {
  out->push_back('{');
  for (const Attribute& attribute : item) {
    if (&attribute != item.begin()) out->append(", ");
    WriteString(attribute.name, out);
    out->append(": ");
    Write(attribute.value, form, out);
  }
  out->push_back('}');
}

// `write` writes one element.
template <typename Element, typename WriteOne>
void WriteArray(const std::vector<Element>& elements, WriteOne write, std::string* out) {
  out->push_back('[');
  for (const Element& element : elements) {
    if (&element != elements.data()) out->append(", ");
    write(element);
  }
  out->push_back(']');
}

void WriteContent(const Value& value, JsonForm form, std::string* out) {
  const bool typed = form == JsonForm::kDynamoDb;
  const auto write_number = [&](const Number& number) {
    typed ? WriteString(number.text(), out) : (void)out->append(JsonNumber(number));
  };
  switch (value.type()) {
    case ValueType::kNull:
      return (void)out->append(typed ? "true" : "null");
    case ValueType::kBool:
      return (void)out->append(*value.bool_or_null() ? "true" : "false");
    case ValueType::kString:
      return WriteString(*value.string_or_null(), out);
    case ValueType::kNumber:
      return write_number(*value.number_or_null());
    case ValueType::kBinary:
      return WriteString(Base64(*value.binary_or_null()), out);
    case ValueType::kStringSet:
      return WriteArray(
          *value.string_set_or_null(), [&](const std::string& text) { WriteString(text, out); }, out);
    case ValueType::kNumberSet:
      return WriteArray(*value.number_set_or_null(), write_number, out);
    case ValueType::kBinarySet:
      return WriteArray(
          *value.binary_set_or_null(), [&](const std::string& bytes) { WriteString(Base64(bytes), out); },
          out);
    case ValueType::kList:
      return WriteArray(
          *value.list_or_null(), [&](const Value& element) { Write(element, form, out); }, out);
    case ValueType::kMap:
      return Write(*value.map_or_null(), form, out);
  }
}

void Write(const Value& value, JsonForm form, std::string* out) {
  if (form == JsonForm::kPlain) return WriteContent(value, form, out);
  out->append("{\"").append(TypeName(value.type())).append("\": ");
  WriteContent(value, form, out);
  out->push_back('}');
}

// ---- reading -------------------------------------------------------------------------------------

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<Value> ParseAll() {
    ITEMDB_ASSIGN_OR_RETURN(Value value, ParseValue(0));
    SkipSpace();
    if (at_ != text_.size()) return Wrong("there is more behind the value");
    return value;
  }

 private:
  absl::Status Wrong(const std::string& what) const {
    return InvalidRequest("the text is not JSON: " + what + ", at byte " + std::to_string(at_));
  }
  void SkipSpace() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool Take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  absl::StatusOr<Value> ParseValue(int depth) {
    if (depth > kMaxDepth) return Wrong("it nests more than " + std::to_string(kMaxDepth) + " deep");
    SkipSpace();
    if (Take("{")) return ParseMap(depth);
    if (Take("[")) return ParseList(depth);
    if (Take("\"")) {
      ITEMDB_ASSIGN_OR_RETURN(std::string text, ParseString());
      return Value(std::move(text));
    }
    if (Take("null")) return Value();
    if (Take("true")) return Value(true);
    if (Take("false")) return Value(false);
    const size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
    const std::string_view number = text_.substr(at_, end - at_);
    if (!IsJsonNumber(number)) return Wrong("a value is expected");
    absl::StatusOr<Number> parsed = Number::Parse(number);
    if (!parsed.ok()) return parsed.status();
    at_ = end;
    return Value(*std::move(parsed));
  }

  absl::StatusOr<Value> ParseMap(int depth) {
    Item map;
    SkipSpace();
    if (Take("}")) return Value::Map(std::move(map));
    do {
      SkipSpace();
      if (!Take("\"")) return Wrong("a name in quotes is expected");
      ITEMDB_ASSIGN_OR_RETURN(std::string name, ParseString());
      SkipSpace();
      if (!Take(":")) return Wrong("a colon is expected");
      if (map.contains(name)) return Wrong("the name \"" + name + "\" is there twice");
      ITEMDB_ASSIGN_OR_RETURN(Value value, ParseValue(depth + 1));
      map.Set(std::move(name), std::move(value));
      SkipSpace();
    } while (Take(","));
    if (!Take("}")) return Wrong("a comma or } is expected");
    return Value::Map(std::move(map));
  }

  absl::StatusOr<Value> ParseList(int depth) {
    std::vector<Value> list;
    SkipSpace();
    if (Take("]")) return Value::List(std::move(list));
    do {
      ITEMDB_ASSIGN_OR_RETURN(Value value, ParseValue(depth + 1));
      list.push_back(std::move(value));
      SkipSpace();
    } while (Take(","));
    if (!Take("]")) return Wrong("a comma or ] is expected");
    return Value::List(std::move(list));
  }

  // Behind the opening quote.
  absl::StatusOr<std::string> ParseString() {
    std::string text;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return text;
      if (static_cast<unsigned char>(c) < 0x20) return Wrong("a control character is in a string");
      if (c != '\\') {
        text.push_back(c);
        continue;
      }
      constexpr std::string_view kEscapes = "\"\\/bfnrt";
      constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
      const char escape = at_ < text_.size() ? text_[at_++] : '\0';
      const size_t known = kEscapes.find(escape);
      if (known != std::string_view::npos && escape != '\0') {
        text.push_back(kMeanings[known]);
      } else if (escape != 'u' || !TakeCharacter(&text)) {
        return Wrong("a \\ begins no escape");
      }
    }
    return Wrong("a string has no end");
  }

  std::optional<uint32_t> TakeHex() {
    uint32_t number = 0;
    if (at_ + 4 > text_.size()) return std::nullopt;
    for (int i = 0; i < 4; ++i) {
      const size_t digit = std::string_view("0123456789abcdefABCDEF").find(text_[at_++]);
      if (digit == std::string_view::npos) return std::nullopt;
      number = number << 4 | static_cast<uint32_t>(digit < 16 ? digit : digit - 6);
    }
    return number;
  }

  // Behind "\u"; appends the character in UTF-8.
  bool TakeCharacter(std::string* text) {
    std::optional<uint32_t> unit = TakeHex();
    if (!unit.has_value()) return false;
    uint32_t code = *unit;
    if (code >= 0xd800 && code < 0xe000) {
      if (code >= 0xdc00 || !Take("\\u")) return false;
      unit = TakeHex();
      if (!unit.has_value() || *unit < 0xdc00 || *unit >= 0xe000) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (*unit - 0xdc00);
    }
    const auto more = [&](int shift) { text->push_back(static_cast<char>(0x80 | ((code >> shift) & 0x3f))); };
    if (code < 0x80) {
      text->push_back(static_cast<char>(code));
    } else if (code < 0x800) {
      text->push_back(static_cast<char>(0xc0 | (code >> 6)));
      more(0);
    } else if (code < 0x10000) {
      text->push_back(static_cast<char>(0xe0 | (code >> 12)));
      more(6);
      more(0);
    } else {
      text->push_back(static_cast<char>(0xf0 | (code >> 18)));
      more(12);
      more(6);
      more(0);
    }
    return true;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

// ---- DynamoDB's form -----------------------------------------------------------------------------

absl::StatusOr<Value> FromTyped(const Value& typed);

absl::StatusOr<Item> ItemFromTyped(const Value& map) {
  if (map.map_or_null() == nullptr) return InvalidRequest("an item or a map must be a JSON object");
  Item item;
  for (const Attribute& attribute : *map.map_or_null()) {
    ITEMDB_ASSIGN_OR_RETURN(Value value, FromTyped(attribute.value));
    item.Set(attribute.name, std::move(value));
  }
  return item;
}

absl::Status WrongContent(const std::string& type) {
  return InvalidRequest("a value of the type " + type + " has the wrong content");
}

absl::StatusOr<std::string> Bytes(const std::string& text) {
  std::string bytes;
  if (!absl::Base64Unescape(text, &bytes)) return WrongContent("B");
  return bytes;
}

absl::StatusOr<Value> FromTyped(const Value& typed) {
  const Item* const map = typed.map_or_null();
  if (map == nullptr || map->size() != 1)
    return InvalidRequest(R"(a value must be an object with one member, its type, such as {"S": "text"})");
  const std::string& type = map->begin()->name;
  const Value& content = map->begin()->value;
  const std::string* const text = content.string_or_null();
  if (type == "S" && text != nullptr) return content;
  if (type == "BOOL" && content.bool_or_null() != nullptr) return content;
  if (type == "NULL" && content.bool_or_null() != nullptr && *content.bool_or_null()) return Value();
  if (type == "N" && text != nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(Number number, Number::Parse(*text));
    return Value(std::move(number));
  }
  if (type == "B" && text != nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(std::string bytes, Bytes(*text));
    return Value::Binary(std::move(bytes));
  }
  if (type == "M") {
    ITEMDB_ASSIGN_OR_RETURN(Item item, ItemFromTyped(content));
    return Value::Map(std::move(item));
  }
  const std::vector<Value>* const elements = content.list_or_null();
  if (elements == nullptr) {
    constexpr std::string_view kTypes[] = {"S", "N", "B", "SS", "NS", "BS", "L", "BOOL", "NULL"};
    for (const std::string_view known : kTypes) {
      if (type == known) return WrongContent(type);
    }
    return InvalidRequest("\"" + type +
                          "\" is not a type: it must be S, N, B, SS, NS, BS, L, M, BOOL or NULL");
  }
  if (type == "L") {
    std::vector<Value> list;
    for (const Value& element : *elements) {
      ITEMDB_ASSIGN_OR_RETURN(Value value, FromTyped(element));
      list.push_back(std::move(value));
    }
    return Value::List(std::move(list));
  }
  std::vector<std::string> texts;
  for (const Value& element : *elements) {
    if (element.string_or_null() == nullptr) return WrongContent(type);
    texts.push_back(*element.string_or_null());
  }
  if (type == "SS") return Value::StringSet(std::move(texts));
  if (type == "BS") {
    for (std::string& one : texts) {
      ITEMDB_ASSIGN_OR_RETURN(one, Bytes(one));
    }
    return Value::BinarySet(std::move(texts));
  }
  if (type != "NS") return WrongContent(type);
  std::vector<Number> numbers;
  for (const std::string& one : texts) {
    ITEMDB_ASSIGN_OR_RETURN(Number number, Number::Parse(one));
    numbers.push_back(std::move(number));
  }
  return Value::NumberSet(std::move(numbers));
}

}  // namespace

std::string ToJson(const Item& item, JsonForm form) {
  std::string json;
  Write(item, form, &json);
  return json;
}

std::string ToJson(const Value& value, JsonForm form) {
  std::string json;
  Write(value, form, &json);
  return json;
}

absl::StatusOr<Value> ValueFromJson(std::string_view json, JsonForm form) {
  ITEMDB_ASSIGN_OR_RETURN(Value value, Parser(json).ParseAll());
  if (form == JsonForm::kPlain) return value;
  return FromTyped(value);
}

absl::StatusOr<Item> ItemFromJson(std::string_view json, JsonForm form) {
  ITEMDB_ASSIGN_OR_RETURN(Value value, Parser(json).ParseAll());
  if (form == JsonForm::kDynamoDb) return ItemFromTyped(value);
  if (value.map_or_null() == nullptr) return InvalidRequest("an item must be a JSON object");
  return *value.map_or_null();
}

namespace internal {

std::string PlainJsonOf(const Value& value) { return ToJson(value); }
std::string PlainJsonOfItem(const Item& item) { return ToJson(item); }

}  // namespace internal

std::ostream& operator<<(std::ostream& out, const Number& number) { return out << number.text(); }
std::ostream& operator<<(std::ostream& out, const Value& value) { return out << ToJson(value); }
std::ostream& operator<<(std::ostream& out, const Item& item) { return out << ToJson(item); }

}  // namespace itemdb
