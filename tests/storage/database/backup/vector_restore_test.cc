// Vector indexes through everything that makes a table or a database anew: searches find the same.
#include <filesystem>
#include <random>

#include "storage/base/table_arn.h"
#include "storage/restore.h"
#include "tests/storage/database/backup/table_backup_fixture.h"
#include "tests/storage/database/vectors/vector_tables.h"
#include "tests/storage/values/test_seed.h"

namespace itemdb::testing {
namespace {

constexpr int kDimensions = 4;
constexpr int kDocs = 60;

class VectorRestore : public TableBackupTest {
 protected:
  DatabaseOptions Options() const override {
    DatabaseOptions options = TableBackupTest::Options();
    options.archive_directory = directory_.path() + "/archive";
    options.archive_interval = std::chrono::milliseconds(5);
    options.export_directory = directory_.path() + "/exports";
    return options;
  }
  void SetUp() override {
    std::filesystem::create_directories(directory_.path() + "/exports/bucket");
    TableBackupTest::SetUp();
    database_->CreateTable(Definition("Docs"));
    AwaitArchive();
    std::mt19937_64 random(TestSeed());
    for (int i = 0; i < kDocs; ++i) Put(i, random);
    ASSERT_TRUE(database_->Delete("Docs", {{"pk", S("p")}, {"sk", S("7")}}).ok());
  }
  // An index of each kind.
  static v1::CreateTableRequest Definition(const std::string& name) {
    v1::VectorIndex parts = VectorIndexOf("Parts", kDimensions, kByCosine);
    AddHashElement(&parts, "tenant");
    AddInlineFilter(&parts, "year");
    v1::VectorIndex keys = VectorIndexOf("Keys", kDimensions, kByDistance);
    keys.mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_KEYS_ONLY);
    return VectorTableRequest(name, {parts, keys, VectorIndexOf("Plain", kDimensions, kByProduct)},
                              {"tenant:S", "year:N"});
  }
  void Put(int number, std::mt19937_64& random) {
    std::uniform_real_distribution<float> element(-1, 1);
    Vector vector;
    for (int i = 0; i < kDimensions; ++i) vector.push_back(element(random));
    v1::Item message = Item({{"pk", S("p")}, {"sk", S(std::to_string(number))}});
    const auto add = [&message](const std::string& name, const v1::AttributeValue& value) {
      v1::Attribute* attribute = message.add_attributes();
      attribute->set_name(name);
      *attribute->mutable_value() = value;
    };
    if (number % 5 != 0) add("v", VectorValue(vector));
    add("tenant", S(number % 2 == 0 ? "even" : "odd"));
    if (number % 3 != 0) add("year", N(std::to_string(2000 + number % 4)));
    wire::WriteItemRequest request;
    request.set_table_name("Docs");
    request.set_key_or_item(message.SerializeAsString());
    const auto put =
        Await<wire::WriteItemReply>([&](auto done) { database().PutItem(request, std::move(done)); });
    ASSERT_TRUE(put.ok()) << put.status();
  }
  // What searches of all indexes find, with the scores.
  static std::vector<std::string> Answers(TestDatabase& database, const std::string& table) {
    std::vector<std::string> answers;
    for (const char* const index : {"Parts", "Keys", "Plain"}) {
      for (int i = 0; i < 8; ++i) {
        Vector query(kDimensions, 0);
        query[static_cast<size_t>(i % kDimensions)] = i < kDimensions ? 1.0F : -0.75F;
        query[0] += 0.125F;
        wire::SearchVectorsRequest request = SearchRequest(table, index, query, 7);
        if (index == std::string("Parts")) {
          request.set_search_condition_expression(i % 2 == 0 ? "tenant = :t" : "tenant = :t AND #y = :y");
          SetValue(&request, ":t", S(i % 3 == 0 ? "even" : "odd"));
          if (i % 2 != 0) {
            SetName(&request, "#y", "year");
            SetValue(&request, ":y", N("2001"));
          }
        }
        const auto reply = Search(database, request);
        EXPECT_TRUE(reply.ok()) << reply.status();
        if (!reply.ok()) continue;
        for (const wire::SearchResult& result : reply->search_results())
          answers.push_back(std::string(index) + " " + std::to_string(result.score()));
        for (const std::string& shown : SearchShown(database, request)) answers.push_back(shown);
      }
    }
    EXPECT_GT(answers.size(), 200U);
    return answers;
  }
  void AwaitArchive() {
    const uint64_t last = database().GetStatus().change_sequence();
    for (int i = 0; i < 3000; ++i) {
      const v1::ArchiveStatus status = database().GetStatus().archive();
      if (status.change_sequence() >= last && status.oldest_time_us() != 0 && !status.needs_backup()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << database().GetStatus().archive().DebugString();
  }
  // Restores the database, and returns what searches of it find.
  std::vector<std::string> AnswersOfRestored(absl::FunctionRef<void(storage::RestoreOptions&)> choose) {
    storage::RestoreOptions restore;
    choose(restore);
    restore.backup_directory = backups_;
    restore.data_directory = directory_.path() + "/restored";
    restore.encryption_keys = database_->options().encryption_keys;
    restore.log = database_->options().log;
    const auto restored = storage::RestoreDatabase(restore);
    EXPECT_TRUE(restored.ok()) << restored.status();
    if (!restored.ok()) return {};
    DatabaseOptions options = TestDatabase::DefaultOptions(restore.data_directory);
    options.encryption_keys = restore.encryption_keys;
    TestDatabase other(options);
    other.CheckIsClean();
    return Answers(other, "Docs");
  }
  void WriteMore() {
    std::mt19937_64 random(TestSeed() + 1);
    for (int i = kDocs / 2; i < kDocs + 20; ++i) Put(i, random);
  }
};

TEST_F(VectorRestore, ABackupHasThem) {
  const auto made = Await<v1::DatabaseBackup>(
      [&](auto done) { database().CreateDatabaseBackup({}, std::move(done), nullptr); });
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(AnswersOfRestored([&](auto& options) { options.backup_id = made->backup_id(); }),
            Answers(*database_, "Docs"));
}

TEST_F(VectorRestore, AnArchiveHasThemAtEachChange) {
  const std::vector<std::string> before = Answers(*database_, "Docs");
  const uint64_t change = database().GetStatus().change_sequence();
  WriteMore();
  AwaitArchive();
  EXPECT_NE(Answers(*database_, "Docs"), before);
  EXPECT_EQ(AnswersOfRestored([&](auto& options) {
              options.archive_directory = Options().archive_directory;
              options.to_change = change;
            }),
            before);
}

TEST_F(VectorRestore, ABackupOfATableHasThem) {
  const std::vector<std::string> before = Answers(*database_, "Docs");
  const std::string arn = BackUp("Docs");
  WriteMore();
  const auto restored = RestoreTable("Restored", arn);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->vector_indexes_size(), 3);
  EXPECT_EQ(Answers(*database_, "Restored"), before);
  database_->CheckIsClean();
}

TEST_F(VectorRestore, ATableIsRestoredToAChangeWithThem) {
  ASSERT_TRUE(SetRecovery("Docs", true).ok());
  AwaitArchive();
  const std::vector<std::string> before = Answers(*database_, "Docs");
  const uint64_t change = database().GetStatus().change_sequence();
  WriteMore();
  AwaitArchive();
  v1::RestoreTableToPointInTimeRequest request;
  request.set_source_table_name("Docs");
  request.set_target_table_name("Restored");
  request.set_change_sequence(change);
  const auto begun = Await<v1::RestoreTableToPointInTimeReply>(
      [&](auto done) { database().RestoreTableToPointInTime(request, std::move(done)); });
  ASSERT_TRUE(begun.ok()) << begun.status();
  ASSERT_TRUE(AwaitTable("Restored").ok());
  EXPECT_EQ(Answers(*database_, "Restored"), before);
  database_->CheckIsClean();
}

TEST_F(VectorRestore, AnExportIsImportedWithThem) {
  ASSERT_TRUE(SetRecovery("Docs", true).ok());
  AwaitArchive();
  v1::ExportTableToPointInTimeRequest request;
  request.set_table_arn("arn:aws:dynamodb:local:000000000000:table/Docs");
  request.set_s3_bucket("bucket");
  const auto begun = Await<v1::ExportTableToPointInTimeReply>(
      [&](auto done) { database().ExportTableToPointInTime(request, std::move(done)); });
  ASSERT_TRUE(begun.ok()) << begun.status();
  v1::DescribeExportRequest describe;
  describe.set_export_arn(begun->description().export_arn());
  v1::ExportDescription made;
  for (int i = 0; i < 10'000 && made.export_status() != v1::EXPORT_STATUS_COMPLETED; ++i) {
    const auto described = Await<v1::DescribeExportReply>(
        [&](auto done) { database().DescribeExport(describe, std::move(done)); });
    ASSERT_TRUE(described.ok()) << described.status();
    made = described->description();
    ASSERT_NE(made.export_status(), v1::EXPORT_STATUS_FAILED) << made.failure_message();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  v1::ImportTableRequest import;
  import.mutable_s3_bucket_source()->set_s3_bucket("bucket");
  const std::string& manifest = made.export_manifest();
  import.mutable_s3_bucket_source()->set_s3_key_prefix(manifest.substr(0, manifest.rfind('/')) + "/data/");
  import.set_input_format(v1::INPUT_FORMAT_DYNAMODB_JSON);
  import.set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_GZIP);
  *import.mutable_table_creation_parameters() = Definition("Imported");
  const auto started =
      Await<v1::ImportTableReply>([&](auto done) { database().ImportTable(import, std::move(done)); });
  ASSERT_TRUE(started.ok()) << started.status();
  ASSERT_TRUE(AwaitTable("Imported").ok());
  EXPECT_EQ(Answers(*database_, "Imported"), Answers(*database_, "Docs"));
  database_->CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
