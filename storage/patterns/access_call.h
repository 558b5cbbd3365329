// Calls in progress. A call is counted under its access pattern when it is answered.
#pragma once

#include <chrono>
#include <map>

#include "storage/patterns/table_patterns.h"

namespace itemdb::storage {

// A call of one table. Copyable; the code that answers the call counts it, once, with Record. A call that is
// refused before its table and conditions are known gets no pattern and is not counted.
//
// The pattern is borrowed: the owner of the call must keep the TablePatterns that it passed to Bind.
class AccessCall {
 public:
  // Begins now.
  AccessCall() : began_(std::chrono::steady_clock::now()) {}

  void Bind(TablePatterns& patterns, const PatternKey& key, absl::FunctionRef<AccessTexts()> describe) {
    pattern_ = patterns.Find(key, describe);
  }
  void Bind(TablePatterns& patterns, AccessOperation operation) {
    Bind(patterns, {.operation = operation}, [] { return AccessTexts(); });
  }

  // Counts the call. `scanned`: items read or written. `returned`: items that the answer holds or counts.
  void Record(bool ok, int64_t scanned, int64_t returned) const {
    if (pattern_ == nullptr) return;
    pattern_->Count(ok, scanned, returned, std::chrono::steady_clock::now() - began_);
  }

 private:
  std::chrono::steady_clock::time_point began_;
  AccessPattern* pattern_ = nullptr;
};

// A call of several tables. Counted once for each table.
class MultiTableAccessCall {
 public:
  // Begins now.
  explicit MultiTableAccessCall(AccessOperation operation);
  MultiTableAccessCall(MultiTableAccessCall&&) = default;

  // Adds a table to the call, or more items of a table that was added before: `scanned` items read or
  // written, of which the answer holds `returned`.
  void Add(const std::shared_ptr<TablePatterns>& patterns, int64_t scanned, int64_t returned);

  void Record(bool ok) const;

 private:
  struct OfTable {
    std::shared_ptr<TablePatterns> patterns;
    AccessPattern* pattern = nullptr;
    int64_t scanned = 0;
    int64_t returned = 0;
  };

  AccessOperation operation_;
  std::chrono::steady_clock::time_point began_;
  // The table of the last Add. Items of one table mostly follow each other.
  OfTable* last_ = nullptr;
  std::map<const TablePatterns*, OfTable> tables_;
};

}  // namespace itemdb::storage
