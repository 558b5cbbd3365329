#include "storage/loading/table_restores.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "spdlog/spdlog.h"
#include "storage/base/limits.h"
#include "storage/base/uuid.h"
#include "storage/catalog/catalog.h"
#include "storage/loading/table_loader.h"
#include "storage/schema/table_changes.h"

namespace itemdb::storage {
namespace {

constexpr int kMaxAttempts = 5;
// Of so many tables it is remembered why they were removed.
constexpr size_t kMaxRemembered = 100;
constexpr auto kRetryAfter = std::chrono::milliseconds(500);
constexpr auto kRetryUnreadable = std::chrono::minutes(1);
constexpr auto kRetryRefused = std::chrono::seconds(5);

// Whether another attempt may succeed: the store or the file system was not available, or too many changes of
// definitions waited.
bool MayRetry(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsAborted(status) || absl::IsUnknown(status) ||
         (absl::IsResourceExhausted(status) && ReasonOf(status) != kReasonDiskFull);
}

absl::Status CheckRestore(const ReadView& view, const v1::RestoringTable& table) {
  const std::string& name = table.definition().table_name();
  if (view.catalog().FindByName(name) != nullptr) {
    return WithRule("PIT-09", MakeError(absl::StatusCode::kAlreadyExists, kReasonTableAlreadyExists,
                                        "Table already exists: " + name));
  }
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<v1::RestoringTable> others, FindRestoringTables(view));
  const std::string& backup = table.definition().restore_summary().source_backup_arn();
  size_t restores = 0;
  for (const v1::RestoringTable& other : others) {
    restores += other.import_id().empty() ? 1 : 0;
    if (other.definition().table_name() != name) continue;
    if (!other.import_id().empty()) {
      return WithRule("PIT-09", MakeError(absl::StatusCode::kFailedPrecondition, kReasonTableInUse,
                                          "Table: " + name + " is already being imported"));
    }
    return WithRule("PIT-09", MakeError(absl::StatusCode::kFailedPrecondition, kReasonTableInUse,
                                        "Table: " + name + " is already being restored from backup: " +
                                            other.definition().restore_summary().source_backup_arn()));
  }
  for (const v1::RestoringTable& other : others) {
    if (backup.empty() || other.definition().restore_summary().source_backup_arn() != backup) continue;
    return WithRule("BAK-17", MakeError(absl::StatusCode::kFailedPrecondition, kReasonBackupInUse,
                                        "Backup is being used to restore another table: " + backup));
  }
  if (restores >= kMaxRestoringTables) {
    return WithRule("PIT-19",
                    MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                              "Subscriber limit exceeded: Only " + std::to_string(kMaxRestoringTables) +
                                  " restore operations can be done simultaneously"));
  }
  if (view.catalog().size() + others.size() >= kMaxTables) {
    return WithRule("SEM-094", MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                                         "there are " + std::to_string(kMaxTables) +
                                             " tables already, which is the limit"));
  }
  return absl::OkStatus();
}

// Drops what is stored under the storage ids of `definition`, if it has any.
void DropRecords(const v1::TableDescription& definition, CommitGroup& group) {
  if (definition.storage_id() == 0) return;
  const Table table = MakeTable(definition);
  group.DropItems(table);
  for (const Index& index : table.indexes) group.DropEntries(index);
}

absl::StatusOr<v1::RestoringTable> FindAgain(Engine& engine, const std::string& name) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  ITEMDB_ASSIGN_OR_RETURN(std::optional<v1::RestoringTable> table, FindRestoringTable(*view, name));
  if (!table.has_value()) return absl::AbortedError("table " + name + " is not being restored any more");
  return *std::move(table);
}

// The first half of step 2.
absl::StatusOr<v1::RestoringTable> AssignStorageIds(Engine& engine, const std::string& name) {
  v1::RestoringTable table;
  ITEMDB_RETURN_IF_ERROR(RunDefinitionAndWait(engine, [&]() -> absl::Status {
    ITEMDB_ASSIGN_OR_RETURN(const v1::RestoringTable before, FindAgain(engine, name));
    table = before;
    v1::TableDescription* definition = table.mutable_definition();
    definition->set_storage_id(engine.NewStorageId());
    for (auto& index : *definition->mutable_global_secondary_indexes())
      index.set_storage_id(engine.NewStorageId());
    for (auto& index : *definition->mutable_local_secondary_indexes())
      index.set_storage_id(engine.NewStorageId());
    for (auto& index : *definition->mutable_vector_indexes()) index.set_storage_id(engine.NewStorageId());
    return CommitAndWait(engine,
                         [&](CommitGroup& group) {
                           DropRecords(before.definition(), group);
                           PutRestoringTable(table, group);
                           PutNextStorageId(engine, group);
                           return absl::OkStatus();
                         },
                         {.when_full = WhenFull::kWait})
        .status();
  }));
  return table;
}

