// The beginnings of ranges that have nothing but tombstones.
#include "storage/store/empty_heads.h"

#include <atomic>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "rocksdb/perf_context.h"
#include "spdlog/sinks/null_sink.h"
#include "spdlog/spdlog.h"
#include "storage/keys/key_codec.h"
#include "storage/store/keyspace.h"
#include "storage/store/store.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::storage {
namespace {

using ::testing::Lt;
using ::testing::Optional;

constexpr uint32_t kFamily = 5;

// ---- the rule, step by step

class EmptyHeadsTest : public ::testing::Test {
 protected:
  static rocksdb::WriteBatch Put(const std::string& key) {
    rocksdb::WriteBatch batch;
    // The family of a batch made without a store is the default one.
    EXPECT_TRUE(batch.Put(key, "").ok());
    return batch;
  }
  // A write of family 0, from its beginning to its end.
  void Write(const std::string& key) {
    heads_.BeginWrite(Put(key));
    ++sequence_;
    heads_.EndWrite();
  }
  void Found(const std::string& end, uint64_t snapshot, const std::string& lower = "a") {
    heads_.Found(0, lower, end, snapshot, heads_.ingestion_steps(), [this] { return sequence_; });
  }
  std::optional<std::string> End(uint64_t snapshot, const std::string& lower = "a") const {
    return heads_.EndOf(0, lower, snapshot);
  }

