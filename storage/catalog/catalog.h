// The catalog: every table by name, at one moment.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "storage/catalog/table.h"

namespace itemdb {

// Immutable; a ReadView holds the one that belongs to its snapshot. A range of the tables in name order.
//
// A change makes another catalog, which shares with this one all but a list of chunks and one chunk of
// tables: making or deleting a table costs the same beside ten tables and beside ten thousand.
class Catalog {
  using Tables = std::vector<std::shared_ptr<const Table>>;

 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::shared_ptr<const Table>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    Iterator() = default;
    reference operator*() const { return (*catalog_->chunks_[chunk_])[place_]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++();
    Iterator operator++(int);
    bool operator==(const Iterator&) const = default;

   private:
    friend class Catalog;
    Iterator(const Catalog* catalog, size_t chunk, size_t place);

    const Catalog* catalog_ = nullptr;
    size_t chunk_ = 0;
    size_t place_ = 0;
  };

  Catalog() = default;
  // `tables` are in name order.
  explicit Catalog(const std::vector<std::shared_ptr<const Table>>& tables);

  // By name or by ARN (SEM-008); of an ARN only the name counts, as there is one region and one account.
  // NOT_FOUND names the table. INVALID_ARGUMENT: no table can have this name.
  absl::StatusOr<std::shared_ptr<const Table>> Find(std::string_view name) const;
  // By name only. Null when there is none.
  std::shared_ptr<const Table> FindByName(std::string_view name) const;

  size_t size() const { return size_; }
  Iterator begin() const { return Iterator(this, 0, 0); }
  Iterator end() const { return Iterator(this, chunks_.size(), 0); }
  // The first table whose name is not less than `name`, or is greater.
  Iterator LowerBound(std::string_view name) const;
  Iterator UpperBound(std::string_view name) const;

  // With `table` added, or in place of the one that has its name.
  std::shared_ptr<const Catalog> With(std::shared_ptr<const Table> table) const;
  // Without the table of this name, which there is.
  std::shared_ptr<const Catalog> Without(std::string_view name) const;

 private:
  // The chunk that holds the table of this name if any does.
  size_t ChunkOf(std::string_view name) const;

  // Neither is empty.
  std::vector<std::shared_ptr<const Tables>> chunks_;
  size_t size_ = 0;
};

}  // namespace itemdb
