// Shares of callers in the memory for calls. What has no share is tested in tests/daemon/raw_call_test.cc.
#include "daemon/serving/call_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/process/listen_address.h"
#include "storage/base/limits.h"
#include "storage/base/status.h"

namespace itemdb::daemon {
namespace {

constexpr size_t kKiB = 1 << 10;

class CallSharesTest : public ::testing::Test {
 protected:
  // Reserves pieces of a KiB until one is refused. Returns their number.
  static int Take(CallMemory& memory, bool large_reply = false) {
    int taken = 0;
    while (large_reply ? memory.TryReserveForLargeReply(kKiB) : memory.TryReserve(kKiB)) ++taken;
    return taken;
  }

  CallMemory all_{1'000 * kKiB};
  CallShares shares_{all_};
};

TEST_F(CallSharesTest, ACallerGetsFourFifthsAndNextOnesFourTimesWhatIsFree) {
  const auto first = shares_.Of("", "ipv4:127.0.0.1");
  EXPECT_EQ(Take(*first), 800);
  EXPECT_FALSE(all_.TryReserve(201 * kKiB)) << "counted among all";
  const auto second = shares_.Of("", "ipv4:127.0.0.2");
  EXPECT_EQ(Take(*second), 160) << "four fifths of 200";
  const auto third = shares_.Of("", "ipv4:127.0.0.3");
  EXPECT_EQ(Take(*third), 32);
  EXPECT_EQ(Take(*first), 0);
  first->Release(800 * kKiB);
  EXPECT_GT(Take(*third), 500);
}

TEST_F(CallSharesTest, ConnectionsOfOneAddressHaveOneShare) {
  EXPECT_EQ(shares_.Of("", AddressOfPeer("ipv4:127.0.0.1:4711")),
            shares_.Of("", AddressOfPeer("ipv4:127.0.0.1:4712")));
  EXPECT_NE(shares_.Of("", AddressOfPeer("ipv6:[::1]:4711")),
            shares_.Of("", AddressOfPeer("ipv6:[::2]:4711")));
  EXPECT_EQ(shares_.Of("", AddressOfPeer("ipv6:%5B::1%5D:4711")),
            shares_.Of("", AddressOfPeer("ipv6:[::1]:4712")))
      << "over gRPC and over HTTP";
  EXPECT_NE(shares_.Of("KEY", "unix"), shares_.Of("OTHER", "unix"));
}

TEST_F(CallSharesTest, AKeyGetsEightNinthsFromAllItsAddresses) {
  EXPECT_EQ(Take(*shares_.Of("KEY", "ipv4:10.0.0.1")), 800);
  EXPECT_EQ(Take(*shares_.Of("KEY", "ipv4:10.0.0.2")), 88) << "8/9 of 1,000 without the 800";
  EXPECT_EQ(Take(*shares_.Of("KEY", "ipv4:10.0.0.3")), 0);
  EXPECT_EQ(Take(*shares_.Of("OTHER", "ipv4:10.0.0.1")), 89);
}

TEST_F(CallSharesTest, CallsWithLargeRepliesShareTheirHalf) {
  const auto greedy = shares_.Of("", "a");
  EXPECT_EQ(Take(*greedy, /*large_reply=*/true), 400);
  EXPECT_EQ(Take(*shares_.Of("", "b"), /*large_reply=*/true), 80);
}

// Replies that are finished count even beyond the limit, and a long request that came alone is admitted.
TEST_F(CallSharesTest, WhoHoldsLittleIsServedWhenAnotherHasTakenEverything) {
  const auto greedy = shares_.Of("", "a");
  ASSERT_TRUE(greedy->TryReserve(3'000 * kKiB)) << "alone";
  EXPECT_FALSE(greedy->TryReserveSmallForLargeReply(kKiB));
  const auto other = shares_.Of("", "b");
  EXPECT_FALSE(other->TryReserveForLargeReply(kKiB));
  EXPECT_TRUE(other->TryReserveSmallForLargeReply(kKiB));
  EXPECT_TRUE(other->TryReserveSmall(kKiB));
  other->Add(125 * kKiB);
  EXPECT_TRUE(other->TryReserveSmallForLargeReply(kKiB)) << "an eighth is 125 KiB";
  other->Add(1 * kKiB);
  EXPECT_FALSE(other->TryReserveSmallForLargeReply(kKiB));
  EXPECT_TRUE(other->TryReserveSmall(kKiB));
}

// At --memory 128MiB: the longest chunk of a BulkWrite counts twice, and its stream counts too.
TEST_F(CallSharesTest, TheLongestChunkFitsWithTheLeastMemory) {
  constexpr size_t kStream = 24 * kKiB, kChunk = 2 * storage::kMaxBulkChunkBytes;
  CallMemory all(20 << 20);  // As of SplitMemory().
  CallShares shares(all);
  const auto caller = shares.Of("KEY", "a");
  ASSERT_TRUE(caller->TryReserveForLargeReply(kStream));
  EXPECT_FALSE(caller->TryReserveForLargeReply(kChunk)) << "more than a share";
  EXPECT_TRUE(caller->TryReserveForChunk(kChunk, kStream));
  EXPECT_FALSE(caller->TryReserveForChunk(kChunk, kStream)) << "one at a time";
  caller->Release(kChunk);
  // Idle streams of the same caller and of others.
  const auto other = shares.Of("OTHER", "b");
  for (int i = 0; i < 40; ++i) ASSERT_TRUE((i % 2 == 0 ? caller : other)->TryReserveForLargeReply(kStream));
  EXPECT_TRUE(caller->TryReserveForChunk(kChunk, kStream));
  EXPECT_TRUE(other->TryReserveForLargeReply(kStream)) << "something is left";
  caller->Release(kChunk);
  ASSERT_TRUE(other->TryReserve(3'000 * kKiB));
  EXPECT_FALSE(caller->TryReserveForChunk(kChunk, kStream)) << "others need the memory";
}

TEST_F(CallSharesTest, SmallRequestsHaveSharesToo) {
  const auto greedy = shares_.Of("", "a");
  int taken = 0;
  while (greedy->TryReserveSmall(kKiB)) ++taken;
  EXPECT_EQ(taken, 100) << "four fifths of an eighth";
  EXPECT_TRUE(shares_.Of("", "b")->TryReserveSmall(kKiB));
  greedy->ReleaseSmall(100 * kKiB);
  EXPECT_TRUE(greedy->TryReserveSmall(kKiB));
}

TEST_F(CallSharesTest, CallsInFlightHaveSharesToo) {
  const auto greedy = shares_.Of("", "a");
  int calls = 0;
  while (greedy->TryBeginCall()) ++calls;
  EXPECT_EQ(calls, 200) << "four fifths of a call for each 4 KiB";
  const auto other = shares_.Of("", "b");
  int others = 0;
  while (other->TryBeginCall()) ++others;
  EXPECT_EQ(others, 40);
  // Many callers: each gets its few.
  for (int i = 0; i < 100; ++i) {
    const auto caller = shares_.Of("", absl::StrCat("caller", i));
    for (int call = 0; call < CallMemory::kCallsOfEveryCaller; ++call) EXPECT_TRUE(caller->TryBeginCall());
  }
  for (int i = 0; i < calls; ++i) greedy->EndCall();
  EXPECT_TRUE(greedy->TryBeginCall());
  // A call that is never refused counts.
  for (int i = 0; i < 1'000; ++i) greedy->BeginCall();
  EXPECT_FALSE(greedy->TryBeginCall());
}

TEST_F(CallSharesTest, TakesOverWhatWasReservedBeforeTheKeyWasKnown) {
  const auto unknown = shares_.Of("", "a");
  const auto key = shares_.Of("KEY", "a");
  ASSERT_TRUE(unknown->TryReserveSmall(kKiB));
  ASSERT_TRUE(unknown->TryReserve(600 * kKiB));
  EXPECT_TRUE(key->TryTakeOver(*unknown, kKiB, 600 * kKiB));
  EXPECT_EQ(all_.used_bytes(), int64_t{601} << 10);
  // The share of the address is free again; that of the key is not.
  ASSERT_TRUE(unknown->TryReserve(250 * kKiB));
  EXPECT_FALSE(key->TryTakeOver(*unknown, 0, 250 * kKiB));
  unknown->Release(250 * kKiB);
  EXPECT_EQ(Take(*unknown), 320);
  unknown->Release(320 * kKiB);
  key->Release(600 * kKiB);
  key->ReleaseSmall(kKiB);
  EXPECT_EQ(all_.used_bytes(), 0);
  // Alone, any size.
  ASSERT_TRUE(unknown->TryReserve(5'000 * kKiB));
  EXPECT_TRUE(key->TryTakeOver(*unknown, 0, 5'000 * kKiB));
}

TEST_F(CallSharesTest, RefusedReservationsLeaveNothingBehind) {
  const auto caller = shares_.Of("KEY", "a");
  ASSERT_TRUE(caller->TryReserve(700 * kKiB));
  EXPECT_FALSE(caller->TryReserve(150 * kKiB));
  EXPECT_FALSE(caller->TryReserve(1'000 * kKiB));
  EXPECT_EQ(all_.used_bytes(), int64_t{700} << 10);
  EXPECT_EQ(Take(*caller), 100);
}

// The reply of a slow reader may be counted after the server is destroyed.
TEST(CallShares, ReturnsMemoryAfterTheSharesAreGone) {
  std::shared_ptr<CallMemory> memory;
  {
    const CallMemory all(1'000);
    CallShares shares(all);
    memory = shares.Of("KEY", "a");
    memory->Add(100);
  }
  EXPECT_EQ(memory->used_bytes(), 100);
  memory->Release(100);
  EXPECT_EQ(memory->used_bytes(), 0);
}

TEST(CallShares, KeepsOnlyCallersWithCallsInFlight) {
  const CallMemory all(1'000);
  CallShares shares(all);
  const auto kept = shares.Of("KEY", "kept");
  kept->Add(7);
  for (int i = 0; i < 100'000; ++i) (void)shares.Of(absl::StrCat("KEY", i % 1'000), absl::StrCat(i));
  EXPECT_LE(shares.size(), 600u);
  EXPECT_EQ(shares.Of("KEY", "kept"), kept);
}

TEST(CallShares, AreCountedRightWithManyThreads) {
  const CallMemory all(1 << 20);
  CallShares shares(all);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&shares, thread] {
      for (int i = 0; i < 5'000; ++i) {
        const auto memory = shares.Of("KEY", absl::StrCat((i + thread) % 7));
        if (memory->TryReserve(300 << 10)) memory->Release(300 << 10);
        if (memory->TryReserveSmall(60 << 10)) memory->ReleaseSmall(60 << 10);
        if (memory->TryBeginCall()) memory->EndCall();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(all.used_bytes(), 0);
  EXPECT_TRUE(shares.Of("KEY", "1")->TryReserve(700 << 10));
}

TEST_F(CallSharesTest, PatienceWithAReplyEndsSoonerForWhoHoldsMuch) {
  using std::chrono::seconds;
  const auto greedy = shares_.Of("", "a");
  const auto other = shares_.Of("", "b");
  EXPECT_EQ(greedy->ReplyPatience(seconds(60)), seconds(60));
  EXPECT_EQ(Take(*greedy, /*large_reply=*/true), 400);
  EXPECT_EQ(greedy->ReplyPatience(seconds(60)), seconds(1));
  EXPECT_EQ(other->ReplyPatience(seconds(60)), seconds(60)) << "more than half of the memory is free";
  greedy->Add(500 * kKiB);
  EXPECT_LT(other->ReplyPatience(seconds(60)), seconds(20));
}

TEST(CallShares, TheErrorNamesTheSetting) {
  const CallMemory all(1'000);
  CallShares shares(all);
  const absl::Status error = CallsFullError(*shares.Of("", "a"));
  EXPECT_EQ(storage::ReasonOf(error), kReasonCallsFull);
  EXPECT_THAT(storage::MessageOf(error), ::testing::HasSubstr("1000 bytes they may (--memory)"));
}

}  // namespace
}  // namespace itemdb::daemon
