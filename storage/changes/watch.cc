#include "storage/changes/watch.h"

#include <algorithm>

#include "storage/base/limits.h"
#include "storage/changes/log_reader.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

// One call: polls the change log, waits for a change, polls again, reads a page.
class WatchCall : public std::enable_shared_from_this<WatchCall> {
 public:
  WatchCall(Engine& engine, v1::WatchRequest request, Done<WatchPage> done, CancellationPtr cancellation)
      : engine_(engine),
        request_(std::move(request)),
        done_(std::move(done)),
        cancellation_(std::move(cancellation)) {}

  void Start() {
    const int interval =
        request_.has_progress_interval_ms() ? request_.progress_interval_ms() : kDefaultProgressIntervalMs;
    if (interval < kMinProgressIntervalMs || interval > kMaxProgressIntervalMs) {
      return std::move(done_)(
          ValidationError("ProgressIntervalMs must be " + std::to_string(kMinProgressIntervalMs) + " to " +
                          std::to_string(kMaxProgressIntervalMs) + "; it is " + std::to_string(interval)));
    }
    until_ = ChangeWaiters::Clock::now() + std::chrono::milliseconds(interval);
    Poll();
  }

 private:
  void Poll() {
    if (absl::Status wanted = CheckNotCancelled(cancellation_); !wanted.ok()) return std::move(done_)(wanted);
    absl::StatusOr<DurablePrefix> log = ReadDurablePrefix(engine_);
    if (!log.ok()) return std::move(done_)(log.status());
    if (absl::Status found = FindTable(*log->view); !found.ok()) return std::move(done_)(found);
    if (!request_.has_after_sequence()) {
      // Without a position the reply comes at once: it tells the caller the position from which to go on.
      request_.set_after_sequence(log->last_sequence);
      return Finish(*log, WatchPage());
    }
    const uint64_t after = request_.after_sequence();
    // The position is of another database, or this database has lost the changes up to it. Waiting would skip
    // all changes up to that position.
    if (after > log->view->change_sequence()) {
      return std::move(done_)(ValidationError("AfterSequence is " + std::to_string(after) +
                                              ", and the last change of this database is " +
                                              std::to_string(log->view->change_sequence())));
    }
    const uint64_t storage_id = request_.table_storage_id();
    if (after < log->last_sequence && engine_.change_waiters().MayHaveChanged(storage_id, after))
      return Read(*std::move(log));
    if (TableIsGone(*log)) {
      WatchPage page;
      page.last = true;
      return Finish(*log, std::move(page));
    }
    // All changes up to last_sequence belong to other tables.
    request_.set_after_sequence(std::max(after, log->last_sequence));
    if (ChangeWaiters::Clock::now() >= until_) return Finish(*log, WatchPage());
    const uint64_t seen = request_.after_sequence();
    log->view.reset();
    engine_.change_waiters().Await(storage_id, seen, until_, cancellation_,
                                   [self = shared_from_this()](uint64_t sequence) {
                                     self->request_.set_after_sequence(sequence);
                                     self->Poll();
                                   });
  }

  absl::Status FindTable(const ReadView& view) {
    if (request_.table_name().empty() || request_.table_storage_id() != 0) return absl::OkStatus();
    ITEMDB_ASSIGN_OR_RETURN(auto table, view.catalog().Find(request_.table_name()));
    request_.set_table_storage_id(table->storage_id);
    return absl::OkStatus();
  }

  // Whether the requested table is deleted and all its changes are in the durable prefix.
  bool TableIsGone(const DurablePrefix& log) const {
    if (request_.table_storage_id() == 0 || log.last_sequence != log.view->change_sequence()) return false;
    const Catalog& catalog = log.view->catalog();
    auto is_it = [this](const auto& table) { return table->storage_id == request_.table_storage_id(); };
    if (request_.table_name().empty()) return std::none_of(catalog.begin(), catalog.end(), is_it);
    const auto table = catalog.Find(request_.table_name());
    return !table.ok() || !is_it(*table);
  }

  void Read(DurablePrefix log) {
    IoPool::Task task = [self = shared_from_this(), log = std::move(log)] {
      if (absl::Status wanted = CheckNotCancelled(self->cancellation_); !wanted.ok())
        return std::move(self->done_)(wanted);
      self->ReadNow(log);
    };
    if (!engine_.io().Submit(task, IoPriority::kLong)) std::move(done_)(IoPoolFullError());
  }

  void ReadNow(const DurablePrefix& log) {
    WatchPage page;
    int64_t records = 0;
    bool full = false;
    absl::Status wanted;
    uint64_t commit_end = 0;
    uint64_t through = request_.after_sequence();
    auto add = [&](const ChangeView& change, std::string_view encoded) {
      full = (records >= kMaxReadChanges || page.encoded_records.size() >= kMaxPageBytes) &&
             change.change_sequence > commit_end;
      if (full) return false;
      constexpr int64_t kChangesBetweenChecks = 256;
      if (++records % kChangesBetweenChecks == 0) wanted = CheckNotCancelled(cancellation_);
      if (!wanted.ok()) return false;
      through = change.change_sequence;
      commit_end = change.commit_last_sequence;
      wire::AppendBytesField(v1::WatchReply::kRecordsFieldNumber, encoded, &page.encoded_records);
      return true;
    };
    const uint64_t storage_id = request_.table_storage_id();
    absl::Status read =
        storage_id == 0 ? WalkChanges(engine_, *log.view, request_.after_sequence(), log.last_sequence, add)
                        : WalkTableChanges(engine_, *log.view, storage_id, request_.after_sequence(),
                                           log.last_sequence, add);
    read.Update(wanted);
    // The page ends before a change that cannot be read. The next page meets it first, and fails.
    const bool ends_at_damage = records > 0 && absl::IsDataLoss(read);
    if (!read.ok() && !ends_at_damage) return std::move(done_)(read);
    // Not full: all further changes up to last_sequence belong to other tables.
    request_.set_after_sequence(ends_at_damage ? through
                                : full         ? std::max(through, commit_end)
                                               : log.last_sequence);
    if (records == 0 && ChangeWaiters::Clock::now() < until_) return Poll();
    Finish(log, std::move(page));
  }

  void Finish(const DurablePrefix& log, WatchPage page) {
    page.reply.set_change_sequence(request_.after_sequence());
    page.reply.set_oldest_sequence(engine_.trim_horizon().oldest());
    page.reply.set_last_sequence(log.last_sequence);
    page.reply.set_table_storage_id(request_.table_storage_id());
    std::move(done_)(std::move(page));
  }

  Engine& engine_;
  // Updated while the call runs: table_storage_id once it is known, and after_sequence, the position reached.
  v1::WatchRequest request_;
  Done<WatchPage> done_;
  const CancellationPtr cancellation_;
  ChangeWaiters::Clock::time_point until_;
};

}  // namespace

void WatchChanges(Engine& engine, const v1::WatchRequest& request, Done<WatchPage> done,
                  CancellationPtr cancellation) {
  std::make_shared<WatchCall>(engine, request, std::move(done), std::move(cancellation))->Start();
}

}  // namespace itemdb::storage
