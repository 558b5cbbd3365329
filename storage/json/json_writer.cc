#include "storage/json/json_writer.h"

#include <bit>
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

// Sixteen bytes that the compiler compares with one instruction each.
using Bytes [[gnu::vector_size(16)]] = uint8_t;
using Words [[gnu::vector_size(16)]] = uint64_t;

// 0xFF where a byte must be escaped: it is below 0x20, a quote or a backslash.
Words Escapes(Words words) {
  const Bytes bytes = reinterpret_cast<Bytes>(words);
  return reinterpret_cast<Words>((bytes < 0x20) | (bytes == '"') | (bytes == '\\'));
}

bool MustEscapeOne(Words words) {
  const Words found = Escapes(words);
  return (found[0] | found[1]) != 0;
}

// How many bytes are before the first that must be escaped.
size_t UnescapedIn(Words words) {
  static_assert(std::endian::native == std::endian::little);
  const Words found = Escapes(words);
  return static_cast<size_t>(found[0] != 0 ? std::countr_zero(found[0]) : 64 + std::countr_zero(found[1])) /
         8;
}

template <typename T>
T Load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
template <typename T>
void Store(T value, char* to) {
  std::memcpy(to, &value, sizeof(value));
}

// Copies `text` to `to`; false, and what is there means nothing, if a character must be escaped. What is left
// of the text for the last step overlaps what was copied before.
bool CopyUnescaped(std::string_view text, char* to) {
  const char* from = text.data();
  const size_t size = text.size();
  if (size >= 16) {
    for (size_t i = 0; i + 16 <= size; i += 16) {
      const auto words = Load<Words>(from + i);
      if (MustEscapeOne(words)) return false;
      Store(words, to + i);
    }
    const auto last = Load<Words>(from + size - 16);
    Store(last, to + size - 16);
    return !MustEscapeOne(last);
  }
  if (size >= 8) {
    const auto first = Load<uint64_t>(from), last = Load<uint64_t>(from + size - 8);
    Store(first, to);
    Store(last, to + size - 8);
    return !MustEscapeOne(Words{first, last});
  }
  if (size >= 4) {
    const auto first = Load<uint32_t>(from), last = Load<uint32_t>(from + size - 4);
    Store(first, to);
    Store(last, to + size - 4);
    const uint64_t word = uint64_t{first} << 32 | last;
    return !MustEscapeOne(Words{word, word});
  }
  for (size_t i = 0; i < size; ++i) {
    if (MustEscape(from[i])) return false;
    to[i] = from[i];
  }
  return true;
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
    constexpr size_t kPart = sizeof(bytes_) / 2;
    Put('"');
    // Most bytes of a reply are strings, most strings are short, and few have characters to escape.
    for (; text.size() > kPart; text.remove_prefix(kPart)) Part(text.substr(0, kPart));
    Part(text);
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
  // At most half of bytes_.
  void Part(std::string_view text) {
    if (text.size() > sizeof(bytes_) - size_) Flush();
    if (CopyUnescaped(text, bytes_ + size_)) {
      size_ += text.size();
    } else {
      EscapedPart(text);
    }
  }

  void EscapedPart(std::string_view text) {
    constexpr size_t kStep = sizeof(Words);
    constexpr size_t kEscaped = 6;  // \u00XX
    while (text.size() >= kStep) {
      if (kStep + kEscaped > sizeof(bytes_) - size_) Flush();
      const auto words = Load<Words>(text.data());
      Store(words, bytes_ + size_);
      const size_t unescaped = UnescapedIn(words);
      size_ += unescaped;
      text.remove_prefix(unescaped);
      if (unescaped == kStep) continue;
      Escape(text.front());
      text.remove_prefix(1);
    }
    for (const char c : text) MustEscape(c) ? Escape(c) : Put(c);
  }

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
