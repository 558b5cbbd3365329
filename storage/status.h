// Status and statistics of the whole database.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implements Database::GetStatus, except for the background check.
v1::GetStatusReply GetStatus(const Engine& engine, const v1::GetStatusRequest& request);
// Implements Database::GetAccessPatterns.
absl::StatusOr<v1::GetAccessPatternsReply> GetAccessPatterns(const Engine& engine,
                                                             const v1::GetAccessPatternsRequest& request);

}  // namespace itemdb::storage
