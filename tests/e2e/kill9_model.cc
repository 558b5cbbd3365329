#include "tests/e2e/kill9_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace itemdb::e2e {
namespace {

using order_entry::kOrderTable;
using order_entry::kProductTable;

std::string Text(const Item& item, const char* name) {
  const Value* value = item.find_or_null(name);
  const std::string* text = value == nullptr ? nullptr : value->string_or_null();
  return text == nullptr ? "" : *text;
}

int64_t Integer(const Item& item, const char* name) {
  const Value* value = item.find_or_null(name);
  const Number* number = value == nullptr ? nullptr : value->number_or_null();
  return number == nullptr ? -1 : number->ToInt64().value_or(-1);
}

std::vector<Item> ScanAll(Client& client, std::string_view table) {
  absl::StatusOr<std::vector<Item>> items = client.ScanAll({.table_name = std::string(table)}).ToVector();
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

}  // namespace

void Versions::Record(int64_t version, Outcome outcome) {
  last = version;
  if (outcome == Outcome::kApplied) stored = version;
  if (outcome == Outcome::kUnknown) possible.push_back(version);
}

bool Versions::Allows(int64_t version) const {
  return version == stored || std::count(possible.begin(), possible.end(), version) > 0;
}

// ---- while it is written -------------------------------------------------------------------------

void Kill9Model::Count(Outcome outcome) {
  if (outcome == Outcome::kApplied) ++acknowledged_;
  if (outcome == Outcome::kUnknown) ++unknown_;
}

void Kill9Model::RecordCell(const std::string& id, int64_t version, Outcome outcome) {
  std::lock_guard<std::mutex> lock(mutex_);
  Count(outcome);
  cells_[id].Record(version, outcome);
}

void Kill9Model::RecordPair(const std::string& id, int64_t version, Outcome outcome) {
  std::lock_guard<std::mutex> lock(mutex_);
  Count(outcome);
  pairs_[id].Record(version, outcome);
}

int64_t Kill9Model::NextCellVersion(const std::string& id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return cells_[id].last + 1;
}

int64_t Kill9Model::NextPairVersion(const std::string& id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return pairs_[id].last + 1;
}

void Kill9Model::RecordPlaced(const order_entry::NewOrder& order, Outcome outcome) {
  std::lock_guard<std::mutex> lock(mutex_);
  Count(outcome);
  if (outcome != Outcome::kNotApplied) orders_[order.order_id] = {.order = order, .placed = outcome};
}

void Kill9Model::RecordClosed(const std::string& order_id, Outcome outcome) {
  std::lock_guard<std::mutex> lock(mutex_);
  Count(outcome);
  orders_[order_id].closed = outcome;
}

void Kill9Model::RecordRestock(const std::string& product_id, int64_t quantity, Outcome outcome) {
  std::lock_guard<std::mutex> lock(mutex_);
  Count(outcome);
  if (outcome == Outcome::kApplied) totals_[product_id].restocked += quantity;
  if (outcome == Outcome::kUnknown) totals_[product_id].possibly_restocked.push_back(quantity);
}

void Kill9Model::RecordSequence(uint64_t change_sequence) {
  uint64_t seen = last_sequence_;
  while (change_sequence > seen && !last_sequence_.compare_exchange_weak(seen, change_sequence)) {
  }
}

// ---- when it is compared -------------------------------------------------------------------------

void Kill9Model::CompareCells(Client& client) {
  std::map<std::string, int64_t> found;
  for (const Item& item : ScanAll(client, kLedgerTable)) {
    const std::string id = Text(item, "id");
    EXPECT_EQ(item, LedgerItem(id, Integer(item, "version"))) << id << " is not whole";
    found[id] = Integer(item, "version");
  }
  // Removes the item from `found` and returns its version; 0 if there is no such item.
  const auto take = [&found](const std::string& id) {
    auto node = found.extract(id);
    return node.empty() ? int64_t{0} : node.mapped();
  };
  const auto compare = [](const std::string& id, Versions& versions, int64_t version) {
    EXPECT_TRUE(versions.Allows(version))
        << id << " has version " << version << "; acknowledged was " << versions.stored
        << ", unknown the outcome of " << ::testing::PrintToString(versions.possible);
    versions.stored = version;
    versions.possible.clear();
  };
  for (auto& [id, versions] : cells_) compare(id, versions, take(id));
  for (auto& [id, versions] : pairs_) {
    const int64_t version = take(id + "-a");
    EXPECT_EQ(version, take(id + "-b")) << "of the transaction on " << id << " only a half is there";
    compare(id, versions, version);
  }
  EXPECT_TRUE(found.empty()) << "nobody wrote " << found.begin()->first;
}

void Kill9Model::CompareOrders(Client& client) {
  // For each order id: the header, and the lines by product.
  std::map<std::string, Item> headers;
  std::map<std::string, std::map<std::string, int64_t>> lines;
  for (Item& item : ScanAll(client, kOrderTable)) {
    const std::string order_id = Text(item, "PK");
    if (Text(item, "SK") == order_id) {
      headers[order_id] = std::move(item);
    } else {
      lines[order_id][Text(item, "SK")] = Integer(item, "quantity");
    }
  }

  std::set<std::string> open;
  for (auto record = orders_.begin(); record != orders_.end();) {
    const auto& [order_id, expected] = *record;
    SCOPED_TRACE(order_id);
    const auto header = headers.find(order_id);
    if (header == headers.end()) {
      EXPECT_NE(expected.placed, Outcome::kApplied) << "an acknowledged order is gone";
      EXPECT_FALSE(lines.contains(order_id)) << "lines without their header";
      record = orders_.erase(record);
      continue;
    }
    std::map<std::string, int64_t> expected_lines;
    for (const order_entry::NewOrderLine& line : expected.order.lines) {
      expected_lines[line.product_id] = line.quantity;
    }
    EXPECT_EQ(lines[order_id], expected_lines) << "lines are missing or changed";
    const bool closed = Text(header->second, "status") == "CLOSED";
    if (expected.closed != Outcome::kUnknown) {
      EXPECT_EQ(closed, expected.closed == Outcome::kApplied);
    }
    EXPECT_EQ(header->second.contains("shard"), !closed) << "status and shard change together";
    if (!closed) open.insert(order_id);
    record->second.placed = Outcome::kApplied;
    record->second.closed = closed ? Outcome::kApplied : Outcome::kNotApplied;
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

void Kill9Model::CompareStock(Client& client) {
  std::map<std::string, int64_t> stock;
  std::map<std::string, int64_t> found;
  for (const Item& item : ScanAll(client, kProductTable)) {
    const std::string product_id = Text(item, "product_id");
    if (Text(item, "warehouse_id") == product_id) {
      found[product_id] = Integer(item, "total_inventory");
    } else {
      const int64_t quantity = Integer(item, "inventory_quantity");
      EXPECT_GE(quantity, 0) << product_id << " in " << Text(item, "warehouse_id");
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
    // The first comparison only sets the model.
    if (total.compared != 0) {
      const int64_t expected =
          total.compared + total.restocked - (ordered[product_id] - ordered_before_[product_id]);
      EXPECT_TRUE(Sums(total.possibly_restocked).contains(quantity - expected))
          << product_id << " has " << quantity << " instead of " << expected << " plus some of "
          << ::testing::PrintToString(total.possibly_restocked);
    }
    total = {.compared = quantity};
  }
  ordered_before_ = std::move(ordered);
}

void Kill9Model::CompareChanges(Client& client) {
  absl::StatusOr<DaemonStatus> status = client.GetStatus();
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_GE(status->change_sequence, last_sequence_) << "an acknowledged change is not in the log";
  while (changes_compared_ < status->change_sequence) {
    absl::StatusOr<ReadChangesResult> page = client.ReadChanges({.after_sequence = changes_compared_});
    ASSERT_TRUE(page.ok()) << page.status();
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
    }
    ASSERT_EQ(changes_compared_, commit_last) << "a commit is cut";
  }
  ASSERT_EQ(changes_compared_, status->change_sequence);
}

// ---- the ledger ----------------------------------------------------------------------------------

TableDefinition LedgerDefinition() {
  return {
      .table_name = kLedgerTable,
      .attribute_definitions = {{"id", ScalarAttributeType::kString},
                                {"bucket", ScalarAttributeType::kString},
                                {"version", ScalarAttributeType::kNumber}},
      .key_schema = {{"id", KeyType::kHash}},
      .global_secondary_indexes = {{.index_name = "ByVersion",
                                    .key_schema = {{"bucket", KeyType::kHash}, {"version", KeyType::kRange}},
                                    .projection = {.projection_type = ProjectionType::kAll}}}};
}

Item LedgerItem(const std::string& id, int64_t version) {
  // Items of different lengths, so that records cross block boundaries of the write-ahead log at all offsets.
  const size_t bytes = static_cast<size_t>(version * 7919 % 3000);
  return {{"id", id},
          {"version", version},
          {"bucket", "bucket-" + std::to_string(version % 3)},
          {"text", std::string(bytes, static_cast<char>('a' + version % 26))}};
}

}  // namespace itemdb::e2e
