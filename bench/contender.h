// What is measured: the daemon, and what it is compared with in the same run.
//
//   itemd     a daemon in a process of its own, through gRPC
//   database  storage without the daemon, in this process: what is left of itemd without the transport
//   rocksdb   RocksDB with the same options, on the very reads and writes that a database makes of the same
//   requests
//             (but for the counters, which a commit group writes once); as many threads as callers
//   echo      a gRPC server in a process of its own that answers requests of itemd with replies of itemd,
//   unread
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

  // Starts the callers of `load`, which outlives them. Not before those of the load before have gone.
  virtual void Begin(Load& load) = 0;
  // CPU time of the serving process so far.
  virtual nanoseconds ServerCpu() const = 0;
  // Whether callers and server are one process.
  virtual bool InProcess() const = 0;
  // Makes operations that hang fail, as far as possible.
  virtual void GiveUp() {}
  // DATA_LOSS unless there are `orders` orders, as far as the contender can tell.
  virtual absl::Status CheckOrders(uint64_t orders) { return absl::OkStatus(); }
};

enum class Operation { kPut, kGet };

struct ContenderSetup {
  Operation operation = Operation::kPut;
  // A database made by MakeOrderDatabase, or a copy: for puts without orders, for gets with those of
  // `requests`. (Unused by echo but for the name of its socket.)
  std::string directory;
  bool durable = true;
  // itemd and echo listen on a unix socket beside the directory instead of a port of 127.0.0.1.
  bool unix_socket = false;
  // Outlives the contender.
  const Requests* requests = nullptr;
  // The puts as encoded WriteBatches (MakeOrderBatches); only rocksdb needs them. Outlives the contender.
  const std::vector<std::string>* batches = nullptr;
};

absl::StatusOr<std::unique_ptr<Contender>> StartItemd(const ContenderSetup& setup);
absl::StatusOr<std::unique_ptr<Contender>> StartEcho(const ContenderSetup& setup);
absl::StatusOr<std::unique_ptr<Contender>> OpenDatabase(const ContenderSetup& setup);
absl::StatusOr<std::unique_ptr<Contender>> OpenRocksDB(const ContenderSetup& setup);

// Makes a database with the Order table and orders 0 to `orders` - 1 in `directory`.
absl::Status MakeOrderDatabase(const std::string& directory, uint64_t orders);
// DATA_LOSS unless the table described has `orders` items.
absl::Status CheckOrderCount(const v1::DescribeTableReply& reply, uint64_t orders);

// Time that all cores together were not idle since the machine started, in steps of 10 ms.
nanoseconds MachineCpu();
// CPU time of this process so far.
nanoseconds OwnCpu();

}  // namespace itemdb::bench
