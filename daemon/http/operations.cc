#include "daemon/http/operations.h"

#include <algorithm>

#include "daemon/http/json_items.h"
#include "daemon/http/json_tables.h"

namespace itemdb {
namespace {

constexpr JsonOperation kOperations[] = {
    {"PutItem", Role::kWrite, &kPutItemInput, json::PutItem},
    {"GetItem", Role::kRead, &kGetItemInput, json::GetItem},
    {"UpdateItem", Role::kWrite, &kUpdateItemInput, json::UpdateItem},
    {"DeleteItem", Role::kWrite, &kDeleteItemInput, json::DeleteItem},
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
};

constexpr std::string_view kTables = "DynamoDB_20120810.";

}  // namespace

std::span<const JsonOperation> Operations() { return kOperations; }

const JsonOperation* FindOperation(std::string_view target) {
  if (!target.starts_with(kTables)) return nullptr;
  const std::string_view name = target.substr(kTables.size());
  const auto* found = std::find_if(std::begin(kOperations), std::end(kOperations),
                                   [&](const JsonOperation& operation) { return operation.name == name; });
  return found == std::end(kOperations) ? nullptr : found;
}

std::string_view NameOf(const JsonOperation& operation) { return operation.name; }
Role RoleOf(const JsonOperation& operation) { return operation.role; }

}  // namespace itemdb
