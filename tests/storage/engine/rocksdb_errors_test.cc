// RocksDB's errors as callers see them.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/status.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

// The message may reach a client on another machine: it names the damaged file, not where the database is.
TEST(RocksDbErrors, DamageNamesTheFileWithoutItsDirectory) {
  struct Case {
    const char* message;
    const char* expected;
  };
  for (const Case& c : {
           Case{"block checksum mismatch: stored = 1, computed = 2, type = 4  in "
                "/var/lib/itemdb/rocksdb/000042.sst offset 0 size 9",
                "read: Corruption: block checksum mismatch: stored = 1, computed = 2, type = 4  in "
                "000042.sst offset 0 "
                "size 9"},
           Case{"in /var/lib/my own data/rocksdb/000042.sst offset 7",
                "read: Corruption: in 000042.sst offset 7"},
           Case{"in ./data/rocksdb/000042.sst", "read: Corruption: in 000042.sst"},
           Case{"Can't access /000042.sst: IO error: No such file: While open: /data/rocksdb/000042.sst: No "
                "such file",
                "read: Corruption: Can't access 000042.sst: IO error: No such file: While open: 000042.sst: "
                "No such "
                "file"},
           Case{"bad block type", "read: Corruption: bad block type"},
       }) {
    const absl::Status error = FromRocksDB("read", rocksdb::Status::Corruption(c.message));
    EXPECT_TRUE(absl::IsDataLoss(error));
    EXPECT_EQ(MessageOf(error), c.expected);
  }
}

}  // namespace
}  // namespace itemdb::storage
