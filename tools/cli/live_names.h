// Names of tables, indexes and attributes that the daemon has now, for completion and "did you mean". A
// nicety: a daemon that is not there, or slow, has none.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/client.h"

namespace itemdb::tools {

// In byte order, at most kMaxLiveNames. Blocks for `patience` at most.
std::vector<std::string> LiveTableNames(Client& client, absl::Duration patience);
// Of all tables when `table_name` is empty.
std::vector<std::string> LiveIndexNames(Client& client, const std::string& table_name,
                                        absl::Duration patience);
// Those that key schemas and projections of the table name, in byte order.
std::vector<std::string> LiveAttributeNames(Client& client, const std::string& table_name,
                                            absl::Duration patience);

// More would help nobody to choose.
inline constexpr size_t kMaxLiveNames = 1'000;

}  // namespace itemdb::tools
