// Imports and bulk puts of the data files of an export: the export must be whole, of a format that is known,
// and have the files that its manifests name (IMP-15).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/imports.pb.h"
#include "storage/base/status.h"
#include "storage/buckets/bucket.h"

namespace itemdb::storage {

// FAILED_PRECONDITION: see CheckExport.
inline constexpr std::string_view kReasonExportNotWhole = "EXPORT_NOT_WHOLE";
// The failure code of an operation that it ended.
inline constexpr char kExportNotWholeCode[] = "ManifestValidationError";

// The MD5 of each data file, 16 raw bytes, by the last segment of its key: the folder may have been copied.
using ExportChecksums = std::map<std::string, std::string, std::less<>>;

// Nothing if `prefix` is not the folder `AWSDynamoDB/ID/data/` of an export. `objects` are those of the
// prefix. Errors of `bucket`, and FAILED_PRECONDITION (EXPORT_NOT_WHOLE): a manifest is missing, does not
// parse or has another MD5 than is noted beside it; the export has another version than this program reads,
// or another format than `format`; a data file is missing, or is in no manifest.
absl::StatusOr<ExportChecksums> CheckExport(const Bucket& bucket, const std::string& prefix,
                                            v1::InputFormat format, const std::vector<BucketObject>& objects);

// Reads `object`. At its end INVALID_ARGUMENT: its MD5 is not `md5`, 16 raw bytes.
std::unique_ptr<ReadableObject> WithChecksum(std::unique_ptr<ReadableObject> object, std::string md5);

}  // namespace itemdb::storage
