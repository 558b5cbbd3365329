// PartiQL with a key of the role read: the role is checked for each statement, not for the operation
// (ERR-17), also in a batch (PQL-14).
#include <gmock/gmock.h>

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;

class StatementRoles : public ::testing::Test {
 protected:
  StatementRoles() {
    json_.Succeed("CreateTable", kCreateThings);
    json_.Succeed("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"S":"1"}}})");
  }

  JsonReply Ask(const std::string& operation, const std::string& body,
                daemon::Role role = daemon::Role::kRead) {
    return json_.Ask(operation, body, {.key_id = "AKSOMEONE", .role = role});
  }
  JsonReply Execute(const std::string& statement, daemon::Role role = daemon::Role::kRead) {
    return Ask("ExecuteStatement", R"({"Statement":")" + statement + "\"}", role);
  }
  // The request bodies of a batch and of a transaction.
  static std::string Batch(const std::vector<std::string>& statements) {
    return R"({"Statements":)" + List(statements) + "}";
  }
  static std::string Transaction(const std::vector<std::string>& statements) {
    return R"({"TransactStatements":)" + List(statements) + "}";
  }
  // All items of the table.
  std::string Items() { return json_.Succeed("Scan", R"({"TableName":"Things"})"); }

  static std::string Denied(const std::string& action) {
    return R"({"__type":"com.amazon.coral.service#AccessDeniedException","message":"User: AKSOMEONE is not )"
           R"(authorized to perform: dynamodb:)" +
           action + R"( because its role is read and this takes write"})";
  }

  static constexpr char kSelect[] = "SELECT * FROM Things WHERE pk = 'p' AND sk = '1'";
  static constexpr char kInsert[] = "INSERT INTO Things VALUE {'pk': 'p', 'sk': '2'}";
  static constexpr char kUpdate[] = "UPDATE Things SET n = 2 WHERE pk = 'p' AND sk = '1'";
  static constexpr char kOtherSelect[] = "SELECT * FROM Things WHERE pk = 'p' AND sk = '2'";
  static constexpr char kDelete[] = "DELETE FROM Things WHERE pk = 'p' AND sk = '1'";

  JsonFixture json_;

 private:
  static std::string List(const std::vector<std::string>& statements) {
    std::string list;
    for (const std::string& statement : statements)
      list += (list.empty() ? R"({"Statement":")" : R"(,{"Statement":")") + statement + "\"}";
    return "[" + list + "]";
  }
};

TEST_F(StatementRoles, ReadSelectsAndChangesNothing) {
  const std::string before = Items();
  EXPECT_EQ(Execute(kSelect).http_status, 200u);
  EXPECT_EQ(Execute(std::string("-- a comment\\n select * from Things")).http_status, 200u);
  EXPECT_EQ(Execute(kInsert).body, Denied("PartiQLInsert"));
  EXPECT_EQ(Execute(kUpdate).body, Denied("PartiQLUpdate"));
  EXPECT_EQ(Execute(kDelete).body, Denied("PartiQLDelete"));
  EXPECT_EQ(Execute("-- SELECT\\n delete from Things WHERE pk = 'p' AND sk = '1'").body,
            Denied("PartiQLDelete"));
  EXPECT_EQ(Execute("DROP TABLE Things").body, Denied("ExecuteStatement"));
  EXPECT_EQ(Execute(kDelete).http_status, 400u);
  EXPECT_EQ(Execute(kDelete).code, "PERMISSION_DENIED");
  EXPECT_EQ(Items(), before);
}

TEST_F(StatementRoles, WriteAndAdminExecuteAll) {
  for (daemon::Role role : {daemon::Role::kWrite, daemon::Role::kAdmin}) {
    EXPECT_EQ(Execute(kInsert, role).http_status, 200u);
    EXPECT_EQ(Execute(kUpdate, role).http_status, 200u);
    EXPECT_EQ(Execute("DELETE FROM Things WHERE pk = 'p' AND sk = '2'", role).http_status, 200u);
    EXPECT_EQ(Ask("BatchExecuteStatement", Batch({kUpdate}), role).http_status, 200u);
    EXPECT_EQ(Ask("ExecuteTransaction", Transaction({kUpdate}), role).http_status, 200u);
  }
}

TEST_F(StatementRoles, ABatchOfWritesIsRefusedStatementByStatement) {
  const std::string before = Items();
  const JsonReply reply = Ask("BatchExecuteStatement", Batch({kInsert, kDelete}));
  EXPECT_EQ(reply.http_status, 200u);
  const auto error = [](const std::string& action) {
    return R"({"Error":{"Code":"AccessDenied","Message":"User: AKSOMEONE is not authorized to perform: dynamodb:)" +
           action + R"( because its role is read and this takes write"}})";
  };
  EXPECT_EQ(reply.body, R"({"Responses":[)" + error("PartiQLInsert") + "," + error("PartiQLDelete") + "]}");
  EXPECT_EQ(Ask("BatchExecuteStatement", Batch({kSelect, kOtherSelect})).http_status, 200u);
  // A batch with reads and writes is refused for every role.
  const JsonReply mixed = Ask("BatchExecuteStatement", Batch({kSelect, kDelete}));
  EXPECT_EQ(mixed.http_status, 400u);
  EXPECT_THAT(mixed.body, HasSubstr("Read and write requests together in the same batch is not supported."));
  EXPECT_EQ(Ask("BatchExecuteStatement", Batch({kDelete, kSelect})).body, mixed.body);
  EXPECT_EQ(Items(), before);
}

TEST_F(StatementRoles, ATransactionWithAWriteIsRefused) {
  const std::string before = Items();
  EXPECT_EQ(Ask("ExecuteTransaction", Transaction({kSelect})).http_status, 200u);
  EXPECT_EQ(Ask("ExecuteTransaction", Transaction({kUpdate})).body, Denied("PartiQLUpdate"));
  EXPECT_EQ(Ask("ExecuteTransaction", Transaction({kSelect, kDelete})).body, Denied("PartiQLDelete"));
  EXPECT_EQ(Items(), before);
}

}  // namespace
}  // namespace itemdb::testing
