// Table class, encryption, on-demand and warm throughput are checked, stored and shown; no other effect
// (SEM-099).

#include <functional>

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

absl::StatusOr<v1::UpdateTableReply> ChangeTable(TestDatabase& database,
                                                 const v1::UpdateTableRequest& request) {
  return Await<v1::UpdateTableReply>([&](auto done) { database->UpdateTable(request, std::move(done)); });
}

// Only the settings of a description.
std::string Settings(const v1::TableDescription& table) {
  v1::TableDescription settings;
  settings.set_table_class(table.table_class());
  if (table.has_sse_specification()) *settings.mutable_sse_specification() = table.sse_specification();
  if (table.has_on_demand_throughput())
    *settings.mutable_on_demand_throughput() = table.on_demand_throughput();
  if (table.has_warm_throughput()) *settings.mutable_warm_throughput() = table.warm_throughput();
  return settings.ShortDebugString();
}

TEST(TableSettings, AreKeptAndShownAndCanBeChanged) {
  TestDatabase database;
  database.CreateTable(TableRequest("Plain"));
  EXPECT_EQ(Settings(Describe(database, "Plain")),
            "table_class: TABLE_CLASS_STANDARD "
            "warm_throughput { read_units_per_second: 12000 write_units_per_second: 4000 }");

  auto table = TableRequest("Things");
  table.set_table_class(v1::TABLE_CLASS_STANDARD_INFREQUENT_ACCESS);
  table.mutable_sse_specification()->set_enabled(true);
  table.mutable_on_demand_throughput()->set_max_read_request_units(10);
  table.mutable_on_demand_throughput()->set_max_write_request_units(-1);
  table.mutable_warm_throughput()->set_read_units_per_second(15'000);
  database.CreateTable(table);
  database.Reopen();
  EXPECT_EQ(Settings(Describe(database, "Things")),
            "table_class: TABLE_CLASS_STANDARD_INFREQUENT_ACCESS "
            "sse_specification { enabled: true sse_type: \"KMS\" } "
            "on_demand_throughput { max_read_request_units: 10 } "
            "warm_throughput { read_units_per_second: 15000 write_units_per_second: 4000 }");

  // A setting that the request does not name stays as it is.
  v1::UpdateTableRequest update;
  update.set_table_name("Things");
  update.mutable_warm_throughput()->set_write_units_per_second(5'000);
  ASSERT_TRUE(ChangeTable(database, update).ok());
  update.clear_warm_throughput();
  update.mutable_on_demand_throughput()->set_max_read_request_units(-1);
  ASSERT_TRUE(ChangeTable(database, update).ok());
  EXPECT_EQ(Settings(Describe(database, "Things")),
            "table_class: TABLE_CLASS_STANDARD_INFREQUENT_ACCESS "
            "sse_specification { enabled: true sse_type: \"KMS\" } "
            "warm_throughput { read_units_per_second: 15000 write_units_per_second: 5000 }");
  update.Clear();
  update.set_table_name("Things");
  update.set_table_class(v1::TABLE_CLASS_STANDARD);
  ASSERT_TRUE(ChangeTable(database, update).ok());
  update.clear_table_class();
  update.mutable_sse_specification();
  auto updated = ChangeTable(database, update);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(Settings(updated->table()),
            "table_class: TABLE_CLASS_STANDARD sse_specification { } "
            "warm_throughput { read_units_per_second: 15000 write_units_per_second: 5000 }");
}

// Warm throughput is the service's start of tables on demand, or the highest provisioned throughput so far; a
// request cannot lower it (SEM-099).
TEST(TableSettings, WarmThroughputNeverFalls) {
  TestDatabase database;
  auto table = TableRequest("Things");
  table.set_billing_mode(v1::BILLING_MODE_PROVISIONED);
  table.mutable_provisioned_throughput()->set_read_capacity_units(20);
  table.mutable_provisioned_throughput()->set_write_capacity_units(10);
  database.CreateTable(table);
  const auto warm = [&] {
    const v1::WarmThroughput shown = Describe(database, "Things").warm_throughput();
    return std::pair(shown.read_units_per_second(), shown.write_units_per_second());
  };
  EXPECT_EQ(warm(), std::pair(int64_t{20}, int64_t{10}));
  v1::UpdateTableRequest update;
  update.set_table_name("Things");
  update.mutable_provisioned_throughput()->set_read_capacity_units(5);
  update.mutable_provisioned_throughput()->set_write_capacity_units(30);
  ASSERT_TRUE(ChangeTable(database, update).ok());
  EXPECT_EQ(warm(), std::pair(int64_t{20}, int64_t{30}));
  update.clear_provisioned_throughput();
  update.mutable_warm_throughput()->set_read_units_per_second(19);
  EXPECT_THAT(ChangeTable(database, update).status(),
              IsInvalid("Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current "
                        "WarmThroughput, decreasing WarmThroughput is not supported"));
  update.mutable_warm_throughput()->set_read_units_per_second(21);
  update.mutable_warm_throughput()->set_write_units_per_second(29);
  EXPECT_THAT(ChangeTable(database, update).status(), IsInvalid("Requested WriteUnitsPerSecond"));
  update.mutable_warm_throughput()->set_write_units_per_second(30);
  ASSERT_TRUE(ChangeTable(database, update).ok());
  database.Reopen();
  EXPECT_EQ(warm(), std::pair(int64_t{21}, int64_t{30}));
}

TEST(TableSettings, AreCheckedByCreatingAndByUpdating) {
  struct Row {
    const char* name;
    std::function<void(v1::UpdateTableRequest*)> change;
    const char* message;
  };
  using Request = v1::UpdateTableRequest;
  const Row rows[] = {
      {"class", [](Request* t) { t->set_table_class(static_cast<v1::TableClass>(9)); },
       "TableClass must be STANDARD or STANDARD_INFREQUENT_ACCESS"},
      {"type",
       [](Request* t) {
         t->mutable_sse_specification()->set_enabled(true);
         t->mutable_sse_specification()->set_sse_type("DES");
       },
       "SSEType must be AES256 or KMS; it is 'DES'"},
      {"type without encryption", [](Request* t) { t->mutable_sse_specification()->set_sse_type("KMS"); },
       "is not enabled"},
      {"key without encryption",
       [](Request* t) { t->mutable_sse_specification()->set_kms_master_key_id("key"); }, "is not enabled"},
      {"key with AES256",
       [](Request* t) {
         t->mutable_sse_specification()->set_enabled(true);
         t->mutable_sse_specification()->set_sse_type("AES256");
         t->mutable_sse_specification()->set_kms_master_key_id("key");
       },
       "KMSMasterKeyId must not be given when SSEType is AES256"},
      {"long key",
       [](Request* t) {
         t->mutable_sse_specification()->set_enabled(true);
         t->mutable_sse_specification()->set_kms_master_key_id(std::string(2'049, 'k'));
       },
       "KMSMasterKeyId has 2049 bytes; at most 2048 are allowed"},
      {"zero reads", [](Request* t) { t->mutable_on_demand_throughput()->set_max_read_request_units(0); },
       "must be at least 1, or -1 for no bound"},
      {"minus two writes",
       [](Request* t) { t->mutable_on_demand_throughput()->set_max_write_request_units(-2); },
       "must be at least 1, or -1 for no bound"},
      {"nothing warm", [](Request* t) { t->mutable_warm_throughput(); },
       "WarmThroughput must give ReadUnitsPerSecond, WriteUnitsPerSecond or both"},
      {"zero warm", [](Request* t) { t->mutable_warm_throughput()->set_write_units_per_second(0); },
       "WarmThroughput must be at least 1"}};
  TestDatabase database;
  database.CreateTable(TableRequest("Things"));
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    v1::UpdateTableRequest update;
    update.set_table_name("Things");
    row.change(&update);
    EXPECT_THAT(ChangeTable(database, update).status(), IsInvalid(row.message));
    auto create = TableRequest("Other");
    create.set_table_class(update.table_class());
    if (update.has_sse_specification()) *create.mutable_sse_specification() = update.sse_specification();
    if (update.has_on_demand_throughput())
      *create.mutable_on_demand_throughput() = update.on_demand_throughput();
    if (update.has_warm_throughput()) *create.mutable_warm_throughput() = update.warm_throughput();
    EXPECT_THAT(CreateTable(database, create).status(), IsInvalid(row.message));
  }
  // Without a bound OnDemandThroughput changes nothing.
  v1::UpdateTableRequest update;
  update.set_table_name("Things");
  update.mutable_on_demand_throughput();
  EXPECT_THAT(ChangeTable(database, update).status(), IsInvalid("at least one of BillingMode"));
  auto create = TableRequest("Other");
  create.mutable_on_demand_throughput();
  EXPECT_THAT(CreateTable(database, create).status(),
              IsInvalid("OnDemandThroughput must give MaxReadRequestUnits, MaxWriteRequestUnits or both"));
}

}  // namespace
}  // namespace itemdb::testing
