#include "tests/storage/histories/recorder.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "itemdb/v1/data.pb.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

constexpr char kRecordedTable[] = "Hot";
constexpr char kRecordedIndex[] = "ByVersion";

std::string EncodeKey(int item) { return Encode({{"pk", S("hot")}, {"sk", N(std::to_string(item))}}); }

// A stored item as text, for example "3:17/2".
std::string ShowStored(const v1::Item& stored) {
  std::optional<HotItem> item = HotItem();
  int number = -1;
  for (const auto& attribute : stored.attributes()) {
    int64_t value = std::atoll(attribute.value().n().c_str());
    if (attribute.name() == "sk") number = static_cast<int>(value);
    if (attribute.name() == "version") item->version = value;
    if (attribute.name() == "count") item->count = value;
  }
  return Show(number, item);
}

// The optional item of a reply as text.
std::string ShowReply(int item, bool found, const std::string& encoded) {
  if (!found) return Show(item, std::nullopt);
  v1::Item stored;
  EXPECT_TRUE(stored.ParseFromString(encoded));
  return ShowStored(stored);
}

wire::WriteItemRequest RequestOf(const Step& step, bool quiet) {
  wire::WriteItemRequest request;
  request.set_table_name(kRecordedTable);
  request.set_key_or_item(EncodeKey(step.item));
  if (step.kind == StepKind::kPut) {
    request.set_key_or_item(Encode({{"pk", S("hot")},
                                    {"sk", N(std::to_string(step.item))},
                                    {"version", N(std::to_string(step.version))},
                                    {"count", N("0")},
                                    {"group", S("all")}}));
  } else if (step.kind == StepKind::kAdd) {
    request.set_update_expression("SET version = :version, #g = :all ADD #c :one");
    SetName(&request, "#g", "group");
    SetName(&request, "#c", "count");
    SetValue(&request, ":version", N(std::to_string(step.version)));
    SetValue(&request, ":all", S("all"));
    SetValue(&request, ":one", N("1"));
  }
  if (step.condition == HotCondition::kExists) request.set_condition_expression("attribute_exists(pk)");
  if (step.condition == HotCondition::kMissing) request.set_condition_expression("attribute_not_exists(pk)");
  if (step.condition == HotCondition::kCountBelow) {
    request.set_condition_expression("#c < :bound");
    if (step.kind != StepKind::kAdd) SetName(&request, "#c", "count");
    SetValue(&request, ":bound", N(std::to_string(step.bound)));
  }
  if (!quiet) {
    request.set_return_values_on_condition_check_failure(
        v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  }
  return request;
}

// A client that makes one operation at a time.
class HotClient {
 public:
  HotClient(Database& database, int number, uint64_t seed)
      : database_(database), number_(number), random_(seed) {}

  Operation Choose() {
    // As many writes as reads.
    static constexpr OperationKind kKinds[] = {
        OperationKind::kPut,           OperationKind::kUpdate,     OperationKind::kUpdate,
        OperationKind::kDelete,        OperationKind::kBatchWrite, OperationKind::kTransactWrite,
        OperationKind::kTransactWrite, OperationKind::kGet,        OperationKind::kBatchGet,
        OperationKind::kTransactGet,   OperationKind::kQuery,      OperationKind::kQueryIndex,
        OperationKind::kScan,          OperationKind::kCount};
    Operation operation;
    operation.client = number_;
    operation.kind = kKinds[Pick(0, std::size(kKinds) - 1)];
    operation.quiet = Pick(0, 7) == 0;
    switch (operation.kind) {
      case OperationKind::kPut:
        operation.steps = {RandomStep(StepKind::kPut, AnyItem())};
        break;
      case OperationKind::kUpdate:
        operation.steps = {RandomStep(StepKind::kAdd, AnyItem())};
        break;
      case OperationKind::kDelete:
        operation.steps = {RandomStep(StepKind::kDelete, AnyItem())};
        operation.quiet = false;
        break;
      case OperationKind::kBatchWrite:
        for (int item : SomeItems()) {
          operation.steps.push_back(RandomStep(Pick(0, 2) > 0 ? StepKind::kPut : StepKind::kDelete, item));
          operation.steps.back().condition = HotCondition::kNone;
        }
        if (!Leaves(operation)) operation.steps[0] = RandomStep(StepKind::kPut, operation.steps[0].item);
        operation.steps[0].condition = HotCondition::kNone;
        break;
      case OperationKind::kTransactWrite:
        for (int item : SomeItems()) {
          operation.steps.push_back(RandomStep(static_cast<StepKind>(Pick(0, 3)), item));
          Step& step = operation.steps.back();
          if (step.kind == StepKind::kCheck && step.condition == HotCondition::kNone)
            step.condition = HotCondition::kExists;
        }
        if (!Leaves(operation) && Deletes(operation))
          operation.steps[0] = RandomStep(StepKind::kAdd, operation.steps[0].item);
        break;
      case OperationKind::kGet:
        operation.steps = {RandomStep(StepKind::kCheck, AnyItem())};
        break;
      case OperationKind::kBatchGet:
      case OperationKind::kTransactGet:
        for (int item : SomeItems()) operation.steps.push_back({StepKind::kCheck, item});
        break;
      case OperationKind::kQuery:
      case OperationKind::kCount:
        operation.first = AnyItem();
        operation.last = Pick(operation.first, kHotItems - 1);
        operation.bound = Pick(1, 6);
        break;
      default:
        break;
    }
    return operation;
  }

  // Whether a write leaves an item, or may only remove items. A delete may change nothing. If its answer does
  // not show whether it did, the request also has a step that surely makes a change. So it is known which of
  // the operations with the same sequence made the change.
  static bool Leaves(const Operation& operation) {
    return std::any_of(operation.steps.begin(), operation.steps.end(), [](const Step& step) {
      return step.kind == StepKind::kPut || step.kind == StepKind::kAdd;
    });
  }
  static bool Deletes(const Operation& operation) {
    return std::any_of(operation.steps.begin(), operation.steps.end(),
                       [](const Step& step) { return step.kind == StepKind::kDelete; });
  }

  // Sends the operation and records the answer.
  void Perform(Operation* operation) {
    switch (operation->kind) {
      case OperationKind::kPut:
      case OperationKind::kUpdate:
      case OperationKind::kDelete:
        return WriteOne(operation);
      case OperationKind::kBatchWrite:
        return BatchWrite(operation);
      case OperationKind::kTransactWrite:
        return TransactWrite(operation);
      case OperationKind::kGet:
        return Get(operation);
      case OperationKind::kBatchGet:
        return BatchGet(operation);
      case OperationKind::kTransactGet:
        return TransactGet(operation);
      default:
        return ReadPage(operation);
    }
  }

 private:
  int Pick(int64_t low, int64_t high) {
    return static_cast<int>(std::uniform_int_distribution<int64_t>(low, high)(random_));
  }
  int AnyItem() { return Pick(0, kHotItems - 1); }
  std::vector<int> SomeItems() {
    std::vector<int> items(kHotItems);
    std::iota(items.begin(), items.end(), 0);
    std::shuffle(items.begin(), items.end(), random_);
    items.resize(static_cast<size_t>(Pick(1, 4)));
    return items;
  }
  Step RandomStep(StepKind kind, int item) {
    Step step{kind, item};
    if (Pick(0, 1) == 0) step.condition = static_cast<HotCondition>(Pick(0, 3));
    step.bound = Pick(1, 4);
    // A version that no client has used before.
    if (kind == StepKind::kPut || kind == StepKind::kAdd) step.version = ++writes_ * 1'000 + number_;
    return step;
  }

  template <typename Reply>
  bool Note(Operation* operation, const absl::StatusOr<Reply>& reply) {
    EXPECT_TRUE(reply.ok()) << reply.status();
    if (!reply.ok()) return false;
    operation->sequence = reply->change_sequence();
    return true;
  }

  void WriteOne(Operation* operation) {
    const Step& step = operation->steps[0];
    wire::WriteItemRequest request = RequestOf(step, operation->quiet);
    if (!operation->quiet) {
      request.set_return_values(step.kind == StepKind::kAdd ? v1::RETURN_VALUES_ALL_NEW
                                                            : v1::RETURN_VALUES_ALL_OLD);
    }
    auto reply = Await<wire::WriteItemReply>([&](auto done) {
      if (step.kind == StepKind::kPut) return database_.PutItem(request, std::move(done));
      if (step.kind == StepKind::kAdd) return database_.UpdateItem(request, std::move(done));
      database_.DeleteItem(request, std::move(done));
    });
    if (!Note(operation, reply)) return;
    bool applied = reply->has_result();
    operation->answer = applied ? "applied" : "refused";
    if (operation->quiet) return;
    operation->answer +=
        " " + (applied ? ShowReply(step.item, reply->result().has_attributes(), reply->result().attributes())
                       : ShowReply(step.item, reply->condition_failed().has_item(),
                                   reply->condition_failed().item()));
  }

  void BatchWrite(Operation* operation) {
    wire::BatchWriteItemRequest request;
    auto* writes = request.add_request_items();
    writes->set_table_name(kRecordedTable);
    for (const Step& step : operation->steps) {
      auto* write = writes->add_write_requests();
      std::string bytes = RequestOf(step, true).key_or_item();
      if (step.kind == StepKind::kPut) write->mutable_put_request()->set_item(bytes);
      if (step.kind == StepKind::kDelete) write->mutable_delete_request()->set_key(bytes);
    }
    auto reply = Await<wire::BatchWriteItemReply>(
        [&](auto done) { database_.BatchWriteItem(request, std::move(done)); });
    if (!Note(operation, reply)) return;
    operation->answer = reply->unprocessed_items().empty() ? "applied" : "unprocessed";
  }

  void TransactWrite(Operation* operation) {
    wire::TransactWriteItemsRequest request;
    for (const Step& step : operation->steps) {
      auto* action = request.add_transact_items();
      wire::WriteItemRequest write = RequestOf(step, operation->quiet);
      if (step.kind == StepKind::kPut) *action->mutable_put() = write;
      if (step.kind == StepKind::kAdd) *action->mutable_update() = write;
      if (step.kind == StepKind::kDelete) *action->mutable_delete_() = write;
      if (step.kind == StepKind::kCheck) *action->mutable_condition_check() = write;
    }
    auto reply = Await<wire::TransactWriteItemsReply>(
        [&](auto done) { database_.TransactWriteItems(request, std::move(done)); });
    if (!Note(operation, reply)) return;
    operation->answer = reply->has_committed() ? "applied" : "cancelled";
    for (int i = 0; i < reply->cancelled().reasons_size(); ++i) {
      const auto& reason = reply->cancelled().reasons(i);
      if (reason.code() == v1::CANCELLATION_CODE_NONE) {
        operation->answer += " none";
      } else {
        EXPECT_EQ(reason.code(), v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED);
        operation->answer += " refused";
        if (operation->quiet) continue;
        int item = operation->steps[static_cast<size_t>(i)].item;
        operation->answer += "=" + ShowReply(item, reason.has_item(), reason.item());
      }
    }
  }

  void Get(Operation* operation) {
    wire::GetItemRequest request;
    request.set_table_name(kRecordedTable);
    request.set_key(EncodeKey(operation->steps[0].item));
    auto reply = Await<wire::GetItemReply>([&](auto done) { database_.GetItem(request, std::move(done)); });
    if (!Note(operation, reply)) return;
    operation->answer = "found " + ShowReply(operation->steps[0].item, reply->has_item(), reply->item());
  }

  void BatchGet(Operation* operation) {
    wire::BatchGetItemRequest request;
    auto* keys = request.add_request_items();
    keys->set_table_name(kRecordedTable);
    for (const Step& step : operation->steps) keys->add_keys(EncodeKey(step.item));
    auto reply =
        Await<wire::BatchGetItemReply>([&](auto done) { database_.BatchGetItem(request, std::move(done)); });
    if (!Note(operation, reply)) return;
    // The reply has no missing items; the others are in the order of the keys.
    std::vector<std::string> found;
    for (const auto& table : reply->responses()) {
      for (const std::string& item : table.items()) found.push_back(ShowReply(-1, true, item));
    }
    operation->answer = "found";
    auto next = found.begin();
    for (const Step& step : operation->steps) {
      bool is_next = next != found.end() && next->starts_with(std::to_string(step.item) + ":");
      operation->answer += " " + (is_next ? *next++ : Show(step.item, std::nullopt));
    }
    EXPECT_TRUE(next == found.end()) << "in another order than the keys";
  }

  void TransactGet(Operation* operation) {
    wire::TransactGetItemsRequest request;
    for (const Step& step : operation->steps) {
      auto* get = request.add_transact_items();
      get->set_table_name(kRecordedTable);
      get->set_key(EncodeKey(step.item));
    }
    auto reply = Await<wire::TransactGetItemsReply>(
        [&](auto done) { database_.TransactGetItems(request, std::move(done)); });
    if (!Note(operation, reply)) return;
    operation->answer = "found";
    for (int i = 0; i < reply->responses_size(); ++i) {
      const auto& response = reply->responses(i);
      int item = operation->steps[static_cast<size_t>(i)].item;
      operation->answer += " " + ShowReply(item, response.has_item(), response.item());
    }
  }

  void ReadPage(Operation* operation) {
    wire::PageRequest request;
    request.set_table_name(kRecordedTable);
    if (operation->kind == OperationKind::kQueryIndex) {
      request.set_index_name(kRecordedIndex);
      request.set_key_condition_expression("#g = :all");
      SetName(&request, "#g", "group");
      SetValue(&request, ":all", S("all"));
    } else if (operation->kind != OperationKind::kScan) {
      request.set_key_condition_expression("pk = :hot AND sk BETWEEN :first AND :last");
      request.set_filter_expression("#c < :bound");
      SetName(&request, "#c", "count");
      SetValue(&request, ":hot", S("hot"));
      SetValue(&request, ":first", N(std::to_string(operation->first)));
      SetValue(&request, ":last", N(std::to_string(operation->last)));
      SetValue(&request, ":bound", N(std::to_string(operation->bound)));
    }
    if (operation->kind == OperationKind::kCount) {
      request.set_select(v1::SELECT_COUNT);
      request.set_count_all(true);
    }
    auto page = Await<Page>([&](auto done) {
      if (operation->kind == OperationKind::kScan) return database_.Scan(request, std::move(done));
      database_.Query(request, std::move(done));
    });
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok()) return;
    operation->sequence = page->reply.change_sequence();
    operation->answer =
        std::to_string(page->reply.count()) + " of " + std::to_string(page->reply.scanned_count());
    v1::QueryReply items;
    EXPECT_TRUE(items.ParseFromString(page->encoded_items));
    for (const v1::Item& item : items.items()) operation->answer += " " + ShowStored(item);
  }

  Database& database_;
  const int number_;
  std::mt19937_64 random_;
  int64_t writes_ = 0;
};

}  // namespace

