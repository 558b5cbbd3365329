#include "storage/json/json_writer.h"

#include <charconv>
#include <cstring>

namespace itemdb::storage {
namespace {

// The character after the backslash; 'u' if the character needs the form \u00XX.
char EscapeOf(char c) {
  switch (c) {
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return static_cast<unsigned char>(c) < 0x20 ? 'u' : c;
  }
}

bool MustEscape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

constexpr uint64_t kBlanks = 0x2020202020202020;

// Whether one of the eight bytes of `word` must be escaped: it is below 0x20, a quote or a backslash (the
// exclusive or makes these two zero).
bool MustEscapeOne(uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighBits = 0x8080808080808080;
  const uint64_t quotes = word ^ kOnes * '"', backslashes = word ^ kOnes * '\\';
  const uint64_t found =
      ((word - kOnes * 0x20) & ~word) | ((quotes - kOnes) & ~quotes) | ((backslashes - kOnes) & ~backslashes);
  return (found & kHighBits) != 0;
}

// Appends to a string in pieces of up to 512 bytes, because the parts of an item are small and most of the
// time of std::string::append() goes into the call. What is left is appended at the end of its life.
class Pieces {
 public:
  explicit Pieces(std::string* out) : out_(*out) {}
  ~Pieces() { Flush(); }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  void Put(char c) {
    if (size_ == sizeof(bytes_)) Flush();
    bytes_[size_++] = c;
  }

  void Put(std::string_view text) {
    if (text.size() > sizeof(bytes_) - size_) Flush();
    if (text.size() > sizeof(bytes_)) {
      out_.append(text);
      return;
    }
    std::memcpy(bytes_ + size_, text.data(), text.size());
    size_ += text.size();
  }

  void String(std::string_view text) {
    Put('"');
    size_t i = 0;
    while (true) {
      // Eight bytes at a time, because most bytes of a reply are strings.
      for (; i + 8 <= text.size(); i += 8) {
        uint64_t word;
        std::memcpy(&word, text.data() + i, 8);
        if (MustEscapeOne(word)) break;
        if (sizeof(bytes_) - size_ < 8) Flush();
        std::memcpy(bytes_ + size_, &word, 8);
        size_ += 8;
      }
      if (const size_t rest = text.size() - i; rest < 8) {
        // The bytes behind the rest are blanks, which are not escaped, and are overwritten.
        uint64_t word = kBlanks;
        std::memcpy(&word, text.data() + i, rest);
        if (!MustEscapeOne(word)) {
          if (sizeof(bytes_) - size_ < 8) Flush();
          std::memcpy(bytes_ + size_, &word, 8);
          size_ += rest;
          break;
        }
      }
      for (; !MustEscape(text[i]); ++i) Put(text[i]);
      Escape(text[i++]);
    }
    Put('"');
  }

  void Base64(std::string_view bytes) {
    constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    Put('"');
    for (size_t i = 0; i < bytes.size(); i += 3) {
      const size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
      uint32_t word = 0;
      for (size_t k = 0; k < 3; ++k) word = word << 8 | (k < count ? static_cast<uint8_t>(bytes[i + k]) : 0);
      for (size_t k = 0; k < 4; ++k) Put(k <= count ? kDigits[word >> (18 - 6 * k) & 63] : '=');
    }
    Put('"');
  }

  // A number has only digits, sign and point, so no character needs escaping.
  void Number(std::string_view text) {
    Put('"');
    Put(text);
    Put('"');
  }

  void Value(ValueView value);
  void Item(ItemView item);

 private:
  void Flush() {
    out_.append(bytes_, size_);
    size_ = 0;
  }

  void Escape(char c) {
    const char escape = EscapeOf(c);
    Put('\\');
    Put(escape);
    if (escape != 'u') return;
    constexpr char kHex[] = "0123456789abcdef";
    Put("00");
    Put(kHex[c >> 4]);
    Put(kHex[c & 15]);
  }

  // `begin` is the beginning of the value, with the bracket: {"SS":[
  void Set(std::string_view begin, ValueView value, void (Pieces::*element)(std::string_view)) {
    Put(begin);
    bool first = true;
    for (std::string_view one : SetView(value.payload())) {
      if (!first) Put(',');
      first = false;
      (this->*element)(one);
    }
    Put(']');
  }

  std::string& out_;
  size_t size_ = 0;
  char bytes_[512];
};

void Pieces::Value(ValueView value) {
  switch (value.type()) {
    case ValueType::kS:
      Put("{\"S\":");
      String(value.payload());
      break;
    case ValueType::kN:
      Put("{\"N\":");
      Number(value.payload());
      break;
    case ValueType::kB:
      Put("{\"B\":");
      Base64(value.payload());
      break;
    case ValueType::kSS:
      Set("{\"SS\":[", value, &Pieces::String);
      break;
    case ValueType::kNS:
      Set("{\"NS\":[", value, &Pieces::Number);
      break;
    case ValueType::kBS:
      Set("{\"BS\":[", value, &Pieces::Base64);
      break;
    case ValueType::kL: {
      Put("{\"L\":[");
      bool first = true;
      for (ValueView element : ListView(value.payload())) {
        if (!first) Put(',');
        first = false;
        Value(element);
      }
      Put(']');
      break;
    }
    case ValueType::kM:
      Put("{\"M\":");
      Item(ItemView(value.payload()));
      break;
    case ValueType::kBool:
      Put(value.boolean() ? "{\"BOOL\":true" : "{\"BOOL\":false");
      break;
    case ValueType::kNull:
      Put("{\"NULL\":true");
      break;
  }
  Put('}');
}

void Pieces::Item(ItemView item) {
  Put('{');
  bool first = true;
  for (const AttributeView& attribute : item) {
    if (!first) Put(',');
    first = false;
    String(attribute.name);
    Put(':');
    Value(attribute.value);
  }
  Put('}');
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) { Pieces(out).String(text); }

void AppendJsonValue(ValueView value, std::string* out) { Pieces(out).Value(value); }

void AppendJsonItem(ItemView item, std::string* out) { Pieces(out).Item(item); }

JsonWriter& JsonWriter::Integer(int64_t number) {
  char text[24];
  Separate();
  out_.append(text, std::to_chars(text, text + sizeof(text), number).ptr);
  return *this;
}

JsonWriter& JsonWriter::Real(double number) {
  char text[400];  // The largest double has 309 digits.
  Separate();
  char* end = std::to_chars(text, text + sizeof(text), number, std::chars_format::fixed).ptr;
  out_.append(text, end);
  if (std::string_view(text, end).find('.') == std::string_view::npos) out_.append(".0");
  return *this;
}

JsonWriter& JsonWriter::Float(float number) {
  char text[32];
  Separate();
  char* end = std::to_chars(text, text + sizeof(text), number).ptr;
  out_.append(text, end);
  if (std::string_view(text, end).find_first_of(".e") == std::string_view::npos) out_.append(".0");
  return *this;
}

JsonWriter& JsonWriter::Time(int64_t milliseconds) {
  Integer(milliseconds / 1000);
  out_.push_back('.');
  const int64_t fraction = milliseconds % 1000;
  for (int64_t place : {100, 10, 1}) out_.push_back(static_cast<char>('0' + fraction / place % 10));
  return *this;
}

}  // namespace itemdb::storage
