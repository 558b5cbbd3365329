// The lines that an import left out: {"file": "data/00000001.json.gz", "line": 7, "reason": "..."} each, at
// most 10,000.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace itemdb::tools {

// Not thread-safe. Errors of all functions: FAILED_PRECONDITION, as FileError.
class ImportReport {
 public:
  // `lines` and `bytes`: what the report had when the state of the import was stored.
  ImportReport(std::string path, int64_t lines, int64_t bytes)
      : path_(std::move(path)), lines_(lines), bytes_(bytes) {}
  ~ImportReport();
  ImportReport(const ImportReport&) = delete;
  ImportReport& operator=(const ImportReport&) = delete;

  // Cuts off what is behind `bytes`. Call before Add().
  absl::Status Cut();
  absl::Status Add(std::string_view file, int64_t line, std::string_view reason);
  // Before a state with lines() and bytes() is stored.
  absl::Status Sync();
  // All lines, those included that are not in the file because they are too many.
  int64_t lines() const { return lines_; }
  int64_t bytes() const { return bytes_; }

 private:
  static constexpr int64_t kMaxReportLines = 10'000;

  absl::Status Open();

  const std::string path_;
  int64_t lines_;
  int64_t bytes_;
  int descriptor_ = -1;
};

}  // namespace itemdb::tools
