// Opening a client; changes and administration. The operations on data are in client_data.cc, those on tables
// in client_tables.cc.
#include "itemdb/client.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/access.h"
#include "client/call.h"
#include "client/convert.h"
#include "client/core.h"
#include "client/enum_table.h"
#include "client/errors_internal.h"
#include "client/failover_transport.h"
#include "client/grpc_transport.h"
#include "client/http_transport_factory.h"
#include "client/wait.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

constexpr char kDefaultSocket[] = "/run/itemdb/itemd.sock";
constexpr char kDefaultAddress[] = "127.0.0.1:7420";

// CheckDatabase reads the whole database.
constexpr absl::Duration kCheckTimeout = absl::Hours(1);
// The daemon waits for the old primary at most 3 seconds, and then applies what the archive has.
constexpr absl::Duration kPromotionTimeout = absl::Minutes(1);

constexpr std::pair<UndoOutcome, v1::UndoOutcome> kUndoOutcomes[] = {
    {UndoOutcome::kPut, v1::UNDO_OUTCOME_PUT},
    {UndoOutcome::kDeleted, v1::UNDO_OUTCOME_DELETED},
    {UndoOutcome::kUnchanged, v1::UNDO_OUTCOME_UNCHANGED},
    {UndoOutcome::kChangedSince, v1::UNDO_OUTCOME_CHANGED_SINCE},
};

}  // namespace

std::string DefaultEndpoint() {
  std::error_code ignored;
  return std::filesystem::exists(kDefaultSocket, ignored) ? std::string("unix:") + kDefaultSocket
                                                          : kDefaultAddress;
}

absl::StatusOr<Client> ClientAccess::Make(
    const ClientOptions& options,
    absl::FunctionRef<absl::StatusOr<std::unique_ptr<Transport>>(Timer&)> make_transport) {
  PrintPayloadsAsText();
  if (options.timeout <= absl::ZeroDuration()) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "a client's timeout is " + std::string(absl::FormatDuration(options.timeout)) +
                         "; it must be longer than 0");
  }
  ITEMDB_RETURN_IF_ERROR(CheckRetryOptions(options.retry));
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<ClientCore> core, ClientCore::Make(options, make_transport));
  return Client(std::move(core));
}

absl::StatusOr<Client> Client::Open(ClientOptions options) {
  if (options.endpoint.empty()) options.endpoint = DefaultEndpoint();
  return ClientAccess::Make(options, [&](Timer& timer) -> absl::StatusOr<std::unique_ptr<Transport>> {
    const std::vector<std::string> endpoints = absl::StrSplit(options.endpoint, ',');
    if (endpoints.size() == 1) {
      return IsUrl(options.endpoint) ? MakeHttpTransport(options, timer)
                                     : GrpcTransport::Make(options, timer);
    }
    std::vector<std::unique_ptr<Transport>> transports;
    for (const std::string& endpoint : endpoints) {
      ClientOptions one = options;
      one.endpoint = endpoint;
      ITEMDB_ASSIGN_OR_RETURN(auto transport, IsUrl(endpoint)
                                                  ? MakeHttpTransport(one, timer)
                                                  : GrpcTransport::Make(one, timer, kFailoverConnectTimeout));
      transports.push_back(std::move(transport));
    }
    return std::make_unique<FailoverTransport>(options.endpoint, std::move(transports));
  });
}

Client::Client(std::shared_ptr<ClientCore> core) : core_(std::move(core)) {}

const std::string& Client::endpoint() const { return core_->endpoint(); }

absl::StatusOr<ReadChangesResult> Client::ReadChanges(const ReadChangesRequest& request,
                                                      CallOptions options) const {
  v1::ReadChangesRequest message;
  message.set_after_sequence(request.after_sequence);
  if (request.limit.has_value()) message.set_limit(*request.limit);
  const auto convert = [](const v1::ReadChangesReply& reply) -> absl::StatusOr<ReadChangesResult> {
    ReadChangesResult result;
    result.change_sequence = reply.change_sequence();
    result.oldest_sequence = reply.oldest_sequence();
    result.records.reserve(reply.records_size());
    for (const v1::ChangeRecord& record : reply.records()) {
      ITEMDB_ASSIGN_OR_RETURN(ChangeRecord converted, FromProto(record));
      result.records.push_back(std::move(converted));
    }
    return result;
  };
  return Call<v1::ReadChangesReply, ReadChangesResult>(core_, "/itemdb.v1.Changes/ReadChanges",
                                                       CallKind::kRead, message, options, convert);
}

