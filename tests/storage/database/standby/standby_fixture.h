// A primary with an archive and backups, and its standby, in one process.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/storage/database/requests.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {

class StandbyTest : public ::testing::Test {
 protected:
  StandbyTest() { primary_ = std::make_unique<TestDatabase>(PrimaryOptions()); }

  DatabaseOptions PrimaryOptions() const {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path() + "/primary");
    options.backup_directory = backups_;
    options.archive_directory = archive_;
    options.archive_interval = std::chrono::milliseconds(5);
    return options;
  }
  DatabaseOptions StandbyOptions(const std::string& name = "standby") const {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path() + "/" + name);
    options.standby_archive = archive_;
    options.standby_backups = backups_;
    options.standby_interval = std::chrono::milliseconds(5);
    return options;
  }
  void StartStandby() {
    AwaitArchive();
    standby_ = std::make_unique<TestDatabase>(StandbyOptions());
  }
  void AwaitArchive() {
    const uint64_t last = (*primary_)->GetStatus().change_sequence();
    for (int i = 0; i < 3000; ++i) {
      const v1::ArchiveStatus status = (*primary_)->GetStatus().archive();
      if (status.change_sequence() >= last && status.oldest_time_us() != 0 && !status.needs_backup()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << (*primary_)->GetStatus().archive().DebugString();
  }
  // Waits until the standby has every change that the primary has.
  void AwaitStandby() {
    const uint64_t last = (*primary_)->GetStatus().change_sequence();
    for (int i = 0; i < 3000; ++i) {
      const v1::GetStatusReply status = (*standby_)->GetStatus();
      if (status.change_sequence() == last && !status.standby().needs_base()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "the primary is at " << last << "\n" << (*standby_)->GetStatus().DebugString();
  }
  void CreateTable(const std::string& name = "Things") {
    v1::CreateTableRequest table = TableRequest(name);
    AddIndex(&table, "ByState", {"state:S"}, 1, v1::PROJECTION_TYPE_ALL);
    AddLocalIndex(&table, "ByNumber", "number", v1::PROJECTION_TYPE_KEYS_ONLY);
    primary_->CreateTable(table);
  }
  static absl::StatusOr<wire::WriteItemReply> Put(TestDatabase& database, const std::string& pk, int number) {
    return database.Put("Things", {{"pk", S(pk)},
                                   {"sk", S(std::to_string(number))},
                                   {"number", S(std::to_string(number * 7 % 100))},
                                   {"state", S(number % 2 == 0 ? "even" : "odd")}});
  }
  // Writes of all kinds to the primary.
  void Write(int operations, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < operations; ++i) {
      const std::string pk = "p" + std::to_string(random() % 3);
      const int number = static_cast<int>(random() % 20);
      if (random() % 4 == 0) {
        ASSERT_TRUE(primary_->Delete("Things", {{"pk", S(pk)}, {"sk", S(std::to_string(number))}}).ok());
      } else if (random() % 4 == 0) {
        wire::TransactWriteItemsRequest transaction;
        for (int action = 0; action < 3; ++action) {
          *transaction.add_transact_items()->mutable_put() =
              WriteRequest("Things", {{"pk", S(pk)}, {"sk", S(std::to_string(100 + number * 3 + action))}});
        }
        transaction.set_client_request_token("token " + std::to_string(random()));
        ASSERT_TRUE(primary_->Transact(transaction).ok());
      } else {
        ASSERT_TRUE(Put(*primary_, pk, number).ok());
      }
    }
  }
  // Items, entries and the change log are those of the primary.
  void ExpectEqual(const std::vector<std::string>& indexes = {"ByState", "ByNumber"}) {
    EXPECT_EQ(ScanAll(*standby_, ScanRequest("Things")), ScanAll(*primary_, ScanRequest("Things")));
    for (const std::string& index : indexes) {
      wire::PageRequest scan = ScanRequest("Things");
      scan.set_index_name(index);
      EXPECT_EQ(ScanAll(*standby_, scan), ScanAll(*primary_, scan)) << index;
    }
    const std::vector<v1::ChangeRecord> changes = Changes(*primary_);
    const std::vector<v1::ChangeRecord> followed = Changes(*standby_);
    ASSERT_EQ(followed.size(), changes.size());
    for (size_t i = 0; i < changes.size(); ++i)
      EXPECT_EQ(followed[i].SerializeAsString(), changes[i].SerializeAsString());
    EXPECT_EQ(Describe(*standby_, "Things").item_count(), Describe(*primary_, "Things").item_count());
    standby_->CheckIsClean();
  }
  absl::StatusOr<v1::PromoteReply> Promote(bool force = false) {
    v1::PromoteRequest request;
    request.set_force(force);
    return Await<v1::PromoteReply>([&](auto done) { (*standby_)->Promote(request, std::move(done)); });
  }

  TemporaryDirectory directory_;
  const std::string backups_ = directory_.path() + "/backups";
  const std::string archive_ = directory_.path() + "/archive";
  std::unique_ptr<TestDatabase> primary_;
  std::unique_ptr<TestDatabase> standby_;
};

}  // namespace itemdb::testing
