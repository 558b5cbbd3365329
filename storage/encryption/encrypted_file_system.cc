#include "storage/encryption/encrypted_file_system.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "storage/base/mutex.h"
#include "storage/encryption/file_cipher.h"

namespace itemdb::storage {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr uint64_t kHeaderBytes = FileCipher::kHeaderBytes;
// Bytes that are encrypted at once: they stay in the processor's cache.
constexpr size_t kChunkBytes = 64 << 10;

constexpr std::string_view kPlainFiles[] = {"WATERMARK", "SYNCED", "MANIFEST_SYNCED", "BALLAST",
                                            "LOCK",      "README", "ENCRYPTION"};

uint64_t WithoutHeader(uint64_t bytes) { return bytes > kHeaderBytes ? bytes - kHeaderBytes : 0; }

IOStatus AppendRefused(const std::string& path) {
  return IOStatus::IOError(path,
                           "an encrypted file takes no more bytes once it was reopened, cut or not written");
}

// Files are read through the page cache or past it, but not mapped.
FileOptions WithoutMapping(const FileOptions& options) {
  FileOptions result = options;
  result.use_mmap_reads = false;
  result.use_mmap_writes = false;
  return result;
}

class SequentialFile : public rocksdb::FSSequentialFile {
 public:
  // Without a cipher the file is empty. The header of `file` was read.
  SequentialFile(std::unique_ptr<rocksdb::FSSequentialFile> file, std::unique_ptr<FileCipher> cipher)
      : file_(std::move(file)), cipher_(std::move(cipher)) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    if (cipher_ == nullptr) {
      *result = Slice();
      return IOStatus::OK();
    }
    IOStatus status = file_->Read(n, options, result, scratch, dbg);
    if (!status.ok()) return status;
    cipher_->Apply(offset_, result->data(), result->size(), scratch);
    *result = Slice(scratch, result->size());
    offset_ += result->size();
    return status;
  }
  IOStatus Skip(uint64_t n) override {
    if (cipher_ == nullptr) return IOStatus::OK();
    IOStatus status = file_->Skip(n);
    if (status.ok()) offset_ += n;
    return status;
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset + kHeaderBytes, length);
  }

 private:
  const std::unique_ptr<rocksdb::FSSequentialFile> file_;
  const std::unique_ptr<FileCipher> cipher_;
  uint64_t offset_ = 0;
};

// MultiRead and ReadAsync of the base class call Read.
class RandomAccessFile : public rocksdb::FSRandomAccessFile {
 public:
  // Without a cipher the file is empty.
  RandomAccessFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file, std::unique_ptr<FileCipher> cipher)
      : file_(std::move(file)), cipher_(std::move(cipher)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    if (cipher_ == nullptr) {
      *result = Slice();
      return IOStatus::OK();
    }
    IOStatus status = file_->Read(offset + kHeaderBytes, n, options, result, scratch, dbg);
    if (!status.ok()) return status;
    cipher_->Apply(offset, result->data(), result->size(), scratch);
    *result = Slice(scratch, result->size());
    return status;
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options, IODebugContext* dbg) override {
    return file_->Prefetch(offset + kHeaderBytes, n, options, dbg);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override { return file_->GetUniqueId(id, max_size); }
  void Hint(AccessPattern pattern) override { file_->Hint(pattern); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset + kHeaderBytes, length);
  }

 private:
  const std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
  const std::unique_ptr<FileCipher> cipher_;
};

class WritableFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  // Without a cipher nothing can be appended.
  WritableFile(std::string path, std::unique_ptr<rocksdb::FSWritableFile> file,
               std::unique_ptr<FileCipher> cipher)
      : FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)), cipher_(std::move(cipher)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    MutexLock lock(mutex_);
    for (size_t at = 0; at < data.size();) {
      if (cipher_ == nullptr) return AppendRefused(path_);
      const size_t bytes = std::min(data.size() - at, kChunkBytes);
      encrypted_.resize(bytes);
      cipher_->Apply(offset_, data.data() + at, bytes, encrypted_.data());
      IOStatus status = target()->Append(encrypted_, options, dbg);
      if (!status.ok()) {
        // A part of the bytes may be in the file.
        cipher_.reset();
        return status;
      }
      offset_ += bytes;
      at += bytes;
    }
    return IOStatus::OK();
  }
  // The checksum is one of the bytes before encryption.
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* dbg) override {
    return Append(data, options, dbg);
  }
  IOStatus PositionedAppend(const Slice&, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported(path_, "encrypted files are written from beginning to end");
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const rocksdb::DataVerificationInfo&, IODebugContext* dbg) override {
    return PositionedAppend(data, offset, options, dbg);
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    {
      MutexLock lock(mutex_);
      if (size < offset_) cipher_.reset();
    }
    return target()->Truncate(size + kHeaderBytes, options, dbg);
  }
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) override {
    return WithoutHeader(target()->GetFileSize(options, dbg));
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return target()->InvalidateCache(offset + kHeaderBytes, length);
  }
  IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    return target()->RangeSync(offset + kHeaderBytes, bytes, options, dbg);
  }
  void PrepareWrite(size_t offset, size_t bytes, const IOOptions& options, IODebugContext* dbg) override {
    target()->PrepareWrite(offset + kHeaderBytes, bytes, options, dbg);
  }
  IOStatus Allocate(uint64_t offset, uint64_t bytes, const IOOptions& options, IODebugContext* dbg) override {
    return target()->Allocate(offset + kHeaderBytes, bytes, options, dbg);
  }

 private:
  const std::string path_;
  // RocksDB appends from several threads, one at a time; a lock of our own does not rely on that.
  Mutex mutex_;
  std::unique_ptr<FileCipher> cipher_ ABSL_GUARDED_BY(mutex_);
  // Bytes that were appended.
  uint64_t offset_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string encrypted_ ABSL_GUARDED_BY(mutex_);
};

