// The items of a table in one ReadView, in the order of their keys.
#pragma once

#include <memory>

#include "storage/loading/item_source.h"
#include "storage/store/keyspace.h"
#include "storage/store/read_view.h"

namespace itemdb::storage {

class ViewSource final : public ItemSource {
 public:
  // `table` need not be in the catalog of `view`.
  ViewSource(std::shared_ptr<const ReadView> view, Table table);

  absl::StatusOr<bool> Next(Item* item) override;

 private:
  // In the order of their construction: the iterator goes before its view.
  const std::shared_ptr<const ReadView> view_;
  const Table table_;
  KeyspaceIterator items_;
  bool has_begun_ = false;
};

}  // namespace itemdb::storage
