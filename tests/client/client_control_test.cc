// Tables, changes and administration through a client.
#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

class ClientControlTest : public testing::Test {
 protected:
  FakeDaemon daemon_;
  Client client_ = *Client::Open({.endpoint = daemon_.endpoint()});
};

TableDefinition Example() {
  return {.table_name = "Order",
          .attribute_definitions = {{"PK", ScalarAttributeType::kString},
                                    {"SK", ScalarAttributeType::kBinary},
                                    {"shard", ScalarAttributeType::kNumber}},
          .key_schema = {{"PK", KeyType::kHash}, {"SK", KeyType::kRange}},
          .global_secondary_indexes = {{.index_name = "ByShard",
                                        .key_schema = {{"shard", KeyType::kHash}, {"PK", KeyType::kRange}},
                                        .projection = {.projection_type = ProjectionType::kInclude,
                                                       .non_key_attributes = {"b", "a"}},
                                        .provisioned_throughput = ProvisionedThroughput{3, 4}}},
          .billing_mode = BillingMode::kProvisioned,
          .provisioned_throughput = ProvisionedThroughput{5, 6},
          .stream_view_type = StreamViewType::kNewAndOldImages,
          .local_secondary_indexes = {{.index_name = "Local",
                                       .key_schema = {{"PK", KeyType::kHash}, {"shard", KeyType::kRange}},
                                       .projection = {.projection_type = ProjectionType::kKeysOnly}}},
          .deletion_protection_enabled = true,
          .tags = {{"team", "blue"}, {"env", ""}}};
}

TEST_F(ClientControlTest, TableDefinitionComesBackAsItWasAsked) {
  daemon_.create_table = [](const v1::CreateTableRequest& request, v1::CreateTableReply* reply) {
    reply->set_change_sequence(2);
    *reply->mutable_table() = DescribedAs(request);
    return grpc::Status::OK;
  };
  const absl::StatusOr<TableResult> result = client_.CreateTable(Example());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->change_sequence, 2u);
  const TableDescription& table = result->table;
  EXPECT_EQ(DescribeDifference(table.definition, Example()), "");
  EXPECT_EQ(table.table_status, TableStatus::kActive);
  EXPECT_EQ(table.storage_id, 12u);
  EXPECT_EQ(table.creation_time, absl::FromUnixMillis(1'700'000'000'123));
  EXPECT_EQ(table.item_count, 9);
  ASSERT_EQ(table.indexes.size(), 1u);
  EXPECT_EQ(table.indexes[0].item_count, 8);
  EXPECT_EQ(table.indexes[0].index_status, TableStatus::kActive);
  ASSERT_EQ(table.local_indexes.size(), 1u);
  EXPECT_EQ(table.local_indexes[0].definition, Example().local_secondary_indexes[0]);
  EXPECT_EQ(table.local_indexes[0].item_count, 7);
  EXPECT_TRUE(table.definition.deletion_protection_enabled);
  EXPECT_EQ(table.definition.tags, Example().tags);
}

// Table class, encryption and throughput settings are stored and returned, without effect (SEM-099).
TEST_F(ClientControlTest, SettingsWithoutEffectAreSentAndShown) {
  const TableDefinition wanted = {
      .table_name = "t",
      .table_class = TableClass::kStandardInfrequentAccess,
      .sse_specification = SseSpecification{.enabled = true, .sse_type = "KMS", .kms_master_key_id = "key"},
      .on_demand_throughput = OnDemandThroughput{.max_write_request_units = -1},
      .warm_throughput = WarmThroughput{.read_units_per_second = 5, .write_units_per_second = 6}};
  v1::CreateTableRequest created;
  daemon_.create_table = [&](const v1::CreateTableRequest& request, v1::CreateTableReply* reply) {
    created = request;
    v1::TableDescription& table = *reply->mutable_table();
    table.set_table_class(request.table_class());
    *table.mutable_sse_specification() = request.sse_specification();
    *table.mutable_on_demand_throughput() = request.on_demand_throughput();
    *table.mutable_warm_throughput() = request.warm_throughput();
    return grpc::Status::OK;
  };
  const absl::StatusOr<TableResult> result = client_.CreateTable(wanted);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(created.on_demand_throughput().has_max_read_request_units());
  const TableDefinition& shown = result->table.definition;
  EXPECT_EQ(shown.table_class, wanted.table_class);
  EXPECT_EQ(shown.sse_specification, wanted.sse_specification);
  EXPECT_EQ(shown.on_demand_throughput, wanted.on_demand_throughput);
  EXPECT_EQ(shown.warm_throughput, wanted.warm_throughput);

  v1::UpdateTableRequest updated;
  daemon_.update_table = [&](const v1::UpdateTableRequest& request, v1::UpdateTableReply*) {
    updated = request;
    return grpc::Status::OK;
  };
  ASSERT_TRUE(client_
                  .UpdateTable({.table_name = "t",
                                .table_class = TableClass::kStandard,
                                .sse_specification = SseSpecification{},
                                .on_demand_throughput = wanted.on_demand_throughput,
                                .warm_throughput = wanted.warm_throughput})
                  .ok());
  EXPECT_EQ(updated.table_class(), v1::TABLE_CLASS_STANDARD);
  EXPECT_TRUE(updated.has_sse_specification());
  EXPECT_FALSE(updated.sse_specification().enabled());
  EXPECT_EQ(updated.on_demand_throughput().SerializeAsString(),
            created.on_demand_throughput().SerializeAsString());
  EXPECT_EQ(updated.warm_throughput().SerializeAsString(), created.warm_throughput().SerializeAsString());
}

