// Requests and replies about contributor insights: whether the most used keys of a table or of a global index
// are counted (OP-56 to OP-58). They are turned on and off over HTTP only.
#pragma once

#include <optional>
#include <string>

#include "itemdb/v1/tables.pb.h"

namespace itemdb::storage {

struct UpdateContributorInsightsRequest {
  // A name or an ARN.
  std::string table_name = {};
  // Empty: the table itself.
  std::string index_name = {};
  bool enable = false;
  // When enabled: only keys of requests that were refused because too many wait.
  bool throttled_keys_only = false;
};

struct ContributorInsightsState {
  std::string table_name = {};
  // Empty: of the table itself.
  std::string index_name = {};
  // Without an update time: they were never turned on.
  v1::ContributorInsights insights = {};
  // Whether the keys of the table or index have sort keys.
  bool has_sort_key = false;
};

}  // namespace itemdb::storage
