#include "itemdb/item_range.h"

#include <utility>

namespace itemdb {
inline namespace client {

absl::StatusOr<std::optional<Item>> ItemRange::Next() {
  Advance();
  if (!status_.ok()) return status_;
  return std::exchange(current_, std::nullopt);
}

void ItemRange::Advance() {
  current_.reset();
  if (ended_) return;
  absl::StatusOr<std::optional<Item>> next = source_();
  if (!next.ok()) {
    status_ = next.status();
  } else {
    current_ = *std::move(next);
  }
  ended_ = !current_.has_value();
}

absl::StatusOr<std::vector<Item>> ItemRange::ToVector() {
  std::vector<Item> items;
  for (Advance(); current_.has_value(); Advance()) items.push_back(*std::move(current_));
  if (!status_.ok()) return status_;
  return items;
}

}  // namespace client
}  // namespace itemdb
