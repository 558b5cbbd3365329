// Lines of DynamoDB's JSON, CSV and Ion: what they mean, and what is refused how.
#include "storage/imports/line_parser.h"

#include "gmock/gmock.h"
#include "storage/imports/line_chunks.h"
#include "storage/json/json_writer.h"
#include "storage/values/canonical.h"

namespace itemdb::storage {
namespace {

using ::testing::HasSubstr;

struct Row {
  std::string line;
  LineKind kind;
  // The item as DynamoDB's JSON, or a part of the reason.
  std::string expected;
};

// Parses a line as the import does: an item is canonicalized too.
void ExpectRow(LineParser& parser, const Row& row) {
  SCOPED_TRACE(row.line.substr(0, 200));
  std::string padded = row.line;
  padded.append(kLinePadding, '\0');
  std::string item, reason;
  LineKind kind = parser.Parse(std::string_view(padded).substr(0, row.line.size()), &item, &reason);
  if (kind == LineKind::kItem) {
    const absl::StatusOr<std::string> canonical = CanonicalizeItem(item);
    if (canonical.ok()) {
      std::string json;
      AppendJsonItem(ItemView(*canonical), &json);
      EXPECT_EQ(row.kind, LineKind::kItem);
      EXPECT_EQ(json, row.expected);
      return;
    }
    kind = LineKind::kBadItem;
    reason = MessageOf(canonical.status());
  }
  EXPECT_EQ(static_cast<int>(kind), static_cast<int>(row.kind)) << reason;
  EXPECT_THAT(reason, HasSubstr(row.expected));
}

// IMP-16.
TEST(JsonLines, AreItemsOrSayWhyNot) {
  const auto parser = NewJsonLineParser();
  const Row rows[] = {
      {R"({"Item":{"pk":{"S":"a"},"n":{"N":"1.50"},"b":{"B":"aGk="}}})", LineKind::kItem,
       R"({"b":{"B":"aGk="},"n":{"N":"1.5"},"pk":{"S":"a"}})"},
      {R"({"Item":{}})", LineKind::kItem, "{}"},
      {" \t\r", LineKind::kNothing, ""},
      {"", LineKind::kNothing, ""},
      {R"({"Item":{"pk":{"S":1}}})", LineKind::kBadItem, "cannot be converted to String"},
      {R"({"Item":{"pk":{"N":"x"}}})", LineKind::kBadItem, ""},
      {R"({"Item":{"pk":{"B":"a"}}})", LineKind::kBadItem, "Base64"},
      {R"({"Item":{"pk":{"S":"a","N":"1"}}})", LineKind::kBadItem, "more than one"},
      {R"({"Item":{"pk":{"S":"a"}})", LineKind::kBadLine, "not valid JSON"},
      {R"({"Item":{"pk":{"S":"a"}}} x)", LineKind::kBadLine, "not valid JSON"},
      {"{\"Item\":{\"pk\":{\"S\":\"\xC3\x28\"}}}", LineKind::kBadLine, "not valid JSON"},
      {R"({"Keys":{"pk":{"S":"a"}},"NewImage":{"pk":{"S":"a"}}})", LineKind::kBadLine, "member Item"},
      {"[]", LineKind::kBadLine, "member Item"},
      {R"({"Item":7})", LineKind::kBadLine, "member Item"},
  };
  for (const Row& row : rows) ExpectRow(*parser, row);
}

// IMP-17, XPT-46.
TEST(IonLines, AreItemsOrSayWhyNot) {
  const auto parser = NewIonLineParser();
  const auto item = [](const std::string& value) { return "$ion_1_0 {Item:{v:" + value + "}}"; };
  const auto json = [](const std::string& value) { return R"({"v":)" + value + "}"; };
  std::vector<Row> rows = {
      {"$ion_1_0", LineKind::kNothing, ""},
      {"  // a comment", LineKind::kNothing, ""},
      {"{Item:{}}", LineKind::kItem, "{}"},
      {"$ion_1_0 { Item : { 'a b' : \"x\" , \"q\\\"\": 1 , } }", LineKind::kItem,
       R"({"a b":{"S":"x"},"q\"":{"N":"1"}})"},
      {"{Other:[1,{a:2}],Item:{}}", LineKind::kItem, "{}"},
      {"{Other:1}", LineKind::kBadLine, "field Item"},
      {"{Item:1}", LineKind::kBadLine, "not a struct"},
      {"{Item:{}} {Item:{}}", LineKind::kBadLine, "more than one value"},
      {"{Item:{}", LineKind::kBadLine, ""},
      {"{Item:{a 1}}", LineKind::kBadLine, "no value"},
      {"[1]", LineKind::kBadLine, "field Item"},
      {"{Item:{v:\"\xC3\x28\"}}", LineKind::kBadLine, "UTF-8"},
      {item("\"\\u00e9\\ud83d\\ude00\\x41\\n\""), LineKind::kItem,
       json("{\"S\":\"\xC3\xA9\xF0\x9F\x98\x80"
            "A\\n\"}")},
      {item("\"\\ud800\""), LineKind::kBadLine, "escape"},
      {item("\"\\q\""), LineKind::kBadLine, "escape"},
      {item("\"a"), LineKind::kBadLine, "does not end"},
      {item("'a symbol'"), LineKind::kItem, json(R"({"S":"a symbol"})")},
      {item("symbol"), LineKind::kItem, json(R"({"S":"symbol"})")},
      {item("$10"), LineKind::kBadLine, "symbol table"},
      {item("true"), LineKind::kItem, json(R"({"BOOL":true})")},
      {item("false"), LineKind::kItem, json(R"({"BOOL":false})")},
      {item("null"), LineKind::kItem, json(R"({"NULL":true})")},
      {item("null.string"), LineKind::kItem, json(R"({"NULL":true})")},
      {item("103."), LineKind::kItem, json(R"({"N":"103"})")},
      {item("6d2"), LineKind::kItem, json(R"({"N":"600"})")},
      {item("8.5"), LineKind::kItem, json(R"({"N":"8.5"})")},
      {item("-1.5d-1"), LineKind::kItem, json(R"({"N":"-0.15"})")},
      {item("1_000"), LineKind::kItem, json(R"({"N":"1000"})")},
      {item("0x1F"), LineKind::kItem, json(R"({"N":"31"})")},
      {item("-0b101"), LineKind::kItem, json(R"({"N":"-5"})")},
      {item("2.5e3"), LineKind::kItem, json(R"({"N":"2500"})")},
      {item("1__0"), LineKind::kBadLine, "number"},
      {item("1x"), LineKind::kBadLine, "number"},
      {item("1e999"), LineKind::kBadItem, ""},
      {item("nan"), LineKind::kBadItem, "nan"},
      {item("+inf"), LineKind::kBadItem, "infinite"},
      {item("2026-11-25T12:30:00.000Z"), LineKind::kBadItem, "timestamp"},
      {item("{{aGk=}}"), LineKind::kItem, json(R"({"B":"aGk="})")},
      {item("{{ aG k= }}"), LineKind::kItem, json(R"({"B":"aGk="})")},
      {item("{{aGk}}"), LineKind::kBadLine, "ase64"},
      {item("{{\"clob\"}}"), LineKind::kBadItem, "clob"},
      {item("{{aGk="), LineKind::kBadLine, "does not end"},
      {item("[1,\"a\",[]]"), LineKind::kItem, json(R"({"L":[{"N":"1"},{"S":"a"},{"L":[]}]})")},
      {item("{a:1,b:{}}"), LineKind::kItem, json(R"({"M":{"a":{"N":"1"},"b":{"M":{}}}})")},
      {item("[1"), LineKind::kBadLine, "list"},
      {item("(a b)"), LineKind::kBadItem, "s-expression"},
      {item("$dynamodb_SS::[\"b\",\"a\"]"), LineKind::kItem, json(R"({"SS":["a","b"]})")},
      {item("$dynamodb_NS::[2.,1d1]"), LineKind::kItem, json(R"({"NS":["2","10"]})")},
      {item("$dynamodb_BS::[{{aGk=}}]"), LineKind::kItem, json(R"({"BS":["aGk="]})")},
      {item("$dynamodb_NS::[\"a\"]"), LineKind::kBadItem, "another type"},
      {item("$dynamodb_SS::[]"), LineKind::kBadItem, "empty"},
      {item("$dynamodb_SS::[\"a\",\"a\"]"), LineKind::kBadItem, "duplicates"},
      {item("$dynamodb_XS::[1]"), LineKind::kBadItem, "annotation"},
      {item("dollars::5"), LineKind::kBadItem, "annotation"},
      {"{Item:{v:1,v:2}}", LineKind::kBadItem, "Duplicate"},
  };
  std::string deep, closing;
  for (int i = 0; i < 31; ++i) deep += "[", closing += "]";
  std::string deep_json = R"({"N":"1"})";
  for (int i = 0; i < 31; ++i) deep_json = R"({"L":[)" + deep_json + "]}";
  rows.push_back({item(deep + "1" + closing), LineKind::kItem, json(deep_json)});
  // The line after an item that is too deep is read.
  rows.push_back({item(deep + "[1]" + closing), LineKind::kBadItem, "Nesting Levels"});
  // Nothing that a line says takes more than a bounded stack.
  std::string annotations, brackets;
  for (int i = 0; i < 200'000; ++i) annotations += "a::", brackets += "[";
  rows.push_back({item(annotations + "1"), LineKind::kBadItem, ""});
  rows.push_back({item(brackets), LineKind::kBadLine, ""});
  for (const Row& row : rows) ExpectRow(*parser, row);
}

Table CsvTable() {
  v1::TableDescription definition;
  definition.set_table_name("Table");
  for (const auto& [name, type] : {std::pair{"pk", v1::SCALAR_ATTRIBUTE_TYPE_S},
                                   {"n", v1::SCALAR_ATTRIBUTE_TYPE_N},
                                   {"b", v1::SCALAR_ATTRIBUTE_TYPE_B}}) {
    auto* attribute = definition.add_attribute_definitions();
    attribute->set_attribute_name(name);
    attribute->set_attribute_type(type);
  }
  auto* key = definition.add_key_schema();
  key->set_attribute_name("pk");
  key->set_key_type(v1::KEY_TYPE_HASH);
  return MakeTable(definition);
}

// IMP-18.
TEST(CsvLines, AreItemsOrSayWhyNot) {
  const auto columns = ParseCsvHeader("pk,n,b,other\r", ',', CsvTable());
  ASSERT_TRUE(columns.ok()) << columns.status();
  const auto parser = NewCsvLineParser(*columns, ',');
  const Row rows[] = {
      {"a,1,aGk=,7", LineKind::kItem, R"({"b":{"B":"aGk="},"n":{"N":"1"},"other":{"S":"7"},"pk":{"S":"a"}})"},
      {"\"a,\"\"x\"\"\n\",1,,\r", LineKind::kItem,
       R"({"b":{"B":""},"n":{"N":"1"},"other":{"S":""},"pk":{"S":"a,\"x\"\n"}})"},
      {"", LineKind::kNothing, ""},
      {"a,1,aGk=", LineKind::kBadItem, "3 cells"},
      {"a,1,aGk=,7,", LineKind::kBadItem, "5 cells"},
      {"a,x,,", LineKind::kBadItem, ""},
      {"a,1,aGk,", LineKind::kBadItem, "column b"},
      {"a\"b,1,,", LineKind::kBadLine, "quote"},
      {"\"a\"b,1,,", LineKind::kBadLine, "follows the quote"},
      {"\"a,1,,", LineKind::kBadLine, "does not end"},
      {"\xC3\x28,1,,", LineKind::kBadLine, "UTF-8"},
  };
  for (const Row& row : rows) ExpectRow(*parser, row);
}