TEST(TableDefinitionDifference, NamesWhatDiffersAndIgnoresOrder) {
  TableDefinition reordered = Example();
  std::swap(reordered.attribute_definitions[0], reordered.attribute_definitions[2]);
  reordered.global_secondary_indexes[0].projection.non_key_attributes = {"a", "b"};
  reordered.deletion_protection_enabled = false;
  reordered.tags.clear();
  EXPECT_EQ(DescribeDifference(Example(), reordered), "");

  struct Case {
    std::string expected;
    std::function<void(TableDefinition&)> change;
  };
  const std::vector<Case> cases = {
      {"named", [](TableDefinition& t) { t.table_name = "Other"; }},
      {"key schema differs", [](TableDefinition& t) { t.key_schema.pop_back(); }},
      {"attribute definitions",
       [](TableDefinition& t) { t.attribute_definitions[0].attribute_type = ScalarAttributeType::kNumber; }},
      {"index ByShard is only", [](TableDefinition& t) { t.global_secondary_indexes.clear(); }},
      {"index New is only",
       [](TableDefinition& t) {
         t.global_secondary_indexes.push_back({.index_name = "New", .key_schema = {}});
       }},
      {"key schema of the index ByShard",
       [](TableDefinition& t) { t.global_secondary_indexes[0].key_schema.pop_back(); }},
      {"projection of the index ByShard",
       [](TableDefinition& t) { t.global_secondary_indexes[0].projection.non_key_attributes.pop_back(); }},
      {"index Local is only", [](TableDefinition& t) { t.local_secondary_indexes.clear(); }},
      {"key schema of the index Local",
       [](TableDefinition& t) { t.local_secondary_indexes[0].key_schema.pop_back(); }},
      {"throughput of the index ByShard",
       [](TableDefinition& t) { t.global_secondary_indexes[0].provisioned_throughput.reset(); }},
      {"billing mode", [](TableDefinition& t) { t.billing_mode = BillingMode::kPayPerRequest; }},
      {"provisioned throughput differs",
       [](TableDefinition& t) { t.provisioned_throughput->read_capacity_units = 1; }},
      {"stream view type", [](TableDefinition& t) { t.stream_view_type = StreamViewType::kKeysOnly; }},
  };
  for (const Case& c : cases) {
    TableDefinition changed = Example();
    c.change(changed);
    const std::string difference = DescribeDifference(Example(), changed);
    EXPECT_NE(difference.find(c.expected), std::string::npos) << c.expected << ": " << difference;
  }
}

TEST_F(ClientControlTest, ListTablesPages) {
  daemon_.list_tables = [](const v1::ListTablesRequest& request, v1::ListTablesReply* reply) {
    if (request.exclusive_start_table_name().empty()) {
      reply->add_table_names("A");
      reply->set_last_evaluated_table_name("A");
    } else {
      reply->add_table_names(request.exclusive_start_table_name() + std::to_string(request.limit()));
    }
    return grpc::Status::OK;
  };
  const absl::StatusOr<ListTablesResult> first = client_.ListTables();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->last_evaluated_table_name, "A");
  const absl::StatusOr<ListTablesResult> second =
      client_.ListTables({.exclusive_start_table_name = "A", .limit = 5});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->table_names, std::vector<std::string>{"A5"});
  EXPECT_FALSE(second->last_evaluated_table_name.has_value());
}

