// The data model in C++: numbers, attribute values and items.
//
// These are plain values: they own their contents, copy deeply, and are as thread-safe as an int. They check
// only what the C++ types need (a Number is a decimal number). The daemon checks limits and key rules.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <charconv>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "itemdb/export.h"

namespace itemdb {
// The inline namespace gives these symbols other names than the daemon's own `itemdb::Number` and the like,
// for a program that links both. Users write `itemdb::Number`.

// ---- Number --------------------------------------------------------------------------------------

// An exact decimal number, kept as the text that it was made from. 38 significant digits survive a round
// trip; no binary floating point is involved. Compares by value, so Number "25.00" equals Number "25".
class ITEMDB_EXPORT Number {
 public:
  // Longest text Parse accepts, in bytes; the longest number the daemon writes has 170.
  static constexpr size_t kMaxTextBytes = 1'024;

  // Zero.
  Number() : text_("0") {}

  // From any integer type. A double does not convert by itself, because it is rarely the decimal number that
  // was meant; see FromDouble(), and 12.50_n in number_literal.h.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Number(T value)
      : text_(std::to_string(value)) {}  // NOLINT: implicit on purpose

  // From `[+-] digits [.digits] [e [+-] digits]` (also ".5" and "5."), for example "-12.50" or "1e-3".
  // INVALID_ARGUMENT (reason VALIDATION): the text is not such a number, is longer than kMaxTextBytes, or has
  // an exponent of more than 6 digits. The daemon checks range and number of digits.
  static absl::StatusOr<Number> Parse(std::string_view text);

  // The decimal number with the fewest digits that is nearest to this double or float and to no other: 0.1
  // for 0.1. INVALID_ARGUMENT (reason VALIDATION): not finite.
  template <std::floating_point T>
  requires(sizeof(T) <= sizeof(double)) static absl::StatusOr<Number> FromDouble(T value) {
    char text[32];  // The longest has 24 characters.
    return Parse(std::string_view(text, std::to_chars(text, text + sizeof(text), value).ptr));
  }

  // The text given to Parse; in replies the daemon's form without exponent and without superfluous zeros.
  const std::string& text() const { return text_; }

  // The value as an integer. OUT_OF_RANGE: not a whole number, or too large for int64_t.
  absl::StatusOr<int64_t> ToInt64() const;
  // The nearest double; infinite when the number is too large.
  double ToDouble() const;

  // Numeric order.
  friend ITEMDB_EXPORT std::strong_ordering operator<=>(const Number& a, const Number& b);
  friend bool operator==(const Number& a, const Number& b) { return (a <=> b) == 0; }

  // Its text.
  friend ITEMDB_EXPORT std::ostream& operator<<(std::ostream& out, const Number& number);
  template <typename Sink>
  friend void AbslStringify(Sink& sink, const Number& number) {
    sink.Append(number.text());
  }

 private:
  std::string text_;
};

// ---- Item ----------------------------------------------------------------------------------------

class ITEMDB_EXPORT Item;
class ITEMDB_EXPORT Value;
class ValueRef;
struct Attribute;

namespace internal {

// As ToJson() in json.h writes them, the plain form.
ITEMDB_EXPORT std::string PlainJsonOf(const Value& value);
ITEMDB_EXPORT std::string PlainJsonOfItem(const Item& item);

}  // namespace internal

// The attributes of an item, of a key or of a map: names in byte order, each at most once.
class ITEMDB_EXPORT Item {
 public:
  using const_iterator = const Attribute*;

  Item();
  // For example `Item{{"product_id", "prod_100"}, {"quantity", 5}}`. The last of equal names wins.
  Item(std::initializer_list<Attribute> attributes);
  Item(const Item&);
  Item(Item&&) noexcept;
  Item& operator=(const Item&);
  Item& operator=(Item&&) noexcept;
  ~Item();

  bool empty() const;
  size_t size() const;
  // Iterate over `Attribute`s in name order. Invalidated by Set, Remove and assignment.
  const_iterator begin() const;
  const_iterator end() const;

  bool contains(std::string_view name) const;
  // The value named `name`, or null. Valid until this item is changed or destroyed.
  const Value* find_or_null(std::string_view name) const;

  // The value named `name`; NULL if there is none. Valid as that of find_or_null().
  const Value& operator[](std::string_view name) const;
  // The same, which may also be written: `item["address"]["city"] = "Bonn"` (value_ref.h). Reading adds
  // nothing.
  ValueRef operator[](std::string_view name);

  // Adds the attribute or replaces its value.
  void Set(std::string name, Value value);
  // Removes the attribute; false when there was none.
  bool Remove(std::string_view name);

  // Same names, and equal values by Value's equality.
  friend ITEMDB_EXPORT bool operator==(const Item& a, const Item& b);

