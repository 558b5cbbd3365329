// `explain`: how a page of Query or Scan was read.

#include "absl/strings/escaping.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

class Explain : public ::testing::Test {
 protected:
  Explain() {
    auto table = TableRequest("Things");
    AddLocalIndex(&table, "ByRank", "rate:N", v1::PROJECTION_TYPE_KEYS_ONLY);
    AddIndex(&table, "Wide", {"pk:S", "octets:B", "rate:N", "sk:S"}, 2, v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(table);
    for (const char* sk : {"a", "b", "c"}) {
      EXPECT_TRUE(database_
                      .Put("Things", {{"pk", S("p")},
                                      {"sk", S(sk)},
                                      {"rate", N("-1.5")},
                                      {"octets", B("\xff")},
                                      {"x", S("1234")}})
                      .ok());
    }
  }

  v1::ReadPlan Plan(wire::PageRequest request, bool query = true) {
    request.set_explain(true);
    auto page = query ? database_.Query(request) : database_.Scan(request);
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok()) return v1::ReadPlan();
    EXPECT_TRUE(page->reply.has_plan());
    return page->reply.plan();
  }
  static std::string Hex(const std::string& bytes) { return absl::BytesToHexString(bytes); }

  TestDatabase database_;
};

TEST_F(Explain, SaysTheKeyRangeInWordsAndInBytes) {
  struct Row {
    const char* index;
    const char* condition;
    const char* key_range;
    // Bytes of the key encoding in storage/keys/key_codec.h.
    const char* lower;
    const char* upper;
  };
  const Row rows[] = {
      {"", "pk = :p", "pk = \"p\"", "53700001", "53700002"},
      {"", ":b <= sk and :p = pk", "pk = \"p\" AND sk >= \"b\\\"\\n\"", "5370000153 62220a 0001", "53700002"},
      {"", "begins_with(sk, :b) AND pk = :p", "pk = \"p\" AND begins_with(sk, \"b\\\"\\n\")",
       "5370000153 62220a", "5370000153 62220b"},
      {"ByRank", "pk = :p AND rate BETWEEN :low AND :high", "pk = \"p\" AND rate BETWEEN -1.5 AND 2",
       "53700001 4e3f7defff", "53700001 4ec0821501"},
      {"Wide", "pk = :p AND octets = :octets AND rate < :high", "pk = \"p\" AND octets = 0x00ff AND rate < 2",
       "53700001 4200ffff0001", "53700001 4200ffff0001 4ec0821500"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.condition);
    std::string condition = row.condition;
    auto query = QueryRequest("Things", condition, {});
    const std::pair<const char*, v1::AttributeValue> values[] = {{":p", S("p")},
                                                                 {":b", S("b\"\n")},
                                                                 {":low", N("-1.50")},
                                                                 {":high", N("2")},
                                                                 {":octets", B(std::string("\0\xff", 2))}};
    for (const auto& [name, value] : values) {
      if (condition.find(name) != std::string::npos) SetValue(&query, name, value);
    }
    query.set_index_name(row.index);
    v1::ReadPlan plan = Plan(query);
    EXPECT_EQ(plan.index_name(), row.index);
    EXPECT_EQ(plan.key_range(), row.key_range);
    auto without_spaces = [](std::string text) {
      std::erase(text, ' ');
      return text;
    };
    EXPECT_EQ(Hex(plan.lower_bound()), without_spaces(row.lower));
    EXPECT_EQ(Hex(plan.upper_bound()), without_spaces(row.upper));
    EXPECT_TRUE(plan.forward());
  }
}

TEST_F(Explain, CountsWhatThePageReadAndFetched) {  // SEM-027, SEM-028
  auto query = QueryRequest("Things", "pk = :p", {{":p", S("p")}});
  const int64_t entry = 2 + 1 + 2 + 1 + 4 + 4;
  query.set_index_name("ByRank");
  query.set_limit(2);
  query.set_scan_index_forward(false);
  v1::ReadPlan plan = Plan(query);
  EXPECT_FALSE(plan.forward());
  EXPECT_EQ(plan.bytes_read(), 2 * entry);
  EXPECT_EQ(plan.base_items_read(), 0);
  query.set_filter_expression("x = :x");
  SetValue(&query, ":x", S("none"));
  plan = Plan(query);
  EXPECT_EQ(plan.bytes_read(), 2 * entry);
  EXPECT_EQ(plan.base_items_read(), 2);
  // The range is that of the query, whichever page is read.
  query.set_exclusive_start_key(Encode({{"pk", S("p")}, {"rate", N("-1.5")}, {"sk", S("b")}}));
  v1::ReadPlan next = Plan(query);
  EXPECT_EQ(next.upper_bound(), plan.upper_bound());
  EXPECT_EQ(next.base_items_read(), 1);
}

TEST_F(Explain, OfAScanIsWithoutConditionAndOfItsSegment) {
  auto scan = ScanRequest("Things");
  v1::ReadPlan plan = Plan(scan, false);
  EXPECT_EQ(plan.index_name() + plan.key_range() + plan.lower_bound() + plan.upper_bound(), "");
  EXPECT_TRUE(plan.forward());
  EXPECT_EQ(plan.bytes_read(), 3 * (3 + 3 + 8 + 7 + 5));
  scan.set_total_segments(3);
  std::string last;
  for (int segment = 0; segment < 3; ++segment) {
    scan.set_segment(segment);
    plan = Plan(scan, false);
    EXPECT_EQ(plan.lower_bound(), last);
    last = plan.upper_bound();
  }
  EXPECT_EQ(last, "");
  scan.set_explain(false);
  EXPECT_FALSE(database_.Scan(scan)->reply.has_plan());
}

}  // namespace
}  // namespace itemdb::testing
