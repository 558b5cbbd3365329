// Every operation that is offered says who may use it, and what changes something takes more than reading
// (ERR-17); of PartiQL each statement says it (json_statements_test.cc).
#include <gtest/gtest.h>

#include <set>

#include "daemon/http/api/json_api.h"

namespace itemdb {
namespace {

Role RoleByName(std::string_view name) {
  // What only tells something.
  for (std::string_view prefix : {"Get", "BatchGet", "TransactGet", "Query", "Scan", "Describe", "List"}) {
    if (name.starts_with(prefix)) return Role::kRead;
  }
  const std::set<std::string_view> writes = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem",
                                             "TransactWriteItems"};
  const std::set<std::string_view> statements = {"ExecuteStatement", "ExecuteTransaction",
                                                 "BatchExecuteStatement"};
  if (statements.contains(name)) return Role::kRead;
  if (writes.contains(name)) return Role::kWrite;
  // All others: an operation that nobody has thought about is not for everybody.
  return Role::kAdmin;
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

}  // namespace
}  // namespace itemdb
