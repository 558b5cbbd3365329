// Order entry under failures: writers that know what a database must hold after an interruption.
//
// Each writer has its own orders, so it knows the order of the writes to each of its items; all writers share
// one item of totals. A write has one of three outcomes: acknowledged (must be there), refused (must not be
// there), or unknown (may be there; a transaction as a whole or not at all). Settle() compares a database
// with these outcomes.
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

// The order table with its four indexes, one of them with a key of several attributes and one sparse; change
// records hold both images.
v1::CreateTableRequest OrderTableRequest();

// An item's attributes, pk and sk included.
using Row = std::map<std::string, std::string>;
using RowKey = std::pair<std::string, std::string>;
using Rows = std::map<RowKey, Row>;

// The content of a database, read through Database. Every function fails the test if it is inconsistent.
struct StoredOrders {
  Rows rows;
  // The sequence of the last change record; 0 if there is none.
  uint64_t last_sequence = 0;
  // Whether the order table exists.
  bool has_table = false;
};
// Scans the order table and reads the change log, whose trim horizon must be `trim_horizon`. Expects: the
// log has no gaps; its images fit each other; replaying it gives the scanned items (only if it starts at 1);
// CheckDatabase finds nothing; the statistics of tables and indexes are exact.
StoredOrders ReadOrders(storage::Database& database, uint64_t trim_horizon = 1);

// Not thread-safe: one thread per writer.
class OrderWriter {
 public:
  struct Options {
    uint64_t seed = 0;
    // Is part of the order ids; different for each writer of a database.
    int number = 0;
    // The largest padding of an item; more padding makes flushes and new logs more frequent.
    size_t max_padding_bytes = 800;
  };
  explicit OrderWriter(Options options);

  // Sends one to four writes (puts, updates, deletes, transactions) to different items at once and waits for
  // their replies. False if any of them was not acknowledged. An error other than UNKNOWN, UNAVAILABLE and
  // RESOURCE_EXHAUSTED fails the test.
  bool Step(storage::Database& database);

  // Compares `stored` with what this writer knows, and learns the outcomes of its unknown writes. Returns a
  // description of each contradiction.
  std::vector<std::string> Settle(const Rows& stored);
  // The committed transactions, as the shared item counts them. Exact after Settle.
  int64_t committed_transactions() const { return committed_transactions_; }
  // Whether `key` belongs to this writer.
  bool Owns(const RowKey& key) const;

  // The greatest change sequence in the reply to an acknowledged write.
  uint64_t acknowledged_sequence() const { return acknowledged_sequence_; }
  int64_t acknowledged_writes() const { return acknowledged_writes_; }
  int64_t unknown_writes() const { return unknown_writes_; }

 private:
  // One write: the items that it leaves (empty: deleted).
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

// Fails the test unless `stored` holds exactly what the writers left: their items and the totals.
void ExpectExplained(std::vector<OrderWriter>& writers, const StoredOrders& stored);

}  // namespace itemdb::testing
