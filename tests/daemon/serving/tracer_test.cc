// The collector is away, slow, or refuses: spans are dropped and counted, and nothing waits.
#include "daemon/tracing/tracer.h"

#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

#include "tests/support/await.h"
#include "tests/support/trace_collector.h"

namespace itemdb::daemon {
namespace {

using ::testing::HasSubstr;
using testing::TraceCollector;
using Clock = std::chrono::steady_clock;

class TracerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Tracer> Make(const std::string& url, double ratio = 1) {
    return std::make_unique<Tracer>(TracerOptions{.url = url, .ratio = ratio, .log = log_});
  }
  // A call of three spans.
  static void Finish(Tracer& tracer) {
    const auto call = tracer.Begin(std::nullopt);
    ASSERT_NE(call, nullptr);
    const Clock::time_point now = Clock::now();
    call->steps.Add(storage::CallTrace::Step::kQueue, now, now);
    call->steps.Add(storage::CallTrace::Step::kSync, now, now);
    tracer.Finish(*call,
                  {.operation = "PutItem", .protocol = "grpc", .code = "OK", .begin = now, .end = now});
  }
  static bool AwaitDropped(const Tracer& tracer, int64_t spans) {
    return testing::Await([&] { return tracer.dropped() >= spans; });
  }

  std::ostringstream lines_;
  std::shared_ptr<spdlog::logger> log_ = std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines_, true));
};

TEST_F(TracerTest, FollowsTheCallersDecision) {
  const auto never = Make("http://127.0.0.1:9/v1/traces", 0);
  const auto always = Make("http://127.0.0.1:9/v1/traces", 1);
  TraceContext caller{{1, 2}, /*parent_id=*/3, /*sampled=*/true};
  const auto traced = never->Begin(caller);
  ASSERT_NE(traced, nullptr);
  EXPECT_EQ(traced->trace_id, caller.trace_id);
  EXPECT_EQ(traced->parent_id, 3u);
  EXPECT_NE(traced->span_id, 0u);
  caller.sampled = false;
  EXPECT_EQ(always->Begin(caller), nullptr);
  caller.sampled.reset();
  EXPECT_EQ(never->Begin(caller), nullptr);
  EXPECT_NE(always->Begin(caller), nullptr);
  EXPECT_EQ(never->Begin(std::nullopt), nullptr);
  EXPECT_EQ(always->Begin(std::nullopt)->parent_id, 0u);
}

TEST_F(TracerTest, TracesTheShareThatIsWanted) {
  const auto tracer = Make("http://127.0.0.1:9/v1/traces", 0.1);
  int traced = 0;
  for (int i = 0; i < 10'000; ++i) traced += tracer->Begin(std::nullopt) != nullptr ? 1 : 0;
  // Ten standard deviations.
  EXPECT_GT(traced, 700);
  EXPECT_LT(traced, 1'300);
  // A trace is recorded by all services of one ratio, or by none: its id decides.
  const TraceContext low{{1, 5}, 0, {}}, high{{1, (uint64_t{1} << 56) - 1}, 0, {}};
  EXPECT_NE(tracer->Begin(low), nullptr);
  EXPECT_EQ(tracer->Begin(high), nullptr);
}

TEST_F(TracerTest, CountsWhatTheCollectorAccepted) {
  TraceCollector collector;
  const auto tracer = Make(collector.url());
  for (int i = 0; i < 3; ++i) Finish(*tracer);
  EXPECT_EQ(collector.Await(3, "PutItem").size(), 3u);
  EXPECT_TRUE(testing::Await([&] { return tracer->exported() == 9; }));
  EXPECT_EQ(tracer->dropped(), 0);
}

TEST_F(TracerTest, SendsWhatWaitsWhenItStops) {
  TraceCollector collector;
  auto tracer = Make(collector.url());
  for (int i = 0; i < 100; ++i) Finish(*tracer);
  tracer.reset();
  EXPECT_EQ(collector.Await(100, "PutItem").size(), 100u);
}

// Nothing listens at port 9 of a test machine.
TEST_F(TracerTest, DropsSpansWhileTheCollectorIsAway) {
  auto tracer = Make("http://127.0.0.1:9/v1/traces");
  Finish(*tracer);
  EXPECT_TRUE(AwaitDropped(*tracer, 3));
  // It is left alone now. The queue has a bound.
  for (size_t i = 0; i < Tracer::kMaxQueuedCalls; ++i) Finish(*tracer);
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < 10'000; ++i) Finish(*tracer);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(20));
  EXPECT_GT(tracer->dropped(), 20'000);
  EXPECT_EQ(tracer->exported(), 0);
  tracer.reset();
  log_->flush();
  const std::string log = lines_.str();
  EXPECT_THAT(log,
              HasSubstr("spans cannot be sent and are dropped trace_endpoint=http://127.0.0.1:9/v1/traces"));
  EXPECT_EQ(log.find("spans cannot be sent"), log.rfind("spans cannot be sent")) << "once";
}

TEST_F(TracerTest, DropsSpansThatTheCollectorRefuses) {
  TraceCollector collector(TraceCollector::Manner::kRefuse);
  auto tracer = Make(collector.url());
  Finish(*tracer);
  EXPECT_TRUE(AwaitDropped(*tracer, 3));
  tracer.reset();
  EXPECT_THAT(lines_.str(), HasSubstr("HTTP status 503"));
}

TEST_F(TracerTest, StopsSoonBesideACollectorThatDoesNotAnswer) {
  TraceCollector collector(TraceCollector::Manner::kSilent);
  auto tracer = Make(collector.url());
  Finish(*tracer);
  collector.AwaitRequests(1);
  const Clock::time_point begin = Clock::now();
  Finish(*tracer);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(4)) << "a call never waits for the collector";
  const Clock::time_point stopping = Clock::now();
  tracer.reset();
  EXPECT_LT(Clock::now() - stopping, std::chrono::milliseconds(4'500))
      << "less than the time for one request";
}

}  // namespace
}  // namespace itemdb::daemon
