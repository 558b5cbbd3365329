#include "tests/storage/histories/bank.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "itemdb/v1/data.pb.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

constexpr char kTable[] = "Accounts";
constexpr char kIndex[] = "ByBalance";

std::string Key(int account) { return Encode({{"pk", S("bank")}, {"sk", S(std::to_string(account))}}); }

// What is wrong with the accounts that a read returned; empty if nothing is.
std::string CheckSum(const char* read, uint64_t sequence, const std::vector<v1::Item>& accounts) {
  int64_t sum = 0;
  std::set<std::string> numbers;
  for (const v1::Item& account : accounts) {
    for (const auto& attribute : account.attributes()) {
      if (attribute.name() == "balance") sum += std::atoll(attribute.value().n().c_str());
      if (attribute.name() == "sk") numbers.insert(attribute.value().s());
    }
  }
  if (sum == kMoney && numbers.size() == kAccounts && accounts.size() == kAccounts) return "";
  return std::string(read) + " at change " + std::to_string(sequence) + " finds " + std::to_string(sum) +
         " in " + std::to_string(numbers.size()) + " accounts, " + std::to_string(accounts.size()) + " items";
}

template <typename Reply>
std::string Failed(const char* read, const absl::StatusOr<Reply>& reply) {
  return std::string(read) + ": " + reply.status().ToString();
}

std::string CheckPage(const char* read, Database& database, const wire::PageRequest& request) {
  auto page = Await<Page>([&](auto done) {
    if (request.key_condition_expression().empty()) return database.Scan(request, std::move(done));
    database.Query(request, std::move(done));
  });
  if (!page.ok()) return Failed(read, page);
  v1::QueryReply items;
  if (!items.ParseFromString(page->encoded_items)) return std::string(read) + ": the items do not decode";
  return CheckSum(read, page->reply.change_sequence(), {items.items().begin(), items.items().end()});
}

std::string CheckTransactGet(Database& database) {
  wire::TransactGetItemsRequest request;
  for (int i = 0; i < kAccounts; ++i) {
    request.add_transact_items()->set_table_name(kTable);
    request.mutable_transact_items(i)->set_key(Key(i));
  }
  auto reply = Await<wire::TransactGetItemsReply>(
      [&](auto done) { database.TransactGetItems(request, std::move(done)); });
  if (!reply.ok()) return Failed("TransactGetItems", reply);
  std::vector<v1::Item> accounts;
  for (const auto& response : reply->responses()) accounts.emplace_back().ParseFromString(response.item());
  return CheckSum("TransactGetItems", reply->change_sequence(), accounts);
}

std::string CheckBatchGet(Database& database) {
  wire::BatchGetItemRequest request;
  auto* keys = request.add_request_items();
  keys->set_table_name(kTable);
  for (int i = 0; i < kAccounts; ++i) keys->add_keys(Key(i));
  auto reply =
      Await<wire::BatchGetItemReply>([&](auto done) { database.BatchGetItem(request, std::move(done)); });
  if (!reply.ok()) return Failed("BatchGetItem", reply);
  std::vector<v1::Item> accounts;
  for (const auto& table : reply->responses()) {
    for (const std::string& item : table.items()) accounts.emplace_back().ParseFromString(item);
  }
  return CheckSum("BatchGetItem", reply->change_sequence(), accounts);
}

}  // namespace

absl::Status OpenBank(Database& database) {
  v1::CreateTableRequest table = TableRequest(kTable);
  AddIndex(&table, kIndex, {"pk:S", "balance:N"}, 1, v1::PROJECTION_TYPE_ALL);
  auto created =
      Await<v1::CreateTableReply>([&](auto done) { database.CreateTable(table, std::move(done)); });
  if (!created.ok()) return created.status();
  wire::TransactWriteItemsRequest accounts;
  for (int i = 0; i < kAccounts; ++i) {
    auto* put = accounts.add_transact_items()->mutable_put();
    put->set_table_name(kTable);
    put->set_key_or_item(Encode({{"pk", S("bank")},
                                 {"sk", S(std::to_string(i))},
                                 {"balance", N(std::to_string(kMoney / kAccounts))}}));
  }
  return Await<wire::TransactWriteItemsReply>(
             [&](auto done) { database.TransactWriteItems(accounts, std::move(done)); })
      .status();
}

absl::StatusOr<wire::TransactWriteItemsReply> Transfer(Database& database, std::mt19937_64& random) {
  int accounts[3];
  accounts[0] = static_cast<int>(random() % kAccounts);
  accounts[1] = (accounts[0] + 1 + static_cast<int>(random() % 40)) % kAccounts;
  accounts[2] = (accounts[1] + 1 + static_cast<int>(random() % 40)) % kAccounts;
  const int targets = 1 + static_cast<int>(random() % 2);
  const int amount = 1 + static_cast<int>(random() % 30);
  wire::TransactWriteItemsRequest transfer;
  for (int i = 0; i <= targets; ++i) {
    auto* update = transfer.add_transact_items()->mutable_update();
    update->set_table_name(kTable);
    update->set_key_or_item(Key(accounts[i]));
    update->set_update_expression("ADD balance :change");
    SetValue(update, ":change", N(std::to_string(i == 0 ? -amount * targets : amount)));
    if (i > 0) continue;
    update->set_condition_expression("balance >= :least");
    SetValue(update, ":least", N(std::to_string(amount * targets)));
  }
  return Await<wire::TransactWriteItemsReply>(
      [&](auto done) { database.TransactWriteItems(transfer, std::move(done)); });
}

std::string CheckMoney(Database& database) {
  std::string wrong = CheckTransactGet(database);
  if (wrong.empty()) wrong = CheckBatchGet(database);
  wire::PageRequest page;
  page.set_table_name(kTable);
  if (wrong.empty()) wrong = CheckPage("Scan", database, page);
  page.set_key_condition_expression("pk = :bank");
  SetValue(&page, ":bank", S("bank"));
  if (wrong.empty()) wrong = CheckPage("Query", database, page);
  page.set_index_name(kIndex);
  if (wrong.empty()) wrong = CheckPage("Query of the index", database, page);
  return wrong;
}

}  // namespace itemdb::testing
