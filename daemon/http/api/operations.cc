#include "daemon/http/api/operations.h"
#include "daemon/http/api/contributor_insights.h"

#include <algorithm>
#include <span>

#include "daemon/http/api/backups.h"
#include "daemon/http/api/batches.h"
#include "daemon/http/api/bulk_puts.h"
#include "daemon/http/api/exports.h"
#include "daemon/http/api/imports.h"
#include "daemon/http/api/items.h"
#include "daemon/http/api/query_and_scan.h"
#include "daemon/http/api/resting_features.h"
#include "daemon/http/api/search_body.h"
#include "daemon/http/api/search_vectors.h"
#include "daemon/http/api/statements.h"
#include "daemon/http/api/streams.h"
#include "daemon/http/api/tables.h"
#include "daemon/http/api/transactions.h"

namespace itemdb::http {
namespace {

using daemon::Role;
using daemon::Scope;

// Operations that are not in the table get UnknownOperationException (OP-64), which programs written for the
// service take for an endpoint without the feature.
// The PartiQL operations need read; each statement is checked (daemon/access/statement_roles.h).
constexpr JsonOperation kOperations[] = {
    {"PutItem", Role::kWrite, Scope::kTables, &kPutItemInput, json::PutItem},
    {"GetItem", Role::kRead, Scope::kTables, &kGetItemInput, json::GetItem},
    {"UpdateItem", Role::kWrite, Scope::kTables, &kUpdateItemInput, json::UpdateItem},
    {"DeleteItem", Role::kWrite, Scope::kTables, &kDeleteItemInput, json::DeleteItem},
    {"Query", Role::kRead, Scope::kTables, &kQueryInput, json::Query},
    {"Scan", Role::kRead, Scope::kTables, &kScanInput, json::Scan},
    {"SearchVectors", Role::kRead, Scope::kTables, &kSearchVectorsInput, json::SearchVectors,
     SearchBodyError},
    {"BatchGetItem", Role::kRead, Scope::kTables, &kBatchGetItemInput, json::BatchGetItem},
    {"BatchWriteItem", Role::kWrite, Scope::kTables, &kBatchWriteItemInput, json::BatchWriteItem},
    {"TransactGetItems", Role::kRead, Scope::kTables, &kTransactGetItemsInput, json::TransactGetItems},
    {"TransactWriteItems", Role::kWrite, Scope::kTables, &kTransactWriteItemsInput, json::TransactWriteItems},
    {"ExecuteStatement", Role::kRead, Scope::kTables, &kExecuteStatementInput, json::ExecuteStatement},
    {"BatchExecuteStatement", Role::kRead, Scope::kTables, &kBatchExecuteStatementInput,
     json::BatchExecuteStatement},
    {"ExecuteTransaction", Role::kRead, Scope::kTables, &kExecuteTransactionInput, json::ExecuteTransaction},
    {"CreateTable", Role::kAdmin, Scope::kTables, &kCreateTableInput, json::CreateTable},
    {"UpdateTable", Role::kAdmin, Scope::kTables, &kUpdateTableInput, json::UpdateTable},
    {"DeleteTable", Role::kAdmin, Scope::kTables, &kDeleteTableInput, json::DeleteTable},
    {"DescribeTable", Role::kRead, Scope::kTables, &kDescribeTableInput, json::DescribeTable},
    {"ListTables", Role::kRead, Scope::kTableNames, &kListTablesInput, json::ListTables},
    {"TagResource", Role::kAdmin, Scope::kTables, &kTagResourceInput, json::TagResource},
    {"UntagResource", Role::kAdmin, Scope::kTables, &kUntagResourceInput, json::UntagResource},
    {"ListTagsOfResource", Role::kRead, Scope::kTables, &kListTagsOfResourceInput, json::ListTagsOfResource},
    {"DescribeLimits", Role::kRead, Scope::kNothing, &kDescribeLimitsInput, json::DescribeLimits},
    {"DescribeEndpoints", Role::kRead, Scope::kNothing, &kDescribeEndpointsRequest, json::DescribeEndpoints},
    {"UpdateTimeToLive", Role::kAdmin, Scope::kTables, &kUpdateTimeToLiveInput, json::UpdateTimeToLive},
    {"DescribeTimeToLive", Role::kRead, Scope::kTables, &kDescribeTimeToLiveInput, json::DescribeTimeToLive},
    {"DescribeContinuousBackups", Role::kRead, Scope::kTables, &kDescribeContinuousBackupsInput,
     json::DescribeContinuousBackups},
    {"UpdateContinuousBackups", Role::kAdmin, Scope::kTables, &kUpdateContinuousBackupsInput,
     json::UpdateContinuousBackups},
    {"CreateBackup", Role::kAdmin, Scope::kTables, &kCreateBackupInput, json::CreateBackup},
    {"DescribeBackup", Role::kRead, Scope::kTables, &kDescribeBackupInput, json::DescribeBackup},
    {"ListBackups", Role::kRead, Scope::kTableNames, &kListBackupsInput, json::ListBackups},
    {"DeleteBackup", Role::kAdmin, Scope::kTables, &kDeleteBackupInput, json::DeleteBackup},
    {"RestoreTableToPointInTime", Role::kAdmin, Scope::kTables, &kRestoreTableToPointInTimeInput,
     json::RestoreTableToPointInTime},
    {"RestoreTableFromBackup", Role::kAdmin, Scope::kTables, &kRestoreTableFromBackupInput,
     json::RestoreTableFromBackup},
    {"ExportTableToPointInTime", Role::kAdmin, Scope::kTables, &kExportTableToPointInTimeInput,
     json::ExportTableToPointInTime},
    {"DescribeExport", Role::kRead, Scope::kTables, &kDescribeExportInput, json::DescribeExport},
    {"ListExports", Role::kRead, Scope::kTableNames, &kListExportsInput, json::ListExports},
    {"ImportTable", Role::kAdmin, Scope::kTables, &kImportTableInput, json::ImportTable},
    {"DescribeImport", Role::kRead, Scope::kTables, &kDescribeImportInput, json::DescribeImport},
    {"ListImports", Role::kRead, Scope::kTableNames, &kListImportsInput, json::ListImports},
    {"StartBulkPutItems", Role::kAdmin, Scope::kTables, &kStartBulkPutItemsInput, json::StartBulkPutItems},
    {"DescribeBulkOperation", Role::kRead, Scope::kTables, &kDescribeBulkOperationInput,
     json::DescribeBulkOperation},
    {"ListBulkOperations", Role::kRead, Scope::kTableNames, &kListBulkOperationsInput,
     json::ListBulkOperations},
    {"CancelBulkOperation", Role::kAdmin, Scope::kTables, &kCancelBulkOperationInput,
     json::CancelBulkOperation},
    {"UpdateContributorInsights", Role::kAdmin, Scope::kTables, &kUpdateContributorInsightsInput,
     json::UpdateContributorInsights},
    {"DescribeContributorInsights", Role::kRead, Scope::kTables, &kDescribeContributorInsightsInput,
     json::DescribeContributorInsights},
    {"ListContributorInsights", Role::kRead, Scope::kTables, &kListContributorInsightsInput,
     json::ListContributorInsights},
    {"DescribeKinesisStreamingDestination", Role::kRead, Scope::kTables,
     &kDescribeKinesisStreamingDestinationInput, json::DescribeKinesisStreamingDestination},
    {"ListGlobalTables", Role::kRead, Scope::kNothing, &kListGlobalTablesInput, json::ListGlobalTables},
    {"GetResourcePolicy", Role::kRead, Scope::kTables, &kGetResourcePolicyInput, json::GetResourcePolicy},
    {"DeleteResourcePolicy", Role::kAdmin, Scope::kTables, &kDeleteResourcePolicyInput,
     json::DeleteResourcePolicy},
};

constexpr JsonOperation kStreamOperations[] = {
    {"ListStreams", Role::kRead, Scope::kStreams, &kListStreamsInput, json::ListStreams},
    {"DescribeStream", Role::kRead, Scope::kStreams, &kDescribeStreamInput, json::DescribeStream},
    {"GetShardIterator", Role::kRead, Scope::kStreams, &kGetShardIteratorInput, json::GetShardIterator},
    {"GetRecords", Role::kRead, Scope::kStreams, &kGetRecordsInput, json::GetRecords},
};

struct Target {
  std::string_view prefix;
  std::span<const JsonOperation> operations;
};
constexpr Target kTargets[] = {
    {"DynamoDB_20120810.", kOperations},
    {"DynamoDBStreams_20120810.", kStreamOperations},
};

}  // namespace

const JsonOperation* FindOperation(std::string_view target) {
  for (const Target& one : kTargets) {
    if (!target.starts_with(one.prefix)) continue;
    const std::string_view name = target.substr(one.prefix.size());
    const auto found = std::find_if(one.operations.begin(), one.operations.end(),
                                    [&](const JsonOperation& operation) { return operation.name == name; });
    return found == one.operations.end() ? nullptr : &*found;
  }
  return nullptr;
}

std::vector<std::string> OperationTargets() {
  std::vector<std::string> targets;
  for (const Target& one : kTargets) {
    for (const JsonOperation& operation : one.operations) {
      targets.push_back(std::string(one.prefix).append(operation.name));
    }
  }
  return targets;
}

absl::Status TypesFirst(const JsonCall& call, absl::Status error) {
  ITEMDB_RETURN_IF_ERROR(CheckValueTypes(*call.operation.input, call.document->root()));
  return error;
}

std::string_view NameOf(const JsonOperation& operation) { return operation.name; }
daemon::OperationAccess AccessOf(const JsonOperation& operation) {
  return {.role = operation.role, .scope = operation.scope};
}
std::string ActionOf(const JsonOperation& operation) {
  return std::string("dynamodb:").append(operation.name);
}

bool HasLargeReplies(const JsonOperation& operation) {
  constexpr std::string_view kLarge[] = {"Query",
                                         "Scan",
                                         "SearchVectors",
                                         "BatchGetItem",
                                         "TransactGetItems",
                                         "GetRecords",
                                         "ExecuteStatement",
                                         "BatchExecuteStatement",
                                         "ExecuteTransaction"};
  return std::find(std::begin(kLarge), std::end(kLarge), operation.name) != std::end(kLarge);
}

}  // namespace itemdb::http
