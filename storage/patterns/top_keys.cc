#include "storage/patterns/top_keys.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace itemdb::storage {

TopKeys::TopKeys(size_t capacity) : capacity_(capacity) { places_.reserve(capacity); }

void TopKeys::Add(std::string_view key, double weight) {
  if (const auto found = places_by_key_.find(key); found != places_by_key_.end()) {
    Place& place = places_[found->second];
    place.counted.count += weight;
    return MoveDown(place.position);
  }
  if (places_.size() < capacity_) {
    Place& place = places_.emplace_back();
    place.counted = {std::string(key), weight, 0};
    place.position = heap_.size();
    heap_.push_back(places_.size() - 1);
    places_by_key_[place.counted.key] = places_.size() - 1;
    return MoveUp(place.position);
  }
  const size_t least = heap_.front();
  Counted& replaced = places_[least].counted;
  places_by_key_.erase(replaced.key);
  replaced = {std::string(key), replaced.count + weight, replaced.count};
  places_by_key_[replaced.key] = least;
  MoveDown(0);
}

std::vector<TopKeys::Counted> TopKeys::Top(size_t limit) const {
  std::vector<const Counted*> all;
  all.reserve(places_.size());
  for (const Place& place : places_) all.push_back(&place.counted);
  const auto rank = [](const Counted* counted) {
    return std::make_tuple(-counted->count, std::string_view(counted->key));
  };
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(limit, all.size()));
  std::partial_sort(all.begin(), end, all.end(),
                    [&rank](const Counted* a, const Counted* b) { return rank(a) < rank(b); });
  std::vector<Counted> top;
  for (auto one = all.begin(); one != end; ++one) top.push_back(**one);
  return top;
}

void TopKeys::Exchange(size_t a, size_t b) {
  std::swap(heap_[a], heap_[b]);
  places_[heap_[a]].position = a;
  places_[heap_[b]].position = b;
}

void TopKeys::MoveUp(size_t position) {
  while (position > 0 && CountAt(position) < CountAt((position - 1) / 2)) {
    Exchange(position, (position - 1) / 2);
    position = (position - 1) / 2;
  }
}

void TopKeys::MoveDown(size_t position) {
  while (true) {
    size_t least = position;
    for (const size_t child : {2 * position + 1, 2 * position + 2}) {
      if (child < heap_.size() && CountAt(child) < CountAt(least)) least = child;
    }
    if (least == position) return;
    Exchange(position, least);
    position = least;
  }
}

}  // namespace itemdb::storage
