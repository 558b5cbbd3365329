// itemctl with access keys and the real daemon: the sources of the secret, and the message of a refusal
// (ERR-17).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSecret[] = "hidden hidden hidden";

class ItemctlAccessKey : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("keys.toml",
          "[[key]]\nid = \"READER\"\nsecret = \"hidden hidden hidden\"\nrole = \"read\"\n"
          "[[key]]\nid = \"ADMIN\"\nsecret = \"hidden hidden hidden\"\nrole = \"admin\"\n");
    Write("secret", std::string(kSecret) + "\n");
    Write("wrong", "some other secret\n");
    Write("empty", "\n");
    const absl::Status started = daemon_.Start({"--access-keys", Path("keys.toml")});
    ASSERT_TRUE(started.ok()) << started;
  }
  void TearDown() override {
    unsetenv("ITEMDB_ACCESS_KEY_ID");
    unsetenv("ITEMDB_SECRET_ACCESS_KEY");
    EXPECT_THAT(daemon_.log(), Not(HasSubstr("hidden")));
  }

  void Write(const std::string& name, const std::string& content) {
    std::ofstream(Path(name)) << content;
    chmod(Path(name).c_str(), 0600);
  }
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }

  Outcome Call(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.endpoint()});
    Outcome outcome = RunTool(std::move(arguments));
    EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("hidden")));
    return outcome;
  }

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
};

TEST_F(ItemctlAccessKey, TheSecretComesFromAFileOrTheEnvironment) {
  const Outcome file =
      Call({"table", "list", "--access-key-id", "READER", "--secret-access-key-file", Path("secret")});
  EXPECT_EQ(file.exit_code, 0) << file.err;
  setenv("ITEMDB_SECRET_ACCESS_KEY", kSecret, 1);
  EXPECT_EQ(Call({"table", "list", "--access-key-id", "READER"}).exit_code, 0);
  setenv("ITEMDB_ACCESS_KEY_ID", "READER", 1);
  EXPECT_EQ(Call({"table", "list"}).exit_code, 0);
  // The file has precedence over the environment variable.
  const Outcome wrong = Call({"table", "list", "--secret-access-key-file", Path("wrong")});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("the daemon does not accept the access key READER"));
}

TEST_F(ItemctlAccessKey, ARefusalSaysWhatToGive) {
  const Outcome none = Call({"table", "list"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err,
              HasSubstr("the daemon asks for an access key: give --access-key-id, and its secret in "
                        "ITEMDB_SECRET_ACCESS_KEY or --secret-access-key-file"));
  const Outcome json = Call({"-o", "json", "table", "list"});
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_THAT(json.err, HasSubstr("\"reason\": \"UNAUTHENTICATED\""));
  const Outcome role = Call({"item", "put", "Things", R"({"id": "a"})", "--access-key-id", "READER",
                             "--secret-access-key-file", Path("secret")});
  EXPECT_EQ(role.exit_code, 1);
  EXPECT_THAT(role.err, HasSubstr("its role is read and this takes write"));
}

TEST_F(ItemctlAccessKey, AKeyThatIsNotWholeIsAMistakeOfTheCommandLine) {
  const Outcome no_secret = Call({"table", "list", "--access-key-id", "READER"});
  EXPECT_EQ(no_secret.exit_code, 2);
  EXPECT_THAT(no_secret.err, HasSubstr("set ITEMDB_SECRET_ACCESS_KEY"));
  const Outcome no_id = Call({"table", "list", "--secret-access-key-file", Path("secret")});
  EXPECT_EQ(no_id.exit_code, 2);
  EXPECT_THAT(no_id.err, HasSubstr("ITEMDB_ACCESS_KEY_ID"));
  for (const char* name : {"none", "empty", "."}) {
    const Outcome bad =
        Call({"table", "list", "--access-key-id", "READER", "--secret-access-key-file", Path(name)});
    EXPECT_EQ(bad.exit_code, 2) << name;
    EXPECT_THAT(bad.err, HasSubstr(Path(name)));
  }
}

}  // namespace
}  // namespace itemdb::tools
