#include "tests/support/crash_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <thread>

namespace itemdb::e2e {
namespace {

using order_entry::kOrderTable;
using order_entry::kProductTable;

// How much time may pass between a comparison's beginning and its scan.
constexpr int64_t kExpiryReserveSeconds = 10;

// With relaxed durability changes are readable when they are synced, which happens once a second.
constexpr absl::Duration kPatienceForSync = absl::Seconds(10);

std::vector<Item> ScanAll(Client& client, std::string_view table, std::string_view index = "") {
  absl::StatusOr<std::vector<Item>> items =
      client.ScanAll({.table_name = std::string(table), .index_name = std::string(index)}).ToVector();
  EXPECT_TRUE(items.ok()) << items.status();
  return items.ok() ? *std::move(items) : std::vector<Item>();
}

// The sums of all subsets of `parts`.
std::set<int64_t> Sums(const std::vector<int64_t>& parts) {
  std::set<int64_t> sums = {0};
  for (const int64_t part : parts) {
    for (const int64_t sum : std::set<int64_t>(sums)) sums.insert(sum + part);
  }
  return sums;
}

// "0-put-3 version 17", or "0-put-3 deleted".
std::string Show(const std::string& id, int64_t version) {
  return id + (version == 0 ? " deleted" : " version " + std::to_string(version));
}

Item WithoutExpiry(Item item) {
  item.Remove(kLedgerExpires);
  return item;
}

}  // namespace

std::string TextOf(const Item& item, std::string_view name) {
  const Value* value = item.find_or_null(name);
  const std::string* text = value == nullptr ? nullptr : value->string_or_null();
  return text == nullptr ? "" : *text;
}

int64_t IntegerOf(const Item& item, std::string_view name) {
  const Value* value = item.find_or_null(name);
  const Number* number = value == nullptr ? nullptr : value->number_or_null();
  return number == nullptr ? -1 : number->ToInt64().value_or(-1);
}

// ---- while it is written -------------------------------------------------------------------------

void CrashModel::Count(const Answer& answer) {
  if (answer.outcome == Outcome::kApplied) ++acknowledged_;
  if (answer.outcome == Outcome::kUnknown) ++unknown_;
}

void CrashModel::Record(const Change& change, const Answer& answer) {
  if (answer.outcome == Outcome::kUnknown) {
    possible_changes_.insert(change);
  } else if (answer.outcome == Outcome::kApplied && answer.change_sequence == 0) {
    unplaced_changes_.insert(change);
  } else if (answer.outcome == Outcome::kApplied) {
    const auto [other, is_new] = acknowledged_changes_.try_emplace(answer.change_sequence, change);
    EXPECT_TRUE(is_new) << Show(change.first, change.second) << " was answered with the sequence of "
                        << Show(other->second.first, other->second.second);
  }
}

void CrashModel::RecordCell(const std::string& id, int64_t version, const Answer& answer) {
  std::lock_guard<std::mutex> lock(mutex_);
  Count(answer);
  Record({id, version}, answer);
  CellState& cell = cells_[id];
  cell.last = version;
  if (answer.outcome == Outcome::kApplied) cell.stored = version;
  if (answer.outcome != Outcome::kNotApplied) cell.certain = answer.outcome == Outcome::kApplied;
}

void CrashModel::RecordDeletion(const std::string& id, int64_t version, const Answer& answer) {
  std::lock_guard<std::mutex> lock(mutex_);
  Count(answer);
  Record({id, 0}, answer);
  CellState& cell = cells_[id];
  cell.last = version;
  if (answer.outcome == Outcome::kApplied) cell.stored = 0;
  if (answer.outcome != Outcome::kNotApplied) cell.certain = answer.outcome == Outcome::kApplied;
}

void CrashModel::RecordPair(const std::string& id, int64_t version, const Answer& answer,
                            const std::string& token) {
  std::lock_guard<std::mutex> lock(mutex_);
  Count(answer);
  const uint64_t last = answer.change_sequence;
  Record({id + "-a", version}, {.outcome = answer.outcome, .change_sequence = last == 0 ? 0 : last - 1});
  Record({id + "-b", version}, answer);
  CellState& pair = pairs_[id];
  pair.last = std::max(pair.last, version);
  if (answer.outcome == Outcome::kApplied) pair.stored = version;
  if (answer.outcome != Outcome::kNotApplied) pair.certain = answer.outcome == Outcome::kApplied;
  if (answer.outcome == Outcome::kUnknown && !token.empty()) in_doubt_.push_back({id, version, token});
}

int64_t CrashModel::NextCellVersion(const std::string& id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return cells_[id].last + 1;
}

int64_t CrashModel::NextPairVersion(const std::string& id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return pairs_[id].last + 1;
}

CrashModel::Known CrashModel::Cell(const std::string& id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const CellState& cell = cells_[id];
  return {.version = cell.stored, .certain = cell.certain};
}

std::optional<std::map<std::string, int64_t>> CrashModel::CellsOf(const std::string& owner) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::string, int64_t> versions;
  for (auto cell = cells_.lower_bound(owner + "-"); cell != cells_.end(); ++cell) {
    if (LedgerOwner(cell->first) != owner) break;
    if (!cell->second.certain) return std::nullopt;
    if (cell->second.stored != 0) versions[cell->first] = cell->second.stored;
  }
  return versions;
}

