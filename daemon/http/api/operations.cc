#include "daemon/http/api/operations.h"

#include <algorithm>
#include <span>

#include "daemon/http/api/batches.h"
#include "daemon/http/api/items.h"
#include "daemon/http/api/query_and_scan.h"
#include "daemon/http/api/resting_features.h"
#include "daemon/http/api/statements.h"
#include "daemon/http/api/streams.h"
#include "daemon/http/api/tables.h"
#include "daemon/http/api/transactions.h"

namespace itemdb::http {
namespace {

// Operations that are not in the table get UnknownOperationException (OP-64), which programs written for the
// service take for an endpoint without the feature.
// The PartiQL operations need read; each statement is checked (daemon/access/statement_roles.h).
constexpr JsonOperation kOperations[] = {
    {"PutItem", daemon::Role::kWrite, &kPutItemInput, json::PutItem},
    {"GetItem", daemon::Role::kRead, &kGetItemInput, json::GetItem},
    {"UpdateItem", daemon::Role::kWrite, &kUpdateItemInput, json::UpdateItem},
    {"DeleteItem", daemon::Role::kWrite, &kDeleteItemInput, json::DeleteItem},
    {"Query", daemon::Role::kRead, &kQueryInput, json::Query},
    {"Scan", daemon::Role::kRead, &kScanInput, json::Scan},
    {"BatchGetItem", daemon::Role::kRead, &kBatchGetItemInput, json::BatchGetItem},
    {"BatchWriteItem", daemon::Role::kWrite, &kBatchWriteItemInput, json::BatchWriteItem},
    {"TransactGetItems", daemon::Role::kRead, &kTransactGetItemsInput, json::TransactGetItems},
    {"TransactWriteItems", daemon::Role::kWrite, &kTransactWriteItemsInput, json::TransactWriteItems},
    {"ExecuteStatement", daemon::Role::kRead, &kExecuteStatementInput, json::ExecuteStatement},
    {"BatchExecuteStatement", daemon::Role::kRead, &kBatchExecuteStatementInput, json::BatchExecuteStatement},
    {"ExecuteTransaction", daemon::Role::kRead, &kExecuteTransactionInput, json::ExecuteTransaction},
    {"CreateTable", daemon::Role::kAdmin, &kCreateTableInput, json::CreateTable},
    {"UpdateTable", daemon::Role::kAdmin, &kUpdateTableInput, json::UpdateTable},
    {"DeleteTable", daemon::Role::kAdmin, &kDeleteTableInput, json::DeleteTable},
    {"DescribeTable", daemon::Role::kRead, &kDescribeTableInput, json::DescribeTable},
    {"ListTables", daemon::Role::kRead, &kListTablesInput, json::ListTables},
    {"TagResource", daemon::Role::kAdmin, &kTagResourceInput, json::TagResource},
    {"UntagResource", daemon::Role::kAdmin, &kUntagResourceInput, json::UntagResource},
    {"ListTagsOfResource", daemon::Role::kRead, &kListTagsOfResourceInput, json::ListTagsOfResource},
    {"DescribeLimits", daemon::Role::kRead, &kDescribeLimitsInput, json::DescribeLimits},
    {"DescribeEndpoints", daemon::Role::kRead, &kDescribeEndpointsRequest, json::DescribeEndpoints},
    {"UpdateTimeToLive", daemon::Role::kAdmin, &kUpdateTimeToLiveInput, json::UpdateTimeToLive},
    {"DescribeTimeToLive", daemon::Role::kRead, &kDescribeTimeToLiveInput, json::DescribeTimeToLive},
    {"DescribeContinuousBackups", daemon::Role::kRead, &kDescribeContinuousBackupsInput,
     json::DescribeContinuousBackups},
    {"UpdateContinuousBackups", daemon::Role::kAdmin, &kUpdateContinuousBackupsInput,
     json::UpdateContinuousBackups},
    {"ListBackups", daemon::Role::kRead, &kListBackupsInput, json::ListBackups},
    {"ListExports", daemon::Role::kRead, &kListExportsInput, json::ListExports},
    {"ListImports", daemon::Role::kRead, &kListImportsInput, json::ListImports},
    {"DescribeContributorInsights", daemon::Role::kRead, &kDescribeContributorInsightsInput,
     json::DescribeContributorInsights},
    {"ListContributorInsights", daemon::Role::kRead, &kListContributorInsightsInput,
     json::ListContributorInsights},
    {"DescribeKinesisStreamingDestination", daemon::Role::kRead, &kDescribeKinesisStreamingDestinationInput,
     json::DescribeKinesisStreamingDestination},
    {"ListGlobalTables", daemon::Role::kRead, &kListGlobalTablesInput, json::ListGlobalTables},
    {"GetResourcePolicy", daemon::Role::kRead, &kGetResourcePolicyInput, json::GetResourcePolicy},
    {"DeleteResourcePolicy", daemon::Role::kAdmin, &kDeleteResourcePolicyInput, json::DeleteResourcePolicy},
};

constexpr JsonOperation kStreamOperations[] = {
    {"ListStreams", daemon::Role::kRead, &kListStreamsInput, json::ListStreams},
    {"DescribeStream", daemon::Role::kRead, &kDescribeStreamInput, json::DescribeStream},
    {"GetShardIterator", daemon::Role::kRead, &kGetShardIteratorInput, json::GetShardIterator},
    {"GetRecords", daemon::Role::kRead, &kGetRecordsInput, json::GetRecords},
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
daemon::Role RoleOf(const JsonOperation& operation) { return operation.role; }

bool HasLargeReplies(const JsonOperation& operation) {
  constexpr std::string_view kLarge[] = {"Query",
                                         "Scan",
                                         "BatchGetItem",
                                         "TransactGetItems",
                                         "GetRecords",
                                         "ExecuteStatement",
                                         "BatchExecuteStatement",
                                         "ExecuteTransaction"};
  return std::find(std::begin(kLarge), std::end(kLarge), operation.name) != std::end(kLarge);
}

}  // namespace itemdb::http