// A line of a bulk put, and what is read of it: the condition, names and values after the item.
struct PutRow {
  std::string line;
  LineKind kind;
  // "CONDITION|NAME=VALUE...|NAME=VALUE...", the values as DynamoDB's JSON; or a part of the reason.
  std::string expected;
};

void ExpectPutRow(PutLineParser& parser, const PutRow& row) {
  SCOPED_TRACE(row.line);
  std::string padded = row.line;
  padded.append(kLinePadding, '\0');
  wire::WriteItemRequest put;
  std::string reason;
  const LineKind kind = parser.Parse(std::string_view(padded).substr(0, row.line.size()), &put, &reason);
  EXPECT_EQ(static_cast<int>(kind), static_cast<int>(row.kind)) << reason;
  if (kind != LineKind::kItem) {
    EXPECT_THAT(reason, HasSubstr(row.expected));
    return;
  }
  std::string shown = put.condition_expression() + "|";
  for (const auto& name : put.expression_attribute_names()) shown += name.name() + "=" + name.value();
  shown += "|";
  for (const auto& value : put.expression_attribute_values()) {
    shown += value.name() + "=";
    if (!value.value().empty()) AppendJsonValue(ValueView(value.value()), &shown);
  }
  EXPECT_EQ(shown, row.expected);
  EXPECT_TRUE(CanonicalizeItem(put.key_or_item()).ok());
}

