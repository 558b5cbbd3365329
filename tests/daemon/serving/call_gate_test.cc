#include "daemon/serving/call_gate.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace itemdb::daemon {
namespace {

using std::chrono::milliseconds;

TEST(CallGate, RefusesCallsOnceClosed) {
  CallGate gate;
  EXPECT_TRUE(gate.TryEnter());
  gate.Close();
  EXPECT_FALSE(gate.TryEnter());
  gate.Leave();
  EXPECT_FALSE(gate.TryEnter());
}

// Writes inside wait for the next call of a standby.
TEST(CallGate, LetsStandbysInUntilTheOthersHaveLeft) {
  CallGate gate;
  ASSERT_TRUE(gate.TryEnter());
  gate.Close();
  EXPECT_TRUE(gate.TryEnter(CallGate::CallKind::kStandby));
  EXPECT_EQ(gate.inside(), 2);
  EXPECT_FALSE(gate.WaitUntilEmpty(milliseconds(1)));
  gate.Leave();
  EXPECT_TRUE(gate.WaitUntilEmpty(milliseconds(0))) << "a standby is not waited for";
  gate.CloseForStandbys();
  EXPECT_FALSE(gate.TryEnter(CallGate::CallKind::kStandby));
  std::thread call([&] { gate.Leave(CallGate::CallKind::kStandby); });
  gate.WaitUntilEmpty();
  EXPECT_EQ(gate.inside(), 0);
  call.join();
}

TEST(CallGate, WaitsForCallsInside) {
  CallGate gate;
  ASSERT_TRUE(gate.TryEnter());
  gate.Close();
  EXPECT_FALSE(gate.WaitUntilEmpty(milliseconds(1)));
  std::thread call([&] { gate.Leave(); });
  gate.WaitUntilEmpty();
  EXPECT_TRUE(gate.WaitUntilEmpty(milliseconds(0)));
  call.join();
}

// The daemon destroys the gate as soon as the wait has ended, while the last call may still be in Leave().
TEST(CallGate, MayGoAsSoonAsItIsEmpty) {
  for (int round = 0; round < 200; ++round) {
    auto gate = std::make_unique<CallGate>();
    std::vector<std::thread> calls;
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(gate->TryEnter());
      calls.emplace_back([&gate] { gate->Leave(); });
    }
    gate->Close();
    gate->WaitUntilEmpty();
    CallGate* empty = gate.release();
    delete empty;
    for (std::thread& call : calls) call.join();
  }
}

// The second SIGTERM ends the wait at once; calls inside the gate still have to leave.
TEST(CallGate, EndGracePeriodEndsTheWait) {
  CallGate gate;
  ASSERT_TRUE(gate.TryEnter());
  gate.Close();
  std::thread other([&gate] { gate.EndGracePeriod(); });
  EXPECT_FALSE(gate.WaitUntilEmpty(std::chrono::hours(1)));
  other.join();
  EXPECT_FALSE(gate.WaitUntilEmpty(std::chrono::hours(1)));
  gate.Leave();
  EXPECT_TRUE(gate.WaitUntilEmpty(std::chrono::milliseconds(0)));
  gate.WaitUntilEmpty();
}

}  // namespace
}  // namespace itemdb::daemon
