#include "storage/backup/paced_file_system.h"

#include <algorithm>
#include <string>
#include <utility>

#include "rocksdb/env.h"

namespace itemdb::storage {
namespace {

constexpr int kMaxBurstBytes = 1 << 20;

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

struct Pace {
  void Wait(size_t bytes) const {
    const auto burst = static_cast<size_t>(limiter->GetSingleBurstBytes());
    while (bytes > 0 && CheckNotCancelled(cancellation).ok()) {
      const size_t part = std::min(bytes, burst);
      limiter->Request(static_cast<int64_t>(part), rocksdb::Env::IO_LOW, /*stats=*/nullptr,
                       rocksdb::RateLimiter::OpType::kWrite);
      bytes -= part;
    }
  }

  const std::shared_ptr<rocksdb::RateLimiter> limiter;
  const CancellationPtr cancellation;
};

class PacedFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  PacedFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file, std::shared_ptr<const Pace> pace)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), pace_(std::move(pace)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, rocksdb::Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    pace_->Wait(n);
    return target()->Read(offset, n, options, result, scratch, dbg);
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override {
    for (size_t i = 0; i < count; ++i) pace_->Wait(requests[i].len);
    return target()->MultiRead(requests, count, options, dbg);
  }
  // Reading ahead in the kernel would not be counted.
  IOStatus Prefetch(uint64_t, size_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported("reads are paced");
  }

 private:
  const std::shared_ptr<const Pace> pace_;
};

class PacedFileSystem : public rocksdb::FileSystemWrapper {
 public:
  PacedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, std::shared_ptr<const Pace> pace)
      : FileSystemWrapper(base), pace_(std::move(pace)) {}
  static const char* kClassName() { return "itemdb.PacedFileSystem"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    IOStatus status = target()->NewRandomAccessFile(path, options, &file, dbg);
    if (status.ok()) *result = std::make_unique<PacedFile>(std::move(file), pace_);
    return status;
  }

 private:
  const std::shared_ptr<const Pace> pace_;
};

}  // namespace

std::shared_ptr<rocksdb::RateLimiter> NewByteLimiter(int64_t bytes_per_second) {
  // Copying threads have a buffer of what the limiter lets through at once.
  const int64_t refill_us =
      std::clamp<int64_t>(int64_t{kMaxBurstBytes} * 1'000'000 / bytes_per_second, 100, 100'000);
  return std::shared_ptr<rocksdb::RateLimiter>(rocksdb::NewGenericRateLimiter(bytes_per_second, refill_us));
}

std::shared_ptr<rocksdb::FileSystem> MakePacedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base,
                                                         int64_t bytes_per_second,
                                                         CancellationPtr cancellation) {
  return std::make_shared<PacedFileSystem>(
      base, std::make_shared<const Pace>(
                Pace{.limiter = NewByteLimiter(bytes_per_second), .cancellation = std::move(cancellation)}));
}

}  // namespace itemdb::storage
