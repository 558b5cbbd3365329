#include "daemon/serving/call_metrics.h"

#include <algorithm>
#include <mutex>
#include <tuple>

namespace itemdb::daemon {
namespace {

void Add(std::atomic<uint64_t>& counter, uint64_t more) {
  counter.fetch_add(more, std::memory_order_relaxed);
}

uint64_t Read(const std::atomic<uint64_t>& counter) { return counter.load(std::memory_order_relaxed); }

}  // namespace

void CallMetrics::Counters::Count(const CountedCall& call, uint64_t microseconds) {
  Add(reply_bytes, call.reply_bytes);
  if (call.items > 0) Add(items, static_cast<uint64_t>(call.items));
  if (call.reason.empty()) {
    Add(succeeded, 1);
    Add(succeeded_us, microseconds);
    return;
  }
  const std::lock_guard lock(reasons_mutex);
  const auto found = reasons.find(call.reason);
  if (found != reasons.end()) {
    ++found->second;
  } else {
    reasons.emplace(call.reason, 1);
  }
}

void CallMetrics::OperationCounters::Count(const CountedCall& call, uint64_t microseconds) {
  latency.Add(microseconds);
  Add(request_bytes, call.request_bytes);
  Counters::Count(call, microseconds);
}

CallFigures CallMetrics::Counters::Copy() const {
  CallFigures figures = {.reply_bytes = Read(reply_bytes),
                         .items = Read(items),
                         .succeeded = Read(succeeded),
                         .succeeded_us = Read(succeeded_us),
                         .reasons = {}};
  const std::lock_guard lock(reasons_mutex);
  for (const auto& [reason, count] : reasons) figures.reasons[reason] = count;
  return figures;
}

template <typename Of>
Of* CallMetrics::Find(const ByOperation<Of>& operations, std::string_view operation) {
  // Names are constants of the program, nearly always the same ones.
  for (const auto& [name, counters] : operations) {
    if (name.data() == operation.data() && name.size() == operation.size()) return counters.get();
  }
  for (const auto& [name, counters] : operations) {
    if (name == operation) return counters.get();
  }
  return nullptr;
}

template <typename Of>
Of* CallMetrics::FindOrAdd(ByOperation<Of>& operations, std::string_view operation) {
  if (Of* found = Find(operations, operation)) return found;
  return operations.emplace_back(operation, std::make_unique<Of>()).second.get();
}

CallMetrics::Counters* CallMetrics::FindOfTable(const CountedCall& call) const {
  if (call.table.empty()) return nullptr;
  const auto table = of_table_.find(call.table);
  return table == of_table_.end() ? nullptr : Find(table->second, call.operation);
}

void CallMetrics::Count(const CountedCall& call) {
  const auto protocol = static_cast<size_t>(call.protocol);
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(call.duration).count();
  const auto microseconds = static_cast<uint64_t>(std::max<int64_t>(us, 0));
  // A request may name a table that does not exist, and there is no end of such names.
  const bool may_add_table = !call.table.empty() && call.reason.empty();
  {
    const std::shared_lock lock(mutex_);
    OperationCounters* const of_operation = Find(of_protocol_[protocol], call.operation);
    Counters* const of_table = FindOfTable(call);
    if (of_operation != nullptr && (of_table != nullptr || !may_add_table)) {
      of_operation->Count(call, microseconds);
      if (of_table != nullptr) of_table->Count(call, microseconds);
      return;
    }
  }
  const std::unique_lock lock(mutex_);
  FindOrAdd(of_protocol_[protocol], call.operation)->Count(call, microseconds);
  Counters* of_table = FindOfTable(call);
  if (of_table == nullptr && may_add_table) {
    if (table_pairs_ >= kMaxTablePairs) {
      Add(uncounted_by_table_, 1);
      return;
    }
    ++table_pairs_;
    of_table = FindOrAdd(of_table_[std::string(call.table)], call.operation);
  }
  if (of_table != nullptr) of_table->Count(call, microseconds);
}

std::vector<CallMetrics::OfOperation> CallMetrics::Operations() const {
  const std::shared_lock lock(mutex_);
  std::vector<OfOperation> all;
  for (const Protocol protocol : {Protocol::kGrpc, Protocol::kHttp}) {
    for (const auto& [operation, counters] : of_protocol_[static_cast<size_t>(protocol)]) {
      all.push_back({protocol, std::string(operation), counters->Copy(), counters->latency.Copy(),
                     Read(counters->request_bytes)});
    }
  }
  std::sort(all.begin(), all.end(), [](const OfOperation& a, const OfOperation& b) {
    return std::tie(a.protocol, a.operation) < std::tie(b.protocol, b.operation);
  });
  return all;
}

std::vector<CallMetrics::OfTable> CallMetrics::Tables() const {
  const std::shared_lock lock(mutex_);
  std::vector<OfTable> all;
  for (const auto& [table, operations] : of_table_) {
    for (const auto& [operation, counters] : operations)
      all.push_back({table, std::string(operation), counters->Copy()});
  }
  std::sort(all.begin(), all.end(), [](const OfTable& a, const OfTable& b) {
    return std::tie(a.table, a.operation) < std::tie(b.table, b.operation);
  });
  return all;
}

void CallMetrics::ForgetTables(const std::function<bool(std::string_view)>& exists) {
  const std::unique_lock lock(mutex_);
  for (auto table = of_table_.begin(); table != of_table_.end();) {
    if (exists(table->first)) {
      ++table;
    } else {
      table_pairs_ -= table->second.size();
      table = of_table_.erase(table);
    }
  }
}

}  // namespace itemdb::daemon
