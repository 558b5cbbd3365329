// A call on its way, which is counted when it is answered.
#pragma once

#include <chrono>
#include <map>

#include "storage/patterns/table_patterns.h"

namespace itemdb {

// A call of one table. Copied freely; counted by whoever answers, once. Calls that are refused before it is
// known what they would read or write are never given a pattern, and not counted.
//
// The pattern is borrowed: whoever holds the call holds the patterns that it was given.
class AccessCall {
 public:
  // Begins now.
  AccessCall() : began_(std::chrono::steady_clock::now()) {}

  void Is(TablePatterns& patterns, const PatternKey& key, absl::FunctionRef<AccessTexts()> describe) {
    pattern_ = patterns.Find(key, describe);
  }
  void Is(TablePatterns& patterns, AccessOperation operation) {
    Is(patterns, {.operation = operation}, [] { return AccessTexts(); });
  }

  // `scanned`: items read or written; `returned`: those of them that the answer holds or counts.
  void Answered(bool ok, int64_t scanned, int64_t returned) const {
    if (pattern_ == nullptr) return;
    pattern_->Count(ok, scanned, returned, std::chrono::steady_clock::now() - began_);
  }

 private:
  std::chrono::steady_clock::time_point began_;
  AccessPattern* pattern_ = nullptr;
};

// A call that is of several tables: one of each.
class SeveralAccessCalls {
 public:
  // Begins now.
  explicit SeveralAccessCalls(AccessOperation operation);
  SeveralAccessCalls(SeveralAccessCalls&&) = default;

  // The call is of this table too; so many more of its items were read or written, and are in the answer.
  void Add(const std::shared_ptr<TablePatterns>& patterns, int64_t scanned, int64_t returned);

  void Answered(bool ok) const;

 private:
  struct OfTable {
    std::shared_ptr<TablePatterns> patterns;
    AccessPattern* pattern = nullptr;
    int64_t scanned = 0;
    int64_t returned = 0;
  };

  AccessOperation operation_;
  std::chrono::steady_clock::time_point began_;
  // Items of one table mostly follow each other: the last one is at hand.
  OfTable* last_ = nullptr;
  std::map<const TablePatterns*, OfTable> tables_;
};

}  // namespace itemdb
