// Compares the content sums (storage/store/size_statistics.h) with the records of tables and indexes.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "itemdb/v1/admin.pb.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

struct ContentCheckOptions {
  // A view is held while a table or an index is read. Those of more records are left out.
  int64_t max_records = 0;
  // Called every few hundred records with their number: may wait. Not while a sum is completed.
  std::function<void(int64_t records)> pace;
  // Tables that are left out.
  std::set<std::string> without;
};

// Reads all records of each table and each ACTIVE index, one after the other, and adds to `*findings` where
// number, size or content sum are not as they were stored. Tables and indexes with records that cannot be
// read are left out: the check of single records finds those. Completes content sums that are not whole,
// whatever max_records is, but not on a standby: its primary does.
//
// Blocks for as long as that takes. Returns the first error, and goes on after it. UNAVAILABLE: the store is
// being reopened. CANCELLED. Errors of the store and of the commit pipeline.
absl::Status CheckContents(Engine& engine, const CancellationPtr& cancellation,
                           const ContentCheckOptions& options, v1::CheckDatabaseReply* findings);

}  // namespace itemdb::storage
