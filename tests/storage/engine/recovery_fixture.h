// A database in a directory that tests damage and open again.
#pragma once

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/file_system.h"
#include "rocksdb/sst_file_reader.h"
#include "spdlog/sinks/ostream_sink.h"
#include "storage/encryption/environment.h"
#include "storage/engine/durability_watermark.h"
#include "tests/storage/engine/order_workload.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {

namespace fs = std::filesystem;

inline constexpr int kItems = 40;

// Cuts a file to a size, or flips a byte of it.
inline void Cut(const fs::path& path, uint64_t size) { fs::resize_file(path, size); }
inline void Flip(const fs::path& path, uint64_t offset) {
  std::string content = ReadFile(path);
  content.at(offset) = static_cast<char>(content[offset] ^ 0x20);
  WriteFile(path, content);
}

// All files below `directory` except LOCK, which exists while a database is open.
inline std::map<std::string, std::string> Contents(const fs::path& directory) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().filename() == "LOCK") continue;
    contents[fs::relative(entry.path(), directory)] =
        entry.is_regular_file() ? ReadFile(entry.path()) : "(directory)";
  }
  return contents;
}

// RocksDB's non-empty write-ahead logs, oldest first.
inline std::vector<fs::path> Logs(const fs::path& data) {
  std::vector<fs::path> logs;
  for (const auto& entry : fs::directory_iterator(data / "rocksdb")) {
    if (entry.path().extension() == ".log" && entry.file_size() > 0) logs.push_back(entry.path());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

// The ends of the records but the last one of a write-ahead log or MANIFEST. RocksDB's format: blocks of 32
// KiB, records with a header of 7 bytes (checksum, length, type).
inline std::vector<uint64_t> EndsOfRecords(const std::string& log) {
  constexpr size_t kBlock = 32'768;
  constexpr size_t kHeader = 7;
  std::vector<uint64_t> ends;
  for (size_t at = 0; at + kHeader <= log.size();) {
    if (const size_t left = kBlock - at % kBlock; left < kHeader) {
      at += left;
      continue;
    }
    const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(log[at + i])); };
    at += kHeader + byte(4) + (byte(5) << 8);
    ends.push_back(at);
  }
  ends.pop_back();
  return ends;
}

// The real file system without syncs, because no test here cuts the power. Reports too little free space for
// a ballast, which would be 32 MiB in every copy.
class QuickDisk : public rocksdb::FileSystemWrapper {
 public:
  QuickDisk() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  static const char* kClassName() { return "QuickDisk"; }
  const char* Name() const override { return kClassName(); }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* dbg) override {
    rocksdb::IOStatus status = target()->NewWritableFile(path, options, result, dbg);
    if (status.ok()) *result = std::make_unique<File>(std::move(*result));
    return status;
  }
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result,
                                 rocksdb::IODebugContext* dbg) override {
    rocksdb::IOStatus status = target()->NewDirectory(path, options, result, dbg);
    if (status.ok()) *result = std::make_unique<Directory>();
    return status;
  }
  rocksdb::IOStatus GetFreeSpace(const std::string&, const rocksdb::IOOptions&, uint64_t* bytes,
                                 rocksdb::IODebugContext*) override {
    *bytes = 200 << 20;
    return rocksdb::IOStatus::OK();
  }

 private:
  struct File : rocksdb::FSWritableFileOwnerWrapper {
    using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
    rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return rocksdb::IOStatus::OK();
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return rocksdb::IOStatus::OK();
    }
  };
  struct Directory : rocksdb::FSDirectory {
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return rocksdb::IOStatus::OK();
    }
  };
};

// A log that can be read while the database writes it.
class LogText {
 public:
  std::ostream& stream() { return stream_; }
  std::string str() const { return buffer_.text(); }
  void Clear() { buffer_.Clear(); }

 private:
  class Buffer : public std::streambuf {
   public:
    std::string text() const {
      std::lock_guard<std::mutex> lock(mutex_);
      return text_;
    }
    void Clear() {
      std::lock_guard<std::mutex> lock(mutex_);
      text_.clear();
    }

   protected:
    int_type overflow(int_type c) override {
      std::lock_guard<std::mutex> lock(mutex_);
      text_ += static_cast<char>(c);
      return c;
    }
    std::streamsize xsputn(const char* bytes, std::streamsize count) override {
      std::lock_guard<std::mutex> lock(mutex_);
      text_.append(bytes, static_cast<size_t>(count));
      return count;
    }

   private:
    mutable std::mutex mutex_;
    std::string text_;
  };

  Buffer buffer_;
  std::ostream stream_{&buffer_};
};

class RecoveryTest : public ::testing::Test {
 protected:
  RecoveryTest() { fs::create_directory(root_); }
  void TearDown() override {
    if (HasFailure()) std::cerr << log_.str();
  }

