// Access to what is inside of items: `item["address"]["city"]`, `item["lines"][0]`. Included by value.h.
//
// Reading never changes an item. What is missing reads as NULL; exists() tells the two apart.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "itemdb/export.h"
#include "itemdb/value.h"

namespace itemdb {

namespace internal {

// A NULL that lives as long as the program.
inline const Value& NullValue() {
  static const Value* const null = new Value();
  return *null;
}

}  // namespace internal

// A place in an item that may be written: what `item["a"]` is when `item` is not const. Valid while the item
// exists and is not moved. Whether there is a value is looked up each time.
class ITEMDB_NO_DANGLING ValueRef {
 public:
  // The value; NULL if there is none. Valid until the item is changed or destroyed.
  const Value& get() const {
    const Value* const found = find_or_null();
    return found == nullptr ? internal::NullValue() : *found;
  }
  operator const Value&() const { return get(); }  // NOLINT: implicit on purpose
  const Value* operator->() const { return &get(); }
  bool exists() const { return find_or_null() != nullptr; }
  inline const Value* find_or_null() const;

  ValueRef operator[](std::string_view name) const { return With({.name = std::string(name)}); }
  ValueRef operator[](size_t index) const { return With({.index = index, .is_index = true}); }

  // Puts a value here. Maps and lists on the way are made, also in the place of values of other types. An
  // index beyond the end of a list appends, as in an update expression of DynamoDB.
  inline ValueRef& operator=(Value value);
  ValueRef& operator=(const ValueRef& other) {
    if (this != &other) *this = Value(other.get());
    return *this;
  }
  ValueRef(const ValueRef&) = default;
  ~ValueRef() = default;

  friend bool operator==(const ValueRef& a, const Value& b) { return a.get() == b; }
  friend std::ostream& operator<<(std::ostream& out, const ValueRef& place) { return out << place.get(); }

 private:
  friend class Item;
  friend ITEMDB_EXPORT absl::StatusOr<ValueRef> AtPath(Item& item, std::string_view path);
  friend ITEMDB_EXPORT const Value* FindPath(const Item& item, std::string_view path);

  struct Step {
    std::string name = "";
    size_t index = 0;
    bool is_index = false;
  };

  ValueRef(Item& item, std::string_view name) : item_(&item) {
    steps_.push_back({.name = std::string(name)});
  }
  ValueRef With(Step step) const {
    ValueRef longer(*this);
    longer.steps_.push_back(std::move(step));
    return longer;
  }
  static const Value* Follow(const Value* value, const Step& step) {
    return step.is_index ? value->element_or_null(step.index) : value->member_or_null(step.name);
  }

  Item* item_;
  // The first is a name.
  std::vector<Step> steps_;
};

// The place of a document path as in expressions: "address.city", "lines[0].price". Names that contain a dot
// or a bracket cannot be written so; use operator[]. INVALID_ARGUMENT, reason VALIDATION: the path is
// malformed.
ITEMDB_EXPORT absl::StatusOr<ValueRef> AtPath(Item& item, std::string_view path);
// The value of a document path; null: there is none, or the path is malformed. Valid until the item is
// changed or destroyed.
ITEMDB_EXPORT const Value* FindPath(const Item& item, std::string_view path);

// ---- implementation ------------------------------------------------------------------------------

inline const Value* ValueRef::find_or_null() const {
  const Value* value = item_->find_or_null(steps_.front().name);
  for (size_t i = 1; value != nullptr && i < steps_.size(); ++i) value = Follow(value, steps_[i]);
  return value;
}

inline ValueRef& ValueRef::operator=(Value value) {
  Value* at = &item_->FindOrAdd(steps_.front().name);
  for (size_t i = 1; i < steps_.size(); ++i) {
    if (steps_[i].is_index) {
      std::vector<Value>& list = at->MakeList();
      const size_t index = steps_[i].index < list.size() ? steps_[i].index : list.size();
      if (index == list.size()) list.emplace_back();
      at = &list[index];
    } else {
      at = &at->MakeMap().FindOrAdd(steps_[i].name);
    }
  }
  *at = std::move(value);
  return *this;
}

inline const Value& Item::operator[](std::string_view name) const {
  const Value* const found = find_or_null(name);
  return found == nullptr ? internal::NullValue() : *found;
}

inline ValueRef Item::operator[](std::string_view name) { return ValueRef(*this, name); }

inline Value& Item::FindOrAdd(std::string_view name) {
  if (!contains(name)) Set(std::string(name), Value());
  return const_cast<Value&>(*find_or_null(name));
}

inline const Value& Value::operator[](std::string_view name) const {
  const Value* const found = member_or_null(name);
  return found == nullptr ? internal::NullValue() : *found;
}

inline const Value& Value::operator[](size_t index) const {
  const Value* const found = element_or_null(index);
  return found == nullptr ? internal::NullValue() : *found;
}

inline const Value* Value::member_or_null(std::string_view name) const {
  const Item* const map = map_or_null();
  return map == nullptr ? nullptr : map->find_or_null(name);
}

inline const Value* Value::element_or_null(size_t index) const {
  const std::vector<Value>* const list = list_or_null();
  return list == nullptr || index >= list->size() ? nullptr : &(*list)[index];
}

inline Item& Value::MakeMap() {
  if (map_or_null() == nullptr) *this = Map(Item());
  return const_cast<Item&>(*map_or_null());
}

inline std::vector<Value>& Value::MakeList() {
  if (list_or_null() == nullptr) *this = List({});
  return const_cast<std::vector<Value>&>(*list_or_null());
}

}  // namespace itemdb