TEST_F(ClientControlTest, DescribeAndDeleteNameTheTable) {
  daemon_.describe_table = [](const v1::DescribeTableRequest& request, v1::DescribeTableReply* reply) {
    reply->mutable_table()->set_table_name(request.table_name());
    return grpc::Status::OK;
  };
  daemon_.delete_table = [](const v1::DeleteTableRequest& request, v1::DeleteTableReply*) {
    return ErrorReply(grpc::StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND", "no table " + request.table_name());
  };
  EXPECT_EQ(client_.DescribeTable("x")->table.definition.table_name, "x");
  EXPECT_EQ(client_.DeleteTable("x").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ClientControlTest, UndoChangesSendsTheStretchAndReturnsTheOutcomes) {
  v1::UndoChangesRequest sent;
  daemon_.undo_changes = [&](const v1::UndoChangesRequest& request, v1::UndoChangesReply* reply) {
    sent = request;
    reply->set_change_sequence(9);
    for (const v1::UndoOutcome outcome : {v1::UNDO_OUTCOME_PUT, v1::UNDO_OUTCOME_DELETED,
                                          v1::UNDO_OUTCOME_UNCHANGED, v1::UNDO_OUTCOME_CHANGED_SINCE}) {
      v1::UndoneItem* item = reply->add_items();
      *item->mutable_key() = request.keys(0);
      item->set_outcome(outcome);
    }
    reply->mutable_items(3)->set_changed_sequence(8);
    *reply->mutable_last_evaluated_key() = request.keys(0);
    return grpc::Status::OK;
  };
  const Item key{{"id", "a"}};
  const absl::StatusOr<UndoChangesResult> result = client_.UndoChanges({.table_name = "Things",
                                                                        .from_sequence = 3,
                                                                        .to_sequence = 5,
                                                                        .keys = {key},
                                                                        .dry_run = true,
                                                                        .exclusive_start_key = key});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(sent.table_name(), "Things");
  EXPECT_EQ(sent.from_sequence(), 3u);
  EXPECT_EQ(sent.to_sequence(), 5u);
  EXPECT_TRUE(sent.dry_run());
  EXPECT_TRUE(sent.has_exclusive_start_key());
  ASSERT_EQ(result->items.size(), 4u);
  EXPECT_EQ(result->items[0].outcome, UndoOutcome::kPut);
  EXPECT_EQ(result->items[1].outcome, UndoOutcome::kDeleted);
  EXPECT_EQ(result->items[2].outcome, UndoOutcome::kUnchanged);
  EXPECT_EQ(result->items[3].outcome, UndoOutcome::kChangedSince);
  EXPECT_EQ(result->items[3].changed_sequence, 8u);
  EXPECT_EQ(result->items[0].key, key);
  EXPECT_EQ(result->last_evaluated_key, key);
}

TEST_F(ClientControlTest, HoldsOfTheChangeLogHaveAllFigures) {  // SEM-103
  v1::HoldChangesRequest sent;
  v1::ChangeHold hold;
  hold.set_name("mover");
  hold.set_after_sequence(1);
  hold.set_state(v1::CHANGE_HOLD_STATE_HELD);
  hold.set_lease_seconds(2);
  hold.set_creation_time_us(3);
  hold.set_renewed_time_us(4);
  daemon_.hold_changes = [&](const v1::HoldChangesRequest& request, v1::HoldChangesReply* reply) {
    sent = request;
    *reply->mutable_hold() = hold;
    return grpc::Status::OK;
  };
  daemon_.release_changes = [&](const v1::ReleaseChangesRequest& request, v1::ReleaseChangesReply* reply) {
    EXPECT_EQ(request.name(), "mover");
    *reply->mutable_hold() = hold;
    return grpc::Status::OK;
  };
  daemon_.get_status = [&](const v1::GetStatusRequest&, v1::GetStatusReply* reply) {
    *reply->add_change_holds() = hold;
    reply->mutable_change_holds(0)->set_held_bytes(5);
    for (const auto state : {v1::CHANGE_HOLD_STATE_EXPIRED, v1::CHANGE_HOLD_STATE_DISK_FULL,
                             static_cast<v1::ChangeHoldState>(99)}) {
      reply->add_change_holds()->set_state(state);
      reply->mutable_change_holds()->rbegin()->set_ended_time_us(6);
    }
    return grpc::Status::OK;
  };
  const absl::StatusOr<ChangeHold> held = client_.HoldChanges(
      {.name = "mover", .after_sequence = 7, .lease = absl::Milliseconds(8'001), .renews = true});
  ASSERT_TRUE(held.ok()) << held.status();
  EXPECT_EQ(sent.name(), "mover");
  EXPECT_EQ(sent.after_sequence(), 7u);
  EXPECT_EQ(sent.lease_seconds(), 9);
  EXPECT_TRUE(sent.renews());
  const absl::StatusOr<ChangeHold> released = client_.ReleaseChanges("mover");
  ASSERT_TRUE(released.ok()) << released.status();
  const absl::StatusOr<std::vector<ChangeHold>> listed = client_.ListChangeHolds();
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->size(), 4u);
  EXPECT_EQ((*listed)[3].state, ChangeHoldState::kExpired) << "of a later version: it has ended";
  for (const ChangeHold& one : {*held, *released, (*listed)[0]}) {
    EXPECT_EQ(one.name, "mover");
    EXPECT_EQ(one.after_sequence, 1u);
    EXPECT_EQ(one.state, ChangeHoldState::kHeld);
    EXPECT_EQ(one.lease, absl::Seconds(2));
    EXPECT_EQ(one.creation_time, absl::FromUnixMicros(3));
    EXPECT_EQ(one.renewed_time, absl::FromUnixMicros(4));
  }
  EXPECT_EQ((*listed)[0].held_bytes, 5);
  EXPECT_EQ((*listed)[1].state, ChangeHoldState::kExpired);
  EXPECT_EQ((*listed)[2].state, ChangeHoldState::kDiskFull);
  EXPECT_EQ((*listed)[2].ended_time, absl::FromUnixMicros(6));
  // A lease that is too long for the message is refused by the daemon, not cut to a valid one.
  ASSERT_TRUE(client_.HoldChanges({.name = "mover", .lease = absl::InfiniteDuration()}).ok());
  EXPECT_EQ(sent.lease_seconds(), INT32_MAX);
}

TEST_F(ClientControlTest, ReadChangesKeepsImagesAndTableChanges) {
  daemon_.read_changes = [](const v1::ReadChangesRequest& request, v1::ReadChangesReply* reply) {
    reply->set_change_sequence(100);
    v1::ChangeRecord* created = reply->add_records();
    created->set_change_sequence(request.after_sequence() + 1);
    created->set_kind(v1::CHANGE_KIND_CREATE_TABLE);
    created->mutable_table()->set_table_name("t");
    v1::ChangeRecord* modified = reply->add_records();
    modified->set_change_sequence(request.after_sequence() + 2);
    modified->set_commit_time_us(1'700'000'000'000'001);
    modified->set_kind(v1::CHANGE_KIND_MODIFY);
    modified->set_commit_first_sequence(2);
    modified->set_commit_last_sequence(3);
    modified->mutable_key();
    v1::Attribute* attribute = modified->mutable_new_image()->add_attributes();
    attribute->set_name("a");
    attribute->mutable_value()->set_n(std::to_string(request.limit()));
    return grpc::Status::OK;
  };
  const absl::StatusOr<ReadChangesResult> result = client_.ReadChanges({.after_sequence = 6, .limit = 50});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->change_sequence, 100u);
  ASSERT_EQ(result->records.size(), 2u);
  EXPECT_EQ(result->records[0].kind, ChangeKind::kCreateTable);
  EXPECT_EQ(result->records[0].table->definition.table_name, "t");
  EXPECT_FALSE(result->records[0].key.has_value());
  const ChangeRecord& modified = result->records[1];
  EXPECT_EQ(modified.change_sequence, 8u);
  EXPECT_EQ(modified.commit_time, absl::FromUnixMicros(1'700'000'000'000'001));
  EXPECT_EQ(modified.kind, ChangeKind::kModify);
  EXPECT_EQ(modified.commit_first_sequence, 2u);
  EXPECT_EQ(modified.commit_last_sequence, 3u);
  EXPECT_TRUE(modified.key.has_value());
  EXPECT_FALSE(modified.old_image.has_value());
  EXPECT_EQ(*modified.new_image, (Item{{"a", 50}}));
}

// The status has one error of the schedule.
TEST_F(ClientControlTest, WhyABackupWasNotProvenIsTheErrorOfTheScheduleIfThereIsNoOther) {
  for (const std::string error : {"", "full"}) {
    daemon_.get_status = [&](const v1::GetStatusRequest&, v1::GetStatusReply* reply) {
      reply->mutable_scheduled_backups()->set_last_error(error);
      reply->mutable_scheduled_backups()->set_last_proof_error("no room");
      return grpc::Status::OK;
    };
    const absl::StatusOr<DaemonStatus> status = client_.GetStatus();
    ASSERT_TRUE(status.ok() && status->scheduled_backups.has_value()) << status.status();
    EXPECT_EQ(status->scheduled_backups->last_error, error.empty() ? "no room" : error);
  }
}

TEST_F(ClientControlTest, StatusAndCheckReturnAllFigures) {
  daemon_.get_status = [](const v1::GetStatusRequest& request, v1::GetStatusReply* reply) {
    EXPECT_TRUE(request.with_tables());
    reply->set_change_sequence(1);
    reply->set_version("2");
    reply->set_database_id("3");
    reply->set_durable(true);
    reply->set_table_count(4);
    v1::TableStatistics* table = reply->add_tables();
    table->set_table_name("Product");
    table->set_item_count(5);
    table->set_item_bytes(6);
    table->set_index_count(7);
    reply->mutable_disk()->set_table_files(8);
    reply->mutable_disk()->set_write_ahead_log(9);
    reply->mutable_disk()->set_free(10);
    reply->mutable_disk()->set_free_floor(11);
    reply->mutable_disk()->set_dropped_count(30);
    reply->mutable_disk()->set_dropped_bytes(31);
    reply->mutable_disk()->set_dropped_since_us(32);
    v1::MemoryUsage* memory = reply->mutable_memory();
    memory->set_limit(12);
    memory->set_resident(13);
    memory->set_block_cache(14);
    memory->set_block_cache_capacity(15);
    memory->set_memtables(16);
    memory->set_memtable_budget(17);
    memory->set_table_readers(18);
    memory->set_write_queue(19);
    memory->set_write_queue_limit(20);
    memory->set_calls(21);
    memory->set_call_limit(22);
    reply->set_start_time_us(23);
    reply->set_durable_sequence(24);
    reply->mutable_writes()->set_committed(25);
    reply->mutable_writes()->set_commit_groups(26);
    reply->mutable_writes()->set_refused(27);
    reply->mutable_writes()->set_mean_commit_us(28);
    reply->mutable_check()->set_done(29);
    reply->mutable_check()->set_total(30);
    v1::ScheduledBackups* backups = reply->mutable_scheduled_backups();
    backups->set_schedule("@daily");
    backups->set_next_time_us(51);
    backups->mutable_last()->set_backup_id(52);
    backups->set_last_verified_time_us(53);
    backups->set_last_error("full");
    v1::FileCheck* files = reply->mutable_file_check();
    files->set_bytes_per_second(41);
    files->set_rounds(42);
    files->set_last_end_time_us(43);
    files->add_findings("a file");
    files->set_finding_count(44);
    v1::BackgroundCheck* background = reply->mutable_background_check();
    background->set_rate(31);
    background->set_rounds(32);
    background->set_last_end_time_us(33);
    background->add_findings("one of");
    background->set_finding_count(34);
    background->set_last_error("why");
    return grpc::Status::OK;
  };
  daemon_.check_database = [](const v1::CheckDatabaseRequest& request, v1::CheckDatabaseReply* reply) {
    reply->set_change_sequence(1);
    reply->set_items_checked(2);
    reply->set_index_entries_checked(3);
    reply->set_change_records_checked(4);
    reply->add_findings("in " + request.table_name());
    reply->set_finding_count(500);
    return grpc::Status::OK;
  };
  const absl::StatusOr<DaemonStatus> status = client_.GetStatus({.with_tables = true});
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->version, "2");
  EXPECT_EQ(status->database_id, "3");
  EXPECT_TRUE(status->durable);
  EXPECT_EQ(status->table_count, 4);
  ASSERT_EQ(status->tables.size(), 1u);
  EXPECT_EQ(status->tables[0].table_name, "Product");
  EXPECT_EQ(status->tables[0].item_count, 5);
  EXPECT_EQ(status->tables[0].item_bytes, 6);
  EXPECT_EQ(status->tables[0].index_count, 7);
  EXPECT_EQ(status->disk.table_files, 8);
  EXPECT_EQ(status->disk.write_ahead_log, 9);
  EXPECT_EQ(status->disk.free, 10);
  EXPECT_EQ(status->disk.free_floor, 11);
  EXPECT_EQ(status->disk.dropped_count, 30);
  EXPECT_EQ(status->disk.dropped_bytes, 31);
  EXPECT_EQ(status->disk.dropped_since, absl::FromUnixMicros(32));
  EXPECT_EQ(status->memory.limit, 12);
  EXPECT_EQ(status->memory.resident, 13);
  EXPECT_EQ(status->memory.block_cache, 14);
  EXPECT_EQ(status->memory.block_cache_capacity, 15);
  EXPECT_EQ(status->memory.memtables, 16);
  EXPECT_EQ(status->memory.memtable_budget, 17);
  EXPECT_EQ(status->memory.table_readers, 18);
  EXPECT_EQ(status->memory.write_queue, 19);
  EXPECT_EQ(status->memory.write_queue_limit, 20);
  EXPECT_EQ(status->memory.calls, 21);
  EXPECT_EQ(status->memory.call_limit, 22);
  EXPECT_EQ(status->start_time, absl::FromUnixMicros(23));
  EXPECT_EQ(status->durable_sequence, 24u);
  EXPECT_EQ(status->writes.committed, 25);
  EXPECT_EQ(status->writes.commit_groups, 26);
  EXPECT_EQ(status->writes.refused, 27);
  EXPECT_EQ(status->writes.mean_commit_time, absl::Microseconds(28));
  ASSERT_TRUE(status->scheduled_backups.has_value());
  EXPECT_EQ(status->scheduled_backups->schedule, "@daily");
  EXPECT_EQ(status->scheduled_backups->next_time, absl::FromUnixMicros(51));
  ASSERT_TRUE(status->scheduled_backups->last.has_value());
  EXPECT_EQ(status->scheduled_backups->last->backup_id, 52u);
  EXPECT_EQ(status->scheduled_backups->last_verified_time, absl::FromUnixMicros(53));
  EXPECT_EQ(status->scheduled_backups->last_error, "full");
  ASSERT_TRUE(status->file_check.has_value());
  EXPECT_EQ(status->file_check->bytes_per_second, 41);
  EXPECT_EQ(status->file_check->rounds, 42);
  EXPECT_EQ(status->file_check->last_end_time, absl::FromUnixMicros(43));
  EXPECT_EQ(status->file_check->findings, std::vector<std::string>{"a file"});
  EXPECT_EQ(status->file_check->finding_count, 44);
  ASSERT_TRUE(status->background_check.has_value());
  EXPECT_EQ(status->background_check->rate, 31);
  EXPECT_EQ(status->background_check->rounds, 32);
  EXPECT_EQ(status->background_check->last_end_time, absl::FromUnixMicros(33));
  EXPECT_EQ(status->background_check->findings, std::vector<std::string>{"one of"});
  EXPECT_EQ(status->background_check->finding_count, 34);
  EXPECT_EQ(status->background_check->last_error, "why");
  ASSERT_TRUE(status->check.has_value());
  EXPECT_EQ(status->check->done, 29);
  EXPECT_EQ(status->check->total, 30);
  const absl::StatusOr<CheckDatabaseResult> check = client_.CheckDatabase("t");
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->items_checked, 2);
  EXPECT_EQ(check->index_entries_checked, 3);
  EXPECT_EQ(check->change_records_checked, 4);
  EXPECT_EQ(check->findings, std::vector<std::string>{"in t"});
  EXPECT_EQ(check->finding_count, 500);
}

// Settings that are not given are not in the message and stay unchanged (SEM-095).
TEST_F(ClientControlTest, UpdateTableSendsWhatWasGivenAndNothingElse) {
  v1::UpdateTableRequest seen;
  daemon_.update_table = [&](const v1::UpdateTableRequest& request, v1::UpdateTableReply* reply) {
    seen = request;
    reply->set_change_sequence(4);
    reply->mutable_table()->set_table_name(request.table_name());
    return grpc::Status::OK;
  };
  absl::StatusOr<TableResult> result = client_.UpdateTable({.table_name = "t"});
  ASSERT_TRUE(result.ok()) << result.status();
  v1::UpdateTableRequest expected;
  expected.set_table_name("t");
  EXPECT_EQ(seen.SerializeAsString(), expected.SerializeAsString());

  result = client_.UpdateTable({.table_name = "t",
                                .billing_mode = BillingMode::kProvisioned,
                                .provisioned_throughput = ProvisionedThroughput{1, 2},
                                .global_secondary_index_throughputs = {{"i", {3, 4}}},
                                .deletion_protection_enabled = false,
                                .stream_view_type = StreamViewType::kNewImage});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->change_sequence, 4u);
  EXPECT_EQ(result->table.definition.table_name, "t");
  EXPECT_EQ(seen.billing_mode(), v1::BILLING_MODE_PROVISIONED);
  EXPECT_EQ(seen.provisioned_throughput().write_capacity_units(), 2);
  ASSERT_EQ(seen.global_secondary_index_throughputs_size(), 1);
  EXPECT_EQ(seen.global_secondary_index_throughputs(0).index_name(), "i");
  EXPECT_EQ(seen.global_secondary_index_throughputs(0).provisioned_throughput().read_capacity_units(), 3);
  EXPECT_TRUE(seen.has_deletion_protection_enabled());
  EXPECT_EQ(seen.stream_view_type(), v1::STREAM_VIEW_TYPE_NEW_IMAGE);
}

// UpdateTable creates or deletes one index (SEM-095), defines its attributes (SEM-096) and its throughput
// (SEM-099).
TEST_F(ClientControlTest, UpdateTableSendsAnIndexToCreateOrToDelete) {
  v1::UpdateTableRequest seen;
  daemon_.update_table = [&](const v1::UpdateTableRequest& request, v1::UpdateTableReply*) {
    seen = request;
    return grpc::Status::OK;
  };
  const GlobalSecondaryIndex index = {
      .index_name = "i",
      .key_schema = {{.attribute_name = "a", .key_type = KeyType::kHash},
                     {.attribute_name = "b", .key_type = KeyType::kRange}},
      .projection = {.projection_type = ProjectionType::kInclude, .non_key_attributes = {"c"}},
      .provisioned_throughput = ProvisionedThroughput{1, 2},
      .on_demand_throughput = OnDemandThroughput{.max_write_request_units = 3},
      .warm_throughput = WarmThroughput{.read_units_per_second = 4}};
  ASSERT_TRUE(client_
                  .UpdateTable({.table_name = "t",
                                .create_global_secondary_index = index,
                                .attribute_definitions = {{"a", ScalarAttributeType::kString},
                                                          {"b", ScalarAttributeType::kNumber}}})
                  .ok());
  ASSERT_EQ(seen.attribute_definitions_size(), 2);
  EXPECT_EQ(seen.attribute_definitions(1).attribute_name(), "b");
  EXPECT_EQ(seen.attribute_definitions(1).attribute_type(), v1::SCALAR_ATTRIBUTE_TYPE_N);
  EXPECT_EQ(seen.global_secondary_index_deletions_size(), 0);
  ASSERT_EQ(seen.global_secondary_index_creations_size(), 1);
  const v1::GlobalSecondaryIndex& sent = seen.global_secondary_index_creations(0);
  EXPECT_EQ(sent.index_name(), "i");
  ASSERT_EQ(sent.key_schema_size(), 2);
  EXPECT_EQ(sent.key_schema(1).key_type(), v1::KEY_TYPE_RANGE);
  EXPECT_EQ(sent.projection().non_key_attributes_size(), 1);
  EXPECT_EQ(sent.provisioned_throughput().write_capacity_units(), 2);
  EXPECT_FALSE(sent.on_demand_throughput().has_max_read_request_units());
  EXPECT_EQ(sent.on_demand_throughput().max_write_request_units(), 3);
  EXPECT_EQ(sent.warm_throughput().read_units_per_second(), 4);

  ASSERT_TRUE(client_.UpdateTable({.table_name = "t", .delete_global_secondary_index = "i"}).ok());
  v1::UpdateTableRequest expected;
  expected.set_table_name("t");
  expected.add_global_secondary_index_deletions("i");
  EXPECT_EQ(seen.SerializeAsString(), expected.SerializeAsString());
}

// DescribeTable (OP-03) shows the backfill of an index (SEM-097).
TEST_F(ClientControlTest, DescribeTableTellsHowFarAnIndexIs) {
  daemon_.describe_table = [](const v1::DescribeTableRequest&, v1::DescribeTableReply* reply) {
    reply->mutable_table()->set_table_status(v1::TABLE_STATUS_UPDATING);
    v1::GlobalSecondaryIndexDescription* building = reply->mutable_table()->add_global_secondary_indexes();
    building->set_index_status(v1::TABLE_STATUS_CREATING);
    building->mutable_warm_throughput()->set_write_units_per_second(1);
    v1::IndexBuild* build = building->mutable_build();
    build->set_phase(v1::IndexBuild::PHASE_CATCHING_UP);
    build->set_done(2);
    build->set_total(3);
    build->set_per_second(4);
    build->set_seconds_left(5);
    build->set_skipped_items(6);
    build->set_last_error("why");
    v1::GlobalSecondaryIndexDescription* built = reply->mutable_table()->add_global_secondary_indexes();
    built->set_index_status(v1::TABLE_STATUS_ACTIVE);
    built->set_skipped_items(7);
    return grpc::Status::OK;
  };
  const absl::StatusOr<TableResult> result = client_.DescribeTable("t");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->table.table_status, TableStatus::kUpdating);
  ASSERT_EQ(result->table.indexes.size(), 2u);
  const IndexDescription& building = result->table.indexes[0];
  EXPECT_EQ(building.index_status, TableStatus::kCreating);
  ASSERT_TRUE(building.definition.warm_throughput.has_value());
  EXPECT_EQ(building.definition.warm_throughput->write_units_per_second, 1);
  ASSERT_TRUE(building.build.has_value());
  EXPECT_EQ(building.build->phase, IndexBuild::Phase::kCatchingUp);
  EXPECT_EQ(building.build->done, 2);
  EXPECT_EQ(building.build->total, 3);
  EXPECT_EQ(building.build->per_second, 4);
  EXPECT_EQ(building.build->time_left, absl::Seconds(5));
  EXPECT_EQ(building.build->skipped_items, 6);
  EXPECT_EQ(building.build->last_error, "why");
  EXPECT_EQ(result->table.indexes[1].index_status, TableStatus::kActive);
  EXPECT_FALSE(result->table.indexes[1].build.has_value());
  EXPECT_EQ(result->table.indexes[1].skipped_items, 7);
}

TEST_F(ClientControlTest, CheckAndRepairSendsWhatWasAskedAndCountsWhatWasDone) {
  daemon_.check_database = [](const v1::CheckDatabaseRequest& request, v1::CheckDatabaseReply* reply) {
    EXPECT_EQ(request.table_name() + request.index_name(), "ti");
    EXPECT_TRUE(request.repair());
    reply->set_finding_count(3);
    reply->set_repaired_count(2);
    reply->set_skipped_items(4);
    return grpc::Status::OK;
  };
  const absl::StatusOr<CheckDatabaseResult> result =
      client_.CheckAndRepair({.table_name = "t", .index_name = "i", .repair = true});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->finding_count, 3);
  EXPECT_EQ(result->repaired_count, 2);
  EXPECT_EQ(result->skipped_items, 4);
}

// UpdateTimeToLive (OP-11) and DescribeTimeToLive (OP-12).
TEST_F(ClientControlTest, TimeToLiveGoesThrough) {
  daemon_.update_time_to_live = [](const v1::UpdateTimeToLiveRequest& request,
                                   v1::UpdateTimeToLiveReply* reply) {
    EXPECT_EQ(request.table_name(), "t");
    EXPECT_TRUE(request.time_to_live_specification().enabled());
    EXPECT_EQ(request.time_to_live_specification().attribute_name(), "expires");
    reply->set_change_sequence(9);
    return grpc::Status::OK;
  };
  daemon_.describe_time_to_live = [](const v1::DescribeTimeToLiveRequest& request,
                                     v1::DescribeTimeToLiveReply* reply) {
    EXPECT_EQ(request.table_name(), "t");
    reply->set_change_sequence(10);
    reply->set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_ENABLING);
    reply->set_attribute_name("expires");
    reply->mutable_build()->set_phase(v1::IndexBuild::PHASE_SCANNING);
    reply->mutable_build()->set_done(5);
    reply->set_items_with_time(6);
    reply->set_items_expired(7);
    return grpc::Status::OK;
  };
  const absl::StatusOr<UpdateTimeToLiveResult> updated =
      client_.UpdateTimeToLive({.table_name = "t", .enabled = true, .attribute_name = "expires"});
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->change_sequence, 9u);
  const absl::StatusOr<TimeToLiveResult> described = client_.DescribeTimeToLive("t");
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_EQ(described->change_sequence, 10u);
  EXPECT_EQ(described->status, TimeToLiveStatus::kEnabling);
  EXPECT_EQ(described->attribute_name, "expires");
  ASSERT_TRUE(described->build.has_value());
  EXPECT_EQ(described->build->phase, IndexBuild::Phase::kScanning);
  EXPECT_EQ(described->build->done, 5);
  EXPECT_EQ(described->items_with_time, 6);
  EXPECT_EQ(described->items_expired, 7);
}

