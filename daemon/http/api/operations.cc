#include "daemon/http/api/operations.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "daemon/http/api/batches.h"
#include "daemon/http/api/items.h"
#include "daemon/http/api/query_and_scan.h"
#include "daemon/http/api/statements.h"
#include "daemon/http/api/streams.h"
#include "daemon/http/api/tables.h"
#include "daemon/http/api/transactions.h"

namespace itemdb {
namespace {

// For operations of the service that this version does not have but a later one will; those that need more
// than one machine are no operations here at all (OP-64).
void NotOffered(JsonCall call) {
  std::move(call.answer)
      .Fail(ValidationError(
          absl::StrCat(std::string(call.operation.name), " is not offered by this version of itemdb")));
}
constexpr Shape kAnything{.kind = ShapeKind::kStructure};

// The roles of PartiQL's three are those of statements that only read: daemon/access/statement_roles.h looks
// at each.
constexpr JsonOperation kOperations[] = {
    {"PutItem", Role::kWrite, &kPutItemInput, json::PutItem},
    {"GetItem", Role::kRead, &kGetItemInput, json::GetItem},
    {"UpdateItem", Role::kWrite, &kUpdateItemInput, json::UpdateItem},
    {"DeleteItem", Role::kWrite, &kDeleteItemInput, json::DeleteItem},
    {"Query", Role::kRead, &kQueryInput, json::Query},
    {"Scan", Role::kRead, &kScanInput, json::Scan},
    {"BatchGetItem", Role::kRead, &kBatchGetItemInput, json::BatchGetItem},
    {"BatchWriteItem", Role::kWrite, &kBatchWriteItemInput, json::BatchWriteItem},
    {"TransactGetItems", Role::kRead, &kTransactGetItemsInput, json::TransactGetItems},
    {"TransactWriteItems", Role::kWrite, &kTransactWriteItemsInput, json::TransactWriteItems},
    {"ExecuteStatement", Role::kRead, &kExecuteStatementInput, json::ExecuteStatement},
    {"BatchExecuteStatement", Role::kRead, &kBatchExecuteStatementInput, json::BatchExecuteStatement},
    {"ExecuteTransaction", Role::kRead, &kExecuteTransactionInput, json::ExecuteTransaction},
    {"CreateTable", Role::kAdmin, &kCreateTableInput, json::CreateTable},
    {"UpdateTable", Role::kAdmin, &kUpdateTableInput, json::UpdateTable},
    {"DeleteTable", Role::kAdmin, &kDeleteTableInput, json::DeleteTable},
    {"DescribeTable", Role::kRead, &kDescribeTableInput, json::DescribeTable},
    {"ListTables", Role::kRead, &kListTablesInput, json::ListTables},
    {"TagResource", Role::kAdmin, &kTagResourceInput, json::TagResource},
    {"UntagResource", Role::kAdmin, &kUntagResourceInput, json::UntagResource},
    {"ListTagsOfResource", Role::kRead, &kListTagsOfResourceInput, json::ListTagsOfResource},
    {"DescribeLimits", Role::kRead, &kDescribeLimitsInput, json::DescribeLimits},
    {"DescribeEndpoints", Role::kRead, &kDescribeEndpointsRequest, json::DescribeEndpoints},
    {"UpdateTimeToLive", Role::kAdmin, &kUpdateTimeToLiveInput, json::UpdateTimeToLive},
    {"DescribeTimeToLive", Role::kRead, &kDescribeTimeToLiveInput, json::DescribeTimeToLive},
    {"DescribeContinuousBackups", Role::kRead, &kAnything, NotOffered},
    {"UpdateContinuousBackups", Role::kAdmin, &kAnything, NotOffered},
    {"CreateBackup", Role::kAdmin, &kAnything, NotOffered},
    {"DescribeBackup", Role::kRead, &kAnything, NotOffered},
    {"DeleteBackup", Role::kAdmin, &kAnything, NotOffered},
    {"ListBackups", Role::kRead, &kAnything, NotOffered},
    {"RestoreTableFromBackup", Role::kAdmin, &kAnything, NotOffered},
    {"RestoreTableToPointInTime", Role::kAdmin, &kAnything, NotOffered},
    {"ImportTable", Role::kAdmin, &kAnything, NotOffered},
    {"DescribeImport", Role::kRead, &kAnything, NotOffered},
    {"ListImports", Role::kRead, &kAnything, NotOffered},
    {"ExportTableToPointInTime", Role::kAdmin, &kAnything, NotOffered},
    {"DescribeExport", Role::kRead, &kAnything, NotOffered},
    {"ListExports", Role::kRead, &kAnything, NotOffered},
};

constexpr JsonOperation kStreamOperations[] = {
    {"ListStreams", Role::kRead, &kListStreamsInput, json::ListStreams},
    {"DescribeStream", Role::kRead, &kDescribeStreamInput, json::DescribeStream},
    {"GetShardIterator", Role::kRead, &kGetShardIteratorInput, json::GetShardIterator},
    {"GetRecords", Role::kRead, &kGetRecordsInput, json::GetRecords},
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
Role RoleOf(const JsonOperation& operation) { return operation.role; }

}  // namespace itemdb
