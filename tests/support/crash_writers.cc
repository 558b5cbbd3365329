#include "tests/support/crash_writers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

namespace itemdb::e2e {
namespace {

// A pause after an error that a fault explains, so that writers do not spin while the daemon refuses.
constexpr std::chrono::milliseconds kPauseAfterRefusal(5);

// Puts: overwrites the same eight items, and adds new ones.
class PutWriter : public Writer {
  using Writer::Writer;

  void Step() override {
    const bool fresh = Pick(random_, 0, 4) == 0;
    const std::string id =
        fresh ? Name("new-" + std::to_string(load_.number), ++fresh_) : Name("put", Pick(random_, 0, 7));
    const int64_t version = model_.NextCellVersion(id);
    const auto result = client_.PutItem({.table_name = kLedgerTable, .item = LedgerItem(id, version)});
    model_.RecordCell(id, version, Classify(result));
  }

  int64_t fresh_ = 0;
};

// Updates and deletes with conditions, and reads; every answer must be what the model says.
class CellWriter : public Writer {
  using Writer::Writer;

  void Step() override {
    const std::string id = Name("cell", Pick(random_, 0, 9));
    switch (Pick(random_, 0, 6)) {
      case 0:
      case 1:
      case 2:
        return Update(id);
      case 3:
        return Delete(id);
      case 4:
        return Get(id);
      case 5:
        return Query(Pick(random_, 0, 1) == 0 ? kLedgerByAge : "");
      default:
        return QueryBucket();
    }
  }

  // Writes the next version if the present one is as expected.
  void Update(const std::string& id) {
    const CrashModel::Known known = model_.Cell(id);
    const int64_t version = model_.NextCellVersion(id);
    const bool wrong = Pick(random_, 0, 4) == 0;
    Item item = LedgerItem(id, version);
    UpdateItemRequest request = {
        .table_name = kLedgerTable,
        .key = LedgerKey(id),
        .update_expression = "SET #v = :v, #b = :b, #t = :t",
        .condition_expression = "attribute_not_exists(id)",
        .expression_attribute_names = {{"#v", "version"}, {"#b", "bucket"}, {"#t", "text"}},
        .expression_attribute_values = {{":v", *item.find_or_null("version")},
                                        {":b", *item.find_or_null("bucket")},
                                        {":t", *item.find_or_null("text")}},
        .return_values = ReturnValues::kAllNew};
    if ((known.version != 0) != wrong) {
      request.condition_expression = "#v = :expected";
      request.expression_attribute_values[":expected"] = known.version == 0 ? -1 : known.version;
    }
    const auto result = client_.UpdateItem(request);
    if (ReasonOf(result.status()) == kReasonConditionalCheckFailed) {
      EXPECT_TRUE(wrong || !known.certain) << id << ": the condition was true of version " << known.version;
      ++load_.calls;
      return;
    }
    const Answer answer = Classify(result);
    if (result.ok()) {
      EXPECT_TRUE(!wrong || !known.certain) << id << ": the condition was false of version " << known.version;
      EXPECT_EQ(result->attributes, item) << id;
    }
    model_.RecordCell(id, version, answer);
  }

  void Delete(const std::string& id) {
    const CrashModel::Known known = model_.Cell(id);
    const int64_t version = model_.NextCellVersion(id);
    const auto result = client_.DeleteItem(
        {.table_name = kLedgerTable, .key = LedgerKey(id), .return_values = ReturnValues::kAllOld});
    const Answer answer = Classify(result);
    if (result.ok() && known.certain) ExpectVersion(id, known.version, result->attributes);
    // Without an item there is no change.
    if (!result.ok() || result->attributes.has_value()) model_.RecordDeletion(id, version, answer);
  }

  void Get(const std::string& id) {
    const CrashModel::Known known = model_.Cell(id);
    const auto result = client_.GetItem({.table_name = kLedgerTable, .key = LedgerKey(id)});
    if (Answered(result.status()) && known.certain) ExpectVersion(id, known.version, result->item);
  }