TEST_F(ClientControlTest, ActivityHasAllFigures) {
  daemon_.get_status = [](const v1::GetStatusRequest& request, v1::GetStatusReply* reply) {
    EXPECT_TRUE(request.with_activity());
    v1::OperationActivity* operation = reply->mutable_activity()->add_operations();
    operation->set_table_name("1");
    operation->set_operation("2");
    operation->set_errors(3);
    operation->set_items_scanned(4);
    operation->set_items_returned(5);
    operation->add_latencies()->set_latency_us(6);
    operation->mutable_latencies(0)->set_calls(7);
    v1::WatchActivity* watch = reply->mutable_activity()->add_watches();
    watch->set_watch_id(8);
    watch->set_table_name("9");
    watch->set_key_id("10");
    watch->set_peer("11");
    watch->set_lag_changes(12);
    watch->set_lag_us(13);
    reply->mutable_activity()->set_open_watches(14);
    reply->mutable_activity()->set_start_time_us(15);
    return grpc::Status::OK;
  };
  const absl::StatusOr<DaemonActivity> activity = client_.GetActivity();
  ASSERT_TRUE(activity.ok()) << activity.status();
  ASSERT_EQ(activity->operations.size(), 1u);
  const OperationActivity& operation = activity->operations[0];
  EXPECT_EQ(operation.table_name, "1");
  EXPECT_EQ(operation.operation, "2");
  EXPECT_EQ(operation.errors, 3);
  EXPECT_EQ(operation.items_scanned, 4);
  EXPECT_EQ(operation.items_returned, 5);
  ASSERT_EQ(operation.latencies.size(), 1u);
  EXPECT_EQ(operation.latencies[0].latency, absl::Microseconds(6));
  EXPECT_EQ(operation.latencies[0].calls, 7);
  ASSERT_EQ(activity->watches.size(), 1u);
  const WatchActivity& watch = activity->watches[0];
  EXPECT_EQ(watch.watch_id, 8);
  EXPECT_EQ(watch.table_name, "9");
  EXPECT_EQ(watch.key_id, "10");
  EXPECT_EQ(watch.peer, "11");
  EXPECT_EQ(watch.lag_changes, 12);
  EXPECT_EQ(watch.lag, absl::Microseconds(13));
  EXPECT_EQ(activity->open_watches, 14);
  EXPECT_EQ(activity->start_time, absl::FromUnixMicros(15));
}