v1::CreateTableRequest HotTableRequest() {
  v1::CreateTableRequest request = TableRequest(kRecordedTable);
  request.mutable_attribute_definitions(1)->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_N);
  AddIndex(&request, kRecordedIndex, {"group:S", "version:N"}, 1, v1::PROJECTION_TYPE_ALL);
  return request;
}

History Record(Database& database, const RecordOptions& options, uint64_t start_sequence) {
  std::atomic<uint64_t> clock = 1;
  std::vector<std::vector<Operation>> records(static_cast<size_t>(options.clients));
  std::vector<std::thread> threads;
  for (int i = 0; i < options.clients; ++i) {
    threads.emplace_back([&, i] {
      HotClient client(database, i, options.seed * 1'000 + static_cast<uint64_t>(i));
      for (int count = 0; count < options.operations_per_client && !::testing::Test::HasFailure(); ++count) {
        Operation operation = client.Choose();
        operation.invoked = clock.fetch_add(1);
        client.Perform(&operation);
        operation.returned = clock.fetch_add(1);
        records[static_cast<size_t>(i)].push_back(std::move(operation));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  History history{{}, start_sequence};
  for (auto& record : records) {
    history.operations.insert(history.operations.end(), std::make_move_iterator(record.begin()),
                              std::make_move_iterator(record.end()));
  }
  return history;
}

}  // namespace itemdb::testing
