// itemd as the systemd unit runs it: without network, and with a watchdog.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <thread>

#include "tests/e2e/e2e_fixture.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;

class ServiceTest : public E2eTest {
 protected:
  void SetUp() override {}
};

// As RestrictAddressFamilies=AF_UNIX: socket() fails for other families in this thread and its children.
void AllowUnixSocketsOnly() {
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EAFNOSUPPORT & SECCOMP_RET_DATA)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {.len = std::size(instructions), .filter = instructions};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST_F(ServiceTest, ServesAUnixSocketWithoutNetworkAndNamesWhatOpensAddresses) {
  const std::string socket = "unix:" + directory_.path() + "/itemd.sock";
  // A thread of its own, because a filter can never be removed.
  std::thread([&] {
    AllowUnixSocketsOnly();
    const CommandResult refused = daemon_.RunToEnd();
    EXPECT_EQ(refused.exit_code, 69);
    EXPECT_THAT(refused.err,
                HasSubstr("cannot listen on 127.0.0.1:0: this process may not use the network; the "
                          "drop-in network.conf"));
    daemon_.set_listen({socket});
    EXPECT_THAT(daemon_.RunToEnd({"--http-listen", "127.0.0.1:0"}).err, HasSubstr("network.conf"));
    const absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
    LoadOrderEntry();
    ExpectCheckIsClean();
    EXPECT_EQ(daemon_.Terminate(), 0);
  }).join();
}

TEST_F(ServiceTest, TellsTheServiceManagerThatItIsAlive) {
  const std::string path = directory_.path() + "/notify";
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const daemon::Descriptor manager(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const timeval patience = {.tv_sec = 60, .tv_usec = 0};
  ASSERT_EQ(setsockopt(manager.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
  const auto receive = [&] {
    char message[256];
    const ssize_t bytes = recv(manager.get(), message, sizeof(message), 0);
    return bytes < 0 ? std::string("nothing") : std::string(message, static_cast<size_t>(bytes));
  };
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  setenv("WATCHDOG_USEC", "100000", 1);
  const absl::Status started = daemon_.Start();
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  ASSERT_TRUE(started.ok()) << started;
  EXPECT_EQ(receive(), "READY=1");
  for (int times = 0; times < 5; ++times) EXPECT_EQ(receive(), "WATCHDOG=1");
  EXPECT_EQ(daemon_.Terminate(), 0);
}

}  // namespace
}  // namespace itemdb::e2e
