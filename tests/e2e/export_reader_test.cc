// Incremental exports, and exports that another program has written, beside a reader and a writer in Python
// that know only the description of the layout (tests/exports/).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/storage/values/random_item.h"
#include "tests/storage/values/test_seed.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/repetitions.h"
#include "tests/support/test_database.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::SizeIs;

// The bucket `bucket` of an itemd without --export-directory, and the programs in Python.
class ExportReaderE2e : public E2eTest {
 protected:
  Json RunPython(const std::string& program, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), testing::SourcePath("tests/exports/" + program));
    const CommandResult result = RunProgram("/usr/bin/python3", arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? Json::parse(result.out) : Json();
  }
  Json Read(const Json& made) const {
    return RunPython("read_export.py", {bucket_, made["ExportManifest"].get<std::string>()});
  }
  // An export of Things, COMPLETED.
  Json Export(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = {"-o", "jsonl", "export", "start", "Things", "bucket", "--wait"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return Document(arguments);
  }

  const std::string bucket_ = daemon_.data_directory() + "/exports/bucket";
};

// A value in DynamoDB's JSON, made without the code that is tested.
Json TypedJson(const v1::AttributeValue& value) {
  Json made;
  switch (value.value_case()) {
    case v1::AttributeValue::kS:
      made["S"] = value.s();
      break;
    case v1::AttributeValue::kN:
      made["N"] = value.n();
      break;
    case v1::AttributeValue::kB:
      made["B"] = absl::Base64Escape(value.b());
      break;
    case v1::AttributeValue::kSs:
      for (const std::string& element : value.ss().values()) made["SS"].push_back(element);
      break;
    case v1::AttributeValue::kNs:
      for (const std::string& element : value.ns().values()) made["NS"].push_back(element);
      break;
    case v1::AttributeValue::kBs:
      for (const std::string& element : value.bs().values())
        made["BS"].push_back(absl::Base64Escape(element));
      break;
    case v1::AttributeValue::kL:
      made["L"] = Json::array();
      for (const v1::AttributeValue& element : value.l().values()) made["L"].push_back(TypedJson(element));
      break;
    case v1::AttributeValue::kM:
      made["M"] = Json::object();
      for (const v1::Attribute& attribute : value.m().attributes())
        made["M"][attribute.name()] = TypedJson(attribute.value());
      break;
    case v1::AttributeValue::kBool:
      made["BOOL"] = value.bool_();
      break;
    default:
      made["NULL"] = true;
  }
  return made;
}

Json TypedJson(const v1::Item& item) {
  Json made = Json::object();
  for (const v1::Attribute& attribute : item.attributes())
    made[attribute.name()] = TypedJson(attribute.value());
  return made;
}

// What the changes of one key must be in an export.
struct ExpectedChange {
  std::optional<v1::Item> before, after;
  // Microseconds since the Unix epoch, around the last write in the window.
  int64_t earliest_us = 0, latest_us = 0;
};

// The window of an incremental export has at least 15 minutes. So the changes are made by the storage of
// itemd in this process, whose clock is behind, and itemd serves the directory afterwards.
class IncrementalExportE2e : public ExportReaderE2e {
 protected:
  static constexpr int kKeys = testing::kHasSanitizer ? 90 : 300;

