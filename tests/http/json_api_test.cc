// JsonApi as its callers use it: log fields, threads, callbacks that make the next call.

#include <functional>
#include <thread>
#include <vector>

#include "daemon/http/api/operations.h"
#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

constexpr char kGet[] = R"({"TableName":"Things","Key":{"pk":{"S":"p"},"sk":{"S":"s"}}})";
constexpr char kPut[] = R"({"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"S":"s"}}})";

TEST(JsonApi, RepliesSayWhatTheLogMaySay) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  JsonReply put = json.Ask("PutItem", kPut);
  EXPECT_EQ(put.code, "OK");
  EXPECT_EQ(put.log_fields.table_name, "Things");
  EXPECT_EQ(put.log_fields.items, 1);
  EXPECT_EQ(put.items, -1);
  EXPECT_EQ(json.Ask("GetItem", kGet).items, 1);
  JsonReply scan = json.Ask("Scan", R"({"TableName":"Things"})");
  EXPECT_EQ(scan.log_fields.table_name, "Things");
  EXPECT_EQ(scan.items, 1);
  JsonReply missing = json.Ask("Scan", R"({"TableName":"Missing"})");
  EXPECT_EQ(missing.code, "NOT_FOUND");
  EXPECT_EQ(missing.log_fields.table_name, "Missing");
  EXPECT_EQ(json.Ask("Scan", "{").code, "INVALID_ARGUMENT");
  JsonReply failed = json.Ask(
      "PutItem", std::string(kPut).insert(1, R"j("ConditionExpression":"attribute_not_exists(pk)",)j"));
  EXPECT_EQ(failed.code, "FAILED_PRECONDITION");
}

// The next request is parsed into the memory of the request that is being answered.
TEST(JsonApi, AnAnswerMayAskAgainOnItsThread) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  json.Succeed("PutItem", kPut);
  int answers = 0;
  std::promise<void> all;
  std::function<void()> ask = [&] {
    std::string body = kGet;
    body.reserve(body.size() + kJsonPadding);
    json.api().Answer(*FindOperation("DynamoDB_20120810.GetItem"), std::move(body), daemon::Caller(), nullptr,
                      [&](JsonReply reply) {
                        EXPECT_EQ(reply.body, R"({"Item":{"pk":{"S":"p"},"sk":{"S":"s"}}})");
                        if (++answers < 20) return ask();
                        all.set_value();
                      });
  };
  ask();
  all.get_future().wait();
  EXPECT_EQ(answers, 20);
}

TEST(JsonApi, ManyThreadsMayAsk) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&json, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string key =
            R"({"pk":{"S":"p)" + std::to_string(t) + R"("},"sk":{"S":")" + std::to_string(i) + "\"}}";
        json.Succeed("PutItem", R"({"TableName":"Things","Item":)" + key + "}");
        EXPECT_EQ(json.Succeed("GetItem", R"({"TableName":"Things","Key":)" + key + "}"),
                  R"({"Item":)" + key + "}");
        json.Succeed("DescribeTable", R"({"TableName":"Things"})");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The parser needs free memory after the body; a body without it is reallocated.
TEST(JsonApi, ABodyNeedsNoPadding) {
  JsonFixture json;
  std::promise<JsonReply> promise;
  std::string body = R"({"Limit":1})";
  body.shrink_to_fit();
  json.api().Answer(*FindOperation("DynamoDB_20120810.ListTables"), std::move(body), daemon::Caller(),
                    nullptr, [&promise](JsonReply reply) { promise.set_value(std::move(reply)); });
  EXPECT_EQ(promise.get_future().get().body, R"({"TableNames":[]})");
}

// The memory counted while a long request is read, and later when the database would be called.
struct Seen {
  JsonFixture* json;
  int64_t while_read = 0, when_asked = 0;
  // The body of a second request, sent while the first is read.
  std::string second = {};
  unsigned second_status = 0;
};
Seen* seen = nullptr;

JsonReply AskProbe(std::string body);

absl::StatusOr<wire::GetItemRequest> ReadProbe(const JsonObject&) {
  seen->while_read = seen->json->memory().used_bytes();
  if (!seen->second.empty()) seen->second_status = AskProbe(std::exchange(seen->second, "")).http_status;
  return wire::GetItemRequest();
}
void ProbeDatabase(JsonCall call, wire::GetItemRequest) {
  seen->when_asked = seen->json->memory().used_bytes();
  EXPECT_EQ(call.document, nullptr);
  std::move(call.answer).Succeed("{}");
}

JsonReply AskProbe(std::string body) {
  static constexpr Shape kInput{.kind = ShapeKind::kStructure};
  static constexpr JsonOperation kProbe = {
      "Probe", daemon::Role::kRead, daemon::Scope::kNothing, &kInput,
      [](JsonCall call) { HandleOperation<ReadProbe, ProbeDatabase>(std::move(call)); }};
  JsonReply reply;
  seen->json->api().Answer(kProbe, std::move(body), daemon::Caller(), nullptr,
                           [&](JsonReply given) { reply = std::move(given); });
  return reply;
}

std::string LongRequest() { return R"({"a":")" + std::string(300'000, 'x') + R"("})"; }

TEST(JsonApi, TheParserOfALongRequestIsCountedUntilTheDatabaseIsAsked) {
  JsonFixture json;
  Seen here{.json = &json};
  seen = &here;
  EXPECT_EQ(AskProbe(LongRequest()).http_status, 200u);
  EXPECT_GE(here.while_read, 14 * 300'000);
  EXPECT_EQ(here.when_asked, 0);
  EXPECT_EQ(AskProbe("{}").http_status, 200u);
  EXPECT_EQ(here.while_read, 0);
  // A request that is not JSON releases its memory too.
  EXPECT_EQ(AskProbe(LongRequest() + "x").http_status, 400u);
  EXPECT_EQ(json.memory().used_bytes(), 0);
}

// A single long request is read even if memory is short, because otherwise it could never be read. A second
// one at the same time is refused.
TEST(JsonApi, LongRequestsAreRefusedWhenMemoryIsUsedUp) {
  JsonFixture json;
  Seen here{.json = &json};
  seen = &here;
  json.memory().Add(static_cast<size_t>(json.memory().limit_bytes()));
  here.second = LongRequest();
  EXPECT_EQ(AskProbe(LongRequest()).http_status, 200u);
  EXPECT_EQ(here.second_status, 400u);
  here.second = "{}";
  EXPECT_EQ(AskProbe(LongRequest()).http_status, 200u);
  EXPECT_EQ(here.second_status, 200u);
  json.memory().Release(static_cast<size_t>(json.memory().limit_bytes()));
  here.second = LongRequest();
  EXPECT_EQ(AskProbe(LongRequest()).http_status, 200u);
  EXPECT_EQ(here.second_status, 200u);
  EXPECT_EQ(json.memory().used_bytes(), 0);
}

}  // namespace
}  // namespace itemdb::testing
