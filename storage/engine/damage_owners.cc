#include "storage/engine/damage_owners.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "storage/keys/storage_id.h"
#include "storage/store/store.h"

namespace itemdb::storage {

KeyspaceOwner FindKeyspaceOwner(const Catalog& catalog, uint64_t storage_id) {
  for (const auto& table : catalog) {
    if (table->storage_id == storage_id) return {table, nullptr};
    if (const Index* index = table->FindIndexByStorageId(storage_id); index != nullptr) return {table, index};
  }
  return {};
}

bool BelongsToTables(const std::string& family) {
  const auto number = std::find(std::begin(Store::kFamilyNames), std::end(Store::kFamilyNames), family);
  return number - std::begin(Store::kFamilyNames) <= Store::kLocalEntries;
}

std::string OwnersOf(const Catalog& catalog, const DamagedFile& file) {
  if (!BelongsToTables(file.family)) return "";
  std::string_view smallest = file.smallest_key;
  std::string_view largest = file.largest_key;
  const std::optional<uint64_t> first = ConsumeStorageId(&smallest);
  const std::optional<uint64_t> last = ConsumeStorageId(&largest);
  if (!first.has_value() || !last.has_value()) return "";
  if (*first != *last) return "several tables";
  const KeyspaceOwner owner = FindKeyspaceOwner(catalog, *first);
  if (owner.table == nullptr) return "a deleted table";
  if (owner.index == nullptr) return "table " + owner.table->name;
  return "index " + owner.index->name + " of table " + owner.table->name;
}

}  // namespace itemdb::storage