  void SetUp() override {
    SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(storage::TestSeed()));
    MakeChanges();
    ASSERT_FALSE(HasFatalFailure());
    E2eTest::SetUp();
    fs::create_directories(bucket_);
  }
  int64_t NowUs() const { return absl::ToUnixMicros(absl::Now()) + ahead_us_; }
  void PassMinutes(int minutes) { ahead_us_ += int64_t{minutes} * 60 * 1'000'000; }
  // The time, in a later millisecond than everything before and an earlier one than everything after.
  std::string TimeBetween() {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    const std::string time =
        absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", absl::FromUnixMicros(NowUs()), absl::UTCTimeZone());
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    return time;
  }
  // No two are equal: a put of an equal item is no change.
  v1::Item RandomItemOf(int key) {
    v1::Item item = storage::RandomCanonicalItem(random_);
    item.MergeFrom(testing::Item({{"pk", testing::S("p" + std::to_string(key % 17))},
                                  {"sk", testing::N(std::to_string(key))},
                                  {"version", testing::N(std::to_string(++versions_))}}));
    return item;
  }
  void Put(int key, const v1::Item& item) {
    wire::WriteItemRequest request;
    request.set_table_name("Things");
    request.set_key_or_item(item.SerializeAsString());
    ExpectedChange& change = changes_[key];
    change.earliest_us = NowUs();
    const auto put = testing::Await<wire::WriteItemReply>(
        [&](auto done) { (*database_)->PutItem(request, std::move(done)); });
    ASSERT_TRUE(put.ok()) << put.status();
    change.latest_us = NowUs();
    change.after = item;
  }
  void Delete(int key) {
    ExpectedChange& change = changes_[key];
    change.earliest_us = NowUs();
    ASSERT_TRUE(database_
                    ->Delete("Things", {{"pk", testing::S("p" + std::to_string(key % 17))},
                                        {"sk", testing::N(std::to_string(key))}})
                    .ok());
    change.latest_us = NowUs();
    change.after.reset();
  }
  void MakeChanges();
  // The changes of an export by their keys, without their times, which must be right.
  std::map<std::string, Json> ChangesOf(const Json& read) const;
  // The same as they must be.
  std::map<std::string, Json> Expected(bool new_images_only) const;

  std::atomic<int64_t> ahead_us_ = 0;
  std::mt19937_64 random_{storage::TestSeed()};
  int versions_ = 0;
  std::unique_ptr<testing::TestDatabase> database_;
  // By key: what was changed in the window.
  std::map<int, ExpectedChange> changes_;
  std::string from_, to_;
};

void IncrementalExportE2e::MakeChanges() {
  ahead_us_ = -int64_t{60} * 60 * 1'000'000;
  storage::DatabaseOptions options = testing::TestDatabase::DefaultOptions(daemon_.data_directory());
  options.clock_us = [this] { return NowUs(); };
  database_ = std::make_unique<testing::TestDatabase>(options);
  v1::CreateTableRequest table = testing::TableRequest("Things");
  table.mutable_attribute_definitions(1)->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_N);
  database_->CreateTable(table);
  v1::UpdateContinuousBackupsRequest recovery;
  recovery.set_table_name("Things");
  recovery.set_point_in_time_recovery_enabled(true);
  ASSERT_TRUE(testing::Await<v1::UpdateContinuousBackupsReply>([&](auto done) {
                (*database_)->UpdateContinuousBackups(recovery, std::move(done));
              }).ok());
  // Earlier states can be exported once there is a backup to begin with.
  v1::DescribeContinuousBackupsRequest describe;
  describe.set_table_name("Things");
  const auto has_earlier_states = [&] {
    const auto reply = (*database_)->DescribeContinuousBackups(describe);
    return reply.ok() && reply->continuous_backups().earliest_restorable_time_ms() <
                             reply->continuous_backups().latest_restorable_time_ms();
  };
  while (!has_earlier_states()) std::this_thread::sleep_for(std::chrono::milliseconds(1));

  // Key k is in the table before the window unless k % 8 says that it is new.
  const auto is_new = [](int key) { return key % 8 == 1 || key % 8 == 4 || key % 8 == 7; };
  std::map<int, v1::Item> before;
  for (int key = 0; key < kKeys; ++key)
    if (!is_new(key)) Put(key, before[key] = RandomItemOf(key));
  PassMinutes(20);
  from_ = TimeBetween();
  changes_.clear();
  for (int key = 0; key < kKeys; ++key) {
    switch (key % 8) {
      case 0:  // As it is.
        break;
      case 1:
        Put(key, RandomItemOf(key));
        break;
      case 2:
        Put(key, RandomItemOf(key));
        Put(key, RandomItemOf(key));
        break;
      case 3:
        Delete(key);
        break;
      case 4:  // Not there before and not after.
        Put(key, RandomItemOf(key));
        Delete(key);
        break;
      case 5:
        Put(key, RandomItemOf(key));
        Put(key, before[key]);
        break;
      case 6:
        Delete(key);
        Put(key, RandomItemOf(key));
        break;
      case 7:
        Put(key, RandomItemOf(key));
        Put(key, RandomItemOf(key));
        break;
    }
  }
  for (auto& [key, change] : changes_)
    if (!is_new(key)) change.before = before[key];
  PassMinutes(20);
  to_ = TimeBetween();
  // Nothing of this is in the window.
  const std::map<int, ExpectedChange> changes = changes_;
  for (int key = 0; key < kKeys; key += 3) Put(key, RandomItemOf(key));
  for (int key = 1; key < kKeys; key += 3) Delete(key);
  changes_ = changes;
  database_.reset();
  ahead_us_ = 0;
}

