// The errors of one import: lines of JSON in the file imports/ID.jsonl of the data directory (IMP-23), such
// as
//
//   {"object":"data/1.json.gz","line":7,"reason":"Missing the key pk in the item"}
//
// `line` is missing when the error is about the whole object. The file is not encrypted, so that people can
// read it; a reason may quote a part of an item.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/env.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// The folder of the reports, and the report of an import.
std::string ImportReportDirectory(const std::string& data_directory);
std::string ImportReportPath(const std::string& data_directory, std::string_view import_id);

// Not thread-safe.
class ImportReport {
 public:
  // A report that does not exist yet: the file is made with the first error. What an earlier attempt of the
  // import wrote to it is deleted.
  ImportReport(rocksdb::Env* env, const std::string& data_directory, std::string_view import_id);

  // Adds an error. After kMaxReportedErrors errors are only counted. `line` is 0 for the whole object.
  // UNAVAILABLE, RESOURCE_EXHAUSTED: the file cannot be written.
  absl::Status Add(std::string_view object, uint64_t line, std::string_view reason);
  // Makes the file durable. Nothing may be added after it.
  absl::Status Finish();

  int64_t errors() const { return errors_; }

 private:
  absl::Status Wrap(const rocksdb::Status& status) const;

  rocksdb::Env* const env_;
  const std::string directory_;
  const std::string path_;
  std::unique_ptr<rocksdb::WritableFile> file_;
  int64_t errors_ = 0;
};

}  // namespace itemdb::storage
