// Writes that were prepared for a table which is deleted before they are applied. For clients that is a race;
// here the test makes the steps one after another.

#include <future>

#include "storage/engine/engine.h"
#include "storage/items/write_unit.h"
#include "storage/schema/table_changes.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

class StaleTable : public ::testing::Test {
 protected:
  StaleTable() {
    auto engine = Engine::Open(TestDatabase::DefaultOptions(directory_.path() + "/data"));
    EXPECT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
  }

  void Create() {
    auto reply = Await<v1::CreateTableReply>(
        [&](auto done) { storage::CreateTable(*engine_, TableRequest("Things"), std::move(done)); });
    EXPECT_TRUE(reply.ok()) << reply.status();
  }
  void Delete() {
    v1::DeleteTableRequest request;
    request.set_table_name("Things");
    auto reply = Await<v1::DeleteTableReply>(
        [&](auto done) { storage::DeleteTable(*engine_, request, std::move(done)); });
    EXPECT_TRUE(reply.ok()) << reply.status();
  }
  std::shared_ptr<const ReadView> View() { return *engine_->View(); }
  // Submits a put that was prepared with the catalog of `view`, and returns its outcome.
  absl::Status Put(WriteUnit::Mode mode, const std::shared_ptr<const ReadView>& view) {
    auto action = PrepareAction(ActionKind::kPut, WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}),
                                view->catalog());
    EXPECT_TRUE(action.ok()) << action.status();
    std::vector<PreparedAction> actions;
    actions.push_back(*std::move(action));
    std::promise<absl::Status> outcome;
    auto finish = [&outcome](WriteUnit::UnitResult done) {
      outcome.set_value(done.status.ok() ? done.results[0].error : done.status);
    };
    ReadAndSubmit(*engine_, view, std::make_unique<WriteUnit>(mode, std::move(actions), finish));
    return outcome.get_future().get();
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(StaleTable, IsNotFoundOnceItWasDeleted) {
  for (auto mode : {WriteUnit::Mode::kIndependent, WriteUnit::Mode::kTransaction}) {
    Create();
    auto view = View();
    Delete();
    EXPECT_THAT(Put(mode, view), IsTableNotFound());
  }
}

// The write must not use the deleted table's storage id, nor go to the new table, which has another
// definition.
TEST_F(StaleTable, IsNotFoundWhenAnotherHasItsName) {
  for (auto mode : {WriteUnit::Mode::kIndependent, WriteUnit::Mode::kTransaction}) {
    Create();
    auto view = View();
    Delete();
    Create();
    EXPECT_THAT(Put(mode, view), IsTableNotFound());
    auto table = View()->catalog().Find("Things");
    ASSERT_TRUE(table.ok());
    EXPECT_EQ(ReadStatistics(*View(), (*table)->storage_id)->items, 0);
    EXPECT_TRUE(Put(mode, View()).ok());
    EXPECT_EQ(ReadStatistics(*View(), (*table)->storage_id)->items, 1);
    Delete();
  }
}

}  // namespace
}  // namespace itemdb::testing
