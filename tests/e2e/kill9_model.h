// What is known, outside the daemon, of what must be in it: one record a write, kept by the threads that
// write and compared with the database after each kill.
//
// A write that was acknowledged must be there, one that was refused must not, and one whose outcome was lost
// may be either, but whole. After a comparison the model takes over what it found.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "itemdb/client.h"
#include "itemdb/order_entry.h"

namespace itemdb::e2e {

enum class Outcome { kApplied, kNotApplied, kUnknown };

// A value that one thread writes over and over, versions counting up.
struct Versions {
  int64_t stored = 0;             // The last acknowledged; 0: none.
  int64_t last = 0;               // The last tried.
  std::vector<int64_t> possible;  // Outcome unknown, later than `stored`.

  void Record(int64_t version, Outcome outcome);
  bool Allows(int64_t version) const;
};

struct OrderRecord {
  order_entry::NewOrder order;
  Outcome placed = Outcome::kUnknown;
  Outcome closed = Outcome::kNotApplied;
};

// Thread-safe; each cell and each order belongs to one thread.
class Kill9Model {
 public:
  // Cells are numbers under names such as "put-0-3"; pairs are two items of the same version under one name.
  void RecordCell(const std::string& id, int64_t version, Outcome outcome);
  void RecordPair(const std::string& id, int64_t version, Outcome outcome);
  int64_t NextCellVersion(const std::string& id);
  int64_t NextPairVersion(const std::string& id);
  void RecordPlaced(const order_entry::NewOrder& order, Outcome outcome);
  void RecordClosed(const std::string& order_id, Outcome outcome);
  void RecordRestock(const std::string& product_id, int64_t quantity, Outcome outcome);
  // A write was acknowledged with this change sequence.
  void RecordSequence(uint64_t change_sequence);

  uint64_t last_sequence() const { return last_sequence_; }
  uint64_t acknowledged() const { return acknowledged_; }
  uint64_t unknown() const { return unknown_; }

  // Each compares a part of the database with the model (GoogleTest failures where they differ) and takes
  // over what it found. To be called while nobody writes.
  void CompareCells(Client& client);
  void CompareOrders(Client& client);
  void CompareStock(Client& client);
  // The change log after the last comparison: dense, commits whole, up to the database's last change.
  void CompareChanges(Client& client);

 private:
  void Count(Outcome outcome);

  std::mutex mutex_;
  std::map<std::string, Versions> cells_;
  std::map<std::string, Versions> pairs_;
  std::map<std::string, OrderRecord> orders_;
  // By product: the total of the last comparison and what changed it since, orders apart.
  struct Total {
    int64_t compared = 0;
    int64_t restocked = 0;
    std::vector<int64_t> possibly_restocked = {};
  };
  std::map<std::string, Total> totals_;
  std::map<std::string, int64_t> ordered_before_;  // By product: all orders found so far.
  uint64_t changes_compared_ = 0;
  std::atomic<uint64_t> last_sequence_ = 0;
  std::atomic<uint64_t> acknowledged_ = 0;
  std::atomic<uint64_t> unknown_ = 0;
};

inline constexpr char kLedgerTable[] = "Ledger";

// The table of cells and pairs, with an index whose entries move with every version.
TableDefinition LedgerDefinition();
// The item of a cell, or of one half of a pair.
Item LedgerItem(const std::string& id, int64_t version);

}  // namespace itemdb::e2e
