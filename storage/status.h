// The database in figures.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb {

// GetStatus behind Database's method of the same name.
v1::GetStatusReply GetStatus(const Engine& engine, const v1::GetStatusRequest& request);
// GetAccessPatterns behind Database's method of the same name.
absl::StatusOr<v1::GetAccessPatternsReply> GetAccessPatterns(const Engine& engine,
                                                             const v1::GetAccessPatternsRequest& request);

}  // namespace itemdb
