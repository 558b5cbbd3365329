// The audit log and refused calls of a real daemon, over both protocols, and `itemctl audit verify`.
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/e2e/e2e_fixture.h"
#include "tests/http/raw_http_client.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kAuditSecret[] = "a secret of sufficient length";
constexpr char kAuditedItem[] = "mehitabel";

class AuditTest : public E2eTest {
 protected:
  void SetUp() override {
    testing::WriteFile(key_file_, std::string("[[key]]\nid = \"READER\"\nsecret = \"") + kAuditSecret +
                                      "\"\nrole = \"read\"\n[[key]]\nid = \"ADMIN\"\nsecret = \"" +
                                      kAuditSecret + "\"\nrole = \"admin\"\n");
    ASSERT_EQ(chmod(key_file_.c_str(), 0600), 0);
  }

  void Start(std::vector<std::string> more) {
    more.insert(more.end(), {"--audit-log", log_, "--http-listen", "127.0.0.1:0"});
    const absl::Status started = daemon_.Start(more);
    ASSERT_TRUE(started.ok()) << started;
  }
  void StartWithKeys() { Start({"--access-keys", key_file_}); }

  CommandResult As(const std::string& id, const std::string& secret, std::vector<std::string> arguments) {
    testing::WriteFile(directory_.path() + "/secret", secret);
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.endpoint(), "--access-key-id", id,
                                         "--secret-access-key-file", directory_.path() + "/secret"});
    return RunProgram(testing::ProgramPath("itemctl"), arguments);
  }
  http::RawReply Post(const std::string& operation, const std::string& body) {
    http::RawHttpClient client(daemon_.http_endpoint());
    EXPECT_TRUE(client.Send(http::PostRequest(operation, body)));
    return client.ReadReply().value_or(http::RawReply());
  }
  CommandResult Verify(const std::vector<std::string>& files) const {
    std::vector<std::string> arguments = {"-o", "table", "audit", "verify"};
    arguments.insert(arguments.end(), files.begin(), files.end());
    return RunProgram(testing::ProgramPath("itemctl"), arguments);
  }
  // Records of calls: event, key, operation, table, outcome.
  std::vector<std::string> Calls() const {
    std::vector<std::string> calls;
    for (const Json& record : ParseLines(testing::ReadFile(log_))) {
      if (!record.contains("operation")) continue;
      EXPECT_THAT(record["peer"].get<std::string>(), StartsWith("ipv4:127.0.0.1:"));
      calls.push_back(record["event"].get<std::string>() + " " + record.value("key_id", "-") + " " +
                      record["operation"].get<std::string>() + " " + record.value("table", "-") + " " +
                      record["outcome"].get<std::string>());
    }
    return calls;
  }

  const std::string key_file_ = directory_.path() + "/keys.toml";
  const std::string log_ = directory_.path() + "/audit.jsonl";
};

constexpr char kCreateCats[] = R"({"TableName": "Cats", "BillingMode": "PAY_PER_REQUEST",
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]})";

TEST_F(AuditTest, RecordsWhatAdminsDoAndWhoIsRefused) {
  StartWithKeys();
  const std::string document = directory_.path() + "/cats.json";
  testing::WriteFile(document, kCreateCats);
  ASSERT_EQ(As("ADMIN", kAuditSecret, {"table", "create", "-f", document}).exit_code, 0);
  const std::string item = std::string(R"({"id": ")") + kAuditedItem + "\"}";
  EXPECT_EQ(As("ADMIN", kAuditSecret, {"item", "put", "Cats", item}).exit_code, 0);
  EXPECT_NE(As("READER", kAuditSecret, {"item", "put", "Cats", item}).exit_code, 0);
  EXPECT_NE(As("READER", "some other secret", {"table", "list"}).exit_code, 0);
  EXPECT_NE(As("STRANGER", kAuditSecret, {"table", "list"}).exit_code, 0);
  EXPECT_THAT(Post("PutItem", item).body, HasSubstr("UnrecognizedClientException"));
  // What keeps changes, or gives them up, is told although every reader may do it; not that it does so still.
  absl::StatusOr<Client> holder = Client::Open(
      {.endpoint = daemon_.endpoint(), .access_key_id = "READER", .secret_access_key = kAuditSecret});
  ASSERT_TRUE(holder.ok()) << holder.status();
  for (const uint64_t after : {2, 2, 2, 1}) {
    const auto held = holder->HoldChanges({.name = "holder", .after_sequence = after});
    EXPECT_TRUE(held.ok()) << held.status();
  }
  EXPECT_EQ(As("READER", kAuditSecret, {"change-holds", "release", "mover", "--yes"}).exit_code, 1);
  const std::string status = As("READER", kAuditSecret, {"status", "-o", "json"}).out;
  ASSERT_EQ(daemon_.Terminate(), 0);

  EXPECT_THAT(Calls(),
              ::testing::ElementsAre("call ADMIN itemdb.v1.Tables/CreateTable Cats OK",
                                     "refused READER itemdb.v1.Data/PutItem - PERMISSION_DENIED",
                                     "refused READER itemdb.v1.Tables/ListTables - UNAUTHENTICATED",
                                     "refused STRANGER itemdb.v1.Tables/ListTables - UNAUTHENTICATED",
                                     "refused any http/PutItem - UNAUTHENTICATED",
                                     "call READER itemdb.v1.Changes/HoldChanges - OK",
                                     "call READER itemdb.v1.Changes/HoldChanges - OK",
                                     "call READER itemdb.v1.Changes/ReleaseChanges - FAILED_PRECONDITION"));
  const Json refused = Json::parse(status)["refused_calls"];
  EXPECT_EQ(refused["unauthenticated"], 3);
  EXPECT_EQ(refused["permission_denied"], 1);
  EXPECT_EQ(Json::parse(status)["audit_log"]["lost"], 0);
  EXPECT_THAT(daemon_.log(), HasSubstr("call refused method=itemdb.v1.Data/PutItem peer=ipv4:127.0.0.1:"));
  EXPECT_THAT(daemon_.log(), HasSubstr("key_id=READER code=PERMISSION_DENIED"));
  for (const std::string& text : {testing::ReadFile(log_), daemon_.log()}) {
    EXPECT_THAT(text, Not(HasSubstr(kAuditedItem)));
    EXPECT_THAT(text, Not(HasSubstr(kAuditSecret)));
  }
  EXPECT_EQ(Verify({log_}).exit_code, 0);
}

