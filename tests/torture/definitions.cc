// Changes of tables and indexes under load.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/table_owner.h"
#include "tests/torture/faults.h"

namespace itemdb::torture {
namespace {

constexpr char kExtraIndex[] = "Extra";
constexpr int kOwners = 3;

}  // namespace

// Creates, fills and deletes tables until a kill.
void ChangeTables(Session& session, Episode& episode) {
  auto owners = std::make_shared<std::vector<e2e::TableOwner>>();
  const int first = episode.load.number * kOwners;
  for (int i = 0; i < kOwners; ++i)
    owners->emplace_back("Table-" + std::to_string(first + i), session.random()());
  std::vector<std::thread> threads;
  std::atomic<bool> killed = false;
  for (e2e::TableOwner& owner : *owners)
    threads.emplace_back([&owner, &killed, client = session.OpenClient()] { owner.Run(client, killed); });
  SleepUs(session.Pick(0, 150'000));
  killed = true;
  Kill(session, episode);
  for (std::thread& thread : threads) thread.join();
  episode.stopped = true;
  session.Count("kill_under_table_changes");
  episode.after_start.push_back([owners](Client& client) {
    for (e2e::TableOwner& owner : *owners) {
      owner.Look(client);
      // The names of another episode are new ones.
      const bool is_deleted = !owner.exists() || client.DeleteTable(owner.name()).ok();
      EXPECT_TRUE(is_deleted) << owner.name();
    }
  });
}

// Creates or deletes an index of the ledger. The daemon is often stopped before it is built.
void BuildIndex(Session& session, Episode& episode) {
  Client client = session.OpenClient();
  const auto described = client.DescribeTable(e2e::kLedgerTable);
  ASSERT_TRUE(described.ok()) << described.status();
  bool is_there = false;
  for (const auto& index : described->table.indexes)
    is_there = is_there || index.definition.index_name == kExtraIndex;
  UpdateTableRequest request = {.table_name = e2e::kLedgerTable};
  if (is_there) {
    request.delete_global_secondary_index = kExtraIndex;
  } else {
    request.create_global_secondary_index =
        GlobalSecondaryIndex{.index_name = kExtraIndex,
                             .key_schema = {{"bucket", KeyType::kHash}, {"id", KeyType::kRange}},
                             .projection = {.projection_type = ProjectionType::kAll}};
    request.attribute_definitions = {{"bucket", ScalarAttributeType::kString},
                                     {"id", ScalarAttributeType::kString}};
  }
  const auto changed = client.UpdateTable(request);
  EXPECT_TRUE(changed.ok()) << changed.status();
  session.Count(is_there ? "index_deletion" : "index_build");
  SleepUs(session.Pick(0, 100'000));
  // A power cut may undo it with relaxed durability.
  const bool may_be_lost = session.relaxed();
  episode.after_start.push_back([is_there, may_be_lost](Client& after) {
    for (int i = 0; i < 6'000; ++i) {
      const auto now = after.DescribeTable(e2e::kLedgerTable);
      ASSERT_TRUE(now.ok()) << now.status();
      bool found = false;
      for (const auto& index : now->table.indexes) {
        if (index.definition.index_name != kExtraIndex) continue;
        found = true;
        if (index.index_status == TableStatus::kActive) return;
      }
      EXPECT_TRUE(found != is_there || may_be_lost) << "an index change that was answered is undone";
      if (!found) return;
      SleepUs(10'000);
    }
    ADD_FAILURE() << "an index was not built within 60 s";
  });
}

}  // namespace itemdb::torture
