// enum class Reason has every reason that a program can meet, and docs/operations.md explains each.
#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/errors_internal.h"
#include "itemdb/errors.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;

std::set<std::string> Matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    found.insert((*it)[1]);
  return found;
}

std::set<std::string> Names() {
  return {std::begin(internal::kReasonNames), std::end(internal::kReasonNames)};
}

TEST(Reasons, AreThoseOfTheDaemon) {
  const std::regex defined("kReason\\w+ =\\s*\"([A-Z_]+)\"");
  size_t reasons = 0;
  for (const char* source :
       {"storage/base/status.h", "daemon/access/access_keys.h", "daemon/serving/serving_context.h",
        "daemon/serving/call_log_fields.h", "client/include/itemdb/errors.h"}) {
    SCOPED_TRACE(source);
    const auto found = Matches(testing::ReadFile(testing::SourcePath(source)), defined);
    EXPECT_THAT(Names(), IsSupersetOf(found));
    reasons += found.size();
  }
  EXPECT_GT(reasons, 50u);
}

TEST(Reasons, AreThoseOfThisLibrary) {
  const std::regex made("MakeError\\([^;]*?\"([A-Z]+(?:_[A-Z]+)*)\",");
  for (const char* folder : {"client", "client/modelling", "client/http"}) {
    for (const auto& entry : std::filesystem::directory_iterator(testing::SourcePath(folder))) {
      if (entry.path().extension() != ".cc") continue;
      SCOPED_TRACE(entry.path());
      EXPECT_THAT(Names(), IsSupersetOf(Matches(testing::ReadFile(entry.path()), made)));
    }
  }
}

TEST(Reasons, AreAllExplained) {
  const std::string document = testing::ReadFile(testing::SourcePath("docs/operations.md"));
  const size_t begin = document.find("\n## Errors\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string errors = document.substr(begin, document.find("\n## ", begin + 1) - begin);
  // The first column of a row.
  std::set<std::string> explained;
  for (const std::string& cell : Matches(errors, std::regex("\n\\| (`[A-Z_`, ]+) \\|"))) {
    for (const std::string& name : Matches(cell, std::regex("`([A-Z_]+)`"))) explained.insert(name);
  }
  EXPECT_EQ(explained, Names());
}

TEST(Reasons, HaveTheirNames) {
  for (const std::string& name : Names()) {
    const Reason reason = ReasonNamed(name);
    EXPECT_NE(reason, Reason::kOther);
    EXPECT_EQ(ReasonName(reason), name);
  }
  EXPECT_EQ(ReasonName(Reason::kQueueFull), "QUEUE_FULL");
  EXPECT_EQ(ReasonName(Reason::kHttpStatus), "HTTP_STATUS");
  EXPECT_EQ(ReasonName(Reason::kNone), "");
  EXPECT_EQ(ReasonName(Reason::kOther), "");
  EXPECT_EQ(ReasonCodeOf(absl::OkStatus()), Reason::kNone);
  EXPECT_EQ(ReasonCodeOf(absl::InternalError("of another library")), Reason::kOther);
  EXPECT_EQ(ReasonCodeOf(MakeError(absl::StatusCode::kAborted, "STATE_TOO_OLD", "x")), Reason::kStateTooOld);
  EXPECT_EQ(ReasonCodeOf(MakeError(absl::StatusCode::kAborted, "OF_A_NEWER_DAEMON", "x")), Reason::kOther);
}

}  // namespace
}  // namespace itemdb
