// The simulated power cut: first on single files, then under RocksDB. The tests under RocksDB show that the
// simulation is useful: synced writes survive every cut, and unsynced writes are lost.
#include "tests/support/power_loss_file_system.h"

#include <atomic>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

using rocksdb::IOStatus;

constexpr int kSeeds = 64;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return "(none)";
  std::stringstream content;
  content << in.rdbuf();
  return content.str();
}

// One simulated disk, with shorthands for calls on it.
class Disk {
 public:
  Disk() : root_(temporary_.path() + "/disk") {
    std::filesystem::create_directory(root_);
    PowerOn();
  }

  // Starts a new file system on what the old one left.
  void PowerOn() {
    fs_.reset();
    fs_ = std::make_shared<PowerLossFileSystem>(root_);
  }

  std::string Path(const std::string& name) const { return name.empty() ? root_ : root_ + "/" + name; }
  std::string Content(const std::string& name) const { return ReadFile(Path(name)); }
  const std::shared_ptr<PowerLossFileSystem>& fs() const { return fs_; }
  PowerLossFileSystem* operator->() const { return fs_.get(); }

  std::unique_ptr<rocksdb::FSWritableFile> Create(const std::string& name) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(fs_->NewWritableFile(Path(name), {}, &file, nullptr).ok());
    return file;
  }
  void Write(const std::string& name, const std::string& content, bool sync) {
    auto file = Create(name);
    EXPECT_TRUE(file->Append(content, {}, nullptr).ok());
    if (sync) {
      EXPECT_TRUE(file->Sync({}, nullptr).ok());
    }
    EXPECT_TRUE(file->Close({}, nullptr).ok());
  }
  void Rename(const std::string& from, const std::string& to) {
    EXPECT_TRUE(fs_->RenameFile(Path(from), Path(to), {}, nullptr).ok());
  }
  void Delete(const std::string& name) { EXPECT_TRUE(fs_->DeleteFile(Path(name), {}, nullptr).ok()); }
  void MakeDirectory(const std::string& name) { EXPECT_TRUE(fs_->CreateDir(Path(name), {}, nullptr).ok()); }
  void SyncDirectory(const std::string& name = "") {
    std::unique_ptr<rocksdb::FSDirectory> directory;
    ASSERT_TRUE(fs_->NewDirectory(Path(name), {}, &directory, nullptr).ok());
    EXPECT_TRUE(directory->Fsync({}, nullptr).ok());
  }

 private:
  TemporaryDirectory temporary_;
  std::string root_;
  std::shared_ptr<PowerLossFileSystem> fs_;
};

// Every content that `name` has after a power cut when `program` ran before it, over many seeds.
template <typename Program>
std::set<std::string> ContentsAfterCut(const std::string& name, Program program) {
  std::set<std::string> contents;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Disk disk;
    program(disk);
    disk->DropUnsynced(seed);
    contents.insert(disk.Content(name));
  }
  return contents;
}

TEST(PowerLossFileSystem, KeepsSyncedBytesAndAnyPrefixOfTheRest) {
  auto contents = ContentsAfterCut("file", [](Disk& disk) {
    auto file = disk.Create("file");
    disk.SyncDirectory();
    ASSERT_TRUE(file->Append("abc", {}, nullptr).ok());
    ASSERT_TRUE(file->Sync({}, nullptr).ok());
    ASSERT_TRUE(file->Append("defg", {}, nullptr).ok());
    ASSERT_TRUE(file->Close({}, nullptr).ok());
  });
  EXPECT_EQ(contents, (std::set<std::string>{"abc", "abcd", "abcde", "abcdef", "abcdefg"}));
}

TEST(PowerLossFileSystem, RangeSyncAndFlushMakeNothingDurable) {
  auto contents = ContentsAfterCut("file", [](Disk& disk) {
    auto file = disk.Create("file");
    disk.SyncDirectory();
    ASSERT_TRUE(file->Append("a", {}, nullptr).ok());
    ASSERT_TRUE(file->RangeSync(0, 1, {}, nullptr).ok());
    ASSERT_TRUE(file->Flush({}, nullptr).ok());
  });
  EXPECT_EQ(contents, (std::set<std::string>{"", "a"}));
}

