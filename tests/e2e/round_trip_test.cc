// Items of all ten types through itemctl and back.
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;

constexpr char kRoundTripTable[] = R"({
  "TableName": "%s",
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "BillingMode": "PAY_PER_REQUEST"})";

// One attribute of each type, also nested, with values that are easily damaged: 38 digits, numbers at both
// ends of the range, bytes that are not text, empty values, control characters, characters outside the basic
// plane.
constexpr char kEveryType[] =
    R"({"id": {"S": "every"},)"
    R"( "s": {"S": "text \"quoted\" \\ \n\t\u0001 \u00e9 \u65e5\ud83d\ude00"},)"
    R"( "s_empty": {"S": ""},)"
    R"( "n": {"N": "12345678901234567890123456789012345678"},)"
    R"( "n_fraction": {"N": "-0.12345678901234567890123456789012345678"},)"
    R"( "n_small": {"N": "1E-130"},)"
    R"( "n_large": {"N": "-9.9999999999999999999999999999999999999E+125"},)"
    R"( "b": {"B": "AP/+gIAA"},)"
    R"( "b_empty": {"B": ""},)"
    R"( "ss": {"SS": ["b", "a", ""]},)"
    R"( "ns": {"NS": ["10", "9.5", "-1", "99999999999999999999999999999999999999"]},)"
    R"( "bs": {"BS": ["/w==", "AA==", ""]},)"
    R"( "l": {"L": [{"S": "x"}, {"N": "1"}, {"NULL": true}, {"L": []}, {"M": {"deep": {"SS": ["only"]}}}]},)"
    R"( "m": {"M": {"S": {"S": "a map that looks like a type"}, "x": {"BOOL": false}}},)"
    R"( "m_empty": {"M": {}},)"
    R"( "bool": {"BOOL": true},)"
    R"( "null": {"NULL": true}})";

class RoundTripTest : public E2eTest {
 protected:
  void SetUp() override {
    E2eTest::SetUp();
    for (const char* name : {"from", "into"}) CreateTable(name);
  }

  void CreateTable(const std::string& name) {
    std::string definition = kRoundTripTable;
    definition.replace(definition.find("%s"), 2, name);
    const CommandResult created = Itemctl({"table", "create", "-f", "-"}, definition);
    ASSERT_EQ(created.exit_code, 0) << created.err;
  }

  std::string GetTyped(const std::string& table, const std::string& id) const {
    const CommandResult got =
        Itemctl({"item", "get", "--typed", table, Json({{"id", id}}).dump(), "-o", "jsonl"});
    EXPECT_EQ(got.exit_code, 0) << got.err;
    return got.out;
  }
};

TEST_F(RoundTripTest, TypedItemsKeepEveryTypeThroughAPipe) {
  ASSERT_EQ(Itemctl({"item", "put", "from", "-"}, kEveryType).exit_code, 0);
  const std::string tool = testing::ProgramPath("itemctl") + " --endpoint " + daemon_.endpoint();
  const CommandResult copied = RunProgram(
      "/bin/sh",
      {"-c", tool + " item get --typed from '{\"id\": \"every\"}' | " + tool + " item put into -"});
  ASSERT_EQ(copied.exit_code, 0) << copied.err;

  const std::string original = GetTyped("from", "every");
  EXPECT_EQ(GetTyped("into", "every"), original);

  // The item reads back equal: sets in their own order, numbers expanded and trimmed (SEM-012).
  Json expected = Json::parse(kEveryType);
  expected["n_small"]["N"] = std::string("0.") + std::string(129, '0') + "1";
  expected["n_large"]["N"] = std::string("-") + std::string(38, '9') + std::string(88, '0');
  expected["ss"]["SS"] = {"", "a", "b"};
  expected["ns"]["NS"] = {"-1", "9.5", "10", "99999999999999999999999999999999999999"};
  expected["bs"]["BS"] = {"", "AA==", "/w=="};
  EXPECT_EQ(Json::parse(original, nullptr, false), expected);

  // After kill -9 the output is the same, byte by byte.
  KillAndRestart();
  EXPECT_EQ(GetTyped("into", "every"), original);
  ExpectCheckIsClean();
}

// The range (SEM-011) and form (SEM-012) of numbers, in both JSON forms, as values and as set elements. No
// floating point number is involved.
TEST_F(RoundTripTest, NumbersKeep38DigitsInBothForms) {
  struct Row {
    const char* given;
    const char* read;
  };
  const Row rows[] = {
      {"12345678901234567890123456789012345678", "12345678901234567890123456789012345678"},
      {"-1.2345678901234567890123456789012345678", "-1.2345678901234567890123456789012345678"},
      {"0.10000000000000000000000000000000000001", "0.10000000000000000000000000000000000001"},
      {"9007199254740993", "9007199254740993"},
      {"25.00", "25"},
      {"-0", "0"},
      {"1e3", "1000"},
      {"1.5E-3", "0.0015"},
      {"000123.4500", "123.45"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.given);
    const std::string typed = R"({"id": {"S": "typed"}, "n": {"N": ")" + std::string(row.given) + R"("}})";
    ASSERT_EQ(Itemctl({"item", "put", "from", typed}).exit_code, 0);
    EXPECT_THAT(GetTyped("from", "typed"), HasSubstr(R"("n": {"N": ")" + std::string(row.read) + R"("})"));
    const CommandResult plain = Itemctl({"item", "get", "from", R"({"id": "typed"})", "-o", "jsonl"});
    EXPECT_THAT(plain.out, HasSubstr(R"("n": )" + std::string(row.read) + "}"));

    // Plain JSON is read back to the same item.
    if (row.given[0] == '0' && row.given[1] == '0') continue;  // Not a JSON number.
    const std::string given_plain = R"({"id": "plain", "n": )" + std::string(row.given) + "}";
    ASSERT_EQ(Itemctl({"item", "put", "from", given_plain}).exit_code, 0);
    EXPECT_THAT(GetTyped("from", "plain"), HasSubstr(R"("n": {"N": ")" + std::string(row.read) + R"("})"));
  }
}

// Number keys are equal by value, not by text (SEM-013).
TEST_F(RoundTripTest, EqualNumbersAreOneKey) {
  const char* const definition = R"({
    "TableName": "numbers",
    "AttributeDefinitions": [{"AttributeName": "n", "AttributeType": "N"}],
    "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST"})";
  ASSERT_EQ(Itemctl({"table", "create", "-f", "-"}, definition).exit_code, 0);
  for (const char* number : {"1000", "1e3", "1000.0", "0.1e4"}) {
    const std::string item = std::string(R"({"n": )") + number + R"(, "text": ")" + number + R"("})";
    ASSERT_EQ(Itemctl({"item", "put", "numbers", item}).exit_code, 0);
  }
  EXPECT_EQ(Json(Lines({"scan", "numbers"})), Json::parse(R"([{"n": 1000, "text": "0.1e4"}])"));
}

// The largest possible item, 409,600 bytes by the size formula (SEM-002), can be written and read.
TEST_F(RoundTripTest, TheLargestItemFits) {
  const std::string text(409'600 - 2 - 1 - 1, 'x');  // Minus "id", its value "L" and the name "t".
  const std::string item = Json({{"id", "L"}, {"t", text}}).dump();
  ASSERT_EQ(Itemctl({"item", "put", "from", "-"}, item).exit_code, 0);
  EXPECT_EQ(Document({"item", "get", "from", R"({"id": "L"})"}), Json::parse(item));
}

}  // namespace
}  // namespace itemdb::e2e
