// Global secondary indexes that are being created on live tables.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// Null if the table has no such index.
const IndexDescription* FindIndex(const TableDescription& table, std::string_view index_name);

absl::Status NoSuchIndex(const std::string& table_name, const std::string& index_name);

// The phase of a build as text for people.
std::string PhaseText(const IndexBuild& build);

// Waits until the index is no longer CREATING, and shows its progress meanwhile. Returns the table's
// description after that. NOT_FOUND: the index does not exist or has been deleted. CANCELLED: Ctrl-C; the
// daemon continues to create the index.
absl::StatusOr<TableDescription> AwaitIndex(Context& context, const Client& client,
                                            const std::string& table_name, const std::string& index_name);

}  // namespace itemdb::tools
