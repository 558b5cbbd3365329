#include "tests/support/table_owner.h"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

namespace itemdb::e2e {
namespace {

using ::testing::AnyOf;

constexpr int kKeys = 20;
constexpr char kIndexName[] = "ByGroup";

GlobalSecondaryIndex ByGroup() {
  return {.index_name = kIndexName,
          .key_schema = {{"group", KeyType::kHash}},
          .projection = {.projection_type = ProjectionType::kAll}};
}

}  // namespace

TableOwner::VersionByKey TableOwner::VersionsIn(ItemRange items) {
  VersionByKey versions;
  for (const Item& item : items)
    versions[*item.find_or_null("pk")->string_or_null()] =
        item.find_or_null("version")->number_or_null()->ToInt64().value_or(-1);
  EXPECT_TRUE(items.status().ok()) << items.status();
  return versions;
}

void TableOwner::Run(const Client& client, const std::atomic<bool>& killed) {
  absl::Status status;
  while (!killed && status.ok()) status = Step(client);
  EXPECT_TRUE(killed) << name_ << ": " << status;
  if (!status.ok()) {
    EXPECT_THAT(status.code(), AnyOf(absl::StatusCode::kUnknown, absl::StatusCode::kUnavailable)) << status;
  }
  was_sent_ = absl::IsUnknown(status);
}

void TableOwner::Look(const Client& client) {
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

absl::Status TableOwner::Step(const Client& client) {
  const int64_t choice = Pick(random_, 0, 9);
  if (!exists_) return Create(client, choice < 5);
  if (choice == 0) return Delete(client);
  if (choice == 1) return ToggleIndex(client);
  return Put(client);
}

absl::Status TableOwner::Create(const Client& client, bool with_index) {
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

absl::Status TableOwner::Delete(const Client& client) {
  doubt_ = Doubt::kTable;
  const absl::Status status = client.DeleteTable(name_, OneAttempt()).status();
  // The index is not filled yet: nothing has changed.
  if (has_index_ && ReasonOf(status) == "RESOURCE_IN_USE") {
    doubt_ = Doubt::kNone;
    return absl::OkStatus();
  }
  if (status.ok()) {
    Answered([this] {
      exists_ = false;
      items_.clear();
    });
  }
  return status;
}

absl::Status TableOwner::ToggleIndex(const Client& client) {
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

absl::Status TableOwner::Put(const Client& client) {
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

void TableOwner::LookAtIndex(const Client& client, bool is_there) {
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

void TableOwner::LookAtItems(const Client& client) {
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

}  // namespace itemdb::e2e
