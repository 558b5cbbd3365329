// The catalog: all tables, by name, at one moment.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "storage/catalog/table.h"

namespace itemdb::storage {

// The name by which a table is looked up when a request says `name`, which is a table name or an ARN: of an
// ARN the part after ":table/", because there is one region and one account (SEM-008). Borrows from `name`.
std::string_view TableNameOf(std::string_view name);

// A range of tables in name order. Immutable. A ReadView holds the catalog that belongs to its snapshot.
//
// A change makes a new catalog, with its own list of chunks and one new chunk of tables; both catalogs share
// all other chunks. So creating or deleting a table costs about the same with 10 tables and with 10,000.
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

  // Finds a table by name or by ARN (TableNameOf()). NOT_FOUND: there is no such table. INVALID_ARGUMENT: no
  // table can have this name.
  absl::StatusOr<std::shared_ptr<const Table>> Find(std::string_view name) const;
  // Finds a table by name only. Null when there is none.
  std::shared_ptr<const Table> FindByName(std::string_view name) const;

  size_t size() const { return size_; }
  Iterator begin() const { return Iterator(this, 0, 0); }
  Iterator end() const { return Iterator(this, chunks_.size(), 0); }
  // The first table whose name is not less than `name`; the first whose name is greater.
  Iterator LowerBound(std::string_view name) const;
  Iterator UpperBound(std::string_view name) const;

  // Returns a catalog with `table`, in place of the table of the same name if there is one.
  std::shared_ptr<const Catalog> With(std::shared_ptr<const Table> table) const;
  // Returns a catalog without the table of this name. The table must exist.
  std::shared_ptr<const Catalog> Without(std::string_view name) const;

 private:
  // The only chunk that can hold a table of this name.
  size_t ChunkOf(std::string_view name) const;

  // No chunk is empty.
  std::vector<std::shared_ptr<const Tables>> chunks_;
  size_t size_ = 0;
};

}  // namespace itemdb::storage
