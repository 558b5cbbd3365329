// Order entry under attack: writers that know what a database must hold after they were interrupted.
//
// Each writer has orders of its own, so it knows the order of the writes to each of its items; all writers
// share one item of totals. A write is in one of three states: acknowledged (must be there), refused (must
// not be there), or of unknown outcome (may be there, a transaction as a whole or not at all). Settle() holds
// a database to that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "itemdb/v1/tables.pb.h"
#include "storage/database.h"

namespace itemdb::testing {

inline constexpr char kOrderTable[] = "Order";

// The order table with its four indexes, one of them with a multi-attribute key and one sparse; change
// records carry both images.
v1::CreateTableRequest OrderTableRequest();

// An item's attributes; pk and sk included.
using Row = std::map<std::string, std::string>;
using RowKey = std::pair<std::string, std::string>;
using Rows = std::map<RowKey, Row>;

// What a database holds, read through its face. Every function fails the test when the database contradicts
// itself.
struct StoredOrders {
  Rows rows;
  // The last change record; 0 for none.
  uint64_t last_sequence = 0;
  // Whether the order table exists.
  bool has_table = false;
};
// Scans the order table and reads the change log from its start, which must be `changes_start`. Expects the
// log to be dense, its images to fit each other, replaying it to give the scanned items (only when it starts
// at 1), CheckDatabase to find nothing, and the statistics of tables and indexes to be exact.
StoredOrders ReadOrders(Database& database, uint64_t changes_start = 1);

// Not thread-safe: one thread per writer.
class OrderWriter {
 public:
  struct Options {
    uint64_t seed = 0;
    // Names the orders; different for each writer of a database.
    int number = 0;
    // Extra bytes in an item at most: more makes flushes and new logs more frequent.
    size_t max_padding_bytes = 800;
  };
  explicit OrderWriter(Options options);

  // Sends one to four writes to different items at once and waits for their answers: puts, updates, deletes
  // and transactions. False when any of them was not acknowledged. Errors other than UNKNOWN, UNAVAILABLE and
  // RESOURCE_EXHAUSTED fail the test.
  bool Step(Database& database);

  // Compares what is `stored` with what this writer knows, learning from it what became of writes of unknown
  // outcome. Returns each contradiction in words.
  std::vector<std::string> Settle(const Rows& stored);
  // The transactions that are there, as counted in the shared item. Exact after Settle.
  int64_t committed_transactions() const { return committed_transactions_; }
  // Whether `key` is one of this writer's.
  bool Owns(const RowKey& key) const;

  // The greatest change sequence that an acknowledged write was answered with.
  uint64_t acknowledged_sequence() const { return acknowledged_sequence_; }
  int64_t acknowledged_writes() const { return acknowledged_writes_; }
  int64_t unknown_writes() const { return unknown_writes_; }

 private:
  // One write: the items it leaves (nothing: deleted).
  struct Write {
    std::vector<std::pair<RowKey, std::optional<Row>>> rows;
    bool is_transaction = false;
  };

  Row MakeHeader(const RowKey& key);
  Row MakeLine(const RowKey& key);
  std::string Random(const char* prefix, int count);
  void Apply(const Write& write);

  const Options options_;
  std::mt19937_64 random_;
  int64_t next_write_ = 1;
  Rows acknowledged_;
  std::vector<Write> unknown_;
  int64_t committed_transactions_ = 0;
  uint64_t acknowledged_sequence_ = 0;
  int64_t acknowledged_writes_ = 0;
  int64_t unknown_writes_ = 0;
};

// Fails the test unless `stored` is what the writers left: their items, the totals, nothing else.
void ExpectExplained(std::vector<OrderWriter>& writers, const StoredOrders& stored);

}  // namespace itemdb::testing
