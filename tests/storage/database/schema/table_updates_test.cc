// UpdateTable, deletion protection and tags (SEM-094, SEM-095, OP-05, OP-06, OP-08, OP-09).

#include <functional>
#include <thread>

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

class TableUpdates : public ::testing::Test {
 protected:
  TableUpdates() {
    auto things = TableRequest("Things");
    AddIndex(&things, "ByGroup", {"grp:S"}, 1, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(things);
    request_.set_table_name("Things");
    tags_.set_table_name("Things");
  }
  absl::StatusOr<v1::UpdateTableReply> Update(const v1::UpdateTableRequest& request) {
    return Await<v1::UpdateTableReply>([&](auto done) { database_->UpdateTable(request, std::move(done)); });
  }
  absl::Status Tag(const std::vector<std::pair<std::string, std::string>>& tags) {
    tags_.clear_tags();
    for (const auto& [key, value] : tags) {
      auto* tag = tags_.add_tags();
      tag->set_key(key);
      tag->set_value(value);
    }
    return Await<v1::TagTableReply>([&](auto done) { database_->TagTable(tags_, std::move(done)); }).status();
  }
  absl::Status Untag(const std::vector<std::string>& keys) {
    v1::UntagTableRequest request;
    request.set_table_name("Things");
    for (const std::string& key : keys) request.add_tag_keys(key);
    return Await<v1::UntagTableReply>([&](auto done) { database_->UntagTable(request, std::move(done)); })
        .status();
  }
  std::string Tags() {
    std::string shown;
    const v1::TableDescription table = Describe(database_, "Things");
    for (const auto& tag : table.tags()) shown += tag.key() + "=" + tag.value() + " ";
    return shown;
  }
  absl::StatusOr<wire::WriteItemReply> Put(const std::string& sk) {
    return PutItem(database_, WriteRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"grp", S("g")}}));
  }

  TestDatabase database_;
  v1::UpdateTableRequest request_;
  v1::TagTableRequest tags_;
};

