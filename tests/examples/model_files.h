// The files of a folder of examples/: tables, items and access patterns with their answers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"

namespace itemdb::examples {

// Creates the tables of a model ("adjacency_list") and puts their items.
absl::Status LoadModel(const Client& client, const std::string& model);

// The items of one of its tables, in the order of the file.
absl::StatusOr<std::vector<Item>> ReadItems(const std::string& model, const std::string& table);
absl::StatusOr<TableDefinition> ReadTable(const std::string& model, const std::string& table);

struct Pattern {
  int number = 0;
  int requests = 0;
  // What is found, as plain JSON.
  std::vector<nlohmann::json> items;
};

absl::StatusOr<std::vector<Pattern>> ReadPatterns(const std::string& model);

}  // namespace itemdb::examples
