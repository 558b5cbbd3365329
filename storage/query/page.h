// Reading one page of Query or Scan.
#pragma once

#include "storage/engine/engine.h"
#include "storage/query/page_request.h"
#include "storage/query/scan_segments.h"

namespace itemdb {

// Query and Scan behind Database's methods of the same names. Items that are in memory are read on the
// calling thread, up to kMaxItemsOnRequestThread; the rest of the page on an I/O thread.
// `view` is the state to read, or why there is none.
void ReadPage(Engine& engine, ScanSegments& segments, PageOperation operation,
              absl::StatusOr<std::shared_ptr<const ReadView>> view, const wire::PageRequest& request,
              Done<Page> done, CancellationPtr cancellation,
              ConsistentIndexReads consistent_index_reads = ConsistentIndexReads::kTaken);
// The same of a page that is prepared and no segment of a parallel scan.
void ReadPreparedPage(Engine& engine, PreparedPage page, Done<Page> done, CancellationPtr cancellation);

}  // namespace itemdb
