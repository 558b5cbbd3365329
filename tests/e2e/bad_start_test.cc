// Starts that must be refused: the right exit code, one line that says what is wrong and what to do, and no
// change in the data directory.
#include <sys/mount.h>
#include <sys/stat.h>

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

// Exit codes of itemd.
constexpr int kUsageExit = 64;
constexpr int kData = 65;
constexpr int kUnavailable = 69;
constexpr int kIo = 74;

// For every file in `directory`: its relative name, and its length with a hash of its content.
std::map<std::string, std::string> FilesOf(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) {
      const std::string content = testing::ReadFile(entry.path());
      files[fs::relative(entry.path(), directory)] =
          std::to_string(content.size()) + " bytes " + std::to_string(std::hash<std::string>()(content));
    }
  }
  return files;
}

class BadStartTest : public E2eTest {
 protected:
  // Expects that the last line of the log is an error that contains all of `says`.
  static void ExpectError(const CommandResult& result, int exit_code, const std::vector<std::string>& says) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.out, IsEmpty());
    const size_t end = result.err.find_last_not_of('\n');
    ASSERT_NE(end, std::string::npos);
    const std::string last = result.err.substr(result.err.rfind('\n', end) + 1);
    for (const std::string& part : says) EXPECT_THAT(result.err, HasSubstr(part));
    // Errors of the configuration are found before the log is opened.
    const bool before_the_log = result.err.starts_with("itemd: ");
    EXPECT_THAT(last, exit_code == kUsageExit ? HasSubstr("--help")
                                              : HasSubstr(before_the_log ? "itemd: " : " error "));
  }

  std::string data() const { return daemon_.data_directory(); }

  // The name of the only file in rocksdb/ that ends with `suffix`.
  std::string RocksDbFile(const std::string& suffix) const {
    std::string found;
    for (const auto& entry : fs::directory_iterator(data() + "/rocksdb")) {
      const std::string name = entry.path().filename();
      if (name.ends_with(suffix)) found = "rocksdb/" + name;
    }
    EXPECT_FALSE(found.empty()) << suffix;
    return found;
  }
};