  // This writer's own cells, by id or by version.
  void Query(const char* index) {
    const auto known = model_.CellsOf(std::to_string(number_));
    const auto result = client_
                            .QueryAll({.table_name = kLedgerTable,
                                       .index_name = index,
                                       .key_condition_expression = "#o = :o",
                                       .expression_attribute_names = {{"#o", "owner"}},
                                       .expression_attribute_values = {{":o", std::to_string(number_)}},
                                       .limit = static_cast<int32_t>(Pick(random_, 1, 5))})
                            .ToVector();
    if (!Answered(result.status()) || !known.has_value()) return;
    std::map<std::string, int64_t> found;
    int64_t last_version = 0;
    for (const Item& item : *result) {
      const int64_t version = IntegerOf(item, "version");
      if (*index != '\0') {
        EXPECT_GE(version, last_version) << "the index is not sorted";
      }
      last_version = version;
      EXPECT_TRUE(found.emplace(TextOf(item, "id"), version).second) << TextOf(item, "id") << " comes twice";
    }
    EXPECT_EQ(found, *known) << "a query of " << (*index == '\0' ? "the table" : index);
  }

  // The newest entries of a bucket, written by all writers.
  void QueryBucket() {
    const std::string bucket = "bucket-" + std::to_string(Pick(random_, 0, 2));
    const auto page = client_.Query({.table_name = kLedgerTable,
                                     .index_name = kLedgerByVersion,
                                     .key_condition_expression = "#b = :b",
                                     .expression_attribute_names = {{"#b", "bucket"}},
                                     .expression_attribute_values = {{":b", bucket}},
                                     .limit = 20,
                                     .scan_index_forward = false});
    if (!Answered(page.status())) return;
    int64_t last_version = std::numeric_limits<int64_t>::max();
    for (Item item : page->items) {
      const int64_t version = IntegerOf(item, "version");
      item.Remove(kLedgerExpires);
      EXPECT_EQ(item, LedgerItem(TextOf(item, "id"), version)) << "an index entry is not whole";
      EXPECT_EQ(TextOf(item, "bucket"), bucket);
      EXPECT_LE(version, last_version) << "the index is not sorted";
      last_version = version;
    }
  }

  static void ExpectVersion(const std::string& id, int64_t version, const std::optional<Item>& item) {
    if (version == 0) {
      EXPECT_FALSE(item.has_value()) << id << " was deleted, and has version "
                                     << IntegerOf(item.value_or(Item()), "version");
    } else {
      EXPECT_EQ(item, LedgerItem(id, version)) << id;
    }
  }
};

// Writes two items at once, by transaction or batch; both must always have the same version.
class PairWriter : public Writer {
  using Writer::Writer;

  void Step() override {
    const std::string id = Name("pair", Pick(random_, 0, 3));
    const int64_t version = model_.NextPairVersion(id);
    if (load_.everything && Pick(random_, 0, 2) == 0) {
      const auto result =
          client_.BatchWriteItem({.writes = {BatchPut{kLedgerTable, LedgerItem(id + "-a", version)},
                                             BatchPut{kLedgerTable, LedgerItem(id + "-b", version)}}},
                                 OneAttempt());
      model_.RecordPair(id, version, Classify(result));
      return;
    }
    const std::string token = std::to_string(load_.number) + "-" + id + "-" + std::to_string(version);
    CallOptions options = OneAttempt();
    options.client_request_token = token;
    const auto result = client_.TransactWriteItems(TransactionOn(id, version), options);
    model_.RecordPair(id, version, Classify(result), token);
  }

 public:
  static TransactWriteItemsRequest TransactionOn(const std::string& id, int64_t version) {
    return {.actions = {TransactPut{.table_name = kLedgerTable, .item = LedgerItem(id + "-a", version)},
                        TransactPut{.table_name = kLedgerTable, .item = LedgerItem(id + "-b", version)}}};
  }
};

// Items that expire at once or in a few seconds.
class ExpiringWriter : public Writer {
  using Writer::Writer;