TEST_F(TableUpdates, KeepItemsEntriesAndIds) {
  ASSERT_TRUE(Put("1").ok());
  v1::TableDescription before = Describe(database_, "Things");
  request_.set_billing_mode(v1::BILLING_MODE_PROVISIONED);
  request_.mutable_provisioned_throughput()->set_read_capacity_units(5);
  request_.mutable_provisioned_throughput()->set_write_capacity_units(6);
  auto* index = request_.add_global_secondary_index_throughputs();
  index->set_index_name("ByGroup");
  *index->mutable_provisioned_throughput() = request_.provisioned_throughput();
  auto updated = Update(request_);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->table().provisioned_throughput().write_capacity_units(), 6);
  EXPECT_EQ(updated->table().item_count(), 1);
  // A throughput that is set already is refused (SEM-095).
  const auto same = [](const std::string& of, const std::string& kind) {
    return "The provisioned throughput for " + of +
           " will not change. The requested value equals the current value. Current ReadCapacityUnits "
           "provisioned for the " +
           kind + ": 5. Requested ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the " +
           kind + ": 6. Requested WriteCapacityUnits: 6. Refer to";
  };
  EXPECT_THAT(Update(request_).status(), IsInvalid(same("the table", "table")));
  v1::UpdateTableRequest index_only = request_;
  index_only.clear_billing_mode();
  index_only.clear_provisioned_throughput();
  EXPECT_THAT(Update(index_only).status(), IsInvalid(same("the index ByGroup", "index")));
  ASSERT_TRUE(Put("2").ok());
  database_.Reopen();
  v1::TableDescription after = Describe(database_, "Things");
  EXPECT_EQ(after.billing_mode(), v1::BILLING_MODE_PROVISIONED);
  EXPECT_EQ(after.table_id(), before.table_id());
  EXPECT_EQ(after.storage_id(), before.storage_id());
  EXPECT_EQ(after.item_count(), 2);
  EXPECT_EQ(after.global_secondary_indexes(0).item_count(), 2);
  EXPECT_EQ(after.global_secondary_indexes(0).provisioned_throughput().read_capacity_units(), 5);
  auto changes = Changes(database_);
  EXPECT_EQ(changes[2].kind(), v1::CHANGE_KIND_UPDATE_TABLE);
  EXPECT_EQ(changes[2].table().provisioned_throughput().read_capacity_units(), 5);
  database_.CheckIsClean();

  // Warm throughput never falls (SEM-099), and a table shows when it became one on demand.
  EXPECT_EQ(after.warm_throughput().read_units_per_second(), 12'000);
  EXPECT_EQ(after.warm_throughput().write_units_per_second(), 4'000);
  EXPECT_EQ(after.global_secondary_indexes(0).warm_throughput().read_units_per_second(), 12'000);
  EXPECT_EQ(before.last_update_to_pay_per_request_time_ms(), before.creation_time_ms());
  EXPECT_EQ(after.last_update_to_pay_per_request_time_ms(), before.creation_time_ms());

  v1::UpdateTableRequest back;
  back.set_table_name("Things");
  back.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  ASSERT_TRUE(Update(back).ok());
  EXPECT_GE(Describe(database_, "Things").last_update_to_pay_per_request_time_ms(),
            before.creation_time_ms());
  EXPECT_FALSE(Describe(database_, "Things").has_provisioned_throughput());
  EXPECT_FALSE(Describe(database_, "Things").global_secondary_indexes(0).has_provisioned_throughput());
}

TEST_F(TableUpdates, AreChecked) {
  EXPECT_THAT(Update(request_).status(), IsInvalid("at least one of BillingMode"));
  request_.set_billing_mode(v1::BILLING_MODE_PROVISIONED);
  EXPECT_THAT(Update(request_).status(), IsInvalid("ProvisionedThroughput of table Things must be given"));
  request_.mutable_provisioned_throughput()->set_read_capacity_units(1);
  EXPECT_THAT(Update(request_).status(), IsInvalid("at least 1"));
  request_.mutable_provisioned_throughput()->set_write_capacity_units(1);
  EXPECT_THAT(Update(request_).status(), IsInvalid("ProvisionedThroughput of index ByGroup must be given"));
  request_.set_billing_mode(v1::BILLING_MODE_UNSPECIFIED);
  EXPECT_THAT(Update(request_).status(), IsInvalid("PAY_PER_REQUEST"));
  request_.clear_provisioned_throughput();
  request_.add_global_secondary_index_throughputs()->set_index_name("Missing");
  EXPECT_THAT(Update(request_).status(), IsTableNotFound());
  EXPECT_EQ(ServiceTextOf(Update(request_).status()),
            "Requested resource not found: Index Missing for table Things");
  request_.clear_global_secondary_index_throughputs();
  request_.set_billing_mode(static_cast<v1::BillingMode>(9));
  EXPECT_THAT(Update(request_).status(), IsInvalid("BillingMode must be"));
  request_.set_table_name("Missing");
  EXPECT_THAT(Update(request_).status(), IsTableNotFound());
  // That a request changes nothing is found before the table is looked up.
  request_.clear_billing_mode();
  EXPECT_THAT(Update(request_).status(), IsInvalid("at least one of BillingMode"));
}

// Most changes come alone, also in a request for a table that is missing (SEM-095).
TEST_F(TableUpdates, ChangeOneThingAtATime) {
  using Request = v1::UpdateTableRequest;
  using Change = std::function<void(Request*)>;
  const Change sse = [](Request* r) { r->mutable_sse_specification()->set_enabled(true); };
  const Change table_class = [](Request* r) { r->set_table_class(v1::TABLE_CLASS_STANDARD); };
  const Change protection = [](Request* r) { r->set_deletion_protection_enabled(false); };
  const Change warm = [](Request* r) { r->mutable_warm_throughput()->set_read_units_per_second(50'000); };
  const Change index = [](Request* r) {
    auto* created = r->add_global_secondary_index_creations();
    created->set_index_name("ByOther");
    created->add_key_schema()->set_attribute_name("other");
  };
  const Change deletion = [](Request* r) { r->add_global_secondary_index_deletions("ByGroup"); };
  const Change billing = [](Request* r) { r->set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST); };
  const Change on_demand = [](Request* r) {
    r->mutable_on_demand_throughput()->set_max_read_request_units(50);
  };
  const Change provisioned = [](Request* r) {
    r->mutable_provisioned_throughput()->set_read_capacity_units(5);
    r->mutable_provisioned_throughput()->set_write_capacity_units(5);
  };
  const Change stream = [](Request* r) {
    r->set_stream_enabled(true);
    r->set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_IMAGE);
  };
  const struct {
    std::vector<Change> changes;
    const char* named;
  } rows[] = {{{sse, table_class}, "SSESpecification"},
              {{stream, sse}, "SSESpecification"},
              {{protection, table_class, warm}, "TableClass"},
              {{warm, protection}, "DeletionProtectionEnabled"},
              {{protection, billing}, "DeletionProtectionEnabled"},
              {{index, warm}, "WarmThroughput"},
              {{index, billing}, "GlobalSecondaryIndexUpdates"},
              {{deletion, stream}, "GlobalSecondaryIndexUpdates"},
              {{deletion, provisioned}, "GlobalSecondaryIndexUpdates"},
              {{on_demand, stream}, "StreamSpecification"},
              {{provisioned, stream}, "StreamSpecification"}};
  for (const auto& row : rows) {
    for (const char* table : {"Things", "Missing"}) {
      Request request;
      request.set_table_name(table);
      for (const Change& change : row.changes) change(&request);
      SCOPED_TRACE(request.ShortDebugString());
      const absl::Status refused = Update(request).status();
      EXPECT_THAT(refused, IsInvalid("must be the only operation in the request"));
      EXPECT_EQ(ServiceTextOf(refused),
                std::string(row.named) + " must be the only operation in the request");
    }
  }
  for (const std::vector<Change>& together :
       {std::vector{billing, stream}, std::vector{billing, on_demand}}) {
    Request request;
    request.set_table_name("Things");
    for (const Change& change : together) change(&request);
    EXPECT_TRUE(Update(request).ok()) << request.ShortDebugString();
  }
  // A change to PROVISIONED drops what was set for the other mode.
  EXPECT_TRUE(Describe(database_, "Things").has_on_demand_throughput());
  Request request;
  request.set_table_name("Things");
  request.set_billing_mode(v1::BILLING_MODE_PROVISIONED);
  provisioned(&request);
  auto* of_index = request.add_global_secondary_index_throughputs();
  of_index->set_index_name("ByGroup");
  *of_index->mutable_provisioned_throughput() = request.provisioned_throughput();
  ASSERT_TRUE(Update(request).ok());
  EXPECT_FALSE(Describe(database_, "Things").has_on_demand_throughput());
}

TEST_F(TableUpdates, NameEachIndexOnce) {
  request_.add_global_secondary_index_deletions("Same");
  request_.add_global_secondary_index_deletions("Same");
  EXPECT_EQ(ServiceTextOf(Update(request_).status()),
            "One or more parameter values were invalid: Only one global secondary index update per index is "
            "allowed simultaneously. Index: Same");
}

TEST_F(TableUpdates, ChangeWhichImagesChangeRecordsCarryFromThenOn) {
  ASSERT_TRUE(Put("1").ok());
  request_.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_IMAGE);
  ASSERT_TRUE(Update(request_).ok());
  ASSERT_TRUE(Put("2").ok());
  auto changes = Changes(database_);
  EXPECT_FALSE(changes[1].has_new_image());
  EXPECT_TRUE(changes[3].has_new_image());
}

TEST_F(TableUpdates, ProtectATableFromDeletion) {
  request_.set_deletion_protection_enabled(true);
  ASSERT_TRUE(Update(request_).ok());
  EXPECT_THAT(DeleteTable(database_, "Things").status(), IsInvalid("protected against deletion"));
  database_.Reopen();
  EXPECT_THAT(DeleteTable(database_, "Things").status(), IsInvalid("protected against deletion"));
  EXPECT_TRUE(Put("1").ok());
  request_.set_deletion_protection_enabled(false);
  ASSERT_TRUE(Update(request_).ok());
  EXPECT_TRUE(DeleteTable(database_, "Things").ok());

  auto other = TableRequest("Other");
  other.set_deletion_protection_enabled(true);
  database_.CreateTable(other);
  EXPECT_THAT(DeleteTable(database_, "Other").status(), IsInvalid("protected against deletion"));
}

// A write that was prepared before the change and is applied after it uses the new definition.
TEST_F(TableUpdates, GoOnBesideWritesNoneOfWhichFails) {
  std::vector<std::thread> writers;
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; !stop; ++i) {
        auto put = Put(std::to_string(writer) + "-" + std::to_string(i));
        ASSERT_TRUE(put.ok()) << put.status();
        ++written;
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    request_.set_stream_view_type(i % 2 == 0 ? v1::STREAM_VIEW_TYPE_NEW_IMAGE
                                             : v1::STREAM_VIEW_TYPE_KEYS_ONLY);
    ASSERT_TRUE(Update(request_).ok());
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Describe(database_, "Things").item_count(), written);
  database_.CheckIsClean();
}

