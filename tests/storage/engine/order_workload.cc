#include "tests/storage/engine/order_workload.h"

#include <algorithm>
#include <future>
#include <memory>

#include "itemdb/v1/data.pb.h"
#include "tests/support/statistics.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

constexpr int kOrdersPerWriter = 5;
constexpr char kHeader[] = "#";
const RowKey kTotals = {"totals", "totals"};

bool IsNumber(const std::string& attribute) {
  return attribute == "shard" || attribute == "total" || attribute == "write" || attribute == "count";
}

std::string EncodeRow(const Row& row) {
  v1::Item item;
  for (const auto& [name, text] : row) {
    auto* attribute = item.add_attributes();
    attribute->set_name(name);
    *attribute->mutable_value() = IsNumber(name) ? N(text) : S(text);
  }
  return item.SerializeAsString();
}

Row DecodeRow(const v1::Item& item) {
  Row row;
  for (const auto& attribute : item.attributes()) {
    row[attribute.name()] = attribute.value().has_n() ? attribute.value().n() : attribute.value().s();
  }
  return row;
}

RowKey KeyOf(const Row& row) { return {row.at("pk"), row.at("sk")}; }

std::string Show(const std::optional<Row>& row) {
  if (!row.has_value()) return "nothing";
  std::string text = "{";
  for (const auto& [name, value] : *row) {
    if (name != "padding") text += " " + name + "=" + value;
  }
  return text + " }";
}

wire::WriteItemRequest Request(const Row& key_or_item) {
  wire::WriteItemRequest request;
  request.set_table_name(kOrderTable);
  request.set_key_or_item(EncodeRow(key_or_item));
  return request;
}

Row KeyRow(const RowKey& key) { return {{"pk", key.first}, {"sk", key.second}}; }

// Closing an order removes it from the sparse index of open orders (SEED-029).
wire::WriteItemRequest CloseRequest(const RowKey& key, const std::string& write) {
  wire::WriteItemRequest request = Request(KeyRow(key));
  request.set_update_expression("SET #s = :closed, #w = :w REMOVE #shard");
  SetName(&request, "#s", "status");
  SetName(&request, "#shard", "shard");
  SetName(&request, "#w", "write");
  SetValue(&request, ":closed", S("CLOSED"));
  SetValue(&request, ":w", N(write));
  return request;
}

wire::WriteItemRequest CountRequest() {
  wire::WriteItemRequest request = Request(KeyRow(kTotals));
  request.set_update_expression("ADD #c :one");
  SetName(&request, "#c", "count");
  SetValue(&request, ":one", N("1"));
  return request;
}

// A pending reply: the status, and the change sequence if the write was acknowledged.
using Answer = std::future<absl::StatusOr<uint64_t>>;

template <typename Reply>
Done<Reply> Promise(Answer* answer) {
  auto promise = std::make_shared<std::promise<absl::StatusOr<uint64_t>>>();
  *answer = promise->get_future();
  return [promise](absl::StatusOr<Reply> reply) {
    if (!reply.ok()) return promise->set_value(reply.status());
    promise->set_value(reply->change_sequence());
  };
}

Rows ScanOrders(Database& database) {
  Rows rows;
  wire::PageRequest request;
  request.set_table_name(kOrderTable);
  while (true) {
    auto page = Await<Page>([&](auto done) { database.Scan(request, std::move(done)); });
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok()) return rows;
    v1::QueryReply reply;
    EXPECT_TRUE(reply.ParseFromString(page->reply.SerializeAsString() + page->encoded_items));
    for (const auto& item : reply.items()) {
      Row row = DecodeRow(item);
      rows[KeyOf(row)] = row;
    }
    if (!page->reply.has_last_evaluated_key()) return rows;
    request.set_exclusive_start_key(page->reply.last_evaluated_key());
  }
}

// Applies a change record to the state after the records before it.
void Replay(const v1::ChangeRecord& record, bool check_old_images, Rows* rows) {
  std::optional<Row> old_row, stored;
  if (record.has_old_image()) old_row = DecodeRow(record.old_image());
  RowKey key = KeyOf(DecodeRow(record.key()));
  if (auto it = rows->find(key); it != rows->end()) stored = it->second;
  if (check_old_images) {
    EXPECT_EQ(Show(old_row), Show(stored))
        << "change " << record.change_sequence() << " did not replace what was there";
  }
  if (record.has_new_image()) {
    (*rows)[key] = DecodeRow(record.new_image());
  } else {
    rows->erase(key);
  }
}

void ExpectClean(Database& database) {
  auto reply = Await<v1::CheckDatabaseReply>([&](auto done) { database.CheckDatabase({}, std::move(done)); });
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->finding_count(), 0) << reply->DebugString();
}

}  // namespace

