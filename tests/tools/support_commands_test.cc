#include "tools/commands/support_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/processes/child_process.h"
#include "tests/support/files.h"
#include "tests/tools/real_daemon.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(WithoutSecrets, StrikesOutWhatMustStay) {
  const struct {
    const char* text;
    const char* struck;
  } rows[] = {
      {"secret = \"hunter2hunter2\"\n", "secret = (struck out)\n"},
      {"aws_secret_access_key = abc/def+1\nregion=x", "aws_secret_access_key = (struck out)\nregion=x"},
      {"{\"SecretAccessKey\": \"abc\"}", "{\"SecretAccessKey\": (struck out)}"},
      {"authorization: Basic QUtYOnNlY3JldHNlY3JldA== x", "authorization: (struck out) x"},
      {"--s3-endpoint https://ann:pass@host/", "--s3-endpoint https://ann:(struck out)@host/"},
      {"damaged record owner=\"T\" key=00ff12ab error=\"x\"",
       "damaged record owner=\"T\" key=(struck out) error=\"x\""},
      {"access-keys = \"/etc/itemdb/keys.toml\"", "access-keys = \"/etc/itemdb/keys.toml\""},
      {"key=short", "key=short"},
  };
  for (const auto& row : rows) EXPECT_EQ(WithoutSecrets(row.text), row.struck);
}

TEST(SupportBundle, HasTheDaemonsAnswersAndNoItems) {
  const RealDaemon daemon;
  const std::string directory = daemon.directory();
  testing::WriteFile(directory + "/itemd.toml", "data-dir = '/x'\npassword = 'hunter2'\n");
  testing::WriteFile(directory + "/itemd.log", "one line\nsecret=hunter2 another\n");
  const std::string file = directory + "/help.tar.gz";
  const Outcome outcome = daemon.Call({"support-bundle", file, "--config", directory + "/itemd.toml", "--log",
                                       directory + "/itemd.log", "-o", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  struct stat status = {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const e2e::CommandResult text = e2e::RunProgram("/usr/bin/env", {"tar", "-xzOf", file});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("\"database_id\""), HasSubstr("OrderByCustomerDate"), HasSubstr("one line"),
                    HasSubstr("data-dir = '/x'"), HasSubstr("TransactWriteItems")));
  EXPECT_THAT(text.out, HasSubstr("metrics.txt: the address of --metrics-listen is not known"));
  EXPECT_THAT(text.out,
              AllOf(Not(HasSubstr("hunter2")), Not(HasSubstr("Acme Corp")), Not(HasSubstr("cust_001"))));
}

TEST(SupportBundle, NeedsNoDaemon) {
  const testing::TemporaryDirectory directory;
  const std::string file = directory.path() + "/help.tar.gz";
  const Outcome outcome = RunTool({"--endpoint", "127.0.0.1:1", "--timeout", "0.5", "support-bundle", file,
                                   "--config", "/nonexistent", "--log", "/nonexistent"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const e2e::CommandResult text = e2e::RunProgram("/usr/bin/env", {"tar", "-xzOf", file});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("status.json: "), HasSubstr("config.toml: "), HasSubstr("log.txt: ")));
}

}  // namespace
}  // namespace itemdb::tools
