// Damage to a closed database, made through RocksDB itself, and what the check finds.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <rocksdb/db.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/keys/key_codec.h"
#include "storage/keys/storage_id.h"
#include "storage/store/size_statistics.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {

// The column families of a closed database.
class Families {
 public:
  explicit Families(const std::string& data_directory) {
    const std::string path = data_directory + "/rocksdb";
    std::vector<std::string> names;
    rocksdb::DBOptions options;
    Check(rocksdb::DB::ListColumnFamilies(options, path, &names));
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : names) descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions());
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    Check(rocksdb::DB::Open(options, path, descriptors, &handles, &db));
    db_.reset(db);
    for (size_t i = 0; i < names.size(); ++i) families_[names[i]] = handles[i];
  }
  ~Families() {
    for (const auto& [name, handle] : families_) Check(db_->DestroyColumnFamilyHandle(handle));
  }

  // The records of a table or index, or of a whole family, in key order.
  std::map<std::string, std::string> All(uint64_t storage_id) {
    return All(FamilyOf(storage_id), Prefix(storage_id));
  }
  std::map<std::string, std::string> All(const std::string& family, const std::string& prefix = "") {
    std::map<std::string, std::string> all;
    std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(rocksdb::ReadOptions(), families_.at(family)));
    for (at->Seek(prefix); at->Valid() && at->key().starts_with(prefix); at->Next())
      all[at->key().ToString().substr(prefix.size())] = at->value().ToString();
    return all;
  }
  // The paths of the table files that may hold records with this storage id.
  std::vector<std::string> Files(uint64_t storage_id) {
    const std::string prefix = Prefix(storage_id);
    return Files(FamilyOf(storage_id), prefix, PrefixSuccessor(prefix));
  }
  // Those of a family that may hold keys of [from, to), or behind `from` if `to` is empty. In key order
  // within a level.
  std::vector<std::string> Files(const std::string& family, const std::string& from = "",
                                 const std::string& to = "") {
    rocksdb::ColumnFamilyMetaData files;
    db_->GetColumnFamilyMetaData(families_.at(family), &files);
    std::vector<std::string> paths;
    for (const auto& level : files.levels) {
      for (const auto& file : level.files) {
        if ((to.empty() || file.smallestkey < to) && file.largestkey >= from)
          paths.push_back(file.db_path + file.name);
      }
    }
    return paths;
  }
  // Writes all records of a family to the last level anew, in files of about `file_bytes`.
  void Rewrite(const std::string& family, uint64_t file_bytes) {
    rocksdb::ColumnFamilyHandle* const handle = families_.at(family);
    Check(db_->SetOptions(handle, {{"target_file_size_base", std::to_string(file_bytes)}}));
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    Check(db_->CompactRange(all, handle, nullptr, nullptr));
  }
  // Flips a byte of the first record in each table file that may hold records with this storage id.
  void DamageFiles(uint64_t storage_id) {
    const std::vector<std::string> paths = Files(storage_id);
    ASSERT_FALSE(paths.empty());
    for (const std::string& path : paths) {
      std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
      ASSERT_TRUE(bytes.seekg(5)) << path;
      const int byte = bytes.get();
      ASSERT_TRUE(bytes.seekp(5));
      bytes.put(static_cast<char>(byte ^ 0x55));
    }
  }
  // The total size of the family's table files.
  uint64_t FileBytes(const std::string& family) {
    rocksdb::ColumnFamilyMetaData files;
    db_->GetColumnFamilyMetaData(families_.at(family), &files);
    return files.size;
  }
  void Create(const std::string& family) {
    Check(db_->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), family, &families_[family]));
  }
  void Drop(const std::string& family) { Check(db_->DropColumnFamily(families_.at(family))); }
  void Put(uint64_t storage_id, const std::string& key, const std::string& value) {
    Put(FamilyOf(storage_id), Prefix(storage_id) + key, value);
  }
  void Put(const std::string& family, const std::string& key, const std::string& value) {
    Check(db_->Put(rocksdb::WriteOptions(), families_.at(family), key, value));
  }
  void Delete(uint64_t storage_id, const std::string& key) {
    Delete(FamilyOf(storage_id), Prefix(storage_id) + key);
  }
  void Delete(const std::string& family, const std::string& key) {
    Check(db_->Delete(rocksdb::WriteOptions(), families_.at(family), key));
  }

 private:
  static void Check(const rocksdb::Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }

  static std::string Prefix(uint64_t storage_id) {
    std::string prefix;
    AppendStorageId(storage_id, &prefix);
    return prefix;
  }
  // The family that holds records with this storage id.
  std::string FamilyOf(uint64_t storage_id) {
    for (const char* family : {"items", "global_entries", "local_entries"}) {
      if (!All(family, Prefix(storage_id)).empty()) return family;
    }
    ADD_FAILURE() << "nothing has the storage id " << storage_id;
    return "items";
  }

  std::unique_ptr<rocksdb::DB> db_;
  std::map<std::string, rocksdb::ColumnFamilyHandle*> families_;
};