TEST(PowerLossFileSystem, KeepsNothingMoreAfterAFailedSync) {
  auto contents = ContentsAfterCut("file", [](Disk& disk) {
    auto file = disk.Create("file");
    disk.SyncDirectory();
    disk->Inject({.matches = [](const std::string& path) { return path.ends_with("/file"); }});
    ASSERT_TRUE(file->Append("a", {}, nullptr).ok());
    EXPECT_TRUE(file->Sync({}, nullptr).IsIOError());
    EXPECT_EQ(disk->faults_left(), 0);
    EXPECT_TRUE(file->Sync({}, nullptr).ok());
  });
  EXPECT_EQ(contents, (std::set<std::string>{"", "a"}));
}

TEST(PowerLossFileSystem, RewritesInPlaceWholeOrNotAtAll) {
  auto rewrite = [](bool sync) {
    return [sync](Disk& disk) {
      disk.Write("file", "old content", /*sync=*/true);
      disk.SyncDirectory();
      disk.Write("file", "new", sync);
    };
  };
  EXPECT_EQ(ContentsAfterCut("file", rewrite(false)),
            (std::set<std::string>{"old content", "", "n", "ne", "new"}));
  EXPECT_EQ(ContentsAfterCut("file", rewrite(true)), (std::set<std::string>{"new"}));
}

TEST(PowerLossFileSystem, UndoesUnsyncedOverwrites) {
  auto contents = ContentsAfterCut("file", [](Disk& disk) {
    disk.Write("file", "abcdef", /*sync=*/true);
    disk.SyncDirectory();
    std::unique_ptr<rocksdb::FSRandomRWFile> file;
    ASSERT_TRUE(disk->NewRandomRWFile(disk.Path("file"), {}, &file, nullptr).ok());
    ASSERT_TRUE(file->Write(0, "X", {}, nullptr).ok());
    ASSERT_TRUE(file->Sync({}, nullptr).ok());
    ASSERT_TRUE(file->Write(2, "YZ", {}, nullptr).ok());
  });
  EXPECT_EQ(contents, (std::set<std::string>{"Xbcdef", "XbYZef"}));
}

TEST(PowerLossFileSystem, UndoesUnsyncedTruncation) {
  auto contents = ContentsAfterCut("file", [](Disk& disk) {
    disk.Write("file", "abcdef", /*sync=*/true);
    disk.SyncDirectory();
    std::unique_ptr<rocksdb::FSWritableFile> file;
    ASSERT_TRUE(disk->ReopenWritableFile(disk.Path("file"), {}, &file, nullptr).ok());
    ASSERT_TRUE(file->Truncate(2, {}, nullptr).ok());
  });
  EXPECT_EQ(contents, (std::set<std::string>{"abcdef", "ab"}));
}

TEST(PowerLossFileSystem, RenameWithoutDirectorySyncLeavesTheOldOrTheNewContent) {
  auto replace = [](bool sync_directory) {
    return [sync_directory](Disk& disk) {
      disk.Write("WATERMARK", "old", /*sync=*/true);
      disk.SyncDirectory();
      disk.Write("WATERMARK.tmp", "new", /*sync=*/true);
      disk.Rename("WATERMARK.tmp", "WATERMARK");
      if (sync_directory) disk.SyncDirectory();
    };
  };
  EXPECT_EQ(ContentsAfterCut("WATERMARK", replace(false)), (std::set<std::string>{"old", "new"}));
  EXPECT_EQ(ContentsAfterCut("WATERMARK", replace(true)), (std::set<std::string>{"new"}));
}

// A frequent mistake with renames: the new name is durable, the bytes are not.
TEST(PowerLossFileSystem, RenamedFileThatWasNotSyncedCanBeEmpty) {
  auto contents = ContentsAfterCut("WATERMARK", [](Disk& disk) {
    disk.Write("WATERMARK", "old", /*sync=*/true);
    disk.SyncDirectory();
    disk.Write("WATERMARK.tmp", "new", /*sync=*/false);
    disk.Rename("WATERMARK.tmp", "WATERMARK");
    disk.SyncDirectory();
  });
  EXPECT_EQ(contents, (std::set<std::string>{"", "n", "ne", "new"}));
}

