// Vector indexes of a standby: searches find what they find on the primary.
#include "tests/storage/database/indexes/damage.h"

#include "tests/storage/database/standby/standby_fixture.h"
#include "tests/storage/database/vectors/vector_tables.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class StandbyVectors : public StandbyTest {
 protected:
  static constexpr int kDocs = 20;

  void MakeDocs() {
    primary_->CreateTable(VectorTableRequest("Docs", {VectorIndexOf("ByV", 2, kByDistance)}));
    for (int i = 0; i < kDocs; ++i) PutDoc(*primary_, i, static_cast<float>(i));
  }
  static void PutDoc(TestDatabase& database, int number, float at) {
    ASSERT_TRUE(
        database
            .Put("Docs",
                 {{"pk", S("p")}, {"sk", S(std::to_string(number))}, {"v", VectorValue({at, at / 2})}})
            .ok());
  }
  static std::vector<std::string> NearTo(TestDatabase& database, float at, int top_k = 3) {
    return SearchShown(database, SearchRequest("Docs", "ByV", {at, at / 2}, top_k));
  }
  void ExpectEqualSearches() {
    for (int at = -1; at <= kDocs; ++at) {
      const std::vector<std::string> found = NearTo(*primary_, static_cast<float>(at));
      EXPECT_THAT(found, SizeIs(3));
      EXPECT_EQ(NearTo(*standby_, static_cast<float>(at)), found);
    }
  }
};

TEST_F(StandbyVectors, FollowARepair) {
  MakeDocs();
  const uint64_t entries = Describe(*primary_, "Docs").vector_indexes(0).storage_id();
  primary_->Close();
  {
    Families families(primary_->options().data_directory);
    families.Delete(entries, families.All(entries).begin()->first);
  }
  primary_->Reopen();
  StartStandby();
  AwaitStandby();
  // The copy in memory is made of the entries as they are.
  EXPECT_THAT(NearTo(*standby_, 0, 1), ElementsAre(::testing::Not(HasSubstr("sk=0"))));
  v1::CheckDatabaseRequest repair;
  repair.set_repair(true);
  const auto repaired =
      Await<v1::CheckDatabaseReply>([&](auto done) { (*primary_)->CheckDatabase(repair, std::move(done)); });
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_GT(repaired->finding_count(), 0);
  EXPECT_THAT(NearTo(*primary_, 0, 1), ElementsAre(HasSubstr("sk=0")));
  PutDoc(*primary_, 1, 1.25F);
  AwaitArchive();
  AwaitStandby();
  standby_->CheckIsClean();
  EXPECT_THAT(NearTo(*standby_, 0, 1), ElementsAre(HasSubstr("sk=0")));
  ExpectEqualSearches();
}

TEST_F(StandbyVectors, KeepTheirCopyThroughOrdinaryWrites) {
  MakeDocs();
  StartStandby();
  AwaitStandby();
  ExpectEqualSearches();
  for (int i = 0; i < 10; ++i) {
    PutDoc(*primary_, i, static_cast<float>(kDocs - i));
    ASSERT_TRUE(primary_->Delete("Docs", {{"pk", S("p")}, {"sk", S(std::to_string(i + 10))}}).ok());
    AwaitArchive();
    AwaitStandby();
    ExpectEqualSearches();
  }
  EXPECT_EQ((*standby_)->MeasureFigures().vectors.copies_made, 1);
}

TEST_F(StandbyVectors, AreTheSameAfterAPromotion) {
  MakeDocs();
  StartStandby();
  AwaitStandby();
  std::vector<std::vector<std::string>> before;
  for (int at = 0; at < kDocs; ++at) before.push_back(NearTo(*primary_, static_cast<float>(at)));
  ExpectEqualSearches();
  ASSERT_TRUE(Promote().ok());
  for (int at = 0; at < kDocs; ++at)
    EXPECT_EQ(NearTo(*standby_, static_cast<float>(at)), before[static_cast<size_t>(at)]);
  PutDoc(*standby_, 100, 5.25F);
  EXPECT_THAT(NearTo(*standby_, 5.25F, 1), ElementsAre(HasSubstr("sk=100")));
  standby_->CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
