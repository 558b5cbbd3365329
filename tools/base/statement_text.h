// Finds PartiQL statements in text, as far as a client must know them. The daemon is the one that parses
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace itemdb::tools {

// The first word is SELECT, INSERT, UPDATE, DELETE or EXISTS, in any case of letters.
bool IsStatementText(std::string_view text);

struct StatementTexts {
  // Each ended with a semicolon, which is left out, like white space around the statement.
  std::vector<std::string> ended;
  // The text behind the last semicolon, without white space around it.
  std::string rest;
};

// Splits `text` at semicolons that are not inside 'a string' or "a name". A comment from -- to the end of
// the line is left out.
StatementTexts SplitStatements(std::string_view text);

// `statement` with the name of its table, behind FROM, INTO or UPDATE, in double quotes. So a table may have
// the name of a keyword, such as Order.
std::string WithQuotedTable(std::string_view statement);

// What a SELECT reads.
struct SelectTarget {
  std::string table_name;
  // Empty: the table itself.
  std::string index_name;
  // The attributes in the order of the statement; empty for `*` and for paths within attributes.
  std::vector<std::string> attributes;
};

// Empty table name: the statement is no SELECT, or its text was not understood.
SelectTarget TargetOfSelect(std::string_view statement);

}  // namespace itemdb::tools
