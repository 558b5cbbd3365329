// Damaged stored bytes: reads return an error that names the place, and the check finds every difference. The
// tests damage the files of a closed database through RocksDB itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/engine/recovery.h"
#include "storage/store/catalog_records.h"
#include "storage/store/size_statistics.h"
#include "storage/values/item_size.h"
#include "storage/values/stored_record.h"
#include "tests/storage/database/indexes/damage.h"
#include "tests/support/await.h"

namespace itemdb::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string Flipped(std::string record, size_t byte) {
  record[byte] ^= 0x10;
  return record;
}

TEST_F(Damage, OfAnItemIsReportedByEveryReadThatMeetsItAndByNoOther) {  // ERR-20
  std::string key;
  DamageDatabase([&](Families& families) {
    const auto all = families.All(table_);
    auto second = std::next(all.begin());
    key = second->first;
    families.Put(table_, key, Flipped(second->second, second->second.size() - 1));
  });
  const auto is_named = AllOf(HasSubstr("table Things"), HasSubstr("62"), HasSubstr("damaged"));

  auto got = Get("b");
  EXPECT_EQ(got.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReasonOf(got.status()), kReasonDataLoss);
  EXPECT_THAT(MessageOf(got.status()), is_named);
  EXPECT_EQ(database_.Get("Things", {{"pk", S("p")}, {"sk", S("a")}}), "pk=p sk=a status=open");

  wire::PageRequest scan;
  scan.set_table_name("Things");
  EXPECT_THAT(MessageOf(database_.Scan(scan).status()), is_named);
  scan.set_limit(1);
  EXPECT_TRUE(database_.Scan(scan).ok());
  wire::PageRequest query;
  query.set_table_name("Things");
  query.set_key_condition_expression("pk = :p AND sk >= :b");
  SetValue(&query, ":p", S("p"));
  SetValue(&query, ":b", S("b"));
  EXPECT_THAT(MessageOf(database_.Query(query).status()), is_named);

  // A write that must read the damaged item is refused and changes nothing, as the old index entry is
  // unknown.
  auto put = database_.Put("Things", {{"pk", S("p")}, {"sk", S("b")}});
  EXPECT_EQ(put.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(MessageOf(put.status()), is_named);
  EXPECT_EQ(Get("b").status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(Damage, IsFoundWhereverInARecordItIs) {  // ERR-20
  std::vector<std::string> names;
  for (int i = 100; i < 200; ++i) {
    names.push_back(std::to_string(i));
    ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S(names.back())}}).ok());
  }
  size_t damaged = 0;
  DamageDatabase([&](Families& families) {
    for (const auto& [key, record] : families.All(table_)) {  // Digits come before letters.
      if (damaged == record.size()) break;
      families.Put(table_, key, Flipped(record, damaged++));
    }
  });
  ASSERT_GT(damaged, 20u);
  ASSERT_LT(damaged, names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(Get(names[i]).status().code(),
              i < damaged ? absl::StatusCode::kDataLoss : absl::StatusCode::kOk)
        << i;
  }
}

