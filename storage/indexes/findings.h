// Turns differences into texts for people.
#pragma once

#include <string>

#include "itemdb/v1/admin.pb.h"
#include "storage/indexes/differences.h"

namespace itemdb::storage {

// Turns differences into findings. Counts all of them and keeps the first kMaxFindings.
class Findings {
 public:
  // Adds the findings to `*reply`, which must outlive this object.
  explicit Findings(v1::CheckDatabaseReply* reply) : reply_(reply) {}

  void Add(std::string finding);
  // The number of findings that can be repaired.
  int64_t reparable() const { return reparable_; }

  // Callbacks that add the differences of `table`. `table` and this object must outlive them.
  Differences Report(const Table& table);

 private:
  v1::CheckDatabaseReply* reply_;
  int64_t reparable_ = 0;
};

}  // namespace itemdb::storage
