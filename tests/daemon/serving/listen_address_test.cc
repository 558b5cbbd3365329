#include "daemon/process/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace itemdb::daemon {
namespace {

using ::testing::HasSubstr;

// A bound unix socket, which listens by default. Closing it leaves the file, as a killed daemon does.
class BoundSocket {
 public:
  explicit BoundSocket(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(fd_, 1), 0);
  }
  ~BoundSocket() { close(fd_); }

 private:
  int fd_;
};

TEST(PeerAddress, IsTheSameOverBothProtocols) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"ipv4:10.0.0.7:4711", "ipv4:10.0.0.7"},
      {"ipv6:[::1]:4711", "ipv6:[::1]"},
      {"ipv6:%5B::1%5D:4711", "ipv6:[::1]"},
      {"ipv6:[::ffff:10.0.0.7]:4711", "ipv4:10.0.0.7"},
      {"ipv6:%5B::ffff:10.0.0.7%5D:4711", "ipv4:10.0.0.7"},
      {"ipv6:%5Bfe80::1%25eth0%5D:4711", "ipv6:[fe80::1]"},
      {"ipv6:[fe80::1]:4711", "ipv6:[fe80::1]"},
      // Not cut to the network, and no mapped address.
      {"ipv6:[2001:db8::ffff:1]:4711", "ipv6:[2001:db8::ffff:1]"},
      {"ipv6:[::ffff:0:1]:4711", "ipv6:[::ffff:0:1]"},
      {"unix:", "unix"},
      {"unix:/run/itemd.sock", "unix"},
      {"", ""},
  };
  for (const auto& [peer, address] : rows) EXPECT_EQ(AddressOfPeer(peer), address) << peer;
  EXPECT_EQ(NormalPeer("ipv6:%5B::1%5D:4711"), "ipv6:[::1]:4711");
}

TEST(ListenAddress, AcceptsLoopbackAndUnixSockets) {
  struct Row {
    std::string text;
    std::string grpc_text;
    std::string socket_path;
  };
  const Row rows[] = {
      {"127.0.0.1:7420", "127.0.0.1:7420", ""},
      {"127.0.0.1:0", "127.0.0.1:0", ""},
      {"127.8.9.10:65535", "127.8.9.10:65535", ""},
      {"localhost:80", "127.0.0.1:80", ""},
      {"[::1]:0", "[::1]:0", ""},
      {"unix:/run/x.sock", "unix:/run/x.sock", "/run/x.sock"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    auto address = ParseListenAddress(row.text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->text, row.grpc_text);
    EXPECT_EQ(address->socket_path, row.socket_path);
  }
}

// daemon/config/options.cc requires TLS for an address that other machines can reach.
TEST(ListenAddress, TellsWhatOtherMachinesCanReach) {
  for (const char* text : {"0.0.0.0:7420", "192.168.1.2:1", "8.8.8.8:0", "[::]:7420", "[2001:db8::1]:1",
                           "[::ffff:10.0.0.1]:1", "[::ffff:127.0.0.1]:1", "128.0.0.1:1"}) {
    SCOPED_TRACE(text);
    auto address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_FALSE(address->loopback);
  }
  for (const char* text : {"127.0.0.1:0", "127.255.0.1:0", "[::1]:0", "localhost:0", "unix:/s"}) {
    EXPECT_TRUE(ParseListenAddress(text)->loopback) << text;
  }
}

TEST(ListenAddress, RefusesNamesAndSaysWhatToWrite) {
  for (const char* text : {"example.com:7420", "*:7420"}) {
    SCOPED_TRACE(text);
    auto address = ParseListenAddress(text);
    ASSERT_FALSE(address.ok());
    EXPECT_THAT(storage::MessageOf(address.status()), HasSubstr(text));
    EXPECT_THAT(storage::MessageOf(address.status()), HasSubstr("HOST is an IP address or localhost"));
  }
}

TEST(ListenAddress, RefusesWhatIsNoAddress) {
  std::string long_path = "unix:/" + std::string(107, 'p');
  for (const std::string& text :
       {std::string(), std::string(":"), std::string("7420"), std::string("127.0.0.1"),
        std::string("127.0.0.1:"), std::string("127.0.0.1:65536"), std::string("127.0.0.1:-1"),
        std::string("127.0.0.1:7 "), std::string(":7420"), std::string("::1:7420"),
        std::string("[127.0.0.1]:1"), std::string("unix:"), std::string("unix:relative"), long_path}) {
    SCOPED_TRACE(text);
    auto address = ParseListenAddress(text);
    ASSERT_FALSE(address.ok());
    EXPECT_EQ(address.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(storage::MessageOf(address.status()), HasSubstr(text));
  }
  EXPECT_TRUE(ParseListenAddress("unix:/" + std::string(106, 'p')).ok());
}

TEST(ListenAddress, DefaultsToASocketOnlyWhereTheDirectoryIsThere) {
  testing::TemporaryDirectory directory;
  auto with = DefaultListenAddresses(directory.path());
  ASSERT_EQ(with.size(), 2u);
  EXPECT_EQ(with[0].socket_path, directory.path() + "/itemd.sock");
  EXPECT_EQ(with[1].text, "127.0.0.1:7420");

  auto without = DefaultListenAddresses(directory.path() + "/missing");
  ASSERT_EQ(without.size(), 1u);
  EXPECT_EQ(without[0].text, "127.0.0.1:7420");
}

TEST(ListenAddress, RemovesTheSocketOfAKilledDaemon) {
  testing::TemporaryDirectory directory;
  std::string path = directory.path() + "/s";
  { BoundSocket killed(path); }
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(RemoveStaleSocket(path).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(RemoveStaleSocket(path).ok()) << "nothing there is fine";
}

TEST(ListenAddress, KeepsTheSocketOfALivingProcess) {
  testing::TemporaryDirectory directory;
  std::string path = directory.path() + "/s";
  BoundSocket living(path);
  absl::Status status = RemoveStaleSocket(path);
  EXPECT_THAT(storage::MessageOf(status), HasSubstr("another process listens there"));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(ListenAddress, KeepsAFileThatIsNoSocket) {
  testing::TemporaryDirectory directory;
  std::string path = directory.path() + "/notes";
  std::ofstream(path) << "precious";
  EXPECT_THAT(storage::MessageOf(RemoveStaleSocket(path)), HasSubstr("not a socket"));
  EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace itemdb::daemon
