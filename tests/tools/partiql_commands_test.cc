#include "tools/commands/partiql_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/itemctl_fixture.h"
#include "tests/tools/real_daemon.h"

namespace itemdb::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using PartiqlCommands = ItemctlTest;

TEST_F(PartiqlCommands, ReadsAllPages) {
  std::vector<v1::ExecuteStatementRequest> seen;
  daemon_.execute_statement = [&seen](const v1::ExecuteStatementRequest& request,
                                      v1::ExecuteStatementReply* reply) {
    seen.push_back(request);
    *reply->add_items() = ItemWithId("item" + std::to_string(seen.size()));
    if (seen.size() < 3) reply->set_next_token("token" + std::to_string(seen.size()));
    return grpc::Status::OK;
  };
  const Outcome outcome =
      Call({"partiql", "SELECT * FROM Order WHERE a = ? AND b = ?;", "1", R"({"B": "eA=="})"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "{\"id\": \"item1\"}\n{\"id\": \"item2\"}\n{\"id\": \"item3\"}\n");
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].statement(), "SELECT * FROM \"Order\" WHERE a = ? AND b = ?");
  EXPECT_EQ(seen[0].next_token(), "");
  EXPECT_EQ(seen[2].next_token(), "token2");
  ASSERT_EQ(seen[0].parameters_size(), 2);
  EXPECT_EQ(seen[0].parameters(0).n(), "1");
  EXPECT_EQ(seen[0].parameters(1).b(), "x");
}

TEST_F(PartiqlCommands, ReadsOnePageWithALimit) {
  daemon_.execute_statement = [](const v1::ExecuteStatementRequest& request,
                                 v1::ExecuteStatementReply* reply) {
    EXPECT_EQ(request.limit(), 1);
    EXPECT_EQ(request.next_token(), "before");
    *reply->add_items() = ItemWithId("a");
    reply->set_next_token("after");
    return grpc::Status::OK;
  };
  const Outcome outcome = Call({"partiql", "--limit", "1", "--next-token", "before", "SELECT * FROM T"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "NextToken: after\n");
}

TEST_F(PartiqlCommands, DividesParametersAmongStatements) {
  std::vector<int> parameters;
  daemon_.execute_statement = [&](const v1::ExecuteStatementRequest& request, v1::ExecuteStatementReply*) {
    parameters.push_back(request.parameters_size());
    return grpc::Status::OK;
  };
  const Outcome outcome =
      Call({"-o", "table", "partiql", "UPDATE T SET a = ? WHERE b = '?'; delete from T where b = ? and c = ?",
            "1", "2", "3"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "UPDATE done\nDELETE done\n");
  EXPECT_THAT(parameters, ElementsAre(1, 2));
}

TEST_F(PartiqlCommands, SaysWhatIsWrong) {
  const struct {
    std::vector<std::string> arguments;
    const char* says;
  } rows[] = {
      {{}, "as an argument"},
      {{"SELECT * FROM T", "-f", "x"}, "as an argument"},
      {{" ; "}, "there is no statement"},
      {{"SELECT * FROM T WHERE a = ?", "Bach"}, "the parameter Bach is not JSON"},
      {{"SELECT * FROM T WHERE a = ?", "1", "2"}, "2 parameters, but only 1 ?"},
      {{"SELECT * FROM T; SELECT * FROM U", "--limit", "1"}, "for a single SELECT"},
      {{"-f", "/nonexistent"}, "cannot read /nonexistent"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> arguments = {"partiql"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const Outcome outcome = Call(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(row.says));
  }
}

TEST_F(PartiqlCommands, AFalseConditionIsExitCode4) {
  daemon_.execute_statement = [](const auto&, v1::ExecuteStatementReply* reply) {
    reply->mutable_condition_failed();
    return grpc::Status::OK;
  };
  EXPECT_EQ(Call({"partiql", "UPDATE T SET a = 1 WHERE b = 1"}).exit_code, 4);
}

// With the real daemon: a table whose name is a keyword, -c, the shell, transactions.
// The service's text is for its own protocol; itemctl says what it has instead.
TEST(PartiqlWithADaemon, SaysWhatItHasInsteadOfLimitAndCount) {
  const RealDaemon daemon;
  EXPECT_THAT(daemon.Call({"partiql", "SELECT * FROM music LIMIT 3"}).err,
              HasSubstr("; write itemctl partiql --limit N with the statement without LIMIT\n"));
  EXPECT_THAT(daemon.Call({"partiql", "SELECT COUNT(*) FROM music"}).err,
              HasSubstr("; itemctl count music counts items\n"));
}

TEST(PartiqlWithADaemon, RunsInShellAndCommandLine) {
  const RealDaemon daemon;
  Outcome result = daemon.Call({"-c", "SELECT order_id FROM Order WHERE PK = 'ord_001' AND SK = 'ord_001'"});
  EXPECT_EQ(result.out, "{\"order_id\": \"ord_001\"}\n") << result.err;
  result = daemon.Call({"-c",
                        "INSERT INTO music VALUE {'artist': 'A', 'song': 'B'};\nSELECT song\nFROM music\n"
                        "WHERE artist = 'A'; item get music '{\"artist\": \"A\", \"song\": \"B\"}'"});
  EXPECT_EQ(result.out, "{\"song\": \"B\"}\n{\"artist\": \"A\", \"song\": \"B\"}\n") << result.err;
  result = daemon.Call({"partiql", "--transaction",
                        "EXISTS(SELECT * FROM music WHERE artist = 'A' AND song = 'B' AND plays = 1);"
                        "DELETE FROM music WHERE artist = 'Bach' AND song = 'Air'"});
  EXPECT_EQ(result.exit_code, 4) << result.err;
  result = daemon.Call({"partiql", "SELECT * FROM music WHERE artist = 'Bach'", "-o", "csv"});
  EXPECT_THAT(result.out, HasSubstr("Bach")) << "nothing was deleted";
  result = daemon.Call({"-c", "table list", "table", "list"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("a command or -c, not both"));
}

}  // namespace
}  // namespace itemdb::tools
