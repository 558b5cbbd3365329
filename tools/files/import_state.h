// How far an import is: a file in its folder, so that an import that was killed goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace itemdb::tools {

struct ImportState {
  // What must be the same when the import goes on: the format, the files and their checksums, in one SHA-256;
  // the database (empty over DynamoDB's protocol), and the id of the table, which is empty while the table is
  // being made.
  std::string source = {};
  std::string database_id = {};
  // Seconds since 1970: a table that is older was not made by this import.
  int64_t begin_seconds = 0;
  std::string table_id = {};
  // The next line to be put: of the file with this number, from 0.
  int64_t file = 0;
  int64_t line = 1;
  int64_t put_items = 0;
  int64_t left_out_lines = 0;
  // Of the report.
  int64_t report_bytes = 0;
};

// Nothing if there is no file. FAILED_PRECONDITION: it is of another version; DATA_LOSS: it does not parse.
absl::StatusOr<std::optional<ImportState>> LoadImportState(const std::string& path);
absl::Status StoreImportState(const std::string& path, const ImportState& state);
absl::Status DeleteImportState(const std::string& path);

}  // namespace itemdb::tools
