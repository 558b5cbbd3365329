// Entries of a vector index that are missing or wrong: the check finds them, a repair corrects them.
#include "tests/storage/database/indexes/damage.h"

#include "tests/storage/database/vectors/vector_tables.h"

namespace itemdb::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class VectorDamage : public Damage {
 protected:
  void SetUp() override {
    Damage::SetUp();
    v1::VectorIndex index = VectorIndexOf("ByV", 2, v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN);
    AddHashElement(&index, "tenant");
    database_.CreateTable(VectorTableRequest("Docs", {index}, {"tenant:S"}));
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(database_
                      .Put("Docs", {{"pk", S("p")},
                                    {"sk", S(std::to_string(i))},
                                    {"tenant", S("t")},
                                    {"v", VectorValue({static_cast<float>(i), 0})}})
                      .ok());
    }
    entries_ = Describe(database_, "Docs").vector_indexes(0).storage_id();
  }

  v1::CheckDatabaseReply Check(bool repair) {
    v1::CheckDatabaseRequest request;
    request.set_repair(repair);
    auto reply =
        Await<v1::CheckDatabaseReply>([&](auto done) { database_->CheckDatabase(request, std::move(done)); });
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? *reply : v1::CheckDatabaseReply();
  }
  std::vector<std::string> Nearest(int top_k) {
    wire::SearchVectorsRequest request = SearchRequest("Docs", "ByV", {2, 0}, top_k);
    request.set_search_condition_expression("tenant = :t");
    SetValue(&request, ":t", S("t"));
    return SearchShown(database_, request);
  }

  uint64_t entries_ = 0;
};

TEST_F(VectorDamage, AMissingEntryIsFoundAndMade) {
  DamageDatabase([&](Families& families) {
    families.Delete(entries_, std::next(families.All(entries_).begin(), 2)->first);
  });
  EXPECT_THAT(Nearest(1), ElementsAre(Not(HasSubstr("sk=2"))));
  EXPECT_THAT(Check(false).findings(), Contains(HasSubstr("index ByV")));
  EXPECT_GT(Check(true).finding_count(), 0);
  EXPECT_EQ(Check(false).finding_count(), 0);
  // The copy in memory, made before, is made anew.
  EXPECT_THAT(Nearest(1), ElementsAre("pk=p sk=2 tenant=t"));
}

TEST_F(VectorDamage, AWrongVectorIsFoundAndCorrected) {
  DamageDatabase([&](Families& families) {
    const auto entries = families.All(entries_);
    const auto& [key, record] = *std::next(entries.begin(), 2);
    const std::optional<StoredRecord> stored = DecodeRecord(entries_, key, record);
    ASSERT_TRUE(stored.has_value());
    std::string payload(stored->payload);
    const size_t at = payload.find(std::string("\0\0\0\x40", 4));
    ASSERT_NE(at, std::string::npos) << "the float 2";
    payload[at + 3] = '\x41';
    families.Put(entries_, key, EncodeRecord(entries_, key, stored->item_size, payload));
  });
  EXPECT_THAT(Check(false).findings(), Contains(HasSubstr("index ByV")));
  EXPECT_GT(Check(true).finding_count(), 0);
  EXPECT_EQ(Check(false).finding_count(), 0);
  EXPECT_THAT(Nearest(1), ElementsAre("pk=p sk=2 tenant=t"));
}

TEST_F(VectorDamage, ADamagedEntryFailsSearchesUntilItIsRepaired) {
  DamageDatabase([&](Families& families) {
    const auto entry = *families.All(entries_).begin();
    std::string record = entry.second;
    record.back() = static_cast<char>(record.back() ^ 1);
    families.Put(entries_, entry.first, record);
  });
  EXPECT_THAT(Nearest(1), ElementsAre(HasSubstr("the stored record of index ByV of table Docs")));
  EXPECT_GT(Check(true).finding_count(), 0);
  EXPECT_THAT(Nearest(1), ElementsAre("pk=p sk=2 tenant=t"));
}

}  // namespace
}  // namespace itemdb::testing