TEST(PowerLossFileSystem, CreationIsUndoneUntilTheDirectoryIsSynced) {
  auto create = [](bool sync_directory) {
    return [sync_directory](Disk& disk) {
      disk.Write("file", "a", /*sync=*/true);
      if (sync_directory) disk.SyncDirectory();
    };
  };
  EXPECT_EQ(ContentsAfterCut("file", create(false)), (std::set<std::string>{"(none)", "a"}));
  EXPECT_EQ(ContentsAfterCut("file", create(true)), (std::set<std::string>{"a"}));
}

TEST(PowerLossFileSystem, DeletionIsUndoneUntilTheDirectoryIsSynced) {
  auto remove = [](bool sync_directory) {
    return [sync_directory](Disk& disk) {
      disk.Write("file", "a", /*sync=*/true);
      disk.SyncDirectory();
      disk.Delete("file");
      if (sync_directory) disk.SyncDirectory();
    };
  };
  EXPECT_EQ(ContentsAfterCut("file", remove(false)), (std::set<std::string>{"(none)", "a"}));
  EXPECT_EQ(ContentsAfterCut("file", remove(true)), (std::set<std::string>{"(none)"}));
}

TEST(PowerLossFileSystem, LinkIsUndoneAloneAndTheFileStays) {
  auto link = [](Disk& disk) {
    disk.Write("file", "a", /*sync=*/true);
    disk.SyncDirectory();
    ASSERT_TRUE(disk->LinkFile(disk.Path("file"), disk.Path("second"), {}, nullptr).ok());
  };
  EXPECT_EQ(ContentsAfterCut("second", link), (std::set<std::string>{"(none)", "a"}));
  EXPECT_EQ(ContentsAfterCut("file", link), (std::set<std::string>{"a"}));
}

// A database that syncs its own directory but not the parent directory can vanish as a whole.
TEST(PowerLossFileSystem, NewDirectoryVanishesWithItsFilesUntilItsParentIsSynced) {
  auto create = [](bool sync_parent) {
    return [sync_parent](Disk& disk) {
      disk.MakeDirectory("data");
      disk.Write("data/file", "a", /*sync=*/true);
      disk.SyncDirectory("data");
      if (sync_parent) disk.SyncDirectory();
    };
  };
  EXPECT_EQ(ContentsAfterCut("data/file", create(false)), (std::set<std::string>{"(none)", "a"}));
  EXPECT_EQ(ContentsAfterCut("data/file", create(true)), (std::set<std::string>{"a"}));
}

// Changes of one name are undone from the last to the first; otherwise too much content could vanish.
TEST(PowerLossFileSystem, HistoryOfOneNameIsUndoneFromItsEnd) {
  auto contents = ContentsAfterCut("a", [](Disk& disk) {
    disk.Write("a", "1", /*sync=*/true);
    disk.SyncDirectory();
    disk.Rename("a", "b");
    disk.Write("a", "2", /*sync=*/true);
    disk.Delete("b");
    disk.Rename("a", "b");
    disk.Rename("b", "a");
  });
  EXPECT_EQ(contents, (std::set<std::string>{"1", "2", "(none)"}));
}

TEST(PowerLossFileSystem, DirectoryRenameTakesItsFilesAlong) {
  auto contents = ContentsAfterCut("to/file", [](Disk& disk) {
    disk.MakeDirectory("from");
    disk.Write("from/file", "ab", /*sync=*/false);
    disk.Rename("from", "to");
    disk.SyncDirectory();
  });
  EXPECT_EQ(contents, (std::set<std::string>{"", "a", "ab"}));
}