  // As JSON, for people: {"id": "hammer", "stock": 5}. See json.h.
  friend ITEMDB_EXPORT std::ostream& operator<<(std::ostream& out, const Item& item);
  template <typename Sink>
  friend void AbslStringify(Sink& sink, const Item& item) {
    sink.Append(internal::PlainJsonOfItem(item));
  }

 private:
  friend class ValueRef;
  Value& FindOrAdd(std::string_view name);

  // Sorted by name.
  std::vector<Attribute> attributes_;
};

// ---- Value ---------------------------------------------------------------------------------------

// The ten types, with DynamoDB's names in TypeName().
enum class ValueType {
  kNull,
  kString,
  kNumber,
  kBinary,
  kStringSet,
  kNumberSet,
  kBinarySet,
  kList,
  kMap,
  kBool,
};

// "S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL" or "NULL".
ITEMDB_EXPORT std::string_view TypeName(ValueType type);

// One attribute value of one of the ten types.
//
// Text, integers, Numbers and bool convert implicitly (to S, N, N, BOOL); the other types have named makers.
// Each `*_or_null` accessor returns the content when the value has that type and null otherwise; the pointer
// is valid until the value is changed or destroyed.
class ITEMDB_EXPORT Value {
 public:
  // NULL.
  Value() = default;
  // S. `text` is not null.
  Value(const char* text) : Value(std::string(text)) {}       // NOLINT: implicit on purpose
  Value(std::string_view text) : Value(std::string(text)) {}  // NOLINT: implicit on purpose
  Value(std::string text);                                    // NOLINT: implicit on purpose
  // N.
  Value(Number number);  // NOLINT: implicit on purpose
  template <std::integral T>
  requires(!std::same_as<T, bool>) Value(T number) : Value(Number(number)) {}  // NOLINT: implicit on purpose
  // BOOL. A template, so that a pointer does not convert to BOOL.
  template <std::same_as<bool> T>
  Value(T value) : content_(value) {}  // NOLINT: implicit on purpose

  static Value Null() { return Value(); }
  static Value Binary(std::string bytes);
  // Sets are sorted (by bytes or numerically), so that equal sets compare equal. The daemon refuses empty
  // sets and duplicates.
  static Value StringSet(std::vector<std::string> values);
  static Value NumberSet(std::vector<Number> values);
  static Value BinarySet(std::vector<std::string> values);
  static Value List(std::vector<Value> values);
  static Value Map(Item attributes);

  ValueType type() const { return static_cast<ValueType>(content_.index()); }

  const std::string* string_or_null() const;
  const Number* number_or_null() const;
  const std::string* binary_or_null() const;
  const std::vector<std::string>* string_set_or_null() const;
  const std::vector<Number>* number_set_or_null() const;
  const std::vector<std::string>* binary_set_or_null() const;
  const std::vector<Value>* list_or_null() const;
  const Item* map_or_null() const;
  const bool* bool_or_null() const;
  bool is_null() const { return type() == ValueType::kNull; }

  // The member of a map, or the element of a list from 0 on; NULL if there is none, or this is no map or no
  // list.
  const Value& operator[](std::string_view name) const;
  const Value& operator[](size_t index) const;
  // The same, null if there is none.
  const Value* member_or_null(std::string_view name) const;
  const Value* element_or_null(size_t index) const;

  // Same type and equal content: numbers by value, sets in any order, lists in order.
  friend ITEMDB_EXPORT bool operator==(const Value& a, const Value& b);

  // As JSON, for people. See json.h.
  friend ITEMDB_EXPORT std::ostream& operator<<(std::ostream& out, const Value& value);
  template <typename Sink>
  friend void AbslStringify(Sink& sink, const Value& value) {
    sink.Append(internal::PlainJsonOf(value));
  }

 private:
  friend class ValueRef;
  // Its map or list; this becomes an empty one if it is none.
  Item& MakeMap();
  std::vector<Value>& MakeList();

  // Distinct C++ types for contents that are both strings or both vectors of strings.
  struct Bytes {
    std::string data;
    bool operator==(const Bytes&) const = default;
  };
  struct Strings {
    std::vector<std::string> values;
    bool operator==(const Strings&) const = default;
  };
  struct ByteStrings {
    std::vector<std::string> values;
    bool operator==(const ByteStrings&) const = default;
  };

  // The alternatives in the order of ValueType.
  using Content = std::variant<std::monostate, std::string, Number, Bytes, Strings, std::vector<Number>,
                               ByteStrings, std::vector<Value>, Item, bool>;

  explicit Value(Content content);

  Content content_;
};

// A named value.
struct Attribute {
  std::string name;
  Value value;
  friend bool operator==(const Attribute& a, const Attribute& b) = default;
};

}  // namespace itemdb

#include "itemdb/value_ref.h"
