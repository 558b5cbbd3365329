// Global secondary indexes that are being created on live tables.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// Null when the table has no such index.
const IndexDescription* FindIndex(const TableDescription& table, std::string_view index_name);

absl::Status NoSuchIndex(const std::string& table_name, const std::string& index_name);

// What a build does at the moment.
std::string PhaseText(const IndexBuild& build);

// Waits until the index is no longer being created and shows meanwhile how far it is; the table as it is
// then. NOT_FOUND: there is no such index, or no longer. CANCELLED: Ctrl-C; the index is still made.
absl::StatusOr<TableDescription> AwaitIndex(Context& context, const Client& client,
                                            const std::string& table_name, const std::string& index_name);

}  // namespace itemdb::tools
