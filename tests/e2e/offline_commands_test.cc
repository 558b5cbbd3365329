// The commands of itemd that serve nothing: --recover=plan, inspect, salvage.
#include <filesystem>
#include <map>

#include "tests/e2e/e2e_fixture.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OfflineCommandsTest : public E2eTest {
 protected:
  // A database that was closed, without its MANIFEST.
  void MakeDamagedDirectory() {
    LoadOrderEntry();
    EXPECT_EQ(daemon_.Terminate(), 0);
    for (const auto& entry : fs::directory_iterator(data() + "/rocksdb"))
      if (entry.path().filename().string().starts_with("MANIFEST")) fs::remove(entry.path());
    before_ = Contents();
  }

  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(data()))
      contents[entry.path()] = entry.is_regular_file() ? testing::ReadFile(entry.path()) : "(directory)";
    return contents;
  }
  void ExpectUnchanged() const { EXPECT_TRUE(Contents() == before_) << "the directory was changed"; }

  static CommandResult Itemd(const std::vector<std::string>& arguments) {
    return RunProgram(testing::ProgramPath("itemd"), arguments);
  }
  std::string data() const { return daemon_.data_directory(); }

  std::map<std::string, std::string> before_;
};

TEST_F(OfflineCommandsTest, ThePlanOfARecoveryNamesTablesAndChangesNothing) {
  MakeDamagedDirectory();
  const CommandResult plan = Itemd({"--data-dir", data(), "--recover=plan"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("--recover=last-good would keep"));
  EXPECT_THAT(plan.out, ::testing::ContainsRegex("Order +10 +10 +0\n"));
  ExpectUnchanged();
}

TEST_F(OfflineCommandsTest, InspectPrintsFilesFamiliesTablesAndDamage) {
  MakeDamagedDirectory();
  const CommandResult inspected = Itemd({"inspect", data(), "--log-level", "error"});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  for (const char* part : {"CURRENT", "damage  ", "durable up to 31", "table "})
    EXPECT_THAT(inspected.out, HasSubstr(part));
  // The sums of a family: bytes, files, entries.
  EXPECT_THAT(inspected.out, ::testing::ContainsRegex("global_entries +[1-9][0-9]* +1 +[1-9][0-9]*\n"));
  ExpectUnchanged();
}

TEST_F(OfflineCommandsTest, SalvageMakesADatabaseThatOpens) {
  MakeDamagedDirectory();
  const std::string target = directory_.path() + "/salvaged";
  const CommandResult salvaged = Itemd({"salvage", data(), target});
  EXPECT_EQ(salvaged.exit_code, 0) << salvaged.err;
  EXPECT_THAT(salvaged.out, HasSubstr(target + " has a new database"));
  ExpectUnchanged();
  fs::remove_all(data());
  fs::rename(target, data());
  ASSERT_TRUE(daemon_.Start().ok());
  EXPECT_EQ(Document({"order-entry", "load"})["kept"], 27);
  ExpectCheckIsClean();
}

TEST_F(OfflineCommandsTest, WrongArgumentsAreRefused) {
  EXPECT_EQ(daemon_.Terminate(), 0);
  struct Row {
    std::vector<std::string> arguments;
    int exit_code;
    const char* says;
  };
  const std::string missing = directory_.path() + "/missing";
  const Row rows[] = {
      {{"inspect"}, 64, "DIR"},
      {{"salvage", data()}, 64, "TO"},
      {{"inspect", data(), "--data-dir", data()}, 64, "--data-dir is not allowed with a command"},
      {{"inspect", missing}, 65, "is no directory"},
      {{"--data-dir", missing, "--recover=plan"}, 65, "is no directory"},
      {{"salvage", data(), data()}, 64, "outside of it"},
      {{"repair", data()}, 64, "not a command"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(::testing::PrintToString(row.arguments));
    const CommandResult result = Itemd(row.arguments);
    EXPECT_EQ(result.exit_code, row.exit_code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(row.says));
    EXPECT_THAT(result.out, IsEmpty());
  }
  EXPECT_FALSE(fs::exists(missing));
}

}  // namespace
}  // namespace itemdb::e2e
