#include "storage/store/log_types.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/env.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

constexpr size_t kLogBlockBytes = 32'768;

class LogTypesTest : public ::testing::Test {
 protected:
  // Appends a record of `bytes`, whose data is of the byte 5 too, and returns the place of its type.
  size_t Append(char type, size_t bytes) {
    const size_t type_at = log_.size() + 6;
    log_ += std::string("crc4") + static_cast<char>(bytes & 0xff) + static_cast<char>(bytes >> 8) + type;
    log_ += std::string(bytes, '\5');
    return type_at;
  }
  void EndBlock() { log_.resize((log_.size() + kLogBlockBytes - 1) / kLogBlockBytes * kLogBlockBytes, '\0'); }

  // What is read in pieces of `piece` bytes.
  std::string Read(const std::string& name, size_t piece) {
    const std::string path = directory_.path() + "/" + name;
    WriteFile(path, log_);
    const auto files = storage::NewLogTypesFileSystem(rocksdb::FileSystem::Default());
    std::unique_ptr<rocksdb::FSSequentialFile> file;
    EXPECT_TRUE(files->NewSequentialFile(path, {}, &file, nullptr).ok());
    std::string content;
    std::string scratch(piece, '\0');
    rocksdb::Slice read;
    do {
      EXPECT_TRUE(file->Read(piece, {}, &read, scratch.data(), nullptr).ok());
      content.append(read.data(), read.size());
    } while (!read.empty());
    return content;
  }

  TemporaryDirectory directory_;
  std::string log_;
};

TEST_F(LogTypesTest, OnlyHeadersOfRecycledRecordsAreShownOtherwise) {
  std::vector<size_t> changed;
  Append(1, 100);
  changed.push_back(Append(5, 10));
  // The reader drops the rest of the block after a wrong checksum.
  Append(8, 10);
  EndBlock();
  Append(1, 20'000);
  Append(2, kLogBlockBytes - 20'000 - 2 * 7 - 3);
  EndBlock();
  changed.push_back(Append(11, 10));
  EndBlock();
  Append(0, 0);
  EndBlock();
  // Longer than its block.
  Append(1, 40'000);
  log_.resize(5 * kLogBlockBytes);
  changed.push_back(Append('\x83', 0));
  EndBlock();
  Append(4, kLogBlockBytes - 7);
  changed.push_back(Append(7, 3));
  std::string expected = log_;
  for (const size_t at : changed) expected[at] = 0x7f;
  for (const size_t piece : {size_t{1}, size_t{5}, size_t{1'000}, kLogBlockBytes, 3 * kLogBlockBytes + 1}) {
    SCOPED_TRACE(piece);
    EXPECT_TRUE(Read("000007.log", piece) == expected);
  }
  EXPECT_TRUE(Read("MANIFEST-000009", 1'000) == expected);
  EXPECT_TRUE(Read("000008.sst", 1'000) == log_);
}

TEST_F(LogTypesTest, RecordsFillAManifestUpToTheEndOfEach) {
  std::vector<uint64_t> ends;
  const auto append = [&](char type, size_t bytes) {
    Append(type, bytes);
    ends.push_back(log_.size());
  };
  append(1, 100);
  // Exactly seven bytes are left of the block: the beginning of a record without data.
  append(1, kLogBlockBytes - log_.size() - 7 - 7);
  append(2, 0);
  append(4, 50);
  // Six bytes are left, in which no record begins.
  append(1, 2 * kLogBlockBytes - log_.size() - 7 - 6);
  EndBlock();
  append(2, kLogBlockBytes - 7);
  append(3, kLogBlockBytes - 7);
  append(4, 1);
  append(1, 1);
  const std::string path = directory_.path() + "/MANIFEST-000005";
  WriteFile(path, log_);
  for (const uint64_t end : ends) {
    const absl::Status status = storage::CheckManifestRecords(rocksdb::Env::Default(), path, end);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(absl::IsDataLoss(storage::CheckManifestRecords(rocksdb::Env::Default(), path, end - 1)))
        << end;
  }
  EXPECT_TRUE(
      absl::IsDataLoss(storage::CheckManifestRecords(rocksdb::Env::Default(), path, log_.size() + 1)));
  for (const uint64_t end : ends) {
    // The length of the next record.
    const uint64_t next = kLogBlockBytes - end % kLogBlockBytes < 7 ? end + 6 : end;
    if (next == log_.size()) continue;
    std::string damaged = log_;
    damaged[next + 5] = '\xff';
    WriteFile(path, damaged);
    EXPECT_TRUE(absl::IsDataLoss(storage::CheckManifestRecords(rocksdb::Env::Default(), path, log_.size())))
        << end;
  }
}

}  // namespace
}  // namespace itemdb::testing
