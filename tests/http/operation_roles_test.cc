// Every operation has the role it needs; operations that change something need more than the role read
// (ERR-17). For PartiQL the role depends on each statement (statement_roles_test.cc).
#include <gtest/gtest.h>

#include <set>

#include "daemon/http/api/json_api.h"

namespace itemdb::http {
namespace {

daemon::Role RoleByName(std::string_view name) {
  // Operations that only read.
  for (std::string_view prefix :
       {"Get", "BatchGet", "TransactGet", "Query", "Scan", "Search", "Describe", "List"}) {
    if (name.starts_with(prefix)) return daemon::Role::kRead;
  }
  const std::set<std::string_view> writes = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem",
                                             "TransactWriteItems"};
  const std::set<std::string_view> statements = {"ExecuteStatement", "ExecuteTransaction",
                                                 "BatchExecuteStatement"};
  if (statements.contains(name)) return daemon::Role::kRead;
  if (writes.contains(name)) return daemon::Role::kWrite;
  // All other operations need the role admin, so that a new operation is never open by mistake.
  return daemon::Role::kAdmin;
}

TEST(OperationRolesTest, EveryOperationHasTheRoleThatItsNameCallsFor) {
  EXPECT_FALSE(OperationTargets().empty());
  for (const std::string& target : OperationTargets()) {
    const JsonOperation* operation = FindOperation(target);
    ASSERT_NE(operation, nullptr) << target;
    EXPECT_EQ(static_cast<int>(RoleOf(*operation)), static_cast<int>(RoleByName(NameOf(*operation))))
        << target;
  }
}

TEST(OperationRolesTest, OperationsThatAnswerManyItemsHaveLargeReplies) {
  std::set<std::string_view> large;
  for (const std::string& target : OperationTargets()) {
    if (HasLargeReplies(*FindOperation(target))) large.insert(NameOf(*FindOperation(target)));
  }
  EXPECT_EQ(large, (std::set<std::string_view>{"Query", "Scan", "SearchVectors", "BatchGetItem",
                                               "TransactGetItems", "GetRecords", "ExecuteStatement",
                                               "BatchExecuteStatement", "ExecuteTransaction"}));
}

}  // namespace
}  // namespace itemdb::http
