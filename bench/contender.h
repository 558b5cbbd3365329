// The contenders: itemd, and the programs that it is compared with in the same run.
//
// clang-format off
//   itemd     a daemon in a process of its own, called through gRPC
//   database  storage without the daemon, in this process: itemd without the transport
//   rocksdb   RocksDB with the same options; makes exactly the reads and writes that a database makes for the
//             same requests, except for size statistics, which are written once per commit group; one thread
//             per caller
//   echo      a gRPC server in a process of its own that answers itemd's requests, without reading them, with
//             fixed replies of itemd
// clang-format on
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/load.h"
#include "bench/order_data.h"

namespace itemdb::bench {

class Contender {
 public:
  virtual ~Contender() = default;

  // Starts the callers of `load`, which must outlive them. All callers of the previous load must have ended.
  virtual void Begin(Load& load) = 0;
  // CPU time of the serving process so far.
  virtual nanoseconds ServerCpu() const = 0;
  // Whether callers and server are one process.
  virtual bool InProcess() const = 0;
  // Makes hanging operations fail, as far as possible.
  virtual void GiveUp() {}
  // DATA_LOSS if the number of orders is not `orders`. OK if the contender cannot tell.
  virtual absl::Status CheckOrders(uint64_t orders) { return absl::OkStatus(); }
};

enum class Operation { kPut, kGet };

struct ContenderSetup {
  Operation operation = Operation::kPut;
  // A database made by MakeOrderDatabase, or a copy of one: without orders for puts, with the orders of
  // `requests` for gets. (echo uses only the name, for its socket.)
  std::string directory;
  bool durable = true;
  // itemd and echo listen on a unix socket beside the directory instead of a port of 127.0.0.1.
  bool unix_socket = false;
  // Must outlive the contender.
  const Requests* requests = nullptr;
  // The puts as encoded WriteBatches (MakeOrderBatches); only for rocksdb. Must outlive the contender.
  const std::vector<std::string>* batches = nullptr;
};

absl::StatusOr<std::unique_ptr<Contender>> StartItemd(const ContenderSetup& setup);
absl::StatusOr<std::unique_ptr<Contender>> StartEcho(const ContenderSetup& setup);
absl::StatusOr<std::unique_ptr<Contender>> OpenDatabase(const ContenderSetup& setup);
absl::StatusOr<std::unique_ptr<Contender>> OpenRocksDB(const ContenderSetup& setup);

// Makes a database with the Order table and orders 0 to `orders` - 1 in `directory`.
absl::Status MakeOrderDatabase(const std::string& directory, uint64_t orders);
// DATA_LOSS if the described table does not have `orders` items.
absl::Status CheckOrderCount(const v1::DescribeTableReply& reply, uint64_t orders);

// Sum over all cores of the time that they were not idle since the machine started, in steps of 10 ms.
nanoseconds MachineCpu();
// CPU time of this process so far.
nanoseconds OwnCpu();

}  // namespace itemdb::bench