  void Step() override {
    const std::string id = Name("expiring-" + std::to_string(load_.number), ++written_);
    Item item = LedgerItem(id, 1);
    item.Set(kLedgerExpires, absl::ToUnixSeconds(absl::Now()) + Pick(random_, -2, 3));
    const auto result = client_.PutItem({.table_name = kLedgerTable, .item = std::move(item)});
    model_.RecordCell(id, 1, Classify(result));
    // Fewer than of the others: the more, the longer deleting them takes.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  int64_t written_ = 0;
};

const char* const kWarehouses[] = {"wh_atl", "wh_pdx", "wh_sea"};
const char* const kProducts[] = {"prod_100", "prod_101"};

// Places orders of one or two lines and closes some of them.
class OrderWriter : public Writer {
  using Writer::Writer;

  void Step() override {
    if (!open_.empty() && Pick(random_, 0, 2) == 0) {
      const std::string order_id = open_.back();
      open_.pop_back();
      const auto result = order_entry::CloseOrder(client_, order_id);
      // A repeated attempt may find the order closed by the attempt before, whose answer was lost.
      if (load_.tolerates != nullptr && ReasonOf(result.status()) == "ORDER_NOT_OPEN") return;
      model_.RecordClosed(order_id, Classify(result));
      return;
    }
    order_entry::NewOrder order{.order_id = "order-" + std::to_string(load_.number) + "-" +
                                            std::to_string(number_) + "-" + std::to_string(++placed_),
                                .customer_id = "cust_001",
                                .order_date = "2026-03-0" + std::to_string(Pick(random_, 1, 9)),
                                .account_rep_id = "rep_001",
                                .lines = {}};
    const int64_t lines = Pick(random_, 1, 2);
    for (int64_t i = 0; i < lines; ++i) {
      order.lines.push_back({.product_id = kProducts[i],
                             .quantity = Pick(random_, 1, 5),
                             .price = 25,
                             .warehouse_id = kWarehouses[Pick(random_, 0, 2)]});
    }
    const auto result = order_entry::PlaceOrder(client_, order);
    const Answer answer = Classify(result);
    model_.RecordPlaced(order, answer);
    if (answer.outcome == Outcome::kApplied) open_.push_back(order.order_id);
  }

  int64_t placed_ = 0;
  std::vector<std::string> open_;
};

// Moves stock between warehouses and restocks.
class StockWriter : public Writer {
  using Writer::Writer;

