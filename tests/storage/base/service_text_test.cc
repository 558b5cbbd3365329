#include "storage/base/service_text.h"

#include <gtest/gtest.h>

#include "storage/base/status.h"

namespace itemdb::storage {
namespace {

TEST(ServiceText, IsTheMessageUnlessAnotherWasGiven) {
  const absl::Status status = ValidationError("SEM-001", "it is too large");
  EXPECT_EQ(ServiceTextOf(status), "it is too large");
  const absl::Status other = WithServiceText("too large", status);
  EXPECT_EQ(ServiceTextOf(other), "too large");
  EXPECT_EQ(MessageOf(other), "it is too large");
  EXPECT_EQ(ServiceTextOf(WithServiceText("large", other)), "large");
  EXPECT_EQ(ServiceTextOf(WithServiceText("", other)), "");
}

TEST(ServiceText, AnAdditionIsInTheMessageOnly) {
  const absl::Status status = DetailedError("SEM-001", "too large", ": 5 bytes");
  EXPECT_EQ(ServiceTextOf(status), "too large");
  EXPECT_EQ(MessageOf(status), "too large: 5 bytes");
  EXPECT_EQ(RuleOf(status), "SEM-001");
  EXPECT_EQ(ReasonOf(status), kReasonValidation);
}

TEST(ServiceText, IsRewordedWithTheMessageAndNothingElseChanges) {
  const absl::Status status =
      WithRule("SEM-047", MakeError(absl::StatusCode::kResourceExhausted, kReasonQueueFull, "full", 7));
  const absl::Status around = Reworded(status, {.before = "a ", .after = " b"});
  EXPECT_EQ(MessageOf(around), "a full b");
  EXPECT_EQ(ServiceTextOf(around), "a full b");
  EXPECT_EQ(around.code(), status.code());
  EXPECT_EQ(ReasonOf(around), kReasonQueueFull);
  EXPECT_EQ(RuleOf(around), "SEM-047");
  EXPECT_EQ(RetryAfterMsOf(around), 7);

  const absl::Status detailed = Reworded(around, {.addition = " (statement 2)"});
  EXPECT_EQ(MessageOf(detailed), "a full b (statement 2)");
  EXPECT_EQ(ServiceTextOf(detailed), "a full b");
  const absl::Status again = Reworded(detailed, {.before = "so: "});
  EXPECT_EQ(MessageOf(again), "so: a full b (statement 2)");
  EXPECT_EQ(ServiceTextOf(again), "so: a full b");
}

}  // namespace
}  // namespace itemdb::storage
