// Reading one page of Query or Scan.
#pragma once

#include "storage/engine/engine.h"
#include "storage/query/page_request.h"
#include "storage/query/scan_segments.h"

namespace itemdb::storage {

// Implements Database's Query and Scan. Up to kMaxItemsOnRequestThread items that are in memory are read on
// the calling thread, the rest of the page on an I/O thread. `view` is the state to read, or the error of
// getting it, which `done` then receives.
void ReadPage(Engine& engine, ScanSegments& segments, PageOperation operation,
              absl::StatusOr<std::shared_ptr<const ReadView>> view, const wire::PageRequest& request,
              Done<Page> done, CancellationPtr cancellation,
              ConsistentIndexReads consistent_index_reads = ConsistentIndexReads::kAccepted);
// The same for a page that is already prepared and is not a segment of a parallel scan.
void ReadPreparedPage(Engine& engine, PreparedPage page, Done<Page> done, CancellationPtr cancellation);

}  // namespace itemdb::storage
