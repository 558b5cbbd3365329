// Valid and invalid key files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "daemon/access/access_keys.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::http {
namespace {

using ::testing::HasSubstr;

class AccessKeyFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::shared_ptr<const daemon::AccessKeys>> Read(const std::string& text,
                                                                 mode_t mode = 0600) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
    return daemon::AccessKeys::Read(path_);
  }

  testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/keys.toml";
};

constexpr char kGood[] = R"([[key]]
id = "AKORDERS"
secret = "sixteen bytes ok"
role = "write"

[[key]]
id = "reader-1.of_many"
secret = "another secret of some length"
role = "read"
)";

TEST_F(AccessKeyFileTest, HoldsKeys) {
  for (mode_t mode : {0600, 0400}) {
    auto keys = Read(kGood, mode);
    ASSERT_TRUE(keys.ok()) << keys.status();
    EXPECT_EQ((*keys)->size(), 2u);
  }
}

TEST_F(AccessKeyFileTest, HoldsRolesForSomeTables) {
  auto keys = Read(std::string(kGood) + R"(
[[key.tables]]
names = ["Order", "Invoice*"]
role = "write"
[[key.tables]]
names = ["Invoice-2026"]
streams = true

[[key]]
id = "AKREPORTS"
secret = "a third secret of some length"
[[key.tables]]
names = ["Order"]
role = "admin"
streams = false
)");
  ASSERT_TRUE(keys.ok()) << keys.status();
  const daemon::AccessKey* reader = (*keys)->Find("reader-1.of_many");
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->role, daemon::Role::kRead);
  EXPECT_EQ(reader->grants.RoleOf("Order"), daemon::Role::kWrite);
  EXPECT_EQ(reader->grants.RoleOf("Invoice-2026"), daemon::Role::kWrite);
  EXPECT_TRUE(reader->grants.MayReadStreams("Invoice-2026"));
  EXPECT_FALSE(reader->grants.MayReadStreams("Invoice-2025"));
  const daemon::AccessKey* reports = (*keys)->Find("AKREPORTS");
  ASSERT_NE(reports, nullptr);
  EXPECT_EQ(reports->role, daemon::Role::kNone);
  EXPECT_EQ(reports->grants.RoleOf("Order"), daemon::Role::kAdmin);
  EXPECT_EQ((*keys)->Find("AKORDERS")->grants, daemon::TableGrants());
  // The daemon takes a file for changed when its keys are not equal.
  const auto again = daemon::AccessKeys::Read(path_);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(**again, **keys);
}

TEST_F(AccessKeyFileTest, IsRefusedWhenItIsNotOneWithoutTellingSecrets) {
  struct Case {
    std::string text;
    std::string says;
  };
  const std::string key = "[[key]]\nid = \"AK1\"\n";
  const std::string grant = key + "secret = \"hidden hidden hidden\"\n[[key.tables]]\n";
  const Case cases[] = {
      {"", "has no key"},
      {"key = []", "has no key"},
      {"key = 1", "has no key"},
      {"key = [1]", "[[key]]"},
      {"[[key", "is not TOML"},
      // An unquoted value may be a secret too, so the error must not quote it.
      {"[[key]]\nid = \"AK\"\nsecret = hidden", "3: this is not TOML"},
      {"[[keys]]\nid = \"A\"", "this name is unknown"},
      {"[[key]]\nsecret = \"hidden hidden hidden\"\nrole = \"read\"", "needs an id"},
      {"[[key]]\nid = \"a b\"\nsecret = \"hidden hidden hidden\"\nrole = \"read\"", "needs an id"},
      {key + "role = \"read\"", "the key \"AK1\" needs a secret of at least 16 bytes"},
      {key + "secret = \"hidden\"\nrole = \"read\"", "at least 16 bytes"},
      {key + "secret = \"hidden hidden hidden\"", "needs a role: metrics, read, write or admin"},
      {key + "secret = \"hidden hidden hidden\"\nrole = \"root\"",
       "needs a role: metrics, read, write or admin"},
      {key + "secret = \"hidden hidden hidden\"\nrole = \"read\"\ncolour = 1", "this member is unknown"},
      {key + "secret = \"hidden hidden hidden\"\ntables = 1", "4: tables of a key are written as tables"},
      {key + "secret = \"hidden hidden hidden\"\ntables = []", "4: tables of a key are written as tables"},
      {key + "secret = \"hidden hidden hidden\"\ntables = [\"Order\"]", "4: tables of a key are written"},
      {grant + "role = \"read\"", "4: [[key.tables]] needs names"},
      {grant + "names = []\nrole = \"read\"", "5: [[key.tables]] needs names"},
      {grant + "names = \"Order\"\nrole = \"read\"", "5: [[key.tables]] needs names"},
      {grant + "names = [\"Order\", \"\"]\nrole = \"read\"", "5: a name in names is a table name (3 to 255"},
      {grant + "names = [\"Order\",\n \"ab\"]\nrole = \"read\"", "6: a name in names is a table name"},
      {grant + "names = [\"Or*der\"]\nrole = \"read\"", "the beginning of one followed by *"},
      {grant + "names = [\"*Order\"]\nrole = \"read\"", "the beginning of one followed by *"},
      {grant + "names = [\"Order**\"]\nrole = \"read\"", "the beginning of one followed by *"},
      {grant + "names = [\"arn:aws:dynamodb:local:0:table/Order\"]\nrole = \"read\"", "a name in names"},
      {grant + "names = [\"" + std::string(256, 'a') + "\"]\nrole = \"read\"", "a name in names"},
      {grant + "names = [1]\nrole = \"read\"", "5: a name in names"},
      {grant + "names = [\"Order\"]",
       "4: [[key.tables]] needs a role (read, write or admin), streams = true"},
      {grant + "names = [\"Order\"]\nstreams = false", "needs a role (read, write or admin), streams = true"},
      {grant + "names = [\"Order\"]\nrole = \"none\"",
       "6: the role of [[key.tables]] is read, write or admin"},
      {grant + "names = [\"Order\"]\nrole = 1", "6: the role of [[key.tables]] is read, write or admin"},
      {grant + "names = [\"Order\"]\nrole = \"read\"\nstreams = \"yes\"", "7: streams is true or false"},
      {grant + "names = [\"Order\"]\nrole = \"read\"\nstream = true",
       "7: this member is unknown: [[key.tables]]"},
      {key + "secret = \"hidden hidden hidden\"\nrole = \"root\"\n[[key.tables]]\nnames = [\"Order\"]\n"
             "role = \"read\"",
       "needs a role: metrics, read, write or admin"},
      {std::string(kGood) + kGood, "the key id \"AKORDERS\" is there twice"},
  };
  for (const Case& c : cases) {
    auto keys = Read(c.text);
    ASSERT_FALSE(keys.ok()) << c.text;
    EXPECT_TRUE(absl::IsInvalidArgument(keys.status()));
    EXPECT_THAT(storage::MessageOf(keys.status()), HasSubstr(c.says)) << c.text;
    EXPECT_THAT(storage::MessageOf(keys.status()), HasSubstr(path_)) << c.text;
    EXPECT_THAT(storage::MessageOf(keys.status()), ::testing::Not(HasSubstr("hidden"))) << c.text;
  }
}

