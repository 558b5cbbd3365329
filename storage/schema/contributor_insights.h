// Contributor insights of tables and global indexes, which are part of a table's definition (OP-56 to OP-58).
#pragma once

#include "itemdb/v1/admin.pb.h"
#include "itemdb/v1/tables.pb.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implement Database's methods of the same names.
void UpdateContributorInsights(Engine& engine, v1::UpdateContributorInsightsRequest request,
                               Done<v1::UpdateContributorInsightsReply> done);
absl::StatusOr<v1::DescribeContributorInsightsReply> DescribeContributorInsights(
    const Engine& engine, const v1::DescribeContributorInsightsRequest& request);
absl::StatusOr<v1::ListContributorInsightsReply> ListContributorInsights(
    const Engine& engine, const v1::ListContributorInsightsRequest& request);
absl::StatusOr<v1::GetTopKeysReply> GetTopKeys(const Engine& engine, const v1::GetTopKeysRequest& request);

}  // namespace itemdb::storage
