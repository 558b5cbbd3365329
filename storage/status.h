// Status and statistics of the whole database.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb::storage {

class ExpirySweeper;
class IndexBuilds;

// Implements Database::GetStatus, except for the background check.
v1::GetStatusReply GetStatus(const Engine& engine, const v1::GetStatusRequest& request);
// What metrics show of each table. `sweeper` is null in a standby, which deletes nothing by itself.
std::vector<TableFigures> MeasureTables(const ReadView& view, const IndexBuilds& builds,
                                        const ExpirySweeper* sweeper);
// The records that the background check compares: items, and entries of active indexes.
int64_t CountRecords(const ReadView& view, const CurrentStatistics& current);
// Implements Database::GetAccessPatterns.
absl::StatusOr<v1::GetAccessPatternsReply> GetAccessPatterns(const Engine& engine,
                                                             const v1::GetAccessPatternsRequest& request);

}  // namespace itemdb::storage