// Step 3.
absl::Status ActivateTable(Engine& engine, const v1::RestoringTable& restored, const LoadedTable& loaded,
                           ItemSource& source) {
  return RunDefinitionAndWait(engine, [&]() -> absl::Status {
    v1::TableDescription definition = restored.definition();
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    if (view->store() != loaded.view->store()) {
      return absl::AbortedError("the store was opened again while table " + definition.table_name() +
                                " was being restored");
    }
    ITEMDB_ASSIGN_OR_RETURN(const v1::RestoringTable now, FindAgain(engine, definition.table_name()));
    if (now.definition().storage_id() != definition.storage_id())
      return absl::AbortedError("table " + definition.table_name() + " is restored by another attempt");
    definition.set_table_status(v1::TABLE_STATUS_ACTIVE);
    definition.clear_restore_summary();
    const auto set_skipped = [&loaded](auto* indexes) {
      for (auto& index : *indexes) {
        const auto skipped = loaded.skipped_items.find(index.storage_id());
        if (skipped != loaded.skipped_items.end()) index.set_skipped_items(skipped->second);
      }
    };
    set_skipped(definition.mutable_global_secondary_indexes());
    set_skipped(definition.mutable_vector_indexes());
    auto table = std::make_shared<Table>(MakeTable(definition));
    table->patterns = engine.NewPatterns();
    return CommitAndWait(engine,
                         [&](CommitGroup& group) {
                           DeleteRestoringTable(table->name, group);
                           source.AppendRecords(group);
                           group.PutCatalog(kTableKeyPrefix + table->name, EncodeCatalogTable(definition));
                           for (const auto& [storage_id, size] : loaded.size_statistics)
                             group.size_statistics().Add(storage_id, size);
                           group.AppendChange(
                               definition.storage_id(),
                               EncodeTableChange(v1::CHANGE_KIND_CREATE_TABLE, definition, group));
                           group.SetCatalog(group.catalog()->With(table));
                           return absl::OkStatus();
                         },
                         {.when_full = WhenFull::kWait})
        .status();
  });
}

}  // namespace

absl::StatusOr<v1::TableDescription> BeginRestore(Engine& engine, v1::RestoringTable table) {
  const auto check = [&](const ReadView& view) { return CheckRestore(view, table); };
  return BeginTable(engine, table, check, [](const v1::RestoringTable&, CommitGroup&) {});
}

absl::StatusOr<v1::TableDescription> BeginTable(
    Engine& engine, v1::RestoringTable table, absl::FunctionRef<absl::Status(const ReadView& view)> check,
    absl::FunctionRef<void(const v1::RestoringTable& table, CommitGroup& group)> append) {
  v1::TableDescription* definition = table.mutable_definition();
  definition->set_table_id(NewUuid());
  definition->set_table_status(v1::TABLE_STATUS_CREATING);
  definition->set_creation_time_ms(engine.time_of_day().NowMicros() / 1'000);
  if (definition->billing_mode() == v1::BILLING_MODE_PAY_PER_REQUEST)
    definition->set_last_update_to_pay_per_request_time_ms(definition->creation_time_ms());
  ITEMDB_RETURN_IF_ERROR(RunDefinitionAndWait(engine, [&]() -> absl::Status {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    ITEMDB_RETURN_IF_ERROR(check(*view));
    return CommitAndWait(engine,
                         [&](CommitGroup& group) {
                           PutRestoringTable(table, group);
                           append(table, group);
                           return absl::OkStatus();
                         })
        .status();
  }));
  return DescribeRestoringTable(table);
}

v1::TableDescription DescribeRestoringTable(const v1::RestoringTable& table) {
  v1::TableDescription description = table.definition();
  for (auto& index : *description.mutable_global_secondary_indexes())
    index.set_index_status(v1::TABLE_STATUS_CREATING);
  for (auto& index : *description.mutable_vector_indexes()) index.set_index_status(v1::TABLE_STATUS_CREATING);
  return description;
}

TableRestores::TableRestores(Engine& engine, OpenSource open_source, PrepareFailure prepare_failure)
    : engine_(engine),
      open_source_(std::move(open_source)),
      prepare_failure_(std::move(prepare_failure)),
      directory_(engine.options().data_directory + "/restores") {}

void TableRestores::Start() {
  thread_.Start([this] { Loop(); });
}

void TableRestores::Stop() {
  cancellation_->Cancel();
  thread_.Stop();
}

void TableRestores::Describe(v1::TableDescription* table) const {
  MutexLock lock(mutex_);
  if (table->table_name() == current_ && table->has_restore_summary())
    table->mutable_restore_summary()->set_items_restored(items_done_);
}

absl::Status TableRestores::ExplainMissing(std::string_view name, absl::Status not_found) const {
  MutexLock lock(mutex_);
  const auto removed = removed_.find(TableNameOf(name));
  if (removed == removed_.end()) return not_found;
  absl::Status explained(
      not_found.code(),
      absl::StrCat(std::string(not_found.message()), "; restoring it failed at ",
                   absl::FormatTime(absl::RFC3339_sec, absl::FromUnixMicros(removed->second.time_us),
                                    absl::UTCTimeZone()),
                   ": ", removed->second.error));
  not_found.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { explained.SetPayload(url, payload); });
  return explained;
}

