// Contributor insights of tables and global indexes, which are part of a table's definition (OP-56 to OP-58).
#pragma once

#include <vector>

#include "itemdb/v1/admin.pb.h"
#include "storage/api/contributor_insights.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implement Database's methods of the same names.
void UpdateContributorInsights(Engine& engine, UpdateContributorInsightsRequest request,
                               Done<ContributorInsightsState> done);
absl::StatusOr<ContributorInsightsState> DescribeContributorInsights(const Engine& engine,
                                                                     const std::string& table_name,
                                                                     const std::string& index_name);
absl::StatusOr<std::vector<ContributorInsightsState>> ListContributorInsights(const Engine& engine,
                                                                              const std::string& table_name);
absl::StatusOr<v1::GetTopKeysReply> GetTopKeys(const Engine& engine, const v1::GetTopKeysRequest& request);

}  // namespace itemdb::storage
