// Names of the daemon's tables, indexes and attributes, for completion and "did you mean". Errors are
// ignored: if the daemon is unreachable or slow, there are no names.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/client.h"

namespace itemdb::tools {

// In byte order, at most kMaxLiveNames. Blocks for at most `timeout`.
std::vector<std::string> LiveTableNames(Client& client, absl::Duration timeout);
// The indexes of `table_name`; of all tables if it is empty.
std::vector<std::string> LiveIndexNames(Client& client, const std::string& table_name,
                                        absl::Duration timeout);
// The attributes in the table's key schemas and projections, in byte order.
std::vector<std::string> LiveAttributeNames(Client& client, const std::string& table_name,
                                            absl::Duration timeout);

// More names would not help a person to choose.
inline constexpr size_t kMaxLiveNames = 1'000;

// The columns that a table of items begins with: the key attributes of the index, then those of the table.
// `index_name` may be empty. Empty if the table cannot be described.
std::vector<std::string> LeadingColumns(Client& client, const std::string& table_name,
                                        const std::string& index_name);

}  // namespace itemdb::tools
