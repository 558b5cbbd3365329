// A model of the database's expected content, for tests that stop itemd in the middle of writes. The writing
// threads record the answer of every write, and after each start the database is compared with the model.
//
// An acknowledged write must be in the database and a refused one must not. A write with an unknown outcome
// may be in it or not, but never partly. The change log must hold exactly these writes, each acknowledged
// one at its change sequence, and the tables must hold what the log leads to. A comparison updates the model
// to the content that it found.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "itemdb/client.h"
#include "itemdb/order_entry.h"

namespace itemdb::e2e {

enum class Outcome { kApplied, kNotApplied, kUnknown };

// What a client learned about one write.
struct Answer {
  Outcome outcome = Outcome::kUnknown;
  // kApplied: the sequence of the write's last change. 0: the answer was a repeated one, which names a later
  // sequence.
  uint64_t change_sequence = 0;
};

struct OrderRecord {
  order_entry::NewOrder order;
  Answer placed = {};
  Answer closed = {.outcome = Outcome::kNotApplied};
};

// Thread-safe, except the comparisons. Each cell, each pair and each order belongs to one thread.
class CrashModel {
 public:
  // The version of a cell; 0: there is no such item. Not certain while the outcome of a write is unknown.
  struct Known {
    int64_t version = 0;
    bool certain = true;
  };
  // A transaction on a pair whose outcome is unknown; to be sent again with its token.
  struct InDoubt {
    std::string pair;
    int64_t version;
    std::string token;
  };

  // A cell is one item with a version, called "0-put-3" for example: the part before the first '-' is its
  // partition key. A pair is two cells, "-a" and "-b", which always have the same version.
  void RecordCell(const std::string& id, int64_t version, const Answer& answer);
  // Call if the deletion found an item. Deletions take a version too.
  void RecordDeletion(const std::string& id, int64_t version, const Answer& answer);
  void RecordPair(const std::string& id, int64_t version, const Answer& answer,
                  const std::string& token = "");
  int64_t NextCellVersion(const std::string& id);
  int64_t NextPairVersion(const std::string& id);
  Known Cell(const std::string& id);
  // The versions of all cells with this partition key, without pairs; nullopt while one is not certain.
  std::optional<std::map<std::string, int64_t>> CellsOf(const std::string& owner);
  void RecordPlaced(const order_entry::NewOrder& order, const Answer& answer);
  void RecordClosed(const std::string& order_id, const Answer& answer);
  void RecordRestock(const std::string& product_id, int64_t quantity, const Answer& answer);
  // Records the change sequence of an acknowledged write.
  void RecordSequence(uint64_t change_sequence);
  // Records a change that a watch showed.
  void RecordWatched(const ChangeRecord& change);

  uint64_t last_sequence() const { return last_sequence_; }
  uint64_t changes_compared() const { return changes_compared_; }
  uint64_t acknowledged() const { return acknowledged_; }
  uint64_t unknown() const { return unknown_; }
  // Acknowledged changes that were lost; see CompareChanges.
  uint64_t lost() const { return lost_; }
  std::vector<InDoubt> TakeInDoubt() { return std::exchange(in_doubt_, {}); }

  // Each compares a part of the database with the model, with GoogleTest failures for differences, and
  // updates the model. Call them in this order, while no thread writes.
  //
  // The change log since the last comparison must have no holes and only whole commits, up to the last
  // change, and hold the recorded writes of the ledger. `recovered`: the last change that a start found after
  // a power cut that may have taken later ones, from a database with relaxed durability; the sequences after
  // it have been given to other changes. Default: nothing may be lost.
  void CompareChanges(Client& client, std::optional<uint64_t> recovered = std::nullopt);
  // `now` is the time of the daemon, for items that may have expired.
  void CompareCells(Client& client, absl::Time now = absl::Now());
  void CompareOrders(Client& client);
  void CompareStock(Client& client);

 private:
  // One write of the ledger: the cell and its new version; 0: deleted.
  using Change = std::pair<std::string, int64_t>;
  struct CellState {
    int64_t stored = 0;
    int64_t last = 0;
    bool certain = true;
  };
  struct Quantity {
    int64_t quantity;
    Answer answer;
  };

  void Count(const Answer& answer);
  void Record(const Change& change, const Answer& answer);
  void Forget(uint64_t last_change);
  void Replay(const ChangeRecord& record);
  void CompareWatched(const ChangeRecord& record);

  std::mutex mutex_;
  std::map<std::string, CellState> cells_;
  std::map<std::string, CellState> pairs_;
  std::vector<InDoubt> in_doubt_;
  // Writes since the last comparison: acknowledged, by sequence; acknowledged without a sequence; of unknown
  // outcome.
  std::map<uint64_t, Change> acknowledged_changes_;
  std::multiset<Change> unplaced_changes_;
  std::multiset<Change> possible_changes_;
  std::map<uint64_t, ChangeRecord> watched_;
  // The ledger as the change log leads to it.
  std::map<std::string, Item> items_;
  uint64_t ledger_storage_id_ = 0;
  std::map<std::string, OrderRecord> orders_;
  // For each product: the total stock at the last comparison and the restocks since; orders are counted
  // separately.
  struct Total {
    int64_t compared = 0;
    std::vector<Quantity> restocked = {};
  };
  std::map<std::string, Total> totals_;
  std::map<std::string, int64_t> ordered_before_;  // For each product: the quantity in all orders so far.
  uint64_t changes_compared_ = 0;
  std::atomic<uint64_t> last_sequence_ = 0;
  std::atomic<uint64_t> acknowledged_ = 0;
  std::atomic<uint64_t> unknown_ = 0;
  uint64_t lost_ = 0;
};

inline constexpr char kLedgerTable[] = "Ledger";
inline constexpr char kLedgerByVersion[] = "ByVersion";
inline constexpr char kLedgerByAge[] = "ByAge";
// The attribute for time to live.
inline constexpr char kLedgerExpires[] = "expires";

// The table of cells and pairs, with a global and a local index whose entries change their key with every
// version, and with both images in its change records.
TableDefinition LedgerDefinition();
// The item of a cell.
Item LedgerItem(const std::string& id, int64_t version);
Item LedgerKey(const std::string& id);
std::string LedgerOwner(const std::string& id);

std::string TextOf(const Item& item, std::string_view name);
// -1: there is no such number.
int64_t IntegerOf(const Item& item, std::string_view name);

}  // namespace itemdb::e2e