TEST_F(ClientControlTest, AnOldDaemonHasNoActivity) {
  daemon_.get_status = [](const v1::GetStatusRequest&, v1::GetStatusReply* reply) {
    reply->set_version("0.2.0");
    return grpc::Status::OK;
  };
  const absl::Status status = client_.GetActivity().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("itemd 0.2.0"), std::string::npos) << status;
}

TEST_F(ClientControlTest, AccessPatternsHaveAllFigures) {  // GetAccessPatterns (SEED-049).
  daemon_.get_access_patterns = [](const v1::GetAccessPatternsRequest& request,
                                   v1::GetAccessPatternsReply* reply) {
    EXPECT_EQ(request.table_name(), "t");
    v1::AccessPattern* pattern = reply->add_patterns();
    pattern->set_table_name("1");
    pattern->set_index_name("2");
    pattern->set_operation("3");
    pattern->set_key_condition("4");
    pattern->set_filter("5");
    pattern->set_descending(true);
    pattern->set_calls(6);
    pattern->set_errors(7);
    pattern->set_items_scanned(8);
    pattern->set_items_returned(9);
    pattern->set_p50_us(10);
    pattern->set_p99_us(11);
    reply->set_other_calls(12);
    reply->set_start_time_us(13);
    return grpc::Status::OK;
  };
  const absl::StatusOr<AccessPatternsResult> result = client_.GetAccessPatterns("t");
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->patterns.size(), 1u);
  const AccessPattern& pattern = result->patterns[0];
  EXPECT_EQ(pattern.table_name, "1");
  EXPECT_EQ(pattern.index_name, "2");
  EXPECT_EQ(pattern.operation, "3");
  EXPECT_EQ(pattern.key_condition, "4");
  EXPECT_EQ(pattern.filter, "5");
  EXPECT_TRUE(pattern.descending);
  EXPECT_EQ(pattern.calls, 6);
  EXPECT_EQ(pattern.errors, 7);
  EXPECT_EQ(pattern.items_scanned, 8);
  EXPECT_EQ(pattern.items_returned, 9);
  EXPECT_EQ(pattern.p50, absl::Microseconds(10));
  EXPECT_EQ(pattern.p99, absl::Microseconds(11));
  EXPECT_EQ(result->other_calls, 12);
  EXPECT_EQ(result->start_time, absl::FromUnixMicros(13));
}

