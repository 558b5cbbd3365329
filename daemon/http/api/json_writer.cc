#include "daemon/http/api/json_writer.h"

#include <charconv>
#include <cstring>

namespace itemdb::http {
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

// The number of bytes of `text` before the first byte that must be escaped. Eight bytes are tested at a time,
// because most bytes of a reply are strings: a high bit of `found` is set if and only if one of the eight
// bytes is below 0x20, or is a quote or backslash (the exclusive or makes these zero).
size_t PlainBytes(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighBits = 0x8080808080808080;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    const uint64_t quotes = word ^ kOnes * '"', backslashes = word ^ kOnes * '\\';
    const uint64_t found = ((word - kOnes * 0x20) & ~word) | ((quotes - kOnes) & ~quotes) |
                           ((backslashes - kOnes) & ~backslashes);
    if ((found & kHighBits) != 0) break;
  }
  while (i < text.size() && !MustEscape(text[i])) ++i;
  return i;
}

void AppendBase64(std::string_view bytes, std::string* out) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  out->reserve(out->size() + (bytes.size() + 2) / 3 * 4 + 2);
  out->push_back('"');
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) word = word << 8 | (k < count ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out->push_back(k <= count ? kDigits[word >> (18 - 6 * k) & 63] : '=');
  }
  out->push_back('"');
}

template <typename Append>
void AppendSet(std::string_view encoded, std::string* out, Append append) {
  out->push_back('[');
  for (std::string_view element : storage::SetView(encoded)) {
    if (out->back() != '[') out->push_back(',');
    append(element, out);
  }
  out->push_back(']');
}

// A number has only digits, sign and point, so no character needs escaping.
void AppendNumber(std::string_view text, std::string* out) {
  out->push_back('"');
  out->append(text);
  out->push_back('"');
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  while (true) {
    const size_t plain = PlainBytes(text);
    out->append(text.substr(0, plain));
    if (plain == text.size()) break;
    const char escape = EscapeOf(text[plain]);
    out->push_back('\\');
    out->push_back(escape);
    if (escape == 'u') {
      constexpr char kHex[] = "0123456789abcdef";
      out->append("00");
      out->push_back(kHex[text[plain] >> 4]);
      out->push_back(kHex[text[plain] & 15]);
    }
    text.remove_prefix(plain + 1);
  }
  out->push_back('"');
}

void AppendJsonValue(storage::ValueView value, std::string* out) {
  switch (value.type()) {
    case storage::ValueType::kS:
      out->append("{\"S\":");
      AppendJsonString(value.payload(), out);
      break;
    case storage::ValueType::kN:
      out->append("{\"N\":");
      AppendNumber(value.payload(), out);
      break;
    case storage::ValueType::kB:
      out->append("{\"B\":");
      AppendBase64(value.payload(), out);
      break;
    case storage::ValueType::kSS:
      out->append("{\"SS\":");
      AppendSet(value.payload(), out, AppendJsonString);
      break;
    case storage::ValueType::kNS:
      out->append("{\"NS\":");
      AppendSet(value.payload(), out, AppendNumber);
      break;
    case storage::ValueType::kBS:
      out->append("{\"BS\":");
      AppendSet(value.payload(), out, AppendBase64);
      break;
    case storage::ValueType::kL:
      out->append("{\"L\":[");
      for (storage::ValueView element : storage::ListView(value.payload())) {
        if (out->back() != '[') out->push_back(',');
        AppendJsonValue(element, out);
      }
      out->push_back(']');
      break;
    case storage::ValueType::kM:
      out->append("{\"M\":");
      AppendJsonItem(storage::ItemView(value.payload()), out);
      break;
    case storage::ValueType::kBool:
      out->append(value.boolean() ? "{\"BOOL\":true" : "{\"BOOL\":false");
      break;
    case storage::ValueType::kNull:
      out->append("{\"NULL\":true");
      break;
  }
  out->push_back('}');
}

void AppendJsonItem(storage::ItemView item, std::string* out) {
  out->push_back('{');
  bool first = true;
  for (const storage::AttributeView& attribute : item) {
    if (!first) out->push_back(',');
    first = false;
    AppendJsonString(attribute.name, out);
    out->push_back(':');
    AppendJsonValue(attribute.value, out);
  }
  out->push_back('}');
}

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

JsonWriter& JsonWriter::Time(int64_t milliseconds) {
  Integer(milliseconds / 1000);
  out_.push_back('.');
  const int64_t fraction = milliseconds % 1000;
  for (int64_t place : {100, 10, 1}) out_.push_back(static_cast<char>('0' + fraction / place % 10));
  return *this;
}

}  // namespace itemdb::http
