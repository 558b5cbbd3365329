// A model of the database's expected content. The writing threads record the outcome of every write, and the
// model is compared with the database after each kill.
//
// An acknowledged write must be in the database and a refused one must not. A write with an unknown outcome
// may be in it or not, but never partly. A comparison updates the model to the content that it found.
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

// A value that one thread overwrites again and again, with increasing versions.
struct Versions {
  int64_t stored = 0;             // The last acknowledged version; 0: none.
  int64_t last = 0;               // The last version that was sent.
  std::vector<int64_t> possible;  // Versions after `stored` with an unknown outcome.

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
  // A cell is one item with a version, called "put-0-3" for example. A pair is two items that have the same
  // version.
  void RecordCell(const std::string& id, int64_t version, Outcome outcome);
  void RecordPair(const std::string& id, int64_t version, Outcome outcome);
  int64_t NextCellVersion(const std::string& id);
  int64_t NextPairVersion(const std::string& id);
  void RecordPlaced(const order_entry::NewOrder& order, Outcome outcome);
  void RecordClosed(const std::string& order_id, Outcome outcome);
  void RecordRestock(const std::string& product_id, int64_t quantity, Outcome outcome);
  // Records the change sequence of an acknowledged write.
  void RecordSequence(uint64_t change_sequence);

  uint64_t last_sequence() const { return last_sequence_; }
  uint64_t acknowledged() const { return acknowledged_; }
  uint64_t unknown() const { return unknown_; }

  // Each compares a part of the database with the model, with GoogleTest failures for differences, and
  // updates the model. Call them while no thread writes.
  void CompareCells(Client& client);
  void CompareOrders(Client& client);
  void CompareStock(Client& client);
  // The change log since the last comparison must have no holes and only whole commits, up to the last
  // change.
  void CompareChanges(Client& client);

 private:
  void Count(Outcome outcome);

  std::mutex mutex_;
  std::map<std::string, Versions> cells_;
  std::map<std::string, Versions> pairs_;
  std::map<std::string, OrderRecord> orders_;
  // For each product: the total stock at the last comparison and the restocks since; orders are counted
  // separately.
  struct Total {
    int64_t compared = 0;
    int64_t restocked = 0;
    std::vector<int64_t> possibly_restocked = {};
  };
  std::map<std::string, Total> totals_;
  std::map<std::string, int64_t> ordered_before_;  // For each product: the quantity in all orders so far.
  uint64_t changes_compared_ = 0;
  std::atomic<uint64_t> last_sequence_ = 0;
  std::atomic<uint64_t> acknowledged_ = 0;
  std::atomic<uint64_t> unknown_ = 0;
};

inline constexpr char kLedgerTable[] = "Ledger";

// The table of cells and pairs, with an index whose entries change their key with every version.
TableDefinition LedgerDefinition();
// The item of a cell, or of one half of a pair.
Item LedgerItem(const std::string& id, int64_t version);

}  // namespace itemdb::e2e
