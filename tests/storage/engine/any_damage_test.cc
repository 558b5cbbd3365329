// Files of a database that are damaged at random: a flipped bit, a cut, zeros, swapped blocks, a missing
// file. The database must refuse to open, or answer right, or answer DATA_LOSS; what --recover=last-good
// keeps must be right.
//
// A seed decides the damage. ITEMDB_TEST_SEED=N tries only N, and with ITEMDB_DAMAGED_DIRECTORIES=M
// the M seeds from N on.
#include <cstdlib>
#include <set>

#include "tests/storage/engine/recovery_fixture.h"
#include "tests/support/repetitions.h"

namespace itemdb::testing {
namespace {

constexpr uint64_t kDamagedDirectories = Repetitions<uint64_t>(120);

uint64_t NumberOr(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

class AnyDamageTest : public RecoveryTest {
 protected:
  using Answers = std::map<std::string, std::string>;

  // As a killed process leaves it: items in table files of two flushes, and in the log.
  void SetUp() override {
    auto database = Database::Open(Options());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(CreateTable(**database).ok());
    constexpr int kAll = 150;
    constexpr size_t kPadding = 300;
    for (int i = 1; i <= kAll; ++i) {
      // Some are replaced later, so that old states would be seen.
      const int number = i % 5 == 0 ? i - 4 : i;
      ASSERT_TRUE(Put(**database, number, kPadding + static_cast<size_t>(i)).ok());
      written_.insert(Get(**database, number).value());
      if (i % (kAll / 3) != 0 || i == kAll) continue;
      const Cancellation never;
      ASSERT_TRUE((*database)->FlushBeforeStop(std::chrono::minutes(1), never).ok());
    }
    AwaitDefinitions(**database);
    // The copy of the catalog is a second behind.
    for (int i = 0; i < 1'000 && !fs::exists(data_ + "/CATALOG"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    last_sequence_ = 1 + kAll;
    expected_ = Read(**database);
    ASSERT_EQ(failed_reads_, 0);
    ASSERT_EQ(expected_.size(), 120u + 5);
    Save();
  }

  static absl::StatusOr<std::string> Get(Database& database, int number) {
    wire::GetItemRequest request;
    request.set_table_name(kOrderTable);
    request.set_key(Encode({{"pk", S("order-" + std::to_string(number))}, {"sk", S("#")}}));
    ITEMDB_ASSIGN_OR_RETURN(const wire::GetItemReply reply, Await<wire::GetItemReply>([&](auto done) {
                              database.GetItem(request, std::move(done));
                            }));
    return reply.item();
  }

  // Every item by its key, and the table and its indexes by Scan. Counts reads that fail with DATA_LOSS or
  // UNAVAILABLE, and leaves them out.
  Answers Read(Database& database) {
    Answers answers;
    failed_reads_ = 0;
    const auto failed = [&](const absl::Status& status) {
      EXPECT_TRUE(absl::IsDataLoss(status) || absl::IsUnavailable(status)) << status;
      ++failed_reads_;
    };
    for (int i = 1; i <= 150; ++i) {
      if (i % 5 == 0) continue;
      const auto item = Get(database, i);
      if (!item.ok()) {
        failed(item.status());
      } else {
        answers["order-" + std::to_string(i)] = *item;
      }
    }
    std::vector<std::string> indexes = {""};
    const v1::CreateTableRequest definition = OrderTableRequest();
    for (const auto& index : definition.global_secondary_indexes()) indexes.push_back(index.index_name());
    for (const std::string& index : indexes) {
      wire::PageRequest request;
      request.set_table_name(kOrderTable);
      if (!index.empty()) request.set_index_name(index);
      const auto page = Await<Page>([&](auto done) { database.Scan(request, std::move(done)); });
      if (!page.ok()) {
        failed(page.status());
      } else {
        EXPECT_FALSE(page->reply.has_last_evaluated_key());
        answers["scan " + index] = page->encoded_items;
      }
    }
    return answers;
  }

  // Damages one file of data_. Returns what was done; empty: nothing.
  std::string Damage(std::mt19937_64& random) {
    const auto below = [&](uint64_t bound) { return random() % bound; };
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(data_)) {
      const std::string name = entry.path().filename();
      if (entry.is_regular_file() && entry.file_size() > 0 && name != "LOCK" && name != "IDENTITY" &&
          !name.starts_with("LOG") && !name.starts_with("OPTIONS"))
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    const fs::path& file = files[below(files.size())];
    const std::string name = file.filename();
    std::string bytes = ReadFile(file);
    const uint64_t size = bytes.size();
    switch (below(5)) {
      case 0: {
        const uint64_t at = below(size);
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        WriteFile(file, bytes);
        return "a bit flipped at " + std::to_string(at) + " of " + name;
      }
      case 1: {
        const uint64_t left = below(size);
        Cut(file, left);
        return name + " cut to " + std::to_string(left) + " of " + std::to_string(size) + " bytes";
      }
      case 2: {
        const uint64_t at = below(size);
        const uint64_t length = std::min(1 + below(4'096), size - at);
        bytes.replace(at, length, length, '\0');
        WriteFile(file, bytes);
        return std::to_string(length) + " bytes zeroed at " + std::to_string(at) + " of " + name;
      }
      case 3: {
        const uint64_t block = below(2) == 0 ? 512 : 4'096;
        if (size < 2 * block) return "";
        const uint64_t a = below(size / block) * block;
        const uint64_t b = below(size / block) * block;
        if (a == b) return "";
        std::swap_ranges(bytes.begin() + static_cast<int64_t>(a),
                         bytes.begin() + static_cast<int64_t>(a + block),
                         bytes.begin() + static_cast<int64_t>(b));
        WriteFile(file, bytes);
        return "blocks at " + std::to_string(a) + " and " + std::to_string(b) + " swapped in " + name;
      }
      default:
        fs::remove(file);
        return name + " removed";
    }
  }

  // What was read is right.
  void ExpectRight(const Answers& answers) {
    for (const auto& [what, answer] : answers)
      EXPECT_TRUE(answer == expected_.at(what)) << "a silent wrong answer for " << what;
  }
  // Each item that is there was written, perhaps as it was before.
  void ExpectWritten(const Answers& answers) {
    for (const auto& [what, answer] : answers) {
      if (what.starts_with("scan ") || answer.empty()) continue;
      EXPECT_TRUE(written_.contains(answer)) << "recovered wrongly: " << what;
    }
  }

  Answers expected_;
  std::set<std::string> written_;
  int failed_reads_ = 0;
};

TEST_F(AnyDamageTest, IsRefusedOrToldOrHarmless) {
  const uint64_t first = NumberOr("ITEMDB_TEST_SEED", 1);
  const uint64_t directories = NumberOr("ITEMDB_DAMAGED_DIRECTORIES",
                                        std::getenv("ITEMDB_TEST_SEED") != nullptr ? 1 : kDamagedDirectories);
  int tried = 0;
  int refused = 0;
  int told = 0;
  int recovered = 0;
  for (uint64_t seed = first; seed < first + directories && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    Restore();
    const std::string damage = Damage(random);
    if (damage.empty()) continue;
    SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed) + ": " + damage);
    log_.Clear();
    ++tried;
    auto opened = Database::Open(Options());
    if (opened.ok()) {
      ExpectRight(Read(**opened));
      if (failed_reads_ > 0) ++told;
      continue;
    }
    ++refused;
    EXPECT_FALSE(absl::IsInternal(opened.status()) || absl::IsUnknown(opened.status())) << opened.status();
    EXPECT_THAT(MessageOf(opened.status()), ::testing::HasSubstr(data_));
    if (refused % 8 != 0) continue;
    auto last_good = Database::Open(Options(/*recover_last_good=*/true));
    if (!last_good.ok()) continue;
    ++recovered;
    ExpectWritten(Read(**last_good));
  }
  std::printf("%d damaged directories: %d refused, %d answered DATA_LOSS to some reads, %d right\n", tried,
              refused, told, tried - refused - told);
  std::printf("%d of those refused were recovered\n", recovered);
  if (std::getenv("ITEMDB_TEST_SEED") != nullptr) return;
  EXPECT_GT(refused, 0);
  EXPECT_GT(recovered, 0);
}

}  // namespace
}  // namespace itemdb::testing
