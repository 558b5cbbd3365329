// The puts of a few lines and the progress of their operation, in one commit.
//
// A line whose put fails does not keep the others from being put: the lines are decided and appended one
// after another, as in a chunk of BulkWrite. The progress counts them and goes into the same RocksDB write,
// as does the report about those that failed. So after a crash no line is put twice, and a condition that the
// line itself has made false is never reported.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/v1/bulk_puts.pb.h"
#include "storage/engine/engine.h"
#include "storage/items/write_action.h"

namespace itemdb::storage {

// A line of an object.
struct BulkLine {
  // Counted from 1; 0 for an error of the whole object.
  uint64_t number = 0;
  // The put; nullopt: `error` says why there is none.
  std::optional<PreparedAction> put = std::nullopt;
  std::string error = {};
};

struct BulkCommit {
  // The operation, and the object that all lines are of.
  const v1::StoredBulkOperation& operation;
  const std::string& object;
  std::vector<BulkLine> lines;
  // The object ends with these lines.
  bool ends_object = false;
  // The bytes of the object that were read so far.
  int64_t object_bytes = 0;
};

// Puts the lines, and sets `*progress`, which must be the stored one, to what is stored then. Adds the write
// request units that the puts consumed to `*units`. Blocks.
//
// NOT_FOUND: the table was deleted. After any error, also that of a read or of the store, `*progress` may be
// behind what is stored: a line may have been put, so it must be read again.
absl::Status CommitBulkLines(Engine& engine, BulkCommit commit, v1::StoredBulkProgress* progress,
                             double* units);

// NOT_FOUND: the table of the operation is not in `catalog`; another one may have its name.
absl::Status CheckBulkTable(const Catalog& catalog, const v1::StoredBulkOperation& operation);

// Whether the operation's report has a list of this type.
bool Reports(const v1::StoredBulkOperation& operation, v1::BulkOutputType type);

}  // namespace itemdb::storage