TEST(PowerLossFileSystem, RefusesEveryChangeOnceThePowerIsCut) {
  Disk disk;
  auto file = disk.Create("file");
  ASSERT_TRUE(file->Append("a", {}, nullptr).ok());
  std::unique_ptr<rocksdb::FSDirectory> directory;
  ASSERT_TRUE(disk->NewDirectory(disk.Path(""), {}, &directory, nullptr).ok());
  EXPECT_EQ(disk->operations(), 2u);
  disk->CutPowerAfter(1);
  EXPECT_TRUE(file->Append("b", {}, nullptr).ok());
  EXPECT_TRUE(file->Append("c", {}, nullptr).IsIOError());
  EXPECT_TRUE(disk->power_is_cut());
  EXPECT_TRUE(file->Sync({}, nullptr).IsIOError());
  EXPECT_TRUE(directory->Fsync({}, nullptr).IsIOError());
  EXPECT_TRUE(disk->RenameFile(disk.Path("file"), disk.Path("other"), {}, nullptr).IsIOError());
  EXPECT_TRUE(disk->DeleteFile(disk.Path("file"), {}, nullptr).IsIOError());
  EXPECT_TRUE(disk->LinkFile(disk.Path("file"), disk.Path("other"), {}, nullptr).IsIOError());
  EXPECT_TRUE(disk->CreateDir(disk.Path("directory"), {}, nullptr).IsIOError());
  std::unique_ptr<rocksdb::FSWritableFile> other;
  EXPECT_TRUE(disk->NewWritableFile(disk.Path("other"), {}, &other, nullptr).IsIOError());
  EXPECT_EQ(disk.Content("file"), "ab");
}

TEST(PowerLossFileSystem, InjectedFaultsHitOnlyWhatTheyName) {
  Disk disk;
  auto wal = disk.Create("1.log");
  auto table = disk.Create("2.sst");
  disk->Inject({.operation = InjectedFault::Operation::kAppend,
                .matches = [](const std::string& path) { return path.ends_with(".log"); },
                .times = 2,
                .status = IOStatus::NoSpace("full")});
  EXPECT_TRUE(table->Append("a", {}, nullptr).ok());
  EXPECT_TRUE(wal->Sync({}, nullptr).ok());
  EXPECT_TRUE(wal->Append("a", {}, nullptr).IsNoSpace());
  EXPECT_TRUE(wal->Append("a", {}, nullptr).IsNoSpace());
  EXPECT_TRUE(wal->Append("a", {}, nullptr).ok());
  EXPECT_EQ(disk.Content("1.log"), "a");
}

