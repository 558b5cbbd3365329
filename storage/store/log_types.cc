#include "storage/store/log_types.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "storage/base/status.h"

namespace itemdb::storage {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr uint64_t kBlockBytes = 32'768;
constexpr size_t kHeaderBytes = 7;
constexpr size_t kTypeAt = 6;
// RocksDB knows no record of this type, and does not pass over it as it does over types with the highest bit.
constexpr char kWrongType = 0x7f;

size_t LengthOf(const char* header) {
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(header[i])); };
  return byte(4) | byte(5) << 8;
}

// 5 to 8 are whole records and fragments, 11 and 131 the additions of later versions.
bool IsRecycled(char type) {
  const auto number = static_cast<unsigned char>(type);
  return (number >= 5 && number <= 8) || number == 11 || number == 131;
}

// Whole records and fragments.
bool IsOrdinary(char type) { return type >= 1 && type <= 4; }

class Log : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  using FSSequentialFileOwnerWrapper::FSSequentialFileOwnerWrapper;

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    IOStatus status = target()->Read(n, options, result, scratch, dbg);
    if (!status.ok()) return status;
    if (result->data() != scratch) std::memmove(scratch, result->data(), result->size());
    *result = Slice(scratch, result->size());
    Replace(scratch, result->size());
    return status;
  }
  IOStatus Skip(uint64_t bytes) override {
    IOStatus status = target()->Skip(bytes);
    if (!status.ok()) return status;
    offset_ += bytes;
    SkipBlock();
    return status;
  }
  bool use_direct_io() const override { return target()->use_direct_io(); }

 private:
  // The data from offset_ on.
  void Replace(char* data, size_t size) {
    for (size_t at = 0; at < size;) {
      if (skipped_ > 0) {
        const size_t step = static_cast<size_t>(std::min<uint64_t>(skipped_, size - at));
        skipped_ -= step;
        offset_ += step;
        at += step;
        continue;
      }
      if (const uint64_t left = kBlockBytes - offset_ % kBlockBytes;
          header_size_ == 0 && left < kHeaderBytes) {
        skipped_ = left;
        continue;
      }
      header_[header_size_++] = data[at];
      ++offset_;
      if (header_size_ == kHeaderBytes) {
        header_size_ = 0;
        skipped_ = LengthOf(header_);
        if (IsRecycled(header_[kTypeAt])) data[at] = kWrongType;
        // The reader drops the rest of the block too.
        if (!IsOrdinary(header_[kTypeAt]) || skipped_ > LeftOfBlock()) SkipBlock();
      }
      ++at;
    }
  }
  uint64_t LeftOfBlock() const { return (kBlockBytes - offset_ % kBlockBytes) % kBlockBytes; }
  void SkipBlock() {
    header_size_ = 0;
    skipped_ = LeftOfBlock();
  }

  uint64_t offset_ = 0;
  // What is not looked at before the next header.
  uint64_t skipped_ = 0;
  char header_[kHeaderBytes] = {};
  size_t header_size_ = 0;
};

class LogTypesFileSystem : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  static const char* kClassName() { return "LogTypesFileSystem"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    IOStatus status = target()->NewSequentialFile(path, options, result, dbg);
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (status.ok() && (name.ends_with(".log") || name.starts_with("MANIFEST-")))
      *result = std::make_unique<Log>(std::move(*result));
    return status;
  }
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> NewLogTypesFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base) {
  return std::make_shared<LogTypesFileSystem>(base);
}

absl::Status CheckManifestRecords(rocksdb::Env* env, const std::string& path, uint64_t bytes) {
  std::unique_ptr<rocksdb::SequentialFile> file;
  if (!env->NewSequentialFile(path, &file, rocksdb::EnvOptions()).ok()) return absl::OkStatus();
  std::string block(kBlockBytes, '\0');
  for (uint64_t begin = 0; begin < bytes; begin += kBlockBytes) {
    Slice read;
    if (!file->Read(kBlockBytes, &read, block.data()).ok()) return absl::OkStatus();
    const uint64_t end = std::min<uint64_t>(bytes - begin, kBlockBytes);
    for (uint64_t at = 0; at < end && kBlockBytes - at >= kHeaderBytes;) {
      const char* const header = read.data() + at;
      const uint64_t left = std::min<uint64_t>(end, read.size()) - std::min<uint64_t>(at, read.size());
      if (left < kHeaderBytes || !IsOrdinary(header[kTypeAt]) || kHeaderBytes + LengthOf(header) > left) {
        return DataLossError(path + " has no record at byte " + std::to_string(begin + at) + " of the " +
                             std::to_string(bytes) + " that were synced");
      }
      at += kHeaderBytes + LengthOf(header);
    }
  }
  return absl::OkStatus();
}

}  // namespace itemdb::storage
