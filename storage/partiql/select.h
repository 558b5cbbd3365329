// SELECT: from a statement to pages of Query or Scan, or to reads of single items.
#pragma once

#include "storage/api/replies.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"
#include "storage/items/point_reads.h"
#include "storage/partiql/statement.h"

namespace itemdb::partiql {

// One page. Full equality or IN on the partition key makes it a Query, one range after another; anything else
// a Scan (PQL-01). What a key condition cannot say of the key is part of the filter.
void Select(Engine& engine, const wire::ExecuteStatementRequest& request, const Statement& statement,
            Done<StatementPage> done, CancellationPtr cancellation);

// The item that a SELECT in a batch or transaction names by its whole key (PQL-14, PQL-15). NOT_FOUND: no
// such table. INVALID_ARGUMENT: it reads an index, orders, or does not name one item.
absl::StatusOr<PointRead> PrepareRead(const Statement& statement, const Catalog& catalog);

}  // namespace itemdb::partiql