absl::StatusOr<ChangeHold> Client::HoldChanges(const HoldChangesRequest& request, CallOptions options) const {
  v1::HoldChangesRequest message;
  message.set_name(request.name);
  message.set_after_sequence(request.after_sequence);
  // Parts of a second are rounded up; what is out of range the daemon refuses.
  const int64_t seconds = absl::ToInt64Seconds(absl::Ceil(request.lease, absl::Seconds(1)));
  message.set_lease_seconds(static_cast<int32_t>(std::clamp<int64_t>(seconds, INT32_MIN, INT32_MAX)));
  message.set_renews(request.renews);
  // Repeated it stores the same.
  return Call<v1::HoldChangesReply, ChangeHold>(
      core_, "/itemdb.v1.Changes/HoldChanges", CallKind::kRead, message, options,
      [](const v1::HoldChangesReply& reply) { return FromProto(reply.hold()); });
}

absl::StatusOr<ChangeHold> Client::ReleaseChanges(const std::string& name, CallOptions options) const {
  v1::ReleaseChangesRequest message;
  message.set_name(name);
  return Call<v1::ReleaseChangesReply, ChangeHold>(
      core_, "/itemdb.v1.Changes/ReleaseChanges", CallKind::kWrite, message, options,
      [](const v1::ReleaseChangesReply& reply) { return FromProto(reply.hold()); });
}

absl::StatusOr<std::vector<ChangeHold>> Client::ListChangeHolds(CallOptions options) const {
  return Call<v1::GetStatusReply, std::vector<ChangeHold>>(
      core_, "/itemdb.v1.Admin/GetStatus", CallKind::kRead, v1::GetStatusRequest(), options,
      [](const v1::GetStatusReply& reply) {
        std::vector<ChangeHold> holds;
        for (const v1::ChangeHold& hold : reply.change_holds()) holds.push_back(FromProto(hold));
        return holds;
      });
}

absl::StatusOr<UndoChangesResult> Client::UndoChanges(const UndoChangesRequest& request,
                                                      CallOptions options) const {
  v1::UndoChangesRequest message;
  message.set_table_name(request.table_name);
  message.set_from_sequence(request.from_sequence);
  message.set_to_sequence(request.to_sequence);
  message.set_dry_run(request.dry_run);
  for (const Item& key : request.keys) ITEMDB_RETURN_IF_ERROR(ToProto(key, message.add_keys()));
  if (request.exclusive_start_key.has_value())
    ITEMDB_RETURN_IF_ERROR(ToProto(*request.exclusive_start_key, message.mutable_exclusive_start_key()));
  const auto convert = [](const v1::UndoChangesReply& reply) -> absl::StatusOr<UndoChangesResult> {
    UndoChangesResult result;
    result.change_sequence = reply.change_sequence();
    for (const v1::UndoneItem& undone : reply.items()) {
      ITEMDB_ASSIGN_OR_RETURN(Item key, FromProto(undone.key()));
      result.items.push_back({.key = std::move(key),
                              .outcome = ValueOf(kUndoOutcomes, undone.outcome(), UndoOutcome::kUnchanged),
                              .changed_sequence = undone.changed_sequence()});
    }
    if (reply.has_last_evaluated_key()) {
      ITEMDB_ASSIGN_OR_RETURN(result.last_evaluated_key, FromProto(reply.last_evaluated_key()));
    }
    return result;
  };
  return Call<v1::UndoChangesReply, UndoChangesResult>(core_, "/itemdb.v1.Changes/UndoChanges",
                                                       CallKind::kWrite, message, options, convert);
}

absl::StatusOr<DaemonStatus> Client::GetStatus(const GetStatusRequest& request, CallOptions options) const {
  v1::GetStatusRequest message;
  message.set_with_tables(request.with_tables);
  return Call<v1::GetStatusReply, DaemonStatus>(
      core_, "/itemdb.v1.Admin/GetStatus", CallKind::kRead, message, options,
      [](const v1::GetStatusReply& reply) { return FromProto(reply); });
}

absl::StatusOr<CheckDatabaseResult> Client::CheckDatabase(const std::string& table_name,
                                                          CallOptions options) const {
  return CheckAndRepair({.table_name = table_name}, std::move(options));
}

absl::StatusOr<CheckDatabaseResult> Client::CheckAndRepair(const CheckDatabaseRequest& request,
                                                           CallOptions options) const {
  if (options.timeout == absl::ZeroDuration()) options.timeout = kCheckTimeout;
  v1::CheckDatabaseRequest message;
  message.set_table_name(request.table_name);
  message.set_index_name(request.index_name);
  message.set_repair(request.repair);
  const auto convert = [](const v1::CheckDatabaseReply& reply) {
    CheckDatabaseResult result;
    result.change_sequence = reply.change_sequence();
    result.items_checked = reply.items_checked();
    result.index_entries_checked = reply.index_entries_checked();
    result.change_records_checked = reply.change_records_checked();
    result.findings.assign(reply.findings().begin(), reply.findings().end());
    result.finding_count = reply.finding_count();
    result.repaired_count = reply.repaired_count();
    result.skipped_items = reply.skipped_items();
    return result;
  };
  return Call<v1::CheckDatabaseReply, CheckDatabaseResult>(core_, "/itemdb.v1.Admin/CheckDatabase",
                                                           CallKind::kRead, message, options, convert);
}

