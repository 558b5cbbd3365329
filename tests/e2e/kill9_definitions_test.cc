// kill -9 while tables and indexes are created and deleted, again and again on one database. A change that
// was answered has happened; an unanswered one has happened or not, but never partly.
//
// ITEMDB_KILL9_CYCLES sets the number of kills (default 50; 6 in sanitizer builds, which are slower).
// ITEMDB_TEST_SEED repeats the random choices of a run, but not its timing.
#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/e2e/kills.h"

namespace itemdb::e2e {
namespace {

using ::testing::AnyOf;

constexpr int kOwners = 4;
constexpr int kKeys = 20;
constexpr int kMaxMillisecondsBeforeKill = 60;
constexpr char kIndexName[] = "ByGroup";

// By primary key.
using VersionByKey = std::map<std::string, int64_t>;

GlobalSecondaryIndex ByGroup() {
  return {.index_name = kIndexName,
          .key_schema = {{"group", KeyType::kHash}},
          .projection = {.projection_type = ProjectionType::kAll}};
}

VersionByKey VersionsIn(ItemRange items) {
  VersionByKey versions;
  for (const Item& item : items)
    versions[*item.find_or_null("pk")->string_or_null()] =
        item.find_or_null("version")->number_or_null()->ToInt64().value_or(-1);
  EXPECT_TRUE(items.status().ok()) << items.status();
  return versions;
}

// One table that one thread creates, fills and deletes, and the expected state of the table.
class Owner {
 public:
  Owner(std::string name, uint64_t seed) : name_(std::move(name)), random_(seed) {}

  // Makes changes until the daemon no longer answers.
  void Run(const Client& client, const std::atomic<bool>& killed) {
    absl::Status status;
    while (!killed && status.ok()) status = Step(client);
    EXPECT_TRUE(killed) << name_ << ": " << status;
    if (!status.ok()) {
      EXPECT_THAT(status.code(), AnyOf(absl::StatusCode::kUnknown, absl::StatusCode::kUnavailable)) << status;
    }
    was_sent_ = absl::IsUnknown(status);
  }

  // Compares the database with the answered changes, and updates the expected state.
  void Look(const Client& client) {
    SCOPED_TRACE(name_);
    const absl::StatusOr<TableResult> described = client.DescribeTable(name_);
    if (!described.ok() && ReasonOf(described.status()) != "RESOURCE_NOT_FOUND") FAIL() << described.status();
    if (doubt_ != Doubt::kTable) {
      EXPECT_EQ(described.ok(), exists_);
    }
    exists_ = described.ok();
    if (!exists_) {
      items_.clear();
    } else {
      LookAtIndex(client, !described->table.indexes.empty());
      LookAtItems(client);
    }
    if (was_sent_) ++unanswered_;
    doubt_ = Doubt::kNone;
  }

  const std::string& name() const { return name_; }
  bool exists() const { return exists_; }
  int64_t answered() const { return answered_; }
  int64_t unanswered() const { return unanswered_; }

 private:
  // What the unanswered call would have changed.
  enum class Doubt { kNone, kTable, kIndex, kItem };

  absl::Status Step(const Client& client) {
    const int64_t choice = Pick(random_, 0, 9);
    if (!exists_) return Create(client, choice < 5);
    if (choice == 0) return Delete(client);
    if (choice == 1) return ToggleIndex(client);
    return Put(client);
  }

  absl::Status Create(const Client& client, bool with_index) {
    doubt_ = Doubt::kTable;
    has_index_ = with_index;
    TableDefinition table = {.table_name = name_,
                             .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                             .key_schema = {{"pk", KeyType::kHash}}};
    if (with_index) {
      table.attribute_definitions.push_back({"group", ScalarAttributeType::kString});
      table.global_secondary_indexes.push_back(ByGroup());
    }
    const absl::Status status = client.CreateTable(table, OneAttempt()).status();
    if (status.ok()) Answered([this] { exists_ = true; });
    return status;
  }

  absl::Status Delete(const Client& client) {
    doubt_ = Doubt::kTable;
    const absl::Status status = client.DeleteTable(name_, OneAttempt()).status();
    if (status.ok()) {
      Answered([this] {
        exists_ = false;
        items_.clear();
      });
    }
    return status;
  }

  absl::Status ToggleIndex(const Client& client) {
    doubt_ = Doubt::kIndex;
    UpdateTableRequest request = {.table_name = name_};
    if (has_index_) {
      request.delete_global_secondary_index = kIndexName;
    } else {
      request.create_global_secondary_index = ByGroup();
      request.attribute_definitions = {{"group", ScalarAttributeType::kString}};
    }
    const absl::Status status = client.UpdateTable(request, OneAttempt()).status();
    if (status.ok()) Answered([this] { has_index_ = !has_index_; });
    return status;
  }