TEST_F(BadStartTest, CommandLines) {
  struct Row {
    std::vector<std::string> arguments;
    std::vector<std::string> says;
  };
  const std::string dir = directory_.path() + "/other";
  const Row rows[] = {
      {{}, {"--data-dir", "give --data-dir"}},
      {{"--data-dir"}, {"--data-dir"}},
      {{"--data-dir", ""}, {"--data-dir", "missing"}},
      {{"--data-dir", dir, "--frob"}, {"--frob", "not a flag"}},
      {{"--data-dri", dir}, {"did you mean \"--data-dir"}},
      {{"--data-dir", dir, "stray"}, {"stray"}},
      {{"--data-dir", dir, "--listen", "nonsense"}, {"--listen", "nonsense"}},
      {{"--data-dir", dir, "--listen", "127.0.0.1"}, {"--listen", "127.0.0.1", "PORT"}},
      {{"--data-dir", dir, "--listen", "127.0.0.1:65536"}, {"--listen", "65536", "65535"}},
      {{"--data-dir", dir, "--listen", "0.0.0.0:0"}, {"--listen", "0.0.0.0", "TLS", "localhost"}},
      {{"--data-dir", dir, "--listen", "example.com:7420"}, {"--listen", "example.com", "localhost"}},
      {{"--data-dir", dir, "--listen", "unix:relative"}, {"--listen", "unix:relative"}},
      {{"--data-dir", dir, "--listen", "unix:/" + std::string(200, 'x')}, {"--listen", "at most 107 bytes"}},
      {{"--data-dir", dir, "--durability", "maybe"}, {"--durability", "maybe", "durable", "relaxed"}},
      {{"--data-dir", dir, "--recover", "all"}, {"--recover", "all", "last-good"}},
      {{"--data-dir", dir, "--log-level", "loud"}, {"--log-level", "loud", "debug", "error"}},
      {{"--data-dir", dir, "--memory", "0"}, {"--memory", "128MiB"}},
      {{"--data-dir", dir, "--config", ""}, {"--config"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(::testing::PrintToString(row.arguments));
    const CommandResult result = RunProgram(testing::ProgramPath("itemd"), row.arguments);
    ExpectError(result, kUsageExit, row.says);
  }
  EXPECT_FALSE(fs::exists(dir)) << "a refused command line makes no directory";
}

TEST_F(BadStartTest, DirectoriesThatAreNoDatabase) {
  const auto start = [](const std::string& directory) {
    return RunProgram(testing::ProgramPath("itemd"), {"--data-dir", directory, "--listen", "127.0.0.1:0"});
  };
  const std::string foreign = directory_.path() + "/foreign";
  fs::create_directory(foreign);
  testing::WriteFile(foreign + "/letter.txt", "Dear sir");
  const auto before = FilesOf(foreign);
  ExpectError(start(foreign), kData, {foreign, "letter.txt", "empty directory"});
  auto after = FilesOf(foreign);
  after.erase("LOCK");  // Empty; the only file that itemd has created.
  EXPECT_EQ(after, before);

  const std::string file = directory_.path() + "/file";
  testing::WriteFile(file, "not a directory");
  ExpectError(start(file), kIo, {file});
  EXPECT_EQ(testing::ReadFile(file), "not a directory");
  ExpectError(start("/proc/itemdb"), kIo, {"/proc/itemdb"});
}

// tests/daemon tests every wrong value. Here: the process ends with the right exit code and changes no file.
TEST_F(BadStartTest, ConfigurationsThatAreWrong) {
  const std::string dir = directory_.path() + "/other";
  const std::string file = directory_.path() + "/itemd.toml";
  testing::WriteFile(file, "data-dir = '" + dir + "'\nmemory = 'lots'\n");
  ExpectError(RunProgram(testing::ProgramPath("itemd"), {"--config", file}), kUsageExit,
              {file + ":2: memory", "lots", "512MiB"});
  ExpectError(RunProgram(testing::ProgramPath("itemd"), {"--config", file, "--check-config"}), kUsageExit,
              {file + ":2: memory"});
  ExpectError(RunProgram(testing::ProgramPath("itemd"), {"--config", file + ".missing"}), kIo,
              {file + ".missing", "No such file"});
  const std::vector<std::string> good = {"--data-dir", dir, "--check-config"};
  EXPECT_EQ(RunProgram(testing::ProgramPath("itemd"), good).exit_code, 0);

  const auto with_tls = [&dir](const std::string& certificate, const std::string& key) {
    return RunProgram(testing::ProgramPath("itemd"),
                      {"--data-dir", dir, "--tls-cert", certificate, "--tls-key", key});
  };
  testing::WriteFile(file, "hello");
  ASSERT_EQ(chmod(file.c_str(), 0640), 0);
  ExpectError(with_tls(file, file), kUsageExit,
              {"--tls-key: " + file + " holds secrets, and the members of its group may use it (mode 0640)",
               "chmod 0600 " + file});
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  ExpectError(with_tls(file, file), kUsageExit, {"--tls-cert: " + file + " holds no certificate"});
  ExpectError(with_tls("/nonexistent/cert.pem", file), kIo,
              {"--tls-cert: /nonexistent/cert.pem", "No such file"});
  ExpectError(with_tls(directory_.path(), file), kIo, {"--tls-cert: " + directory_.path(), "directory"});
  EXPECT_FALSE(fs::exists(dir));
}

// Uses a file system of its own; mounting it needs privileges.
TEST_F(BadStartTest, AFullDisk) {
  const std::string disk = directory_.path() + "/disk";
  fs::create_directory(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=1M") != 0)
    GTEST_SKIP() << "may not mount a file system here";
  testing::WriteFile(disk + "/fill", std::string(2 << 20, 'x'));
  const CommandResult result =
      RunProgram(testing::ProgramPath("itemd"), {"--data-dir", disk + "/data", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(umount(disk.c_str()), 0);
  ExpectError(result, kIo, {"cannot write " + disk + "/data", "No space left on device"});
}

// A directory that cannot be written is not called one that is in use. Root may write everything but a file
// system that is mounted to be read.
TEST_F(BadStartTest, ADirectoryThatCannotBeWritten) {
  const std::string disk = directory_.path() + "/disk";
  fs::create_directory(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=64M") != 0)
    GTEST_SKIP() << "may not mount a file system here";
  fs::create_directory(disk + "/data");
  testing::WriteFile(disk + "/data/LOCK", "");
  const bool read_only = mount("none", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  const CommandResult result =
      RunProgram(testing::ProgramPath("itemd"), {"--data-dir", disk + "/data", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(umount(disk.c_str()), 0);
  if (!read_only) GTEST_SKIP() << "may not change a mounted file system here";
  ExpectError(result, kIo, {disk + "/data cannot be written: Read-only file system"});
  EXPECT_THAT(result.err, ::testing::Not(HasSubstr("in use")));
}

TEST_F(BadStartTest, ASecondDaemonOnTheSameDirectory) {
  LoadOrderEntry();
  const std::string address_file = directory_.path() + "/second.json";
  const CommandResult second =
      RunProgram(testing::ProgramPath("itemd"),
                 {"--data-dir", data(), "--listen", "127.0.0.1:0", "--address-file", address_file});
  ExpectError(second, kUnavailable, {data(), "in use by another itemd"});
  EXPECT_FALSE(fs::exists(address_file));
  // The first daemon continues.
  EXPECT_EQ(Document({"order-entry", "load"})["kept"], 27);
  ExpectCheckIsClean();
}

TEST_F(BadStartTest, OccupiedAddresses) {
  const std::string other = directory_.path() + "/other";
  const std::string socket = "unix:" + directory_.path() + "/itemd.sock";
  const auto start = [&other](const std::string& address) {
    return RunProgram(testing::ProgramPath("itemd"), {"--data-dir", other, "--listen", address});
  };
  ExpectError(start(daemon_.endpoint()), kUnavailable, {daemon_.endpoint(), "another process"});
  ExpectError(start("unix:/nonexistent/itemd.sock"), kUnavailable, {"/nonexistent/itemd.sock"});
  ExpectError(start("unix:" + daemon_.address_file()), kUnavailable, {daemon_.address_file()});
  EXPECT_FALSE(fs::exists(other)) << "a daemon that cannot listen makes no directory";
  EXPECT_EQ(Itemctl({"status"}).exit_code, 0);

  // The socket of a running daemon is not taken over.
  ASSERT_EQ(daemon_.Terminate(), 0);
  daemon_.set_listen({socket});
  ASSERT_TRUE(daemon_.Start().ok());
  ExpectError(start(socket), kUnavailable, {directory_.path() + "/itemd.sock", "another process"});
  EXPECT_EQ(Itemctl({"status"}).exit_code, 0);
  // One bad address is enough to refuse the start, and the database is closed again.
  ExpectError(RunProgram(testing::ProgramPath("itemd"),
                         {"--data-dir", other, "--listen", "127.0.0.1:0", "--listen", socket}),
              kUnavailable, {"itemd.sock"});
}

TEST_F(BadStartTest, AnAddressThatIsTakenIsToldWithItsSetting) {
  const std::string taken = daemon_.endpoint();
  const std::string other = directory_.path() + "/other";
  const std::string audit = directory_.path() + "/audit.log";
  const std::string file = directory_.path() + "/itemd.toml";
  testing::WriteFile(file, "metrics-listen = \"" + taken + "\"\n");
  const std::string error = ": cannot listen on " + taken + ": another process uses this address";
  const auto start = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--data-dir", other, "--audit-log", audit});
    return RunProgram(testing::ProgramPath("itemd"), arguments);
  };
  ExpectError(start({"--listen", taken}), kUnavailable, {"--listen" + error});
  ExpectError(start({"--listen", "127.0.0.1:0", "--http-listen", taken}), kUnavailable,
              {"--http-listen" + error});
  // Another metrics server, for example.
  ExpectError(start({"--listen", "127.0.0.1:0", "--metrics-listen", taken}), kUnavailable,
              {"--metrics-listen" + error});
  ExpectError(start({"--listen", "127.0.0.1:0", "--config", file}), kUnavailable,
              {"metrics-listen", error, file});
  EXPECT_FALSE(fs::exists(other));
  EXPECT_FALSE(fs::exists(audit)) << "a daemon that cannot listen makes no audit log";
}

TEST_F(BadStartTest, AnAddressFileThatCannotBeWritten) {
  ExpectError(
      RunProgram(testing::ProgramPath("itemd"), {"--data-dir", directory_.path() + "/other", "--listen",
                                                 "127.0.0.1:0", "--address-file", "/nonexistent/itemd.json"}),
      kIo, {"/nonexistent/itemd.json"});
}

// The invariants FormatKnown and AckMeansDurable. Damaged, missing or truncated files are found at the start.
// The error names them and says how to continue; nothing is changed. --recover=last-good then opens the
// directory, and the remaining data is consistent.
TEST_F(BadStartTest, DamagedDataDirectories) {
  LoadOrderEntry();
  // A planned stop would leave an empty write-ahead log.
  daemon_.Kill();
  const std::string good = directory_.path() + "/good";
  fs::copy(data(), good, fs::copy_options::recursive);
  const std::string log = RocksDbFile(".log");
  const std::string log_bytes = testing::ReadFile(data() + "/" + log);

  // Flips a bit in one byte of `file`.
  const auto flip = [this](const std::string& file, size_t offset) {
    std::string bytes = testing::ReadFile(data() + "/" + file);
    ASSERT_LT(offset, bytes.size());
    bytes[offset] ^= 0x10;
    testing::WriteFile(data() + "/" + file, bytes);
  };
  struct Row {
    const char* name;
    std::function<void()> damage;
    std::vector<std::string> says;
    // Whether --recover=last-good can open the directory.
    bool recovers;
  };
  const Row rows[] = {
      {"log deleted",
       [&] { fs::remove(data() + "/" + log); },
       {"rocksdb", "31", "--recover=last-good"},
       false},
      {"log cut in half",
       [&] { testing::WriteFile(data() + "/" + log, log_bytes.substr(0, log_bytes.size() / 2)); },
       {"WATERMARK", "31", "--recover=last-good"},
       true},
      {"log flipped in the middle",
       [&] { flip(log, log_bytes.size() / 2); },
       {"31", "--recover=last-good"},
       true},
      {"watermark deleted", [&] { fs::remove(data() + "/WATERMARK"); }, {"WATERMARK", "missing"}, true},
      {"watermark flipped", [&] { flip("WATERMARK", 60); }, {"WATERMARK", "damaged"}, true},
      {"watermark empty",
       [&] { testing::WriteFile(data() + "/WATERMARK", ""); },
       {"WATERMARK", "damaged"},
       true},
      {"CURRENT deleted", [&] { fs::remove(data() + "/rocksdb/CURRENT"); }, {"rocksdb"}, true},
      {"CURRENT overwritten",
       [&] { testing::WriteFile(data() + "/rocksdb/CURRENT", "junk\n"); },
       {"rocksdb"},
       true},
      {"rocksdb deleted", [&] { fs::remove_all(data() + "/rocksdb"); }, {"rocksdb", "31"}, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    fs::remove_all(data());
    fs::copy(good, data(), fs::copy_options::recursive);
    row.damage();
    const auto before = FilesOf(data());
    ExpectError(daemon_.RunToEnd(), kData, row.says);
    EXPECT_EQ(FilesOf(data()), before) << "a refused directory is left as it was";
    // A second start gives the same error.
    ExpectError(daemon_.RunToEnd(), kData, row.says);

    absl::Status recovered = daemon_.Start({"--recover", "last-good"});
    if (row.recovers) {
      ASSERT_TRUE(recovered.ok()) << recovered;
    }
    if (recovered.ok()) {
      ExpectCheckIsClean();
      // The recovered database accepts writes and starts without the flag.
      const CommandResult load = Itemctl({"order-entry", "load"});
      EXPECT_EQ(load.exit_code, 0) << load.err;
      ExpectCheckIsClean();
      KillAndRestart();
      EXPECT_EQ(Lines({"order-entry", "open-orders", "2025-01-01", "2026-12-31"}).size(), 3u);
      daemon_.Kill();
    }
  }
  // The undamaged copy opens normally.
  fs::remove_all(data());
  fs::rename(good, data());
  ASSERT_TRUE(daemon_.Start().ok());
  EXPECT_EQ(Document({"order-entry", "load"})["kept"], 27);
  ExpectCheckIsClean();
}

}  // namespace
}  // namespace itemdb::e2e
