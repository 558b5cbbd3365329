// Writes the files of one export in the order of XPT-48, so that an export that was interrupted has no
// summary: _started, the data files, manifest-files.json, manifest-summary.json, each of these two with its
// ".md5" file, itemdb-manifest.json.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/exports.pb.h"
#include "storage/exports/export_manifests.h"
#include "storage/exports/gzip_file.h"

namespace itemdb::storage {

// Not thread-safe. Errors of all functions as of Bucket.
class ExportWriter {
 public:
  // Each has at least one data file; the first two bits of the hash of the partition key say which (XPT-36).
  static constexpr int kPartitions = 4;

  // Deletes the manifests that an attempt before has left, and what it had begun to write. Then writes
  // _started. `bucket` is borrowed.
  static absl::StatusOr<std::unique_ptr<ExportWriter>> Begin(const Bucket& bucket, v1::StoredExport stored);

  // Writes one line, with its line end, of the item with the encoded primary key `key`.
  absl::Status Add(std::string_view key, std::string_view line);
  // Writes everything that is missing. `end` gives end time, counts and sequence.
  absl::Status Finish(const v1::ExportDescription& end);

 private:
  // The lines of one hash range.
  struct Partition {
    std::unique_ptr<GzipFile> file;
    int64_t item_count = 0;
    int files = 0;
  };

  ExportWriter(const Bucket& bucket, v1::StoredExport stored);

  absl::Status BeginFile(int partition);
  absl::Status FinishFile(int partition);
  // Writes the object NAME.json in the folder of the export, and NAME.md5.
  absl::Status WriteManifest(const std::string& name, const std::string& contents);

  const Bucket& bucket_;
  v1::StoredExport stored_;
  std::array<Partition, kPartitions> partitions_;
  std::vector<DataFile> data_files_;
  // All files, in the order in which they were written.
  std::vector<WrittenObject> objects_;
};

}  // namespace itemdb::storage
