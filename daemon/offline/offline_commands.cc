#include "daemon/offline/offline_commands.h"

#include <spdlog/spdlog.h>

#include <cstdio>

#include "daemon/config/memory_budget.h"
#include "daemon/offline/report_text.h"
#include "storage/offline.h"
#include "storage/restore.h"

namespace itemdb::daemon {
namespace {

storage::DatabaseOptions ToDatabaseOptions(const Options& options, const common::Log& log) {
  storage::DatabaseOptions database;
  database.data_directory = options.data_directory;
  database.encryption_keys = options.encryption_keys;
  const MemoryBudget budget = SplitMemory(options.memory_bytes);
  database.block_cache_bytes = budget.block_cache;
  database.memtable_bytes = budget.memtables;
  database.log = log;
  return database;
}

absl::StatusOr<std::string> InspectedText(const storage::DatabaseOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(const auto files, storage::InspectFiles(options));
  ITEMDB_ASSIGN_OR_RETURN(const auto report, storage::PlanRecovery(options));
  return FilesText(files) + "\n" + PlanText(options.data_directory, report);
}

absl::StatusOr<std::string> PlannedText(const storage::DatabaseOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(const auto report, storage::PlanRecovery(options));
  return PlanText(options.data_directory, report);
}

absl::StatusOr<std::string> SalvagedText(const storage::DatabaseOptions& options, const std::string& target) {
  ITEMDB_ASSIGN_OR_RETURN(const auto report, storage::Salvage(options, target));
  return SalvageText(options.data_directory, target, report);
}

absl::StatusOr<std::string> RestoredText(const Options& options, const common::Log& log) {
  ITEMDB_ASSIGN_OR_RETURN(const auto restored,
                          storage::RestoreDatabase({.backup_directory = options.restore_from,
                                                    .backup_id = options.restored_backup_id,
                                                    .archive_directory = options.restored_archive,
                                                    .to_change = options.restored_change,
                                                    .to_time_us = options.restored_time_us,
                                                    .data_directory = options.data_directory,
                                                    .encryption_keys = options.encryption_keys,
                                                    .log = log}));
  return RestoreText(options.data_directory, restored);
}

absl::StatusOr<std::string> Run(const Options& options, const storage::DatabaseOptions& database,
                                const common::Log& log) {
  switch (options.command) {
    case Command::kInspect:
      return InspectedText(database);
    case Command::kSalvage:
      return SalvagedText(database, options.salvage_target);
    case Command::kRestore:
      return RestoredText(options, log);
    case Command::kServe:
      break;
  }
  return PlannedText(database);
}

}  // namespace

bool IsOfflineCommand(const Options& options) {
  return options.command != Command::kServe || options.recover_plan();
}

ExitCode RunOfflineCommand(const Options& options, const common::Log& log) {
  const absl::StatusOr<std::string> text = Run(options, ToDatabaseOptions(options, log), log);
  if (!text.ok()) {
    const ExitCode code = ExitCodeForOpen(text.status());
    log->error("{} exit_code={}", storage::MessageOf(text.status()), static_cast<int>(code));
    return code;
  }
  if (std::fputs(text->c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return kExitOk;
  log->error("the report could not be written to stdout exit_code={}", static_cast<int>(kExitIo));
  return kExitIo;
}

}  // namespace itemdb::daemon
