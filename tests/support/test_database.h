// TestDatabase: a database in a temporary directory, whose operations block until they end.
#pragma once

#include <future>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "itemdb/v1/item.pb.h"
#include "spdlog/sinks/null_sink.h"
#include "spdlog/spdlog.h"
#include "storage/database.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {

// Tests name the types of storage/ as storage/ itself does.
using namespace storage;

// Runs an asynchronous operation and waits for its reply:
//   Await<wire::GetItemReply>([&](auto done) { database.GetItem(request, std::move(done)); })
template <typename Reply, typename Start>
absl::StatusOr<Reply> Await(Start start) {
  std::promise<absl::StatusOr<Reply>> promise;
  auto future = promise.get_future();
  start(
      storage::Done<Reply>([&promise](absl::StatusOr<Reply> reply) { promise.set_value(std::move(reply)); }));
  return future.get();
}

// Attribute values and items, in the order given.
v1::AttributeValue S(std::string text);
v1::AttributeValue N(std::string number);
v1::AttributeValue B(std::string bytes);
using Attributes = std::initializer_list<std::pair<std::string, v1::AttributeValue>>;
v1::Item Item(Attributes attributes);
// Encoded items, as the messages of itemdb.wire hold them.
std::string Encode(Attributes attributes);
// A reply's item as "name=value name=value", for comparing and reading.
std::string Show(const std::string& encoded_item);
std::string Show(const v1::Item& item);
// The items of a page, each as Show() writes it.
std::vector<std::string> ShowItems(const storage::Page& page);
// GetStatus with the statistics of all tables.
v1::GetStatusReply StatusWithTables(storage::Database& database);

// Encryption keys with these ids, each with a secret of its own.
EncryptionKeys KeysOf(std::initializer_list<std::string> ids);

// Owns its directory, unless the options name a directory.
class TestDatabase {
 public:
  TestDatabase();
  explicit TestDatabase(storage::DatabaseOptions options);

  // Small buffers, a silent log, no free-space floor; change records are kept for ever. Encrypted if the
  // environment has ITEMDB_TEST_ENCRYPTED; then tests fail that damage or read files as RocksDB writes them.
  static storage::DatabaseOptions DefaultOptions(std::string directory);

  storage::Database& operator*() { return *database_; }
  storage::Database* operator->() { return database_.get(); }
  const storage::DatabaseOptions& options() const { return options_; }
  // Closes the database and opens it again; fails the test if that is not possible.
  void Reopen();
  void Close() { database_.reset(); }

  // Operations. CreateTable and Get fail the test on an error; the others return the error.
  void CreateTable(const v1::CreateTableRequest& request);
  absl::StatusOr<wire::WriteItemReply> Put(const std::string& table, Attributes item,
                                           const std::string& condition = "");
  absl::StatusOr<wire::WriteItemReply> Update(const wire::WriteItemRequest& request);
  absl::StatusOr<wire::WriteItemReply> Delete(const std::string& table, Attributes key);
  // The item as Show() writes it, or "" if there is none.
  std::string Get(const std::string& table, Attributes key);
  absl::StatusOr<wire::TransactWriteItemsReply> Transact(const wire::TransactWriteItemsRequest& request);
  absl::StatusOr<storage::Page> Query(const wire::PageRequest& request);
  absl::StatusOr<storage::Page> Scan(const wire::PageRequest& request);
  absl::StatusOr<v1::ReadChangesReply> ReadChanges(uint64_t after);
  // Fails the test if the check finds anything, or if the statistics of a table or index are not exact.
  // Nothing may be written at the same time.
  void CheckIsClean();

 private:
  TemporaryDirectory directory_;
  storage::DatabaseOptions options_;
  std::unique_ptr<storage::Database> database_;
};

// A request for a table with the string keys pk and, if `sorted`, sk, and without indexes.
v1::CreateTableRequest TableRequest(const std::string& name, bool sorted = true);
// Adds an index. Attributes are "name:type", such as "status:S"; the first `partition_count` are the
// partition key.
void AddIndex(v1::CreateTableRequest* table, const std::string& name,
              std::initializer_list<std::string> attributes, int partition_count,
              v1::ProjectionType projection, std::initializer_list<std::string> included = {});
// Adds a local index: the table's partition key, sorted by the attribute `sort`.
void AddLocalIndex(v1::CreateTableRequest* table, const std::string& name, const std::string& sort,
                   v1::ProjectionType projection, std::initializer_list<std::string> included = {});

// Adds `:name` or `#name` to a request.
template <typename Request>
void SetValue(Request* request, const std::string& name, const v1::AttributeValue& value) {
  auto* entry = request->add_expression_attribute_values();
  entry->set_name(name);
  entry->set_value(value.SerializeAsString());
}
template <typename Request>
void SetName(Request* request, const std::string& name, const std::string& value) {
  auto* entry = request->add_expression_attribute_names();
  entry->set_name(name);
  entry->set_value(value);
}

}  // namespace itemdb::testing
