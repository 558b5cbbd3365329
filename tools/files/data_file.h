// Data files of exports: written compressed with their SHA-256, read again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/compression/byte_source.h"
#include "common/compression/compressor.h"
#include "tools/files/export_manifest.h"

namespace itemdb::tools {

// A SHA-256 that is computed piece by piece. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Add(std::string_view bytes);
  // 64 hexadecimal digits. Call once.
  std::string Finish();

 private:
  struct Context;
  const std::unique_ptr<Context> context_;
};

// A file that is being written as NAME.partial, and has its own name when it is whole. Not thread-safe.
// Errors of all functions: FAILED_PRECONDITION, as FileError; those of Compressor.
class DataFileWriter {
 public:
  // A file NAME.partial that is there is of an attempt that was killed, and is replaced.
  static absl::StatusOr<std::unique_ptr<DataFileWriter>> Create(const std::string& path,
                                                                Compression compression);
  // Without Finish() the file stays as NAME.partial.
  ~DataFileWriter();
  DataFileWriter(const DataFileWriter&) = delete;
  DataFileWriter& operator=(const DataFileWriter&) = delete;

  absl::Status Append(std::string_view text);
  // Makes the file durable under its own name. Returns its size and SHA-256.
  absl::StatusOr<DataFile> Finish();

 private:
  DataFileWriter(std::string path, int descriptor, std::unique_ptr<Compressor> compressor)
      : path_(std::move(path)), descriptor_(descriptor), compressor_(std::move(compressor)) {}
  absl::Status WriteCompressed();

  const std::string path_;
  int descriptor_;
  const std::unique_ptr<Compressor> compressor_;
  Sha256 sha256_;
  int64_t bytes_ = 0;
  // What is not written yet; a member, so that its memory is used again.
  std::string compressed_;
};

// The bytes of a file as they are on disk. FAILED_PRECONDITION: it cannot be read.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);

// OK: the file has the size and the SHA-256 of `expected`. NOT_FOUND, DATA_LOSS, or why it cannot be read.
absl::Status CheckDataFile(const std::string& path, const DataFile& expected);

// The size and the SHA-256 of a file.
absl::StatusOr<DataFile> MeasureFile(const std::string& path);

}  // namespace itemdb::tools
