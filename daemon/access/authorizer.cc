#include "daemon/access/authorizer.h"

#include <openssl/crypto.h>

#include <unordered_map>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"

namespace itemdb::daemon {
namespace {

constexpr std::string_view kScheme = "Basic ";

absl::Status Unauthenticated(std::string_view message) {
  return storage::WithRule(
      "ERR-17", storage::MakeError(absl::StatusCode::kUnauthenticated, kReasonUnauthenticated, message));
}

// One message for an unknown id and for a wrong secret, so that a caller cannot find out which ids exist.
absl::Status NoSuchKey() {
  return Unauthenticated("there is no access key with this id and this secret (--access-keys)");
}

// "ID:SECRET"; nullopt when `authorization` is malformed.
std::optional<std::string> Credentials(std::string_view authorization) {
  if (!absl::StartsWithIgnoreCase({authorization.data(), authorization.size()},
                                  {kScheme.data(), kScheme.size()}))
    return std::nullopt;
  authorization.remove_prefix(kScheme.size());
  std::string credentials;
  if (!absl::Base64Unescape({authorization.data(), authorization.size()}, &credentials)) return std::nullopt;
  if (credentials.find(':') == std::string::npos) return std::nullopt;
  return credentials;
}

bool SameSecret(std::string_view sent, std::string_view secret) {
  return sent.size() == secret.size() && CRYPTO_memcmp(sent.data(), secret.data(), secret.size()) == 0;
}

}  // namespace

const std::vector<MethodRole>& MethodRoles() {
  static const std::vector<MethodRole>* const roles = new std::vector<MethodRole>{
      {"itemdb.v1.Data/PutItem", Role::kWrite, Scope::kTables},
      {"itemdb.v1.Data/GetItem", Role::kRead, Scope::kTables},
      {"itemdb.v1.Data/UpdateItem", Role::kWrite, Scope::kTables},
      {"itemdb.v1.Data/DeleteItem", Role::kWrite, Scope::kTables},
      {"itemdb.v1.Data/BatchGetItem", Role::kRead, Scope::kTables},
      {"itemdb.v1.Data/BatchWriteItem", Role::kWrite, Scope::kTables},
      {"itemdb.v1.Data/TransactWriteItems", Role::kWrite, Scope::kTables},
      {"itemdb.v1.Data/TransactGetItems", Role::kRead, Scope::kTables},
      {"itemdb.v1.Data/Query", Role::kRead, Scope::kTables},
      {"itemdb.v1.Data/Scan", Role::kRead, Scope::kTables},
      {"itemdb.v1.Data/SearchVectors", Role::kRead, Scope::kTables},
      {"itemdb.v1.Data/QueryStream", Role::kRead, Scope::kTables},
      {"itemdb.v1.Data/ScanStream", Role::kRead, Scope::kTables},
      {"itemdb.v1.Data/BulkWrite", Role::kWrite, Scope::kTables},
      // The lowest role that can execute a statement; statement_roles.h checks each statement.
      {"itemdb.v1.Data/ExecuteStatement", Role::kRead, Scope::kTables},
      {"itemdb.v1.Data/BatchExecuteStatement", Role::kRead, Scope::kTables},
      {"itemdb.v1.Data/ExecuteTransaction", Role::kRead, Scope::kTables},
      {"itemdb.v1.Tables/CreateTable", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Tables/DescribeTable", Role::kRead, Scope::kTables},
      {"itemdb.v1.Tables/ListTables", Role::kRead, Scope::kTableNames},
      {"itemdb.v1.Tables/DeleteTable", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Tables/UpdateTable", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Tables/TagTable", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Tables/UntagTable", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Tables/UpdateTimeToLive", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Tables/DescribeTimeToLive", Role::kRead, Scope::kTables},
      {"itemdb.v1.Tables/UpdateContributorInsights", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Tables/DescribeContributorInsights", Role::kRead, Scope::kTables},
      {"itemdb.v1.Tables/ListContributorInsights", Role::kRead, Scope::kTables},
      {"itemdb.v1.Tables/DescribeLimits", Role::kRead, Scope::kNothing},
      {"itemdb.v1.Backups/CreateBackup", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Backups/DescribeBackup", Role::kRead, Scope::kTables},
      {"itemdb.v1.Backups/ListBackups", Role::kRead, Scope::kTableNames},
      {"itemdb.v1.Backups/DeleteBackup", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Backups/RestoreTableFromBackup", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Backups/RestoreTableToPointInTime", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Backups/DescribeContinuousBackups", Role::kRead, Scope::kTables},
      {"itemdb.v1.Backups/UpdateContinuousBackups", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Exports/ExportTableToPointInTime", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Exports/DescribeExport", Role::kRead, Scope::kTables},
      {"itemdb.v1.Exports/ListExports", Role::kRead, Scope::kTableNames},
      {"itemdb.v1.Imports/ImportTable", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Imports/DescribeImport", Role::kRead, Scope::kTables},
      {"itemdb.v1.Imports/ListImports", Role::kRead, Scope::kTableNames},
      // kAdmin although it only puts items: it reads and writes files of buckets.
      {"itemdb.v1.BulkPuts/StartBulkPutItems", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.BulkPuts/DescribeBulkOperation", Role::kRead, Scope::kTables},
      {"itemdb.v1.BulkPuts/ListBulkOperations", Role::kRead, Scope::kTableNames},
      {"itemdb.v1.BulkPuts/CancelBulkOperation", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Changes/ReadChanges", Role::kRead, Scope::kStreams},
      {"itemdb.v1.Changes/Watch", Role::kRead, Scope::kStreams},
      // For every key that may read the changes of all tables: they name none.
      {"itemdb.v1.Changes/HoldChanges", Role::kRead, Scope::kStreams, /*always_audited=*/true},
      {"itemdb.v1.Changes/ReleaseChanges", Role::kRead, Scope::kStreams, /*always_audited=*/true},
      {"itemdb.v1.Changes/UndoChanges", Role::kWrite, Scope::kTables},
      {"itemdb.v1.Admin/GetStatus", Role::kRead, Scope::kDatabase},
      // kAdmin although it only reads: it reads the whole database, and may run for a long time.
      {"itemdb.v1.Admin/CheckDatabase", Role::kAdmin, Scope::kDatabase},
      {"itemdb.v1.Admin/GetAccessPatterns", Role::kRead, Scope::kTables},
      {"itemdb.v1.Admin/GetTopKeys", Role::kRead, Scope::kTables},
      {"itemdb.v1.Admin/CreateDatabaseBackup", Role::kAdmin, Scope::kDatabase},
      {"itemdb.v1.Admin/ListDatabaseBackups", Role::kRead, Scope::kDatabase},
      {"itemdb.v1.Admin/VerifyDatabaseBackup", Role::kAdmin, Scope::kDatabase},
      {"itemdb.v1.Admin/DeleteDatabaseBackups", Role::kAdmin, Scope::kDatabase},
      {"itemdb.v1.Admin/ListDamage", Role::kRead, Scope::kDatabase},
      {"itemdb.v1.Admin/DiscardDamagedItem", Role::kAdmin, Scope::kTables},
      {"itemdb.v1.Admin/Promote", Role::kAdmin, Scope::kDatabase},
      {"itemdb.v1.Replication/ListReplicationFiles", Role::kAdmin, Scope::kDatabase},
      {"itemdb.v1.Replication/ReadReplicationFile", Role::kAdmin, Scope::kDatabase},
      {"itemdb.v1.Replication/FencePrimary", Role::kAdmin, Scope::kDatabase},
      {"grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Role::kRead, Scope::kNothing},
      {"grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Role::kRead, Scope::kNothing},
  };
  return *roles;
}

OperationAccess AccessOfMethod(std::string_view method) {
  static const auto* const roles = [] {
    auto* by_method = new std::unordered_map<std::string_view, OperationAccess>;
    for (const MethodRole& one : MethodRoles())
      by_method->emplace(
          one.method,
          OperationAccess{.role = one.role, .scope = one.scope, .always_audited = one.always_audited});
    return by_method;
  }();
  const auto found = roles->find(method);
  return found == roles->end() ? OperationAccess() : found->second;
}

std::string ClaimedKeyId(std::optional<std::string_view> authorization) {
  if (!authorization.has_value()) return "";
  const std::optional<std::string> credentials = Credentials(*authorization);
  if (!credentials.has_value()) return "";
  std::string id = credentials->substr(0, credentials->find(':'));
  return IsKeyId(id) ? id : "";
}

void Authorizer::SetKeys(std::shared_ptr<const AccessKeys> keys) {
  storage::MutexLock lock(mutex_);
  has_keys_.store(keys != nullptr, std::memory_order_release);
  keys_ = std::move(keys);
}

absl::StatusOr<Authorizer::Found> Authorizer::Find(std::optional<std::string_view> authorization) const {
  if (!authorization.has_value()) {
    return Unauthenticated(
        "this daemon asks for an access key (--access-keys): send the metadata authorization: Basic, "
        "followed by ID:SECRET in base64");
  }
  const std::optional<std::string> credentials = Credentials(*authorization);
  if (!credentials.has_value()) {
    return Unauthenticated("the metadata authorization must be Basic, followed by ID:SECRET in base64");
  }
  const size_t colon = credentials->find(':');
  const std::string_view sent = *credentials;
  Found found;
  {
    storage::MutexLock lock(mutex_);
    found.keys = keys_;
  }
  found.key = found.keys == nullptr ? nullptr : found.keys->Find(sent.substr(0, colon));
  if (found.key == nullptr || !SameSecret(sent.substr(colon + 1), found.key->secret)) return NoSuchKey();
  return found;
}

absl::StatusOr<Caller> Authorizer::Check(std::string_view what, OperationAccess needed,
                                         std::optional<std::string_view> authorization) const {
  if (!asks_for_keys()) return Caller();
  ITEMDB_ASSIGN_OR_RETURN(const Found found, Find(authorization));
  Caller caller = AccessKeys::CallerWith(found.keys, *found.key);
  ITEMDB_RETURN_IF_ERROR(CheckOperation(caller, what, needed));
  return caller;
}

absl::StatusOr<AccessKey> Authorizer::CheckKey(std::string_view what, OperationAccess needed,
                                               std::optional<std::string_view> authorization) const {
  ITEMDB_ASSIGN_OR_RETURN(const Found found, Find(authorization));
  ITEMDB_RETURN_IF_ERROR(CheckOperation(AccessKeys::CallerWith(found.keys, *found.key), what, needed));
  return *found.key;
}

}  // namespace itemdb::daemon