TEST_F(AuditTest, RecordsEveryCallOfBothProtocolsIfAsked) {
  Start({"--audit-calls", "all"});
  EXPECT_EQ(Post("CreateTable", kCreateCats).status, 200);
  EXPECT_EQ(
      Post("PutItem", std::string(R"({"TableName": "Cats", "Item": {"id": {"S": ")") + kAuditedItem + "\"}}}")
          .status,
      200);
  EXPECT_EQ(Post("GetItem", R"({"TableName": "Dogs", "Key": {"id": {"S": "a"}}})").status, 400);
  EXPECT_EQ(Itemctl({"item", "get", "Cats", std::string(R"({"id": ")") + kAuditedItem + "\"}"}).exit_code, 0);
  ASSERT_EQ(daemon_.Terminate(), 0);
  const std::vector<std::string> calls = Calls();
  EXPECT_THAT(calls, ::testing::IsSupersetOf(
                         {"call - http/CreateTable Cats OK", "call - http/PutItem Cats OK",
                          "call - http/GetItem Dogs NOT_FOUND", "call - itemdb.v1.Data/GetItem Cats OK"}));
  EXPECT_THAT(testing::ReadFile(log_), Not(HasSubstr(kAuditedItem)));
  EXPECT_EQ(Verify({log_}).exit_code, 0);
}

TEST_F(AuditTest, TheChainGoesOnAfterAKillAndInARotatedFile) {
  StartWithKeys();
  As("STRANGER", kAuditSecret, {"table", "list"});
  ASSERT_TRUE(testing::Await([&] { return Calls().size() == 1; }));
  daemon_.Kill();
  StartWithKeys();
  As("STRANGER", kAuditSecret, {"table", "list"});
  ASSERT_TRUE(testing::Await([&] { return Calls().size() == 2; }));
  const std::string old = log_ + ".1";
  std::filesystem::rename(log_, old);
  daemon_.Signal(SIGHUP);
  ASSERT_TRUE(
      testing::Await([&] { return std::filesystem::exists(log_) && !testing::ReadFile(log_).empty(); }));
  As("STRANGER", kAuditSecret, {"table", "list"});
  ASSERT_EQ(daemon_.Terminate(), 0);
  EXPECT_EQ(Calls().size(), 1u);
  EXPECT_THAT(daemon_.log(), HasSubstr("audit log reopened"));

  EXPECT_EQ(Verify({old}).exit_code, 0);
  EXPECT_THAT(Verify({old, log_}).out, StartsWith("7 records, each follows the one before\n"));
  EXPECT_THAT(Verify({log_}).out, HasSubstr("the first follows a record of an earlier file"));
  const CommandResult wrong_order = Verify({log_, old});
  EXPECT_EQ(wrong_order.exit_code, 7);
  EXPECT_THAT(wrong_order.err, HasSubstr(old + ": line 1: records before it were removed"));
}

TEST_F(AuditTest, VerifyNamesTheFirstLineThatIsWrong) {
  StartWithKeys();
  for (int i = 0; i < 3; ++i) As("STRANGER", kAuditSecret, {"table", "list"});
  ASSERT_EQ(daemon_.Terminate(), 0);
  const std::string whole = testing::ReadFile(log_);
  std::vector<std::string> lines;
  std::istringstream in(whole);
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  ASSERT_EQ(lines.size(), 5u);
  const auto verify = [&](const std::vector<std::string>& changed) {
    std::string text;
    for (const std::string& line : changed) text += line;
    testing::WriteFile(log_, text);
    return Verify({log_});
  };
  EXPECT_EQ(verify(lines).exit_code, 0);
  // Every changed byte of every line is found.
  for (size_t line = 0; line < lines.size(); ++line) {
    for (size_t at : {size_t{2}, size_t{40}, lines[line].size() - 80, lines[line].size() - 10}) {
      std::vector<std::string> changed = lines;
      changed[line][at] ^= 1;
      const CommandResult result = verify(changed);
      EXPECT_EQ(result.exit_code, 7) << line << " " << at;
      EXPECT_THAT(result.err, HasSubstr(log_ + ": line " + std::to_string(line + 1) + ":")) << at;
    }
  }
  EXPECT_THAT(verify({lines[0], lines[2], lines[3]}).err,
              HasSubstr("line 2: records before it were removed"));
  EXPECT_THAT(verify({lines[0], lines[2], lines[1]}).err, HasSubstr("line 2: "));
  EXPECT_THAT(verify({lines[0], lines[1].substr(0, 30)}).err, HasSubstr("line 2: its end is missing"));
  EXPECT_EQ(verify({}).exit_code, 0);
  EXPECT_EQ(Verify({log_ + ".none"}).exit_code, 2);
}

}  // namespace
}  // namespace itemdb::e2e
