// Calls that are cancelled or whose deadline passes, and calls that need too much memory.
#include <gmock/gmock.h>
#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "daemon/rpc/raw_call.h"
#include "storage/base/mutex.h"
#include "tests/daemon/server_fixture.h"

namespace itemdb::daemon {
namespace {

using Clock = std::chrono::steady_clock;

// Waits for a log line and returns its time.
class LineWatch : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // The time of the first line after `since` that contains `text`. If there is none within 5 s: `since` + an
  // hour.
  Clock::time_point Await(const std::string& text, Clock::time_point since) {
    storage::MutexLock lock(mutex_);
    const Clock::time_point give_up = Clock::now() + std::chrono::seconds(5);
    while (true) {
      for (const auto& [time, line] : lines_) {
        if (time >= since && line.find(text) != std::string::npos) return time;
      }
      if (Clock::now() > give_up) return since + std::chrono::hours(1);
      arrived_.WaitFor(mutex_, std::chrono::milliseconds(100));
    }
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    storage::MutexLock lock(mutex_);
    lines_.emplace_back(Clock::now(), std::string(message.payload.data(), message.payload.size()));
    arrived_.NotifyAll();
  }
  void flush_() override {}

 private:
  storage::Mutex mutex_;
  storage::CondVar arrived_;
  std::vector<std::pair<Clock::time_point, std::string>> lines_ ABSL_GUARDED_BY(mutex_);
};

class CallLimits : public ServerTest {
 protected:
  // Calls that take longer than 5 ms are logged when they end. Not all of them, because the number of lines a
  // second is bounded.
  void StartWatched(size_t call_bytes = 1 << 30) {
    server_.reset();
    ServerOptions options = OptionsFor("127.0.0.1:0");
    options.slow_request = absl::Milliseconds(5);
    options.call_bytes = call_bytes;
    options.log = std::make_shared<spdlog::logger>("test", watch_);
    auto server = Server::Start(*database_, std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = Connect(server_->addresses()[0]);
    data_ = v1::Data::NewStub(channel_);
    tables_ = v1::Tables::NewStub(channel_);
    admin_ = v1::Admin::NewStub(channel_);
  }

  // Puts items until a check of them takes much longer than 10 ms, on any machine. Returns how long it takes.
  Clock::duration FillWithItems() {
    EXPECT_TRUE(CreateTable("orders").ok());
    Clock::duration whole{};
    for (int round = 0; round < 20 && whole < std::chrono::milliseconds(60); ++round) {
      PutItems(round * 1'000, round * 1'000 + 1'000);
      whole = TimeOfCheck();
    }
    return whole;
  }
  // Puts 25 items in each batch.
  void PutItems(int first_batch, int end_batch) {
    for (int batch = first_batch; batch < end_batch; ++batch) {
      v1::BatchWriteItemRequest request;
      v1::TableWriteRequests* writes = request.add_request_items();
      writes->set_table_name("orders");
      for (int i = 0; i < 25; ++i) {
        v1::Item* item = writes->add_write_requests()->mutable_put_request()->mutable_item();
        *item = Key(std::to_string(batch), std::to_string(i));
        AddString(item, "text", std::string(100, 'x'));
      }
      v1::BatchWriteItemReply reply;
      grpc::ClientContext context;
      ASSERT_TRUE(data_->BatchWriteItem(&context, request, &reply).ok());
    }
  }

  // The duration of a check of the whole database.
  Clock::duration TimeOfCheck() {
    const Clock::time_point start = Clock::now();
    grpc::ClientContext context;
    v1::CheckDatabaseReply reply;
    EXPECT_TRUE(admin_->CheckDatabase(&context, {}, &reply).ok());
    return Clock::now() - start;
  }

  // Milliseconds from `moment` until the end of the check that began at `start`.
  double MillisecondsUntilItEnded(Clock::time_point start, Clock::time_point moment) {
    const Clock::time_point ended = watch_->Await("CheckDatabase", start);
    return std::chrono::duration<double, std::milli>(ended - moment).count();
  }

  std::shared_ptr<LineWatch> watch_ = std::make_shared<LineWatch>();
};

// The shortest of several attempts counts: a busy machine may run the stopped thread late, but not every
// time.
TEST_F(CallLimits, WorkStopsWithin10MsOfBeingCancelled) {
  StartWatched();
  const auto whole = FillWithItems();
  double least = 1e9;
  for (int attempt = 0; attempt < 20 && least >= 10; ++attempt) {
    grpc::ClientContext context;
    v1::CheckDatabaseReply reply;
    std::promise<grpc::Status> done;
    const v1::CheckDatabaseRequest request;
    const Clock::time_point start = Clock::now();
    admin_->async()->CheckDatabase(&context, &request, &reply,
                                   [&](grpc::Status status) { done.set_value(status); });
    std::this_thread::sleep_for(whole / 4);
    const Clock::time_point cancelled = Clock::now();
    context.TryCancel();
    // A check that ended before the cancellation shows nothing.
    if (done.get_future().get().ok()) continue;
    least = std::min(least, MillisecondsUntilItEnded(start, cancelled));
  }
  EXPECT_GT(whole, std::chrono::milliseconds(40)) << "otherwise this shows nothing";
  EXPECT_LT(least, 10);
  RecordProperty("whole_check_ms", std::to_string(std::chrono::duration<double, std::milli>(whole).count()));
  RecordProperty("stopped_after_ms", std::to_string(least));
}

TEST_F(CallLimits, WorkStopsWithin10MsOfTheDeadline) {
  StartWatched();
  const auto whole = FillWithItems();
  double least = 1e9;
  for (int attempt = 0; attempt < 20 && least >= 10; ++attempt) {
    grpc::ClientContext context;
    const Clock::time_point start = Clock::now();
    const Clock::time_point deadline = start + whole / 4;
    context.set_deadline(std::chrono::system_clock::now() + whole / 4);
    v1::CheckDatabaseReply reply;
    EXPECT_EQ(admin_->CheckDatabase(&context, {}, &reply).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
    least = std::min(least, MillisecondsUntilItEnded(start, deadline));
  }
  EXPECT_LT(least, 10);
  RecordProperty("stopped_after_ms", std::to_string(least));
}

TEST_F(CallLimits, RequestsBeyondTheirMemoryAreRefusedAndToldWhenToComeBack) {
  StartWatched(1 << 20);
  ASSERT_TRUE(CreateTable("orders").ok());
  v1::Item item = Key("a", "b");
  AddString(&item, "text", std::string(300'000, 'x'));
  // A single call is always accepted; of many at once, those that do not fit into memory are refused.
  EXPECT_TRUE(Put("orders", item).ok());
  std::atomic<int> taken = 0, refused = 0;
  std::vector<std::thread> callers;
  const Clock::time_point give_up = Clock::now() + std::chrono::seconds(60);
  for (int i = 0; i < 16; ++i) {
    callers.emplace_back([&] {
      while ((taken < 100 || refused == 0) && Clock::now() < give_up) {
        const grpc::Status status = Put("orders", item);
        if (status.ok()) {
          ++taken;
          continue;
        }
        ++refused;
        EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
        EXPECT_EQ(DetailsOf(status).reason, "CALLS_FULL");
        EXPECT_GT(DetailsOf(status).retry_after_ms, 0);
        // GetStatus is answered all the same.
        v1::GetStatusReply reply;
        grpc::ClientContext context;
        EXPECT_TRUE(admin_->GetStatus(&context, {}, &reply).ok());
        EXPECT_EQ(reply.memory().call_limit(), 1 << 20);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);

  v1::GetStatusReply reply;
  for (bool empty = false; !empty && Clock::now() < give_up;) {
    grpc::ClientContext context;
    ASSERT_TRUE(admin_->GetStatus(&context, {}, &reply).ok());
    empty = reply.memory().calls() < 1'000;
  }
  EXPECT_LT(reply.memory().calls(), 1'000) << "all was given back";
}

// Peers that do not take their pages cannot keep others from reading and writing single items.
TEST_F(CallLimits, CallsWithLargeRepliesLeaveHalfOfTheMemory) {
  EXPECT_EQ((MemoryUseOf<wire::PageRequest, storage::Page>()), MemoryUse::kLargeReply);
  EXPECT_EQ((MemoryUseOf<wire::BatchGetItemRequest, wire::BatchGetItemReply>()), MemoryUse::kLargeReply);
  EXPECT_EQ((MemoryUseOf<wire::GetItemRequest, wire::GetItemReply>()), MemoryUse::kSmall);
  CallMemory memory(1'000);
  memory.Add(500);
  EXPECT_FALSE(memory.TryReserveForLargeReply(1));
  EXPECT_TRUE(memory.TryReserve(500));
  EXPECT_FALSE(memory.TryReserve(1));
  memory.Release(500);
  EXPECT_TRUE(memory.TryReserveForLargeReply(1, /*held=*/500)) << "nothing else is counted";
}

// A long request that came alone may take more than there is; the calls of others go on.
TEST(CallMemoryTest, SetsAnEighthAsideForSmallCalls) {
  CallMemory memory(800 << 10);
  ASSERT_TRUE(memory.TryReserve(8'000 << 10)) << "alone";
  EXPECT_FALSE(memory.TryReserve(1));
  EXPECT_FALSE(memory.TryReserveSmall(CallMemory::kSmallCallBytes + 1)) << "not small";
  EXPECT_TRUE(memory.TryReserveSmall(60 << 10));
  EXPECT_FALSE(memory.TryReserveSmall(60 << 10)) << "an eighth is 100 KiB";
  EXPECT_EQ(memory.used_bytes(), 8'060 << 10);
  memory.ReleaseSmall(60 << 10);
  EXPECT_TRUE(memory.TryReserveSmall(60 << 10));
}

TEST_F(CallLimits, GetStatusTellsWhatOnlyTheDaemonKnows) {
  server_.reset();
  ServerOptions options = OptionsFor("127.0.0.1:0");
  options.memory_bytes = 123 << 20;
  options.call_bytes = 7 << 20;
  auto server = Server::Start(*database_, std::move(options));
  ASSERT_TRUE(server.ok());
  server_ = *std::move(server);
  v1::GetStatusReply reply;
  grpc::ClientContext context;
  ASSERT_TRUE(v1::Admin::NewStub(Connect(server_->addresses()[0]))->GetStatus(&context, {}, &reply).ok());
  EXPECT_EQ(reply.memory().limit(), 123 << 20);
  EXPECT_EQ(reply.memory().call_limit(), 7 << 20);
  EXPECT_GT(reply.memory().resident(), 1 << 20);
  EXPECT_NE(reply.version(), "");
  const int64_t now_us = absl::ToUnixMicros(absl::Now());
  EXPECT_LE(reply.start_time_us(), now_us);
  EXPECT_GT(reply.start_time_us(), now_us - int64_t{3'600} * 1'000'000);
}

}  // namespace
}  // namespace itemdb::daemon