TEST_F(ClientControlTest, TopKeysHaveAllLists) {  // GetTopKeys (OP-56).
  daemon_.get_top_keys = [](const v1::GetTopKeysRequest& request, v1::GetTopKeysReply* reply) {
    EXPECT_EQ(request.table_name(), "t");
    EXPECT_EQ(request.index_name(), "i");
    EXPECT_EQ(request.limit(), 7);
    const auto add = [](const char* value, auto* keys) {
      v1::TopKey* key = keys->Add();
      v1::Attribute* attribute = key->mutable_key()->add_attributes();
      attribute->set_name("pk");
      attribute->mutable_value()->set_s(value);
      key->set_count(5);
      key->set_error(2);
    };
    add("1", reply->mutable_partition_keys());
    add("2", reply->mutable_keys());
    add("3", reply->mutable_throttled_partition_keys());
    add("4", reply->mutable_throttled_keys());
    reply->set_throttled_keys_only(true);
    reply->set_start_time_us(13);
    return grpc::Status::OK;
  };
  const absl::StatusOr<TopKeysResult> result =
      client_.GetTopKeys({.table_name = "t", .index_name = "i", .limit = 7});
  ASSERT_TRUE(result.ok()) << result.status();
  const std::vector<TopKey>* lists[] = {&result->partition_keys, &result->keys,
                                        &result->throttled_partition_keys, &result->throttled_keys};
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(lists[i]->size(), 1u);
    EXPECT_EQ((*lists[i])[0].key, (Item{{"pk", std::to_string(i + 1)}}));
    EXPECT_EQ((*lists[i])[0].count, 5);
    EXPECT_EQ((*lists[i])[0].error, 2);
  }
  EXPECT_TRUE(result->throttled_keys_only);
  EXPECT_EQ(result->start_time, absl::FromUnixMicros(13));
}

