// An export of a table in DynamoDB's layout, in a folder of this machine:
//
//   manifest-summary.json   which table, and the time of the export; written when all else is there
//   manifest-files.json     a line for each data file, with its MD5 and its number of items
//   data/*.json.gz          a line for each item, in DynamoDB's JSON
//
// Exports of itemd and of DynamoDB have it, the latter copied from S3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "itemdb/table.h"
#include "itemdb/value.h"
#include "tools/moving/move_journal.h"
#include "tools/moving/pace.h"
#include "tools/moving/side.h"

namespace itemdb::tools {

// Streams keep their records for so long: the changes since an older export cannot be read any more.
inline constexpr absl::Duration kLongestAgeOfExport = absl::Hours(24);

class FullExport {
 public:
  struct DataFile {
    // In the folder `data`.
    std::string name;
    int64_t item_count = 0;
    // 16 raw bytes.
    std::string md5;
  };

  // Reads the manifests, and looks for the data files. FAILED_PRECONDITION: the export is not whole, or is
  // none of a whole table in DynamoDB's JSON; the message says what is missing.
  static absl::StatusOr<FullExport> Open(const std::string& directory);

  const std::string& directory() const { return directory_; }
  const std::string& arn() const { return arn_; }
  const std::string& table_name() const { return table_name_; }
  // Empty: the export does not tell it.
  const std::string& table_id() const { return table_id_; }
  // The items are as they were then.
  absl::Time time() const { return time_; }
  int64_t item_count() const { return item_count_; }
  // In the order of their names.
  const std::vector<DataFile>& files() const { return files_; }

  // Whether it is of this table, and young enough for the changes since. FAILED_PRECONDITION: it is not.
  absl::Status Check(const TableDescription& table, absl::Time now) const;
  // Of a data file.
  struct Line {
    // From 1 on.
    int64_t number = 0;
    size_t bytes = 0;
  };
  // Compares a data file with its MD5, then reads it: `on_item` gets each item. Stops at an error of
  // `on_item`. FAILED_PRECONDITION: the file is not as the manifest says; the message has its
  // name and line.
  absl::Status ReadFile(const DataFile& file,
                        absl::FunctionRef<absl::Status(const Line&, Item)> on_item) const;
  // FAILED_PRECONDITION: an item of this line has no key of the table.
  absl::Status CheckKey(const TableDefinition& definition, const DataFile& file, int64_t line,
                        const Item& item) const;

 private:
  std::string PathOf(const DataFile& file) const;
  // FAILED_PRECONDITION, with the name of the export.
  absl::Status Unfit(const std::string& why) const;
  absl::Status ReadSummary();
  absl::Status ReadFiles();

  std::string directory_;
  std::string arn_;
  std::string table_name_;
  std::string table_id_;
  absl::Time time_;
  int64_t item_count_ = 0;
  std::vector<DataFile> files_;
};

// By the names of their tables.
using FullExports = std::map<std::string, FullExport>;

// Opens the exports in these folders. INVALID_ARGUMENT: two are of one table.
absl::StatusOr<FullExports> OpenExports(const std::vector<std::string>& directories);

// As CopyItems (copier.h), for the tables of the journal that are copied from an export: a data file is a
// segment. Definitions are in the order of the journal's tables. `exports` has
// what the copy was begun from.
absl::Status CopyExports(const FullExports& exports, const std::vector<TableDefinition>& definitions,
                         const Side& target, MoveJournal& journal, Pace& pace, int workers,
                         const std::function<void(int64_t)>& on_copied);

}  // namespace itemdb::tools
