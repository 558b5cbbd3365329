// Checks that creating and updating a table share. Used by the .cc files of this folder only.
#pragma once

#include <string>

#include "storage/catalog/table.h"

namespace itemdb {

// "One or more parameter values were invalid: <message>", for breaking `rule`.
absl::Status Invalid(std::string_view rule, const std::string& message);

// SEM-093: what the billing mode asks for. `owner` names the table or index in messages; `given` is whether
// the request has `throughput`.
absl::Status CheckThroughput(const std::string& owner, bool provisioned, bool given,
                             const v1::ProvisionedThroughput& throughput);

// What a request says of the settings without effect (definition_settings.cc), into `definition`.
absl::Status ApplySettings(const v1::CreateTableRequest& request, v1::TableDescription* definition);
absl::Status ApplySettings(const v1::UpdateTableRequest& request, v1::TableDescription* definition);

}  // namespace itemdb
