// What unfriendly or unlucky peers do to a daemon. Each attack runs on threads of its own until it is told to
// stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/process/descriptor.h"
#include "itemdb/client.h"

namespace itemdb::bench {

// The key with which the measured callers and some attacks call a daemon that asks for keys.
inline constexpr char kKeyId[] = "FRIEND";
inline constexpr char kSecret[] = "the secret of a friendly caller";

// The table that others read and write, with partition key `id` and sort key `n`; and one whose items of
// 400 KB have five global indexes that hold all of them.
inline constexpr char kTable[] = "pressure";
inline constexpr char kWideTable[] = "wide";
inline constexpr int kWideItems = 100;

struct Target {
  uint16_t grpc_port = 0;
  uint16_t http_port = 0;
  // True: the daemon asks for keys.
  bool keys = false;
};

// What the attackers saw.
struct AttackCounts {
  // Rounds of the attack: calls, streams, connections or transactions.
  std::atomic<int64_t> rounds = 0;
  // Of these, the ones that the daemon refused or cut off.
  std::atomic<int64_t> refused = 0;
};

struct Attack {
  const char* name;
  const char* what;
  // Concurrent attackers unless the caller chooses.
  int count;
  bool keys;
  // The others call over HTTP, on the network thread of the attackers.
  bool http_others;
  void (*run)(const Target& target, int count, const std::atomic<bool>& stop, AttackCounts& counts);
};

const std::vector<Attack>& Attacks();

// A connection to the HTTP endpoint that gets one small item again and again.
class HttpCaller {
 public:
  explicit HttpCaller(uint16_t port);
  // Whether GetItem answered with status 200.
  bool Get();

 private:
  daemon::Descriptor socket_;
};

Client OpenClient(const Target& target, int attempts);

}  // namespace itemdb::bench
