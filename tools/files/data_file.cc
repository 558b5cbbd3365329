#include "tools/files/data_file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tools/base/durable_file.h"

namespace itemdb::tools {
namespace {

constexpr size_t kReadBytesOfFile = 256 << 10;
constexpr size_t kWriteBytes = 256 << 10;

class FileBytes final : public ByteSource {
 public:
  FileBytes(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  ~FileBytes() override { close(descriptor_); }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    while (true) {
      const ssize_t count = read(descriptor_, out, size);
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) return FileError("read", path_);
    }
  }

 private:
  const std::string path_;
  const int descriptor_;
};

}  // namespace

struct Sha256::Context {
  EVP_MD_CTX* digest = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(digest); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  (void)EVP_DigestInit_ex(context_->digest, EVP_sha256(), nullptr);
}
Sha256::~Sha256() = default;

void Sha256::Add(std::string_view bytes) {
  (void)EVP_DigestUpdate(context_->digest, bytes.data(), bytes.size());
}

std::string Sha256::Finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  (void)EVP_DigestFinal_ex(context_->digest, digest, &size);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

absl::StatusOr<std::unique_ptr<DataFileWriter>> DataFileWriter::Create(const std::string& path,
                                                                       Compression compression) {
  std::unique_ptr<Compressor> compressor = NewCompressor(compression);
  if (compressor == nullptr) return absl::ResourceExhaustedError("there is no memory to compress the items");
  const std::string partial = path + ".partial";
  const int descriptor = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return FileError("write", partial);
  return std::unique_ptr<DataFileWriter>(new DataFileWriter(path, descriptor, std::move(compressor)));
}

DataFileWriter::~DataFileWriter() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status DataFileWriter::Append(std::string_view text) {
  ITEMDB_RETURN_IF_ERROR(compressor_->Append(text, &compressed_));
  return compressed_.size() < kWriteBytes ? absl::OkStatus() : WriteCompressed();
}

absl::StatusOr<DataFile> DataFileWriter::Finish() {
  ITEMDB_RETURN_IF_ERROR(compressor_->Finish(&compressed_));
  ITEMDB_RETURN_IF_ERROR(WriteCompressed());
  const std::string partial = path_ + ".partial";
  if (fsync(descriptor_) != 0) return FileError("write", partial);
  close(std::exchange(descriptor_, -1));
  if (std::rename(partial.c_str(), path_.c_str()) != 0) return FileError("rename", partial);
  ITEMDB_RETURN_IF_ERROR(SyncFolder(std::filesystem::path(path_).parent_path().string()));
  return DataFile{.bytes = bytes_, .sha256 = sha256_.Finish()};
}

absl::Status DataFileWriter::WriteCompressed() {
  ITEMDB_RETURN_IF_ERROR(WriteAll(descriptor_, compressed_, path_ + ".partial"));
  sha256_.Add(compressed_);
  bytes_ += static_cast<int64_t>(compressed_.size());
  compressed_.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return FileError("read", path);
  return std::make_unique<FileBytes>(path, descriptor);
}

absl::StatusOr<DataFile> MeasureFile(const std::string& path) {
  ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> file, OpenFile(path));
  std::vector<char> buffer(kReadBytesOfFile);
  Sha256 sha256;
  DataFile measured;
  while (true) {
    ITEMDB_ASSIGN_OR_RETURN(const size_t count, file->Read(buffer.data(), buffer.size()));
    if (count == 0) break;
    sha256.Add({buffer.data(), count});
    measured.bytes += static_cast<int64_t>(count);
  }
  measured.sha256 = sha256.Finish();
  return measured;
}

absl::Status CheckDataFile(const std::string& path, const DataFile& expected) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return absl::NotFoundError(path + " is missing");
  ITEMDB_ASSIGN_OR_RETURN(const DataFile measured, MeasureFile(path));
  if (measured.bytes != expected.bytes) {
    return absl::DataLossError(
        absl::StrCat(path, " has ", measured.bytes, " bytes instead of ", expected.bytes));
  }
  if (measured.sha256 != expected.sha256)
    return absl::DataLossError(path + " is damaged: its SHA-256 is not that of the manifest");
  return absl::OkStatus();
}

}  // namespace itemdb::tools
