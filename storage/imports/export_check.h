// Imports and bulk puts of the data files of an export: the export must be whole, of a format that is known,
// and have the files that its manifests name (IMP-15).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "itemdb/v1/imports.pb.h"
#include "storage/base/status.h"
#include "storage/buckets/bucket.h"

namespace itemdb::storage {

// FAILED_PRECONDITION: see CheckExport.
inline constexpr std::string_view kReasonExportNotWhole = "EXPORT_NOT_WHOLE";
// The failure code of an operation that it ended.
inline constexpr char kExportNotWholeCode[] = "ManifestValidationError";

// What the manifests say of a data file.
struct ExportChecksum {
  // 16 raw bytes.
  std::string md5;
  // Of itemdb-manifest.json, in lower-case hexadecimal. Empty: there is none, as in exports of the service.
  std::string sha256 = {};
};
// By the last segment of the file's key: the folder may have been copied.
using ExportChecksums = std::map<std::string, ExportChecksum, std::less<>>;

// Nothing if `prefix` does not begin with the folder `AWSDynamoDB/ID/data/` of an export. `objects` are those
// of the prefix. Part of the files may be wanted, as in `AWSDynamoDB/ID/data/NAME.json.gz`: then none is
// missing, and there may be no manifests at all. Errors of `bucket`, and FAILED_PRECONDITION
// (EXPORT_NOT_WHOLE): a manifest is missing, does not parse or has another MD5 than is noted beside it; the
// export has another version than this program reads, or another format than `format`; a data file is
// missing, or is in no manifest. The contents of data files are not read.
absl::StatusOr<ExportChecksums> CheckExport(const Bucket& bucket, const std::string& prefix,
                                            v1::InputFormat format, const std::vector<BucketObject>& objects);

// FAILED_PRECONDITION (EXPORT_NOT_WHOLE): the data file `key` `why`, as in "has another size".
absl::Status ExportFileError(const std::string& key, const std::string& why);

// Of the data file `key`; nullptr: it is in no manifest.
const ExportChecksum* FindChecksum(const ExportChecksums& checksums, std::string_view key);

// Reads `object`, the data file `key`. At its end FAILED_PRECONDITION (EXPORT_NOT_WHOLE): it has not
// `checksum`. After an error each read has this error again.
std::unique_ptr<ReadableObject> WithChecksum(std::unique_ptr<ReadableObject> object, std::string key,
                                             ExportChecksum checksum);

// Reads what is left of `object`. Blocks. Errors of `object`, and of `check`, which is called now and then.
absl::Status ReadToEnd(ReadableObject& object, absl::FunctionRef<absl::Status()> check);

}  // namespace itemdb::storage