absl::StatusOr<DatabaseBackup> Client::CreateDatabaseBackup(CallOptions options) const {
  if (options.timeout == absl::ZeroDuration()) options.timeout = kCheckTimeout;
  return Call<v1::DatabaseBackup, DatabaseBackup>(
      core_, "/itemdb.v1.Admin/CreateDatabaseBackup", CallKind::kWrite, v1::CreateDatabaseBackupRequest(),
      options, [](const v1::DatabaseBackup& reply) { return FromProto(reply); });
}

absl::StatusOr<DatabaseBackupDetails> Client::DescribeDatabaseBackup(uint32_t backup_id,
                                                                     CallOptions options) const {
  if (backup_id == 0) return absl::InvalidArgumentError("the number of a backup is at least 1");
  v1::ListDatabaseBackupsRequest message;
  message.set_describe_backup_id(backup_id);
  return Call<v1::ListDatabaseBackupsReply, DatabaseBackupDetails>(
      core_, "/itemdb.v1.Admin/ListDatabaseBackups", CallKind::kRead, message, options,
      [](const v1::ListDatabaseBackupsReply& reply) -> absl::StatusOr<DatabaseBackupDetails> {
        if (reply.has_details() && reply.backups_size() == 1)
          return FromProto(reply.backups(0), reply.details());
        return absl::UnimplementedError("the daemon does not describe backups; update it");
      });
}

absl::StatusOr<BackupPlaces> Client::GetBackupPlaces(CallOptions options) const {
  return Call<v1::GetStatusReply, BackupPlaces>(
      core_, "/itemdb.v1.Admin/GetStatus", CallKind::kRead, v1::GetStatusRequest(), options,
      [](const v1::GetStatusReply& reply) -> absl::StatusOr<BackupPlaces> {
        if (reply.has_backup_places()) return BackupPlacesOf(reply);
        return absl::UnimplementedError(
            absl::StrCat("the daemon is itemd ", reply.version(),
                         ", which does not say where its backups are; update it"));
      });
}

absl::StatusOr<DatabaseBackups> Client::ListDatabaseBackups(CallOptions options) const {
  const auto convert = [](const v1::ListDatabaseBackupsReply& reply) {
    DatabaseBackups result;
    result.directory = reply.directory();
    for (const v1::DatabaseBackup& backup : reply.backups()) result.backups.push_back(FromProto(backup));
    result.damaged_backup_ids.assign(reply.damaged_backup_ids().begin(), reply.damaged_backup_ids().end());
    return result;
  };
  return Call<v1::ListDatabaseBackupsReply, DatabaseBackups>(
      core_, "/itemdb.v1.Admin/ListDatabaseBackups", CallKind::kRead, v1::ListDatabaseBackupsRequest(),
      options, convert);
}

namespace {

absl::StatusOr<DatabaseBackup> VerifyBackup(const std::shared_ptr<ClientCore>& core, uint32_t backup_id,
                                            bool by_restoring, CallOptions options) {
  if (options.timeout == absl::ZeroDuration()) options.timeout = kCheckTimeout;
  v1::VerifyDatabaseBackupRequest message;
  message.set_backup_id(backup_id);
  message.set_by_restoring(by_restoring);
  return Call<v1::DatabaseBackup, DatabaseBackup>(
      core, "/itemdb.v1.Admin/VerifyDatabaseBackup", CallKind::kRead, message, options,
      [](const v1::DatabaseBackup& reply) { return FromProto(reply); });
}

absl::StatusOr<std::vector<uint32_t>> DeleteBackups(const std::shared_ptr<ClientCore>& core,
                                                    const v1::DeleteDatabaseBackupsRequest& message,
                                                    const CallOptions& options) {
  return Call<v1::DeleteDatabaseBackupsReply, std::vector<uint32_t>>(
      core, "/itemdb.v1.Admin/DeleteDatabaseBackups", CallKind::kWrite, message, options,
      [](const v1::DeleteDatabaseBackupsReply& reply) {
        return std::vector<uint32_t>(reply.deleted_backup_ids().begin(), reply.deleted_backup_ids().end());
      });
}

}  // namespace

absl::StatusOr<DatabaseBackup> Client::VerifyDatabaseBackup(uint32_t backup_id, CallOptions options) const {
  return VerifyBackup(core_, backup_id, /*by_restoring=*/false, options);
}