TEST_F(AccessKeyFileTest, IsRefusedWhenOtherUsersMayUseIt) {
  struct Case {
    mode_t mode;
    std::string says;
  };
  for (const Case& c : {Case{0644, "everybody on this machine may use it (mode 0644): chmod 0600 "},
                        Case{0604, "everybody on this machine may use it (mode 0604): chmod 0600 "},
                        Case{0640, "the members of its group may use it (mode 0640): chmod 0600 "},
                        Case{0620, "the members of its group may use it (mode 0620): chmod 0600 "}}) {
    auto keys = Read(kGood, c.mode);
    ASSERT_FALSE(keys.ok());
    EXPECT_TRUE(absl::IsInvalidArgument(keys.status()));
    EXPECT_THAT(storage::MessageOf(keys.status()), HasSubstr(c.says + path_));
  }
  EXPECT_TRUE(absl::IsUnavailable(daemon::AccessKeys::Read(directory_.path() + "/none").status()));
}

// A symbolic link has the mode 0777, and the file that was checked must be the file that is read.
TEST_F(AccessKeyFileTest, IsJudgedByTheFileThatALinkNames) {
  const std::string link = directory_.path() + "/link.toml";
  ASSERT_EQ(symlink(path_.c_str(), link.c_str()), 0);
  ASSERT_TRUE(Read(kGood, 0600).ok());
  EXPECT_TRUE(daemon::AccessKeys::Read(link).ok());
  ASSERT_FALSE(Read(kGood, 0640).ok());
  EXPECT_FALSE(daemon::AccessKeys::Read(link).ok());
}

// How an administrator gives a file to a service that runs as another user: it belongs to root, and the group
// of the service may read it.
TEST_F(AccessKeyFileTest, OfRootMayBeReadByTheGroupOfTheService) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  constexpr uid_t kService = 65534;
  ASSERT_FALSE(Read(kGood, 0640).ok()) << "this process is root itself";
  ASSERT_EQ(chmod(directory_.path().c_str(), 0711), 0);
  ASSERT_EQ(chown(path_.c_str(), 0, kService), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0640), 0);
  ASSERT_EQ(setegid(kService), 0);
  ASSERT_EQ(seteuid(kService), 0);
  const absl::Status readable = daemon::AccessKeys::Read(path_).status();
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0660), 0);
  ASSERT_EQ(seteuid(kService), 0);
  const absl::Status writable = daemon::AccessKeys::Read(path_).status();
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_EQ(setegid(0), 0);
  EXPECT_TRUE(readable.ok()) << readable;
  EXPECT_THAT(storage::MessageOf(writable), HasSubstr("chmod 0640"));
}

}  // namespace
}  // namespace itemdb::http
