// SELECT: translates a statement into pages of Query or Scan, or into reads of single items.
#pragma once

#include "storage/api/replies.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"
#include "storage/items/point_reads.h"
#include "storage/partiql/statement.h"

namespace itemdb::storage::partiql {

// Reads one page. If WHERE has an equality or IN on the partition key, the statement is a Query of one or
// several key ranges, read one after another; otherwise it is a Scan (PQL-01). Conditions that a key
// condition cannot express become part of the filter.
void Select(Engine& engine, const wire::ExecuteStatementRequest& request, const Statement& statement,
            Done<StatementPage> done, CancellationPtr cancellation);

// Prepares a SELECT in a batch or transaction, whose WHERE must be the whole key of one item and nothing else
// (PQL-14, PQL-15). `operation` is named in messages. NOT_FOUND: no such table. INVALID_ARGUMENT: another
// WHERE, an index, or ORDER BY. A key that is too long or has another type is no error here; it sets the
// read's `key_error`.
absl::StatusOr<PointRead> PrepareRead(const Statement& statement, std::string_view operation,
                                      const Catalog& catalog);

}  // namespace itemdb::storage::partiql
