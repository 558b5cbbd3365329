#include "daemon/http/json_writer.h"

#include <charconv>

namespace itemdb {
namespace {

// What stands behind the backslash; 0 where nothing must be escaped, 'u' where only \u00XX will do.
char EscapeOf(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
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
      return static_cast<unsigned char>(c) < 0x20 ? 'u' : 0;
  }
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
  for (std::string_view element : SetView(encoded)) {
    if (out->back() != '[') out->push_back(',');
    append(element, out);
  }
  out->push_back(']');
}

// Numbers are digits, sign and point: nothing to escape.
void AppendNumber(std::string_view text, std::string* out) {
  out->push_back('"');
  out->append(text);
  out->push_back('"');
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char escape = EscapeOf(text[i]);
    if (escape == 0) continue;
    out->append(text.substr(begin, i - begin));
    begin = i + 1;
    out->push_back('\\');
    out->push_back(escape);
    if (escape != 'u') continue;
    constexpr char kHex[] = "0123456789abcdef";
    out->append("00");
    out->push_back(kHex[text[i] >> 4]);
    out->push_back(kHex[text[i] & 15]);
  }
  out->append(text.substr(begin));
  out->push_back('"');
}

void AppendJsonValue(ValueView value, std::string* out) {
  switch (value.type()) {
    case ValueType::kS:
      out->append("{\"S\":");
      AppendJsonString(value.payload(), out);
      break;
    case ValueType::kN:
      out->append("{\"N\":");
      AppendNumber(value.payload(), out);
      break;
    case ValueType::kB:
      out->append("{\"B\":");
      AppendBase64(value.payload(), out);
      break;
    case ValueType::kSS:
      out->append("{\"SS\":");
      AppendSet(value.payload(), out, AppendJsonString);
      break;
    case ValueType::kNS:
      out->append("{\"NS\":");
      AppendSet(value.payload(), out, AppendNumber);
      break;
    case ValueType::kBS:
      out->append("{\"BS\":");
      AppendSet(value.payload(), out, AppendBase64);
      break;
    case ValueType::kL:
      out->append("{\"L\":[");
      for (ValueView element : ListView(value.payload())) {
        if (out->back() != '[') out->push_back(',');
        AppendJsonValue(element, out);
      }
      out->push_back(']');
      break;
    case ValueType::kM:
      out->append("{\"M\":");
      AppendJsonItem(ItemView(value.payload()), out);
      break;
    case ValueType::kBool:
      out->append(value.boolean() ? "{\"BOOL\":true" : "{\"BOOL\":false");
      break;
    case ValueType::kNull:
      out->append("{\"NULL\":true");
      break;
  }
  out->push_back('}');
}

void AppendJsonItem(ItemView item, std::string* out) {
  out->push_back('{');
  for (const AttributeView& attribute : item) {
    if (out->back() != '{') out->push_back(',');
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

}  // namespace itemdb