  EmptyHeads heads_;
  uint64_t sequence_ = 100;
};

TEST_F(EmptyHeadsTest, AHeadIsKnownWhenAReaderOfTheNewestStateFoundIt) {
  Found("m", 99);
  EXPECT_EQ(End(100), std::nullopt);
  Found("m", 100);
  EXPECT_THAT(End(100), Optional<std::string>("m"));
  EXPECT_EQ(heads_.EndOf(kFamily, "a", 100), std::nullopt);
  EXPECT_EQ(End(100, "b"), std::nullopt);
}

TEST_F(EmptyHeadsTest, AnOlderSnapshotMayHaveRecordsInTheHead) {
  Found("m", 100);
  EXPECT_EQ(End(99), std::nullopt);
  EXPECT_THAT(End(101), Optional<std::string>("m"));
}

TEST_F(EmptyHeadsTest, APutIntoTheHeadEndsIt) {
  Found("m", 100);
  Write("x");
  EXPECT_THAT(End(101), Optional<std::string>("m"));
  Write("c");
  EXPECT_THAT(End(102), Optional<std::string>("c"));
  Write("d");
  EXPECT_THAT(End(103), Optional<std::string>("c"));
}

TEST_F(EmptyHeadsTest, APutBetweenTheTwoReadersEndsTheHead) {
  Found("m", 99);
  // The second reader's snapshot is from before the put.
  Write("c");
  Found("m", 100);
  EXPECT_THAT(End(101), Optional<std::string>("c"));
}

TEST_F(EmptyHeadsTest, AWriteThatHadBegunMustHaveEndedBeforeTheSecondReadersSnapshot) {
  heads_.BeginWrite(Put("c"));
  // This write is in no head, because there was none when it began.
  Found("m", 100);
  Found("m", 100);
  EXPECT_EQ(End(101), std::nullopt);
  ++sequence_;
  heads_.EndWrite();
  Found("m", 100);
  EXPECT_EQ(End(101), std::nullopt) << "the snapshot 100 lacks the put, and nobody noted it";
  Found("c", 101);
  EXPECT_THAT(End(101), Optional<std::string>("c"));
}

TEST_F(EmptyHeadsTest, AHeadIsFoundAgainFurtherOn) {
  Found("m", 100);
  Write("c");
  Found("n", 100);
  EXPECT_THAT(End(101), Optional<std::string>("c")) << "this reader has not seen c";
  Found("n", 101);
  EXPECT_THAT(End(101), Optional<std::string>("n"));
}

TEST_F(EmptyHeadsTest, AnIngestionForgetsAllHeads) {
  Found("m", 100);
  const uint64_t before = heads_.ingestion_steps();
  heads_.BeginIngestion();
  EXPECT_EQ(End(100), std::nullopt);
  for (int i = 0; i < 3; ++i) Found("m", 100);
  EXPECT_EQ(End(100), std::nullopt) << "while it goes on";
  heads_.EndIngestion();
  const auto last = [this] { return sequence_; };
  for (int i = 0; i < 3; ++i) heads_.Found(0, "a", "m", 100, before, last);
  EXPECT_EQ(End(100), std::nullopt) << "by a reader whose files are from before";
  Found("m", 100);
  EXPECT_THAT(End(100), Optional<std::string>("m"));
}

TEST_F(EmptyHeadsTest, UsedHeadsStayWhenThereAreTooMany) {
  for (const char* lower : {"a", "b", "used"}) Found("z", 100, lower);
  for (int i = 0; i < 500; ++i) {
    const std::string lower = absl::StrFormat("other%03d", i);
    Found("z", 100, lower);
    ASSERT_THAT(End(100, lower), Optional<std::string>("z"));
    ASSERT_THAT(End(100, "used"), Optional<std::string>("z")) << i;
  }
}

TEST_F(EmptyHeadsTest, HeadsThatNobodyUsesAreForgotten) {
  Found("m", 100);
  for (int i = 0; i < 20'001; ++i) Write("x");
  EXPECT_EQ(End(sequence_), std::nullopt);
}

// ---- in a store

class EmptyHeadsInStore : public ::testing::Test {
 protected:
  EmptyHeadsInStore() {
    auto log = std::make_shared<spdlog::logger>("store", std::make_shared<spdlog::sinks::null_sink_mt>());
    StoreOptions options;
    options.path = directory_.path() + "/rocksdb";
    options.env = rocksdb::Env::Default();
    options.log = log;
    options.block_cache_bytes = 8 << 20;
    options.memtable_bytes = 1 << 20;
    store_ = *Store::Open(options);
  }

  Keyspace items() const { return Keyspace(store_->items(), 7); }
  static std::string Key(int number) { return absl::StrFormat("queue%08d", number); }
  void Write(const std::string& key, bool puts) {
    rocksdb::WriteBatch batch;
    const std::string stored = items().StoredKey(key);
    EXPECT_TRUE(
        (puts ? batch.Put(store_->items(), stored, "record") : batch.Delete(store_->items(), stored)).ok());
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    EXPECT_TRUE(store_->Write(options, &batch).ok());
  }

  // The first key in a snapshot; empty: none. `known`: by what is known of empty heads.
  std::string First(const rocksdb::Snapshot* snapshot, bool known) const {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    options.total_order_seek = false;
    KeyspaceIterator it(*store_, items(), options, {"queue", PrefixSuccessor("queue")});
    known ? it.SeekBehindEmptyHead() : it.SeekToFirst();
    EXPECT_TRUE(it.status().ok());
    return it.Valid() ? std::string(it.key()) : "";
  }
  std::string FirstNow(bool known = true) const {
    rocksdb::ManagedSnapshot snapshot(store_->db());
    return First(snapshot.snapshot(), known);
  }

  testing::TemporaryDirectory directory_;
  std::shared_ptr<Store> store_;
};

TEST_F(EmptyHeadsInStore, AQueueDoesNotBecomeSlower) {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  constexpr int kRounds = 20'000;
  const auto& stepped_over = rocksdb::get_perf_context()->internal_delete_skipped_count;
  const uint64_t before = stepped_over;
  for (int i = 0; i < kRounds; ++i) {
    Write(Key(i), true);
    if (i < 10) continue;
    ASSERT_EQ(FirstNow(), Key(i - 10));
    Write(Key(i - 10), false);
  }
  EXPECT_THAT(stepped_over - before, Lt(kRounds * EmptyHeads::kWorthTombstones));
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
}

TEST_F(EmptyHeadsInStore, AnEmptyQueueIsKnownAndWhatComesIsFound) {
  for (int i = 0; i < 2'000; ++i) Write(Key(i), true);
  rocksdb::ManagedSnapshot full(store_->db());
  for (int i = 0; i < 2'000; ++i) Write(Key(i), false);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(FirstNow(), "");
  rocksdb::ManagedSnapshot now(store_->db());
  EXPECT_TRUE(
      store_->empty_heads()
          .EndOf(store_->items()->GetID(), items().StoredKey("queue"), now.snapshot()->GetSequenceNumber())
          .has_value());
  Write(Key(1'000), true);
  EXPECT_EQ(FirstNow(), Key(1'000));
  Write(Key(3), true);
  EXPECT_EQ(FirstNow(), Key(3));
  EXPECT_EQ(First(full.snapshot(), true), Key(0));
  EXPECT_EQ(First(now.snapshot(), true), "");
}

// Readers of one snapshot, with and without what is known, while writers put anywhere.
TEST_F(EmptyHeadsInStore, WhatIsKnownIsWhatIsStored) {
  constexpr int kWrites = 60'000;
  constexpr int kKeys = 4'000;
  std::atomic<bool> ends = false;
  std::atomic<int> known = 0;
  std::vector<std::thread> threads;
  for (unsigned reader = 0; reader < 3; ++reader) {
    threads.emplace_back([&] {
      while (!ends) {
        rocksdb::ManagedSnapshot snapshot(store_->db());
        const std::string found = First(snapshot.snapshot(), true);
        if (found != First(snapshot.snapshot(), false)) {
          ADD_FAILURE() << "found " << found << ", and not " << First(snapshot.snapshot(), false);
          return;
        }
        known += store_->empty_heads()
                     .EndOf(store_->items()->GetID(), items().StoredKey("queue"),
                            snapshot.snapshot()->GetSequenceNumber())
                     .has_value();
      }
    });
  }
  std::mt19937 random(4711);
  int head = 0;
  for (int i = 0; i < kWrites; ++i) {
    // Mostly a queue; sometimes a put into its empty head, which is deleted soon.
    if (i % 50 == 0) {
      const std::string early = Key(static_cast<int>(random() % static_cast<unsigned>(head + 1)));
      Write(early, true);
      if (random() % 4 == 0) std::this_thread::yield();
      Write(early, false);
    }
    Write(Key(head + 10), true);
    Write(Key(head), false);
    if (++head == kKeys) {
      for (int key = head; key <= head + 10; ++key) Write(Key(key), false);
      head = 0;
    }
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(known, 0) << "nothing was ever known, so nothing was tested";
}

}  // namespace
}  // namespace itemdb::storage
