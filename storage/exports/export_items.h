// What an export writes: all items of a state, or the items that differ between two.
#pragma once

#include <cstdint>
#include <functional>

#include "itemdb/v1/exports.pb.h"
#include "storage/exports/export_filter.h"
#include "storage/exports/export_writer.h"
#include "storage/exports/last_writes.h"
#include "storage/loading/item_source.h"

namespace itemdb::storage {

// Borrows everything.
struct ExportJob {
  const Table& table;
  const v1::ExportTableToPointInTimeRequest& request;
  const ExportFilter& filter;
  ExportWriter& writer;
  // Called before each item with the bytes that were read for it. Its error ends the export.
  std::function<absl::Status(size_t bytes)> before_item;
};

// What was exported: lines, and the sizes of the items in them, by SEM-002.
struct ExportTotals {
  int64_t items = 0;
  int64_t bytes = 0;
};

// Writes a line for each item of `source`. Errors as of ItemSource::Next and ExportWriter::Add.
absl::StatusOr<ExportTotals> ExportItems(ItemSource& source, const ExportJob& job);

// Writes a line for each item that `visit_last_writes` visits, with its images before and after (XPT-45):
// none for an item that is in neither. The keys must rise, as those of VisitLastWrites do. Errors also as of
// `visit_last_writes`.
absl::StatusOr<ExportTotals> ExportChanges(
    ItemSource& before, ItemSource& after, const ExportJob& job,
    const std::function<absl::Status(const VisitLastWrite&)>& visit_last_writes);

}  // namespace itemdb::storage
