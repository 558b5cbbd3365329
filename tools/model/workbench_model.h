// Data models of NoSQL Workbench: JSON files with tables, sample items, indexes and facets.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tools/json/json_value.h"
#include "tools/model/model_folder.h"

namespace itemdb::tools {

// The same as a model folder, whose directory is left empty. Each facet becomes a pattern that queries one
// partition key, each index too, with a value from the sample items where they have one and no expected
// answer. A table without facets gets such a pattern of its own. Billing mode defaults to PAY_PER_REQUEST;
// with PROVISIONED the indexes get the throughput of their table.
//
// Left out is what has no meaning here: the model's metadata, types of non-key attributes, formats of sample
// data, auto scaling, and MySQL sources. Other members that are unknown, missing or of the wrong kind are
// refused by name. `document` is what errors call the file; all are UsageErrors (tools/base/exit_codes.h).
absl::StatusOr<ModelFolder> ModelFromWorkbench(const JsonValue& json, const std::string& document);

}  // namespace itemdb::tools
