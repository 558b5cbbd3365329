// What calls do: access patterns, latencies, watches, and the keys that are used most. The operations are in
// client.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/value.h"

namespace itemdb {

// A way in which a table is read or written: operation, index, and the shapes of the conditions, with
// attribute names and with `?` for each value.
struct AccessPattern {
  std::string table_name = {};
  // Empty: the table itself.
  std::string index_name = {};
  // "Query", "PutItem", ...; a PartiQL statement counts as the operation that it performs.
  std::string operation = {};
  // For example "pk = ? AND begins_with(sk, ?)"; empty if there is none. A name that is not a plain word is
  // in double quotes.
  std::string key_condition = {};
  // The same for the filter, or for the condition of a write.
  std::string filter = {};
  // Query with scan_index_forward false.
  bool descending = false;
  // Each table of a batch or transaction, and each page of a stream, counts as a call.
  int64_t calls = 0;
  // Calls that failed, including those with a false condition.
  int64_t errors = 0;
  // Items read or written, and how many of them the replies contained or counted.
  int64_t items_scanned = 0;
  int64_t items_returned = 0;
  // Time in the database, within 10 %: half of the calls took at most p50, 99 of 100 at most p99.
  absl::Duration p50 = absl::ZeroDuration();
  absl::Duration p99 = absl::ZeroDuration();
};

struct AccessPatternsResult {
  // Most calls first.
  std::vector<AccessPattern> patterns;
  // Calls of further patterns, which the daemon does not keep apart because there are too many.
  int64_t other_calls = 0;
  // Since when calls are counted.
  absl::Time start_time = absl::UnixEpoch();
};

// Calls whose time in the database was this one, within 10 %.
struct LatencyCount {
  absl::Duration latency = absl::ZeroDuration();
  int64_t calls = 0;
};

// The calls of one operation that read or wrote a table; counted as in AccessPattern.
struct OperationActivity {
  std::string table_name = {};
  std::string operation = {};
  int64_t errors = 0;
  int64_t items_scanned = 0;
  int64_t items_returned = 0;
  // The shortest first. The sum of the calls is their number.
  std::vector<LatencyCount> latencies = {};
};

// An open watch of changes.
struct WatchActivity {
  // Counts up from 1 with every watch since the daemon was started.
  int64_t watch_id = 0;
  // Empty: all tables.
  std::string table_name = {};
  // The access key of the client; empty where no keys are asked for.
  std::string key_id = {};
  // The client: "ipv4:10.0.0.7:40312", "ipv6:[::1]:40312", "unix:".
  std::string peer = {};
  // Changes of all tables that it was not sent, and how long ago it was up to date; 0: it is.
  int64_t lag_changes = 0;
  absl::Duration lag = absl::ZeroDuration();
};

// What calls did since the daemon was started, and how far watches are. Counts fall when an index or a table
// is deleted.
struct DaemonActivity {
  // In byte order of table and operation.
  std::vector<OperationActivity> operations;
  // Those that are behind longest first, at most 100.
  std::vector<WatchActivity> watches;
  int64_t open_watches = 0;
  // Since when calls are counted.
  absl::Time start_time = absl::UnixEpoch();
};

struct TopKeysRequest {
  std::string table_name = {};
  // A global index. Empty: the table itself.
  std::string index_name = {};
  // Keys of each list, 1 to 100.
  int limit = 10;
};

struct TopKey {
  // The key attributes.
  Item key = {};
  // Capacity units, or refused requests: at most so many, and at least `error` fewer.
  double count = 0;
  double error = 0;
};

// Keys of a table or index, most used first.
struct TopKeysResult {
  // Since when keys are counted. UnixEpoch: they are not, because contributor insights are off.
  absl::Time start_time = absl::UnixEpoch();
  // By partition key, and by partition key and sort key if there is one: what reads and writes used.
  std::vector<TopKey> partition_keys = {};
  std::vector<TopKey> keys = {};
  // Requests that were refused because too many waited.
  std::vector<TopKey> throttled_partition_keys = {};
  std::vector<TopKey> throttled_keys = {};
  // Only these are counted.
  bool throttled_keys_only = false;
};

}  // namespace itemdb
