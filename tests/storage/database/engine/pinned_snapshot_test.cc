// Pages that are all read from one pinned snapshot, for a limited time.
#include <thread>

#include "storage/engine/engine.h"
#include "tests/storage/database/requests.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;

class HeldStateTest : public ::testing::Test {
 protected:
  // `max_age`: how long the database keeps a pinned snapshot.
  void Open(std::chrono::milliseconds max_age) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path());
    options.max_pinned_snapshot_age = max_age;
    database_.emplace(std::move(options));
    database_->CreateTable(TableRequest("Plain", /*sorted=*/false));
    for (const char* pk : {"a", "b"}) ASSERT_TRUE(database_->Put("Plain", {{"pk", S(pk)}}).ok());
  }
  absl::StatusOr<Page> Scan(const PinnedSnapshot& state) {
    return Await<Page>(
        [&](auto done) { (*database_)->ScanSnapshot(state, ScanRequest("Plain"), std::move(done)); });
  }
  absl::StatusOr<Page> Query(const PinnedSnapshot& state) {
    auto request = QueryRequest("Plain", "pk = :pk", {{":pk", S("b")}});
    return Await<Page>([&](auto done) { (*database_)->QuerySnapshot(state, request, std::move(done)); });
  }

  TemporaryDirectory directory_;
  std::optional<TestDatabase> database_;
};

TEST_F(HeldStateTest, ShowsNothingThatCameLater) {  // EXT-02
  Open(std::chrono::hours(1));
  auto state = (*database_)->PinSnapshot();
  ASSERT_TRUE(state.ok()) << state.status();
  ASSERT_TRUE(database_->Put("Plain", {{"pk", S("c")}}).ok());
  ASSERT_TRUE(database_->Delete("Plain", {{"pk", S("b")}}).ok());
  auto page = Scan(**state);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(ShowItems(*page), ElementsAre("pk=a", "pk=b"));
  EXPECT_EQ(page->reply.change_sequence(), 3u);
  EXPECT_THAT(ShowItems(*Query(**state)), ElementsAre("pk=b"));
  // The table may even be deleted.
  ASSERT_TRUE(DeleteTable(*database_, "Plain").ok());
  EXPECT_THAT(ShowItems(*Scan(**state)), ElementsAre("pk=a", "pk=b"));
}

TEST_F(HeldStateTest, EndsWhenItsTimeIsOver) {  // EXT-02
  Open(std::chrono::milliseconds(0));
  auto state = (*database_)->PinSnapshot();
  ASSERT_TRUE(state.ok()) << state.status();
  for (auto page : {Scan(**state), Query(**state)}) {
    EXPECT_TRUE(absl::IsAborted(page.status())) << page.status();
    EXPECT_EQ(ReasonOf(page.status()), kReasonStateTooOld);
  }
}

TEST_F(HeldStateTest, LetsGoOfItsViewThoughItsOwnerIsSilent) {  // EXT-02
  DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path());
  options.max_pinned_snapshot_age = std::chrono::milliseconds(0);
  auto engine = Engine::Open(std::move(options));
  ASSERT_TRUE(engine.ok()) << engine.status();
  auto view = (*engine)->View();
  ASSERT_TRUE(view.ok());
  auto state = (*engine)->pinned_snapshots().Pin(*view);
  // The maintenance thread polls once a second.
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (view->use_count() > 2) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace
}  // namespace itemdb::testing