TEST_F(Damage, ByARecordThatStrayedToAnotherKeyIsFound) {  // ERR-20
  DamageDatabase([&](Families& families) {
    auto all = families.All(table_);
    families.Put(table_, all.begin()->first, all.rbegin()->second);
  });
  EXPECT_EQ(Get("a").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(Get("c").ok());
}

TEST_F(Damage, OfIndexesIsFoundByTheCheckEntryByEntry) {
  EXPECT_THAT(Findings(), IsEmpty());
  DamageDatabase([&](Families& families) {
    auto entries = families.All(index_);
    ASSERT_EQ(entries.size(), 3u);
    auto entry = entries.begin();
    families.Delete(index_, entry->first);
    ++entry;
    const std::string other = Encode({{"pk", S("p")}, {"sk", S("b")}, {"status", S("closed")}});
    families.Put(index_, entry->first,
                 EncodeRecord(index_, entry->first, ItemSizeBytes(ItemView(other)), other));
    ++entry;
    const std::string nobody = entry->first + "x";
    const std::string payload(DecodeRecord(index_, entry->first, entry->second)->payload);
    families.Put(index_, nobody, EncodeRecord(index_, nobody, 1, payload));
  });
  EXPECT_THAT(Findings(),
              UnorderedElementsAre(AllOf(HasSubstr("index ByStatus"), HasSubstr("is missing")),
                                   AllOf(HasSubstr("index ByStatus"), HasSubstr("is stale")),
                                   AllOf(HasSubstr("index ByStatus"), HasSubstr("belongs to no item")),
                                   AllOf(HasSubstr("index ByStatus"), HasSubstr("counted 3 items"))));
}

TEST_F(Damage, OfTheNumberOfItemsIsFoundByTheCheck) {
  DamageDatabase([&](Families& families) {
    const std::string gone = families.All(table_).rbegin()->first;
    families.Delete(table_, gone);
    for (const auto& [key, record] : families.All(index_))
      if (key.ends_with(gone)) families.Delete(index_, key);
  });
  EXPECT_THAT(Findings(),
              UnorderedElementsAre(
                  AllOf(HasSubstr("table Things"), HasSubstr("counted 2 items"), HasSubstr("recorded are 3")),
                  AllOf(HasSubstr("index ByStatus"), HasSubstr("recorded are 3"))));
}

// The collections of other tables stay, and the database may be closed at any time.
TEST_F(Damage, LeavesNoSizesOfCollectionsOfDeletedTables) {  // SEM-092
  auto collections = [&] {
    int count = 0;
    DamageDatabase([&](Families& families) {
      for (const auto& [key, record] : families.All("stats")) count += key.starts_with(kCollectionKeyPrefix);
    });
    return count;
  };
  auto local = TableRequest("Local");
  AddLocalIndex(&local, "ByRank", "rate:N", v1::PROJECTION_TYPE_KEYS_ONLY);
  for (const char* table : {"Before", "Local", "After"}) {
    local.set_table_name(table);
    database_.CreateTable(local);
  }
  for (int i = 0; i < 1'050; ++i)
    ASSERT_TRUE(database_.Put("Local", {{"pk", S(std::to_string(i))}, {"sk", S("s")}}).ok());
  for (int i = 0; i < 10; ++i) {
    for (const char* table : {"Before", "After"})
      ASSERT_TRUE(database_.Put(table, {{"pk", S(std::to_string(i))}, {"sk", S("s")}}).ok());
  }
  EXPECT_EQ(collections(), 1'070);
  v1::DeleteTableRequest deletion;
  deletion.set_table_name("Local");
  auto deleted =
      Await<v1::DeleteTableReply>([&](auto done) { database_->DeleteTable(deletion, std::move(done)); });
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  // The deletion is interrupted, perhaps several times, and continues.
  EXPECT_EQ(database_->GetStatus().table_count(), 3);
  for (int i = 0; i < 3; ++i) database_.Reopen();
  ASSERT_TRUE(Await([&] {
    const v1::DiskUsage disk = database_->GetStatus().disk();
    return disk.dropped_count() == 0 && disk.dropped_since_us() == 0;
  }));
  EXPECT_EQ(collections(), 20);
  EXPECT_THAT(Findings(), IsEmpty());
}

// For example with an index of a newer program, which this program would neither maintain nor preserve.
TEST_F(Damage, IsNotDoneToTablesWhoseDefinitionSaysMoreThanThisProgramKnows) {
  const std::string key = kTableKeyPrefix + std::string("Things");
  std::string known;
  auto define = [&](const v1::TableDescription& definition) {
    database_.Close();
    Families(database_.options().data_directory)
        .Put("catalog", key, EncodeRecord(kCatalogStorageId, key, 0, definition.SerializeAsString()));
  };
  database_.Close();
  {
    Families families(database_.options().data_directory);
    known = std::string(DecodeRecord(kCatalogStorageId, key, families.All("catalog").at(key))->payload);
  }
  v1::TableDescription as_it_was, newer;
  ASSERT_TRUE(as_it_was.ParseFromString(known));
  newer = as_it_was;
  auto* index = newer.mutable_global_secondary_indexes(0);
  index->GetReflection()->MutableUnknownFields(index)->AddVarint(1000, 1);
  define(newer);
  auto opened = Database::Open(database_.options());
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(opened.status()), kReasonFormatUnknown);
  EXPECT_THAT(MessageOf(opened.status()), HasSubstr("table Things"));
  define(as_it_was);
  database_.Reopen();
  EXPECT_THAT(Findings(), IsEmpty());
}

}  // namespace
}  // namespace itemdb::testing
