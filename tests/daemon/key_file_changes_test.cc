// `itemd keys add|rotate|remove`.
#include "daemon/access/key_file_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "daemon/access/access_keys.h"
#include "daemon/config/options.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::daemon {
namespace {

using Kind = KeyFileChange::Kind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class KeyFileChanges : public ::testing::Test {
 protected:
  std::string Succeed(const KeyFileChange& change) {
    const absl::StatusOr<std::string> secret = ChangeKeyFile(path_, change);
    EXPECT_TRUE(secret.ok()) << secret.status();
    return secret.value_or("");
  }
  std::string Fail(const KeyFileChange& change) {
    const std::string before = Content();
    const absl::StatusOr<std::string> secret = ChangeKeyFile(path_, change);
    EXPECT_FALSE(secret.ok());
    EXPECT_EQ(Content(), before) << "a refused change changes nothing";
    EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
    return std::string(secret.status().message());
  }
  std::string Content() const { return std::filesystem::exists(path_) ? testing::ReadFile(path_) : ""; }
  mode_t Mode() const {
    struct stat info = {};
    return stat(path_.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
  }

  testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/keys.toml";
};

TEST_F(KeyFileChanges, TheFirstKeyMakesTheFile) {
  const std::string secret = Succeed({.kind = Kind::kAdd, .id = "AKONE", .role = "admin"});
  EXPECT_EQ(secret.size(), 43u) << "256 bits";
  EXPECT_EQ(Mode(), 0600u);
  EXPECT_EQ(Content(), "[[key]]\nid = \"AKONE\"\nsecret = \"" + secret + "\"\nrole = \"admin\"\n");
  EXPECT_NE(Succeed({.kind = Kind::kAdd, .id = "AKTWO", .role = "read"}), secret);
  EXPECT_TRUE(AccessKeys::Read(path_).ok());
}

TEST_F(KeyFileChanges, OtherLinesStayAsTheyAre) {
  const std::string text =
      "# all keys\n[[key]]\nid = \"AKONE\"\nsecret = \"one secret that is long\"  # from Ann\nrole = "
      "\"write\"\n"
      "[[key.tables]]\nnames = [\"Order\"]\nstreams = true\n\n# the other\n[[key]]\nrole = \"read\"\n"
      "secret = 'two secrets that are long'\nid = \"AKTWO\"\n";
  testing::WriteFile(path_, text);
  ASSERT_EQ(chmod(path_.c_str(), 0400), 0);
  const std::string secret = Succeed({.kind = Kind::kRotate, .id = "AKONE"});
  std::string expected = text;
  expected.replace(expected.find("one secret that is long"), 23, secret);
  EXPECT_EQ(Content(), expected);
  EXPECT_EQ(Mode(), 0400u) << "the mode is kept";
  Succeed({.kind = Kind::kRotate, .id = "AKTWO"});
  EXPECT_THAT(Content(), AllOf(Not(HasSubstr("two secrets")), HasSubstr("# the other"), HasSubstr(secret)));
  Succeed({.kind = Kind::kRemove, .id = "AKONE"});
  EXPECT_THAT(Content(), AllOf(HasSubstr("# all keys"), Not(HasSubstr("AKONE")), Not(HasSubstr("Order")),
                               HasSubstr("AKTWO")));
}

TEST_F(KeyFileChanges, ARemovedKeyTakesItsOwnCommentsOnly) {
  const auto key = [](const std::string& id) {
    return "[[key]]\nid = \"" + id + "\"\nsecret = \"a secret that is long\"\nrole = \"read\"\n";
  };
  const std::string one = "# Keys of the shop.\n# Ask Ann.\n" + key("AKONE");
  const std::string two = "# For the importer,\n# which Bob runs.\n" + key("AKTWO") + "# until May\n";
  const std::string three = "# For reports.\n" + key("AKTHREE");
  const std::string four = "# Right behind it.\n" + key("AKFOUR");
  const std::string end = "\n# The end.\n";
  testing::WriteFile(path_, one + "\n" + two + "\n# Others.\n\n" + three + four + end);
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  Succeed({.kind = Kind::kRemove, .id = "AKTWO"});
  EXPECT_EQ(Content(), one + "\n# Others.\n\n" + three + four + end);
  Succeed({.kind = Kind::kRemove, .id = "AKTHREE"});
  EXPECT_EQ(Content(), one + "\n# Others.\n\n" + four + end);
  Succeed({.kind = Kind::kRemove, .id = "AKONE"});
  EXPECT_EQ(Content(), "# Keys of the shop.\n# Ask Ann.\n\n# Others.\n\n" + four + end);
  Succeed({.kind = Kind::kAdd, .id = "AKFIVE", .role = "read"});
  Succeed({.kind = Kind::kRemove, .id = "AKFOUR"});
  EXPECT_THAT(Content(), AllOf(HasSubstr("# The end."), HasSubstr("# Others."), HasSubstr("AKFIVE"),
                               Not(HasSubstr("# Right behind"))));
}

TEST_F(KeyFileChanges, SaysWhatIsWrong) {
  EXPECT_THAT(Fail({.kind = Kind::kRotate, .id = "AKONE"}), HasSubstr(path_));
  EXPECT_THAT(Fail({.kind = Kind::kAdd, .id = "a b", .role = "read"}), HasSubstr("\"a b\" is not allowed"));
  EXPECT_THAT(Fail({.kind = Kind::kAdd, .id = "AKONE", .role = "root"}),
              HasSubstr("metrics, read, write or admin"));
  Succeed({.kind = Kind::kAdd, .id = "AKONE", .role = "read"});
  EXPECT_THAT(Fail({.kind = Kind::kAdd, .id = "AKONE", .role = "read"}),
              HasSubstr("already: itemd keys rotate"));
  EXPECT_THAT(Fail({.kind = Kind::kRemove, .id = "AKTWO"}), HasSubstr("has no key \"AKTWO\""));
  EXPECT_THAT(Fail({.kind = Kind::kRemove, .id = "AKONE"}), HasSubstr("the last key"));
  testing::WriteFile(path_,
                     "key = [{id = \"AKONE\", secret = \"a secret that is long\", role = \"read\"}]\n");
  EXPECT_THAT(Fail({.kind = Kind::kRotate, .id = "AKONE"}), HasSubstr("change it with an editor"));
  testing::WriteFile(path_, "[[key]]\nid = 7\n");
  EXPECT_THAT(Fail({.kind = Kind::kAdd, .id = "AKTWO", .role = "read"}), HasSubstr("needs an id"));
}

// The command line: the file is that of --access-keys.
TEST_F(KeyFileChanges, AreMadeByTheCommandLine) {
  const auto parse = [](std::vector<const char*> argv) {
    argv.insert(argv.begin(), "itemd");
    return ParseOptions(static_cast<int>(argv.size()), argv.data(), {.environment = {}});
  };
  ParsedOptions added = parse({"keys", "add", "AKONE", "admin", "--access-keys", path_.c_str()});
  EXPECT_EQ(added.exit_code, 0) << added.text;
  EXPECT_FALSE(added.options.has_value()) << "nothing is served";
  EXPECT_THAT(added.text, AllOf(HasSubstr("access key id      AKONE\n"), HasSubstr("secret access key  ")));
  EXPECT_EQ(parse({"keys", "add", "AKTWO", "read", "--access-keys", path_.c_str()}).exit_code, 0);
  EXPECT_EQ(parse({"--access-keys", path_.c_str(), "keys", "rotate", "AKONE"}).exit_code, 0);
  const ParsedOptions removed = parse({"keys", "remove", "AKTWO", "--access-keys", path_.c_str()});
  EXPECT_EQ(removed.text, "removed AKTWO from " + path_ + "\n");
  EXPECT_EQ(parse({"keys", "remove", "AKTHREE", "--access-keys", path_.c_str()}).exit_code, 64);
  const ParsedOptions nowhere = parse({"keys", "add", "AKONE", "admin"});
  EXPECT_EQ(nowhere.exit_code, 64);
  EXPECT_THAT(nowhere.text, HasSubstr("--access-keys"));
  EXPECT_EQ(parse({"keys"}).exit_code, 64);
}

}  // namespace
}  // namespace itemdb::daemon
