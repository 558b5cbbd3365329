// Query and Scan.
#include "tests/protocols/both_protocols.h"
#include "tests/protocols/requests.h"

namespace itemdb::protocols {
namespace {

class PagesOverBoth : public BothProtocols {
 protected:
  void SetUp() override {
    for (const Json& item : Items()) Succeed("PutItem", {{"TableName", "Things"}, {"Item", item}});
  }

  // A query of one item collection of the index `index`; empty: of the table.
  static Json QueryOf(const std::string& index) {
    const bool by_n = index == "ByN", by_a = index == "ByA";
    Json query = {{"TableName", "Things"},
                  {"KeyConditionExpression", by_n   ? "n = :v"
                                             : by_a ? "a = :v"
                                                    : "pk = :v"},
                  {"ExpressionAttributeValues", {{":v", by_n ? Number(1) : Text(by_a ? "a0" : "p1")}}}};
    if (!index.empty()) query["IndexName"] = index;
    return query;
  }
  static Json ScanOf(const std::string& index) {
    Json scan = {{"TableName", "Things"}};
    if (!index.empty()) scan["IndexName"] = index;
    return scan;
  }
};

const std::vector<std::string> kIndexes = {"", "ByN", "ByA", "ByK", "NoSuch"};

// Pages, start keys, segments and Select (SEM-027 to SEM-038), consumed capacity (SEM-061, SEM-065), local
// indexes (SEM-091).
TEST_F(PagesOverBoth, Options) {
  std::vector<Request> requests;
  for (const std::string& index : kIndexes) {
    for (const Json& base : {QueryOf(index), ScanOf(index)}) {
      const bool query = base.contains("KeyConditionExpression");
      const char* operation = query ? "Query" : "Scan";
      for (const char* select :
           {"", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "COUNT"}) {
        for (const char* projection : {"", "sk, b, i"}) {
          for (int limit : {0, 1, 2}) {
            for (bool consistent : {false, true}) {
              Json request = With(base, {{"ReturnConsumedCapacity", limit == 1 ? "INDEXES" : "TOTAL"}});
              if (*select != 0) request["Select"] = select;
              if (*projection != 0) request["ProjectionExpression"] = projection;
              if (limit > 0) request["Limit"] = limit;
              if (consistent) request["ConsistentRead"] = true;
              if (query && limit == 2) request["ScanIndexForward"] = false;
              const bool global = index == "ByN" || index == "ByA";
              if (global && consistent) {
                // Only without Select and projection: other errors may be reported before this one.
                if (*select == 0 && *projection == 0)
                  requests.push_back({operation, request, Difference::kConsistentIndexRead});
                continue;
              }
              requests.push_back({operation, request});
            }
          }
        }
      }
    }
  }
  Expect(requests);
  EXPECT_GT(succeeded_, 100);
  EXPECT_GT(failed_, 100);
}

// Key conditions (EXP-08, EXP-21, EXP-22).
TEST_F(PagesOverBoth, KeyConditions) {
  struct Condition {
    const char* text;
    Json values;
    const char* index = "";
  };
  const Json p = {{":p", Text("p1")}};
  const auto with = [&p](const Json& more) { return With(p, more); };
  std::vector<Request> requests;
  for (const Condition& condition : std::vector<Condition>{
           {"pk = :p", p},
           {":p = pk", p},
           {"(pk = :p)", p},
           {"pk = :p AND sk = :s", with({{":s", Text("s4")}})},
           {"sk > :s AND pk = :p", with({{":s", Text("s4")}})},
           {"pk = :p AND sk BETWEEN :s AND :t", with({{":s", Text("s1")}, {":t", Text("s4")}})},
           {"pk = :p AND sk BETWEEN :t AND :s", with({{":s", Text("s1")}, {":t", Text("s4")}})},
           {"pk = :p AND begins_with(sk, :s)", with({{":s", Text("s1")}})},
           {"pk = :p AND begins_with(sk, :s)", with({{":s", Text("")}})},
           {"pk = :p AND sk = :s", with({{":s", Number(4)}})},
           {"pk = :p AND sk <> :s", with({{":s", Text("s4")}})},
           {"pk = :p OR sk = :s", with({{":s", Text("s4")}})},
           {"NOT pk = :p", p},
           {"pk > :p", p},
           {"sk = :p", p},
           {"pk = :p AND pk = :p", p},
           {"pk = :p AND i = :s", with({{":s", Number(4)}})},
           {"pk = :p AND attribute_exists(sk)", p},
           {"pk = pk", Json::object()},
           {"pk = :p AND size(sk) = :s", with({{":s", Number(2)}})},
           {"pk.x = :p", p},
           {"pk =", p},
           {"n = :n AND pk = :p", with({{":n", Number(1)}}), "ByN"},
           {"n = :n AND pk >= :p", with({{":n", Number(1)}}), "ByN"},
           {"n = :p", p, "ByN"},
           {"pk = :p", p, "ByN"},
           {"pk = :p AND k < :k", with({{":k", Number(99)}}), "ByK"},
           {"pk = :p AND sk < :k", with({{":k", Text("s9")}}), "ByK"},
           {"a = :p", p, "ByA"}}) {
    Json request = {{"TableName", "Things"}, {"KeyConditionExpression", condition.text}};
    if (!condition.values.empty()) request["ExpressionAttributeValues"] = condition.values;
    if (*condition.index != 0) request["IndexName"] = condition.index;
    requests.push_back({"Query", request});
    request["ScanIndexForward"] = false;
    requests.push_back({"Query", request});
    request["Select"] = "COUNT";
    requests.push_back({"Query", request});
  }
  requests.push_back({"Query", ScanOf("")});
  Expect(requests);
  EXPECT_GT(succeeded_, 30);
  EXPECT_GT(failed_, 30);
}

// Scan order (SEM-034), filters on keys (SEM-040), also of several key attributes (SEM-086).
TEST_F(PagesOverBoth, Filters) {
  struct Filter {
    const char* text;
    Json values = Json::object();
    Json names = Json::object();
  };
  std::vector<Request> requests;
  for (const Filter& filter :
       std::vector<Filter>{{"i > :i", {{":i", Number(4)}}},
                           {"size(#s) = :i AND NOT contains(#s, :i)", {{":i", Number(2)}}, {{"#s", "set"}}},
                           {"attribute_exists(b) OR attribute_type(text, :t)", {{":t", Text("S")}}},
                           {"#m.#c >= :i", {{":i", Number(50)}}, {{"#m", "map"}, {"#c", "count"}}},
                           {"begins_with(sk, :t)", {{":t", Text("s1")}}},
                           {"pk = :t", {{":t", Text("p1")}}},
                           {"i >", {{":i", Number(4)}}},
                           {"i > :undefined", Json::object()},
                           {"i > :i", {{":i", Number(4)}, {":unused", Number(4)}}},
                           {"attribute_type(:i, :t)", {{":i", Number(4)}, {":t", Text("N")}}},
                           {"i < :i", {{":i", Json{{"N", "0e126"}}}}},
                           {"i IN (:i, :t)", {{":i", Number(4)}, {":t", Text("4")}}}}) {
    for (const std::string& index : kIndexes) {
      for (const Json& base : {QueryOf(index), ScanOf(index)}) {
        Json request = With(base, {{"FilterExpression", filter.text}});
        Json values = With(base.value("ExpressionAttributeValues", Json::object()), filter.values);
        if (!values.empty()) request["ExpressionAttributeValues"] = values;
        if (!filter.names.empty()) request["ExpressionAttributeNames"] = filter.names;
        requests.push_back({base.contains("KeyConditionExpression") ? "Query" : "Scan", request});
      }
    }
  }
  Expect(requests);
  EXPECT_GT(succeeded_, 20);
  EXPECT_GT(failed_, 30);
}

// All pages together are the whole answer, if each protocol continues from its own key; invalid start keys of
// tables (SEM-032) and indexes (SEM-085) are refused.
TEST_F(PagesOverBoth, StartKeys) {
  for (const std::string index : {"", "ByN", "ByA", "ByK"}) {
    for (const Json& base : {QueryOf(index), ScanOf(index)}) {
      const std::string operation = base.contains("KeyConditionExpression") ? "Query" : "Scan";
      Json request = With(base, {{"Limit", 2}});
      for (int pages = 0; pages < 10; ++pages) {
        const Json page = Succeed(operation, request);
        if (!page.contains("LastEvaluatedKey")) break;
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"];
      }
    }
  }
  std::vector<Request> requests;
  for (const std::string& index : kIndexes) {
    for (const Json& key :
         {Key("p1", "s4"), Key("p0", "s0"), With(Key("p1", "s4"), {{"n", Number(1)}}),
          With(Key("p1", "s4"), {{"a", Text("a0")}}), With(Key("p1", "s4"), {{"k", Number(96)}}),
          With(Key("p1", "s4"), {{"k", Text("x")}}), Json{{"pk", Text("p1")}}, Json::object(),
          Json{{"pk", Json::object()}, {"sk", Text("s")}}}) {
      requests.push_back({"Query", With(QueryOf(index), {{"ExclusiveStartKey", key}})});
      requests.push_back({"Scan", With(ScanOf(index), {{"ExclusiveStartKey", key}})});
    }
  }
  Expect(requests);
  EXPECT_GT(succeeded_, 5);
  EXPECT_GT(failed_, 50);
}

// Segments of a parallel scan (SEM-033).
TEST_F(PagesOverBoth, Segments) {
  std::vector<Request> requests;
  for (const std::string& index : kIndexes) {
    for (int total : {1, 2, 3, 1'000}) {
      for (int segment : {0, 1, 2}) {
        requests.push_back({"Scan", With(ScanOf(index), {{"Segment", segment}, {"TotalSegments", total}})});
      }
    }
    requests.push_back({"Scan", With(ScanOf(index), {{"Segment", 0}})});
    requests.push_back({"Scan", With(ScanOf(index), {{"TotalSegments", 2}})});
  }
  Expect(requests);
  EXPECT_GT(succeeded_, 20);
  EXPECT_GT(failed_, 20);
}

TEST_F(PagesOverBoth, WhatDiffersByDesign) {
  Expect({
      {"Scan", With(ScanOf(""), {{"Limit", 0}}), Difference::kBoundsFirst},
      {"Query", With(QueryOf(""), {{"Limit", -1}}), Difference::kBoundsFirst},
      {"Query", With(QueryOf(""), {{"Select", "EVERYTHING"}}), Difference::kBoundsFirst},
      {"Scan", With(ScanOf(""), {{"Segment", -1}, {"TotalSegments", 2}}), Difference::kBoundsFirst},
      {"Scan", With(ScanOf(""), {{"Segment", 0}, {"TotalSegments", 1'000'001}}), Difference::kBoundsFirst},
      {"Query", With(QueryOf(""), {{"IndexName", "x"}}), Difference::kBoundsFirst},
      {"Query", With(QueryOf(""), {{"KeyConditions", {{"pk", {{"ComparisonOperator", "IS"}}}}}}),
       Difference::kBoundsFirst},
      {"Scan", With(ScanOf(""), {{"FilterExpression", ""}}), Difference::kEmptyIsSaid},
      {"Query", With(QueryOf(""), {{"ProjectionExpression", ""}}), Difference::kEmptyIsSaid},
      {"Query", With(QueryOf(""), {{"ExpressionAttributeNames", Json::object()}}), Difference::kEmptyIsSaid},
      {"Scan", With(ScanOf(""), {{"AttributesToGet", Json::array()}}), Difference::kEmptyIsSaid},
      {"Query", With(QueryOf("ByN"), {{"ConsistentRead", true}}), Difference::kConsistentIndexRead},
      {"Scan", With(ScanOf("ByA"), {{"ConsistentRead", true}}), Difference::kConsistentIndexRead},
  });
}

}  // namespace
}  // namespace itemdb::protocols
