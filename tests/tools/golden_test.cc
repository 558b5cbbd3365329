// The exact output of every command in every output form, for success and failure.
//
// golden/COMMAND.txt has six runs. After an intended change, write the files again and read the differences:
//
//   ITEMDB_WRITE_GOLDEN=1 build/release/bin/tools_test --gtest_filter='Golden.*'
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "itemdb/order_entry.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/tools/real_daemon.h"
#include "tools/cli/command_table.h"
#include "tools/shell/all_commands.h"

namespace itemdb::tools {
namespace {

using Arguments = std::vector<std::string>;

struct Case {
  // As returned by PathOf.
  std::string command;
  // The arguments after the command, for the success and for the failure.
  Arguments success;
  Arguments failure;
  std::string input = "";
  std::string failing_input = "";
  // The command changes the data, so the next run needs a new daemon.
  bool writes = false;
  // Numbers differ from run to run; only the form of the output is compared.
  bool varies = false;
  // Uses a fake daemon whose numbers are always the same.
  bool fake = false;
};

grpc::Status FixedTimeToLive(const v1::DescribeTimeToLiveRequest&, v1::DescribeTimeToLiveReply* reply) {
  reply->set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_ENABLED);
  reply->set_attribute_name("expires");
  reply->set_items_with_time(1'234);
  reply->set_items_expired(56'789);
  return grpc::Status::OK;
}

grpc::Status FixedSearch(const v1::SearchVectorsRequest& request, v1::SearchVectorsReply* reply) {
  EXPECT_EQ(request.top_k(), 2);
  EXPECT_EQ(request.search_vector_size(), 2);
  EXPECT_EQ(request.search_condition_expression(), "topic = :t");
  for (const auto& [title, score] : {std::pair("Fugues", 0.00625F), std::pair("Jazz", 1.25F)}) {
    v1::SearchResult* result = reply->add_search_results();
    v1::Attribute* attribute = result->mutable_item()->add_attributes();
    attribute->set_name("title");
    attribute->mutable_value()->set_s(title);
    result->set_score(score);
  }
  return grpc::Status::OK;
}

// Every reply tells of ten calls more.
void AddActivity(v1::Activity* activity) {
  static std::atomic<int64_t> calls = 0;
  calls += 10;
  v1::OperationActivity* operation = activity->add_operations();
  operation->set_table_name("Order");
  operation->set_operation("Query");
  operation->set_items_scanned(7 * calls);
  v1::LatencyCount* latency = operation->add_latencies();
  latency->set_latency_us(250);
  latency->set_calls(calls);
  for (const auto& [id, table, key, lag_us] :
       {std::tuple(7, "Order", "AKORDERS", 2'500'000), std::tuple(3, "", "", 0)}) {
    v1::WatchActivity* watch = activity->add_watches();
    watch->set_watch_id(id);
    watch->set_table_name(table);
    watch->set_key_id(key);
    watch->set_peer("ipv4:10.0.0.7:40312");
    watch->set_lag_us(lag_us);
    watch->set_lag_changes(lag_us / 1'000);
  }
  activity->set_open_watches(2);
}

grpc::Status FixedStatus(const v1::GetStatusRequest& request, v1::GetStatusReply* reply) {
  if (request.with_activity()) AddActivity(reply->mutable_activity());
  reply->set_version("1.2.3");
  reply->set_database_id("00000000-0000-0000-0000-000000000000");
  reply->set_durable(true);
  reply->set_change_sequence(1'234'567);
  reply->set_durable_sequence(1'234'500);
  reply->set_table_count(2);
  for (const char* name : {"Order", "music"}) {
    v1::TableStatistics* table = reply->add_tables();
    table->set_table_name(name);
    table->set_item_count(1'000);
    table->set_item_bytes(65'536);
    table->set_index_count(4);
  }
  reply->mutable_disk()->set_table_files(3'000'000);
  reply->mutable_disk()->set_write_ahead_log(65'536);
  reply->mutable_disk()->set_free(int64_t{40} << 30);
  reply->mutable_disk()->set_free_floor(int64_t{256} << 20);
  reply->mutable_disk()->set_dropped_count(6);
  reply->mutable_disk()->set_dropped_bytes(5'000'000);
  reply->mutable_disk()->set_dropped_since_us(int64_t{1'760'000'000'000'000});
  v1::MemoryUsage* memory = reply->mutable_memory();
  memory->set_limit(int64_t{1} << 30);
  memory->set_resident(50'000'000);
  memory->set_block_cache(8 << 20);
  memory->set_block_cache_capacity(512 << 20);
  memory->set_memtables(1'000);
  memory->set_memtable_budget(256 << 20);
  memory->set_table_readers(12'345);
  memory->set_write_queue(0);
  memory->set_write_queue_limit(64 << 20);
  memory->set_calls(17);
  memory->set_call_limit(128 << 20);
  reply->mutable_writes()->set_committed(20'000);
  reply->mutable_writes()->set_commit_groups(1'500);
  reply->mutable_writes()->set_refused(3);
  reply->mutable_writes()->set_mean_commit_us(250);
  v1::BackgroundCheck* background = reply->mutable_background_check();
  background->set_rate(20'000);
  background->set_rounds(3);
  background->set_last_end_time_us(1'700'000'000'000'000);
  background->add_findings("index ByDate of table Order: the entry 01 belongs to no item");
  background->set_finding_count(1);
  v1::ScheduledBackups* backups = reply->mutable_scheduled_backups();
  backups->set_schedule("30 3 * * *");
  backups->set_next_time_us(1'700'100'000'000'000);
  backups->mutable_last()->set_backup_id(7);
  backups->mutable_last()->set_begin_time_us(1'700'000'000'000'000);
  backups->set_last_verified_time_us(1'700'000'060'000'000);
  backups->set_last_error("the disk is full");
  v1::ProvenBackup* proven = reply->mutable_proven_backup();
  proven->set_backup_id(6);
  proven->set_begin_time_us(1'699'900'000'000'000);
  proven->set_proven_time_us(1'699'950'000'000'000);
  v1::ArchiveStatus* archive = reply->mutable_archive();
  archive->set_directory("/mnt/archive");
  archive->set_change_sequence(1'000'007);
  archive->set_commit_time_us(1'700'000'000'000'000);
  archive->set_lag_ms(1'200);
  archive->set_gaps(1);
  archive->set_oldest_time_us(1'699'900'000'000'000);
  archive->set_error("the disk is full");
  archive->set_shares_disk(true);
  reply->mutable_backup_places()->set_backup_directory("/var/lib/itemdb/backups");
  reply->mutable_backup_places()->set_shares_disk(true);
  v1::FileCheck* files = reply->mutable_file_check();
  files->set_bytes_per_second(4 << 20);
  files->set_rounds(2);
  files->set_last_end_time_us(1'700'000'000'000'000);
  files->add_findings("the table file 000012.sst of the column family items has 7 bytes instead of 4096");
  files->set_finding_count(1);
  reply->mutable_refused_calls()->set_unauthenticated(1'234);
  reply->mutable_refused_calls()->set_permission_denied(5);
  reply->mutable_audit_log()->set_written(2'000);
  reply->mutable_audit_log()->set_lost(1);
  reply->mutable_damage()->set_files(2);
  reply->mutable_damage()->set_blocks(3);
  reply->mutable_damage()->add_paused_families("items");
  v1::ChangeHold* held = reply->add_change_holds();
  held->set_name("move-0123");
  held->set_after_sequence(1'000'000);
  held->set_state(v1::CHANGE_HOLD_STATE_HELD);
  held->set_lease_seconds(86'400);
  held->set_creation_time_us(1'760'000'000'000'000);
  held->set_renewed_time_us(1'760'000'060'000'000);
  held->set_held_bytes(123'456);
  v1::ChangeHold* ended = reply->add_change_holds();
  *ended = *held;
  ended->set_name("reports");
  ended->set_after_sequence(7);
  ended->set_state(v1::CHANGE_HOLD_STATE_DISK_FULL);
  ended->set_ended_time_us(1'760'000'120'000'000);
  ended->clear_held_bytes();
  return grpc::Status::OK;
}

// There is a hold "move-0123".
grpc::Status FixedRelease(const v1::ReleaseChangesRequest& request, v1::ReleaseChangesReply* reply) {
  v1::GetStatusReply status;
  (void)FixedStatus({}, &status);
  if (request.name() != "move-0123")
    return ErrorReply(grpc::StatusCode::FAILED_PRECONDITION, "HOLD_ENDED",
                      "there is no hold of the change log with the name " + request.name() +
                          ": it was released, or ended so long ago that it is not listed any more");
  *reply->mutable_hold() = status.change_holds(0);
  reply->mutable_hold()->clear_held_bytes();
  return grpc::Status::OK;
}

// Insights of a daemon that does as it is asked, with two that are on.
void AddInsights(FakeDaemon& fake) {
  const auto set = [](const char* table, const std::string& index, bool on, bool throttled_only,
                      v1::ContributorInsightsSummary* summary) {
    summary->set_table_name(table);
    summary->set_index_name(index);
    summary->set_contributor_insights_status(on ? v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLED
                                                : v1::CONTRIBUTOR_INSIGHTS_STATUS_DISABLED);
    if (on)
      summary->set_contributor_insights_mode(throttled_only
                                                 ? v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS
                                                 : v1::CONTRIBUTOR_INSIGHTS_MODE_ACCESSED_AND_THROTTLED_KEYS);
  };
  fake.update_contributor_insights = [set](const v1::UpdateContributorInsightsRequest& request,
                                           v1::UpdateContributorInsightsReply* reply) {
    if (request.table_name() != "Order")
      return ErrorReply(grpc::StatusCode::NOT_FOUND, "TABLE_NOT_FOUND", "there is no such table");
    set("Order", request.index_name(),
        request.contributor_insights_action() == v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE,
        request.contributor_insights_mode() == v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS,
        reply->mutable_contributor_insights());
    return grpc::Status::OK;
  };
  fake.list_contributor_insights = [set](const v1::ListContributorInsightsRequest&,
                                         v1::ListContributorInsightsReply* reply) {
    set("Order", "", true, false, reply->add_contributor_insights_summaries());
    set("Order", "OrderByCustomerDate", true, true, reply->add_contributor_insights_summaries());
    return grpc::Status::OK;
  };
}

grpc::Status FixedTopKeys(const v1::GetTopKeysRequest&, v1::GetTopKeysReply* reply) {
  const auto set = [](const char* id, double count, double error, v1::TopKey* key) {
    v1::Attribute* attribute = key->mutable_key()->add_attributes();
    attribute->set_name("order_id");
    attribute->mutable_value()->set_s(id);
    key->set_count(count);
    key->set_error(error);
  };
  reply->set_start_time_us(1'766'000'000'000'000);
  set("ord_001", 1'204.5, 0, reply->add_partition_keys());
  set("ord_002", 37, 12.5, reply->add_partition_keys());
  set("ord_002", 3, 0, reply->add_throttled_partition_keys());
  return grpc::Status::OK;
}

// A good query, a query that reads too much, a scan, a conditional write.
grpc::Status FixedPatterns(const v1::GetAccessPatternsRequest&, v1::GetAccessPatternsReply* reply) {
  const auto add = [reply](const char* operation, int64_t calls, int64_t read, int64_t found) {
    v1::AccessPattern* pattern = reply->add_patterns();
    pattern->set_table_name("Order");
    pattern->set_operation(operation);
    pattern->set_calls(calls);
    pattern->set_items_scanned(read);
    pattern->set_items_returned(found);
    pattern->set_p50_us(12);
    pattern->set_p99_us(1'520);
    return pattern;
  };
  v1::AccessPattern* query = add("Query", 45'000, 90'000, 90'000);
  query->set_index_name("OrderByCustomerDate");
  query->set_key_condition("customer_id = ? AND order_date BETWEEN ? AND ?");
  query->set_descending(true);
  query = add("Query", 1'000, 20'000, 1'000);
  query->set_key_condition("order_id = ?");
  query->set_filter("status = ?");
  v1::AccessPattern* put = add("PutItem", 120, 120, 0);
  put->set_filter("attribute_not_exists(order_id)");
  put->set_errors(20);
  add("Scan", 3, 3'000, 3'000);
  reply->set_other_calls(7);
  reply->set_start_time_us(1'700'000'000'000'000);
  return grpc::Status::OK;
}

v1::DatabaseBackup FixedBackup(uint32_t id) {
  v1::DatabaseBackup backup;
  backup.set_backup_id(id);
  backup.set_database_id("7b0c3ad2-0000-4000-8000-000000000000");
  backup.set_change_sequence(1'000'000 + id);
  backup.set_begin_time_us(1'760'000'000'000'000);
  backup.set_table_count(12);
  backup.set_size_bytes(123'456'789);
  backup.set_file_count(34);
  return backup;
}

grpc::Status FixedDescription(uint32_t id, v1::ListDatabaseBackupsReply* reply) {
  if (id != 3)
    return ErrorReply(grpc::StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND",
                      "there is no backup 7 in /mnt/backups");
  *reply->add_backups() = FixedBackup(3);
  v1::DatabaseBackupDetails* details = reply->mutable_details();
  details->set_end_time_us(1'760'000'012'000'000);
  details->set_shared_bytes(100'000'000);
  details->set_shared_file_count(30);
  details->set_encrypted(true);
  details->set_verified_time_us(1'760'000'060'000'000);
  details->set_knows_tables(true);
  v1::TableStatistics* table = details->add_tables();
  table->set_table_name("Music");
  table->set_item_count(1'234'567);
  table->set_item_bytes(98'765'432);
  table->set_index_count(2);
  return grpc::Status::OK;
}

grpc::Status FixedBackups(const v1::ListDatabaseBackupsRequest& request,
                          v1::ListDatabaseBackupsReply* reply) {
  reply->set_directory("/mnt/backups");
  if (request.describe_backup_id() != 0) return FixedDescription(request.describe_backup_id(), reply);
  *reply->add_backups() = FixedBackup(1);
  *reply->add_backups() = FixedBackup(3);
  reply->add_damaged_backup_ids(2);
  return grpc::Status::OK;
}

// Backup 2 is damaged.
grpc::Status FixedVerify(const v1::VerifyDatabaseBackupRequest& request, v1::DatabaseBackup* reply) {
  if (request.backup_id() == 2)
    return ErrorReply(grpc::StatusCode::DATA_LOSS, "DATA_LOSS", "backup 2 is damaged: checksum mismatch");
  *reply = FixedBackup(3);
  return grpc::Status::OK;
}

grpc::Status FixedDelete(const v1::DeleteDatabaseBackupsRequest& request,
                         v1::DeleteDatabaseBackupsReply* reply) {
  if (request.backup_id() == 7)
    return ErrorReply(grpc::StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND",
                      "there is no backup 7 in /mnt/backups");
  reply->add_deleted_backup_ids(1);
  return grpc::Status::OK;
}

grpc::Status FixedTable(const v1::DescribeTableRequest&, v1::DescribeTableReply* reply) {
  v1::KeySchemaElement* key = reply->mutable_table()->add_key_schema();
  reply->mutable_table()->set_table_name("Order");
  key->set_attribute_name("order_id");
  key->set_key_type(v1::KEY_TYPE_HASH);
  return grpc::Status::OK;
}

v1::TableBackup FixedTableBackup(v1::BackupStatus status) {
  v1::TableBackup backup;
  backup.set_backup_arn("arn:aws:dynamodb:local:000000000000:table/Order/backup/01760000000000-0123abcd");
  backup.set_backup_name("nightly");
  backup.set_backup_status(status);
  backup.set_backup_type(v1::BACKUP_TYPE_USER);
  backup.set_creation_time_ms(1'760'000'000'000);
  backup.set_change_sequence(1'234'567);
  backup.set_file_bytes(98'765);
  v1::DescribeTableReply described;
  EXPECT_TRUE(FixedTable({}, &described).ok());
  *backup.mutable_source_table() = described.table();
  backup.mutable_source_table()->set_table_status(v1::TABLE_STATUS_ACTIVE);
  backup.mutable_source_table()->set_item_count(1'000);
  backup.mutable_source_table()->set_table_size_bytes(123'456);
  return backup;
}

v1::ExportDescription FixedExport(v1::ExportStatus status) {
  v1::ExportDescription description;
  description.set_export_arn(
      "arn:aws:dynamodb:local:000000000000:table/Order/export/01760000000000-0123abcd");
  description.set_export_status(status);
  description.set_start_time_ms(1'760'000'000'000);
  description.set_table_id("11111111-2222-3333-4444-555555555555");
  description.set_export_time_ms(1'760'000'000'000);
  description.set_change_sequence(1'234);
  description.mutable_request()->set_table_arn("arn:aws:dynamodb:local:000000000000:table/Order");
  description.mutable_request()->set_s3_bucket("bucket");
  description.mutable_request()->set_s3_prefix("some/where");
  description.mutable_request()->set_client_token("token");
  if (status == v1::EXPORT_STATUS_COMPLETED) {
    description.set_end_time_ms(1'760'000'001'000);
    description.set_item_count(5);
    description.set_billed_size_bytes(678);
    description.set_export_manifest("some/where/AWSDynamoDB/01760000000000-0123abcd/manifest-summary.json");
  }
  return description;
}

// There is the table Order and one export.
void AddExports(FakeDaemon& fake) {
  fake.export_table_to_point_in_time = [](const v1::ExportTableToPointInTimeRequest& request,
                                          v1::ExportTableToPointInTimeReply* reply) {
    if (!request.table_arn().ends_with("/Order")) {
      return ErrorReply(grpc::StatusCode::NOT_FOUND, "TABLE_NOT_FOUND",
                        "Table not found: " + request.table_arn());
    }
    *reply->mutable_description() = FixedExport(v1::EXPORT_STATUS_IN_PROGRESS);
    return grpc::Status::OK;
  };
  fake.describe_export = [](const v1::DescribeExportRequest& request, v1::DescribeExportReply* reply) {
    if (request.export_arn() == "arn:nothing")
      return ErrorReply(grpc::StatusCode::INVALID_ARGUMENT, "VALIDATION", "Invalid Export ARN");
    *reply->mutable_description() = FixedExport(v1::EXPORT_STATUS_COMPLETED);
    return grpc::Status::OK;
  };
  fake.list_exports = [](const auto&, v1::ListExportsReply* reply) {
    *reply->add_exports() = FixedExport(v1::EXPORT_STATUS_COMPLETED);
    return grpc::Status::OK;
  };
}

// There are the table Order and one backup.
void AddBackups(FakeDaemon& fake) {
  fake.create_backup = [](const v1::CreateBackupRequest& request, v1::CreateBackupReply* reply) {
    if (request.table_name() != "Order")
      return ErrorReply(grpc::StatusCode::NOT_FOUND, "TABLE_NOT_FOUND", "Table not found: Ordr");
    *reply->mutable_backup() = FixedTableBackup(v1::BACKUP_STATUS_CREATING);
    return grpc::Status::OK;
  };
  fake.describe_backup = [](const auto&, v1::DescribeBackupReply* reply) {
    *reply->mutable_backup() = FixedTableBackup(v1::BACKUP_STATUS_AVAILABLE);
    return grpc::Status::OK;
  };
  fake.list_backups = [](const auto&, v1::ListBackupsReply* reply) {
    *reply->add_backups() = FixedTableBackup(v1::BACKUP_STATUS_AVAILABLE);
    return grpc::Status::OK;
  };
  fake.delete_backup = [](const auto&, v1::DeleteBackupReply* reply) {
    *reply->mutable_backup() = FixedTableBackup(v1::BACKUP_STATUS_DELETED);
    return grpc::Status::OK;
  };
  fake.restore_table_from_backup = [](const v1::RestoreTableFromBackupRequest& request,
                                      v1::RestoreTableFromBackupReply* reply) {
    if (request.target_table_name() == "Order") {
      return ErrorReply(grpc::StatusCode::ALREADY_EXISTS, "TABLE_ALREADY_EXISTS",
                        "Table already exists: Order");
    }
    *reply->mutable_table() = FixedTableBackup(v1::BACKUP_STATUS_AVAILABLE).source_table();
    reply->mutable_table()->set_table_status(v1::TABLE_STATUS_CREATING);
    return grpc::Status::OK;
  };
  fake.restore_table_to_point_in_time = [](const v1::RestoreTableToPointInTimeRequest&,
                                           v1::RestoreTableToPointInTimeReply* reply) {
    *reply->mutable_table() = FixedTableBackup(v1::BACKUP_STATUS_AVAILABLE).source_table();
    reply->mutable_table()->set_table_status(v1::TABLE_STATUS_CREATING);
    return grpc::Status::OK;
  };
  AddExports(fake);
  fake.describe_continuous_backups = [](const v1::DescribeContinuousBackupsRequest& request, auto*) {
    if (request.table_name() == "Order") return grpc::Status::OK;
    return ErrorReply(grpc::StatusCode::NOT_FOUND, "TABLE_NOT_FOUND", "Table not found: Ordr");
  };
  fake.update_continuous_backups = [](const v1::UpdateContinuousBackupsRequest& request,
                                      v1::UpdateContinuousBackupsReply* reply) {
    if (request.recovery_period_in_days() > 35) {
      return ErrorReply(grpc::StatusCode::INVALID_ARGUMENT, "VALIDATION",
                        "RecoveryPeriodInDays must be 1 to 35; it is 36");
    }
    v1::ContinuousBackupsDescription* backups = reply->mutable_continuous_backups();
    backups->set_point_in_time_recovery_enabled(request.point_in_time_recovery_enabled());
    backups->set_recovery_period_in_days(request.recovery_period_in_days());
    backups->set_earliest_restorable_time_ms(1'760'000'000'000);
    backups->set_latest_restorable_time_ms(1'760'000'123'456);
    return grpc::Status::OK;
  };
}

// Four items of the table Order were changed, one of them later too.
void AddUndo(FakeDaemon& fake) {
  fake.undo_changes = [](const v1::UndoChangesRequest& request, v1::UndoChangesReply* reply) {
    if (request.from_sequence() == 7) {
      return ErrorReply(
          grpc::StatusCode::INVALID_ARGUMENT, "VALIDATION",
          "from_sequence 7 is inside of the transaction with the changes 6 to 8; take back all of "
          "it or nothing");
    }
    int number = 0;
    for (const v1::UndoOutcome outcome :
         {v1::UNDO_OUTCOME_PUT, v1::UNDO_OUTCOME_DELETED, v1::UNDO_OUTCOME_UNCHANGED, v1::UNDO_OUTCOME_PUT}) {
      v1::UndoneItem* item = reply->add_items();
      v1::Attribute* attribute = item->mutable_key()->add_attributes();
      attribute->set_name("order_id");
      attribute->mutable_value()->set_s("order_" + std::to_string(++number));
      item->set_outcome(outcome);
    }
    return grpc::Status::OK;
  };
}

v1::ImportDescription FixedImport(v1::ImportStatus status) {
  v1::ImportDescription import;
  import.set_import_arn("arn:aws:dynamodb:local:000000000000:table/books/import/01760000000000-0123abcd");
  import.set_import_status(status);
  import.set_table_arn("arn:aws:dynamodb:local:000000000000:table/books");
  import.set_table_id("0123");
  import.set_client_token("token");
  import.mutable_s3_bucket_source()->set_s3_bucket("library");
  import.set_input_format(v1::INPUT_FORMAT_DYNAMODB_JSON);
  import.set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_NONE);
  import.set_start_time_ms(1'760'000'000'000);
  if (status == v1::IMPORT_STATUS_IN_PROGRESS) return import;
  import.set_end_time_ms(1'760'000'001'000);
  import.set_processed_size_bytes(123'456);
  import.set_processed_item_count(1'000);
  import.set_imported_item_count(1'000);
  return import;
}

// There is one import, of the table books.
void AddImports(FakeDaemon& fake) {
  fake.import_table = [](const auto&, v1::ImportTableReply* reply) {
    *reply->mutable_import() = FixedImport(v1::IMPORT_STATUS_IN_PROGRESS);
    return grpc::Status::OK;
  };
  fake.describe_import = [](const auto&, v1::DescribeImportReply* reply) {
    *reply->mutable_import() = FixedImport(v1::IMPORT_STATUS_COMPLETED);
    return grpc::Status::OK;
  };
  fake.list_imports = [](const v1::ListImportsRequest& request, v1::ListImportsReply* reply) {
    if (request.table_arn() != "papers") *reply->add_imports() = FixedImport(v1::IMPORT_STATUS_COMPLETED);
    return grpc::Status::OK;
  };
}

v1::BulkOperationDescription FixedBulkPut(v1::BulkOperationStatus status) {
  v1::BulkOperationDescription operation;
  operation.set_bulk_operation_arn(
      "arn:aws:dynamodb:local:000000000000:table/books/bulk-operation/01760000000000-0123abcd");
  operation.set_bulk_operation_status(status);
  operation.set_table_arn("arn:aws:dynamodb:local:000000000000:table/books");
  operation.set_table_id("0123");
  operation.set_client_token("token");
  operation.mutable_input()->set_s3_bucket("library");
  operation.mutable_input()->set_input_format(v1::INPUT_FORMAT_DYNAMODB_JSON);
  operation.mutable_input()->set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_NONE);
  operation.mutable_output()->set_s3_bucket("library");
  operation.mutable_output()->set_s3_key_prefix("reports");
  operation.set_max_write_request_units(5'000);
  operation.set_start_time_ms(1'760'000'000'000);
  if (status == v1::BULK_OPERATION_STATUS_IN_PROGRESS) return operation;
  operation.set_end_time_ms(1'760'000'001'000);
  operation.set_total_input_bytes(123'456);
  operation.set_processed_input_bytes(123'456);
  operation.set_processed_item_count(1'000);
  operation.set_written_item_count(990);
  operation.set_condition_check_failure_count(10);
  return operation;
}

// There is one bulk put, into the table books.
void AddBulkPuts(FakeDaemon& fake) {
  fake.start_bulk_put_items = [](const v1::StartBulkPutItemsRequest& request,
                                 v1::StartBulkPutItemsReply* reply) {
    if (request.table_name() != "books")
      return grpc::Status(grpc::StatusCode::NOT_FOUND,
                          "Requested resource not found: Table: papers not found");
    *reply->mutable_description() = FixedBulkPut(v1::BULK_OPERATION_STATUS_IN_PROGRESS);
    return grpc::Status::OK;
  };
  fake.describe_bulk_operation = [](const auto&, v1::DescribeBulkOperationReply* reply) {
    *reply->mutable_description() = FixedBulkPut(v1::BULK_OPERATION_STATUS_COMPLETED);
    return grpc::Status::OK;
  };
  fake.list_bulk_operations = [](const auto&, v1::ListBulkOperationsReply* reply) {
    *reply->add_operations() = FixedBulkPut(v1::BULK_OPERATION_STATUS_COMPLETED);
    return grpc::Status::OK;
  };
  fake.cancel_bulk_operation = [](const v1::CancelBulkOperationRequest& request,
                                  v1::CancelBulkOperationReply* reply) {
    reply->set_bulk_operation_arn(request.bulk_operation_arn());
    reply->set_bulk_operation_status(v1::BULK_OPERATION_STATUS_CANCELLING);
    return grpc::Status::OK;
  };
}

// A file of items, and one of the change log.
grpc::Status FixedDamage(const v1::ListDamageRequest&, v1::ListDamageReply* reply) {
  v1::DamagedFile* file = reply->add_files();
  file->set_name("000042.sst");
  file->set_family("items");
  file->set_level(6);
  file->set_size_bytes(67'108'864);
  file->set_owner("table Product");
  file->set_met_by("compaction");
  file->set_first_met_time_us(1'760'000'000'000'000);
  file->set_error("Corruption: block checksum mismatch in 000042.sst offset 8192 size 2048");
  v1::DamagedRange* range = file->add_ranges();
  range->set_table_name("Product");
  for (auto* key : {range->mutable_after_key(), range->mutable_before_key()}) {
    v1::Attribute* attribute = key->add_attributes();
    attribute->set_name("product_id");
    attribute->mutable_value()->set_s(key == &range->after_key() ? "prod_099" : "prod_104");
  }
  file = reply->add_files();
  file->set_name("000051.sst");
  file->set_family("changes");
  file->set_size_bytes(4'096);
  file->set_met_by("read");
  file->set_first_met_time_us(1'760'000'060'000'000);
  file->set_error("Corruption: block checksum mismatch in 000051.sst offset 0 size 900");
  range = file->add_ranges();
  range->set_after_sequence(120);
  range->set_before_sequence(131);
  reply->add_paused_families("items");
  return grpc::Status::OK;
}

grpc::Status FixedPromotion(const v1::PromoteRequest& request, v1::PromoteReply* reply) {
  if (request.force())
    return ErrorReply(grpc::StatusCode::FAILED_PRECONDITION, "VALIDATION",
                      "this database is no standby: it was promoted already");
  reply->set_change_sequence(1'234);
  return grpc::Status::OK;
}

grpc::Status FixedDiscard(const v1::DiscardDamagedItemRequest& request, v1::DiscardDamagedItemReply* reply) {
  if (request.key().attributes(0).value().s() == "prod_001")
    return ErrorReply(grpc::StatusCode::INVALID_ARGUMENT, "VALIDATION",
                      "the item of table Product can be read, so it is not discarded: DeleteItem deletes it");
  reply->set_change_sequence(1'234);
  reply->set_index_entries_deleted(4);
  return grpc::Status::OK;
}

// One page of a scan that should be a query.
grpc::Status FixedScan(const v1::ScanRequest&, v1::ScanReply* reply) {
  reply->set_scanned_count(1'000);
  reply->set_count(4);
  *reply->mutable_last_evaluated_key() = ItemWithId("1000");
  reply->mutable_consumed_capacity()->set_table_name("Order");
  reply->mutable_consumed_capacity()->set_capacity_units(12.5);
  reply->mutable_consumed_capacity()->mutable_table()->set_capacity_units(12.5);
  reply->mutable_plan()->set_forward(true);
  reply->mutable_plan()->set_bytes_read(102'400);
  return grpc::Status::OK;
}

const char kBach[] = R"({"artist": "Bach", "song": "Air"})";

std::vector<Case> Cases() {
  std::vector<Case> cases = {
      {"table create", {"-f", "-"}, {"-f", "-"}, kBooksDocument, R"({"TableName": "books"})", true},
      {"table list", {}, {"music"}},
      {"table describe", {"Order"}, {"Ordr"}},
      {"table delete", {"music", "--yes"}, {"music"}, "", "", true},
      {"table update",
       {"music", "--billing-mode", "PROVISIONED", "--provisioned-throughput", "5,6"},
       {"music", "--provisioned-throughput", "5,6"},
       "",
       "",
       true},
      {"table tag", {"music", "team=blue", "env="}, {"music", "=blue"}, "", "", true},
      {"table untag", {"music", "team"}, {"musik", "team"}, "", "", true},
      {"table limits", {}, {"music"}},
      {"index add",
       {"music", "by-rating", "--hash", "rating:N", "--projection", "INCLUDE", "--include", "plays",
        "--wait"},
       {"music", "by-rating", "--hash", "rating"},
       "",
       "",
       true},
      {"index status", {"Order"}, {"Order", "OpenOrdersByDat"}},
      {"index drop", {"Order", "OpenOrdersByDate", "--yes"}, {"Order", "OpenOrdersByDate"}, "", "", true},
      {"index check", {"Order", "--repair"}, {"Order", "OpenOrdersByDat"}},
      {.command = "ttl enable", .success = {"Order", "expires"}, .failure = {"Order"}, .fake = true},
      {.command = "ttl disable", .success = {"Order"}, .failure = {}, .fake = true},
      {.command = "ttl status", .success = {"Order"}, .failure = {"Order", "expires"}, .fake = true},
      {.command = "table-backup create",
       .success = {"Order", "nightly"},
       .failure = {"Ordr", "nightly"},
       .fake = true},
      {.command = "table-backup list", .success = {"Order"}, .failure = {"Order", "nightly"}, .fake = true},
      {.command = "table-backup describe", .success = {"nightly"}, .failure = {"hourly"}, .fake = true},
      {.command = "table-backup delete",
       .success = {"nightly", "--yes"},
       .failure = {"nightly"},
       .fake = true},
      {.command = "table-backup restore",
       .success = {"nightly", "Order2", "--wait"},
       .failure = {"nightly", "Order"},
       .fake = true},
      {.command = "export start",
       .success = {"Order", "bucket", "--prefix", "some/where", "--wait"},
       .failure = {"Ordr", "bucket"},
       .fake = true},
      {.command = "export describe",
       .success = {"arn:aws:dynamodb:local:000000000000:table/Order/export/01760000000000-0123abcd"},
       .failure = {"arn:nothing"},
       .fake = true},
      {.command = "export list", .success = {"Order"}, .failure = {"Order", "bucket"}, .fake = true},
      {.command = "export table",
       .success = {"Employee", "DIRECTORY/files", "--format", "CSV", "--columns", "employee_id"},
       .failure = {"Employee", "DIRECTORY/files", "--columns", "employee_id"},
       .writes = true,
       .varies = true},
      {.command = "import table",
       .success = {"music", "DIRECTORY/music-files", "--format", "JSON"},
       .failure = {"music", "DIRECTORY/music-files"},
       .writes = true},
      {.command = "import start",
       .success = {"-f", "-", "library", "--wait"},
       .failure = {"-f", "-", "library", "--delimiter", ";"},
       .input = kBooksDocument,
       .fake = true},
      {.command = "import describe", .success = {"books"}, .failure = {"papers"}, .fake = true},
      {.command = "import list", .success = {}, .failure = {"books", "library"}, .fake = true},
      {.command = "bulk-put start",
       .success = {"books", "library", "--output-prefix", "reports", "--max-write-units", "5000", "--wait"},
       .failure = {"papers", "library"},
       .fake = true},
      {.command = "bulk-put describe", .success = {"books"}, .failure = {"papers"}, .fake = true},
      {.command = "bulk-put cancel", .success = {"books"}, .failure = {"papers"}, .fake = true},
      {.command = "bulk-put list", .success = {}, .failure = {"books", "library"}, .fake = true},
      {.command = "pitr enable",
       .success = {"Order", "--days", "7"},
       .failure = {"Order", "--days", "36"},
       .fake = true},
      {.command = "pitr restore",
       .success = {"Order", "Order2", "--to", "1234", "--wait"},
       .failure = {"Order", "Order2", "--to", "yesterday"},
       .fake = true},
      {.command = "graduate",
       .success = {"unix:DIRECTORY/other/socket", "--dry-run"},
       .failure = {"unix:DIRECTORY/other/socket", "--tables", "musik", "--dry-run"}},
      {.command = "adopt",
       .success = {"unix:DIRECTORY/other/socket", "--dry-run"},
       .failure = {"unix:DIRECTORY/other/socket", "--tables", "musik", "--dry-run"}},
      {.command = "undo",
       .success = {"Order", "--from", "12", "--to", "20", "--yes"},
       .failure = {"Order", "--from", "7", "--to", "20", "--yes"},
       .fake = true},
      {.command = "pitr disable", .success = {"Order"}, .failure = {}, .fake = true},
      {.command = "pitr status", .success = {"Order"}, .failure = {"Ordr"}, .fake = true},
      {"item get", {"music", kBach}, {"music", R"({"artist": "Bach", "song": "?"})"}},
      {"item put",
       {"music", R"({"artist": "Bach", "song": "Air", "rating": 4})", "--return-values", "ALL_OLD"},
       {"music", R"({"artist": "Bach"})"},
       "",
       "",
       true},
      {"item update",
       {"music", kBach, "--update", "ADD plays :n", "--values", R"({":n": 1})", "--return-values", "ALL_NEW"},
       {"music", kBach, "--update", "REMOVE rating", "--condition", "attribute_not_exists(artist)",
        "--return-values-on-condition-check-failure", "ALL_OLD"},
       "",
       "",
       true},
      {"item delete",
       {"music", kBach, "--return-values", "ALL_OLD"},
       {"music", kBach, "--condition", "attribute_not_exists(artist)"},
       "",
       "",
       true},
      {"query",
       {"Product", "--key-condition", "product_id = :p", "--values", R"({":p": "prod_100"})"},
       {"Product", "--key-condition", "category = :p", "--values", R"({":p": "prod_100"})"}},
      {"scan", {"Employee", "--limit", "2"}, {"Employe"}},
      {"partiql",
       {"SELECT artist, plays FROM music WHERE artist = ?", "\"Bach\""},
       {"UPDATE music SET plays = 1 WHERE artist = 'Bach'"}},
      {.command = "search",
       .success = {"articles", "ByMeaning", "--near", "[0.9, 0.1]", "--top", "2", "--filter", "topic = :t",
                   "--values", R"({":t": "music"})"},
       .failure = {"articles", "ByMeaning", "--near", "[0.9, \"x\"]"},
       .fake = true},
      {"count", {"Employee"}, {"Employe"}},
      {.command = "explain",
       .success = {"Order", "--filter", "order_id = :o", "--values", R"({":o": "ord_001"})"},
       .failure = {"Order", "--limit", "0"},
       .fake = true},
      {"batch-get",
       {"--request-items",
        R"({"music": {"Keys": [{"artist": "Bach", "song": "Air"}, {"artist": "Bach", "song": "?"}]}})"},
       {"--request-items", R"({"music": {"Keys": []}})"}},
      {"batch-write",
       {"music"},
       {"music"},
       "{\"artist\": \"Bach\", \"song\": \"Badinerie\"}\n",
       "{\"artist\": \"Bach\"}\n",
       true},
      {"transact",
       {"-f", "-"},
       {"-f", "-"},
       R"([{"Get": {"TableName": "music", "Key": {"artist": "Bach", "song": "Air"}}},
           {"Get": {"TableName": "music", "Key": {"artist": "Bach", "song": "?"}}}])",
       R"j([{"Delete": {"TableName": "music", "Key": {"artist": "Bach", "song": "Air"}}},
           {"ConditionCheck": {"TableName": "music", "Key": {"artist": "Nina Simone", "song": "Sinnerman"},
                               "ConditionExpression": "attribute_not_exists(artist)",
                               "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}])j"},
      {"model apply", {"EXAMPLES/one_to_many"}, {"EXAMPLES/none_to_many"}, "", "", true},
      {"model check", {"EXAMPLES/order_entry"}, {"EXAMPLES/one_to_many"}},
      {"model run", {"EXAMPLES/order_entry"}, {"EXAMPLES/ecommerce_single_table", "orders", "customer"}},
      {.command = "model draft",
       .success = {"DIRECTORY/draft", "--table", "music"},
       .failure = {"DIRECTORY/draft", "--table", "musik"},
       .writes = true,
       .varies = true},
      {"model import",
       {"EXAMPLES/workbench/library.json", "DIRECTORY/library"},
       {"EXAMPLES/order_entry/Order.table.json", "DIRECTORY/library"},
       "",
       "",
       true,
       true},
      {"order-entry load", {}, {"again"}},
      {"order-entry all", {}, {"again"}},
      {"order-entry place-order",
       {"ord_900", "cust_001", "--date", "2026-02-01", "--rep", "rep_001", "--line", "prod_100", "wh_sea",
        "2", "25.00"},
       {"ord_901", "cust_001", "--date", "2026-02-01", "--rep", "rep_001", "--line", "prod_100", "wh_sea",
        "2000", "25.00"},
       "",
       "",
       true},
      {"order-entry close-order", {"ord_002"}, {"ord_001"}, "", "", true},
      {"order-entry move-stock",
       {"prod_100", "wh_sea", "wh_pdx", "5"},
       {"prod_100", "wh_sea", "wh_pdx", "5000"},
       "",
       "",
       true},
      {"order-entry restock", {"prod_100", "wh_sea", "5"}, {"prod_999", "wh_sea", "5"}, "", "", true},
      {.command = "status", .success = {}, .failure = {"--timeout", "soon"}, .fake = true},
      {.command = "patterns", .success = {}, .failure = {"Order", "again"}, .fake = true},
      {.command = "contributors show",
       .success = {"Order"},
       .failure = {"Order", "--top", "many"},
       .fake = true},
      {.command = "contributors enable",
       .success = {"Order", "--index", "OrderByCustomerDate", "--throttled-keys-only"},
       .failure = {},
       .fake = true},
      {.command = "contributors disable", .success = {"Order"}, .failure = {"Other"}, .fake = true},
      {.command = "contributors list", .success = {}, .failure = {"Order", "again"}, .fake = true},
      {.command = "top",
       .success = {"--interval", "0.1"},
       .failure = {"--interval", "soon"},
       .varies = true,
       .fake = true},
      {.command = "support-bundle",
       .success = {"DIRECTORY/bundle.tar.gz", "--config", "/dev/null", "--log", "/dev/null"},
       .failure = {"/nonexistent/bundle.tar.gz", "--config", "/dev/null", "--log", "/dev/null"},
       .varies = true,
       .fake = true},
      {"check", {}, {"--table", "musik"}},
      {.command = "backup create", .success = {}, .failure = {"again"}, .fake = true},
      {.command = "backup list", .success = {}, .failure = {"again"}, .fake = true},
      {.command = "backup describe", .success = {"3"}, .failure = {"7"}, .fake = true},
      {.command = "backup verify", .success = {}, .failure = {"2"}, .fake = true},
      {.command = "backup delete", .success = {"1", "--yes"}, .failure = {"7", "--yes"}, .fake = true},
      {.command = "backup prune",
       .success = {"--keep", "1", "--yes"},
       .failure = {"--keep", "0"},
       .fake = true},
      {.command = "change-holds list", .success = {}, .failure = {"again"}, .fake = true},
      {.command = "change-holds release",
       .success = {"move-0123", "--yes"},
       .failure = {"move-4567", "--yes"},
       .fake = true},
      {.command = "damage list", .success = {}, .failure = {"again"}, .fake = true},
      {.command = "damage discard",
       .success = {"--table", "Product", "--key", R"({"product_id": "prod_100"})", "--yes"},
       .failure = {"--table", "Product", "--key", R"({"product_id": "prod_001"})", "--yes"},
       .fake = true},
      {.command = "promote", .success = {"--yes"}, .failure = {"--yes", "--force"}, .fake = true},
      {"standby diverged", {}, {"again"}},
      {"audit verify", {"/dev/null"}, {"EXAMPLES/README.md"}},
      {"changes read", {"--after", "27", "--limit", "3"}, {"--limit", "1001"}},
      {"changes tail", {"--table", "music"}, {"--from", "0"}},
      {"latency", {"--samples", "3", "--interval", "0"}, {"--table", "musik"}, "", "", false, true},
      {"shards",
       {"--max-items", "3000000", "--fraction", "0.2", "--item-bytes", "250"},
       {"--item-bytes", "250"}},
      {"generate",
       {"--orders", "2", "--products", "3", "--employees", "1"},
       {"--orders", "many"},
       "",
       "",
       true,
       true},
      {"shell",
       {},
       {},
       "table list\n\\d music\nscan music --limit 1\n",
       "table lst\n\\nonsense\nscan musik\n"},
      {"help", {"item", "get"}, {"item", "gte"}},
      {.command = "version", .success = {}, .failure = {"again"}, .varies = true, .fake = true},
      {"completion", {"bash"}, {"fish"}},
  };
  for (const order_entry::AccessPattern& pattern : order_entry::AccessPatterns()) {
    // The failure: a look-up by key finds no item; other patterns get too many arguments.
    Arguments failure(pattern.parameters.size(), "nobody");
    if (pattern.operation != "GetItem") failure.emplace_back("more");
    cases.push_back({"order-entry " + std::string(pattern.name), {}, failure});
  }
  return cases;
}

// Replaces EXAMPLES/... and DIRECTORY/... in the arguments of a case by the real paths.
std::string RealPath(const std::string& argument, const std::string& directory) {
  if (argument.starts_with("EXAMPLES/")) return testing::SourcePath("examples") + argument.substr(8);
  if (argument.starts_with("unix:DIRECTORY/")) return "unix:" + directory + argument.substr(14);
  return argument.starts_with("DIRECTORY/") ? directory + argument.substr(9) : argument;
}

// Replaces the parts of the output that differ from run to run.
std::string Stable(std::string text, const std::string& endpoint, const std::string& directory, bool varies) {
  const auto replace = [&text](const char* pattern, const char* by) {
    text = std::regex_replace(text, std::regex(pattern), by);
  };
  for (const auto& [own, common] : {std::pair(endpoint, "ENDPOINT"),
                                    {testing::SourcePath("examples"), "EXAMPLES"},
                                    {directory, "DIRECTORY"}}) {
    for (size_t at; (at = text.find(own)) != std::string::npos;) text.replace(at, own.size(), common);
  }
  replace("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID");
  replace("(\"StorageId\"|\"table_storage_id\"): [0-9]+", "$1: ID");
  replace("[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+Z| [0-9]{2}:[0-9]{2}:[0-9]{2})", "TIME");
  if (varies) {
    replace("\\b[0-9]+([,.][0-9]+)*( ([KMGT]i)?B\\b| (d|h|min|s)\\b)*", "N");
    replace("-{2,}", "--");
    replace(" +", " ");
  }
  return text;
}

std::string CommandLine(const Arguments& arguments) {
  std::string line;
  for (const std::string& argument : arguments) {
    const bool plain = !argument.empty() && argument.find_first_of(" \"\\") == std::string::npos;
    line += plain ? " " + argument : " '" + argument + "'";
  }
  return line;
}

// Runs one case six times and returns the output in the form of its file.
std::string Transcript(const Case& each, const RealDaemon* shared) {
  std::string transcript;
  for (const bool fails : {false, true}) {
    for (const char* format : {"table", "json", "jsonl"}) {
      // A failing command writes nothing.
      const bool writes = each.writes && !fails;
      const std::unique_ptr<RealDaemon> own = writes ? std::make_unique<RealDaemon>() : nullptr;
      const RealDaemon& daemon = writes ? *own : *shared;
      Arguments arguments = {"-o", format};
      for (size_t start = 0; start < each.command.size();) {
        const size_t end = std::min(each.command.find(' ', start), each.command.size());
        arguments.push_back(each.command.substr(start, end - start));
        start = end + 1;
      }
      const Arguments& more = fails ? each.failure : each.success;
      arguments.insert(arguments.end(), more.begin(), more.end());
      FakeDaemon fake;
      fake.get_status = FixedStatus;
      fake.scan = FixedScan;
      fake.get_access_patterns = FixedPatterns;
      fake.get_top_keys = FixedTopKeys;
      AddInsights(fake);
      fake.create_database_backup = [](const auto&, v1::DatabaseBackup* reply) {
        *reply = FixedBackup(3);
        return grpc::Status::OK;
      };
      fake.list_database_backups = FixedBackups;
      fake.verify_database_backup = FixedVerify;
      fake.delete_database_backups = FixedDelete;
      fake.release_changes = FixedRelease;
      fake.list_damage = FixedDamage;
      fake.discard_damaged_item = FixedDiscard;
      fake.promote = FixedPromotion;
      fake.describe_table = FixedTable;
      fake.describe_time_to_live = FixedTimeToLive;
      fake.search_vectors = FixedSearch;
      AddBackups(fake);
      AddUndo(fake);
      AddImports(fake);
      AddBulkPuts(fake);
      fake.update_time_to_live = [&fake](const v1::UpdateTimeToLiveRequest& request, auto*) {
        if (!request.time_to_live_specification().enabled())
          fake.describe_time_to_live = [](const auto&, auto*) { return grpc::Status::OK; };
        return grpc::Status::OK;
      };
      const std::string endpoint = each.fake ? fake.endpoint() : daemon.endpoint();
      Arguments with_endpoint = {"--endpoint", endpoint};
      for (const std::string& argument : arguments)
        with_endpoint.push_back(RealPath(argument, daemon.directory()));
      const Outcome outcome = RunTool(with_endpoint, fails ? each.failing_input : each.input);
      EXPECT_EQ(outcome.exit_code != 0, fails) << CommandLine(arguments) << "\n" << outcome.err;
      transcript += "$ itemctl" + CommandLine(arguments) + "\n" +
                    Stable(outcome.out, endpoint, daemon.directory(), each.varies && !fails);
      if (!outcome.err.empty())
        transcript +=
            "--- stderr\n" + Stable(outcome.err, endpoint, daemon.directory(), each.varies && !fails);
      transcript += "--- exit code " + std::to_string(outcome.exit_code) + "\n\n";
    }
  }
  return transcript;
}

std::string GoldenPath(const std::string& command) {
  std::string name = command;
  std::replace(name.begin(), name.end(), ' ', '_');
  return testing::SourcePath("tests/tools/golden/" + name + ".txt");
}

TEST(Golden, EveryCommandPrintsWhatItsFileSays) {
  const bool write = std::getenv("ITEMDB_WRITE_GOLDEN") != nullptr;
  const RealDaemon shared;
  // Where tables move to or come from.
  const std::string other_directory = shared.directory() + "/other";
  std::filesystem::create_directory(other_directory);
  e2e::DaemonProcess other(other_directory);
  other.set_listen({"unix:" + other_directory + "/socket"});
  ASSERT_TRUE(other.Start().ok());
  ASSERT_EQ(RunTool({"--endpoint", other.endpoint(), "table", "create", "-f", "-"}, kBooksDocument).exit_code,
            0);
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.command);
    const std::string transcript = Transcript(each, &shared);
    const std::string path = GoldenPath(each.command);
    if (write) {
      std::ofstream(path) << transcript;
    } else {
      EXPECT_EQ(transcript, testing::ReadFile(path)) << path;
    }
  }
}

void AddPaths(const CLI::App& below, std::set<std::string>* paths) {
  for (const CLI::App* command : CommandsOf(below)) {
    if (CommandsOf(*command).empty()) {
      paths->insert(PathOf(*command));
    } else {
      AddPaths(*command, paths);
    }
  }
}

TEST(Golden, NoCommandIsLeftOut) {
  const CommandTable table(RegisterAllCommands);
  std::set<std::string> commands;
  AddPaths(table.root(), &commands);
  std::set<std::string> covered;
  for (const Case& each : Cases()) covered.insert(each.command);
  EXPECT_EQ(covered, commands);
}

}  // namespace
}  // namespace itemdb::tools
