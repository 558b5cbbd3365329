// Reads data models of NoSQL Workbench: JSON files with tables, sample items, indexes and facets.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tools/json/json_value.h"
#include "tools/model/model_folder.h"

namespace itemdb::tools {

// Returns the model as a ModelFolder with an empty directory. Each facet and each index becomes a pattern
// that queries one partition key. The key value comes from the sample items if they have one; there is no
// expected answer. A table without facets gets one such pattern. The billing mode defaults to
// PAY_PER_REQUEST; with PROVISIONED the indexes get the throughput of their table.
//
// Ignored: the model's metadata, types of non-key attributes, formats of sample data, auto scaling, and MySQL
// sources. Other members that are unknown, missing or of the wrong kind are refused with their name. Error
// messages name the file `document`; all errors are UsageErrors (tools/base/exit_codes.h).
absl::StatusOr<ModelFolder> ModelFromWorkbench(const JsonValue& json, const std::string& document);

}  // namespace itemdb::tools
