// A sequence whose elements are fetched while a program iterates over it.
//
//   ItemRange range = client.QueryAll({...});
//   for (const Item& item : range) { ... }
//   if (!range.status().ok()) { ... the sequence ended early ... }
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace itemdb {

// A lazy sequence that can be iterated once. It holds only the page in use and fetches the next page after
// that (blocking). May be destroyed at any point, and may outlive the Client that made it. Movable; for one
// thread at a time.
template <typename Element>
class LazyRange {
 public:
  // Returns the next element, nothing at the end, or the error that ends the sequence.
  using Source = absl::AnyInvocable<absl::StatusOr<std::optional<Element>>()>;

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using pointer = const Element*;
    using reference = const Element&;

    iterator() = default;
    // Valid until the iterator moves.
    reference operator*() const { return *range_->current_; }
    pointer operator->() const { return &*range_->current_; }
    iterator& operator++() {
      range_->Advance();
      return *this;
    }
    void operator++(int) { range_->Advance(); }
    // Defined only as "is at the end or not".
    friend bool operator==(const iterator& it, std::default_sentinel_t) { return it.at_end(); }

   private:
    friend class LazyRange;
    explicit iterator(LazyRange* range) : range_(range) {}
    bool at_end() const { return range_ == nullptr || !range_->current_.has_value(); }
    LazyRange* range_ = nullptr;  // Not owned; null for a default-made iterator.
  };

  explicit LazyRange(Source source) : source_(std::move(source)) {}

  // The next element, nothing at the end, or the error that ended the sequence (also at each further call).
  absl::StatusOr<std::optional<Element>> Next() {
    Advance();
    if (!status_.ok()) return status_;
    return std::exchange(current_, std::nullopt);
  }

  // Fetches the first element. Call once; the range must not move while an iterator is in use.
  iterator begin() {
    Advance();
    return iterator(this);
  }
  std::default_sentinel_t end() const { return std::default_sentinel; }

  // OK while elements come and after the regular end; otherwise the error that ended the sequence early.
  // Check it after every loop.
  const absl::Status& status() const { return status_; }

  // All remaining elements, or the error. Unbounded: for sequences that are known to be small.
  absl::StatusOr<std::vector<Element>> ToVector() {
    std::vector<Element> elements;
    for (Advance(); current_.has_value(); Advance()) elements.push_back(*std::move(current_));
    if (!status_.ok()) return status_;
    return elements;
  }

 private:
  void Advance() {
    current_.reset();
    if (ended_) return;
    absl::StatusOr<std::optional<Element>> next = source_();
    if (!next.ok()) {
      status_ = next.status();
    } else {
      current_ = *std::move(next);
    }
    ended_ = !current_.has_value();
  }

  Source source_;
  std::optional<Element> current_;
  absl::Status status_;
  bool ended_ = false;
};

}  // namespace itemdb
