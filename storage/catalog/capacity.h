// The capacity units that a request would have consumed in the service (SEM-061 to SEM-065). Reported to
// callers who plan with them; requests are never limited here.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "itemdb/v1/capacity.pb.h"
#include "itemdb/v1/enums.pb.h"
#include "storage/catalog/table.h"

namespace itemdb::storage {

// Capacity units of a read or write of `bytes` (by SEM-002). At least one; half of it for an eventual read.
double ReadUnits(size_t bytes, bool consistent);
double WriteUnits(size_t bytes);
// `bytes` of a vector index, rounded up as they are reported (VEC-21).
size_t VectorBytes(size_t bytes);

// INVALID_ARGUMENT: `wanted` is not a value of the enum.
absl::Status CheckReturnConsumedCapacity(v1::ReturnConsumedCapacity wanted);

// Adds `more` to `*sum`, both of one table.
void AddConsumedCapacity(const v1::ConsumedCapacity& more, v1::ConsumedCapacity* sum);

// Adds up the consumed capacity of one request, if the request asks for it. Counts it for the table and its
// indexes (Table::used) in any case.
class CapacityMeter {
 public:
  explicit CapacityMeter(v1::ReturnConsumedCapacity wanted = v1::RETURN_CONSUMED_CAPACITY_NONE)
      : wanted_(wanted) {}

  bool wanted() const {
    return wanted_ == v1::RETURN_CONSUMED_CAPACITY_TOTAL || wanted_ == v1::RETURN_CONSUMED_CAPACITY_INDEXES;
  }
  // Of pages, which count their keys themselves (storage/catalog/key_counting.h).
  void AddRead(const Table& table, double units);
  void AddIndexRead(const Table& table, const Index& index, double units);
  // Of the item with this encoded key.
  void AddRead(const Table& table, std::string_view key, double units);
  void AddWrite(const Table& table, std::string_view key, double units);
  // The caller counts the keys of entries.
  void AddIndexWrite(const Table& table, const Index& index, double units);
  // Bytes written into a vector index, as VectorBytes returns them. They are no capacity units.
  void AddVectorIndex(const Table& table, const Index& index, size_t bytes);

  // Returns the sums by table name and clears them. Empty unless the request asks for them.
  std::vector<v1::ConsumedCapacity> Take();
  // For requests on one table: sets the field of `reply`, if there is anything to report.
  template <typename Reply>
  void MoveInto(Reply* reply) {
    for (v1::ConsumedCapacity& consumed : Take()) *reply->mutable_consumed_capacity() = std::move(consumed);
  }
  // For requests on several tables.
  template <typename Reply>
  void AddTo(Reply* reply) {
    for (v1::ConsumedCapacity& consumed : Take()) *reply->add_consumed_capacity() = std::move(consumed);
  }

 private:
  void AddTable(const Table& table, double units);
  void AddIndex(const Table& table, const Index& index, double units);

  struct Use {
    double table = 0;
    std::map<std::string, double> global_indexes;
    std::map<std::string, double> local_indexes;
    std::map<std::string, size_t> vector_indexes;
  };
  v1::ReturnConsumedCapacity wanted_;
  std::map<std::string, Use> tables_;
};

}  // namespace itemdb::storage
