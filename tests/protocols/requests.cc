#include "tests/protocols/requests.h"

namespace itemdb::protocols {
namespace {

Json Attribute(const char* name, const char* type) {
  return {{"AttributeName", name}, {"AttributeType", type}};
}

Json Schema(const char* hash, const char* range = nullptr) {
  Json schema = List(Json{{"AttributeName", hash}, {"KeyType", "HASH"}});
  if (range != nullptr) schema.push_back({{"AttributeName", range}, {"KeyType", "RANGE"}});
  return schema;
}

Json Index(const char* name, Json schema, Json projection) {
  return {{"IndexName", name}, {"KeySchema", std::move(schema)}, {"Projection", std::move(projection)}};
}

}  // namespace

const std::vector<Json>& Tables() {
  static const auto* tables = new std::vector<Json>{
      {{"TableName", "Things"},
       {"BillingMode", "PAY_PER_REQUEST"},
       {"AttributeDefinitions", List(Attribute("pk", "S"), Attribute("sk", "S"), Attribute("n", "N"),
                                     Attribute("a", "S"), Attribute("k", "N"))},
       {"KeySchema", Schema("pk", "sk")},
       {"GlobalSecondaryIndexes", List(Index("ByN", Schema("n", "pk"), {{"ProjectionType", "ALL"}}),
                                       Index("ByA", Schema("a"), {{"ProjectionType", "KEYS_ONLY"}}))},
       {"LocalSecondaryIndexes",
        List(Index("ByK", Schema("pk", "k"),
                   {{"ProjectionType", "INCLUDE"}, {"NonKeyAttributes", List("b")}}))}},
      {{"TableName", "Single"},
       {"BillingMode", "PAY_PER_REQUEST"},
       {"AttributeDefinitions", List(Attribute("id", "N"))},
       {"KeySchema", Schema("id")}},
      {{"TableName", "Blobs"},
       {"BillingMode", "PAY_PER_REQUEST"},
       {"AttributeDefinitions", List(Attribute("b", "B"))},
       {"KeySchema", Schema("b")}},
  };
  return *tables;
}

const std::vector<Json>& GoodValues() {
  static const auto* values = [] {
    auto* texts = new std::vector<Json>;
    for (const char* text :
         {R"({"S":""})",
          R"({"S":"text"})",
          R"({"S":"\"quoted\" \\ \u0000 \u00fc \ud83d\ude00\n"})",
          R"({"N":"0"})",
          R"({"N":"-1.50"})",
          R"({"N":"+007"})",
          R"({"N":"1E+2"})",
          R"({"N":"1e-130"})",
          R"({"N":"9.9999999999999999999999999999999999999E+125"})",
          R"({"N":"12345678901234567890123456789012345678"})",
          R"({"B":""})",
          R"({"B":"AAEC/w=="})",
          R"({"BOOL":true})",
          R"({"BOOL":false})",
          R"({"NULL":true})",
          R"({"SS":["b","a",""]})",
          R"({"NS":["2","1.0","-3e1"]})",
          R"({"BS":["AQ==","AA==",""]})",
          R"({"L":[]})",
          R"({"L":[{"S":"x"},{"N":"1"},{"L":[{"BOOL":true}]}]})",
          R"({"M":{}})",
          R"({"M":{"z":{"N":"1.0"},"a":{"M":{"deep":{"SS":["y","x"]}}},"b.c#":{"NULL":true}}})"})
      texts->push_back(Json::parse(text));
    // Values have at most 32 levels (SEM-017).
    Json deep = {{"N", "1"}};
    for (int i = 0; i < 31; ++i) deep = i % 2 == 0 ? Json{{"L", List(deep)}} : Json{{"M", {{"d", deep}}}};
    texts->push_back(deep);
    return texts;
  }();
  return *values;
}

const std::vector<Json>& BadValues() {
  static const auto* values = [] {
    auto* texts = new std::vector<Json>;
    for (const char* text :
         {R"({})", R"({"N":""})", R"({"N":"one"})", R"({"N":"1e126"})", R"({"N":"1e-131"})", R"({"N":"0x1"})",
          R"({"N":" 1"})", R"({"N":"123456789012345678901234567890123456789"})", R"({"NULL":false})",
          R"({"SS":[]})", R"({"SS":["a","b","a"]})", R"({"NS":[]})", R"({"NS":["1","1.0"]})",
          R"({"NS":["x"]})", R"({"BS":[]})", R"({"BS":["AA==","AA=="]})", R"({"L":[{"S":"x"},{}]})",
          R"({"M":{"":{"S":"x"}}})", R"({"M":{"a":{"N":"x"}}})"})
      texts->push_back(Json::parse(text));
    Json deep = {{"N", "1"}};
    for (int i = 0; i < 32; ++i) deep = Json{{"L", List(deep)}};
    texts->push_back(deep);
    return texts;
  }();
  return *values;
}

Json Text(const std::string& text) { return {{"S", text}}; }
Json Number(int number) { return {{"N", std::to_string(number)}}; }
Json Key(const std::string& pk, const std::string& sk) { return {{"pk", Text(pk)}, {"sk", Text(sk)}}; }

Json With(Json object, const Json& more) {
  object.update(more);
  return object;
}

std::vector<Json> Items() {
  std::vector<Json> items;
  for (int i = 0; i < 12; ++i) {
    Json item = Key("p" + std::to_string(i % 3), "s" + std::to_string(i));
    item["i"] = Number(i);
    item["text"] = Text(std::string(100 * i, 'x'));
    item["list"] = {{"L", List(Text("first"), Json{{"M", {{"in", Number(i)}}}}, Number(i))}};
    item["map"] = {
        {"M", {{"count", Number(10 * i)}, {"tags", {{"SS", List("red", "t" + std::to_string(i))}}}}}};
    item["set"] = {{"NS", List(std::to_string(i), "100")}};
    if (i % 2 == 0) item["n"] = Number(i / 4);
    if (i % 4 != 3) item["a"] = Text("a" + std::to_string(i % 2));
    if (i % 3 != 2) item["k"] = Number(100 - i);
    if (i % 5 == 0) item["b"] = {{"BOOL", true}};
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace itemdb::protocols
