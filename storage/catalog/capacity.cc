#include "storage/catalog/capacity.h"

#include <algorithm>

#include "storage/catalog/key_counting.h"

namespace itemdb::storage {
namespace {

constexpr size_t kReadUnitBytes = 4'096;
constexpr size_t kWriteUnitBytes = 1'024;
constexpr size_t kVectorStepBytes = 1'024;

double Units(size_t bytes, size_t unit_bytes) {
  return static_cast<double>(std::max<size_t>(1, (bytes + unit_bytes - 1) / unit_bytes));
}

}  // namespace

double ReadUnits(size_t bytes, bool consistent) {
  return Units(bytes, kReadUnitBytes) * (consistent ? 1.0 : 0.5);
}

double WriteUnits(size_t bytes) { return Units(bytes, kWriteUnitBytes); }

size_t VectorBytes(size_t bytes) {
  return (bytes + kVectorStepBytes - 1) / kVectorStepBytes * kVectorStepBytes;
}

absl::Status CheckReturnConsumedCapacity(v1::ReturnConsumedCapacity wanted) {
  if (v1::ReturnConsumedCapacity_IsValid(wanted)) return absl::OkStatus();
  return ValidationError("SEM-061", "ReturnConsumedCapacity " + std::to_string(wanted) +
                                        " is unknown; it must be NONE, TOTAL or INDEXES");
}

void AddConsumedCapacity(const v1::ConsumedCapacity& more, v1::ConsumedCapacity* sum) {
  sum->set_table_name(more.table_name());
  sum->set_capacity_units(sum->capacity_units() + more.capacity_units());
  if (more.has_table())
    sum->mutable_table()->set_capacity_units(sum->table().capacity_units() + more.table().capacity_units());
  auto add = [](const auto& from, auto* to) {
    for (const auto& [name, capacity] : from)
      (*to)[name].set_capacity_units((*to)[name].capacity_units() + capacity.capacity_units());
  };
  add(more.global_secondary_indexes(), sum->mutable_global_secondary_indexes());
  add(more.local_secondary_indexes(), sum->mutable_local_secondary_indexes());
  for (const auto& [name, vectors] : more.vector_indexes()) {
    v1::VectorCapacity& added = (*sum->mutable_vector_indexes())[name];
    added.set_vector_write_request_bytes(added.vector_write_request_bytes() +
                                         vectors.vector_write_request_bytes());
  }
}

void CapacityMeter::AddRead(const Table& table, double units) {
  table.used->AddRead(units);
  AddTable(table, units);
}

void CapacityMeter::AddRead(const Table& table, std::string_view key, double units) {
  CountUsedKey(table, key, units);
  AddRead(table, units);
}

void CapacityMeter::AddWrite(const Table& table, std::string_view key, double units) {
  CountUsedKey(table, key, units);
  table.used->AddWrite(units);
  AddTable(table, units);
}

void CapacityMeter::AddIndexRead(const Table& table, const Index& index, double units) {
  index.used->AddRead(units);
  AddIndex(table, index, units);
}

void CapacityMeter::AddIndexWrite(const Table& table, const Index& index, double units) {
  index.used->AddWrite(units);
  AddIndex(table, index, units);
}

void CapacityMeter::AddTable(const Table& table, double units) {
  if (wanted()) tables_[table.name].table += units;
}

void CapacityMeter::AddIndex(const Table& table, const Index& index, double units) {
  if (!wanted()) return;
  Use& use = tables_[table.name];
  (index.local ? use.local_indexes : use.global_indexes)[index.name] += units;
}

void CapacityMeter::AddVectorIndex(const Table& table, const Index& index, size_t bytes) {
  if (wanted()) tables_[table.name].vector_indexes[index.name] += bytes;
}

std::vector<v1::ConsumedCapacity> CapacityMeter::Take() {
  std::vector<v1::ConsumedCapacity> all;
  for (const auto& [name, use] : tables_) {
    v1::ConsumedCapacity& consumed = all.emplace_back();
    consumed.set_table_name(name);
    double total = use.table;
    for (const auto* indexes : {&use.global_indexes, &use.local_indexes}) {
      for (const auto& [index, units] : *indexes) total += units;
    }
    consumed.set_capacity_units(total);
    if (wanted_ != v1::RETURN_CONSUMED_CAPACITY_INDEXES) continue;
    consumed.mutable_table()->set_capacity_units(use.table);
    for (const auto& [index, units] : use.global_indexes)
      (*consumed.mutable_global_secondary_indexes())[index].set_capacity_units(units);
    for (const auto& [index, units] : use.local_indexes)
      (*consumed.mutable_local_secondary_indexes())[index].set_capacity_units(units);
    for (const auto& [index, bytes] : use.vector_indexes)
      (*consumed.mutable_vector_indexes())[index].set_vector_write_request_bytes(static_cast<int64_t>(bytes));
  }
  tables_.clear();
  return all;
}

}  // namespace itemdb::storage
