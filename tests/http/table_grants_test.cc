// Which tables a grant matches, and which table a text of a request means.
#include "daemon/access/table_grants.h"

#include <gtest/gtest.h>

#include "storage/database.h"

namespace itemdb::daemon {
namespace {

TEST(TableGrants, MatchWholeNamesAndBeginnings) {
  const TableGrants grants({{.names = {"Order", "Invoice*"}, .role = Role::kWrite},
                            {.names = {"Invoice-2026"}, .role = Role::kRead, .streams = true},
                            {.names = {"Order.log"}, .streams = true}});
  struct Row {
    std::string_view table;
    Role role;
    bool streams = false;
  };
  const Row rows[] = {{"Order", Role::kWrite},
                      {"Orders", Role::kNone},
                      {"Orde", Role::kNone},
                      {"order", Role::kNone},
                      {"", Role::kNone},
                      {"Invoice", Role::kWrite},
                      {"Invoice-2025", Role::kWrite},
                      // The highest role of all grants that match.
                      {"Invoice-2026", Role::kWrite, true},
                      {"Invoice*", Role::kWrite},
                      {"MyInvoice", Role::kNone},
                      {"Order.log", Role::kNone, true}};
  for (const Row& row : rows) {
    EXPECT_EQ(grants.RoleOf(row.table), row.role) << row.table;
    EXPECT_EQ(grants.MayReadStreams(row.table), row.streams) << row.table;
  }
}

// The empty name stands for requests that are about all tables.
TEST(TableGrants, OnlyAStarMatchesAllTables) {
  EXPECT_EQ(TableGrants({{.names = {"*"}, .role = Role::kRead}}).RoleOf(""), Role::kRead);
  EXPECT_EQ(TableGrants({{.names = {"*"}, .role = Role::kRead}}).RoleOf("Order"), Role::kRead);
  EXPECT_EQ(TableGrants({{.names = {"A*", "a*"}, .role = Role::kRead}}).RoleOf(""), Role::kNone);
  EXPECT_EQ(TableGrants().RoleOf(""), Role::kNone);
}

TEST(TableGrants, ArePatternsOfTableNames) {
  for (const char* pattern : {"*", "a*", "Order", "Order*", "a.b-c_9", "abc"})
    EXPECT_TRUE(IsTablePattern(pattern)) << pattern;
  for (const char* pattern :
       {"", "ab", "**", "*a", "a*b", "Order ", "arn:aws:table/Order", "Or/der", "\xc3\xa4*"})
    EXPECT_FALSE(IsTablePattern(pattern)) << pattern;
  EXPECT_TRUE(IsTablePattern(std::string(255, 'a')));
  EXPECT_FALSE(IsTablePattern(std::string(256, 'a')));
  EXPECT_TRUE(IsTablePattern(std::string(255, 'a') + "*"));
  EXPECT_FALSE(IsTablePattern(std::string(256, 'a') + "*"));
}

// The database looks tables up by this name (tests/storage has the look-up).
TEST(TableNames, OfAnArnAreBehindItsResource) {
  struct Row {
    std::string_view text;
    std::string_view table;
  };
  const Row rows[] = {{"Order", "Order"},
                      {"", ""},
                      {"arn:aws:dynamodb:local:000000000000:table/Order", "Order"},
                      {"arn::table/Order", "Order"},
                      {"arn:x:table/arn:y:table/Order", "Order"},
                      {"arn:x:table/arn:y", "arn:y"},
                      {"arn:x:table/", ""},
                      {"arn:aws:dynamodb:local:0:table/Order/index/ByDay", "Order/index/ByDay"},
                      {"ARN:x:table/Order", "ARN:x:table/Order"},
                      {" arn:x:table/Order", " arn:x:table/Order"},
                      {"arn:x:global-table/Order", "arn:x:global-table/Order"}};
  for (const Row& row : rows) EXPECT_EQ(storage::Database::TableNameOf(row.text), row.table) << row.text;
  const std::string long_arn = "arn:" + std::string(1'100, 'a') + ":table/Order";
  EXPECT_EQ(storage::Database::TableNameOf(long_arn), long_arn);
}

}  // namespace
}  // namespace itemdb::daemon
