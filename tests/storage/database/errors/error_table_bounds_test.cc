// The largest values that are allowed, next to the bounds that the error table (error_table.h) exceeds.

#include "storage/base/limits.h"
#include "tests/storage/database/errors/error_table.h"

namespace itemdb::testing::errors {
namespace {

TEST(Bounds, WhatIsExactlyAtABoundIsAccepted) {
  struct Accepted {
    const char* rule;
    Provoke request;
  };
  const Accepted rows[] = {
      {"SEM-006", Put(Item({{"pk", S(Long(2'048))}, {"sk", S(Long(1'024))}}))},
      {"SEM-006", Getting([](auto* r) {
         r->set_key(Encode({{"pk", S(Long(2'048))}, {"sk", S(Long(1'024))}}));
       })},
      {"SEM-008", Creating([](auto* r) { r->set_table_name(Long(255)); })},
      {"SEM-008", Creating([](auto* r) { r->set_table_name("a.b"); })},
      {"SEM-009", PutValue(Long(65'535), S("x"))},
      {"SEM-011", PutValue("v", N("12345678901234567890123456789012345678"))},
      {"SEM-011", PutValue("v", N("-9.9999999999999999999999999999999999999E+125"))},
      {"SEM-011", PutValue("v", N("1E-130"))},
      {"SEM-016", PutValue("v", Strings({""}))},
      {"SEM-017", PutValue("v", Wrapped(31))},
      {"SEM-017", Condition("attribute_not_exists(a" + Times(31, "[0]") + ")")},
      {"SEM-019", Condition("a <> :s" + std::string(4'089, ' '))},
      {"SEM-020", Condition(Times(150, "a <> :s", " OR ") + " OR attribute_exists(pk)")},
      {"SEM-021", Condition("NOT a IN (" + Times(100, ":s", ", ") + ")")},
      {"SEM-022", Deleting([](auto* r) {
         r->set_condition_expression("a <> :" + Long(254));
         SetValue(r, ":" + Long(254), S("x"));
       })},
      {"SEM-022", Deleting([](auto* r) {
         r->set_condition_expression("a <> :v");
         // The token counts too, and so do the tag and the length of the encoded value.
         SetValue(r, ":v", S(Long((2 << 20) - 2 - 5)));
       })},
      {"SEM-025", Condition("((a = :s) AND b = :s) OR attribute_exists(pk)")},
      {"SEM-033", Scanning([](auto* r) {
         r->set_segment(999'999);
         r->set_total_segments(1'000'000);
       })},
      {"SEM-043", BatchGetting([](auto* r) {
         for (int i = 1; i < 100; ++i)
           r->mutable_request_items(0)->add_keys(Encode({{"pk", S(std::to_string(i))}, {"sk", S("s")}}));
       })},
      {"SEM-045", BatchWriting([](auto* r) {
         for (int i = 1; i < 25; ++i) {
           r->mutable_request_items(0)->add_write_requests()->mutable_delete_request()->set_key(
               Encode({{"pk", S(std::to_string(i))}, {"sk", S("s")}}));
         }
       })},
      {"SEM-047", Transacting([](auto* r) {
         for (int i = 1; i < 100; ++i) {
           *r->add_transact_items()->mutable_delete_() =
               WriteRequest("Things", {{"pk", S(std::to_string(i))}, {"sk", S("s")}});
         }
       })},
      {"SEM-050", Write(&Database::PutItem, [](auto* r) { r->set_client_request_token(Long(36)); })},
      {"SEM-099", Creating([](auto* r) {
         r->set_table_name("Encrypted");
         r->mutable_sse_specification()->set_enabled(true);
         r->mutable_sse_specification()->set_kms_master_key_id(Long(kMaxKmsKeyIdBytes));
         r->mutable_on_demand_throughput()->set_max_read_request_units(1);
         r->mutable_on_demand_throughput()->set_max_write_request_units(-1);
         r->mutable_warm_throughput()->set_read_units_per_second(12'000);
       })}};
  TestDatabase database;
  database.CreateTable(TableRequest("Things"));
  for (const Accepted& row : rows) {
    SCOPED_TRACE(row.rule);
    EXPECT_EQ(row.request(database), absl::OkStatus());
  }
}

}  // namespace
}  // namespace itemdb::testing::errors