void CrashModel::RecordPlaced(const order_entry::NewOrder& order, const Answer& answer) {
  std::lock_guard<std::mutex> lock(mutex_);
  Count(answer);
  if (answer.outcome != Outcome::kNotApplied) orders_[order.order_id] = {.order = order, .placed = answer};
}

void CrashModel::RecordClosed(const std::string& order_id, const Answer& answer) {
  std::lock_guard<std::mutex> lock(mutex_);
  Count(answer);
  orders_[order_id].closed = answer;
}

void CrashModel::RecordRestock(const std::string& product_id, int64_t quantity, const Answer& answer) {
  std::lock_guard<std::mutex> lock(mutex_);
  Count(answer);
  if (answer.outcome != Outcome::kNotApplied) totals_[product_id].restocked.push_back({quantity, answer});
}

void CrashModel::RecordSequence(uint64_t change_sequence) {
  uint64_t seen = last_sequence_;
  while (change_sequence > seen && !last_sequence_.compare_exchange_weak(seen, change_sequence)) {
  }
}

void CrashModel::RecordWatched(const ChangeRecord& change) {
  std::lock_guard<std::mutex> lock(mutex_);
  EXPECT_TRUE(watched_.empty() || watched_.rbegin()->first + 1 == change.change_sequence)
      << "a watch showed " << change.change_sequence << " after " << watched_.rbegin()->first;
  watched_[change.change_sequence] = change;
}

// ---- when it is compared -------------------------------------------------------------------------

// The changes after `last_change` were lost. Of the orders and restocks only an upper bound of their sequence
// is known, so they may be lost.
void CrashModel::Forget(uint64_t last_change) {
  const auto lost = [&](Answer& answer) {
    if (answer.outcome == Outcome::kApplied && answer.change_sequence > last_change)
      answer.outcome = Outcome::kUnknown;
  };
  const auto first_lost = acknowledged_changes_.upper_bound(last_change);
  lost_ += static_cast<uint64_t>(std::distance(first_lost, acknowledged_changes_.end()));
  acknowledged_changes_.erase(first_lost, acknowledged_changes_.end());
  possible_changes_.merge(unplaced_changes_);
  for (auto& [id, order] : orders_) {
    lost(order.placed);
    lost(order.closed);
  }
  for (auto& [id, total] : totals_) {
    for (Quantity& one : total.restocked) lost(one.answer);
  }
  last_sequence_ = std::min<uint64_t>(last_sequence_, last_change);
}

void CrashModel::CompareWatched(const ChangeRecord& record) {
  const auto watched = watched_.find(record.change_sequence);
  if (watched == watched_.end()) return;
  EXPECT_TRUE(watched->second.kind == record.kind && watched->second.key == record.key &&
              watched->second.old_image == record.old_image && watched->second.new_image == record.new_image)
      << "change " << record.change_sequence << " is not what a watch showed";
  watched_.erase(watched);
}

