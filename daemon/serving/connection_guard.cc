#include "daemon/serving/connection_guard.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "absl/strings/str_format.h"
#include "daemon/process/descriptor.h"
#include "daemon/process/listen_address.h"

namespace itemdb::daemon {
namespace {

// Points of an offence, the points at which a connection ends, and the points that are forgiven in a second.
// A client that tries a wrong key a few times stays far below.
constexpr double kRefusedPoints = 5;
constexpr double kCancelledPoints = 1;
constexpr double kMaxPoints = 1'500;
constexpr double kForgivenPerSecond = 1'500;
// A call that is cancelled later is no offence: the deadlines of a thousand calls may pass at once.
constexpr std::chrono::milliseconds kSoonCancelled(100);

// Unproven connections are checked this often; less often if they are many, as each costs two system calls.
constexpr std::chrono::milliseconds kCheckInterval(10);
constexpr size_t kConnectionsOfInterval = 256;
// A connection that has received less is not ended for the sum of all.
constexpr int64_t kSmallBytes = 64 << 10;
// What a short first call takes, with the beginning of the connection.
constexpr int64_t kShortCallBytes = 8 << 10;
// Connections between two sweeps, at least.
constexpr size_t kSweepAfter = 256;

ino_t InodeOfSocket(int fd) {
  struct stat info = {};
  return fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode) ? info.st_ino : 0;
}

// What the kernel answers to TCP_INFO since Linux 4.1. The C library's struct has only its beginning, and the
// kernel's own header cannot be included beside the library's.
struct TcpInfo {
  tcp_info head;
  uint64_t pacing_rate;
  uint64_t max_pacing_rate;
  uint64_t bytes_acked;
  uint64_t bytes_received;
};
static_assert(offsetof(TcpInfo, bytes_received) == 128);

int64_t ReceivedBytes(int fd) {
  TcpInfo info = {};
  socklen_t bytes = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return 0;
  return static_cast<int64_t>(info.bytes_received);
}

// The resident memory of this process; 0 where the kernel does not tell.
int64_t ResidentBytes() {
  static const Descriptor file(open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  char text[128] = "";
  if (pread(file.get(), text, sizeof(text) - 1, 0) <= 0) return 0;
  long size = 0, resident = 0;
  if (std::sscanf(text, "%ld %ld", &size, &resident) != 2) return 0;
  return resident * sysconf(_SC_PAGESIZE);
}

// Without the port.
std::string_view AddressIn(std::string_view peer) { return peer.substr(0, peer.rfind(':')); }

}  // namespace

void ConnectionGuard::Start(GuardOptions options) {
  options_ = std::move(options);
  if (options_.keys) thread_ = std::thread([this] { Run(); });
}

void ConnectionGuard::Stop() {
  {
    storage::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

ConnectionGuard::~ConnectionGuard() { Stop(); }

bool ConnectionGuard::Add(int fd) {
  const std::string peer = NormalPeer(PeerOf(fd));
  if (!peer.starts_with("ip")) return true;
  storage::MutexLock lock(mutex_);
  if (const auto found = shut_out_.find(AddressIn(peer)); found != shut_out_.end()) {
    if (Clock::now() < found->second) return false;
    shut_out_.erase(found);
  }
  if (connections_.size() > 2 * swept_ + kSweepAfter) Sweep();
  // A connection of the same peer has ended.
  if (const auto former = connections_.find(peer); former != connections_.end()) Remove(former);
  Connection& added = connections_[peer];
  added.fd = fd;
  added.inode = InodeOfSocket(fd);
  added.accepted = added.counted = Clock::now();
  added.proven = !options_.keys;
  if (added.proven) return true;
  if (unproven_.fetch_add(1, std::memory_order_relaxed) == 0) changed_.NotifyAll();
  return true;
}

void ConnectionGuard::ShutOut(Connections::const_iterator connection, Clock::time_point now) {
  constexpr size_t kMaxAddresses = 10'000;
  std::erase_if(shut_out_, [now](const auto& entry) { return entry.second < now; });
  if (shut_out_.size() < kMaxAddresses)
    shut_out_[std::string(AddressIn(connection->first))] = now + std::chrono::seconds(1);
}

void ConnectionGuard::CallAdmitted(std::string_view peer) {
  storage::MutexLock lock(mutex_);
  const auto connection = connections_.find(NormalPeer(peer));
  if (connection == connections_.end() || connection->second.proven) return;
  connection->second.proven = true;
  unproven_.fetch_sub(1, std::memory_order_relaxed);
}

void ConnectionGuard::CallRefused(std::string_view peer) { Offend(peer, kRefusedPoints, "refused calls"); }
void ConnectionGuard::CallCancelled(std::string_view peer, Clock::time_point arrived) {
  if (Clock::now() - arrived < kSoonCancelled) Offend(peer, kCancelledPoints, "cancelled calls");
}

void ConnectionGuard::Offend(std::string_view peer, double points, const char* what) {
  std::optional<Ended> last;
  {
    storage::MutexLock lock(mutex_);
    const auto found = connections_.find(NormalPeer(peer));
    if (found == connections_.end()) return;
    Connection& connection = found->second;
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - connection.counted).count();
    connection.counted = now;
    connection.offences = std::max(0.0, connection.offences - seconds * kForgivenPerSecond) + points;
    if (connection.offences >= kMaxPoints) End(found, what, &last);
  }
  Say(last);
}

void ConnectionGuard::Say(const std::optional<Ended>& last) const {
  if (last.has_value())
    options_.log->warn("connection ended peer={} reason={} ended={}", last->peer, last->why, last->ended);
}

void ConnectionGuard::Run() {
  Clock::time_point next = Clock::now();
  while (true) {
    std::optional<Ended> last;
    {
      storage::MutexLock lock(mutex_);
      while (!stopping_ && Clock::now() < next) changed_.WaitFor(mutex_, next - Clock::now());
      while (!stopping_ && unproven_.load(std::memory_order_relaxed) == 0) changed_.Wait(mutex_);
      if (stopping_) return;
      next = Clock::now() + CheckUnproven(Clock::now(), &last);
    }
    Say(last);
  }
}

ConnectionGuard::Clock::duration ConnectionGuard::CheckUnproven(Clock::time_point now,
                                                                std::optional<Ended>* last) {
  struct Sender {
    Connections::iterator connection;
    int64_t bytes;
  };
  std::vector<Sender> senders;
  int64_t sum = 0;
  size_t checked = 0;
  const bool too_large = ResidentBytes() > options_.resident_bytes;
  for (auto next = connections_.begin(); next != connections_.end();) {
    const auto connection = next++;
    if (connection->second.proven) continue;
    ++checked;
    if (InodeOfSocket(connection->second.fd) != connection->second.inode) {
      // Many connections that send much and leave are as bad as one that stays.
      if (too_large && connection->second.received > kShortCallBytes) ShutOut(connection, now);
      Remove(connection);
      continue;
    }
    const int64_t bytes = ReceivedBytes(connection->second.fd);
    connection->second.received = bytes;
    if (now - connection->second.accepted > options_.unproven_time) {
      End(connection, "no admitted call in time", last);
    } else if (bytes > options_.unproven_connection_bytes) {
      End(connection, "too many bytes before an admitted call", last);
    } else if (too_large && bytes > kShortCallBytes) {
      ShutOut(connection, now);
      End(connection, "bytes before an admitted call while memory is short", last);
    } else if (bytes > kSmallBytes) {
      senders.push_back({connection, bytes});
      sum += bytes;
    }
  }
  std::sort(senders.begin(), senders.end(), [](const Sender& a, const Sender& b) {
    return a.connection->second.accepted < b.connection->second.accepted;
  });
  for (size_t i = 0; i + 1 < senders.size() && sum > options_.unproven_bytes; ++i) {
    sum -= senders[i].bytes;
    End(senders[i].connection, "too many bytes before admitted calls", last);
  }
  return kCheckInterval * (1 + static_cast<int64_t>(checked / kConnectionsOfInterval));
}

void ConnectionGuard::End(Connections::iterator connection, const char* why, std::optional<Ended>* last) {
  // The copy keeps the socket, so that its number cannot become another connection's before the shutdown.
  const Descriptor copy(fcntl(connection->second.fd, F_DUPFD_CLOEXEC, 0));
  if (copy.get() >= 0 && InodeOfSocket(copy.get()) == connection->second.inode) {
    shutdown(copy.get(), SHUT_RDWR);
    // What has arrived would still be read.
    constexpr size_t kDiscarded = 16 << 20;
    while (recv(copy.get(), nullptr, kDiscarded, MSG_TRUNC | MSG_DONTWAIT) > 0) {
    }
    ended_.fetch_add(1, std::memory_order_relaxed);
    const Clock::time_point now = Clock::now();
    if (now - logged_ >= std::chrono::seconds(1)) {
      logged_ = now;
      *last = {.peer = connection->first, .why = why, .ended = static_cast<int64_t>(ended())};
    }
  }
  Remove(connection);
}

void ConnectionGuard::Remove(Connections::iterator connection) {
  if (!connection->second.proven) unproven_.fetch_sub(1, std::memory_order_relaxed);
  connections_.erase(connection);
}

void ConnectionGuard::Sweep() {
  for (auto next = connections_.begin(); next != connections_.end();) {
    const auto connection = next++;
    if (InodeOfSocket(connection->second.fd) != connection->second.inode) Remove(connection);
  }
  swept_ = connections_.size();
}

}  // namespace itemdb::daemon
