#include "storage/catalog/key_paths.h"

#include <algorithm>

namespace itemdb::storage {
namespace {

// The first of `names` that is one of `attributes`, or null.
const std::string* FindKey(const std::vector<KeyAttribute>& attributes,
                           const std::vector<std::string>& names) {
  for (const KeyAttribute& attribute : attributes) {
    const auto found = std::find(names.begin(), names.end(), attribute.name);
    if (found != names.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

absl::Status CheckNoPathIntoKeys(const Table& table, const std::vector<std::string>& names) {
  if (names.empty()) return absl::OkStatus();
  const auto refusal = [](const std::string& kind, const std::string& name) {
    return ValidationError(
        "SEM-071",
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: " +
            kind + ": " + name);
  };
  for (const auto* part : {&table.partition, &table.sort}) {
    if (const std::string* name = FindKey(*part, names)) return refusal("Key", *name);
  }
  for (const Index& index : table.indexes) {
    if (index.time_to_live) continue;  // A time-to-live attribute may have any value.
    for (const auto* part : {&index.partition, &index.sort}) {
      if (const std::string* name = FindKey(*part, names)) return refusal("IndexKey", *name);
    }
  }
  return absl::OkStatus();
}

}  // namespace itemdb::storage