TEST_F(TableUpdates, TagsAreAddedReplacedRemovedAndKept) {
  ASSERT_TRUE(Tag({{"team", "orders"}, {"env", ""}}).ok());
  ASSERT_TRUE(Tag({{"team", "sales"}}).ok());
  EXPECT_EQ(Tags(), "env= team=sales ");
  ASSERT_TRUE(Untag({"env", "missing"}).ok());
  database_.Reopen();
  EXPECT_EQ(Tags(), "team=sales ");
}

// A table may be named by its ARN (SEM-008). Stored under the ARN, the definition would be that of a second
// table with the same storage id.
TEST_F(TableUpdates, OfATableNamedByItsArnChangeThatTable) {
  const std::string arn = "arn:aws:dynamodb:local:000000000000:table/Things";
  tags_.set_table_name(arn);
  ASSERT_TRUE(Tag({{"k", "v"}}).ok());
  request_.set_table_name(arn);
  request_.set_deletion_protection_enabled(true);
  ASSERT_TRUE(Update(request_).ok());
  database_.Reopen();
  auto listed = database_->ListTables({});
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->table_names_size(), 1);
  EXPECT_EQ(listed->table_names(0), "Things");
  EXPECT_EQ(Tags(), "k=v ");
  EXPECT_TRUE(Describe(database_, "Things").deletion_protection_enabled());
}

