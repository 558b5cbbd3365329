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

// Prepares a SELECT in a batch or transaction, which must name one item by its whole key (PQL-14, PQL-15).
// NOT_FOUND: no such table. INVALID_ARGUMENT: it does not name one item, reads an index, or has ORDER BY. A
// key that is too long or has another type is no error here; it sets the read's `key_error`.
absl::StatusOr<PointRead> PrepareRead(const Statement& statement, const Catalog& catalog);

}  // namespace itemdb::storage::partiql