std::map<std::string, Json> IncrementalExportE2e::ChangesOf(const Json& read) const {
  std::map<std::string, Json> changes;
  for (Json change : read["changes"]) {
    const std::string keys = change["Keys"].dump();
    const ExpectedChange& expected = changes_.at(std::stoi(change["Keys"]["sk"]["N"].get<std::string>()));
    const int64_t time_us = std::stoll(change["Metadata"]["WriteTimestampMicros"]["N"].get<std::string>());
    // Commits take their time from the clock that never jumps, which may be off by so much.
    constexpr int64_t kClockErrorUs = 50'000;
    EXPECT_GE(time_us, expected.earliest_us - kClockErrorUs) << keys;
    EXPECT_LE(time_us, expected.latest_us + kClockErrorUs) << keys;
    change.erase("Metadata");
    EXPECT_TRUE(changes.emplace(keys, change).second) << keys;
  }
  return changes;
}

std::map<std::string, Json> IncrementalExportE2e::Expected(bool new_images_only) const {
  std::map<std::string, Json> expected;
  for (const auto& [key, change] : changes_) {
    if (!change.before.has_value() && !change.after.has_value()) continue;
    Json line;
    line["Keys"] = {{"pk", {{"S", "p" + std::to_string(key % 17)}}}, {"sk", {{"N", std::to_string(key)}}}};
    if (change.before.has_value() && !new_images_only) line["OldImage"] = TypedJson(*change.before);
    if (change.after.has_value()) line["NewImage"] = TypedJson(*change.after);
    expected[line["Keys"].dump()] = line;
  }
  return expected;
}

TEST_F(IncrementalExportE2e,
       TheReaderFindsTheChangesThatWereMade) {  // XPT-31, XPT-38, XPT-44, XPT-45, XPT-47
  for (const bool ion : {false, true}) {
    for (const bool new_images_only : {false, true}) {
      SCOPED_TRACE(std::string(ion ? "Ion" : "JSON") + (new_images_only ? ", new images" : ""));
      std::vector<std::string> options = {"--from", from_, "--to", to_, "--prefix", "changes"};
      if (ion) options.push_back("--ion");
      if (new_images_only) options.push_back("--new-images");
      const Json made = Export(options);
      ASSERT_EQ(made["ExportStatus"], "COMPLETED");
      const Json read = Read(made);
      ASSERT_FALSE(read.is_null());
      EXPECT_EQ(read["summary"]["exportFromTime"], from_);
      EXPECT_EQ(read["summary"]["exportToTime"], to_);
      EXPECT_EQ(read["summary"]["outputView"], new_images_only ? "NEW_IMAGE" : "NEW_AND_OLD_IMAGES");
      EXPECT_EQ(read["summary"]["outputFormat"], ion ? "ION" : "DYNAMODB_JSON");
      const std::map<std::string, Json> expected = Expected(new_images_only);
      EXPECT_GT(expected.size(), static_cast<size_t>(kKeys) / 2);
      const std::map<std::string, Json> changes = ChangesOf(read);
      EXPECT_EQ(made["ItemCount"], expected.size());
      EXPECT_EQ(changes.size(), expected.size());
      for (const auto& [keys, change] : changes) {
        const auto it = expected.find(keys);
        ASSERT_TRUE(it != expected.end()) << keys;
        ASSERT_EQ(change, it->second);
      }
    }
  }
  ExpectCheckIsClean();
}

// A CreateTable request: a table with the keys of the items that write_export.py writes.
constexpr char kKeysOfWrittenItems[] =
    R"({"TableName": "Things", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
                               {"AttributeName": "sk", "AttributeType": "N"}],
      "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]})";

// Sets have no order.
Json WithSortedSets(const Json& value) {
  if (!value.is_object() && !value.is_array()) return value;
  Json sorted = value.is_object() ? Json::object() : Json::array();
  if (value.is_array()) {
    for (const Json& element : value) sorted.push_back(WithSortedSets(element));
    return sorted;
  }
  for (const auto& [name, member] : value.items()) {
    sorted[name] = WithSortedSets(member);
    // An attribute with such a name is an object.
    if ((name == "SS" || name == "NS" || name == "BS") && member.is_array())
      std::sort(sorted[name].begin(), sorted[name].end());
  }
  return sorted;
}

