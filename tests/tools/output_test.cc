#include "tools/output.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tools/text_table.h"

namespace itemdb::tools {
namespace {

std::vector<Item> TwoItems() {
  return {Item{{"id", "b"}, {"n", 2}, {"tags", Value::StringSet({"y", "x"})}},
          Item{{"id", "a"}, {"z", Value::Null()}}};
}

std::string Written(ItemWriter::Options options, const std::vector<Item>& items) {
  std::ostringstream out;
  ItemWriter writer(std::move(options), &out);
  for (const Item& item : items) writer.Write(item);
  writer.Finish(JsonValue::Object().Add("Count", JsonValue::Number(items.size())));
  return out.str();
}

TEST(TextTable, PadsByCodePoints) {
  TextTable table({"name", "n"});
  table.AddRow({"Zoë", "1"});
  table.AddRow({"日本語日本", "2"});
  table.AddRow({"x"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(),
            "name   n\n"
            "-----  -\n"
            "Zoë    1\n"
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

TEST(CodePoints, CountsMultiByteCharactersOnce) {
  EXPECT_EQ(CodePoints(""), 0u);
  EXPECT_EQ(CodePoints("abc"), 3u);
  EXPECT_EQ(CodePoints("é日😀"), 3u);
}

TEST(ItemWriter, TableShowsLeadingColumnsFirst) {
  EXPECT_EQ(Written({.format = OutputFormat::kTable, .leading_columns = {"z", "id", "absent"}}, TwoItems()),
            "z     id  n  tags\n"
            "----  --  -  ----------\n"
            "      b   2  [\"x\", \"y\"]\n"
            "null  a\n");
}

TEST(ItemWriter, TableOfNothingIsEmpty) { EXPECT_EQ(Written({.format = OutputFormat::kTable}, {}), ""); }

TEST(ItemWriter, TableComesInBlocks) {
  const std::vector<Item> items(ItemWriter::kTableBlock + 1, Item{{"id", "a"}});
  const std::string text = Written({.format = OutputFormat::kTable}, items);
  EXPECT_TRUE(text.ends_with("a\n\nid\n--\na\n")) << text.substr(text.size() - 40);
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
