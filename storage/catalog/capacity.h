// What a request would have consumed of its tables' throughput in the service (SEM-061..065): accounted for
// callers who plan with it, never limited here.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "itemdb/v1/capacity.pb.h"
#include "itemdb/v1/enums.pb.h"
#include "storage/catalog/table.h"

namespace itemdb {

// How many of a unit's worth a read or write of `bytes` (SEM-002) takes; at least one.
double ReadUnits(size_t bytes, bool consistent);
double WriteUnits(size_t bytes);

// INVALID_ARGUMENT: an unknown value.
absl::Status CheckReturnConsumedCapacity(v1::ReturnConsumedCapacity wanted);

// Adds `more` to `*sum`, both of one table.
void AddConsumedCapacity(const v1::ConsumedCapacity& more, v1::ConsumedCapacity* sum);

// Adds up for one request. Does nothing, and costs nothing, unless the request wants to know.
class CapacityMeter {
 public:
  explicit CapacityMeter(v1::ReturnConsumedCapacity wanted = v1::RETURN_CONSUMED_CAPACITY_NONE)
      : wanted_(wanted) {}

  bool wanted() const {
    return wanted_ == v1::RETURN_CONSUMED_CAPACITY_TOTAL || wanted_ == v1::RETURN_CONSUMED_CAPACITY_INDEXES;
  }
  void AddTable(const Table& table, double units);
  void AddIndex(const Table& table, const Index& index, double units);

  // One a table, in name order; empty unless wanted.
  std::vector<v1::ConsumedCapacity> Take();
  // For requests on one table: into `reply`, when there is anything.
  template <typename Reply>
  void MoveInto(Reply* reply) {
    for (v1::ConsumedCapacity& consumed : Take()) *reply->mutable_consumed_capacity() = std::move(consumed);
  }
  // For requests on several.
  template <typename Reply>
  void AddTo(Reply* reply) {
    for (v1::ConsumedCapacity& consumed : Take()) *reply->add_consumed_capacity() = std::move(consumed);
  }

 private:
  struct Use {
    double table = 0;
    std::map<std::string, double> global_indexes;
    std::map<std::string, double> local_indexes;
  };
  v1::ReturnConsumedCapacity wanted_;
  std::map<std::string, Use> tables_;
};

}  // namespace itemdb
