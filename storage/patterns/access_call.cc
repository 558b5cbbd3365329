#include "storage/patterns/access_call.h"

namespace itemdb::storage {

MultiTableAccessCall::MultiTableAccessCall(AccessOperation operation)
    : operation_(operation), began_(std::chrono::steady_clock::now()) {}

void MultiTableAccessCall::Add(const std::shared_ptr<TablePatterns>& patterns, int64_t scanned,
                               int64_t returned) {
  if (last_ == nullptr || last_->patterns != patterns) {
    last_ = &tables_[patterns.get()];
    if (last_->patterns == nullptr) {
      last_->patterns = patterns;
      last_->pattern = patterns->Find({.operation = operation_}, [] { return AccessTexts(); });
    }
  }
  last_->scanned += scanned;
  last_->returned += returned;
}

void MultiTableAccessCall::Record(bool ok) const {
  const auto took = std::chrono::steady_clock::now() - began_;
  for (const auto& [patterns, of_table] : tables_) {
    if (of_table.pattern != nullptr) of_table.pattern->Count(ok, of_table.scanned, of_table.returned, took);
  }
}

}  // namespace itemdb::storage
