// Differences in words.
#pragma once

#include <string>

#include "itemdb/v1/admin.pb.h"
#include "storage/indexes/differences.h"

namespace itemdb {

// Turns differences into findings, the first kMaxFindings of which it keeps.
class Findings {
 public:
  // Kept in `reply`, which must outlive this.
  explicit Findings(v1::CheckDatabaseReply* reply) : reply_(reply) {}

  void Add(std::string finding);
  // How many of them are of what can be repaired.
  int64_t reparable() const { return reparable_; }

  // Of `table`, which must outlive what is returned, as must this.
  Differences Report(const Table& table);

 private:
  v1::CheckDatabaseReply* reply_;
  int64_t reparable_ = 0;
};

}  // namespace itemdb
