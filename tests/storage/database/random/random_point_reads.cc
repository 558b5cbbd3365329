// Random BatchGetItem and TransactGetItems against the model.
#include <algorithm>
#include <set>

#include "tests/storage/database/random/random_reads.h"

namespace itemdb::testing {
namespace {

// A key to read, and the expected item.
struct Get {
  const TableModel* table;
  ModelItem key;
  std::string encoded_key;
  std::set<std::string> projection;  // Empty: all attributes.

  std::optional<std::string> Expected() const {
    const ModelItem* item = table->Find(key);
    if (item == nullptr) return std::nullopt;
    ModelItem shown;
    for (const auto& [name, value] : *item) {
      if (projection.empty() || projection.contains(name)) shown[name] = value;
    }
    return EncodeItem(shown);
  }
};

Get RandomGet(SideBySide& both, const TableModel& table) {
  Get get{&table, both.random.Key(table), {}, {}};
  get.encoded_key = both.random.EncodeForRequest(get.key);
  return get;
}

std::set<std::string> RandomProjection(SideBySide& both, const TableModel& table) {
  std::set<std::string> projection;
  if (!both.random.Chance(0.3)) return projection;
  for (int i = both.random.Pick(1, 3); i > 0; --i)
    projection.insert(both.random.OneOf(both.random.Attributes(table)));
  return projection;
}

void SetProjection(const std::set<std::string>& projection, auto* request) {
  RequestNames names;
  std::string text;
  for (const std::string& name : projection) text += (text.empty() ? "" : ", ") + names.Name(name);
  request->set_projection_expression(text);
  names.SetNamesOn(request);
}

bool MismatchesKey(const Get& get) { return get.table->MismatchesKey(get.key, /*key=*/true); }

// Whether every key is valid and no two are equal. In a transaction a key may be one that does not fit the
// schema.
bool AllValidAndDistinct(const std::vector<Get>& gets, bool transaction = false) {
  std::set<std::string> keys;
  return std::all_of(gets.begin(), gets.end(), [&](const Get& get) {
    if (transaction && MismatchesKey(get)) return true;
    return get.table->IsExactKey(get.key) && keys.insert(get.table->name() + EncodeItem(get.key)).second;
  });
}

// Adds a get, mostly a valid one, so that few requests only return an error.
void AddRandomGet(SideBySide& both, const TableModel& table, std::vector<Get>* gets) {
  gets->push_back(RandomGet(both, table));
  if (!AllValidAndDistinct(*gets) && !both.random.Chance(0.02)) gets->pop_back();
}

}  // namespace

void RandomBatchGet(SideBySide& both) {
  std::vector<Get> gets;
  wire::BatchGetItemRequest request;
  for (auto& [name, table] : both.tables) {
    if (both.random.Chance(0.3)) continue;
    const std::set<std::string> projection = RandomProjection(both, table);
    const size_t first = gets.size();
    for (int i = both.random.Pick(1, 8); i > 0; --i) AddRandomGet(both, table, &gets);
    if (gets.size() == first) continue;
    auto* keys = request.add_request_items();
    keys->set_table_name(name);
    keys->set_consistent_read(both.random.Chance(0.5));
    if (!projection.empty()) SetProjection(projection, keys);
    for (size_t i = first; i < gets.size(); ++i) {
      gets[i].projection = projection;
      keys->add_keys(gets[i].encoded_key);
    }
  }
  if (both.random.Chance(0.3)) request.set_max_reply_bytes(both.random.Pick(1, 2'000));
  SCOPED_TRACE("batch get " + request.ShortDebugString());
  auto reply = Await<wire::BatchGetItemReply>(
      [&](auto done) { both.database->BatchGetItem(request, std::move(done)); });
  if (gets.empty() || !AllValidAndDistinct(gets)) return ExpectInvalid(reply.status());
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->change_sequence(), both.log.size());

  // The reply ends with the item that crosses 16 MiB; the keys after it come back as unprocessed (SEM-043).
  wire::BatchGetItemReply expected;
  size_t bytes = 0;
  auto get = gets.begin();
  for (const auto& keys : request.request_items()) {
    auto* response = expected.add_responses();
    response->set_table_name(keys.table_name());
    wire::KeysAndAttributes unprocessed = keys;
    unprocessed.clear_keys();
    for (int i = 0; i < keys.keys_size(); ++i, ++get) {
      if (request.has_max_reply_bytes() && bytes >= static_cast<size_t>(request.max_reply_bytes())) {
        unprocessed.add_keys(get->encoded_key);
      } else if (std::optional<std::string> item = get->Expected(); item.has_value()) {
        bytes += item->size();
        response->add_items(*item);
      }
    }
    if (unprocessed.keys_size() > 0) *expected.add_unprocessed_keys() = unprocessed;
  }
  expected.set_change_sequence(both.log.size());
  EXPECT_TRUE(reply->SerializeAsString() == expected.SerializeAsString())
      << "expected " << expected.ShortDebugString() << "\nactual " << reply->ShortDebugString();
}

void RandomTransactGet(SideBySide& both) {
  std::vector<Get> gets;
  for (int i = both.random.Pick(1, 12); i > 0; --i) AddRandomGet(both, both.AnyTable(), &gets);
  wire::TransactGetItemsRequest request;
  for (Get& get : gets) {
    get.projection = RandomProjection(both, *get.table);
    auto* message = request.add_transact_items();
    message->set_table_name(get.table->name());
    message->set_key(get.encoded_key);
    if (!get.projection.empty()) SetProjection(get.projection, message);
  }
  SCOPED_TRACE("transact get " + request.ShortDebugString());
  auto reply = Await<wire::TransactGetItemsReply>(
      [&](auto done) { both.database->TransactGetItems(request, std::move(done)); });
  if (gets.empty() || !AllValidAndDistinct(gets, /*transaction=*/true)) return ExpectInvalid(reply.status());
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->change_sequence(), both.log.size());
  const auto mismatch = std::find_if(gets.begin(), gets.end(), MismatchesKey);
  ASSERT_EQ(reply->has_cancelled(), mismatch != gets.end());
  if (reply->has_cancelled()) {
    ASSERT_EQ(static_cast<size_t>(reply->cancelled().reasons_size()), gets.size());
    for (int i = 0; i < reply->cancelled().reasons_size(); ++i) {
      EXPECT_EQ(reply->cancelled().reasons(i).code(), i == mismatch - gets.begin()
                                                          ? v1::CANCELLATION_CODE_VALIDATION_ERROR
                                                          : v1::CANCELLATION_CODE_NONE);
    }
    return;
  }
  ASSERT_EQ(static_cast<size_t>(reply->responses_size()), gets.size());
  for (size_t i = 0; i < gets.size(); ++i)
    ExpectItem(reply->responses(static_cast<int>(i)), gets[i].Expected());
}

}  // namespace itemdb::testing
