// The table of an import is given up only together with the import: otherwise the import would stay
// IN_PROGRESS for ever.
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "gmock/gmock.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/imports/imports.h"
#include "storage/loading/table_restores.h"
#include "storage/schema/restoring_tables.h"
#include "tests/support/test_database.h"

namespace itemdb::storage {
namespace {

using testing::Await;

class GivenUpTest : public ::testing::Test {
 protected:
  GivenUpTest() : engine_(*Engine::Open(testing::TestDatabase::DefaultOptions(directory_.path()))) {}

  v1::ImportDescription Start() {
    v1::ImportTableRequest request;
    request.mutable_s3_bucket_source()->set_s3_bucket("missing");
    request.set_input_format(v1::INPUT_FORMAT_DYNAMODB_JSON);
    *request.mutable_table_creation_parameters() = testing::TableRequest("Table");
    const auto reply =
        Await<v1::ImportTableReply>([&](auto done) { imports_.ImportTable(request, std::move(done)); });
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply->import();
  }
  absl::StatusOr<v1::ImportDescription> Describe(const std::string& arn) {
    v1::DescribeImportRequest request;
    request.set_import_arn(arn);
    auto reply = imports_.DescribeImport(request);
    if (!reply.ok()) return reply.status();
    return reply->import();
  }
  bool IsBeingMade() {
    const auto view = engine_->View();
    return FindRestoringTable(**view, "Table")->has_value();
  }
  TableRestores::OpenSource OpenSource() {
    return [this](const v1::RestoringTable& table, const Cancellation& cancellation) {
      return imports_.OpenSource(table, directory_.path() + "/restores", cancellation);
    };
  }
  template <typename Condition>
  static void AwaitThat(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), until);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  testing::TemporaryDirectory directory_;
  const std::unique_ptr<Engine> engine_;
  Imports imports_{*engine_};
};

// The record of the import cannot be read when the import has failed.
TEST_F(GivenUpTest, AnImportIsEndedWhenItsRecordCanBeRead) {
  std::atomic<int> failures = 0;
  const std::string arn = Start().import_arn();
  TableRestores restores(*engine_, OpenSource(),
                         [&](const v1::RestoringTable& table,
                             const absl::Status& error) -> absl::StatusOr<std::function<void(CommitGroup&)>> {
                           EXPECT_TRUE(IsBeingMade());
                           if (++failures < 3) return absl::UnavailableError("the store is being reopened");
                           return imports_.PrepareFailure(table, error);
                         });
  restores.Start();
  AwaitThat([&] { return Describe(arn)->import_status() != v1::IMPORT_STATUS_IN_PROGRESS; });
  EXPECT_EQ(failures, 3);
  EXPECT_EQ(Describe(arn)->failure_code(), "S3NoSuchBucket");
  EXPECT_FALSE(IsBeingMade());
}

TEST_F(GivenUpTest, ARecordThatCannotBeReadIsAnError) {
  const v1::ImportDescription import = Start();
  v1::RestoringTable table;
  table.set_import_id(import.import_arn().substr(import.import_arn().rfind('/') + 1));
  const absl::Status error = absl::UnavailableError("x");
  EXPECT_TRUE(imports_.PrepareFailure(table, error).ok());
  ASSERT_TRUE(CommitAndWait(*engine_, [&](CommitGroup& group) {
                group.PutCatalog(std::string(kImportKeyPrefix) + table.import_id(), "\xff");
                return absl::OkStatus();
              }).ok());
  EXPECT_TRUE(absl::IsDataLoss(imports_.PrepareFailure(table, error).status()));
  // Tables that are not imported have nothing to end.
  EXPECT_TRUE(imports_.PrepareFailure({}, error).ok());
}

}  // namespace
}  // namespace itemdb::storage
