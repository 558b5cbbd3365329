// The catalog: every table by name, at one moment.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "storage/catalog/table.h"

namespace itemdb {

// Immutable; a ReadView holds the one that belongs to its snapshot.
class Catalog {
 public:
  // In name order.
  using Tables = std::map<std::string, std::shared_ptr<const Table>, std::less<>>;

  explicit Catalog(Tables tables) : tables_(std::move(tables)) {}

  // By name or by ARN (SEM-008); of an ARN only the name counts, as there is one region and one account.
  // NOT_FOUND names the table. INVALID_ARGUMENT: no table can have this name.
  absl::StatusOr<std::shared_ptr<const Table>> Find(std::string_view name) const;

  const Tables& tables() const { return tables_; }

 private:
  Tables tables_;
};

}  // namespace itemdb