  void Step() override {
    const std::string product_id = kProducts[Pick(random_, 0, 1)];
    const int64_t from = Pick(random_, 0, 2);
    if (Pick(random_, 0, 1) == 0) {
      const int64_t quantity = Pick(random_, 1, 20);
      const auto result = order_entry::Restock(
          client_, {.product_id = product_id, .warehouse_id = kWarehouses[from], .quantity = quantity});
      model_.RecordRestock(product_id, quantity, Classify(result));
      return;
    }
    // A move does not change the total, so its outcome is not recorded.
    Classify(order_entry::MoveStock(client_, {.product_id = product_id,
                                              .from_warehouse_id = kWarehouses[from],
                                              .to_warehouse_id = kWarehouses[(from + 1) % 3],
                                              .quantity = Pick(random_, 1, 10)}));
  }
};

}  // namespace

Writer::Writer(Load& load, CrashModel& model, int number, uint64_t seed)
    : load_(load),
      model_(model),
      number_(number),
      random_(seed),
      client_(*Client::Open({.endpoint = load.endpoint})) {}

void Writer::Acknowledge(uint64_t change_sequence) {
  model_.RecordSequence(change_sequence);
  ++load_.calls;
  --load_.until_stop;
}

Answer Writer::ClassifyError(const absl::Status& status) {
  ++load_.calls;
  const std::string reason = ReasonOf(status);
  if (reason == "OUT_OF_STOCK") return {.outcome = Outcome::kNotApplied};
  if (load_.stopping) {
    gone_ = true;
  } else if (load_.tolerates != nullptr && load_.tolerates(status)) {
    ++load_.refused;
    std::this_thread::sleep_for(kPauseAfterRefusal);
  } else {
    gone_ = true;
    EXPECT_TRUE(load_.stopping) << "refused while the daemon ran: " << status;
  }
  if (reason == kReasonWriteOutcomeUnknown) return {.outcome = Outcome::kUnknown};
  EXPECT_TRUE(absl::IsUnavailable(status) || (load_.tolerates != nullptr && load_.tolerates(status)))
      << status;
  return {.outcome = Outcome::kNotApplied};
}

bool Writer::Answered(const absl::Status& status) {
  if (!status.ok()) return ClassifyError(status), false;
  ++load_.calls;
  return true;
}

Writers::Writers(Load& load, CrashModel& model, Random& random) : load_(load), model_(model) {
  const auto add = [&]<typename Kind>(std::type_identity<Kind>) {
    const int number = static_cast<int>(writers_.size());
    writers_.push_back(std::make_unique<Kind>(load, model, number, random()));
  };
  add(std::type_identity<PutWriter>());
  add(std::type_identity<PutWriter>());
  add(std::type_identity<PairWriter>());
  add(std::type_identity<OrderWriter>());
  add(std::type_identity<OrderWriter>());
  add(std::type_identity<StockWriter>());
  if (load.everything) {
    add(std::type_identity<CellWriter>());
    add(std::type_identity<CellWriter>());
    add(std::type_identity<ExpiringWriter>());
  }
  for (const auto& writer : writers_) threads_.emplace_back([&writer] { writer->Run(); });
  if (load.everything) threads_.emplace_back([this] { Watch(model_.changes_compared()); });
}

Writers::~Writers() {
  load_.finished = true;
  stop_watching_.Cancel();
  for (std::thread& thread : threads_) thread.join();
}

bool Writers::AwaitWrites(absl::Duration patience) {
  const absl::Time end = absl::Now() + patience;
  while (load_.until_stop > 0) {
    if (absl::Now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

void Writers::Watch(uint64_t after_sequence) {
  Client client = *Client::Open({.endpoint = load_.endpoint});
  CallOptions options;
  options.cancel = stop_watching_;
  ChangeRange changes = client.Watch({.after_sequence = after_sequence}, options);
  for (const ChangeRecord& change : changes) model_.RecordWatched(change);
  EXPECT_TRUE(load_.stopping || (load_.tolerates != nullptr && load_.tolerates(changes.status())))
      << "the watch ended: " << changes.status();
}

void RepeatInDoubt(Client& client, CrashModel& model) {
  for (const CrashModel::InDoubt& one : model.TakeInDoubt()) {
    CallOptions options = OneAttempt();
    options.client_request_token = one.token;
    const std::string half = one.pair + "-a";
    const auto before = client.GetItem({.table_name = kLedgerTable, .key = LedgerKey(half)});
    ASSERT_TRUE(before.ok()) << before.status();
    const int64_t version = before->item.has_value() ? IntegerOf(*before->item, "version") : 0;
    // A later transaction of the pair may have been applied, which this one would undo if it was not.
    if (version > one.version) continue;
    const auto status = client.GetStatus();
    ASSERT_TRUE(status.ok()) << status.status();
    const auto result = client.TransactWriteItems(PairWriter::TransactionOn(one.pair, one.version), options);
    ASSERT_TRUE(result.ok()) << result.status();
    if (version != one.version) {
      model.RecordPair(one.pair, one.version,
                       {.outcome = Outcome::kApplied, .change_sequence = result->change_sequence});
      model.RecordSequence(result->change_sequence);
    }
  }
}

void RecordSampleOrders(CrashModel& model) {
  struct Row {
    const char* order_id;
    const char* product_id;
    int quantity;
    bool closed;
  };
  for (const Row& row : {Row{"ord_001", "prod_100", 5, true}, Row{"ord_002", "prod_101", 10, false},
                         Row{"ord_003", "prod_100", 3, false}, Row{"ord_004", "prod_101", 5, true},
                         Row{"ord_005", "prod_100", 20, false}}) {
    order_entry::NewOrder order;
    order.order_id = row.order_id;
    order_entry::NewOrderLine& line = order.lines.emplace_back();
    line.product_id = row.product_id;
    line.quantity = row.quantity;
    model.RecordPlaced(order, {.outcome = Outcome::kApplied});
    if (row.closed) model.RecordClosed(row.order_id, {.outcome = Outcome::kApplied});
  }
}

}  // namespace itemdb::e2e