// BLK-06.
TEST(JsonLines, MayHaveTheConditionOfAPut) {
  const auto parser = NewJsonPutParser();
  const PutRow rows[] = {
      {R"({"Item":{"pk":{"S":"a"}}})", LineKind::kItem, "||"},
      {R"x({"ConditionExpression":"attribute_not_exists(pk)","Item":{"pk":{"S":"a"}}})x", LineKind::kItem,
       "attribute_not_exists(pk)||"},
      {R"({"Item":{},"ConditionExpression":"#n=:v","ExpressionAttributeNames":{"#n":"x"},)"
       R"("ExpressionAttributeValues":{":v":{"L":[{"N":"1"}]}}})",
       LineKind::kItem, R"(#n=:v|#n=x|:v={"L":[{"N":"1"}]})"},
      // Storage refuses empty ones; here they must not be lost.
      {R"({"Item":{},"ConditionExpression":"","ExpressionAttributeNames":{},"ExpressionAttributeValues":{}})",
       LineKind::kItem, " |=|="},
      {R"({"Item":{},"ConditionExpression":1})", LineKind::kBadItem, "ConditionExpression must be a string"},
      {R"({"Item":{},"ExpressionAttributeNames":[]})", LineKind::kBadItem, "must be an object of strings"},
      {R"({"Item":{},"ExpressionAttributeNames":{"#n":1}})", LineKind::kBadItem, "object of strings"},
      {R"({"Item":{},"ExpressionAttributeValues":1})", LineKind::kBadItem, "object of attribute values"},
      {R"({"Item":{},"ExpressionAttributeValues":{":v":{"S":1}}})", LineKind::kBadItem, "String"},
      {R"({"Item":{},"UpdateExpression":""})", LineKind::kBadItem, "the member UpdateExpression is unknown"},
      {R"({"Item":{},"ConditionExpression":"a","ConditionExpression":"b"})", LineKind::kBadItem,
       "the line has the member ConditionExpression twice"},
      {"", LineKind::kNothing, ""},
      {R"({"ConditionExpression":"a"})", LineKind::kBadLine, "member Item"},
      {"x", LineKind::kBadLine, "not valid JSON"},
  };
  for (const PutRow& row : rows) ExpectPutRow(*parser, row);
}

TEST(IonLines, MayHaveTheConditionOfAPut) {
  const auto parser = NewIonPutParser();
  const PutRow rows[] = {
      {"{Item:{pk:\"a\"}}", LineKind::kItem, "||"},
      {"$ion_1_0 {ConditionExpression:'attribute_not_exists(pk)',Item:{pk:\"a\"}}", LineKind::kItem,
       "attribute_not_exists(pk)||"},
      {"{Item:{},ConditionExpression:\"#n=:v\",ExpressionAttributeNames:{'#n':x},"
       "ExpressionAttributeValues:{':v':[1.0]}}",
       LineKind::kItem, R"(#n=:v|#n=x|:v={"L":[{"N":"1"}]})"},
      {"{Item:{},ConditionExpression:\"\",ExpressionAttributeNames:{},ExpressionAttributeValues:{}}",
       LineKind::kItem, " |=|="},
      {"{Item:{},ConditionExpression:1}", LineKind::kBadItem, "ConditionExpression must be a string"},
      {"{Item:{},ExpressionAttributeNames:[]}", LineKind::kBadItem, "must be a struct"},
      {"{Item:{},ExpressionAttributeNames:{'#n':1}}", LineKind::kBadItem, "struct of strings"},
      {"{Item:{},ExpressionAttributeValues:{':v':2026-01-01T}}", LineKind::kBadItem, ""},
      {"{Item:{},UpdateExpression:\"\"}", LineKind::kBadItem, "the member UpdateExpression is unknown"},
      {"{Item:{},ConditionExpression:\"a\",ConditionExpression:\"b\"}", LineKind::kBadItem,
       "the line has the member ConditionExpression twice"},
      {"", LineKind::kNothing, ""},
      {"{ConditionExpression:\"a\"}", LineKind::kBadLine, "field Item"},
      {"{Item:{},ConditionExpression:", LineKind::kBadLine, "not valid Ion"},
  };
  for (const PutRow& row : rows) ExpectPutRow(*parser, row);
}

TEST(CsvLines, AHeaderHasDistinctNames) {
  const Table table = CsvTable();
  EXPECT_TRUE(ParseCsvHeader("pk;\"a;b\"", ';', table).ok());
  for (const char* header : {"pk,,a", "pk,pk", "", "pk,\"a", "\xC3\x28"})
    EXPECT_EQ(ParseCsvHeader(header, ',', table).status().code(), absl::StatusCode::kInvalidArgument)
        << header;
}

}  // namespace
}  // namespace itemdb::storage
