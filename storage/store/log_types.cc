#include "storage/store/log_types.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
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

uint32_t ByteOf(const char* header, size_t i) {
  return static_cast<uint32_t>(static_cast<unsigned char>(header[i]));
}
size_t LengthOf(const char* header) { return ByteOf(header, 4) | ByteOf(header, 5) << 8; }

// Whether the checksum, a rotated CRC-32C of type and data, is right. The data follows the header.
bool IsIntact(const char* header) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(header + kTypeAt, 1 + LengthOf(header));
  const uint32_t stored =
      ByteOf(header, 0) | ByteOf(header, 1) << 8 | ByteOf(header, 2) << 16 | ByteOf(header, 3) << 24;
  const uint32_t computed = crc.checksum();
  return stored == (computed >> 15 | computed << 17) + 0xa282ead8u;
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
  Log(std::unique_ptr<rocksdb::FSSequentialFile> file, uint64_t bytes)
      : FSSequentialFileOwnerWrapper(std::move(file)), bytes_(bytes) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    n = static_cast<size_t>(std::min<uint64_t>(n, bytes_ - std::min(offset_, bytes_)));
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

  // Where the file ends.
  const uint64_t bytes_;
  uint64_t offset_ = 0;
  // What is not looked at before the next header.
  uint64_t skipped_ = 0;
  char header_[kHeaderBytes] = {};
  size_t header_size_ = 0;
};

class LogTypesFileSystem : public rocksdb::FileSystemWrapper {
 public:
  LogTypesFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, ReadManifest manifest)
      : FileSystemWrapper(base), manifest_(std::move(manifest)) {}
  static const char* kClassName() { return "LogTypesFileSystem"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    IOStatus status = target()->NewSequentialFile(path, options, result, dbg);
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (status.ok() && (name.ends_with(".log") || name.starts_with("MANIFEST-")))
      *result = std::make_unique<Log>(std::move(*result), name == manifest_.name ? manifest_.bytes : kWhole);
    return status;
  }

 private:
  static constexpr uint64_t kWhole = std::numeric_limits<uint64_t>::max();

  const ReadManifest manifest_;
};

// Reads a MANIFEST block by block.
class Blocks {
 public:
  Blocks(rocksdb::Env* env, const std::string& path) {
    is_ok_ = env->NewSequentialFile(path, &file_, rocksdb::EnvOptions()).ok();
  }
  // The next block; the last one is shorter. nullopt when the file cannot be read.
  std::optional<Slice> Next() {
    Slice read;
    is_ok_ = is_ok_ && file_->Read(kBlockBytes, &read, block_.data()).ok();
    if (!is_ok_) return std::nullopt;
    return read;
  }

 private:
  bool is_ok_ = false;
  std::unique_ptr<rocksdb::SequentialFile> file_;
  std::string block_ = std::string(kBlockBytes, '\0');
};

// Whether a record may begin there, and ends before `end` of the block.
bool HasRecord(const Slice& block, uint64_t at, uint64_t end) {
  const uint64_t left = std::min<uint64_t>(end, block.size()) - std::min<uint64_t>(at, block.size());
  return left >= kHeaderBytes && IsOrdinary(block[at + kTypeAt]) &&
         kHeaderBytes + LengthOf(block.data() + at) <= left;
}

}  // namespace

std::shared_ptr<rocksdb::FileSystem> NewLogTypesFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base,
                                                           const ReadManifest& manifest) {
  return std::make_shared<LogTypesFileSystem>(base, manifest);
}

absl::Status CheckManifestRecords(rocksdb::Env* env, const std::string& path, uint64_t bytes) {
  Blocks blocks(env, path);
  for (uint64_t begin = 0; begin < bytes; begin += kBlockBytes) {
    const std::optional<Slice> block = blocks.Next();
    if (!block.has_value()) return absl::OkStatus();
    const uint64_t end = std::min<uint64_t>(bytes - begin, kBlockBytes);
    for (uint64_t at = 0; at < end && kBlockBytes - at >= kHeaderBytes;) {
      if (!HasRecord(*block, at, end)) {
        return DataLossError(path + " has no record at byte " + std::to_string(begin + at) + " of the " +
                             std::to_string(bytes) + " that were synced");
      }
      at += kHeaderBytes + LengthOf(block->data() + at);
    }
  }
  return absl::OkStatus();
}

uint64_t IntactManifestBytes(rocksdb::Env* env, const std::string& path, uint64_t synced) {
  constexpr uint64_t kUnreadable = std::numeric_limits<uint64_t>::max();
  uint64_t size = 0;
  if (!env->GetFileSize(path, &size).ok()) return kUnreadable;
  Blocks blocks(env, path);
  for (uint64_t begin = 0; begin < size; begin += kBlockBytes) {
    const std::optional<Slice> block = blocks.Next();
    if (!block.has_value()) return kUnreadable;
    if (synced >= begin + kBlockBytes) continue;
    for (uint64_t at = synced > begin ? synced - begin : 0;
         at < block->size() && kBlockBytes - at >= kHeaderBytes;) {
      if (!HasRecord(*block, at, kBlockBytes) || !IsIntact(block->data() + at)) return begin + at;
      at += kHeaderBytes + LengthOf(block->data() + at);
    }
  }
  return size;
}

}  // namespace itemdb::storage
