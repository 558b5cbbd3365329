// The model folders of examples/, as `itemctl model` reads them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "tools/model/model_folder.h"

namespace itemdb::examples {

// Reads the folder `model` of examples/, for example "adjacency_list".
absl::StatusOr<tools::ModelFolder> ReadModel(const std::string& model);

// Creates the tables of a model and puts their items.
absl::Status LoadModel(const Client& client, const std::string& model);

nlohmann::json ToPlainJson(const Item& item);

}  // namespace itemdb::examples
