// Listening sockets without gRPC: the test receives the accepted descriptors.
#include "daemon/serving/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "storage/base/mutex.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::shared_ptr<spdlog::logger> NoLog() {
  return std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
}

// The accepted connections, in order.
class Accepted {
 public:
  Listener::Accept Taker() {
    return [this](int fd, int, bool tcp) {
      storage::MutexLock lock(mutex_);
      connections_.emplace_back(fd);
      last_was_tcp_ = tcp;
      arrived_.NotifyAll();
    };
  }
  // Waits until `count` connections in all have been accepted.
  bool Await(size_t count) {
    storage::MutexLock lock(mutex_);
    while (connections_.size() < count) {
      if (!arrived_.WaitFor(mutex_, std::chrono::seconds(60))) return false;
    }
    return true;
  }
  size_t count() {
    storage::MutexLock lock(mutex_);
    return connections_.size();
  }
  void Close(size_t index) {
    storage::MutexLock lock(mutex_);
    connections_[index].Reset();
  }
  bool last_was_tcp() {
    storage::MutexLock lock(mutex_);
    return last_was_tcp_;
  }

 private:
  storage::Mutex mutex_;
  storage::CondVar arrived_;
  std::vector<Descriptor> connections_ ABSL_GUARDED_BY(mutex_);
  bool last_was_tcp_ ABSL_GUARDED_BY(mutex_) = false;
};

Descriptor ConnectTo(const std::string& name) {
  const ListenAddress address = *ParseListenAddress(name);
  const SocketAddress target = ToSocketAddress(address);
  Descriptor socket(::socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(socket.get(), target.get(), target.bytes), 0) << std::strerror(errno);
  return socket;
}