  DatabaseOptions Options(bool recover_last_good = false) {
    DatabaseOptions options = TestDatabase::DefaultOptions(data_);
    options.file_system = std::make_shared<QuickDisk>();
    options.recover_last_good = recover_last_good;
    if (!encryption_keys_.empty()) options.encryption_keys = encryption_keys_;
    options.log = std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_.stream()));
    return options;
  }

  static absl::StatusOr<wire::WriteItemReply> Put(Database& database, int number, size_t padding = 0,
                                                  const std::string& token = "") {
    wire::WriteItemRequest request;
    request.set_client_request_token(token);
    request.set_table_name(kOrderTable);
    request.set_key_or_item(Encode({{"pk", S("order-" + std::to_string(number))},
                                    {"sk", S("#")},
                                    {"customer", S("customer-" + std::to_string(number % 3))},
                                    {"date", S("2025-10-01")},
                                    {"rep", S("rep-1")},
                                    {"status", S("OPEN")},
                                    {"shard", N(std::to_string(number % 5))},
                                    {"total", N(std::to_string(number))},
                                    {"padding", S(std::string(padding, 'p'))}}));
    return Await<wire::WriteItemReply>([&](auto done) { database.PutItem(request, std::move(done)); });
  }

  // A closed database in data_: the table is change 1, order-1 is change 2, and so on; all in one log.
  void MakeDatabase() {
    auto database = Database::Open(Options());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(CreateTable(**database).ok());
    for (int i = 1; i <= kItems; ++i) ASSERT_TRUE(Put(**database, i).ok());
    last_sequence_ = 1 + kItems;
    items_ = kItems;
    database->reset();
    ASSERT_EQ(Logs(data_).size(), 1u);
    ASSERT_EQ(ReadWatermarkFile().sequence, last_sequence_);
  }

  // The same with at least two logs.
  void MakeDatabaseWithTwoLogs() {
    DatabaseOptions options = Options();
    options.memtable_bytes = 1 << 20;
    auto database = Database::Open(options);
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(CreateTable(**database).ok());
    items_ = 0;
    while (Logs(data_).size() < 2) {
      ASSERT_LT(items_, 2'000) << "no new log was begun";
      ASSERT_TRUE(Put(**database, ++items_, 2'000).ok());
    }
    // The next sync records the closed log in the manifest.
    ASSERT_TRUE(Put(**database, ++items_).ok());
    last_sequence_ = 1 + items_;
    database->reset();
    ASSERT_GE(Logs(data_).size(), 2u);
  }

  // The same with two logs. The older log is needed for items but not for change records: these hold two
  // images of a large item, so their memtable is full first and is written to a table file alone.
  void MakeDatabaseWithChangeRecordsInTableFiles() {
    DatabaseOptions options = Options();
    options.memtable_bytes = 4 << 20;
    auto database = Database::Open(options);
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(CreateTable(**database).ok());
    int puts = 0;
    while (Logs(data_).size() < 2) {
      ASSERT_LT(puts, 2'000) << "no new log was begun";
      ASSERT_TRUE(Put(**database, 1 + puts % 5, 20'000 + puts).ok());
      ++puts;
    }
    ASSERT_TRUE(Put(**database, 6).ok());  // Records the closed log in the manifest.
    items_ = 6;
    last_sequence_ = 2 + puts;
    while (!HasTableFile()) std::this_thread::yield();
    database->reset();
    ASSERT_EQ(Logs(data_).size(), 2u);
  }
  // A closed database as MakeDatabase makes it, with its data in table files, one for each column family.
  void MakeDatabaseInTableFiles() {
    MakeDatabase();
    ASSERT_TRUE(Database::Open(Options()).ok());
    ASSERT_GT(TableFiles().size(), 5u);
  }
  std::vector<std::string> TableFiles() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(data_ + "/rocksdb"))
      if (entry.path().extension() == ".sst") files.push_back(entry.path().filename());
    std::sort(files.begin(), files.end());
    return files;
  }
  bool HasTableFile() const {
    for (const auto& entry : fs::directory_iterator(data_ + "/rocksdb")) {
      if (entry.path().extension() == ".sst") return true;
    }
    return false;
  }

  static absl::StatusOr<v1::CreateTableReply> CreateTable(Database& database) {
    return Await<v1::CreateTableReply>(
        [&](auto done) { database.CreateTable(OrderTableRequest(), std::move(done)); });
  }

  // Returns when the DDL thread is idle, so that RocksDB's files no longer change.
  static void AwaitDefinitions(Database& database) {
    EXPECT_EQ(ReasonOf(CreateTable(database).status()), kReasonResourceInUse);
  }

  DurabilityWatermark ReadWatermarkFile() {
    auto watermark = ReadWatermark(rocksdb::Env::Default(), data_);
    EXPECT_TRUE(watermark.ok() && watermark->has_value());
    return watermark.ok() && watermark->has_value() ? **watermark : DurabilityWatermark();
  }

  // An ordinary opening is refused with `code`, `reason` and a matching message, and changes nothing.
  template <typename Matcher>
  void ExpectRefused(absl::StatusCode code, std::string_view reason, Matcher message,
                     bool recover_last_good = false) {
    std::map<std::string, std::string> before = Contents(data_);
    auto opened = Database::Open(Options(recover_last_good));
    ASSERT_FALSE(opened.ok()) << "a damaged directory was opened";
    EXPECT_EQ(opened.status().code(), code) << opened.status();
    EXPECT_EQ(ReasonOf(opened.status()), reason);
    EXPECT_THAT(MessageOf(opened.status()), ::testing::AllOf(::testing::HasSubstr(data_), message));
    std::map<std::string, std::string> after = Contents(data_);
    EXPECT_TRUE(before == after) << "refusing changed the directory";
  }
  template <typename Matcher>
  void ExpectDataLoss(Matcher message) {
    ExpectRefused(absl::StatusCode::kDataLoss, kReasonDataLoss,
                  ::testing::AllOf(message, ::testing::HasSubstr("--recover=last-good")));
  }

  // The store's files, without those that RocksDB makes for itself.
  static std::map<std::string, std::string> StoreFiles(const fs::path& store) {
    std::map<std::string, std::string> files;
    if (fs::exists(store)) files = Contents(store);
    std::erase_if(files, [](const auto& file) { return file.first.starts_with("LOG"); });
    return files;
  }
  // The highest N of quarantine-N; 0 for none.
  int LastQuarantine() const {
    int last = 0;
    for (const auto& entry : fs::directory_iterator(data_)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("quarantine-")) last = std::max(last, std::stoi(name.substr(11)));
    }
    return last;
  }
  std::string QuarantinePath(int number) const { return data_ + "/quarantine-" + std::to_string(number); }

  // recover_last_good opens the directory; the files from before are kept byte for byte; change numbers
  // continue above all used ones; later openings are ordinary. Returns how many items are left.
  int ExpectRecovers() {
    int left = -1;
    const std::map<std::string, std::string> files = StoreFiles(data_ + "/rocksdb");
    const int quarantine = LastQuarantine();
    {
      auto opened = Database::Open(Options(/*recover_last_good=*/true));
      EXPECT_TRUE(opened.ok()) << opened.status();
      if (!opened.ok()) return left;
      EXPECT_EQ(LastQuarantine(), quarantine + 1);
      EXPECT_TRUE(StoreFiles(QuarantinePath(quarantine + 1) + "/rocksdb") == files) << "a file was not kept";
      EXPECT_FALSE(fs::exists(data_ + "/recovery"));
      uint64_t start = (*opened)->GetStatus().change_sequence() + 1;
      EXPECT_GT(start, last_sequence_);
      left = static_cast<int>(ReadOrders(**opened, start).rows.size());
      ExpectTrimmed(**opened);
      auto put = Put(**opened, 100'000);
      EXPECT_TRUE(put.ok()) << put.status();
      EXPECT_EQ(put.ok() ? put->change_sequence() : 0, start);
      last_sequence_ = start;
    }
    auto opened = Database::Open(Options());
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return left;
    StoredOrders stored = ReadOrders(**opened, last_sequence_);
    EXPECT_EQ(stored.last_sequence, last_sequence_);
    EXPECT_EQ(stored.rows.size(), static_cast<size_t>(left) + 1);
    EXPECT_TRUE(stored.rows.contains({"order-100000", "#"}));
    return left;
  }

  // Recovers, and returns whether the order table still exists.
  bool TableSurvives() {
    auto opened = Database::Open(Options(/*recover_last_good=*/true));
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() && (*opened)->GetStatus().table_count() == 1;
  }

  // Recovers a directory that has lost the order table's definition, and creates the table again.
  void ExpectNewTableIsEmpty() {
    auto opened = Database::Open(Options(/*recover_last_good=*/true));
    ASSERT_TRUE(opened.ok()) << opened.status();
    auto created = CreateTable(**opened);
    ASSERT_TRUE(created.ok()) << created.status();
    EXPECT_GT(created->change_sequence(), last_sequence_);
    for (int reopened = 0; reopened < 2; ++reopened) {
      StoredOrders stored = ReadOrders(**opened, created->change_sequence());
      EXPECT_TRUE(stored.has_table);
      EXPECT_EQ(stored.rows.size(), 0u);
      opened->reset();
      opened = Database::Open(Options());
      ASSERT_TRUE(opened.ok()) << opened.status();
    }
  }

  // A reader of changes that are gone must get an error.
  static void ExpectTrimmed(Database& database) {
    auto page = Await<v1::ReadChangesReply>([&](auto done) { database.ReadChanges({}, std::move(done)); });
    EXPECT_EQ(ReasonOf(page.status()), kReasonChangesTrimmed) << page.status();
  }

  // Save a copy of the directory, and restore it.
  void Save() {
    fs::remove_all(saved_);
    fs::copy(data_, saved_, fs::copy_options::recursive);
  }
  void Restore() {
    fs::remove_all(data_);
    fs::copy(saved_, data_, fs::copy_options::recursive);
  }

  TemporaryDirectory directory_;
  const std::string root_ = directory_.path() + "/disk";
  const std::string data_ = root_ + "/data";
  const std::string saved_ = directory_.path() + "/saved";
  // The log lines of all openings.
  LogText log_;
  uint64_t last_sequence_ = 0;
  int items_ = 0;
  // Empty: the database is not encrypted.
  EncryptionKeys encryption_keys_;
};

// Damages single files of a database, and looks at what is left.
class DamagedFilesTest : public RecoveryTest {
 protected:
  fs::path PathOf(const std::string& file) const { return fs::path(data_) / "rocksdb" / file; }

  // For reading the files of the database, encrypted ones too.
  rocksdb::Options ReaderOptions() const {
    const DatabaseOptions database = TestDatabase::DefaultOptions(data_);
    environment_ = std::make_unique<Environment>(nullptr);
    EXPECT_TRUE(
        environment_->Open(data_, encryption_keys_.empty() ? database.encryption_keys : encryption_keys_)
            .ok());
    rocksdb::Options options;
    options.env = environment_->env();
    return options;
  }

  // The column family of a table file.
  std::string FamilyOf(const std::string& file) const {
    rocksdb::SstFileReader reader{ReaderOptions()};
    EXPECT_TRUE(reader.Open(PathOf(file)).ok()) << file;
    return reader.GetTableProperties()->column_family_name;
  }

  // The size of the blocks of records of a table file, with which it begins.
  uint64_t DataBytes(const std::string& file) const {
    rocksdb::SstFileReader reader{ReaderOptions()};
    EXPECT_TRUE(reader.Open(PathOf(file)).ok()) << file;
    return reader.GetTableProperties()->data_size;
  }

  // The database is open, has the order table, and nothing in it disagrees.
  static void ExpectConsistent(Database& database) {
    EXPECT_EQ(database.GetStatus().table_count(), 1);
    auto check =
        Await<v1::CheckDatabaseReply>([&](auto done) { database.CheckDatabase({}, std::move(done)); });
    ASSERT_TRUE(check.ok()) << check.status();
    EXPECT_EQ(check->finding_count(), 0) << check->DebugString();
  }

  // Large items in table files, so that each file has many blocks; a second file if `files` is 2.
  void MakeLargeItemsInTableFiles(int files = 1) {
    auto database = Database::Open(Options());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(CreateTable(**database).ok());
    last_sequence_ = 1;
    items_ = 0;
    for (int file = 0; file < files; ++file) {
      for (int i = 0; i < kLargeItems; ++i) ASSERT_TRUE(Put(**database, ++items_, 3'000).ok());
      last_sequence_ += kLargeItems;
      database->reset();
      database = Database::Open(Options());  // Writes the log to table files.
      ASSERT_TRUE(database.ok()) << database.status();
    }
  }
  std::vector<std::string> FilesOf(const std::string& family) const {
    std::vector<std::string> files;
    for (const std::string& file : TableFiles())
      if (FamilyOf(file) == family) files.push_back(file);
    return files;
  }
  fs::path Manifest() const {
    for (const auto& entry : fs::directory_iterator(data_ + "/rocksdb"))
      if (entry.path().filename().string().starts_with("MANIFEST-")) return entry.path();
    return {};
  }
  // How many items GetItem finds; the others must be DATA_LOSS, or, if `missing_is_ok`, missing.
  int CountReadable(Database& database, bool missing_is_ok) const {
    int readable = 0;
    for (int i = 1; i <= items_; ++i) {
      wire::GetItemRequest request;
      request.set_table_name(kOrderTable);
      request.set_key(Encode({{"pk", S("order-" + std::to_string(i))}, {"sk", S("#")}}));
      auto got = Await<wire::GetItemReply>([&](auto done) { database.GetItem(request, std::move(done)); });
      if (got.ok() && !got->item().empty()) {
        ++readable;
      } else if (!got.ok()) {
        EXPECT_EQ(got.status().code(), absl::StatusCode::kDataLoss) << got.status();
      } else {
        EXPECT_TRUE(missing_is_ok) << "order-" << i << " is missing without an error";
      }
    }
    return readable;
  }

  static constexpr int kLargeItems = 60;

 private:
  // Of ReaderOptions.
  mutable std::unique_ptr<Environment> environment_;
};

}  // namespace itemdb::testing
