// Ends gRPC connections whose peers take what others need. gRPC 1.51 has read the whole request, up to 17
// MiB, before it tells us of the call, and it has no bound on calls that are refused or cancelled as soon as
// they begin. But itemd accepts the connections (listener.h), so it can shut their sockets down.
//
// With access keys a connection is unproven until one of its calls was admitted. An unproven connection ends
//   - after the handshake timeout,
//   - when it has received more than one message of the greatest length,
//   - when all unproven connections together have received more than their share of gRPC's memory: the oldest
//     first, but not the last one that sends much, so that a first call may be long,
//   - when it has sent more than a short call and the process has more memory than it may: gRPC begins calls
//     faster than it ends them, and counts them nowhere. For a second its address gets no new connection.
// Any connection ends whose calls are refused for their key, or cancelled as soon as they begin, too often.
//
// Only connections of HOST:PORT are guarded: peers of a unix socket cannot be told apart, and the permissions
// of its file say who they are.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "common/log/log.h"
#include "storage/base/mutex.h"

namespace spdlog {
class logger;
}

namespace itemdb::daemon {

struct GuardOptions {
  // Whether callers need access keys. Without keys no connection is unproven.
  bool keys = false;
  // The longest time without an admitted call; max(): no limit.
  std::chrono::steady_clock::duration unproven_time = std::chrono::seconds(10);
  // Bytes that all unproven connections together may have received.
  int64_t unproven_bytes = 8 << 20;
  // Bytes that one unproven connection may have received.
  int64_t unproven_connection_bytes = 18 << 20;
  // Resident memory of the process from which on unproven connections end that send much.
  int64_t resident_bytes = INT64_MAX;
  // Required.
  common::Log log;
};

// Thread-safe.
class ConnectionGuard {
 public:
  using Clock = std::chrono::steady_clock;

  ConnectionGuard() = default;
  // Calls Stop().
  ~ConnectionGuard();
  ConnectionGuard(const ConnectionGuard&) = delete;
  ConnectionGuard& operator=(const ConnectionGuard&) = delete;

  // Called once, before the first Add().
  void Start(GuardOptions options);
  // Ends the thread. May be called again.
  void Stop();

  // True: guards the connection `fd`, which somebody else owns and may close at any time. False: the
  // connection must be closed; its address has lately taken memory that the process did not have.
  [[nodiscard]] bool Add(int fd);

  // True: CallAdmitted() must be called for admitted calls. False while every connection has proven itself.
  bool awaits_proof() const { return unproven_.load(std::memory_order_relaxed) > 0; }
  // `peer` is grpc::ServerContext::peer(). A call of it was admitted; was refused because of its key; was
  // cancelled before it was answered, after it had come at `arrived`. Unknown peers are ignored.
  void CallAdmitted(std::string_view peer);
  void CallRefused(std::string_view peer);
  void CallCancelled(std::string_view peer, Clock::time_point arrived);

  // Connections ended so far.
  int64_t ended() const { return ended_.load(std::memory_order_relaxed); }

 private:
  struct Connection {
    int fd = -1;
    // Of the socket behind `fd`; another one is another connection.
    ino_t inode = 0;
    Clock::time_point accepted;
    bool proven = false;
    // Bytes, at the last check; while it is unproven.
    int64_t received = 0;
    // What was refused or cancelled lately, in points, at the time `counted`.
    double offences = 0;
    Clock::time_point counted;
  };
  // By PeerOf() of the socket.
  using Connections = std::map<std::string, Connection, std::less<>>;

  void Offend(std::string_view peer, double points, const char* what);
  void Run();
  // For the log, when the lock is released.
  struct Ended {
    std::string peer;
    const char* why = "";
    int64_t ended = 0;
  };
  void Say(const std::optional<Ended>& last) const;
  // Ends unproven connections that are over a limit. Returns the time until the next check.
  Clock::duration CheckUnproven(Clock::time_point now, std::optional<Ended>* last)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Shuts the socket down; gRPC sees its end and closes it. Sets `*last`, at most once a second.
  void End(Connections::iterator connection, const char* why, std::optional<Ended>* last)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remove(Connections::iterator connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Refuses new connections from the address of `connection` for a while.
  void ShutOut(Connections::const_iterator connection, Clock::time_point now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Forgets connections that were closed.
  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  GuardOptions options_;
  std::atomic<int64_t> unproven_ = 0;
  std::atomic<int64_t> ended_ = 0;

  storage::Mutex mutex_;
  storage::CondVar changed_;
  Connections connections_ ABSL_GUARDED_BY(mutex_);
  // Addresses that get no new connections, and until when.
  std::map<std::string, Clock::time_point, std::less<>> shut_out_ ABSL_GUARDED_BY(mutex_);
  // The number of connections after the last Sweep().
  size_t swept_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::time_point logged_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace itemdb::daemon
