// Conversion between structs and items. One line for each struct, after it and outside of any namespace:
//
//   struct Product {
//     std::string product_id;
//     int64_t stock = 0;
//     std::optional<std::string> note;
//   };
//   ITEMDB_ITEM(Product, product_id, stock, (note, "Note"))
//
// names the members that are attributes, and of one in parentheses the attribute too. A program that needs
// more, such as a computed key, specialises ItemTraits itself; the line above does the same as
//
//   template <>
//   struct itemdb::ItemTraits<Product> {
//     static itemdb::Item ToItem(const Product& product) {
//       return itemdb::ItemBuilder()
//           .With("product_id", product.product_id)
//           .With("stock", product.stock)
//           .With("Note", product.note)  // Left out when `note` is empty.
//           .Build();
//     }
//     static absl::StatusOr<Product> FromItem(const itemdb::Item& item) {
//       Product product;
//       itemdb::ItemReader reader(item);
//       reader.Read("product_id", product.product_id)
//           .Read("stock", product.stock)
//           .Read("Note", product.note);
//       return reader.Finish(std::move(product));
//     }
//   };
//
//   absl::StatusOr<WriteResult> put = PutItemAs(client, "Product", product);
//   absl::StatusOr<std::optional<Product>> got =
//       GetItemAs<Product>(client, {.table_name = "Product", .key = key});
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "itemdb/export.h"
#include "itemdb/item_range.h"
#include "itemdb/lazy_range.h"
#include "itemdb/value.h"

