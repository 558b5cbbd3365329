// Rows of the error table (error_table.h): tables, their indexes, settings and tags; the limits of lists.

#include "storage/base/limits.h"
#include "tests/storage/database/errors/error_table.h"

namespace itemdb::testing::errors {
namespace {

Provoke UpdatingTable(std::function<void(v1::UpdateTableRequest*)> change) {
  return [change](TestDatabase& database) {
    v1::UpdateTableRequest request;
    request.set_table_name("Things");
    change(&request);
    return Await<v1::UpdateTableReply>([&](auto done) { database->UpdateTable(request, std::move(done)); })
        .status();
  };
}

Provoke Tagging(std::function<void(v1::TagTableRequest*)> change) {
  return [change](TestDatabase& database) {
    v1::TagTableRequest request;
    request.set_table_name("Things");
    change(&request);
    return Await<v1::TagTableReply>([&](auto done) { database->TagTable(request, std::move(done)); })
        .status();
  };
}

std::vector<ErrorRow> TableErrors() {
  const std::string values = "One or more parameter values were invalid: ";
  return {
      {"SEM-067", Creating([](auto* r) {
         for (int i = 0; i < 21; ++i)
           AddIndex(r, "Index" + std::to_string(i), {"a:S"}, 1, v1::PROJECTION_TYPE_ALL);
       }),
       Apart(values + "GlobalSecondaryIndex count exceeds the per-table limit of 20",
             values + "table New has 21 global secondary indexes; at most 20 are allowed")},
      {"SEM-067", Creating([](auto* r) {
         for (int i = 0; i < 2; ++i) AddIndex(r, "Twice", {"a:S"}, 1, v1::PROJECTION_TYPE_ALL);
       }),
       values + "Duplicate index name: Twice"},
      {"SEM-068", Creating([](auto* r) { AddIndex(r, "Index", {"a:S"}, 1, v1::PROJECTION_TYPE_INCLUDE); }),
       Apart(values + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
             values + "ProjectionType of index Index is INCLUDE, but NonKeyAttributes is not specified")},
      {"SEM-068", Creating([](auto* r) { AddIndex(r, "Index", {"a:S"}, 1, v1::PROJECTION_TYPE_ALL, {"b"}); }),
       Apart(values + "ProjectionType is ALL, but NonKeyAttributes is specified",
             values + "ProjectionType of index Index is ALL, but NonKeyAttributes is specified")},
      {"SEM-068", Creating([](auto* r) {
         AddIndex(r, "Index", {"a:S"}, 1, v1::PROJECTION_TYPE_INCLUDE, {"b", "b"});
       }),
       Apart(values + "Duplicate element in NonKeyAttributes: b",
             values + "NonKeyAttributes of index Index names b twice")},
      {"SEM-068",
       Creating([](auto* r) { AddIndex(r, "Index", {"a:S"}, 1, v1::PROJECTION_TYPE_UNSPECIFIED); }),
       Apart(values + "Unknown ProjectionType: null",
             values + "ProjectionType of index Index must be KEYS_ONLY, INCLUDE or ALL")},
      {"SEM-077", Creating([](auto* r) {
         AddIndex(r, "Index", {"a:S", "b:S", "c:S", "d:S", "e:S"}, 5, v1::PROJECTION_TYPE_ALL);
       }),
       Apart("The KeySchema exceeds the maximum allowed number of HASH key attributes",
             "The KeySchema exceeds the maximum allowed number of HASH/RANGE key attributes: index Index may "
             "have "
             "4 HASH and 4 RANGE")},
      {"SEM-077", Creating([](auto* r) { r->mutable_key_schema(1)->set_key_type(v1::KEY_TYPE_HASH); }),
       Apart("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
             "The KeySchema exceeds the maximum allowed number of HASH/RANGE key attributes: table New may "
             "have "
             "1 HASH and 1 RANGE")},
      {"SEM-079", Creating([](auto* r) { r->mutable_key_schema(1)->set_attribute_name("pk"); }),
       Apart("Both the Hash Key and the Range Key element in the KeySchema have the same name",
             values + "attribute pk appears twice in the KeySchema of table New")},
      {"SEM-073", Creating([](auto* r) { *r->add_attribute_definitions() = r->attribute_definitions(0); }),
       Apart(values + "Attribute Name is duplicated: pk", values + "AttributeDefinitions names pk twice")},
      {"SEM-078", Creating([](auto* r) { r->mutable_key_schema()->SwapElements(0, 1); }),
       "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
      {"SEM-079", Creating([](auto* r) { r->mutable_attribute_definitions()->RemoveLast(); }),
       Apart("Invalid KeySchema: Some index key attribute have no definition",
             values + "Some index key attributes are not defined in AttributeDefinitions. Keys: [pk, sk], "
                      "AttributeDefinitions: [pk]")},
      {"SEM-079", Creating([](auto* r) {
         AddIndex(r, "Index", {"a:S"}, 1, v1::PROJECTION_TYPE_ALL);
         r->mutable_attribute_definitions()->RemoveLast();
       }),
       values + "Some index key attributes are not defined in AttributeDefinitions. Keys: [a], "
                "AttributeDefinitions: [pk, sk]"},
      {"SEM-093", Creating([](auto* r) { r->clear_key_schema(); }),
       Apart(
           "1 validation error detected: Value null at 'keySchema' failed to satisfy constraint: Member must "
           "not be null",
           values + "the KeySchema of table New is empty; it needs a HASH key attribute")},
      {"SEM-093", Creating([](auto* r) {
         r->add_attribute_definitions()->set_attribute_name("unused");
         r->mutable_attribute_definitions()->rbegin()->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_S);
       }),
       Apart(values +
                 "Number of attributes in KeySchema does not exactly match number of attributes defined in "
                 "AttributeDefinitions",
             values +
                 "Some AttributeDefinitions are not used. AttributeDefinitions: [pk, sk, unused], keys used: "
                 "[pk, sk]")},
      {"SEM-093", Creating([](auto* r) {
         AddIndex(r, "Index", {"a:S"}, 1, v1::PROJECTION_TYPE_ALL);
         r->add_attribute_definitions()->set_attribute_name("unused");
         r->mutable_attribute_definitions()->rbegin()->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_S);
       }),
       values +
           "Some AttributeDefinitions are not used. AttributeDefinitions: [a, pk, sk, unused], keys used: "
           "[a, pk, sk]"},
      {"SEM-093", Creating([](auto* r) { r->set_billing_mode(v1::BILLING_MODE_PROVISIONED); }),
       Apart(values + "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
                      "PROVISIONED",
             values + "ProvisionedThroughput of table New must be given when BillingMode is PROVISIONED (the "
                      "default); use PAY_PER_REQUEST to leave it out")},
      {"SEM-093", Creating([](auto* r) { r->mutable_provisioned_throughput(); }),
       Apart(values + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
                      "PAY_PER_REQUEST",
             values + "ProvisionedThroughput of table New must not be given when BillingMode is "
                      "PAY_PER_REQUEST")},
      {"SEM-093",
       Creating([](auto* r) {
         r->set_billing_mode(v1::BILLING_MODE_PROVISIONED);
         r->mutable_provisioned_throughput()->set_read_capacity_units(1'000'000'000'001);
         r->mutable_provisioned_throughput()->set_write_capacity_units(1);
       }),
       {"Given value 1000000000001 for ReadCapacityUnits is out of bounds",
        " for table New; at most 1000000000000 are allowed"}},
      {"SEM-008", Creating([](auto* r) { r->set_table_name(Long(256)); }),
       "TableName '" + Long(255) +
           "' is invalid: it must be 3 to 255 characters of a-z, A-Z, 0-9, '_', '.' and '-'"},
      {"SEM-093", Creating([](auto* r) { r->set_table_name("Things"); }), "Table already exists: Things",
       absl::StatusCode::kAlreadyExists, kReasonResourceInUse},
      {"SEM-094",
       [](TestDatabase& database) { return DeleteTable(database, "Single").status(); },
       {"Resource cannot be deleted as it is currently protected against deletion. Disable deletion "
        "protection "
        "first.",
        " Table: Single"}},
      {"SEM-095", UpdatingTable([](auto*) {}),
       Apart("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
             "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, TableClass, "
             "DeletionProtectionEnabled, OnDemandThroughput or WarmThroughput is required",
             values +
                 "at least one of BillingMode, ProvisionedThroughput, index throughputs, an index to create "
                 "or delete, DeletionProtectionEnabled, StreamEnabled, StreamViewType, TableClass, "
                 "SSESpecification, OnDemandThroughput, WarmThroughput and WriteFence must be given")},
      {"SEM-095", UpdatingTable([](auto* r) { r->add_global_secondary_index_deletions("Other"); }),
       Apart("Requested resource not found: Index Other for table Things",
             "Requested resource not found: Table: Things has no global secondary index Other"),
       absl::StatusCode::kNotFound, kReasonResourceNotFound},
      {"SEM-095",
       UpdatingTable([](auto* r) {
         auto* index = r->add_global_secondary_index_creations();
         index->set_index_name("ByA");
         index->add_key_schema()->set_attribute_name("b");
         index->mutable_key_schema(0)->set_key_type(v1::KEY_TYPE_HASH);
         index->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_ALL);
         r->add_attribute_definitions()->set_attribute_name("b");
         r->mutable_attribute_definitions(0)->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_N);
       }),
       {"Attempting to create an index which already exists", ": ByA"}},
      {"SEM-096", UpdatingTable([](auto* r) {
         auto* index = r->add_global_secondary_index_creations();
         index->set_index_name("ByC");
         index->add_key_schema()->set_attribute_name("c");
       }),
       Apart(values + "AttributeDefinitions is not specified for index: ByC",
             values + "AttributeDefinitions must have the key attributes of index ByC")},
      {"SEM-098", UpdatingTable([](auto* r) { r->set_stream_enabled(false); }),
       Apart("Table has no stream to disable: TableName: Things",
             values + "the stream of table Things is already disabled")},
      {"SEM-099", UpdatingTable([](auto* r) { r->mutable_warm_throughput(); }),
       values + "WarmThroughput must give ReadUnitsPerSecond, WriteUnitsPerSecond or both"},
      {"SEM-099", UpdatingTable([](auto* r) { r->set_table_class(static_cast<v1::TableClass>(9)); }),
       values + "TableClass must be STANDARD or STANDARD_INFREQUENT_ACCESS"},
      {"SEM-099", UpdatingTable([](auto* r) {
         r->mutable_sse_specification()->set_enabled(true);
         r->mutable_sse_specification()->set_sse_type("DES");
       }),
       values + "SSEType must be AES256 or KMS; it is 'DES'"},
      {"SEM-099", UpdatingTable([](auto* r) { r->mutable_sse_specification()->set_sse_type("KMS"); }),
       values + "SSEType and KMSMasterKeyId must not be given when SSESpecification is not enabled"},
      {"SEM-099", UpdatingTable([](auto* r) { r->mutable_sse_specification()->set_kms_master_key_id("k"); }),
       values + "SSEType and KMSMasterKeyId must not be given when SSESpecification is not enabled"},
      {"SEM-099", UpdatingTable([](auto* r) {
         r->mutable_sse_specification()->set_enabled(true);
         r->mutable_sse_specification()->set_sse_type("AES256");
         r->mutable_sse_specification()->set_kms_master_key_id("k");
       }),
       values + "KMSMasterKeyId must not be given when SSEType is AES256"},
      {"SEM-099", Creating([](auto* r) {
         r->mutable_sse_specification()->set_enabled(true);
         r->mutable_sse_specification()->set_kms_master_key_id(Long(kMaxKmsKeyIdBytes + 1));
       }),
       values + "KMSMasterKeyId has 2049 bytes; at most 2048 are allowed"},
      {"SEM-099", Creating([](auto* r) { r->mutable_on_demand_throughput(); }),
       values + "OnDemandThroughput must give MaxReadRequestUnits, MaxWriteRequestUnits or both"},
      {"SEM-099",
       UpdatingTable([](auto* r) { r->mutable_on_demand_throughput()->set_max_read_request_units(0); }),
       values +
           "MaxReadRequestUnits and MaxWriteRequestUnits of OnDemandThroughput must be at least 1, or -1 for "
           "no bound"},
      {"SEM-099",
       UpdatingTable([](auto* r) { r->mutable_on_demand_throughput()->set_max_write_request_units(-2); }),
       values +
           "MaxReadRequestUnits and MaxWriteRequestUnits of OnDemandThroughput must be at least 1, or -1 for "
           "no bound"},
      {"SEM-099", UpdatingTable([](auto* r) { r->mutable_warm_throughput()->set_read_units_per_second(0); }),
       values + "ReadUnitsPerSecond and WriteUnitsPerSecond of WarmThroughput must be at least 1"},
      {"SEM-099",
       UpdatingTable([](auto* r) { r->mutable_warm_throughput()->set_write_units_per_second(-1); }),
       values + "ReadUnitsPerSecond and WriteUnitsPerSecond of WarmThroughput must be at least 1"},
      {"SEM-105",
       [](TestDatabase& database) {
         v1::ReadChangesRequest request;
         request.set_limit(1'001);
         return Await<v1::ReadChangesReply>(
                    [&](auto done) { database->ReadChanges(request, std::move(done)); })
             .status();
       },
       "Limit must be 1 to 1000; it is 1001"},
      {"OP-04",
       [](TestDatabase& database) {
         v1::ListTablesRequest request;
         request.set_limit(101);
         return database->ListTables(request).status();
       },
       "Limit must be 1 to 100; it is 101"},
      {"SEM-091", Creating([](auto* r) {
         auto* index = r->add_local_secondary_indexes();
         index->set_index_name("Local");
         *index->mutable_key_schema() = r->key_schema();
         index->mutable_key_schema()->RemoveLast();
         index->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_ALL);
       }),
       values + "Index KeySchema does not have a range key for index: Local"},
      {"SEM-091", Creating([](auto* r) {
         auto* index = r->add_local_secondary_indexes();
         index->set_index_name("Local");
         *index->mutable_key_schema() = r->key_schema();
         index->mutable_key_schema(0)->set_attribute_name("sk");
         index->mutable_key_schema(1)->set_attribute_name("pk");
         index->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_ALL);
       }),
       values + "Index KeySchema does not have the same leading hash key as table KeySchema for index: "
                "Local. index "
                "hash key: sk, table hash key: pk"},
      {"OP-08", Tagging([](auto*) {}), "Atleast one Tag needs to be provided as Input."},
      {"OP-08", Tagging([](auto* r) { r->add_tags()->set_key("a,b"); }),
       "The Tag Key provided is invalid, Key: a,b"},
      {"OP-08", Tagging([](auto* r) {
         r->add_tags()->set_key("k");
         r->mutable_tags(0)->set_value("a\n");
       }),
       "The Tag Value provided is invalid, Value: a\n"},
      {"OP-08", Tagging([](auto* r) { r->add_tags()->set_key("AWS:k"); }),
       "Tag Key cannot be prefixed with aws:, Key: AWS:k"},
      {"OP-08", Tagging([](auto* r) {
         for (int i = 0; i < 2; ++i) r->add_tags()->set_key("k");
       }),
       "Duplicate Tag Keys provided as input: k"},
      {"OP-08", Tagging([](auto* r) { r->add_tags()->set_key(Long(129)); }),
       values + "a tag key must be 1 to 128 characters long; one has 129"},
  };
}

