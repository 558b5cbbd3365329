#include "common/log/log.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_format.h"

namespace itemdb::common {
namespace {

bool IsNameCharacter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

// The end of a name with the '=' after it that begins at `begin`; npos if there is none.
size_t EndOfName(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && IsNameCharacter(text[end])) ++end;
  return end > begin && end < text.size() && text[end] == '=' ? end + 1 : std::string_view::npos;
}

void AppendEscaped(char c, std::string& line) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') {
    line += "\\n";
  } else if (byte < 0x20 || byte == 0x7f) {
    absl::StrAppendFormat(&line, "\\x%02x", byte);
  } else {
    line += c;
  }
}

std::string Quoted(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    AppendEscaped(c, text);
  }
  return text + '"';
}

// The value of a field: in quotes, with escapes such as \" and \n, unless it is plain.
std::string FieldText(std::string_view value) {
  const bool is_plain = !value.empty() && std::none_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '"' || c == '=' || c == '\\';
  });
  return is_plain ? std::string(value) : Quoted(value);
}

// Text among the words: in quotes only if a part of it would be taken for a field.
std::string WordsText(std::string_view words) {
  // A blank may stand before it.
  if (EndOfName(words, 0) != std::string_view::npos) return Quoted(words);
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == '"' || (words[i] == ' ' && EndOfName(words, i + 1) != std::string_view::npos))
      return Quoted(words);
    AppendEscaped(words[i], text);
  }
  return text;
}

// The value of what Quoted has made, and where the text after it begins.
std::pair<std::string, size_t> Unquoted(std::string_view text, size_t begin) {
  std::string value;
  size_t i = begin + 1;
  while (i < text.size() && text[i] != '"') {
    if (text[i] != '\\' || i + 1 == text.size()) {
      value += text[i++];
      continue;
    }
    const char escaped = text[i + 1];
    i += 2;
    int byte = 0;
    if (escaped == 'n') {
      value += '\n';
    } else if (escaped == 'x' && i + 2 <= text.size() &&
               std::from_chars(text.data() + i, text.data() + i + 2, byte, 16).ec == std::errc()) {
      value += static_cast<char>(byte);
      i += 2;
    } else {
      value += escaped;
    }
  }
  return {value, std::min(i + 1, text.size())};
}

}  // namespace

std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) AppendEscaped(c, line);
  return line;
}

LogLine ParseLogLine(std::string_view line) {
  LogLine parsed;
  size_t i = 0;
  // The words, of which one text may be in quotes.
  while (i < line.size() && !(line[i] == ' ' && EndOfName(line, i + 1) != std::string_view::npos)) {
    if (line[i] == '"') {
      auto [text, end] = Unquoted(line, i);
      parsed.words += text;
      i = end;
    } else {
      parsed.words += line[i++];
    }
  }
  while (i < line.size()) {
    const size_t value = EndOfName(line, i + 1);
    // Not of this class: the rest is words.
    if (line[i] != ' ' || value == std::string_view::npos) {
      parsed.words += line.substr(i);
      return parsed;
    }
    std::string name(line.substr(i + 1, value - i - 2));
    if (value < line.size() && line[value] == '"') {
      auto [text, end] = Unquoted(line, value);
      parsed.fields.emplace_back(std::move(name), std::move(text));
      i = end;
    } else {
      i = std::min(line.find(' ', value), line.size());
      parsed.fields.emplace_back(std::move(name), line.substr(value, i - value));
    }
  }
  return parsed;
}

namespace log_internal {

std::vector<FormatPiece> TakeApart(std::string_view format, size_t count) {
  std::vector<FormatPiece> pieces;
  size_t begin = 0;
  while (pieces.size() < count) {
    const size_t open = format.find('{', begin);
    const size_t close = format.find('}', open);
    const std::string_view before = format.substr(begin, open - begin);
    pieces.push_back({.before = before,
                      .placeholder = format.substr(open, close + 1 - open),
                      .is_field_value = before.ends_with('=')});
    begin = close + 1;
  }
  pieces.push_back({.before = format.substr(begin)});
  return pieces;
}

std::string Join(const std::vector<FormatPiece>& pieces, const std::string* values) {
  std::string line;
  for (const FormatPiece& piece : pieces) {
    line += piece.before;
    if (piece.placeholder.empty()) continue;
    line += piece.is_field_value ? FieldText(*values) : WordsText(*values);
    ++values;
  }
  return line;
}

}  // namespace log_internal
}  // namespace itemdb::common
