// Pages that go on behind the end of a table file of RocksDB. Reads that may use only the cache must notice
// that the next file is not in it, and all reads that it is damaged.
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/storage/database/indexes/damage.h"
#include "tests/storage/database/requests.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

constexpr int kItems = 200;

class FileBoundaries : public ::testing::Test {
 protected:
  FileBoundaries() {
    v1::CreateTableRequest table = TableRequest("Things");
    AddIndex(&table, "ByGroup", {"grp:S", "sk:S"}, 1, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(table);
    std::mt19937_64 random(1);
    for (int i = 0; i < kItems; ++i) {
      std::string text;  // Hardly compressible.
      for (int k = 0; k < 100; ++k) text.push_back(static_cast<char>('a' + random() % 26));
      const auto put = database_.Put(
          "Things",
          {{"pk", S("one")}, {"sk", S(std::to_string(1000 + i))}, {"grp", S("g")}, {"text", S(text)}});
      EXPECT_TRUE(put.ok()) << put.status();
    }
    database_.Close();
    Families families(directory_.path());
    families.Rewrite("items", 4'000);
    families.Rewrite("global_entries", 4'000);
  }

  static wire::PageRequest Collection(bool index) {
    auto query = index ? QueryRequest("Things", "grp = :g", {{":g", S("g")}})
                       : QueryRequest("Things", "pk = :pk", {{":pk", S("one")}});
    if (index) query.set_index_name("ByGroup");
    return query;
  }

  TemporaryDirectory directory_;
  TestDatabase database_{TestDatabase::DefaultOptions(directory_.path())};
};

TEST_F(FileBoundaries, APageGoesOnInAFileThatIsNotCached) {
  for (const bool index : {false, true}) {
    for (const bool forward : {true, false}) {
      database_.Reopen();  // With an empty cache.
      // Each page reads what the one before has put into the cache, and then crosses into files that it has
      // not read.
      for (int limit = 1; limit < 2 * kItems; limit += 7) {
        SCOPED_TRACE(::testing::Message()
                     << "index " << index << ", forward " << forward << ", limit " << limit);
        auto query = Collection(index);
        query.set_scan_index_forward(forward);
        query.set_limit(limit);
        const auto page = database_.Query(query);
        ASSERT_TRUE(page.ok()) << page.status();
        ASSERT_EQ(page->reply.count(), std::min(limit, kItems));
      }
    }
  }
}

TEST_F(FileBoundaries, APageEndsWithAnErrorAtAFileThatIsDamaged) {
  database_.Close();
  {
    Families families(directory_.path());
    const std::vector<std::string> files = families.Files("items");
    ASSERT_GE(files.size(), 3u);
    // The data blocks of the second file; its index and properties are at the end.
    std::fstream bytes(files[1], std::ios::in | std::ios::out | std::ios::binary);
    for (size_t at = 20; at < std::filesystem::file_size(files[1]) / 2; at += 500) {
      bytes.seekg(static_cast<std::streamoff>(at));
      const int byte = bytes.get();
      bytes.seekp(static_cast<std::streamoff>(at));
      bytes.put(static_cast<char>(byte ^ 1));
    }
  }
  database_.Reopen();
  for (const bool forward : {true, false}) {
    auto query = Collection(/*index=*/false);
    query.set_scan_index_forward(forward);
    const auto page = database_.Query(query);
    EXPECT_TRUE(absl::IsDataLoss(page.status())) << "forward " << forward << ": " << page.status() << " with "
                                                 << (page.ok() ? page->reply.count() : 0) << " items";
  }
}

}  // namespace
}  // namespace itemdb::testing