std::map<std::string, Json> ByKeys(const Json& items) {
  std::map<std::string, Json> by_keys;
  for (const Json& item : items) {
    const std::string keys = item["pk"].dump() + item["sk"].dump();
    EXPECT_TRUE(by_keys.emplace(keys, WithSortedSets(item)).second) << keys;
  }
  return by_keys;
}

void ExpectSameItems(const std::map<std::string, Json>& found, const std::map<std::string, Json>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  for (const auto& [keys, item] : expected) {
    const auto it = found.find(keys);
    ASSERT_TRUE(it != found.end()) << keys;
    ASSERT_EQ(it->second, item);
  }
}

// An export in the layout of the service that this program has not written, without itemdb-manifest.json.
// Amazon's validator and scylla-migrator cannot run here; read_export.py requires what they do.
class ForeignExportE2e : public ExportReaderE2e {
 protected:
  static constexpr int kItems = testing::kHasSanitizer ? 200 : 1'000;

  void SetUp() override {
    E2eTest::SetUp();
    fs::create_directories(bucket_);
  }
  // Puts the exported items into the new table Things.
  void Import(const Json& written, bool ion, bool by_bulk_put) {
    const std::string table_file = directory_.path() + "/things.json";
    testing::WriteFile(table_file, kKeysOfWrittenItems);
    std::vector<std::string> arguments = {"-o", "jsonl"};
    if (by_bulk_put) {
      ASSERT_EQ(Itemctl({"table", "create", "-f", table_file}).exit_code, 0);
      arguments.insert(arguments.end(), {"bulk-put", "start", "Things"});
    } else {
      arguments.insert(arguments.end(), {"import", "start", "-f", table_file});
    }
    arguments.insert(arguments.end(), {"bucket", "--prefix", written["data"].get<std::string>(), "--format",
                                       ion ? "ION" : "DYNAMODB_JSON", "--compression", "GZIP", "--wait"});
    const Json done = Document(arguments);
    EXPECT_EQ(done[by_bulk_put ? "BulkOperationStatus" : "ImportStatus"], "COMPLETED") << done;
    EXPECT_EQ(done["ProcessedItemCount"], kItems) << done;
  }
};

TEST_F(ForeignExportE2e, IsImportedAndExportedAgainAsTheSameItems) {  // XPT-49, IMP-15..17, BLK-01
  const uint64_t seed = storage::TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  for (const bool ion : {false, true}) {
    const std::string format = ion ? "ION" : "DYNAMODB_JSON";
    const Json written = RunPython(
        "write_export.py", {bucket_, format, std::to_string(kItems), std::to_string(seed % 1'000'000)});
    ASSERT_EQ(written["items"].size(), static_cast<size_t>(kItems));
    const std::map<std::string, Json> items = ByKeys(written["items"]);
    // The layout that the reader requires, which both are made of.
    ExpectSameItems(
        ByKeys(RunPython("read_export.py", {bucket_, written["manifest"], "--being-ended"})["items"]), items);
    for (const bool by_bulk_put : {false, true}) {
      SCOPED_TRACE(format + (by_bulk_put ? ", bulk put" : ", import"));
      ASSERT_NO_FATAL_FAILURE(Import(written, ion, by_bulk_put));
      ExpectSameItems(ByKeys(Json(Lines({"-o", "jsonl", "scan", "Things", "--typed"}))), items);
      ASSERT_EQ(Itemctl({"pitr", "enable", "Things"}).exit_code, 0);
      for (const bool into_ion : {false, true}) {
        const Json made = Export(into_ion ? std::vector<std::string>{"--ion"} : std::vector<std::string>{});
        EXPECT_EQ(made["ItemCount"], kItems);
        ExpectSameItems(ByKeys(Read(made)["items"]), items);
      }
      ExpectCheckIsClean();
      ASSERT_EQ(Itemctl({"table", "delete", "Things", "--yes"}).exit_code, 0);
    }
  }
}

}  // namespace
}  // namespace itemdb::e2e
