// Storage without the daemon: threads decode requests and call a Database, as gRPC's threads do in itemd.

#include <deque>
#include <future>
#include <thread>

#include "bench/contender.h"
#include "bench/order_store.h"
#include "storage/database.h"

namespace itemdb::bench {
namespace {

// As many threads as gRPC's callback API uses on two cores.
constexpr int kThreads = 2;

class DatabaseContender : public Contender {
 public:
  DatabaseContender(const ContenderSetup& setup, std::unique_ptr<storage::Database> database)
      : setup_(setup), database_(std::move(database)) {}
  ~DatabaseContender() override {
    Join();
    database_.reset();  // Ends the threads that call Finish, before the members that Finish uses.
  }

  void Begin(Load& load) override {
    Join();
    load_ = &load;
    callers_.assign(load.callers(), Caller());
    {
      storage::MutexLock lock(mutex_);
      running_ = load.callers();
      for (int caller = 0; caller < load.callers(); ++caller) answered_.push_back(caller);
    }
    int threads = std::min(kThreads, load.callers());
    for (int thread = 0; thread < threads; ++thread) threads_.emplace_back([this] { ThreadLoop(); });
  }

  nanoseconds ServerCpu() const override { return OwnCpu(); }
  bool InProcess() const override { return true; }

  absl::Status CheckOrders(uint64_t orders) override {
    v1::DescribeTableRequest request;
    request.set_table_name(kOrderTable);
    ITEMDB_ASSIGN_OR_RETURN(v1::DescribeTableReply reply, database_->DescribeTable(request));
    return CheckOrderCount(reply, orders);
  }

 private:
  struct Caller {
    Clock::time_point begin;
  };

  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void ThreadLoop() {
    while (true) {
      int caller;
      {
        storage::MutexLock lock(mutex_);
        while (answered_.empty() && running_ > 0) changed_.Wait(mutex_);
        if (answered_.empty()) return;
        caller = answered_.front();
        answered_.pop_front();
      }
      std::optional<uint64_t> operation = load_->Next();
      if (operation.has_value()) {
        Start(caller, setup_.requests->request(*operation));
      } else {
        storage::MutexLock lock(mutex_);
        if (--running_ == 0) changed_.NotifyAll();
      }
    }
  }

  void Start(int caller, const std::string& request) {
    callers_[caller].begin = Clock::now();
    if (setup_.operation == Operation::kPut) {
      wire::WriteItemRequest put;
      if (!put.ParseFromString(request))
        return Finish(caller, absl::InternalError("a request does not decode"));
      database_->PutItem(put, [this, caller](absl::StatusOr<wire::WriteItemReply> reply) {
        Finish(caller, reply.status());
      });
      return;
    }
    wire::GetItemRequest get;
    if (!get.ParseFromString(request))
      return Finish(caller, absl::InternalError("a request does not decode"));
    database_->GetItem(get, [this, caller](absl::StatusOr<wire::GetItemReply> reply) {
      if (!reply.ok() || reply->has_item()) return Finish(caller, reply.status());
      Finish(caller, absl::DataLossError("an order is missing"));
    });
  }

  // Does not start the caller's next operation: a lone write calls Finish inside Start, so calls would nest.
  void Finish(int caller, const absl::Status& status) {
    load_->Finish(caller, callers_[caller].begin, status);
    storage::MutexLock lock(mutex_);
    answered_.push_back(caller);
    changed_.NotifyOne();
  }

  const ContenderSetup setup_;
  std::unique_ptr<storage::Database> database_;
  Load* load_ = nullptr;
  std::vector<Caller> callers_;

  storage::Mutex mutex_;
  storage::CondVar changed_;
  // Callers whose last operation was answered.
  std::deque<int> answered_ ABSL_GUARDED_BY(mutex_);
  // Callers that have not ended.
  int running_ ABSL_GUARDED_BY(mutex_) = 0;

  std::vector<std::thread> threads_;
};

}  // namespace

absl::Status CheckOrderCount(const v1::DescribeTableReply& reply, uint64_t orders) {
  if (static_cast<uint64_t>(reply.table().item_count()) == orders) return absl::OkStatus();
  return absl::DataLossError(std::to_string(orders) + " puts were answered, but the table has " +
                             std::to_string(reply.table().item_count()) + " items");
}

absl::StatusOr<std::unique_ptr<Contender>> OpenDatabase(const ContenderSetup& setup) {
  ITEMDB_ASSIGN_OR_RETURN(auto database, storage::Database::Open(OptionsFor(setup.directory, setup.durable)));
  return std::make_unique<DatabaseContender>(setup, std::move(database));
}

absl::Status MakeOrderDatabase(const std::string& directory, uint64_t orders) {
  ITEMDB_ASSIGN_OR_RETURN(auto database, storage::Database::Open(OptionsFor(directory, /*durable=*/false)));
  std::promise<absl::Status> created;
  database->CreateTable(OrderTableRequest(), [&created](absl::StatusOr<v1::CreateTableReply> reply) {
    created.set_value(reply.status());
  });
  ITEMDB_RETURN_IF_ERROR(created.get_future().get());
  if (orders == 0) return absl::OkStatus();

  constexpr int kCallers = 64;
  Requests puts = Requests::Puts(orders);
  ContenderSetup setup{
      .operation = Operation::kPut, .directory = directory, .durable = false, .requests = &puts};
  DatabaseContender loader(setup, std::move(database));
  ITEMDB_ASSIGN_OR_RETURN(uint64_t answered, RunAll(loader, kCallers, orders));
  return loader.CheckOrders(answered);
}

}  // namespace itemdb::bench