INSTANTIATE_TEST_SUITE_P(Tables, ErrorTable, ::testing::ValuesIn(TableErrors()), RuleAndPlace);

// A request may name a table by the table's ARN instead of its name (SEM-008).
TEST(Errors, ATableMayBeNamedByItsArn) {
  TestDatabase database;
  database.CreateTable(TableRequest("Things"));
  const std::string arn = "arn:aws:dynamodb:eu-west-1:000000000000:table/Things";
  ASSERT_TRUE(database.Put(arn, {{"pk", S("p")}, {"sk", S("s")}}).ok());
  EXPECT_EQ(database.Get("Things", {{"pk", S("p")}, {"sk", S("s")}}), "pk=p sk=s");
  EXPECT_EQ(ScanAll(database, ScanRequest(arn)).size(), 1u);
  EXPECT_EQ(QueryAll(database, QueryRequest(arn, "pk = :p", {{":p", S("p")}})).size(), 1u);
  auto transaction = wire::TransactWriteItemsRequest();
  *transaction.add_transact_items()->mutable_delete_() = WriteRequest(arn, {{"pk", S("p")}, {"sk", S("s")}});
  auto reply = database.Transact(transaction);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->has_committed());
  EXPECT_EQ(database.Get(arn, {{"pk", S("p")}, {"sk", S("s")}}), "");
  // A table's name and its ARN are the same table.
  *transaction.add_transact_items()->mutable_put() = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
  EXPECT_EQ(RuleOf(database.Transact(transaction).status()), "SEM-048");
}

}  // namespace
}  // namespace itemdb::testing::errors
