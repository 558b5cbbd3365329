#include "storage/backup/stoppable_env.h"

#include <string>
#include <utility>

#include "rocksdb/file_system.h"

namespace itemdb::storage {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

IOStatus CheckGoesOn(const Cancellation& cancellation) {
  return cancellation.Check().ok() ? IOStatus::OK() : IOStatus::Aborted("copying was cancelled");
}

class StoppableFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  StoppableFile(std::unique_ptr<rocksdb::FSWritableFile> file, const Cancellation& cancellation)
      : FSWritableFileOwnerWrapper(std::move(file)), cancellation_(cancellation) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    IOStatus goes_on = CheckGoesOn(cancellation_);
    return goes_on.ok() ? target()->Append(data, options, dbg) : goes_on;
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo& info,
                  IODebugContext* dbg) override {
    IOStatus goes_on = CheckGoesOn(cancellation_);
    return goes_on.ok() ? target()->Append(data, options, info, dbg) : goes_on;
  }

 private:
  const Cancellation& cancellation_;
};

class StoppableFileSystem : public rocksdb::FileSystemWrapper {
 public:
  StoppableFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, const Cancellation& cancellation)
      : FileSystemWrapper(base), cancellation_(cancellation) {}
  static const char* kClassName() { return "itemdb.StoppableFileSystem"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus status = CheckGoesOn(cancellation_);
    std::unique_ptr<rocksdb::FSWritableFile> file;
    if (status.ok()) status = target()->NewWritableFile(path, options, &file, dbg);
    if (status.ok()) *result = std::make_unique<StoppableFile>(std::move(file), cancellation_);
    return status;
  }

 private:
  const Cancellation& cancellation_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> MakeStoppableEnv(rocksdb::Env* env, const Cancellation& cancellation) {
  return rocksdb::NewCompositeEnv(std::make_shared<StoppableFileSystem>(env->GetFileSystem(), cancellation));
}

}  // namespace itemdb::storage
