// The audit log: the chain of its records, what it does with files that are there already, and lost records.
#include "daemon/access/audit_log.h"

#include <signal.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <sstream>

#include "absl/strings/str_format.h"
#include "daemon/serving/call_audit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

using daemon::AuditLog;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class AuditLogTest : public ::testing::Test {
 protected:
  void Open() {
    auto opened = AuditLog::Open(path_, std::make_shared<spdlog::logger>("test", sink_));
    ASSERT_TRUE(opened.ok()) << opened.status();
    log_ = *std::move(opened);
  }
  absl::Status ErrorOfOpen() {
    return AuditLog::Open(path_, std::make_shared<spdlog::logger>("test", sink_)).status();
  }
  void Add(const std::string& table) {
    log_->Add({.key_id = "AKADMIN",
               .peer = "ipv4:10.0.0.7:1",
               .operation = "itemdb.v1.Tables/CreateTable",
               .table = table,
               .outcome = "OK"});
  }
  static std::vector<std::string> LinesOf(const std::string& path) {
    std::vector<std::string> lines;
    std::istringstream in(ReadFile(path));
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  std::vector<std::string> Lines() const { return LinesOf(path_); }
  // The value of a member whose value is a text without escapes.
  static std::string Member(const std::string& line, const std::string& name) {
    const std::string begin = "\"" + name + "\":\"";
    const size_t at = line.find(begin);
    if (at == std::string::npos) return "";
    return line.substr(at + begin.size(), line.find('"', at + begin.size()) - at - begin.size());
  }
  static void ExpectChain(const std::vector<std::string>& lines,
                          std::string previous = std::string(64, '0')) {
    for (const std::string& line : lines) {
      EXPECT_EQ(Member(line, "previous"), previous) << line;
      previous = Member(line, "hash");
      EXPECT_THAT(previous, SizeIs(64));
    }
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/audit.jsonl";
  std::ostringstream logged_;
  const std::shared_ptr<spdlog::sinks::ostream_sink_mt> sink_ =
      std::make_shared<spdlog::sinks::ostream_sink_mt>(logged_);
  std::unique_ptr<AuditLog> log_;
};

TEST_F(AuditLogTest, ChainsItsRecordsAndContinuesAFile) {
  Open();
  Add("Orders");
  log_.reset();
  Open();
  log_->Add({.peer = "unix:", .operation = "http/PutItem", .outcome = "UNAUTHENTICATED", .reason = "no key"});
  log_.reset();
  const std::vector<std::string> lines = Lines();
  ASSERT_THAT(lines, SizeIs(6));
  ExpectChain(lines);
  EXPECT_EQ(Member(lines[0], "event"), "opened");
  EXPECT_THAT(lines[1],
              HasSubstr(R"("event":"call","key_id":"AKADMIN","peer":"ipv4:10.0.0.7:1",)"
                        R"("operation":"itemdb.v1.Tables/CreateTable","table":"Orders","outcome":"OK",)"));
  EXPECT_EQ(Member(lines[2], "event"), "closed");
  EXPECT_EQ(Member(lines[4], "event"), "refused");
  EXPECT_THAT(lines[4], Not(HasSubstr("key_id")));
  EXPECT_EQ(Member(lines[4], "reason"), "no key");
  absl::Time time;
  std::string error;
  for (const std::string& line : lines) {
    ASSERT_TRUE(absl::ParseTime("%Y-%m-%dT%H:%M:%E6SZ", Member(line, "time"), &time, &error)) << line;
    EXPECT_LT(absl::AbsDuration(absl::Now() - time), absl::Hours(1));
  }
  struct stat info = {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

// Texts come from clients: no text makes two lines of one, controls a terminal, or makes a record long.
TEST_F(AuditLogTest, EscapesAndCutsTexts) {
  Open();
  Add("a\"b\n\x1b[2J\xc2\x9b\xff" + std::string(5'000, 'x'));
  log_.reset();
  const std::vector<std::string> lines = Lines();
  ASSERT_THAT(lines, SizeIs(3));
  ExpectChain(lines);
  EXPECT_THAT(lines[1], HasSubstr(R"("table":"a\"b\n\u001b[2J\u009b\ufffdxxx)"));
  EXPECT_LT(lines[1].size(), 1'000u);
}

TEST_F(AuditLogTest, RemovesTheHalfRecordThatACrashHasLeft) {
  Open();
  Add("Orders");
  log_.reset();
  const std::string whole = ReadFile(path_);
  for (size_t bytes : {1, 9, 10, 100}) {
    WriteFile(path_, whole + whole.substr(0, bytes));
    Open();
    log_.reset();
    EXPECT_THAT(ReadFile(path_), StartsWith(whole));
    ExpectChain(Lines());
    EXPECT_THAT(Lines(), SizeIs(5));
  }
}

// Only the end of a long file is read when it is opened.
TEST_F(AuditLogTest, ContinuesALongFile) {
  constexpr size_t kCalls = 300;
  Open();
  for (size_t i = 0; i < kCalls; ++i) Add("Orders");
  ASSERT_TRUE(Await([&] { return log_->written() == kCalls + 1; }));
  log_.reset();
  const std::string whole = ReadFile(path_);
  ASSERT_GT(whole.size(), size_t{64} << 10);
  WriteFile(path_, whole + whole.substr(0, 100));
  Open();
  log_.reset();
  EXPECT_THAT(ReadFile(path_), StartsWith(whole));
  EXPECT_THAT(Lines(), SizeIs(kCalls + 4));
  ExpectChain(Lines());
  // The last record is longer than any is: no record of the audit log.
  WriteFile(path_, whole + "{\"time" + std::string(40'000, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(ErrorOfOpen()));
}

TEST_F(AuditLogTest, LeavesOtherFilesAlone) {
  for (const char* text : {"hello", "hello\n", "{\"time\":\"\"}\n", "{}\n{\"time"}) {
    WriteFile(path_, text);
    EXPECT_TRUE(absl::IsInvalidArgument(ErrorOfOpen())) << text;
    EXPECT_EQ(ReadFile(path_), text);
  }
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_TRUE(absl::IsInvalidArgument(ErrorOfOpen()));
  std::filesystem::remove(path_);
  Open();
  EXPECT_THAT(storage::MessageOf(ErrorOfOpen()), HasSubstr("another process writes it"));
}

TEST_F(AuditLogTest, GoesOnInANewFileAfterRotation) {
  Open();
  Add("Orders");
  ASSERT_TRUE(Await([&] { return log_->written() == 2; }));
  const std::string old = path_ + ".1";
  std::filesystem::rename(path_, old);
  Add("stays in the old file");
  log_->Reopen();
  ASSERT_TRUE(Await([&] { return log_->written() == 4; }));
  Add("in the new file");
  // Nothing was rotated since: the file stays.
  log_->Reopen();
  log_.reset();
  const std::vector<std::string> before = LinesOf(old), after = Lines();
  ASSERT_THAT(before, SizeIs(3));
  ASSERT_THAT(after, SizeIs(4));
  ExpectChain(before);
  ExpectChain(after, Member(before.back(), "hash"));
  EXPECT_EQ(Member(after[0], "event"), "reopened");
  EXPECT_EQ(Member(after[1], "table"), "in the new file");
  EXPECT_EQ(Member(after[2], "event"), "reopened");
}

// A file may not grow beyond RLIMIT_FSIZE: the same for the program as a full disk.
TEST_F(AuditLogTest, TellsHowManyRecordsTheDiskRefused) {
  signal(SIGXFSZ, SIG_IGN);
  Open();
  ASSERT_TRUE(Await([&] { return log_->written() == 1; }));
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  // Room for half a record, which must not stay.
  small.rlim_cur = ReadFile(path_).size() + 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (int i = 0; i < 5; ++i) Add("refused by the disk");
  EXPECT_TRUE(Await([&] { return log_->lost() == 5; }));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(Await([&] { return log_->written() == 2; })) << "the losses are told without another record";
  log_.reset();
  const std::vector<std::string> lines = Lines();
  ASSERT_THAT(lines, SizeIs(3));
  ExpectChain(lines);
  EXPECT_THAT(lines[1], HasSubstr(R"("event":"lost","count":5,)"));
  EXPECT_THAT(logged_.str(), HasSubstr("audit records cannot be written"));
  EXPECT_THAT(logged_.str(), HasSubstr("audit records lost count=5"));
}

// Callers never wait for the disk: with a thread that is slower than they are, records are lost and counted.
TEST_F(AuditLogTest, CountsWhatTheQueueCannotHold) {
  Open();
  constexpr int kRecords = 200'000;
  for (int i = 0; i < kRecords; ++i) Add("Orders");
  const int64_t lost = log_->lost();
  log_.reset();
  const std::vector<std::string> lines = Lines();
  ExpectChain(lines);
  int64_t calls = 0, told = 0;
  for (const std::string& line : lines) {
    calls += Member(line, "event") == "call" ? 1 : 0;
    const size_t count = line.find("\"count\":");
    if (count != std::string::npos) told += std::atoll(line.c_str() + count + 8);
  }
  EXPECT_GT(lost, 0);
  EXPECT_EQ(told, lost);
  EXPECT_EQ(calls + lost, kRecords);
}

TEST_F(AuditLogTest, RefusedCallsAreCountedAndLoggedTenTimesASecondAtMost) {
  daemon::CallAudit audit(std::make_shared<spdlog::logger>("test", sink_));
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 1'000; ++i) {
    audit.Refused({.key_id = i == 0 ? "AK1" : "",
                   .peer = "ipv4:10.0.0.7:1",
                   .operation = "itemdb.v1.Data/GetItem",
                   .outcome = "UNAUTHENTICATED",
                   .reason = "no key"},
                  /*unauthenticated=*/i % 2 == 0);
  }
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began);
  EXPECT_EQ(audit.unauthenticated(), 500);
  EXPECT_EQ(audit.denied(), 500);
  EXPECT_FALSE(audit.Wants(daemon::Role::kAdmin)) << "there is no file";
  const std::string logged = logged_.str();
  EXPECT_THAT(logged, HasSubstr("call refused method=itemdb.v1.Data/GetItem peer=ipv4:10.0.0.7:1 key_id=AK1 "
                                "code=UNAUTHENTICATED reason=\"no key\""));
  EXPECT_LE(std::count(logged.begin(), logged.end(), '\n'), 11 * (seconds.count() + 2));
}

// The console shows them. A thousand refused calls must not take more memory than the last two hundred.
TEST_F(AuditLogTest, NewestCallsAreKept) {
  daemon::CallAudit audit(std::make_shared<spdlog::logger>("test", sink_));
  EXPECT_TRUE(audit.Recent().empty());
  for (int i = 0; i < 1'000; ++i) {
    audit.Refused({.operation = absl::StrFormat("call %d", i),
                   .outcome = "PERMISSION_DENIED",
                   .reason = std::string(10'000, 'x')},
                  /*unauthenticated=*/false);
  }
  const std::vector<daemon::RecentCall> recent = audit.Recent();
  ASSERT_EQ(recent.size(), daemon::CallAudit::kRecentCalls);
  EXPECT_EQ(recent.front().call.operation, "call 800");
  EXPECT_EQ(recent.back().call.operation, "call 999");
  EXPECT_EQ(recent.back().call.reason.size(), daemon::kMaxAuditTextBytes);
  EXPECT_GE(recent.back().time, recent.front().time);
}

}  // namespace
}  // namespace itemdb::testing