namespace itemdb {

// A program specialises this for its struct T, in namespace itemdb, with
//   static Item ToItem(const T&);
//   static absl::StatusOr<T> FromItem(const Item&);  // DATA_LOSS: the item does not fit T.
template <typename T>
struct ItemTraits;

template <typename T>
concept MappedToItem = requires(const T& value, const Item& item) {
  { ItemTraits<T>::ToItem(value) } -> std::convertible_to<Item>;
  { ItemTraits<T>::FromItem(item) } -> std::convertible_to<absl::StatusOr<T>>;
};

template <MappedToItem T>
Item ToItem(const T& value) {
  return ItemTraits<T>::ToItem(value);
}

template <MappedToItem T>
absl::StatusOr<T> FromItem(const Item& item) {
  return ItemTraits<T>::FromItem(item);
}

// ---- C++ types as values -------------------------------------------------------------------------
// ItemBuilder and ItemReader convert std::string (S), bool (BOOL), integers and Number (N), Value, structs
// with ItemTraits (M), std::vector of these types (L), std::map from std::string to these types (M), and
// std::optional of these types (an empty optional is an absent attribute). A Number keeps all its digits.
// Reading a number into an integer that cannot hold it is an error.

namespace internal {

// An error whose text follows "attribute NAME". DATA_LOSS, reason UNEXPECTED_ITEM.
ITEMDB_EXPORT absl::Status WrongType(std::string_view expected, const Value& value);
ITEMDB_EXPORT absl::Status NotInRange(const Number& number);

template <typename T>
struct ValueTraits {  // Structs, as maps.
  static Value To(const T& value) { return Value::Map(ToItem(value)); }
  static absl::Status From(const Value& value, T& out) {
    if (value.map_or_null() == nullptr) return WrongType("M", value);
    absl::StatusOr<T> read = FromItem<T>(*value.map_or_null());
    if (!read.ok()) return read.status();
    out = *std::move(read);
    return absl::OkStatus();
  }
};

template <>
struct ValueTraits<Value> {
  static Value To(const Value& value) { return value; }
  static absl::Status From(const Value& value, Value& out) {
    out = value;
    return absl::OkStatus();
  }
};

template <>
struct ValueTraits<std::string> {
  static Value To(const std::string& text) { return text; }
  static absl::Status From(const Value& value, std::string& out) {
    if (value.string_or_null() == nullptr) return WrongType("S", value);
    out = *value.string_or_null();
    return absl::OkStatus();
  }
};

template <>
struct ValueTraits<Number> {
  static Value To(const Number& number) { return number; }
  static absl::Status From(const Value& value, Number& out) {
    if (value.number_or_null() == nullptr) return WrongType("N", value);
    out = *value.number_or_null();
    return absl::OkStatus();
  }
};

template <>
struct ValueTraits<bool> {
  static Value To(bool value) { return value; }
  static absl::Status From(const Value& value, bool& out) {
    if (value.bool_or_null() == nullptr) return WrongType("BOOL", value);
    out = *value.bool_or_null();
    return absl::OkStatus();
  }
};

template <std::integral T>
struct ValueTraits<T> {
  static_assert(std::numeric_limits<T>::digits <= 63, "use itemdb::Number for integers above int64_t");
  static Value To(T value) { return value; }
  static absl::Status From(const Value& value, T& out) {
    if (value.number_or_null() == nullptr) return WrongType("N", value);
    const absl::StatusOr<int64_t> number = value.number_or_null()->ToInt64();
    if (!number.ok() || !std::in_range<T>(*number)) return NotInRange(*value.number_or_null());
    out = static_cast<T>(*number);
    return absl::OkStatus();
  }
};

template <typename T>
struct ValueTraits<std::vector<T>> {
  static Value To(const std::vector<T>& elements) {
    std::vector<Value> values;
    values.reserve(elements.size());
    for (const T& element : elements) values.push_back(ValueTraits<T>::To(element));
    return Value::List(std::move(values));
  }
  static absl::Status From(const Value& value, std::vector<T>& out) {
    if (value.list_or_null() == nullptr) return WrongType("L", value);
    out.clear();
    for (const Value& element : *value.list_or_null()) {
      absl::Status status = ValueTraits<T>::From(element, out.emplace_back());
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
};

template <typename T>
struct ValueTraits<std::map<std::string, T>> {
  static Value To(const std::map<std::string, T>& members) {
    Item item;
    for (const auto& [name, member] : members) item.Set(name, ValueTraits<T>::To(member));
    return Value::Map(std::move(item));
  }
  static absl::Status From(const Value& value, std::map<std::string, T>& out) {
    if (value.map_or_null() == nullptr) return WrongType("M", value);
    out.clear();
    for (const Attribute& member : *value.map_or_null()) {
      absl::Status status = ValueTraits<T>::From(member.value, out[member.name]);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
};

}  // namespace internal

// Makes an item attribute by attribute.
class ItemBuilder {
 public:
  template <typename T>
  ItemBuilder& With(std::string name, const T& value) {
    item_.Set(std::move(name), internal::ValueTraits<T>::To(value));
    return *this;
  }
  // Adds nothing when `value` is empty.
  template <typename T>
  ItemBuilder& With(std::string name, const std::optional<T>& value) {
    if (value.has_value()) With(std::move(name), *value);
    return *this;
  }
  ItemBuilder& With(std::string name, const char* text) { return With(std::move(name), std::string(text)); }

  Item Build() { return std::move(item_); }

 private:
  Item item_;
};

// Reads an item attribute by attribute and keeps the first error. `item` outlives the reader.
class ITEMDB_EXPORT ItemReader {
 public:
  explicit ItemReader(const Item& item) : item_(item) {}

  // DATA_LOSS (reason UNEXPECTED_ITEM): the attribute is missing, has another type, or does not fit into
  // `out`.
  template <typename T>
  ItemReader& Read(std::string_view name, T& out) {
    const Value* value = Required(name);
    if (value != nullptr) Keep(name, internal::ValueTraits<T>::From(*value, out));
    return *this;
  }
  // Makes `out` empty when the attribute is missing or NULL.
  template <typename T>
  ItemReader& Read(std::string_view name, std::optional<T>& out) {
    const Value* value = item_.find_or_null(name);
    out.reset();
    if (value == nullptr || value->is_null()) return *this;
    Keep(name, internal::ValueTraits<T>::From(*value, out.emplace()));
    return *this;
  }

  // Leaves `out` as it is when the attribute is missing.
  template <typename T>
  ItemReader& ReadIfPresent(std::string_view name, T& out) {
    const Value* value = item_.find_or_null(name);
    if (value != nullptr) Keep(name, internal::ValueTraits<T>::From(*value, out));
    return *this;
  }

  const absl::Status& status() const { return status_; }
  // Returns `value`, or the first error.
  template <typename T>
  absl::StatusOr<T> Finish(T value) const {
    if (!status_.ok()) return status_;
    return value;
  }

 private:
  // Null when the attribute is missing; keeps that as an error.
  const Value* Required(std::string_view name);
  void Keep(std::string_view name, const absl::Status& status);

  const Item& item_;
  absl::Status status_;
};

// ---- the macro -----------------------------------------------------------------------------------

// Specialises ItemTraits for `Type`, which has a default constructor. Each further argument is a member,
// whose name is that of the attribute, or (member, "attribute"). At most 256 of them.
#define ITEMDB_ITEM(Type, ...)                                       \
  template <>                                                        \
  struct itemdb::ItemTraits<Type> {                                  \
    static itemdb::Item ToItem(const Type& value) {                  \
      itemdb::ItemBuilder builder;                                   \
      ITEMDB_INTERNAL_EACH(ITEMDB_INTERNAL_WITH, __VA_ARGS__)        \
      return builder.Build();                                        \
    }                                                                \
    static absl::StatusOr<Type> FromItem(const itemdb::Item& item) { \
      Type value{};                                                  \
      itemdb::ItemReader reader(item);                               \
      ITEMDB_INTERNAL_EACH(ITEMDB_INTERNAL_READ, __VA_ARGS__)        \
      return reader.Finish(std::move(value));                        \
    }                                                                \
  };

#define ITEMDB_INTERNAL_WITH(member) ITEMDB_INTERNAL_CHOOSE(ITEMDB_INTERNAL_WITH_, member)
#define ITEMDB_INTERNAL_WITH_0(member) builder.With(#member, value.member);
#define ITEMDB_INTERNAL_WITH_1(pair) ITEMDB_INTERNAL_WITH_NAMED pair
#define ITEMDB_INTERNAL_WITH_NAMED(member, name) builder.With(name, value.member);
#define ITEMDB_INTERNAL_READ(member) ITEMDB_INTERNAL_CHOOSE(ITEMDB_INTERNAL_READ_, member)
#define ITEMDB_INTERNAL_READ_0(member) reader.Read(#member, value.member);
#define ITEMDB_INTERNAL_READ_1(pair) ITEMDB_INTERNAL_READ_NAMED pair
#define ITEMDB_INTERNAL_READ_NAMED(member, name) reader.Read(name, value.member);

// Calls prefix##1 for an argument in parentheses and prefix##0 for another: only the first calls the macro
// ITEMDB_INTERNAL_SHIFT, which puts a further argument in front of the 0.
#define ITEMDB_INTERNAL_CHOOSE(prefix, argument) \
  ITEMDB_INTERNAL_CALL(prefix, ITEMDB_INTERNAL_SECOND(ITEMDB_INTERNAL_SHIFT argument, 0, ), argument)
#define ITEMDB_INTERNAL_CALL(prefix, digit, argument) ITEMDB_INTERNAL_CALL_NOW(prefix, digit, argument)
#define ITEMDB_INTERNAL_CALL_NOW(prefix, digit, argument) prefix##digit(argument)
#define ITEMDB_INTERNAL_SHIFT(...) unused, 1
#define ITEMDB_INTERNAL_SECOND(...) ITEMDB_INTERNAL_SECOND_NOW(__VA_ARGS__)
#define ITEMDB_INTERNAL_SECOND_NOW(first, second, ...) second

// Calls `macro` for each further argument.
#define ITEMDB_INTERNAL_EACH(macro, ...) \
  __VA_OPT__(ITEMDB_INTERNAL_SCAN(ITEMDB_INTERNAL_NEXT(macro, __VA_ARGS__)))
#define ITEMDB_INTERNAL_NEXT(macro, argument, ...) \
  macro(argument) __VA_OPT__(ITEMDB_INTERNAL_AGAIN ITEMDB_INTERNAL_NOTHING()()(macro, __VA_ARGS__))
#define ITEMDB_INTERNAL_AGAIN() ITEMDB_INTERNAL_NEXT
#define ITEMDB_INTERNAL_NOTHING()
// Each scan of the result expands one more argument.
#define ITEMDB_INTERNAL_SCAN(...) \
  ITEMDB_INTERNAL_SCAN_64(        \
      ITEMDB_INTERNAL_SCAN_64(ITEMDB_INTERNAL_SCAN_64(ITEMDB_INTERNAL_SCAN_64(__VA_ARGS__))))
#define ITEMDB_INTERNAL_SCAN_64(...) \
  ITEMDB_INTERNAL_SCAN_16(           \
      ITEMDB_INTERNAL_SCAN_16(ITEMDB_INTERNAL_SCAN_16(ITEMDB_INTERNAL_SCAN_16(__VA_ARGS__))))
#define ITEMDB_INTERNAL_SCAN_16(...) \
  ITEMDB_INTERNAL_SCAN_4(ITEMDB_INTERNAL_SCAN_4(ITEMDB_INTERNAL_SCAN_4(ITEMDB_INTERNAL_SCAN_4(__VA_ARGS__))))
#define ITEMDB_INTERNAL_SCAN_4(...) \
  ITEMDB_INTERNAL_SCAN_1(ITEMDB_INTERNAL_SCAN_1(ITEMDB_INTERNAL_SCAN_1(ITEMDB_INTERNAL_SCAN_1(__VA_ARGS__))))
#define ITEMDB_INTERNAL_SCAN_1(...) __VA_ARGS__

// ---- typed operations ----------------------------------------------------------------------------
// As the Client operations of the same names, with their errors and those of FromItem. Blocking.

// Replaces `request.item` by `value`.
template <MappedToItem T>
absl::StatusOr<WriteResult> PutItemAs(const Client& client, PutItemRequest request, const T& value,
                                      CallOptions options = {}) {
  request.item = ToItem(value);
  return client.PutItem(request, std::move(options));
}

template <MappedToItem T>
absl::StatusOr<WriteResult> PutItemAs(const Client& client, const std::string& table_name, const T& value,
                                      CallOptions options = {}) {
  return PutItemAs(client, PutItemRequest{.table_name = table_name, .item = {}}, value, std::move(options));
}

// Empty when there is no such item.
template <MappedToItem T>
absl::StatusOr<std::optional<T>> GetItemAs(const Client& client, const GetItemRequest& request,
                                           CallOptions options = {}) {
  absl::StatusOr<GetItemResult> got = client.GetItem(request, std::move(options));
  if (!got.ok()) return got.status();
  if (!got->item.has_value()) return std::optional<T>();
  absl::StatusOr<T> value = FromItem<T>(*got->item);
  if (!value.ok()) return value.status();
  return std::optional<T>(*std::move(value));
}

// The items of a range, such as Client::QueryAll's, as values of T. Lazy: an item is converted when the
// program reaches it. An item that does not fit T ends the range; its status says so, as it says any error of
// `range`.
//
//   LazyRange<Product> products = ItemsAs<Product>(client.ScanAll({.table_name = "Product"}));
//   for (const Product& product : products) { ... }
//   if (!products.status().ok()) { ... }
template <MappedToItem T>
LazyRange<T> ItemsAs(ItemRange range) {
  return LazyRange<T>([range = std::move(range)]() mutable -> absl::StatusOr<std::optional<T>> {
    absl::StatusOr<std::optional<Item>> item = range.Next();
    if (!item.ok()) return item.status();
    if (!item->has_value()) return std::optional<T>();
    absl::StatusOr<T> value = FromItem<T>(**item);
    if (!value.ok()) return value.status();
    return std::optional<T>(*std::move(value));
  });
}

template <MappedToItem T>
LazyRange<T> QueryAllAs(const Client& client, QueryRequest request, CallOptions options = {}) {
  return ItemsAs<T>(client.QueryAll(std::move(request), std::move(options)));
}

template <MappedToItem T>
LazyRange<T> ScanAllAs(const Client& client, ScanRequest request, CallOptions options = {}) {
  return ItemsAs<T>(client.ScanAll(std::move(request), std::move(options)));
}

// All remaining items of a range. Unbounded: for sequences known to be small.
template <MappedToItem T>
absl::StatusOr<std::vector<T>> ToVectorOf(ItemRange range) {
  return ItemsAs<T>(std::move(range)).ToVector();
}

}  // namespace itemdb