// Applies one change of the ledger, and compares it with what was recorded.
void CrashModel::Replay(const ChangeRecord& record) {
  ASSERT_TRUE(record.key.has_value());
  const std::string id = TextOf(*record.key, "id");
  SCOPED_TRACE("change " + std::to_string(record.change_sequence) + " of " + id);
  const auto before = items_.find(id);
  if (before == items_.end()) {
    EXPECT_FALSE(record.old_image.has_value()) << "there was no such item";
  } else {
    EXPECT_EQ(record.old_image, before->second) << "not what the change before left";
  }
  const int64_t version = record.new_image.has_value() ? IntegerOf(*record.new_image, "version") : 0;
  if (record.new_image.has_value()) {
    EXPECT_EQ(WithoutExpiry(*record.new_image), LedgerItem(id, version)) << "not whole";
  }
  const Change change = {id, version};
  const auto acknowledged = acknowledged_changes_.find(record.change_sequence);
  if (acknowledged != acknowledged_changes_.end()) {
    EXPECT_EQ(acknowledged->second, change) << "another write was acknowledged with this sequence";
    acknowledged_changes_.erase(acknowledged);
  } else if (record.expired) {
    EXPECT_TRUE(record.old_image.has_value() &&
                IntegerOf(*record.old_image, kLedgerExpires) <= absl::ToUnixSeconds(record.commit_time))
        << "expired before its time";
  } else if (const auto one = unplaced_changes_.find(change); one != unplaced_changes_.end()) {
    unplaced_changes_.erase(one);
  } else {
    const auto possible = possible_changes_.find(change);
    EXPECT_TRUE(possible != possible_changes_.end()) << "nobody wrote version " << version;
    if (possible != possible_changes_.end()) possible_changes_.erase(possible);
  }
  if (record.new_image.has_value()) {
    items_[id] = *record.new_image;
  } else {
    items_.erase(id);
  }
}

void CrashModel::CompareChanges(Client& client, std::optional<uint64_t> recovered) {
  absl::StatusOr<DaemonStatus> status = client.GetStatus();
  ASSERT_TRUE(status.ok()) << status.status();
  const uint64_t last_change = status->change_sequence;
  if (recovered.has_value()) {
    EXPECT_GE(*recovered, changes_compared_) << "changes that were readable are gone";
    Forget(*recovered);
  }
  EXPECT_GE(last_change, last_sequence_) << "an acknowledged change is not in the log";
  if (ledger_storage_id_ == 0) {
    absl::StatusOr<TableResult> ledger = client.DescribeTable(kLedgerTable);
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    ledger_storage_id_ = ledger->table.storage_id;
  }
  EXPECT_GE(last_change, changes_compared_) << "changes that were readable are gone";
  const absl::Time patience = absl::Now() + kPatienceForSync;
  // There may be later changes: of items that expire now.
  while (changes_compared_ < last_change) {
    absl::StatusOr<ReadChangesResult> page = client.ReadChanges({.after_sequence = changes_compared_});
    ASSERT_TRUE(page.ok()) << page.status();
    if (page->records.empty() && absl::Now() < patience) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    ASSERT_FALSE(page->records.empty()) << "nothing after " << changes_compared_;
    uint64_t commit_last = changes_compared_;
    for (const ChangeRecord& record : page->records) {
      ASSERT_EQ(record.change_sequence, ++changes_compared_) << "the log has a hole";
      // A commit begins after the end of the previous one, and has all its records.
      if (record.change_sequence > commit_last) {
        ASSERT_EQ(record.commit_first_sequence, record.change_sequence);
        commit_last = record.commit_last_sequence;
      }
      ASSERT_EQ(record.commit_last_sequence, commit_last);
      CompareWatched(record);
      if (record.table_storage_id == ledger_storage_id_ && record.key.has_value()) Replay(record);
    }
    ASSERT_EQ(changes_compared_, commit_last) << "a commit is cut";
  }
  for (const auto& [sequence, change] : acknowledged_changes_) {
    ADD_FAILURE() << Show(change.first, change.second) << " was acknowledged as change " << sequence
                  << ", which is another one";
  }
  for (const auto& [id, version] : unplaced_changes_)
    ADD_FAILURE() << Show(id, version) << " was acknowledged, and is not in the log";
  EXPECT_TRUE(watched_.empty()) << "a watch showed change " << watched_.begin()->first
                                << ", which is not in the log";
  acknowledged_changes_.clear();
  unplaced_changes_.clear();
  possible_changes_.clear();
  watched_.clear();
}