// Reads of these files fail, except on RocksDB's own threads: a failed compaction would close the store.
inline InjectedFault Unreadable(std::vector<std::string> paths) {
  return {.operation = InjectedFault::Operation::kRead,
          .matches =
              [paths = std::move(paths)](const std::string& path) {
                char thread[32] = "";
                ::pthread_getname_np(::pthread_self(), thread, sizeof(thread));
                return !std::string_view(thread).starts_with("rocksdb:") &&
                       std::find(paths.begin(), paths.end(), path) != paths.end();
              },
          .times = 1'000'000};
}

// A table with an index and three items.
class Damage : public ::testing::Test {
 protected:
  void SetUp() override {
    v1::CreateTableRequest table = TableRequest("Things");
    AddIndex(&table, "ByStatus", {"status:S"}, 1, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(table);
    for (const char* sk : {"a", "b", "c"}) {
      auto put = database_.Put("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"status", S("open")}});
      ASSERT_TRUE(put.ok()) << put.status();
    }
    v1::DescribeTableRequest request;
    request.set_table_name("Things");
    auto described = database_->DescribeTable(request);
    ASSERT_TRUE(described.ok()) << described.status();
    table_ = described->table().storage_id();
    index_ = described->table().global_secondary_indexes(0).storage_id();
  }

  void DamageDatabase(const std::function<void(Families&)>& damage) {
    database_.Close();
    {
      Families families(database_.options().data_directory);
      damage(families);
    }
    database_.Reopen();
  }

  // The records of the table and of its index.
  struct Records {
    std::map<std::string, std::string> items;
    std::map<std::string, std::string> entries;
  };
  Records RecordsIn(Families& families) const { return {families.All(table_), families.All(index_)}; }
  // Puts these back: then items and entries are as they were once.
  void PutBack(const Records& before, Families& families) const {
    for (const auto& [key, record] : before.items) families.Put(table_, key, record);
    for (const auto& [key, record] : before.entries) families.Put(index_, key, record);
    for (const auto& [key, record] : families.All(index_))
      if (!before.entries.contains(key)) families.Delete(index_, key);
  }
  // The record of size statistics that versions before 0.2.1 wrote.
  static std::string StatisticsWithoutContentSum(uint64_t storage_id, const std::string& record) {
    const std::string key = StatisticsKey(storage_id);
    const std::optional<SizeStatistics> statistics = DecodeStatistics(storage_id, key, record);
    std::string payload;
    wire::AppendVarint(static_cast<uint64_t>(statistics->items), &payload);
    wire::AppendVarint(static_cast<uint64_t>(statistics->bytes), &payload);
    return EncodeRecord(storage_id, key, 0, payload);
  }

  void LeaveOutContentSums(Families& families) const {
    auto statistics = families.All("stats");
    for (const uint64_t id : {table_, index_}) {
      families.Put("stats", StatisticsKey(id),
                   StatisticsWithoutContentSum(id, statistics.at(StatisticsKey(id))));
    }
  }
  void ExpectWholeContentSums(Families& families) const {
    auto statistics = families.All("stats");
    for (const uint64_t id : {table_, index_}) {
      EXPECT_TRUE(
          DecodeStatistics(id, StatisticsKey(id), statistics.at(StatisticsKey(id)))->content.is_whole);
    }
  }

  // Deletes one of the index's three entries, makes one stale, adds an entry that belongs to no item, and
  // adds a record that is not an index entry. Returns the key of the third entry.
  std::string PlantWrongEntries(Families& families) {
    auto entries = families.All(index_);
    auto entry = entries.begin();
    families.Delete(index_, entry->first);
    ++entry;
    std::string payload(DecodeRecord(index_, entry->first, entry->second)->payload);
    payload[payload.rfind("open")] = 'O';
    families.Put(index_, entry->first, EncodeRecord(index_, entry->first, 5, payload));
    ++entry;
    std::string stray = entry->first;
    stray.replace(stray.find("open"), 4, "shut");
    families.Put(index_, stray,
                 EncodeRecord(index_, stray, 5, DecodeRecord(index_, entry->first, entry->second)->payload));
    families.Put(index_, "no key at all", "no record at all");
    return entry->first;
  }

  std::vector<std::string> Findings() {
    auto reply = Await<v1::CheckDatabaseReply>(
        [&](auto done) { database_->CheckDatabase(v1::CheckDatabaseRequest(), std::move(done)); });
    EXPECT_TRUE(reply.ok()) << reply.status();
    if (!reply.ok()) return {};
    EXPECT_EQ(reply->finding_count(), reply->findings_size());
    return {reply->findings().begin(), reply->findings().end()};
  }

  absl::StatusOr<wire::GetItemReply> Get(const std::string& sk) {
    wire::GetItemRequest request;
    request.set_table_name("Things");
    request.set_key(Encode({{"pk", S("p")}, {"sk", S(sk)}}));
    return Await<wire::GetItemReply>([&](auto done) { database_->GetItem(request, std::move(done)); });
  }

  TestDatabase database_;
  uint64_t table_ = 0;
  uint64_t index_ = 0;
};

}  // namespace itemdb::testing