  absl::Status Put(const Client& client) {
    doubt_ = Doubt::kItem;
    last_key_ = std::to_string(Pick(random_, 1, kKeys));
    const int64_t version = ++last_version_;
    const absl::Status status = client
                                    .PutItem({.table_name = name_,
                                              .item = {{"pk", last_key_},
                                                       {"group", "g" + std::to_string(version % 3)},
                                                       {"version", version}}},
                                             OneAttempt())
                                    .status();
    if (status.ok()) Answered([this, version] { items_[last_key_] = version; });
    return status;
  }

  template <typename Effect>
  void Answered(Effect effect) {
    effect();
    doubt_ = Doubt::kNone;
    ++answered_;
  }

  void LookAtIndex(const Client& client, bool is_there) {
    if (doubt_ != Doubt::kIndex) {
      EXPECT_EQ(is_there, has_index_);
    }
    has_index_ = is_there;
    for (int i = 0; is_there && i < 30'000; ++i) {
      const absl::StatusOr<TableResult> described = client.DescribeTable(name_);
      ASSERT_TRUE(described.ok()) << described.status();
      if (described->table.indexes.at(0).index_status == TableStatus::kActive) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(is_there) << "the index was not filled";
  }

  void LookAtItems(const Client& client) {
    const VersionByKey found = VersionsIn(client.ScanAll({.table_name = name_}));
    // After an unanswered deletion a table that still exists has all its items; a table that was created
    // again has none.
    if (doubt_ == Doubt::kItem) {
      const auto last = found.find(last_key_);
      if (last != found.end() && last->second == last_version_) items_[last_key_] = last_version_;
    }
    EXPECT_EQ(found, items_);
    if (has_index_) {
      EXPECT_EQ(VersionsIn(client.ScanAll({.table_name = name_, .index_name = kIndexName})), items_);
    }
  }

  const std::string name_;
  Random random_;
  bool exists_ = false;
  bool has_index_ = false;
  VersionByKey items_;
  Doubt doubt_ = Doubt::kNone;
  // The unanswered call may have been executed.
  bool was_sent_ = false;
  std::string last_key_;
  int64_t last_version_ = 0;
  int64_t answered_ = 0;
  int64_t unanswered_ = 0;
};

class Kill9DefinitionsTest : public E2eTest {
 protected:
  void SetUp() override {
    // The same address after each start.
    daemon_.set_listen({"unix:" + directory_.path() + "/s"});
    E2eTest::SetUp();
  }
};

TEST_F(Kill9DefinitionsTest, TablesAndIndexesAreThereOrNotAsWasAnswered) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  const int kills = Kills();

  std::vector<Owner> owners;
  for (int i = 0; i < kOwners; ++i) owners.emplace_back("Table-" + std::to_string(i), random());
  for (int kill = 0; kill < kills && !HasFailure(); ++kill) {
    SCOPED_TRACE("kill " + std::to_string(kill));
    std::atomic<bool> killed = false;
    std::vector<std::thread> threads;
    for (Owner& owner : owners)
      threads.emplace_back([&owner, &killed, client = OpenClient()] { owner.Run(client, killed); });
    std::this_thread::sleep_for(std::chrono::milliseconds(Pick(random, 0, kMaxMillisecondsBeforeKill)));
    killed = true;
    KillAndRestart();
    for (std::thread& thread : threads) thread.join();
    if (HasFatalFailure()) return;
    const Client client = OpenClient();
    std::vector<std::string> names;
    for (Owner& owner : owners) {
      owner.Look(client);
      if (owner.exists()) names.push_back(owner.name());
    }
    const auto listed = client.ListTables();
    ASSERT_TRUE(listed.ok()) << listed.status();
    EXPECT_EQ(listed->table_names, names);
    ExpectCheckIsClean();
  }
  int64_t answered = 0;
  int64_t unanswered = 0;
  for (const Owner& owner : owners) {
    answered += owner.answered();
    unanswered += owner.unanswered();
  }
  std::printf("%d kills, %ld calls answered, %ld not\n", kills, static_cast<long>(answered),
              static_cast<long>(unanswered));
  EXPECT_GT(answered, kills);
  EXPECT_GT(unanswered, 0) << "no kill hit a call, so this tested little";
}

}  // namespace
}  // namespace itemdb::e2e