void CrashModel::CompareCells(Client& client, absl::Time now) {
  std::map<std::string, Item> found;
  for (Item& item : ScanAll(client, kLedgerTable)) {
    std::string id = TextOf(item, "id");
    found[std::move(id)] = std::move(item);
  }
  // By id: what the log leads to, without items that expire.
  std::map<std::string, int64_t> lasting;
  for (const auto& [id, item] : items_) {
    const bool expires = item.contains(kLedgerExpires);
    if (!expires) lasting[id] = IntegerOf(item, "version");
    const auto node = found.extract(id);
    if (node.empty()) {
      EXPECT_TRUE(expires &&
                  IntegerOf(item, kLedgerExpires) <= absl::ToUnixSeconds(now) + kExpiryReserveSeconds)
          << id << " is gone; its last change was version " << IntegerOf(item, "version");
    } else {
      EXPECT_EQ(node.mapped(), item) << id << " is not what its last change says";
    }
  }
  EXPECT_TRUE(found.empty()) << "nobody wrote " << found.begin()->first;
  for (const char* index : {kLedgerByVersion, kLedgerByAge}) {
    std::map<std::string, int64_t> entries;
    for (const Item& entry : ScanAll(client, kLedgerTable, index)) {
      if (!entry.contains(kLedgerExpires)) entries[TextOf(entry, "id")] = IntegerOf(entry, "version");
    }
    EXPECT_EQ(entries, lasting) << "the index " << index;
  }
  for (auto& [id, cell] : cells_) {
    const auto item = items_.find(id);
    cell.stored = item == items_.end() ? 0 : IntegerOf(item->second, "version");
    cell.certain = true;
  }
  const auto version = [&](const std::string& id) {
    const auto item = lasting.find(id);
    return item == lasting.end() ? 0 : item->second;
  };
  for (auto& [id, pair] : pairs_) {
    pair = {.stored = version(id + "-a"), .last = pair.last};
    EXPECT_EQ(pair.stored, version(id + "-b")) << "of the transaction on " << id << " only a half is there";
  }
}

void CrashModel::CompareOrders(Client& client) {
  // For each order id: the header, and the lines by product.
  std::map<std::string, Item> headers;
  std::map<std::string, std::map<std::string, int64_t>> lines;
  for (Item& item : ScanAll(client, kOrderTable)) {
    const std::string order_id = TextOf(item, "PK");
    if (TextOf(item, "SK") == order_id) {
      headers[order_id] = std::move(item);
    } else {
      lines[order_id][TextOf(item, "SK")] = IntegerOf(item, "quantity");
    }
  }

  std::set<std::string> open;
  for (auto record = orders_.begin(); record != orders_.end();) {
    const auto& [order_id, expected] = *record;
    SCOPED_TRACE(order_id);
    const auto header = headers.find(order_id);
    if (header == headers.end()) {
      EXPECT_NE(expected.placed.outcome, Outcome::kApplied) << "an acknowledged order is gone";
      EXPECT_FALSE(lines.contains(order_id)) << "lines without their header";
      record = orders_.erase(record);
      continue;
    }
    std::map<std::string, int64_t> expected_lines;
    for (const order_entry::NewOrderLine& line : expected.order.lines) {
      expected_lines[line.product_id] = line.quantity;
    }
    EXPECT_EQ(lines[order_id], expected_lines) << "lines are missing or changed";
    const bool closed = TextOf(header->second, "status") == "CLOSED";
    if (expected.closed.outcome != Outcome::kUnknown) {
      EXPECT_EQ(closed, expected.closed.outcome == Outcome::kApplied);
    }
    EXPECT_EQ(header->second.contains("shard"), !closed) << "status and shard change together";
    if (!closed) open.insert(order_id);
    record->second.placed = {.outcome = Outcome::kApplied};
    record->second.closed = {.outcome = closed ? Outcome::kApplied : Outcome::kNotApplied};
    headers.erase(header);
    ++record;
  }
  EXPECT_TRUE(headers.empty()) << "nobody placed " << headers.begin()->first;

  // The sparse index must agree with the table.
  auto open_orders = order_entry::OpenOrders(client, {.from = "0000-01-01", .to = "9999-12-31"}).ToVector();
  ASSERT_TRUE(open_orders.ok()) << open_orders.status();
  std::set<std::string> indexed;
  for (const order_entry::Order& order : *open_orders) indexed.insert(order.order_id);
  EXPECT_EQ(indexed, open);
}