v1::CreateTableRequest OrderTableRequest() {
  v1::CreateTableRequest table = TableRequest(kOrderTable);
  table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
  AddIndex(&table, "OrderByCustomerDate", {"customer:S", "date:S"}, 1, v1::PROJECTION_TYPE_INCLUDE,
           {"status", "total", "shard"});
  AddIndex(&table, "OpenOrdersByDate", {"status:S", "shard:N", "date:S"}, 2, v1::PROJECTION_TYPE_KEYS_ONLY);
  AddIndex(&table, "OrderByAccountRep", {"rep:S", "date:S"}, 1, v1::PROJECTION_TYPE_ALL);
  AddIndex(&table, "ProductInOrders", {"product:S", "pk:S"}, 1, v1::PROJECTION_TYPE_INCLUDE,
           {"customer", "total"});
  // With a local index there are also sizes of item collections (SEM-092).
  AddLocalIndex(&table, "LinesByTotal", "total:N", v1::PROJECTION_TYPE_KEYS_ONLY);
  return table;
}

StoredOrders ReadOrders(Database& database, uint64_t trim_horizon) {
  StoredOrders stored;
  Rows replayed;
  uint64_t order_storage_id = 0;
  stored.last_sequence = trim_horizon - 1;
  while (true) {
    v1::ReadChangesRequest request;
    request.set_after_sequence(stored.last_sequence);
    request.set_limit(100);
    auto page =
        Await<v1::ReadChangesReply>([&](auto done) { database.ReadChanges(request, std::move(done)); });
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok() || page->records().empty()) break;
    for (const auto& record : page->records()) {
      EXPECT_EQ(record.change_sequence(), stored.last_sequence + 1) << "the change log has a hole";
      stored.last_sequence = record.change_sequence();
      if (record.kind() == v1::CHANGE_KIND_CREATE_TABLE && record.table().table_name() == kOrderTable) {
        order_storage_id = record.table_storage_id();
      } else if (record.has_key() && (record.table_storage_id() == order_storage_id || trim_horizon > 1)) {
        Replay(record, /*check_old_images=*/trim_horizon == 1, &replayed);
      }
    }
  }
  EXPECT_EQ(database.GetStatus().change_sequence(), stored.last_sequence);

  v1::DescribeTableRequest describe;
  describe.set_table_name(kOrderTable);
  stored.has_table = database.DescribeTable(describe).ok();
  if (stored.has_table) stored.rows = ScanOrders(database);
  if (trim_horizon == 1) {
    EXPECT_TRUE(stored.rows == replayed)
        << "replaying the change log gives other items than the table holds: " << replayed.size() << " and "
        << stored.rows.size();
  }
  ExpectClean(database);
  ExpectExactStatistics(database);
  return stored;
}

OrderWriter::OrderWriter(Options options)
    : options_(options), random_(options.seed * 1000003 + static_cast<uint64_t>(options.number)) {}

std::string OrderWriter::Random(const char* prefix, int count) {
  return prefix + std::to_string(random_() % static_cast<uint64_t>(count));
}

Row OrderWriter::MakeHeader(const RowKey& key) {
  Row row = KeyRow(key);
  row["customer"] = Random("customer-", 4);
  row["date"] = Random("2025-10-", 20);
  row["rep"] = Random("rep-", 3);
  row["total"] = Random("", 1000);
  row["write"] = std::to_string(next_write_++);
  row["status"] = random_() % 4 == 0 ? "CLOSED" : "OPEN";
  if (row["status"] == "OPEN") row["shard"] = Random("", 5);
  row["padding"] = std::string(random_() % (options_.max_padding_bytes + 1), 'p');
  return row;
}

Row OrderWriter::MakeLine(const RowKey& key) {
  Row row = KeyRow(key);
  row["customer"] = Random("customer-", 4);
  row["product"] = Random("product-", 6);
  row["total"] = Random("", 1000);
  row["write"] = std::to_string(next_write_++);
  return row;
}

bool OrderWriter::Owns(const RowKey& key) const {
  return key.first.starts_with("order-" + std::to_string(options_.number) + "-");
}