// Keys and values have letters and digits of any script, and some signs; a request with a bad tag changes
// nothing (OP-08).
TEST_F(TableUpdates, TagsHaveLettersDigitsAndSomeSigns) {
  for (const char* text : {"a", "Z9", "+-=._:/@ ", "\xC3\xA4", "\xD0\x96", "\xE6\x97\xA5", "a aws:"}) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(Tag({{text, text}}).ok());
    ASSERT_TRUE(Untag({text}).ok());
  }
  for (const char* text : {"a,b", "a\tb", "#", "a\n", "*", "\xF0\x9F\x98\x80", "\xE2\x82\xAC"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(Tag({{"fine", ""}, {text, "v"}}),
                IsInvalid(std::string("The Tag Key provided is invalid, Key: ") + text));
    EXPECT_THAT(Tag({{"fine", text}}),
                IsInvalid(std::string("The Tag Value provided is invalid, Value: ") + text));
  }
  for (const char* key : {"aws:", "AWS:x", "aWs:x"}) {
    EXPECT_THAT(Tag({{key, "v"}}), IsInvalid("Tag Key cannot be prefixed with aws:, Key: "));
    EXPECT_THAT(Untag({key}), IsInvalid("Tag Key cannot be prefixed with aws:, Key: "));
  }
  EXPECT_EQ(Tags(), "");
}

TEST_F(TableUpdates, TagsAreBoundedInNumberAndLength) {
  EXPECT_THAT(Tag({}), IsInvalid("Atleast one Tag needs"));
  EXPECT_THAT(Untag({}), IsInvalid("Atleast one Tag Key needs"));
  EXPECT_THAT(Tag({{"", "v"}}), IsInvalid("1 to 128 characters"));
  std::string umlauts;
  for (size_t i = 0; i < kMaxTagKeyCharacters; ++i) umlauts += "\xC3\xA4";
  EXPECT_TRUE(Tag({{umlauts, std::string(kMaxTagValueCharacters, 'v')}}).ok());
  EXPECT_THAT(Tag({{umlauts + "a", "v"}}), IsInvalid("one has 129"));
  EXPECT_THAT(Tag({{"k", std::string(257, 'v')}}), IsInvalid("257 characters"));
  EXPECT_THAT(Tag({{"k", "1"}, {"k", "2"}}), IsInvalid("Duplicate Tag Keys"));
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i < kMaxTags; ++i) many.emplace_back("k" + std::to_string(i), "v");
  EXPECT_THAT(Tag(many), IsInvalid("would have 51 tags"));
  many.pop_back();
  EXPECT_TRUE(Tag(many).ok());
}

TEST_F(TableUpdates, LimitsAreTheServicesDefaults) {
  EXPECT_EQ(database_->DescribeLimits().account_max_read_capacity_units(), 80'000);
  EXPECT_EQ(database_->DescribeLimits().table_max_write_capacity_units(), 40'000);
}

}  // namespace
}  // namespace itemdb::testing
