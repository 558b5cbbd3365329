// The files of an export that describe it, and the names of all its files (XPT-30 to XPT-42, XPT-48).
#pragma once

#include <string>
#include <vector>

#include "itemdb/v1/exports.pb.h"
#include "storage/buckets/bucket.h"

namespace itemdb::storage {

// "2026-11-25T14:30:00.000Z" (XPT-39).
std::string ExportTimeText(int64_t time_ms);
// The id at the end of its ARN.
std::string ExportIdOf(const v1::ExportDescription& description);
// The beginning of the keys of its files: "PREFIX/AWSDynamoDB/ID/".
std::string ExportFolderOf(const v1::ExportDescription& description);
// The same for the data files.
std::string DataFolderOf(const v1::ExportDescription& description);
// The key of a data file. The same export made again has the same names.
std::string DataFileKey(const v1::ExportDescription& description, int partition, int number);

struct DataFile {
  WrittenObject object;
  int64_t item_count = 0;
};

// The contents of manifest-files.json.
std::string FilesManifest(const std::vector<DataFile>& files);
// The contents of manifest-summary.json, of an export that has ended.
std::string SummaryManifest(const v1::ExportDescription& description);
// The contents of the ".md5" file for an object.
std::string ChecksumText(const std::string& contents);
// The contents of itemdb-manifest.json, which is written last: an export without it is not whole. `objects`
// are all other files.
std::string OwnManifest(const v1::StoredExport& stored, const std::vector<WrittenObject>& objects);

}  // namespace itemdb::storage