class EncryptedFileSystem : public rocksdb::FileSystemWrapper {
 public:
  EncryptedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, EncryptionKeys keys)
      : FileSystemWrapper(base), keys_(std::move(keys)) {}
  static const char* kClassName() { return "itemdb.EncryptedFileSystem"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    if (IsPlainFile(path)) return target()->NewSequentialFile(path, options, result, dbg);
    FileOptions buffered = WithoutMapping(options);
    buffered.use_direct_reads = false;
    std::unique_ptr<rocksdb::FSSequentialFile> file;
    IOStatus status = target()->NewSequentialFile(path, buffered, &file, dbg);
    if (!status.ok()) return status;
    std::string header(kHeaderBytes, '\0');
    size_t bytes = 0;
    for (Slice read; bytes < header.size(); bytes += read.size()) {
      status = file->Read(header.size() - bytes, options.io_options, &read, header.data() + bytes, dbg);
      if (!status.ok()) return status;
      if (read.empty()) break;
      if (read.data() != header.data() + bytes) std::copy_n(read.data(), read.size(), header.data() + bytes);
    }
    header.resize(bytes);
    std::unique_ptr<FileCipher> cipher;
    status = OpenHeader(path, header, &cipher, dbg);
    if (status.ok()) *result = std::make_unique<SequentialFile>(std::move(file), std::move(cipher));
    return status;
  }

  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    if (IsPlainFile(path)) return target()->NewRandomAccessFile(path, options, result, dbg);
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    IOStatus status = target()->NewRandomAccessFile(path, WithoutMapping(options), &file, dbg);
    if (!status.ok()) return status;
    // Aligned for direct I/O.
    struct alignas(kHeaderBytes) Buffer {
      char bytes[kHeaderBytes];
    };
    const auto buffer = std::make_unique<Buffer>();
    Slice header;
    status = file->Read(0, kHeaderBytes, options.io_options, &header, buffer->bytes, dbg);
    if (!status.ok()) return status;
    std::unique_ptr<FileCipher> cipher;
    status = OpenHeader(path, std::string_view(header.data(), header.size()), &cipher, dbg);
    if (status.ok()) *result = std::make_unique<RandomAccessFile>(std::move(file), std::move(cipher));
    return status;
  }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* dbg) override {
    if (IsPlainFile(path)) return target()->NewWritableFile(path, options, result, dbg);
    FileOptions buffered = WithoutMapping(options);
    buffered.use_direct_writes = false;
    std::unique_ptr<rocksdb::FSWritableFile> file;
    IOStatus status = target()->NewWritableFile(path, buffered, &file, dbg);
    if (!status.ok()) return status;
    std::string header;
    std::unique_ptr<FileCipher> cipher = FileCipher::ForNewFile(keys_.front(), &header);
    if (cipher == nullptr) return IOStatus::IOError(path, "there are no random bytes to encrypt it with");
    status = file->Append(header, options.io_options, dbg);
    if (status.ok()) status = file->Sync(options.io_options, dbg);
    if (status.ok()) *result = std::make_unique<WritableFile>(path, std::move(file), std::move(cipher));
    return status;
  }

  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* result,
                              IODebugContext* dbg) override {
    if (IsPlainFile(path)) return target()->ReopenWritableFile(path, options, result, dbg);
    std::unique_ptr<rocksdb::FSWritableFile> file;
    IOStatus status = target()->ReopenWritableFile(path, WithoutMapping(options), &file, dbg);
    if (status.ok()) *result = std::make_unique<WritableFile>(path, std::move(file), nullptr);
    return status;
  }

  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus status = RenameFile(old_path, path, options.io_options, dbg);
    return status.ok() ? NewWritableFile(path, options, result, dbg) : status;
  }

  IOStatus NewRandomRWFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<rocksdb::FSRandomRWFile>*, IODebugContext*) override {
    return IOStatus::NotSupported(path, "encrypted files are written from beginning to end");
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<rocksdb::MemoryMappedFileBuffer>*) override {
    return IOStatus::NotSupported(path, "encrypted files are not mapped into memory");
  }
  // RocksDB's file LOG would not be encrypted; itemdb has a logger of its own.
  IOStatus NewLogger(const std::string& path, const IOOptions&, std::shared_ptr<rocksdb::Logger>*,
                     IODebugContext*) override {
    return IOStatus::NotSupported(path, "no log is written beside encrypted files");
  }

  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* bytes,
                       IODebugContext* dbg) override {
    IOStatus status = target()->GetFileSize(path, options, bytes, dbg);
    if (status.ok() && !IsPlainFile(path)) *bytes = WithoutHeader(*bytes);
    return status;
  }
  IOStatus GetChildrenFileAttributes(const std::string& directory, const IOOptions& options,
                                     std::vector<rocksdb::FileAttributes>* result,
                                     IODebugContext* dbg) override {
    IOStatus status = target()->GetChildrenFileAttributes(directory, options, result, dbg);
    if (!status.ok()) return status;
    for (rocksdb::FileAttributes& file : *result)
      if (!IsPlainFile(file.name)) file.size_bytes = WithoutHeader(file.size_bytes);
    return status;
  }
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override {
    return target()->Truncate(path, IsPlainFile(path) ? size : size + kHeaderBytes, options, dbg);
  }

 private:
  // Sets `*cipher` to the one of a file that begins with `header`, or to null when the file is empty.
  IOStatus OpenHeader(const std::string& path, std::string_view header, std::unique_ptr<FileCipher>* cipher,
                      IODebugContext* dbg) {
    const std::optional<std::string> id = KeyIdOf(header);
    const auto key =
        std::find_if(keys_.begin(), keys_.end(), [&](const EncryptionKey& one) { return one.id == id; });
    if (key != keys_.end()) {
      *cipher = FileCipher::ForFile(*key, header);
      if (*cipher != nullptr) return IOStatus::OK();
    }
    uint64_t bytes = 0;
    IOStatus status = target()->GetFileSize(path, IOOptions(), &bytes, dbg);
    if (!status.ok() || bytes <= kHeaderBytes) return status;
    return IOStatus::Corruption(path, !id.has_value()
                                          ? "its header is damaged, or it is not encrypted"
                                          : "its header is damaged, or it is encrypted with another key");
  }

  const EncryptionKeys keys_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> NewEncryptedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base,
                                                            EncryptionKeys keys) {
  return std::make_shared<EncryptedFileSystem>(base, std::move(keys));
}

bool IsPlainFile(const std::string& path) {
  std::string_view name(path);
  name.remove_prefix(path.rfind('/') + 1);            // npos + 1 is 0.
  constexpr std::string_view kReplacement = ".next";  // ReplaceFile
  if (name.ends_with(kReplacement)) name.remove_suffix(kReplacement.size());
  return std::find(std::begin(kPlainFiles), std::end(kPlainFiles), name) != std::end(kPlainFiles);
}

}  // namespace itemdb::storage
