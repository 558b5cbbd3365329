#include "tools/cli/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tools/base/text_table.h"
#include "tools/base/text_width.h"

namespace itemdb::tools {
namespace {

std::vector<Item> TwoItems() {
  return {Item{{"id", "b"}, {"n", 2}, {"tags", Value::StringSet({"y", "x"})}},
          Item{{"id", "a"}, {"z", Value::Null()}}};
}

std::string Written(ItemWriter::Options options, const std::vector<Item>& items) {
  std::ostringstream out;
  ItemWriter writer(std::move(options), &out);
  for (const Item& item : items) EXPECT_TRUE(writer.Write(item).ok());
  writer.Finish(JsonValue::Object().Add("Count", JsonValue::Number(items.size())));
  return out.str();
}

std::string Printed(const TextTable& table, TableLayout layout) {
  std::ostringstream out;
  table.Print(out, layout);
  return out.str();
}

TEST(TextTable, EscapesAllControlCharacters) {
  EXPECT_EQ(Printable("a\x1b[2J\xc2\x9b\x32J\xc2\xa9"), "a\\x1b[2J\\x9b2J\xc2\xa9");
}

TEST(TextTable, PadsByTextWidth) {
  TextTable table({"name", "n"});
  table.AddRow({"Zoë", "1"});
  table.AddRow({"日本語日本", "2"});
  table.AddRow({"x"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(),
            "name        n\n"
            "----------  -\n"
            "Zoë         1\n"
            "日本語日本  2\n"
            "x\n");
}

TEST(TextTable, PrintsControlCharactersEscaped) {
  TextTable table({"a"});
  table.AddRow({"line\nbreak\x1b[31m"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(), "a\n---------------------\nline\\x0abreak\\x1b[31m\n");
}

TEST(TextTable, AlignsNumbersToTheRight) {
  TextTable table({"item", NumberColumn("price"), "size"});
  table.AddRow({"lamp", "9", "5"});
  table.AddRow({"desk", "1200.5", "12"});
  table.AddRow({"gift"});
  EXPECT_EQ(Printed(table, {}),
            "item   price  size\n"
            "----  ------  ----\n"
            "lamp       9  5\n"
            "desk  1200.5  12\n"
            "gift\n");
}

TEST(TextTable, ContinuesWideCellsInTheNextLine) {
  TextTable table({"id", "lines", NumberColumn("n")});
  table.AddRow({"a", "prod_1 x 5, prod_2 x 10, prod_3", "1"});
  table.AddRow({"b", "short", "2"});
  EXPECT_EQ(Printed(table, {.max_width = 19}),
            "id  lines         n\n"
            "--  ------------  -\n"
            "a   prod_1 x 5,   1\n"
            "    prod_2 x 10,\n"
            "    prod_3\n"
            "b   short         2\n");
}

// A line is broken after a comma, which ends a list element, else at a space, and inside a word only if
// necessary.
TEST(TextTable, BreaksCellsAtCommasThenAtSpacesThenAnywhere) {
  struct Row {
    const char* name;
    const char* cell;
    const char* lines;
  };
  for (const Row& row :
       {Row{"comma", "abc, d ef", "abc,\nd ef\n"}, Row{"early comma", "a, b c d", "a, b\nc d\n"},
        Row{"space", "ab cd ef", "ab cd\nef\n"}, Row{"space behind the line", "abcde f", "abcde\nf\n"},
        Row{"comma at the end of the line", "abcd, f", "abcd,\nf\n"}, Row{"word", "abcdefgh", "abcde\nfgh\n"},
        Row{"leading space", " abcdefg", " abcd\nefg\n"},
        Row{"several bytes a character", "äöüßéàñ", "äöüßé\nàñ\n"}}) {
    SCOPED_TRACE(row.name);
    TextTable table({"t"});
    table.AddRow({row.cell});
    EXPECT_EQ(Printed(table, {.max_width = 5}), std::string("t\n-----\n") + row.lines);
  }
}

TEST(TextTable, NarrowsTheWidestColumnsFirst) {
  TextTable table({"a", "b"});
  table.AddRow({"123 567 9", "12345"});
  EXPECT_EQ(Printed(table, {.max_width = 12}),
            "a      b\n"
            "-----  -----\n"
            "123    12345\n"
            "567 9\n");
}

// A part of a number would read as another number, and a part of a heading would be unclear.
TEST(TextTable, NarrowsNeitherNumbersNorHeadings) {
  TextTable table({NumberColumn("n"), "heading"});
  table.AddRow({"12345678901234567890123456789012345678", "ab cd ef"});
  EXPECT_EQ(Printed(table, {.max_width = 20}),
            "                                     n  heading\n"
            "--------------------------------------  -------\n"
            "12345678901234567890123456789012345678  ab cd\n"
            "                                        ef\n");
}

TEST(TextTable, ExpandedShowsCellsWhole) {
  TextTable table({"name", NumberColumn("n")});
  table.AddRow({"a long cell", "2"});
  EXPECT_EQ(Printed(table, {.expanded = true, .max_width = 5}), "-[ 1 ]-\nname  a long cell\nn     2\n");
}

TEST(TextTable, IsExpandedIfItDoesNotFit) {
  TextTable table({"a", "b", "c", "d"});
  table.AddRow({"one two three four", "12345678", "12345678", "12345678"});
  const TableLayout narrow{.max_width = 24, .expand_if_too_wide = true};
  EXPECT_EQ(Printed(table, narrow),
            "-[ 1 ]-\na  one two three four\nb  12345678\nc  12345678\nd  12345678\n");
  EXPECT_FALSE(table.Fits(24));
  EXPECT_TRUE(table.Fits(38));
  EXPECT_EQ(Printed(table, {.max_width = 38, .expand_if_too_wide = true}),
            "a         b         c         d\n"
            "--------  --------  --------  --------\n"
            "one two   12345678  12345678  12345678\n"
            "three\n"
            "four\n");
}

TEST(TextTable, WholeColumnsAreNotBroken) {
  TextTable table({"a", "b", WholeColumn("c")});
  table.AddRow({"one", "two", "arn:aws:dynamodb:local:000000000000:table/T"});
  EXPECT_FALSE(table.Fits(40));
  EXPECT_THAT(Printed(table, {.max_width = 40, .expand_if_too_wide = true}),
              ::testing::HasSubstr("c  arn:aws:dynamodb:local:000000000000:table/T\n"));
}

TEST(TextTable, BreaksHeadingsAtTheirSpaces) {
  TextTable table({NumberColumn("items read"), "key"});
  table.AddRow({"1", "a"});
  EXPECT_EQ(Printed(table, {.max_width = 10}),
            "items  key\n"
            " read\n"
            "-----  ---\n"
            "    1  a\n");
}

// Words stay whole as long as another column can become narrower.
TEST(TextTable, BreaksWordsLast) {
  TextTable table({"name", "words"});
  table.AddRow({"  contact@example.com", "one two three four"});
  EXPECT_EQ(Printed(table, {.max_width = 30}),
            "name                   words\n"
            "---------------------  -------\n"
            "  contact@example.com  one two\n"
            "                       three\n"
            "                       four\n");
}

TEST(TextWidth, CountsColumnsOfATerminal) {
  EXPECT_EQ(TextWidth(""), 0u);
  EXPECT_EQ(TextWidth("abc"), 3u);
  EXPECT_EQ(TextWidth("é日😀"), 5u);
  EXPECT_EQ(TextWidth("e\u0301"), 1u) << "a combining accent";
  EXPECT_EQ(TextWidth("\xff\xc3"), 2u) << "bytes that are not UTF-8";
  EXPECT_EQ(BytesWithin("é日😀", 3), 5u);
  EXPECT_EQ(BytesWithin("é日😀", 2), 2u) << "no half character";
}

TEST(ItemWriter, CsvQuotesAndNamesColumns) {
  EXPECT_EQ(Written({.format = OutputFormat::kCsv, .leading_columns = {"id"}},
                    {Item{{"id", "a,b"}, {"n", 2}},
                     Item{{"id", "say \"hi\"\n"}, {"tags", Value::StringSet({"x"})}}}),
            "id,n,tags\n"
            "\"a,b\",2,\n"
            "\"say \"\"hi\"\"\n\",,\"[\"\"x\"\"]\"\n");
}

TEST(ItemWriter, CsvRefusesAnAttributeThatComesTooLate) {
  std::ostringstream out;
  ItemWriter writer({.format = OutputFormat::kCsv}, &out);
  for (size_t i = 0; i < ItemWriter::kTableBlock; ++i) ASSERT_TRUE(writer.Write(Item{{"id", "a"}}).ok());
  EXPECT_TRUE(writer.Write(Item{{"id", "b"}}).ok());
  const absl::Status late = writer.Write(Item{{"id", "c"}, {"new", 1}});
  EXPECT_NE(std::string(late.message()).find("\"new\""), std::string::npos) << late;
}

TEST(ItemWriter, TableShowsLeadingColumnsFirst) {
  EXPECT_EQ(Written({.format = OutputFormat::kTable, .leading_columns = {"z", "id", "absent"}}, TwoItems()),
            "z     id  n  tags\n"
            "----  --  -  ----------\n"
            "      b   2  [\"x\", \"y\"]\n"
            "null  a\n");
}

// A string of digits is text: it sorts as text, and conditions treat it as text.
TEST(ItemWriter, TableAlignsNumbersToTheRightAndTextOfDigitsToTheLeft) {
  EXPECT_EQ(Written({.format = OutputFormat::kTable},
                    {Item{{"n", 5}, {"mixed", 5}, {"s", "5"}}, Item{{"n", 150}, {"mixed", "x"}, {"s", "150"}},
                     Item{{"s", "7"}}}),
            "mixed    n  s\n"
            "-----  ---  ---\n"
            "5        5  5\n"
            "x      150  150\n"
            "            7\n");
}

TEST(ItemWriter, TypedTableAlignsNothingToTheRight) {
  EXPECT_EQ(
      Written({.format = OutputFormat::kTable, .form = ItemForm::kTyped}, {Item{{"n", 5}}, Item{{"n", 150}}}),
      "n\n"
      "------------\n"
      "{\"N\": \"5\"}\n"
      "{\"N\": \"150\"}\n");
}

TEST(ItemWriter, TableFitsItsWidth) {
  EXPECT_EQ(Written({.format = OutputFormat::kTable, .layout = {.max_width = 9}},
                    {Item{{"a", "one two"}, {"b", "xyz"}}}),
            "a     b\n"
            "----  ---\n"
            "one   xyz\n"
            "two\n");
}

TEST(ItemWriter, TableOfNothingIsEmpty) { EXPECT_EQ(Written({.format = OutputFormat::kTable}, {}), ""); }

TEST(ItemWriter, TableComesInBlocks) {
  const std::vector<Item> items(ItemWriter::kTableBlock + 1, Item{{"id", "a"}});
  const std::string text = Written({.format = OutputFormat::kTable}, items);
  EXPECT_TRUE(text.ends_with("a\n\nid\n--\na\n")) << text.substr(text.size() - 40);
  const std::string expanded =
      Written({.format = OutputFormat::kTable, .layout = {.expanded = true}, .with_count = true}, items);
  EXPECT_TRUE(expanded.ends_with("-[ 1000 ]-\nid  a\n\n-[ 1001 ]-\nid  a\n1,001 items\n"))
      << expanded.substr(expanded.size() - 60);
}

TEST(ItemWriter, JsonIsOneObject) {
  EXPECT_EQ(Written({.format = OutputFormat::kJson}, TwoItems()),
            "{\n"
            "  \"Items\": [\n"
            "    {\n"
            "      \"id\": \"b\",\n"
            "      \"n\": 2,\n"
            "      \"tags\": [\"x\", \"y\"]\n"
            "    },\n"
            "    {\"id\": \"a\", \"z\": null}\n"
            "  ],\n"
            "  \"Count\": 2\n"
            "}\n");
  EXPECT_EQ(Written({.format = OutputFormat::kJson}, {}), "{\n  \"Items\": [],\n  \"Count\": 0\n}\n");
}

TEST(ItemWriter, JsonLinesIsAnItemALine) {
  EXPECT_EQ(Written({.format = OutputFormat::kJsonLines, .form = ItemForm::kTyped}, TwoItems()),
            R"({"id": {"S": "b"}, "n": {"N": "2"}, "tags": {"SS": ["x", "y"]}})"
            "\n"
            R"({"id": {"S": "a"}, "z": {"NULL": true}})"
            "\n");
  EXPECT_EQ(Written({.format = OutputFormat::kJsonLines}, {}), "");
}

TEST(PrintItem, StandsUprightAsATable) {
  std::ostringstream out;
  PrintItem(Item{{"id", "b"}, {"price", *Number::Parse("25.5")}}, OutputFormat::kTable, ItemForm::kPlain,
            out);
  EXPECT_EQ(out.str(),
            "attribute  value\n"
            "---------  -----\n"
            "id         b\n"
            "price      25.5\n");
}

}  // namespace
}  // namespace itemdb::tools