// Waits until the other side closes the connection.
bool AwaitClosed(const Descriptor& socket) {
  pollfd event = {.fd = socket.get(), .events = POLLIN, .revents = 0};
  char byte = 0;
  return poll(&event, 1, 60'000) == 1 && read(socket.get(), &byte, 1) <= 0;
}

// Waits until at least `lines` lines have been logged; false after a minute.
bool AwaitLines(spdlog::sinks::ringbuffer_sink_mt& logged, size_t lines) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (logged.last_raw().size() < lines) {
    if (std::chrono::steady_clock::now() >= give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class ListenerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Listener> Open(const std::vector<std::string>& names, unsigned permissions = 0660) {
    std::vector<ListenAddress> addresses;
    for (const std::string& name : names) addresses.push_back(*ParseListenAddress(name));
    auto listener = Listener::Open(addresses, permissions);
    EXPECT_TRUE(listener.ok()) << listener.status();
    return *std::move(listener);
  }

  std::string OpenError(const std::vector<std::string>& names) {
    std::vector<ListenAddress> addresses;
    for (const std::string& name : names) addresses.push_back(*ParseListenAddress(name));
    auto listener = Listener::Open(addresses, 0660);
    EXPECT_TRUE(absl::IsUnavailable(listener.status()));
    return storage::MessageOf(listener.status());
  }

  testing::TemporaryDirectory directory_;
  const std::string socket_ = directory_.path() + "/s";
  Accepted accepted_;
};

TEST_F(ListenerTest, TellsPortsAndWhatAConnectionCameIn) {
  auto listener = Open({"127.0.0.1:0", "[::1]:0", "unix:" + socket_});
  ASSERT_EQ(listener->addresses().size(), 3u);
  EXPECT_THAT(listener->addresses()[0], MatchesRegex("127\\.0\\.0\\.1:[1-9][0-9]*"));
  EXPECT_THAT(listener->addresses()[1], MatchesRegex("\\[::1\\]:[1-9][0-9]*"));
  listener->Start(10, accepted_.Taker(), NoLog());
  Descriptor one = ConnectTo(listener->addresses()[0]);
  ASSERT_TRUE(accepted_.Await(1));
  EXPECT_TRUE(accepted_.last_was_tcp());
  Descriptor two = ConnectTo(listener->addresses()[2]);
  ASSERT_TRUE(accepted_.Await(2));
  EXPECT_FALSE(accepted_.last_was_tcp());
}

TEST_F(ListenerTest, SaysWhyAnAddressFails) {
  auto first = Open({"127.0.0.1:0"});
  EXPECT_EQ(OpenError({first->addresses()[0]}),
            "cannot listen on " + first->addresses()[0] + ": another process uses this address");
  ListenAddress address = *ParseListenAddress(first->addresses()[0]);
  address.setting = "--metrics-listen";
  EXPECT_EQ(storage::MessageOf(CheckCanListen({address})),
            "--metrics-listen: cannot listen on " + address.text + ": another process uses this address");
  EXPECT_THAT(OpenError({"unix:/nowhere/at/all"}), HasSubstr("No such file"));
  EXPECT_THAT(OpenError({"192.0.2.1:0"}), HasSubstr("cannot listen on 192.0.2.1:0: "));
  // All addresses or none: the file of the first one was removed again.
  EXPECT_THAT(OpenError({"unix:" + socket_, first->addresses()[0]}), HasSubstr("another process"));
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(ListenerTest, SocketFilesHaveTheirPermissionsAndGoAtTheEnd) {
  auto listener = Open({"unix:" + socket_}, 0600);
  struct stat info = {};
  ASSERT_EQ(stat(socket_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  listener->Stop();
  EXPECT_FALSE(std::filesystem::exists(socket_));
  // A file that another process has created at this path since is not removed.
  listener = Open({"unix:" + socket_});
  std::filesystem::remove(socket_);
  std::ofstream(socket_) << "precious";
  listener.reset();
  EXPECT_TRUE(std::filesystem::exists(socket_));
}

// gRPC closes connections without notifying the listener; their places must become free again.
TEST_F(ListenerTest, ClosesConnectionsBeyondTheLimitUntilOthersEnd) {
  auto listener = Open({"127.0.0.1:0"});
  listener->Start(3, accepted_.Taker(), NoLog());
  std::vector<Descriptor> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(ConnectTo(listener->addresses()[0]));
  ASSERT_TRUE(accepted_.Await(3));
  EXPECT_TRUE(AwaitClosed(ConnectTo(listener->addresses()[0])));
  accepted_.Close(1);
  // The listener counts open connections only every few milliseconds, so some may still be refused.
  Descriptor again;
  while (accepted_.count() < 4) {
    again = ConnectTo(listener->addresses()[0]);
    pollfd closed = {.fd = again.get(), .events = POLLIN, .revents = 0};
    while (accepted_.count() < 4 && poll(&closed, 1, /*milliseconds=*/10) == 0) {
    }
  }
  EXPECT_TRUE(AwaitClosed(ConnectTo(listener->addresses()[0])));
}

// In this case gRPC's own acceptor stops forever.
TEST_F(ListenerTest, GoesOnOnceThereAreFileDescriptorsAgain) {
  auto logged = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
  auto listener = Open({"127.0.0.1:0"});
  listener->Start(1'000, accepted_.Taker(), std::make_shared<spdlog::logger>("test", logged));
  Descriptor waiting(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress target = ToSocketAddress(*ParseListenAddress(listener->addresses()[0]));
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  // No number below the next free descriptor is unused, so with this limit no descriptor can be opened.
  Descriptor next(dup(0));
  rlimit none = {.rlim_cur = static_cast<rlim_t>(next.get()), .rlim_max = before.rlim_max};
  next.Reset();
  setrlimit(RLIMIT_NOFILE, &none);
  EXPECT_EQ(connect(waiting.get(), target.get(), target.bytes), 0);
  // The connection waits in the backlog and accepting it fails repeatedly. Of several failures within a
  // second one is logged.
  const bool failed_twice = AwaitLines(*logged, 2);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(failed_twice);
  EXPECT_TRUE(accepted_.Await(1));
}

TEST(OpenFileLimit, IsRaisedToTheHardOne) {
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit low = {.rlim_cur = 100, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &low);
  EXPECT_EQ(RaiseOpenFileLimit(), before.rlim_max);
  rlimit after = {};
  getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  setrlimit(RLIMIT_NOFILE, &before);
}

Descriptor ConnectFrom(const std::string& source, const std::string& name) {
  const SocketAddress from = ToSocketAddress(*ParseListenAddress(source + ":0"));
  const SocketAddress target = ToSocketAddress(*ParseListenAddress(name));
  Descriptor socket(::socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(bind(socket.get(), from.get(), from.bytes), 0) << std::strerror(errno);
  EXPECT_EQ(connect(socket.get(), target.get(), target.bytes), 0) << std::strerror(errno);
  return socket;
}

TEST_F(ListenerTest, KeepsTheLastQuarterOfConnectionsForOtherAddresses) {
  constexpr size_t kMax = 64;
  auto listener = Listener::Open({*ParseListenAddress("127.0.0.1:0")}, 0600);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const std::string name = (*listener)->addresses()[0];
  Accepted accepted;
  (*listener)->Start(kMax, accepted.Taker(), NoLog());
  std::vector<Descriptor> greedy;
  for (size_t i = 0; i < kMax * 3 / 4; ++i) greedy.push_back(ConnectFrom("127.0.0.2", name));
  ASSERT_TRUE(accepted.Await(kMax * 3 / 4));
  EXPECT_TRUE(AwaitClosed(ConnectFrom("127.0.0.2", name)));
  std::vector<Descriptor> others;
  for (size_t i = 0; i < kMax / 4; ++i) others.push_back(ConnectFrom("127.0.0.3", name));
  EXPECT_TRUE(accepted.Await(kMax));
  EXPECT_TRUE(AwaitClosed(ConnectFrom("127.0.0.4", name))) << "all are taken";
}

}  // namespace
}  // namespace itemdb::daemon