bool OrderWriter::Step(Database& database) {
  std::vector<int> orders(kOrdersPerWriter);
  for (int i = 0; i < kOrdersPerWriter; ++i) orders[i] = i;
  std::shuffle(orders.begin(), orders.end(), random_);
  orders.resize(1 + random_() % 4);

  std::vector<Write> writes(orders.size());
  std::vector<Answer> answers(orders.size());
  for (size_t i = 0; i < orders.size(); ++i) {
    Write& write = writes[i];
    RowKey header = {"order-" + std::to_string(options_.number) + "-" + std::to_string(orders[i]), kHeader};
    RowKey line_1 = {header.first, "line-1"};
    RowKey line_2 = {header.first, "line-2"};
    switch (random_() % 6) {
      case 0:
      case 1: {
        write.rows = {{header, MakeHeader(header)}};
        database.PutItem(Request(*write.rows[0].second), Promise<wire::WriteItemReply>(&answers[i]));
        break;
      }
      case 2: {
        auto known = acknowledged_.find(header);
        Row closed = known != acknowledged_.end() ? known->second : KeyRow(header);
        closed["status"] = "CLOSED";
        closed["write"] = std::to_string(next_write_++);
        closed.erase("shard");
        write.rows = {{header, closed}};
        database.UpdateItem(CloseRequest(header, closed["write"]),
                            Promise<wire::WriteItemReply>(&answers[i]));
        break;
      }
      case 3: {
        RowKey key = random_() % 2 == 0 ? header : line_1;
        write.rows = {{key, std::nullopt}};
        database.DeleteItem(Request(KeyRow(key)), Promise<wire::WriteItemReply>(&answers[i]));
        break;
      }
      default: {
        write.is_transaction = true;
        write.rows = {{header, MakeHeader(header)}, {line_1, MakeLine(line_1)}, {line_2, MakeLine(line_2)}};
        wire::TransactWriteItemsRequest request;
        for (const auto& [key, row] : write.rows)
          *request.add_transact_items()->mutable_put() = Request(*row);
        *request.add_transact_items()->mutable_update() = CountRequest();
        database.TransactWriteItems(request, Promise<wire::TransactWriteItemsReply>(&answers[i]));
      }
    }
  }

  bool all_acknowledged = true;
  for (size_t i = 0; i < writes.size(); ++i) {
    absl::StatusOr<uint64_t> answer = answers[i].get();
    if (answer.ok()) {
      acknowledged_sequence_ = std::max(acknowledged_sequence_, *answer);
      ++acknowledged_writes_;
      Apply(writes[i]);
      continue;
    }
    all_acknowledged = false;
    if (absl::IsUnknown(answer.status())) {
      EXPECT_EQ(ReasonOf(answer.status()), kReasonWriteOutcomeUnknown);
      ++unknown_writes_;
      unknown_.push_back(std::move(writes[i]));
    } else {
      // These errors mean that nothing was written.
      EXPECT_TRUE(absl::IsUnavailable(answer.status()) || absl::IsResourceExhausted(answer.status()))
          << answer.status();
    }
  }
  return all_acknowledged;
}

void OrderWriter::Apply(const Write& write) {
  if (write.is_transaction) ++committed_transactions_;
  for (const auto& [key, row] : write.rows) {
    if (row.has_value()) {
      acknowledged_[key] = *row;
    } else {
      acknowledged_.erase(key);
    }
  }
}

std::vector<std::string> OrderWriter::Settle(const Rows& stored) {
  std::vector<std::string> contradictions;
  auto find = [](const Rows& rows, const RowKey& key) {
    auto it = rows.find(key);
    return it == rows.end() ? std::optional<Row>() : std::optional<Row>(it->second);
  };
  for (const Write& write : std::exchange(unknown_, {})) {
    size_t there = 0;
    for (const auto& [key, row] : write.rows) there += find(stored, key) == row ? 1 : 0;
    if (there == write.rows.size()) {
      Apply(write);
    } else if (there > 0) {
      contradictions.push_back(std::to_string(there) + " of " + std::to_string(write.rows.size()) +
                               " items of a transaction are there, order " + write.rows[0].first.first);
    }
  }
  auto compare = [&](const RowKey& key) {
    std::optional<Row> expected = find(acknowledged_, key), found = find(stored, key);
    if (found == expected) return;
    contradictions.push_back(key.first + "/" + key.second + ": expected " + Show(expected) + ", found " +
                             Show(found));
  };
  for (const auto& [key, row] : acknowledged_) compare(key);
  for (const auto& [key, row] : stored) {
    if (Owns(key) && !acknowledged_.contains(key)) compare(key);
  }
  return contradictions;
}

void ExpectExplained(std::vector<OrderWriter>& writers, const StoredOrders& stored) {
  int64_t transactions = 0;
  for (OrderWriter& writer : writers) {
    for (const std::string& contradiction : writer.Settle(stored.rows)) ADD_FAILURE() << contradiction;
    transactions += writer.committed_transactions();
    EXPECT_GE(stored.last_sequence, writer.acknowledged_sequence())
        << "an acknowledged change is not in the log";
  }
  auto totals = stored.rows.find(kTotals);
  EXPECT_EQ(totals == stored.rows.end() ? "0" : totals->second.at("count"), std::to_string(transactions))
      << "the transactions that are there and those that the shared item counts";
  for (const auto& [key, row] : stored.rows) {
    bool owned = std::any_of(writers.begin(), writers.end(),
                             [&key = key](const OrderWriter& w) { return w.Owns(key); });
    EXPECT_TRUE(owned || key == kTotals) << "nobody wrote " << key.first << "/" << key.second;
  }
}

}  // namespace itemdb::testing