void CrashModel::CompareStock(Client& client) {
  std::map<std::string, int64_t> stock;
  std::map<std::string, int64_t> found;
  for (const Item& item : ScanAll(client, kProductTable)) {
    const std::string product_id = TextOf(item, "product_id");
    if (TextOf(item, "warehouse_id") == product_id) {
      found[product_id] = IntegerOf(item, "total_inventory");
    } else {
      const int64_t quantity = IntegerOf(item, "inventory_quantity");
      EXPECT_GE(quantity, 0) << product_id << " in " << TextOf(item, "warehouse_id");
      stock[product_id] += quantity;
    }
  }
  EXPECT_EQ(found, stock) << "total_inventory is not the sum of the stock";

  std::map<std::string, int64_t> ordered;
  for (const auto& [order_id, record] : orders_) {
    for (const order_entry::NewOrderLine& line : record.order.lines)
      ordered[line.product_id] += line.quantity;
  }
  for (const auto& [product_id, quantity] : found) {
    Total& total = totals_[product_id];
    int64_t restocked = 0;
    std::vector<int64_t> possibly_restocked;
    for (const Quantity& one : total.restocked) {
      if (one.answer.outcome == Outcome::kUnknown) {
        possibly_restocked.push_back(one.quantity);
      } else {
        restocked += one.quantity;
      }
    }
    // The first comparison only sets the model.
    if (total.compared != 0) {
      const int64_t expected =
          total.compared + restocked - (ordered[product_id] - ordered_before_[product_id]);
      EXPECT_TRUE(Sums(possibly_restocked).contains(quantity - expected))
          << product_id << " has " << quantity << " instead of " << expected << " plus some of "
          << ::testing::PrintToString(possibly_restocked);
    }
    total = {.compared = quantity};
  }
  ordered_before_ = std::move(ordered);
}

// ---- the ledger ----------------------------------------------------------------------------------

TableDefinition LedgerDefinition() {
  return {
      .table_name = kLedgerTable,
      .attribute_definitions = {{"owner", ScalarAttributeType::kString},
                                {"id", ScalarAttributeType::kString},
                                {"bucket", ScalarAttributeType::kString},
                                {"version", ScalarAttributeType::kNumber}},
      .key_schema = {{"owner", KeyType::kHash}, {"id", KeyType::kRange}},
      .global_secondary_indexes = {{.index_name = kLedgerByVersion,
                                    .key_schema = {{"bucket", KeyType::kHash}, {"version", KeyType::kRange}},
                                    .projection = {.projection_type = ProjectionType::kAll}}},
      .stream_view_type = StreamViewType::kNewAndOldImages,
      .local_secondary_indexes = {{.index_name = kLedgerByAge,
                                   .key_schema = {{"owner", KeyType::kHash}, {"version", KeyType::kRange}},
                                   .projection = {.projection_type = ProjectionType::kInclude,
                                                  .non_key_attributes = {kLedgerExpires}}}}};
}

std::string LedgerOwner(const std::string& id) { return id.substr(0, id.find('-')); }

Item LedgerKey(const std::string& id) { return {{"owner", LedgerOwner(id)}, {"id", id}}; }

Item LedgerItem(const std::string& id, int64_t version) {
  // Items of different lengths, so that records cross block boundaries of the write-ahead log at all offsets.
  const size_t bytes = static_cast<size_t>(version * 7919 % 3000);
  return {{"owner", LedgerOwner(id)},
          {"id", id},
          {"version", version},
          {"bucket", "bucket-" + std::to_string(version % 3)},
          {"text", std::string(bytes, static_cast<char>('a' + version % 26))}};
}

}  // namespace itemdb::e2e