TEST_F(ClientControlTest, ContributorInsightsGoThrough) {  // OP-56 to OP-58.
  const auto set = [](v1::ContributorInsightsSummary* summary) {
    summary->set_table_name("t");
    summary->set_index_name("i");
    summary->set_contributor_insights_status(v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLED);
    summary->set_contributor_insights_mode(v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS);
    summary->set_last_update_time_ms(14);
    return grpc::Status::OK;
  };
  std::vector<v1::UpdateContributorInsightsRequest> updates;
  daemon_.update_contributor_insights = [&](const v1::UpdateContributorInsightsRequest& request,
                                            v1::UpdateContributorInsightsReply* reply) {
    updates.push_back(request);
    return set(reply->mutable_contributor_insights());
  };
  daemon_.describe_contributor_insights = [&](const v1::DescribeContributorInsightsRequest& request,
                                              v1::DescribeContributorInsightsReply* reply) {
    EXPECT_EQ(request.table_name() + request.index_name(), "ti");
    return set(reply->mutable_contributor_insights());
  };
  daemon_.list_contributor_insights = [&](const v1::ListContributorInsightsRequest& request,
                                          v1::ListContributorInsightsReply* reply) {
    EXPECT_EQ(request.table_name(), "t");
    // Two pages.
    if (request.next_token().empty()) reply->set_next_token("second");
    return set(reply->add_contributor_insights_summaries());
  };
  const auto check = [](const ContributorInsights& insights) {
    EXPECT_EQ(insights.table_name + insights.index_name, "ti");
    EXPECT_EQ(insights.status, ContributorInsightsStatus::kEnabled);
    EXPECT_EQ(insights.mode, ContributorInsightsMode::kThrottledKeys);
    EXPECT_EQ(insights.last_update_time, absl::FromUnixMillis(14));
  };
  const absl::StatusOr<ContributorInsights> updated =
      client_.UpdateContributorInsights({.table_name = "t",
                                         .index_name = "i",
                                         .enabled = true,
                                         .mode = ContributorInsightsMode::kThrottledKeys});
  ASSERT_TRUE(updated.ok()) << updated.status();
  check(*updated);
  ASSERT_TRUE(client_.UpdateContributorInsights({.table_name = "t"}).ok());
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].table_name() + updates[0].index_name(), "ti");
  EXPECT_EQ(updates[0].contributor_insights_action(), v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE);
  EXPECT_EQ(updates[0].contributor_insights_mode(), v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS);
  EXPECT_EQ(updates[1].contributor_insights_action(), v1::CONTRIBUTOR_INSIGHTS_ACTION_DISABLE);
  const absl::StatusOr<ContributorInsights> described = client_.DescribeContributorInsights("t", "i");
  ASSERT_TRUE(described.ok()) << described.status();
  check(*described);
  const absl::StatusOr<std::vector<ContributorInsights>> listed = client_.ListContributorInsights("t");
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->size(), 2u);
  for (const ContributorInsights& insights : *listed) check(insights);
}

