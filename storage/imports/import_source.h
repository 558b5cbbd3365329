// The items of an import, in the order of their keys.
//
// Reading them takes three kinds of work. One thread reads the objects, decompresses them, cuts them into
// chunks of whole lines and adds what was parsed to a sorter. Several threads parse chunks: line to item,
// item to canonical bytes and encoded key. The chunks are added in the order in which they were read, so a
// line that cannot be parsed ends its object exactly there, and of equal keys the last one is known (IMP-20).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "itemdb/v1/imports.pb.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"
#include "storage/loading/item_source.h"

namespace itemdb::storage {

// How far an import is. Thread-safe.
struct ImportProgress {
  std::atomic<int64_t> file_bytes = 0;
  // Items and lines that cannot be parsed.
  std::atomic<int64_t> processed_items = 0;
  std::atomic<int64_t> imported_items = 0;
  std::atomic<int64_t> errors = 0;
};

struct ImportSettings {
  // The id at the end of the import's ARN.
  std::string import_id;
  // The bucket, the format and the options.
  v1::ImportDescription import;
  // The new table.
  v1::TableDescription definition;
  // For sorted files, which the source deletes. Must exist.
  std::string directory;
};

// Reads all objects and sorts their items. Blocks; ends with `cancellation`. Items, lines and objects with
// errors are counted in `progress` and listed in the report; they are not errors of this function.
//
// NOT_FOUND (NO_SUCH_BUCKET). FAILED_PRECONDITION (EXPORT_NOT_WHOLE): see CheckExport. PERMISSION_DENIED
// (BUCKET_ACCESS_DENIED): the bucket, or an object, may not be read. RESOURCE_EXHAUSTED: DISK_FULL, or
// LIMIT_EXCEEDED for too many objects. UNAVAILABLE: the bucket, or a file in the data directory, cannot be
// read or written. CANCELLED.
absl::StatusOr<std::unique_ptr<ItemSource>> ReadImport(Engine& engine, const ImportSettings& settings,
                                                       const Cancellation& cancellation,
                                                       ImportProgress* progress);

}  // namespace itemdb::storage
