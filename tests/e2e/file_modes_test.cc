// Files that itemd creates are for its user only, whatever its umask is; others may read the address file.
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/e2e/e2e_fixture.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class FileModesTest : public E2eTest {
 protected:
  // Without a umask every file gets all permissions that its creator asks for.
  void SetUp() override {
    const mode_t before = umask(0);
    const absl::Status started = daemon_.Start({"--listen", "unix:" + socket_, "--socket-mode", "0666"});
    umask(before);
    ASSERT_TRUE(started.ok()) << started;
  }

  static unsigned Mode(const std::string& path) {
    struct stat info = {};
    return stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
  }

  void ExpectPrivateFiles() const {
    EXPECT_EQ(Mode(daemon_.data_directory()), 0700u);
    int files = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(daemon_.data_directory())) {
      EXPECT_EQ(Mode(entry.path()), entry.is_directory() ? 0700u : 0600u) << entry.path();
      ++files;
    }
    EXPECT_GT(files, 5);
  }

  const std::string socket_ = directory_.path() + "/itemd.sock";
};

TEST_F(FileModesTest, OnlyTheUserOfTheDaemonMayReadTheDatabase) {
  LoadOrderEntry();
  ExpectPrivateFiles();
  EXPECT_EQ(Mode(daemon_.address_file()), 0666u);
  EXPECT_EQ(Mode(socket_), 0666u);
  EXPECT_THAT(daemon_.log(), Not(HasSubstr("other users")));
  ASSERT_EQ(daemon_.Terminate(), 0);
  ExpectPrivateFiles();

  ASSERT_EQ(chmod(daemon_.data_directory().c_str(), 0750), 0);
  ASSERT_TRUE(daemon_.Start().ok());
  EXPECT_THAT(daemon_.log(), HasSubstr("other users may enter the data directory data_dir=" +
                                       daemon_.data_directory() + " mode=0750"));
}

TEST_F(FileModesTest, AUserWhoMayNotConnectIsToldWhoMay) {
  const auto status = [this] {
    const std::vector<std::string> arguments = {"--endpoint", "unix:" + socket_, "status"};
    const std::string itemctl = testing::ProgramPath("itemctl");
    if (geteuid() != 0) return RunProgram(itemctl, arguments);
    // Root without the right to pass over permissions.
    std::vector<std::string> without = {"--inh-caps=-dac_override,-dac_read_search",
                                        "--bounding-set=-dac_override,-dac_read_search", itemctl};
    without.insert(without.end(), arguments.begin(), arguments.end());
    return RunProgram("/usr/bin/setpriv", without);
  };
  ASSERT_EQ(status().exit_code, 0);
  const std::string group = getgrgid(getegid())->gr_name;

  ASSERT_EQ(chmod(socket_.c_str(), 0060), 0);
  CommandResult refused = status();
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_EQ(refused.err, "itemctl: no itemd answers at unix:" + socket_ +
                             ": this user may not connect to the socket, but members of the group " + group +
                             " may: sudo usermod -aG " + group + " \"$USER\", then sign in again\n");

  ASSERT_EQ(chmod(socket_.c_str(), 0), 0);
  refused = status();
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.err, HasSubstr("only the user " + std::string(getpwuid(geteuid())->pw_name) +
                                     " may connect to the socket (itemd's --socket-mode)"));
}

}  // namespace
}  // namespace itemdb::e2e
