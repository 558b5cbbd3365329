#include "bench/order_store.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <map>

#include "rocksdb/env.h"
#include "storage/store/keyspace.h"
#include "storage/store/read_view.h"

namespace itemdb::bench {
namespace {

constexpr size_t kLastWriteSlots = 1 << 18;  // As in the commit pipeline.

// Copies the writes of a batch to the column families in `families`, and drops all others.
class FamilyFilter : public rocksdb::WriteBatch::Handler {
 public:
  explicit FamilyFilter(const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
    for (rocksdb::ColumnFamilyHandle* family : families) families_[family->GetID()] = family;
  }

  rocksdb::Status PutCF(uint32_t id, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    auto family = families_.find(id);
    return family == families_.end() ? rocksdb::Status::OK() : kept_.Put(family->second, key, value);
  }

  std::string Take() { return kept_.Data(); }

 private:
  std::map<uint32_t, rocksdb::ColumnFamilyHandle*> families_;
  rocksdb::WriteBatch kept_;
};

}  // namespace

storage::DatabaseOptions OptionsFor(const std::string& directory, bool durable) {
  storage::DatabaseOptions options;
  options.data_directory = directory;
  options.durable = durable;
  options.log =
      std::make_shared<spdlog::logger>("itembench", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  options.log.logger()->set_level(spdlog::level::warn);
  return options;
}

absl::Status CopyDatabase(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive, error);
  if (error) return absl::UnavailableError("cannot copy " + from + " to " + to + ": " + error.message());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<OrderStore>> OrderStore::Open(const std::string& directory) {
  storage::DatabaseOptions database = OptionsFor(directory, /*durable=*/true);
  storage::StoreOptions options;
  options.env = rocksdb::Env::Default();
  options.log = database.log;
  options.block_cache_bytes = database.block_cache_bytes;
  options.memtable_bytes = database.memtable_bytes;
  ITEMDB_ASSIGN_OR_RETURN(auto lock, storage::DirectoryLock::Acquire(options.env, directory));
  ITEMDB_ASSIGN_OR_RETURN(storage::Recovered recovered,
                          storage::OpenDirectory(directory, options, /*recover_last_good=*/false));
  std::unique_ptr<OrderStore> store(new OrderStore(std::move(lock), std::move(recovered)));
  ITEMDB_ASSIGN_OR_RETURN(store->table_, store->ordering_.catalog->Find(kOrderTable));
  return store;
}

OrderStore::OrderStore(std::unique_ptr<storage::DirectoryLock> lock, storage::Recovered recovered)
    : lock_(std::move(lock)), ordering_(kLastWriteSlots) {
  ordering_.store = std::move(recovered.start.store);
  ordering_.catalog = std::make_shared<const storage::Catalog>(
      std::vector<std::shared_ptr<const storage::Table>>(recovered.tables.begin(), recovered.tables.end()));
  ordering_.next_sequence = recovered.start.next_sequence;
  ordering_.last_commit_time_us = recovered.start.last_commit_time_us;
  ordering_.size_statistics.Reset(recovered.start.size_statistics);
}

std::shared_ptr<const storage::ReadView> OrderStore::View() const {
  return std::make_shared<const storage::ReadView>(
      ordering_.store, ordering_.catalog, ordering_.next_sequence - 1, ordering_.next_group_number - 1);
}

absl::StatusOr<std::string> OrderStore::KeyOf(const std::string& get_request) const {
  wire::GetItemRequest request;
  if (!request.ParseFromString(get_request)) return absl::InternalError("a request does not decode");
  ITEMDB_ASSIGN_OR_RETURN(std::string key,
                          storage::EncodeExactPrimaryKey(*table_, storage::ItemView(request.key())));
  return storage::ItemsOf(*ordering_.store, *table_).StoredKey(key);
}

absl::StatusOr<std::string> OrderStore::BatchOf(const std::string& put_request) {
  wire::WriteItemRequest request;
  if (!request.ParseFromString(put_request)) return absl::InternalError("a request does not decode");
  ITEMDB_ASSIGN_OR_RETURN(storage::PreparedAction action,
                          storage::PrepareAction(storage::ActionKind::kPut, request, catalog()));
  action.prefetched.group_number = ordering_.next_group_number;
  std::unique_ptr<storage::WriteUnit> unit = MakeUnit(std::move(action));
  storage::CommitGroup group(&ordering_);
  unit->Apply(group);

  const storage::Store& store = *ordering_.store;
  FamilyFilter filter({store.items(), store.global_entries(), store.local_entries(), store.changes()});
  rocksdb::Status status = group.SealBatch().Iterate(&filter);
  if (!status.ok()) return storage::FromRocksDB("cannot read a write batch", status);
  group.InstallState();
  return filter.Take();
}

std::unique_ptr<storage::WriteUnit> MakeUnit(storage::PreparedAction action) {
  std::vector<storage::PreparedAction> actions;
  actions.push_back(std::move(action));
  return std::make_unique<storage::WriteUnit>(storage::WriteUnit::Mode::kIndependent, std::move(actions),
                                              [](storage::WriteUnit::UnitResult) {});
}

absl::StatusOr<std::vector<std::string>> MakeOrderBatches(const std::string& directory,
                                                          const Requests& requests) {
  ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<OrderStore> store, OrderStore::Open(directory));
  std::vector<std::string> batches;
  batches.reserve(requests.operations());
  for (uint64_t operation = 0; operation < requests.operations(); ++operation) {
    ITEMDB_ASSIGN_OR_RETURN(batches.emplace_back(), store->BatchOf(requests.request(operation)));
  }
  return batches;
}

}  // namespace itemdb::bench
