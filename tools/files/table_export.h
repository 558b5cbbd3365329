// `itemctl export table`: writes the items of a table into files on this machine.
//
// The items are read in the order of the scan and written to one data file after another. When a data file is
// whole, the state file names it and the last key in it. So an export that was killed goes on behind that
// key. At last the manifest is written and the state file deleted.
//
// While the daemon can, all items are read from one committed state: one stream, which it keeps for a minute.
// Otherwise each page is of the state of its own moment: an item that is written meanwhile is in the export
// as it was before or after, once. The manifest says which it is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "tools/cli/progress.h"
#include "tools/files/export_manifest.h"
#include "tools/files/item_format.h"

namespace itemdb::tools {

struct TableExportOptions {
  std::string table_name;
  std::string folder;
  ItemFormat format = ItemFormat::kDynamoDbJson;
  Compression compression = Compression::kGzip;
  // Of CSV; empty: those of the items.
  std::vector<std::string> columns = {};
  // A data file has at most so many items, and about 64 MiB of text.
  int64_t items_per_file = 100'000;
  // Fail rather than export several states; an export that was interrupted begins again.
  bool needs_one_state = false;
};

// What a long command uses of its surroundings. All borrowed.
struct LongCommand {
  const Client& client;
  CallOptions call;
  Progress& progress;
  // Shows a line to the user.
  std::function<void(const std::string&)> say;
};

// Empty where the daemon does not tell it, as over DynamoDB's protocol. Errors: it cannot be asked now.
absl::StatusOr<std::string> DatabaseIdOf(const LongCommand& command);

// FAILED_PRECONDITION: the folder has other files, an export that is whole, or one of another table or with
// other options; or it cannot be written. ABORTED: needs_one_state, and the table cannot be read within a
// minute. NOT_FOUND: there is no such table. Other errors of the client; then the same call goes on.
absl::StatusOr<ExportManifest> ExportTable(const LongCommand& command, const TableExportOptions& options);

}  // namespace itemdb::tools
