#include "client/modelling/merge.h"
#include "common/status_macros.h"

#include <compare>
#include <future>
#include <memory>
#include <utility>

namespace itemdb {
namespace {

// One of the merged sequences. Must not move: a fetch under way has a pointer to it.
class PagedSource {
 public:
  explicit PagedSource(FetchPage fetch) : fetch_(std::move(fetch)) {}

  // Starts to fetch the next page, unless a fetch is under way or there is no next page.
  void StartFetch() {
    if (last_page_ || fetching_.valid()) return;
    // `deferred`: if no thread can be started, the fetch runs in get() and no exception is thrown.
    fetching_ = std::async(std::launch::async | std::launch::deferred, [this] { return fetch_(start_key_); });
  }

  // The first item, or null at the end; waits for a page if necessary. Valid until Pop.
  absl::StatusOr<const Item*> Front() {
    while (used_ == page_.items.size()) {
      StartFetch();
      if (!fetching_.valid()) return nullptr;
      ITEMDB_ASSIGN_OR_RETURN(ItemPage page, fetching_.get());
      page_ = std::move(page);
      used_ = 0;
      last_page_ = !page_.last_evaluated_key.has_value();
      start_key_ = std::move(page_.last_evaluated_key);
    }
    return &page_.items[used_];
  }

  // Removes and returns the item that Front returned.
  Item Pop() {
    Item item = std::move(page_.items[used_++]);
    if (used_ * 2 >= page_.items.size()) StartFetch();
    return item;
  }

 private:
  FetchPage fetch_;
  std::optional<Item> start_key_;
  ItemPage page_;
  size_t used_ = 0;
  bool last_page_ = false;
  // The last member, so that it is destroyed first: it waits for the fetch, which uses the others.
  std::future<absl::StatusOr<ItemPage>> fetching_;
};

// The order of keys: text and binary values by bytes, numbers by value. Values of different types by type.
std::strong_ordering Compare(const Value* a, const Value* b) {
  if (a == nullptr || b == nullptr) return (a != nullptr) <=> (b != nullptr);
  if (a->type() != b->type()) return a->type() <=> b->type();
  if (const Number* number = a->number_or_null()) return *number <=> *b->number_or_null();
  if (const std::string* text = a->string_or_null()) return *text <=> *b->string_or_null();
  if (const std::string* bytes = a->binary_or_null()) return *bytes <=> *b->binary_or_null();
  return std::strong_ordering::equal;
}

}  // namespace

bool MergeOrder::Before(const Item& a, const Item& b) const {
  for (const std::string& attribute : attributes) {
    const std::strong_ordering order = Compare(a.find_or_null(attribute), b.find_or_null(attribute));
    if (order != 0) return descending ? order > 0 : order < 0;
  }
  return false;
}

ItemRange MergePages(std::vector<FetchPage> sources, MergeOrder order) {
  std::vector<std::unique_ptr<PagedSource>> merged;
  for (FetchPage& fetch : sources) merged.push_back(std::make_unique<PagedSource>(std::move(fetch)));

  return ItemRange([merged = std::move(merged), order = std::move(order),
                    started = false]() mutable -> absl::StatusOr<std::optional<Item>> {
    if (!started) {
      for (const std::unique_ptr<PagedSource>& source : merged) source->StartFetch();
      started = true;
    }
    // There are few sources, so a linear search is as fast as a heap.
    PagedSource* first = nullptr;
    const Item* first_item = nullptr;
    for (const std::unique_ptr<PagedSource>& source : merged) {
      ITEMDB_ASSIGN_OR_RETURN(const Item* front, source->Front());
      if (front != nullptr && (first == nullptr || order.Before(*front, *first_item))) {
        first = source.get();
        first_item = front;
      }
    }
    if (first == nullptr) return std::nullopt;
    return first->Pop();
  });
}

}  // namespace itemdb
