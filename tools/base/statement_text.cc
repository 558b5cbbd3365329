#include "tools/base/statement_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace itemdb::tools {
namespace {

constexpr std::string_view kFirstWords[] = {"SELECT", "INSERT", "UPDATE", "DELETE", "EXISTS"};

bool IsNameLetter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool IsSpace(char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }

std::string Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return std::string(text);
}

// The end of the quoted text that begins at `start`, behind its last quote. A doubled quote is part of it,
// because the next quoted text begins at once.
size_t EndOfQuoted(std::string_view text, size_t start) {
  const size_t end = text.find(text[start], start + 1);
  return end == std::string_view::npos ? text.size() : end + 1;
}

// Words, "names" without their quotes and single characters.
struct Token {
  std::string text;
  bool quoted = false;

  bool Is(std::string_view word) const {
    return !quoted && absl::EqualsIgnoreCase(text, {word.data(), word.size()});
  }
};

std::vector<Token> TokensOf(std::string_view text) {
  std::vector<Token> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (IsSpace(text[i])) {
      i = end;
      continue;
    }
    const bool quoted = text[i] == '"' || text[i] == '\'';
    if (quoted) {
      end = EndOfQuoted(text, i);
    } else if (IsNameLetter(text[i])) {
      // A table's name can have dots and dashes only in quotes.
      while (end < text.size() && IsNameLetter(text[end])) ++end;
    }
    std::string_view token = text.substr(i, end - i);
    if (quoted) token = token.substr(1, token.size() > 1 ? token.size() - 2 : 0);
    tokens.push_back({.text = std::string(token), .quoted = quoted});
    i = end;
  }
  return tokens;
}

}  // namespace

bool IsStatementText(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  const size_t end = std::find_if_not(text.begin(), text.end(), IsNameLetter) - text.begin();
  const std::string_view word = text.substr(0, end);
  // "select-something" is no keyword.
  if (end < text.size() && text[end] == '-') return false;
  return std::any_of(std::begin(kFirstWords), std::end(kFirstWords), [word](std::string_view first) {
    return absl::EqualsIgnoreCase({word.data(), word.size()}, {first.data(), first.size()});
  });
}

StatementTexts SplitStatements(std::string_view text) {
  StatementTexts texts;
  std::string statement;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (text[i] == '\'' || text[i] == '"') {
      end = EndOfQuoted(text, i);
    } else if (text.substr(i, 2) == "--") {
      i = std::min(text.find('\n', i), text.size());
      continue;
    } else if (text[i] == ';') {
      if (std::string ended = Trimmed(statement); !ended.empty()) texts.ended.push_back(std::move(ended));
      statement.clear();
      i = end;
      continue;
    }
    statement += text.substr(i, end - i);
    i = end;
  }
  texts.rest = Trimmed(statement);
  return texts;
}

std::string WithQuotedTable(std::string_view statement) {
  bool before = false;
  for (size_t i = 0; i < statement.size();) {
    size_t end = i + 1;
    if (statement[i] == '\'' || statement[i] == '"') {
      end = EndOfQuoted(statement, i);
      before = false;
    } else if (IsNameLetter(statement[i])) {
      while (end < statement.size() && IsNameLetter(statement[end])) ++end;
      const Token word{.text = std::string(statement.substr(i, end - i))};
      if (before) {
        return std::string(statement.substr(0, i)) + "\"" + word.text + "\"" +
               std::string(statement.substr(end));
      }
      before = word.Is("FROM") || word.Is("INTO") ||
               (word.Is("UPDATE") && TokensOf(statement.substr(0, i)).empty());
    } else if (!IsSpace(statement[i])) {
      before = false;
    }
    i = end;
  }
  return std::string(statement);
}

SelectTarget TargetOfSelect(std::string_view statement) {
  const std::vector<Token> tokens = TokensOf(statement);
  if (tokens.empty() || !tokens.front().Is("SELECT")) return {};
  const auto from =
      std::find_if(tokens.begin(), tokens.end(), [](const Token& token) { return token.Is("FROM"); });
  if (tokens.end() - from < 2) return {};
  SelectTarget target{.table_name = from[1].text, .index_name = "", .attributes = {}};
  if (tokens.end() - from >= 4 && from[2].Is(".")) target.index_name = from[3].text;
  for (auto token = tokens.begin() + 1; token != from; token += 2) {
    const bool last = token + 1 == from;
    if (token->Is("*") || (!last && !token[1].Is(","))) {
      target.attributes.clear();
      break;
    }
    target.attributes.push_back(token->text);
    if (last) break;
  }
  return target;
}

}  // namespace itemdb::tools
