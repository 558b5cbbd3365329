#include "tools/moving/copier.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/status_macros.h"

namespace itemdb::tools {
namespace {

struct SegmentToCopy {
  size_t table;
  int segment;
};

class Copier {
 public:
  Copier(const Side& source, const Side& target, MoveJournal& journal, Pace& pace,
         const std::function<void(int64_t)>& on_copied)
      : source_(source), target_(target), journal_(journal), pace_(pace), on_copied_(on_copied) {}

  absl::Status Copy(const MovedTable& table, const SegmentToCopy& place) {
    std::optional<Item> after = table.segments[place.segment].after;
    while (true) {
      ITEMDB_ASSIGN_OR_RETURN(
          ItemPage page,
          source_.ScanPage(table.name, place.segment, static_cast<int>(table.segments.size()), after));
      std::vector<BatchWrite> puts;
      puts.reserve(page.items.size());
      for (Item& item : page.items) puts.push_back(BatchPut{table.name, std::move(item)});
      ITEMDB_RETURN_IF_ERROR(target_.WriteItems(puts, pace_));
      on_copied_(static_cast<int64_t>(puts.size()));
      after = std::move(page.last_evaluated_key);
      const SegmentState reached{.done = !after.has_value(), .after = after};
      ITEMDB_RETURN_IF_ERROR(journal_.Change(/*now=*/false, [&](MoveState& state) {
        state.tables[place.table].segments[place.segment] = reached;
      }));
      if (reached.done) return absl::OkStatus();
      if (source_.patience().cancel().cancelled()) return absl::CancelledError("interrupted");
    }
  }

 private:
  const Side& source_;
  const Side& target_;
  MoveJournal& journal_;
  Pace& pace_;
  const std::function<void(int64_t)>& on_copied_;
};

}  // namespace

absl::Status InParallel(int workers, size_t count, const std::function<absl::Status(size_t)>& work) {
  if (count == 1) return work(0);
  std::atomic<size_t> next{0};
  std::mutex mutex;
  absl::Status failure;
  std::atomic<bool> has_failed{false};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min<size_t>(std::max(workers, 1), count); ++i) {
    threads.emplace_back([&] {
      for (size_t one = next++; one < count && !has_failed; one = next++) {
        absl::Status status = work(one);
        if (status.ok()) continue;
        std::lock_guard<std::mutex> lock(mutex);
        failure.Update(status);
        has_failed = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failure;
}

absl::Status CopyItems(const Side& source, const Side& target, MoveJournal& journal, Pace& pace, int workers,
                       const std::function<void(int64_t)>& on_copied) {
  const MoveState state = journal.state();
  std::vector<SegmentToCopy> segments;
  for (size_t table = 0; table < state.tables.size(); ++table) {
    for (size_t segment = 0; segment < state.tables[table].segments.size(); ++segment) {
      if (!state.tables[table].segments[segment].done)
        segments.push_back({.table = table, .segment = static_cast<int>(segment)});
    }
  }
  Copier copier(source, target, journal, pace, on_copied);
  return InParallel(workers, segments.size(),
                    [&](size_t i) { return copier.Copy(state.tables[segments[i].table], segments[i]); });
}

}  // namespace itemdb::tools
