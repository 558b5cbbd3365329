// Which of several daemons gets the calls of a client.
#include "client/failover_transport.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "client/errors_internal.h"

namespace itemdb {
namespace {

using ::testing::ElementsAre;

// Answers every call at once with the status that it has then.
class Answering : public Transport {
 public:
  explicit Answering(int* calls) : calls_(calls) {}
  Cancel Send(OutgoingCall, Done done) override {
    ++*calls_;
    std::move(done)(status, "");
    return [] {};
  }
  std::unique_ptr<MessageStream> OpenStream(const char*, size_t, const std::string&) override {
    ++*calls_;
    return std::make_unique<Stream>(this);
  }
  const std::string& endpoint() const override { return endpoint_; }

  absl::Status status;

 private:
  class Stream : public MessageStream {
   public:
    explicit Stream(Answering* owner) : owner_(owner) {}
    void Write(std::string) override {}
    void WritesDone() override {}
    absl::StatusOr<std::optional<std::string>> Read(absl::Time) override {
      if (!owner_->status.ok()) return owner_->status;
      return std::nullopt;
    }
    void Cancel() override {}

   private:
    Answering* const owner_;
  };

  int* const calls_;
  const std::string endpoint_ = "fake";
};

class FailoverTransportTest : public ::testing::Test {
 protected:
  FailoverTransportTest() {
    std::vector<std::unique_ptr<Transport>> transports;
    for (int& calls : calls_) {
      auto one = std::make_unique<Answering>(&calls);
      daemons_.push_back(one.get());
      transports.push_back(std::move(one));
    }
    transport_ = std::make_unique<FailoverTransport>("a,b,c", std::move(transports));
  }
  absl::Status Send() {
    absl::Status ended = absl::UnknownError("the call has not ended");
    transport_->Send({.method = "/m", .kind = CallKind::kWrite, .request = nullptr, .deadline = {}},
                     [&](absl::Status status, std::string_view) { ended = std::move(status); });
    return ended;
  }

  std::vector<int> calls_ = {0, 0, 0};
  std::vector<Answering*> daemons_;
  std::unique_ptr<FailoverTransport> transport_;
};

TEST_F(FailoverTransportTest, StaysWithADaemonThatAnswers) {
  EXPECT_TRUE(Send().ok());
  daemons_[0]->status = MakeError(absl::StatusCode::kFailedPrecondition, kReasonConditionalCheckFailed, "no");
  EXPECT_EQ(Send(), daemons_[0]->status);
  daemons_[0]->status = MakeError(absl::StatusCode::kResourceExhausted, kReasonDiskFull, "full");
  EXPECT_EQ(Send(), daemons_[0]->status);
  EXPECT_THAT(calls_, ElementsAre(3, 0, 0));
}

TEST_F(FailoverTransportTest, GoesOnAfterALossAndBeginsAnewAfterTheLast) {
  for (Answering* daemon : daemons_)
    daemon->status = MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "gone");
  daemons_[1]->status = MakeError(absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown, "lost");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Send(), daemons_[i % 3]->status);
  EXPECT_THAT(calls_, ElementsAre(2, 1, 1));
}

TEST_F(FailoverTransportTest, ARefusedWriteGoesToTheNextAndMayBeRepeated) {
  for (const std::string_view reason : {kReasonStandby, kReasonFenced}) {
    daemons_[0]->status = MakeError(absl::StatusCode::kFailedPrecondition, reason, "not here");
    const absl::Status refused = Send();
    EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
    EXPECT_EQ(ReasonOf(refused), reason);
    EXPECT_TRUE(Send().ok());
    daemons_[1]->status = daemons_[2]->status =
        MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "gone");
    (void)Send();
    (void)Send();
    daemons_[1]->status = absl::OkStatus();
  }
}

TEST_F(FailoverTransportTest, AStreamThatBreaksIsOpenedAtTheNext) {
  daemons_[0]->status = MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "gone");
  EXPECT_FALSE(transport_->OpenStream("/m", 1, "")->Read(absl::InfiniteFuture()).ok());
  EXPECT_TRUE(transport_->OpenStream("/m", 1, "")->Read(absl::InfiniteFuture()).ok());
  EXPECT_THAT(calls_, ElementsAre(1, 1, 0));
}

}  // namespace
}  // namespace itemdb
