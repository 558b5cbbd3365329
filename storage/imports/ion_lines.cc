// Lines of Ion as text, of the part of it that tables are exported in (XPT-46), and what means the same:
//
//   $ion_1_0 {Item:{id:"a",n:12.5,b:{{aGk=}},l:[1,null],m:{'a b':true},s:$dynamodb_SS::["x"]}}
//
// Ion's string and symbol are S; int, decimal and float N; a blob B; null of any type NULL. A value that has
// no such form, such as a timestamp, makes a bad item. A line that is not Ion is a bad line.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/limits.h"
#include "storage/imports/line_parser.h"
#include "storage/json/json_values.h"
#include "storage/values/canonical.h"
#include "storage/values/utf8.h"
#include "storage/values/value_view.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kVersionMarker = "$ion_1_0";

bool IsIonDigit(char c) { return c >= '0' && c <= '9'; }
bool IsIdentifierStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool IsIdentifierPart(char c) { return IsIdentifierStart(c) || IsIonDigit(c); }

int HexDigitOf(char c) {
  if (IsIonDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Appends a code point as UTF-8. False: it is a surrogate or too large.
bool AppendCodePoint(uint32_t code, std::string* out) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
  const auto add = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
  return true;
}

// The digits of an int in hexadecimal or binary as a decimal number. nullopt: more than 128 bits.
std::optional<std::string> DecimalOf(std::string_view digits, unsigned base) {
  unsigned __int128 number = 0;
  for (const char c : digits) {
    if (number > (~static_cast<unsigned __int128>(0) - 15) / base) return std::nullopt;
    number = number * base + static_cast<unsigned>(HexDigitOf(c));
  }
  std::string text;
  for (; number != 0; number /= 10) text.push_back(static_cast<char>('0' + static_cast<int>(number % 10)));
  if (text.empty()) text = "0";
  std::reverse(text.begin(), text.end());
  return text;
}

// Parses one line. The functions return false after Malformed() or Unstorable().
class IonReader {
 public:
  // `put_or_null` gets the condition of a put, and its placeholders; null: all fields but Item are ignored.
  IonReader(std::string_view line, std::string* out, wire::WriteItemRequest* put_or_null = nullptr)
      : rest_(line), out_(*out), put_(put_or_null) {}

  // The kind of the line.
  LineKind Read() {
    kind_ = LineKind::kNothing;
    while (ReadTopLevel()) {
    }
    return kind_;
  }
  std::string TakeReason() { return std::move(reason_); }

 private:
  bool Malformed(std::string reason) {
    kind_ = LineKind::kBadLine;
    reason_ = "the line is not valid Ion text: " + std::move(reason);
    return false;
  }
  // The first reason counts. Whatever follows must be Ion all the same, so reading goes on.
  bool Unstorable(std::string reason) {
    if (kind_ == LineKind::kBadItem) return true;
    kind_ = LineKind::kBadItem;
    reason_ = std::move(reason);
    return true;
  }

  // Reads a version marker or the struct with the item. False: the end of the line, or it is bad.
  bool ReadTopLevel() {
    if (!SkipSpace()) return false;
    if (rest_.empty()) return false;
    if (rest_.starts_with(kVersionMarker) &&
        (rest_.size() == kVersionMarker.size() || !IsIdentifierPart(rest_[kVersionMarker.size()]))) {
      rest_.remove_prefix(kVersionMarker.size());
      return true;
    }
    if (kind_ != LineKind::kNothing) return Malformed("there is more than one value");
    if (!Consume('{') || rest_.starts_with('{')) return Malformed("it is not a struct with a field Item");
    kind_ = LineKind::kItem;
    bool has_item = false;
    const bool read = ReadFields([&](const std::string& name) {
      if (name != "Item") return put_ == nullptr ? ReadIgnored(/*depth=*/1) : ReadPutField(name);
      if (has_item) return Malformed("it has two fields Item");
      has_item = true;
      if (!SkipSpace()) return false;
      if (!rest_.starts_with('{') || rest_.starts_with("{{"))
        return Malformed("the field Item is not a struct");
      Consume('{');
      return ReadAttributes(/*depth=*/1);
    });
    if (!read) return false;
    if (!has_item) return Malformed("it is not a struct with a field Item");
    return true;
  }

  // Reads the fields of a struct, after its brace.
  template <typename ReadField>
  bool ReadFields(ReadField read_field) {
    for (;;) {
      if (!SkipSpace()) return false;
      if (Consume('}')) return true;
      std::string name;
      if (!ReadFieldName(&name) || !SkipSpace()) return false;
      if (!Consume(':')) return Malformed("a field has no value");
      if (!read_field(name) || !SkipSpace()) return false;
      if (Consume('}')) return true;
      if (!Consume(',')) return Malformed("a struct does not end");
    }
  }

  bool ReadFieldName(std::string* name) {
    if (Consume('"')) return ReadQuoted('"', name);
    if (rest_.starts_with("'''")) return Malformed("long strings are not supported");
    if (Consume('\'')) return ReadQuoted('\'', name);
    return ReadIdentifier(name);
  }

  bool ReadIdentifier(std::string* name) {
    size_t size = 0;
    if (!rest_.empty() && IsIdentifierStart(rest_[0]))
      while (size < rest_.size() && IsIdentifierPart(rest_[size])) ++size;
    if (size == 0) return Malformed("a name or value is missing");
    *name = rest_.substr(0, size);
    rest_.remove_prefix(size);
    if (name->size() > 1 && (*name)[0] == '$' && std::all_of(name->begin() + 1, name->end(), IsIonDigit))
      return Malformed("the symbol " + *name + " is in no symbol table");
    return true;
  }

  bool ReadAttributes(int depth) {
    return ReadFields([&](const std::string& name) {
      return Nested(kElementsField, [&] {
        wire::AppendBytesField(kNameField, name, &out_);
        return Nested(kValueField, [&] { return ReadValue(depth); });
      });
    });
  }

  // Reads a value that is not kept.
  bool ReadIgnored(int depth) {
    const size_t size = out_.size();
    const bool read = ReadValue(depth);
    out_.resize(size);
    return read;
  }

  // Reads a field beside Item (BLK-06).
  bool ReadPutField(const std::string& name) {
    const size_t size = out_.size();
    const bool read = ReadValue(/*depth=*/0);
    const std::string encoded = out_.substr(size);
    out_.resize(size);
    if (!read) return false;
    if (std::find(put_fields_.begin(), put_fields_.end(), name) != put_fields_.end())
      return Unstorable(RepeatedPutMember(name));
    put_fields_.push_back(name);
    if (name != "ConditionExpression" && name != "ExpressionAttributeNames" &&
        name != "ExpressionAttributeValues")
      return Unstorable(UnknownPutMember(name));
    const absl::StatusOr<std::string> canonical = CanonicalizeValue(encoded);
    if (!canonical.ok()) return Unstorable(name + ": " + MessageOf(canonical.status()));
    const ValueView value(*canonical);
    if (name == "ConditionExpression") {
      if (value.type() != ValueType::kS) return Unstorable(name + " must be a string");
      // An empty expression must be refused (SEM-019), but an empty text is no expression.
      put_->set_condition_expression(value.payload().empty() ? " " : std::string(value.payload()));
      return true;
    }
    if (value.type() != ValueType::kM) return Unstorable(name + " must be a struct");
    return name == "ExpressionAttributeNames" ? ReadPutNames(ItemView(value.payload()))
                                              : ReadPutValues(ItemView(value.payload()));
  }

  bool ReadPutNames(ItemView names) {
    // An empty map is one entry without a name and a value (storage/expressions/from_request.h).
    if (names.empty()) put_->add_expression_attribute_names();
    for (const AttributeView& name : names) {
      if (name.value.type() != ValueType::kS)
        return Unstorable("ExpressionAttributeNames must be a struct of strings");
      wire::NamedName* entry = put_->add_expression_attribute_names();
      entry->set_name(std::string(name.name));
      entry->set_value(std::string(name.value.payload()));
    }
    return true;
  }

  bool ReadPutValues(ItemView values) {
    if (values.empty()) put_->add_expression_attribute_values();
    for (const AttributeView& value : values) {
      wire::NamedValue* entry = put_->add_expression_attribute_values();
      entry->set_name(std::string(value.name));
      entry->set_value(std::string(value.value.encoded()));
    }
    return true;
  }

  bool ReadValue(int depth) {
    if (!SkipSpace()) return false;
    if (rest_.empty()) return Malformed("a value is missing");
    // Bounds the recursion. What is deeper is not read, so that only the item is bad (SEM-017).
    if (depth > kMaxDepth) return SkipDeepValue();
    const char first = rest_[0];
    if (Consume('"')) return ReadText('"', depth);
    if (rest_.starts_with("'''")) return Malformed("long strings are not supported");
    if (Consume('\'')) return ReadText('\'', depth);
    if (rest_.starts_with("{{")) return ReadBlob();
    if (Consume('{'))
      return Nested(static_cast<uint32_t>(ValueType::kM), [&] { return ReadAttributes(depth + 1); });
    if (Consume('['))
      return Nested(static_cast<uint32_t>(ValueType::kL), [&] { return ReadList(depth + 1); });
    if (first == '(') return SkipDeepValue("an s-expression cannot be stored");
    if (IsIonDigit(first) || first == '-' || first == '+') return ReadNumber(ValueType::kN, /*in_set=*/false);
    std::string word;
    if (!ReadIdentifier(&word)) return false;
    return ReadWord(word, depth);
  }

  // Reads what follows an identifier that is a value.
  bool ReadWord(const std::string& word, int depth) {
    if (ConsumeAnnotation()) return ReadAnnotated(word, depth);
    if (word == "true" || word == "false") {
      wire::AppendVarintField(static_cast<uint32_t>(ValueType::kBool), word == "true" ? 1 : 0, &out_);
      return true;
    }
    if (word == "null") {
      std::string type;
      if (Consume('.') && !ReadIdentifier(&type)) return false;
      wire::AppendVarintField(static_cast<uint32_t>(ValueType::kNull), 1, &out_);
      return true;
    }
    if (word == "nan") return Unstorable("nan cannot be stored");
    wire::AppendBytesField(static_cast<uint32_t>(ValueType::kS), word, &out_);
    return true;
  }

  bool ConsumeAnnotation() {
    if (!rest_.starts_with("::")) return false;
    rest_.remove_prefix(2);
    return true;
  }

  bool ReadAnnotated(const std::string& annotation, int depth) {
    std::optional<ValueType> type;
    if (annotation == "$dynamodb_SS") type = ValueType::kSS;
    if (annotation == "$dynamodb_NS") type = ValueType::kNS;
    if (annotation == "$dynamodb_BS") type = ValueType::kBS;
    if (!SkipSpace()) return false;
    if (!type.has_value() || !rest_.starts_with('[')) {
      if (!Unstorable("the annotation " + annotation + " has no meaning here")) return false;
      return ReadIgnored(depth + 1);
    }
    Consume('[');
    return Nested(static_cast<uint32_t>(*type),
                  [&] { return ReadElements([&] { return ReadElement(*type, depth + 1); }); });
  }

  bool ReadList(int depth) {
    return ReadElements([&] { return Nested(kElementsField, [&] { return ReadValue(depth); }); });
  }

  // Reads the elements of a list, after its bracket.
  template <typename Read>
  bool ReadElements(Read read) {
    for (;;) {
      if (!SkipSpace()) return false;
      if (Consume(']')) return true;
      if (!read() || !SkipSpace()) return false;
      if (Consume(']')) return true;
      if (!Consume(',')) return Malformed("a list does not end");
    }
  }

  // An element of a set.
  bool ReadElement(ValueType type, int depth) {
    const bool is_text = rest_.starts_with('"') || (rest_.starts_with('\'') && !rest_.starts_with("'''"));
    const bool is_number = !rest_.empty() && (IsIonDigit(rest_[0]) || rest_[0] == '-');
    if (type == ValueType::kSS && is_text) {
      std::string text;
      const char quote = rest_[0];
      Consume(quote);
      if (!ReadQuoted(quote, &text)) return false;
      AppendSetElement(text, &out_);
      return true;
    }
    if (type == ValueType::kNS && is_number) return ReadNumber(type, /*in_set=*/true);
    if (type == ValueType::kBS && rest_.starts_with("{{")) {
      std::string bytes;
      if (!ReadBlobBytes(&bytes)) return false;
      AppendSetElement(bytes, &out_);
      return true;
    }
    if (!Unstorable("a set has an element of another type")) return false;
    return ReadIgnored(depth);
  }

  bool ReadText(char quote, int depth) {
    std::string text;
    if (!ReadQuoted(quote, &text)) return false;
    if (quote == '\'' && ConsumeAnnotation()) return ReadAnnotated(text, depth);
    wire::AppendBytesField(static_cast<uint32_t>(ValueType::kS), text, &out_);
    return true;
  }

  // Reads a string or quoted symbol, after its quote.
  bool ReadQuoted(char quote, std::string* text) {
    for (;;) {
      const size_t plain = rest_.find_first_of(quote == '"' ? "\"\\" : "'\\");
      if (plain == std::string_view::npos) return Malformed("a string does not end");
      text->append(rest_.substr(0, plain));
      const char stop = rest_[plain];
      rest_.remove_prefix(plain + 1);
      if (stop == quote) return true;
      if (!ReadEscape(text)) return false;
    }
  }

  bool ReadEscape(std::string* text) {
    constexpr std::string_view kEscapes = "0abtnfrv\"'?/\\";
    constexpr std::string_view kMeanings("\0\a\b\t\n\f\r\v\"'?/\\", 13);
    if (rest_.empty()) return Malformed("a string does not end");
    const char escape = rest_[0];
    rest_.remove_prefix(1);
    if (const size_t simple = kEscapes.find(escape); simple != std::string_view::npos) {
      text->push_back(kMeanings[simple]);
      return true;
    }
    const size_t digits = escape == 'x' ? 2 : escape == 'u' ? 4 : escape == 'U' ? 8 : 0;
    uint32_t code = 0;
    if (digits == 0 || !ReadHex(digits, &code)) return Malformed("an escape in a string is not valid");
    if (code >= 0xD800 && code < 0xDC00 && rest_.starts_with("\\u")) {
      uint32_t low = 0;
      rest_.remove_prefix(2);
      if (!ReadHex(4, &low) || low < 0xDC00 || low >= 0xE000)
        return Malformed("an escape in a string is not valid");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    return AppendCodePoint(code, text) || Malformed("an escape in a string is not valid");
  }

  bool ReadHex(size_t digits, uint32_t* code) {
    if (rest_.size() < digits) return false;
    for (size_t i = 0; i < digits; ++i) {
      const int digit = HexDigitOf(rest_[i]);
      if (digit < 0) return false;
      *code = *code << 4 | static_cast<uint32_t>(digit);
    }
    rest_.remove_prefix(digits);
    return true;
  }

  bool ReadBlob() {
    std::string bytes;
    if (!ReadBlobBytes(&bytes)) return false;
    wire::AppendBytesField(static_cast<uint32_t>(ValueType::kB), bytes, &out_);
    return true;
  }

  bool ReadBlobBytes(std::string* bytes) {
    rest_.remove_prefix(2);
    const size_t end = rest_.find("}}");
    if (end == std::string_view::npos) return Malformed("a blob does not end");
    std::string digits(rest_.substr(0, end));
    rest_.remove_prefix(end + 2);
    if (digits.find_first_of("\"'") != std::string::npos) return Unstorable("a clob cannot be stored");
    std::erase_if(digits, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    const absl::Status decoded = AppendDecodedBase64(digits, bytes);
    return decoded.ok() || Malformed(MessageOf(decoded));
  }

  // Reads an int, decimal or float. Its digits may be separated by underscores.
  bool ReadNumber(ValueType type, bool in_set) {
    const size_t size = std::min(rest_.find_first_of(" \t\r,]}):"), rest_.size());
    const std::string_view token = rest_.substr(0, size);
    rest_.remove_prefix(size);
    if (token == "+inf" || token == "-inf") return Unstorable("an infinite number cannot be stored");
    std::string text;
    if (!NormalizeNumber(token, &text)) {
      // 2026-11-25T, 2026-11-25
      if (token.size() >= 5 && (token[4] == '-' || token[4] == 'T')) {
        // The minutes of a time follow a colon.
        rest_.remove_prefix(std::min(rest_.find_first_of(" \t\r,]})"), rest_.size()));
        return Unstorable("a timestamp cannot be stored");
      }
      return Malformed("a number is not valid");
    }
    if (in_set) {
      AppendSetElement(text, &out_);
    } else {
      wire::AppendBytesField(static_cast<uint32_t>(type), text, &out_);
    }
    return true;
  }

  // The number as DynamoDB writes it: 6d2 is 6e2, 103. is 103.
  static bool NormalizeNumber(std::string_view token, std::string* text) {
    if (token.starts_with('-')) {
      text->push_back('-');
      token.remove_prefix(1);
    }
    const bool hex = token.starts_with("0x") || token.starts_with("0X");
    const bool binary = token.starts_with("0b") || token.starts_with("0B");
    std::string digits;
    for (size_t i = hex || binary ? 2 : 0; i < token.size(); ++i) {
      if (token[i] != '_') {
        digits.push_back(token[i]);
      } else if (i == 0 || i + 1 == token.size() || HexDigitOf(token[i - 1]) < 0 ||
                 HexDigitOf(token[i + 1]) < 0) {
        return false;
      }
    }
    if (hex || binary) {
      const auto fits = [&](char c) { return hex ? HexDigitOf(c) >= 0 : c == '0' || c == '1'; };
      if (digits.empty() || !std::all_of(digits.begin(), digits.end(), fits)) return false;
      const std::optional<std::string> decimal = DecimalOf(digits, hex ? 16 : 2);
      if (!decimal.has_value()) return false;
      *text += *decimal;
      return true;
    }
    size_t at = 0;
    const auto take_digits = [&] {
      const size_t begin = at;
      while (at < digits.size() && IsIonDigit(digits[at])) text->push_back(digits[at++]);
      return at - begin;
    };
    if (take_digits() == 0) return false;
    if (at < digits.size() && digits[at] == '.') {
      ++at;
      if (at < digits.size() && IsIonDigit(digits[at])) {
        text->push_back('.');
        take_digits();
      }
    }
    if (at == digits.size()) return true;
    if (std::string_view("eEdD").find(digits[at]) == std::string_view::npos) return false;
    ++at;
    text->push_back('e');
    if (at < digits.size() && (digits[at] == '-' || digits[at] == '+')) text->push_back(digits[at++]);
    return take_digits() > 0 && at == digits.size();
  }

  // Skips a value that is too deep, or cannot be stored, by counting brackets. Strings in it are skipped too.
  bool SkipDeepValue(std::string_view reason = kTooDeepMessage) {
    if (!Unstorable(std::string(reason))) return false;
    int64_t open = 0;
    while (!rest_.empty()) {
      const char c = rest_[0];
      if (c == '"' || c == '\'') {
        std::string text;
        Consume(c);
        if (!ReadQuoted(c, &text)) return false;
        continue;
      }
      const bool closes = c == ']' || c == '}' || c == ')';
      if (open == 0 && (closes || c == ',')) return true;
      if (c == '[' || c == '{' || c == '(') ++open;
      if (closes) --open;
      rest_.remove_prefix(1);
    }
    return Malformed("a value does not end");
  }

  // Skips white space and comments. False: a comment does not end.
  bool SkipSpace() {
    for (;;) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\f\v"), rest_.size()));
      if (rest_.starts_with("//")) {
        rest_ = {};
        return true;
      }
      if (!rest_.starts_with("/*")) return true;
      const size_t end = rest_.find("*/", 2);
      if (end == std::string_view::npos) return Malformed("a comment does not end");
      rest_.remove_prefix(end + 2);
    }
  }

  bool Consume(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Appends a length-delimited field; `append` appends its contents.
  template <typename Append>
  bool Nested(uint32_t field, Append append) {
    wire::AppendVarint(wire::Tag(field, wire::kLengthDelimited), &out_);
    const size_t begin = out_.size();
    if (!append()) return false;
    std::string length;
    wire::AppendVarint(out_.size() - begin, &length);
    out_.insert(begin, length);
    return true;
  }

  std::string_view rest_;
  std::string& out_;
  wire::WriteItemRequest* const put_;
  // The fields of the line that were read, beside Item.
  std::vector<std::string> put_fields_;
  LineKind kind_ = LineKind::kNothing;
  std::string reason_;
};

// The kind of `line`, read into `*item` and `*put_or_null`.
LineKind ReadIonLine(std::string_view line, std::string* item, wire::WriteItemRequest* put_or_null,
                     std::string* reason) {
  if (!IsValidUtf8(line)) {
    *reason = "the line is not valid UTF-8";
    return LineKind::kBadLine;
  }
  item->clear();
  IonReader reader(line, item, put_or_null);
  const LineKind kind = reader.Read();
  *reason = reader.TakeReason();
  return kind;
}

class IonLineParser final : public LineParser {
 public:
  LineKind Parse(std::string_view line, std::string* item, std::string* reason) override {
    return ReadIonLine(line, item, /*put_or_null=*/nullptr, reason);
  }
};

class IonPutParser final : public PutLineParser {
 public:
  LineKind Parse(std::string_view line, wire::WriteItemRequest* put, std::string* reason) override {
    put->Clear();
    return ReadIonLine(line, put->mutable_key_or_item(), put, reason);
  }
};

}  // namespace

std::unique_ptr<LineParser> NewIonLineParser() { return std::make_unique<IonLineParser>(); }
std::unique_ptr<PutLineParser> NewIonPutParser() { return std::make_unique<IonPutParser>(); }

}  // namespace itemdb::storage
