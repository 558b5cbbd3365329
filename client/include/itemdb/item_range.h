// Items one after another, fetched page by page while they are used.
//
//   ItemRange range = client.QueryAll({...});
//   for (const Item& item : range) { ... }
//   if (!range.status().ok()) { ... the items seen are not all there are ... }
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/export.h"
#include "itemdb/value.h"

namespace itemdb {
inline namespace client {

// A lazy sequence of items that can be passed through once. It holds the page in use and nothing more,
// fetches the next page when that one is used up (blocking), and may be dropped at any point. It stays usable
// after the Client that made it is gone. Movable; to be used by one thread at a time.
class ITEMDB_EXPORT ItemRange {
 public:
  // Produces the next item, nothing at the end, or the error that ends the sequence.
  using Source = absl::AnyInvocable<absl::StatusOr<std::optional<Item>>()>;

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using pointer = const Item*;
    using reference = const Item&;

    iterator() = default;
    // Valid until the iterator moves.
    reference operator*() const { return *range_->current_; }
    pointer operator->() const { return &*range_->current_; }
    iterator& operator++() {
      range_->Advance();
      return *this;
    }
    void operator++(int) { range_->Advance(); }
    // Only "at the end or not" is defined.
    friend bool operator==(const iterator& it, std::default_sentinel_t) { return it.at_end(); }

   private:
    friend class ItemRange;
    explicit iterator(ItemRange* range) : range_(range) {}
    bool at_end() const { return range_ == nullptr || !range_->current_.has_value(); }
    ItemRange* range_ = nullptr;  // Not owned; null for a default-made iterator.
  };

  explicit ItemRange(Source source) : source_(std::move(source)) {}

  // The next item, nothing at the end, or the error that ended the sequence (again at each further call).
  absl::StatusOr<std::optional<Item>> Next();

  // Fetches the first item. Call once; the range must not move while an iterator is in use.
  iterator begin() {
    Advance();
    return iterator(this);
  }
  std::default_sentinel_t end() const { return std::default_sentinel; }

  // OK while items come and after the true end; otherwise the error that ended the sequence early. Look at it
  // after every loop.
  const absl::Status& status() const { return status_; }

  // All items that are left, or the error. Unbounded: for sequences known to be small.
  absl::StatusOr<std::vector<Item>> ToVector();

 private:
  void Advance();

  Source source_;
  std::optional<Item> current_;
  absl::Status status_;
  bool ended_ = false;
};

}  // namespace client
}  // namespace itemdb
