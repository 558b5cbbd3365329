#include "storage/exports/export_writer.h"

#include <optional>
#include <utility>

#include "storage/base/xxh3.h"
#include "storage/keys/key_codec.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kMaxDataFileBytes = int64_t{1} << 30;

// The files after the data files, the one that shows first that the export is whole first.
constexpr std::string_view kManifestNames[] = {"itemdb-manifest.json", "manifest-summary.json",
                                               "manifest-summary.md5", "manifest-files.json",
                                               "manifest-files.md5"};

}  // namespace

ExportWriter::ExportWriter(const Bucket& bucket, v1::StoredExport stored)
    : bucket_(bucket), stored_(std::move(stored)) {}

absl::StatusOr<std::unique_ptr<ExportWriter>> ExportWriter::Begin(const Bucket& bucket,
                                                                  v1::StoredExport stored) {
  std::unique_ptr<ExportWriter> writer(new ExportWriter(bucket, std::move(stored)));
  const std::string folder = ExportFolderOf(writer->stored_.description());
  ITEMDB_RETURN_IF_ERROR(bucket.RemoveLeftovers(folder));
  for (const std::string_view name : kManifestNames)
    ITEMDB_RETURN_IF_ERROR(bucket.Delete(folder + std::string(name)));
  ITEMDB_ASSIGN_OR_RETURN(WrittenObject started, bucket.Write(folder + "_started", ""));
  writer->objects_.push_back(std::move(started));
  for (int i = 0; i < kPartitions; ++i) ITEMDB_RETURN_IF_ERROR(writer->BeginFile(i));
  return writer;
}

absl::Status ExportWriter::BeginFile(int partition) {
  Partition& part = partitions_[static_cast<size_t>(partition)];
  const std::string key = DataFileKey(stored_.description(), partition, part.files++);
  // The data files of incremental exports are together in one folder, where others may be writing.
  ITEMDB_RETURN_IF_ERROR(bucket_.RemoveLeftovers(key));
  ITEMDB_ASSIGN_OR_RETURN(part.file, GzipFile::Create(bucket_, key));
  part.item_count = 0;
  return absl::OkStatus();
}

absl::Status ExportWriter::FinishFile(int partition) {
  Partition& part = partitions_[static_cast<size_t>(partition)];
  ITEMDB_ASSIGN_OR_RETURN(WrittenObject object, part.file->Finish());
  part.file.reset();
  objects_.push_back(object);
  data_files_.push_back({.object = std::move(object), .item_count = part.item_count});
  return absl::OkStatus();
}

absl::Status ExportWriter::Add(std::string_view key, std::string_view line) {
  const std::string_view hashed = key.substr(0, KeyValueLength(key).value_or(key.size()));
  const int partition = static_cast<int>(XXH3_64bits(hashed.data(), hashed.size()) >> 62);
  Partition& part = partitions_[static_cast<size_t>(partition)];
  if (part.file->bytes() >= kMaxDataFileBytes) {
    ITEMDB_RETURN_IF_ERROR(FinishFile(partition));
    ITEMDB_RETURN_IF_ERROR(BeginFile(partition));
  }
  ++part.item_count;
  return part.file->Append(line);
}

absl::Status ExportWriter::WriteManifest(const std::string& name, const std::string& contents) {
  const std::string folder = ExportFolderOf(stored_.description());
  // First: whoever finds a manifest finds its checksum.
  ITEMDB_ASSIGN_OR_RETURN(WrittenObject checksum,
                          bucket_.Write(folder + name + ".md5", ChecksumText(contents)));
  ITEMDB_ASSIGN_OR_RETURN(WrittenObject manifest, bucket_.Write(folder + name + ".json", contents));
  objects_.push_back(std::move(manifest));
  objects_.push_back(std::move(checksum));
  return absl::OkStatus();
}

absl::Status ExportWriter::Finish(const v1::ExportDescription& end) {
  for (int i = 0; i < kPartitions; ++i) ITEMDB_RETURN_IF_ERROR(FinishFile(i));
  *stored_.mutable_description() = end;
  ITEMDB_RETURN_IF_ERROR(WriteManifest("manifest-files", FilesManifest(data_files_)));
  ITEMDB_RETURN_IF_ERROR(WriteManifest("manifest-summary", SummaryManifest(end)));
  return bucket_.Write(ExportFolderOf(end) + "itemdb-manifest.json", OwnManifest(stored_, objects_)).status();
}

}  // namespace itemdb::storage