absl::StatusOr<DatabaseBackup> Client::ProveDatabaseBackup(uint32_t backup_id, CallOptions options) const {
  return VerifyBackup(core_, backup_id, /*by_restoring=*/true, options);
}

absl::StatusOr<std::vector<uint32_t>> Client::DeleteDatabaseBackup(uint32_t backup_id,
                                                                   CallOptions options) const {
  v1::DeleteDatabaseBackupsRequest message;
  message.set_backup_id(backup_id);
  return DeleteBackups(core_, message, options);
}

absl::StatusOr<std::vector<uint32_t>> Client::DeleteOldDatabaseBackups(uint32_t keep_newest,
                                                                       CallOptions options) const {
  v1::DeleteDatabaseBackupsRequest message;
  message.set_keep_newest(keep_newest);
  return DeleteBackups(core_, message, options);
}

absl::StatusOr<std::vector<uint32_t>> Client::DeleteDatabaseBackupsBefore(absl::Time time,
                                                                          CallOptions options) const {
  v1::DeleteDatabaseBackupsRequest message;
  message.set_begun_before_us(absl::ToUnixMicros(time));
  return DeleteBackups(core_, message, options);
}

absl::StatusOr<DamageList> Client::ListDamage(CallOptions options) const {
  return Call<v1::ListDamageReply, DamageList>(
      core_, "/itemdb.v1.Admin/ListDamage", CallKind::kRead, v1::ListDamageRequest(), options,
      [](const v1::ListDamageReply& reply) { return FromProto(reply); });
}

absl::StatusOr<DiscardDamagedItemResult> Client::DiscardDamagedItem(const std::string& table_name,
                                                                    const Item& key,
                                                                    CallOptions options) const {
  if (options.timeout == absl::ZeroDuration()) options.timeout = kCheckTimeout;
  v1::DiscardDamagedItemRequest message;
  message.set_table_name(table_name);
  ITEMDB_RETURN_IF_ERROR(ToProto(key, message.mutable_key()));
  const auto convert = [](const v1::DiscardDamagedItemReply& reply) {
    return DiscardDamagedItemResult{.change_sequence = reply.change_sequence(),
                                    .index_entries_deleted = reply.index_entries_deleted()};
  };
  return Call<v1::DiscardDamagedItemReply, DiscardDamagedItemResult>(
      core_, "/itemdb.v1.Admin/DiscardDamagedItem", CallKind::kWrite, message, options, convert);
}

absl::StatusOr<uint64_t> Client::Promote(bool force, CallOptions options) const {
  if (options.timeout == absl::ZeroDuration()) options.timeout = kPromotionTimeout;
  v1::PromoteRequest message;
  message.set_force(force);
  return Call<v1::PromoteReply, uint64_t>(
      core_, "/itemdb.v1.Admin/Promote", CallKind::kWrite, message, options,
      [](const v1::PromoteReply& reply) { return reply.change_sequence(); });
}

absl::StatusOr<TopKeysResult> Client::GetTopKeys(const TopKeysRequest& request, CallOptions options) const {
  v1::GetTopKeysRequest message;
  message.set_table_name(request.table_name);
  message.set_index_name(request.index_name);
  message.set_limit(request.limit);
  return Call<v1::GetTopKeysReply, TopKeysResult>(
      core_, "/itemdb.v1.Admin/GetTopKeys", CallKind::kRead, message, options,
      [](const v1::GetTopKeysReply& reply) { return FromProto(reply); });
}

absl::StatusOr<DaemonActivity> Client::GetActivity(CallOptions options) const {
  v1::GetStatusRequest message;
  message.set_with_activity(true);
  return Call<v1::GetStatusReply, DaemonActivity>(
      core_, "/itemdb.v1.Admin/GetStatus", CallKind::kRead, message, options,
      [](const v1::GetStatusReply& reply) -> absl::StatusOr<DaemonActivity> {
        if (reply.has_activity()) return FromProto(reply.activity());
        return absl::UnimplementedError(absl::StrCat("the daemon is itemd ", reply.version(),
                                                     ", which does not tell what its calls do; update it"));
      });
}

absl::StatusOr<AccessPatternsResult> Client::GetAccessPatterns(const std::string& table_name,
                                                               CallOptions options) const {
  v1::GetAccessPatternsRequest message;
  message.set_table_name(table_name);
  return Call<v1::GetAccessPatternsReply, AccessPatternsResult>(
      core_, "/itemdb.v1.Admin/GetAccessPatterns", CallKind::kRead, message, options,
      [](const v1::GetAccessPatternsReply& reply) { return FromProto(reply); });
}

}  // namespace itemdb