TEST(PowerLossFileSystem, ReadsFailWhenTold) {
  Disk disk;
  for (const char* name : {"1.sst", "2.sst"}) disk.Write(name, "content", /*sync=*/true);
  auto read = [&](const std::string& name) {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    EXPECT_TRUE(disk->NewRandomAccessFile(disk.Path(name), {}, &file, nullptr).ok());
    char scratch[16];
    rocksdb::Slice result;
    IOStatus status = file->Read(3, 2, {}, &result, scratch, nullptr);
    return status.ok() ? result.ToString() : status.ToString();
  };
  EXPECT_EQ(read("1.sst"), "te");
  disk->Inject({.operation = InjectedFault::Operation::kRead,
                .matches = [](const std::string& path) { return path.ends_with("1.sst"); },
                .times = 1'000});
  EXPECT_EQ(read("1.sst"), "IO error: injected fault");
  EXPECT_EQ(read("2.sst"), "te");
  disk->ClearFaults();
  EXPECT_EQ(read("1.sst"), "te");
}

TEST(PowerLossFileSystem, LiesAboutFreeSpaceWhenTold) {
  Disk disk;
  uint64_t bytes = 0;
  disk->SetFreeSpace(12345);
  ASSERT_TRUE(disk->GetFreeSpace(disk.Path(""), {}, &bytes, nullptr).ok());
  EXPECT_EQ(bytes, 12345u);
  disk->SetFreeSpace(std::nullopt);
  ASSERT_TRUE(disk->GetFreeSpace(disk.Path(""), {}, &bytes, nullptr).ok());
  EXPECT_NE(bytes, 12345u);
}

// ---- under RocksDB --------------------------------------------------------------------------------

class NullLogger : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

rocksdb::Options DatabaseOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.env = env;
  options.info_log = std::make_shared<NullLogger>();
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.allow_fallocate = false;
  // Small buffers, so that flushes, new WALs and compactions happen while the power fails.
  options.write_buffer_size = 64 << 10;
  options.arena_block_size = 4 << 10;
  options.level0_file_num_compaction_trigger = 2;
  options.max_background_jobs = 2;
  return options;
}

struct Outcome {
  bool opened = false;
  std::string error;
  // `acknowledged`: writes that succeeded; `lost`: those of them whose value is lost.
  int acknowledged = 0;
  int lost = 0;
  PowerLossReport report;
};

// Two threads put different keys until the power is cut at a moment chosen by `seed`; then the database is
// opened on what is left, with the real file system.
Outcome RunUntilCut(uint64_t seed, bool sync) {
  Disk disk;
  std::mt19937_64 random(seed);
  // Every other cut comes during or soon after the opening of the database, when files are created and
  // renamed, so that entries are undone however the threads run.
  disk->CutPowerAfter(random() % (seed % 2 == 0 ? 100 : 2'000));
  std::map<std::string, std::string> acknowledged[2];
  {
    std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(disk.fs());
    rocksdb::DB* raw = nullptr;
    rocksdb::Status opened = rocksdb::DB::Open(DatabaseOptions(env.get()), disk.Path(""), &raw);
    std::unique_ptr<rocksdb::DB> db(raw);
    if (opened.ok()) {
      auto put = [&](int thread) {
        rocksdb::WriteOptions options;
        options.sync = sync;
        for (int i = 0; i < 4'000; ++i) {
          std::string key = std::to_string(thread) + "/" + std::to_string(i % 500);
          std::string value = std::to_string(i) + std::string(200, 'v');
          // A failed put may have reached the disk, so the old value need not be there.
          if (!db->Put(options, key, value).ok()) {
            acknowledged[thread].erase(key);
            return;
          }
          acknowledged[thread][key] = value;
        }
      };
      std::thread other(put, 1);
      put(0);
      other.join();
    }
  }
  Outcome outcome;
  outcome.report = disk->DropUnsynced(seed);
  rocksdb::DB* raw = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(DatabaseOptions(rocksdb::Env::Default()), disk.Path(""), &raw);
  std::unique_ptr<rocksdb::DB> db(raw);
  outcome.opened = status.ok();
  outcome.error = status.ToString();
  if (!status.ok()) return outcome;
  for (const auto& writes : acknowledged) {
    for (const auto& [key, value] : writes) {
      ++outcome.acknowledged;
      std::string found;
      if (!db->Get({}, key, &found).ok() || found != value) ++outcome.lost;
    }
  }
  return outcome;
}

// One outcome per seed. Runs several seeds at once, because RocksDB sleeps for a second after a failed flush
// before it gives up.
std::vector<Outcome> RunSeeds(uint64_t seeds, bool sync) {
  std::vector<Outcome> outcomes(seeds);
  std::atomic<uint64_t> next = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (uint64_t seed = next++; seed < seeds; seed = next++) outcomes[seed] = RunUntilCut(seed, sync);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

TEST(PowerLossUnderRocksDb, EverySyncedWriteSurvives) {
  std::vector<Outcome> outcomes = RunSeeds(100, /*sync=*/true);
  int acknowledged = 0;
  uint64_t lost_bytes = 0;
  int undone_entries = 0;
  for (size_t seed = 0; seed < outcomes.size(); ++seed) {
    const Outcome& outcome = outcomes[seed];
    SCOPED_TRACE(seed);
    ASSERT_TRUE(outcome.opened) << outcome.error << (outcome.report.in_order ? " in order" : " any order");
    EXPECT_EQ(outcome.lost, 0);
    acknowledged += outcome.acknowledged;
    lost_bytes += outcome.report.lost_bytes;
    undone_entries += outcome.report.undone_entries;
  }
  // The cuts had effects.
  EXPECT_GT(acknowledged, 1'000);
  EXPECT_GT(lost_bytes, 0u);
  EXPECT_GT(undone_entries, 0);
}

TEST(PowerLossUnderRocksDb, UnsyncedWritesAreSeenToGo) {
  int seeds_with_loss = 0;
  for (const Outcome& outcome : RunSeeds(30, /*sync=*/false)) {
    if (outcome.opened && outcome.lost > 0) ++seeds_with_loss;
  }
  EXPECT_GT(seeds_with_loss, 5);
}

}  // namespace
}  // namespace itemdb::testing