// DescribeLimits (OP-06), TagResource (OP-08), UntagResource (OP-09).
TEST_F(ClientControlTest, TagsAndLimitsGoThrough) {
  daemon_.tag_table = [](const v1::TagTableRequest& request, v1::TagTableReply* reply) {
    EXPECT_EQ(request.tags_size(), 2);
    EXPECT_EQ(request.tags(0).key() + "=" + request.tags(0).value(), "a=b");
    reply->set_change_sequence(7);
    return grpc::Status::OK;
  };
  daemon_.untag_table = [](const v1::UntagTableRequest& request, v1::UntagTableReply* reply) {
    EXPECT_EQ(request.tag_keys_size(), 1);
    EXPECT_EQ(request.table_name() + request.tag_keys(0), "ta");
    reply->set_change_sequence(8);
    return grpc::Status::OK;
  };
  daemon_.describe_limits = [](const v1::DescribeLimitsRequest&, v1::DescribeLimitsReply* reply) {
    reply->set_account_max_read_capacity_units(1);
    reply->set_account_max_write_capacity_units(2);
    reply->set_table_max_read_capacity_units(3);
    reply->set_table_max_write_capacity_units(4);
    return grpc::Status::OK;
  };
  EXPECT_EQ(client_.TagTable({.table_name = "t", .tags = {{"a", "b"}, {"c", ""}}})->change_sequence, 7u);
  EXPECT_EQ(client_.UntagTable({.table_name = "t", .tag_keys = {"a"}})->change_sequence, 8u);
  const absl::StatusOr<TableLimits> limits = client_.DescribeLimits();
  ASSERT_TRUE(limits.ok()) << limits.status();
  EXPECT_EQ(limits->account_max_read_capacity_units, 1);
  EXPECT_EQ(limits->account_max_write_capacity_units, 2);
  EXPECT_EQ(limits->table_max_read_capacity_units, 3);
  EXPECT_EQ(limits->table_max_write_capacity_units, 4);
}

}  // namespace
}  // namespace itemdb