void TableRestores::Loop() {
  RemoveFiles();
  Time poll_at;  // The first poll is at once.
  while (thread_.WaitUntil(poll_at)) poll_at = RestoreAll();
}

TableRestores::Time TableRestores::RestoreAll() {
  const Time now = BackgroundThread::Clock::now();
  const auto view = engine_.View();
  if (!view.ok()) return now + kRetryAfter;  // The store is being reopened.
  const auto tables = FindRestoringTables(**view);
  if (!tables.ok()) {
    engine_.options().log->error("tables that are being restored cannot be read error={}",
                                 MessageOf(tables.status()));
    return now + kRetryUnreadable;
  }
  // Nothing is read for a table that cannot be made now.
  if (!tables->empty() && !engine_.CheckWrites().ok()) return now + kRetryRefused;
  Time poll_at = Time::max();
  for (const v1::RestoringTable& table : *tables) {
    const std::string& name = table.definition().table_name();
    const absl::Status status = Restore(table);
    RemoveFiles();
    {
      MutexLock lock(mutex_);
      current_.clear();
    }
    if (absl::IsCancelled(status)) return Time::max();
    if (status.ok()) {
      failures_.erase(name);
      MutexLock lock(mutex_);
      removed_.erase(name);
      engine_.options().log->info("table restored table={} items={}", name, items_done_.load());
      continue;
    }
    if (MayRetry(status) && (engine_.IsFailed() || ++failures_[name] < kMaxAttempts)) {
      engine_.options().log->warn("restoring a table failed and will be retried table={} error={}", name,
                                  MessageOf(status));
      poll_at = std::min(poll_at, BackgroundThread::Clock::now() + kRetryAfter);
      continue;
    }
    engine_.options().log->error("restoring a table failed, and the table is removed table={} error={}", name,
                                 MessageOf(status));
    failures_.erase(name);
    const absl::Status undone = Undo(name, status);
    if (undone.ok()) {
      // An import's description says it.
      if (!table.import_id().empty()) continue;
      MutexLock lock(mutex_);
      if (removed_.size() >= kMaxRemembered)
        removed_.erase(std::min_element(removed_.begin(), removed_.end(), [](const auto& a, const auto& b) {
          return a.second.time_us < b.second.time_us;
        }));
      removed_[name] = {.error = MessageOf(status), .time_us = engine_.time_of_day().NowMicros()};
      continue;
    }
    // The next attempt ends here again.
    if (!absl::IsUnavailable(undone)) {
      engine_.options().log->error("a table that is not restored cannot be removed table={} error={}", name,
                                   MessageOf(undone));
    }
    poll_at =
        std::min(poll_at, BackgroundThread::Clock::now() +
                              (absl::IsDataLoss(undone) ? Time::duration(kRetryUnreadable) : kRetryAfter));
  }
  return poll_at;
}

absl::Status TableRestores::Restore(v1::RestoringTable table) {
  const std::string name = table.definition().table_name();
  items_done_ = 0;
  {
    MutexLock lock(mutex_);
    current_ = name;
  }
  ITEMDB_RETURN_IF_ERROR(engine_.disk_space().CheckNow());
  (void)engine_.env()->CreateDirIfMissing(directory_);
  ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<ItemSource> source, open_source_(table, *cancellation_));
  ITEMDB_ASSIGN_OR_RETURN(table, AssignStorageIds(engine_, name));
  ITEMDB_ASSIGN_OR_RETURN(const LoadedTable loaded, LoadTable(engine_, table.definition(), *source,
                                                              directory_, cancellation_, &items_done_));
  return ActivateTable(engine_, table, loaded, *source);
}

absl::Status TableRestores::Undo(const std::string& name, const absl::Status& error) {
  return RunDefinitionAndWait(engine_, [&]() -> absl::Status {
    ITEMDB_ASSIGN_OR_RETURN(const v1::RestoringTable table, FindAgain(engine_, name));
    ITEMDB_ASSIGN_OR_RETURN(const std::function<void(CommitGroup&)> append, prepare_failure_(table, error));
    const auto undo = [&](CommitGroup& group) {
      DropRecords(table.definition(), group);
      DeleteRestoringTable(name, group);
      append(group);
      return absl::OkStatus();
    };
    return CommitAndWait(engine_, undo, {.when_full = WhenFull::kWait, .space = WriteSpace::kFrees}).status();
  });
}

void TableRestores::RemoveFiles() {
  std::vector<std::string> names;
  if (!engine_.env()->GetChildren(directory_, &names).ok()) return;
  for (const std::string& name : names) {
    if (name != "." && name != "..") (void)engine_.env()->DeleteFile(directory_ + "/" + name);
  }
  (void)engine_.env()->DeleteDir(directory_);
}

}  // namespace itemdb::storage
