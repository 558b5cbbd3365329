// Profiles, and the variables that begin with ITEMDB_.
#include "tools/cli/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Profiles : public ItemctlTest {
 protected:
  Profiles() {
    unsetenv("ITEMDB_ENDPOINT");
    unsetenv("ITEMCTL_ENDPOINT");
    setenv("ITEMDB_PROFILES", path_.c_str(), 1);
    daemon_.list_tables = [](const auto&, v1::ListTablesReply* reply) {
      reply->add_table_names("here");
      return grpc::Status::OK;
    };
  }
  ~Profiles() override {
    for (const char* name : {"ITEMDB_PROFILES", "ITEMDB_PROFILE", "ITEMDB_ENDPOINT", "ITEMCTL_ENDPOINT"})
      unsetenv(name);
  }

  void Write(const std::string& text) { testing::WriteFile(path_, text); }
  std::string EndpointLine() const { return "endpoint = \"" + daemon_.endpoint() + "\"\n"; }

  const testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/profiles.toml";
};

TEST_F(Profiles, GiveOptionsThatAreNotGiven) {
  Write("[default]\nendpoint = \"127.0.0.1:1\"\n[other]\n" + EndpointLine() +
        "output = \"json\"\ntimeout = 5\n");
  EXPECT_EQ(RunTool({"--profile", "other", "table", "list"}).out, "{\n  \"TableNames\": [\"here\"]\n}\n");
  setenv("ITEMDB_PROFILE", "other", 1);
  EXPECT_EQ(RunTool({"table", "list", "-o", "jsonl"}).out, "{\"TableName\": \"here\"}\n") << "an option wins";
  EXPECT_EQ(RunTool({"table", "list", "--profile", "default", "--timeout", "0.2"}).exit_code, 5);
  setenv("ITEMDB_ENDPOINT", "127.0.0.1:1", 1);
  EXPECT_EQ(RunTool({"table", "list", "--timeout", "0.2"}).exit_code, 5)
      << "a variable wins over a profile that a variable names";
  EXPECT_EQ(RunTool({"--profile", "other", "table", "list", "-o", "jsonl"}).out,
            "{\"TableName\": \"here\"}\n")
      << "the option --profile wins over a variable";
  EXPECT_EQ(RunTool({"--profile", "other", "--endpoint", "127.0.0.1:1", "table", "list", "--timeout", "0.2"})
                .exit_code,
            5)
      << "an option beside it wins";
  EXPECT_THAT(RunTool({"--profile", "other", "-c", "table list"}).out, HasSubstr("here"));
}

TEST_F(Profiles, TheDefaultNeedsNoName) {
  Write("[default]\n" + EndpointLine());
  EXPECT_EQ(RunTool({"table", "list"}).out, "{\"TableName\": \"here\"}\n");
  // The shell reads the profile once, and its statements have it.
  EXPECT_EQ(RunTool({"shell"}, "table list\n\\o json\ntable list\n").out,
            "{\"TableName\": \"here\"}\n{\n  \"TableNames\": [\"here\"]\n}\n");
}

TEST_F(Profiles, SayWhatIsWrong) {
  EXPECT_EQ(RunTool({"help", "scan"}).exit_code, 0) << "no file, no profile";
  Outcome outcome = RunTool({"--profile", "x", "table", "list"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(path_), HasSubstr("No such file")));
  Write("[production]\nendpiont = \"h:1\"\n[bad]\noutput = \"xml\"\n");
  outcome = RunTool({"--profile", "produktion", "table", "list"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("no profile produktion"), HasSubstr("did you mean \"production\"")));
  outcome = RunTool({"--profile", "production", "table", "list"});
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("unknown key endpiont"), HasSubstr("did you mean \"endpoint\"")));
  outcome = RunTool({"--profile", "bad", "table", "list"});
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("profile bad"), HasSubstr("xml")));
}

TEST_F(Profiles, VariablesHaveOnePrefixAndOldOnesWork) {
  setenv("ITEMCTL_ENDPOINT", daemon_.endpoint().c_str(), 1);
  EXPECT_EQ(RunTool({"table", "list"}).out, "{\"TableName\": \"here\"}\n");
  setenv("ITEMDB_ENDPOINT", "127.0.0.1:1", 1);
  EXPECT_EQ(RunTool({"table", "list", "--timeout", "0.2"}).exit_code, 5) << "the new one wins";
}

}  // namespace
}  // namespace itemdb::tools
