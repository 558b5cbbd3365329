// Expressions as C++ instead of text. Names and values become placeholders automatically: a program need not
// escape reserved words or declare placeholders.
//
//   UpdateItemRequest request = Compose(
//       UpdateItemRequest{.table_name = "Product", .key = key},
//       Update().Set(Attr("stock"), Attr("stock") - 3).Remove(Attr("note")),
//       If(Attr("stock") >= 3 && !Attr("locked").Exists()));
//
//   QueryRequest query = Compose(QueryRequest{.table_name = "Order"},
//                                Where(Key("PK") == "ord_1" && Key("SK").BeginsWith("line#")),
//                                Filter(Attr("total") > 100 || Attr("rep")["name"] == "Ann"),
//                                Project({Attr("SK"), Attr("total"), Attr("lines")[0]}));
//
// Compose sets the request's expression texts and adds to its names and values. One request can hold both
// hand-written texts and composed ones. The daemon checks lengths, nesting and types, as for text. Everything
// here is a plain value: copies own their contents, and are as thread-safe as a std::string.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <concepts>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "itemdb/export.h"
#include "itemdb/requests.h"
#include "itemdb/value.h"

namespace itemdb {

// The text of an expression that is not yet written: pieces of text, attribute names and values. Write
// replaces names and values by placeholders. The other classes are made of it.
class ITEMDB_EXPORT ExpressionText {
 public:
  struct Name {
    std::string name;
  };

  ExpressionText() = default;

  ExpressionText& Text(std::string_view text);
  ExpressionText& AttributeName(std::string name);
  ExpressionText& AttributeValue(Value value);
  ExpressionText& Append(const ExpressionText& other);

  bool empty() const { return pieces_.empty(); }

  // The text with placeholders that do not yet occur in `names` and `values`; adds each placeholder's name or
  // value to these maps. Equal names share one placeholder. `values` may be null if it is not needed.
  std::string Write(ExpressionAttributeNames& names, ExpressionAttributeValues* values) const;

 private:
  std::vector<std::variant<std::string, Name, Value>> pieces_;
};

// ---- operands ------------------------------------------------------------------------------------

class Condition;

// A path in an item: an attribute, or an element inside one. `Attr("a")["b"][2]` is element 2 of the list
// that is member b of the map a. Names may contain any characters, dots too.
class ITEMDB_EXPORT Path {
 public:
  explicit Path(std::string name) { text_.AttributeName(std::move(name)); }

  Path operator[](std::string_view member) const;
  // List elements count from 0.
  Path operator[](int index) const;

  // The functions attribute_exists and attribute_not_exists.
  Condition Exists() const;
  Condition NotExists() const;
  // The function attribute_type.
  Condition HasType(ValueType type) const;
  // The function begins_with, for S and B.
  Condition BeginsWith(Value prefix) const;
  // The function contains: part of an S or B, element of a set or a list.
  Condition Contains(Value part) const;
  // Includes both ends.
  Condition Between(Value low, Value high) const;
  // Equal to one of 1 to 100 values.
  Condition In(const std::vector<Value>& values) const;

  const ExpressionText& text() const { return text_; }

 private:
  ExpressionText text_;
};

inline Path Attr(std::string name) { return Path(std::move(name)); }

// The right side of a comparison or of SET: a value, a path, or a computed operand.
class ITEMDB_EXPORT Operand {
 public:
  template <typename T>
  requires std::convertible_to<T, Value> Operand(T&& value) {  // NOLINT: implicit on purpose
    text_.AttributeValue(Value(std::forward<T>(value)));
  }
  Operand(const Path& path) : text_(path.text()) {}  // NOLINT: implicit on purpose
  explicit Operand(ExpressionText text) : text_(std::move(text)) {}

  const ExpressionText& text() const { return text_; }

 private:
  ExpressionText text_;
};

// size(path): characters of S, bytes of B, elements of sets, lists and maps. For comparisons only.
class ITEMDB_EXPORT SizeOf {
 public:
  explicit SizeOf(const Path& path);
  const ExpressionText& text() const { return text_; }

 private:
  ExpressionText text_;
};

// ---- conditions and filters ----------------------------------------------------------------------

// A condition, for If and Filter. &&, || and ! combine conditions.
class ITEMDB_EXPORT Condition {
 public:
  explicit Condition(ExpressionText text) : text_(std::move(text)) {}
  const ExpressionText& text() const { return text_; }

  friend ITEMDB_EXPORT Condition operator&&(const Condition& a, const Condition& b);
  friend ITEMDB_EXPORT Condition operator||(const Condition& a, const Condition& b);
  friend ITEMDB_EXPORT Condition operator!(const Condition& a);

 private:
  ExpressionText text_;
};

// `left comparator right`.
ITEMDB_EXPORT Condition Compare(const ExpressionText& left, std::string_view comparator,
                                const Operand& right);

template <typename T>
concept Comparable = std::same_as<T, Path> || std::same_as<T, SizeOf>;

template <Comparable L, std::convertible_to<Operand> R>
Condition operator==(const L& left, const R& right) {
  return Compare(left.text(), "=", right);
}
template <Comparable L, std::convertible_to<Operand> R>
Condition operator!=(const L& left, const R& right) {
  return Compare(left.text(), "<>", right);
}
template <Comparable L, std::convertible_to<Operand> R>
Condition operator<(const L& left, const R& right) {
  return Compare(left.text(), "<", right);
}
template <Comparable L, std::convertible_to<Operand> R>
Condition operator<=(const L& left, const R& right) {
  return Compare(left.text(), "<=", right);
}
template <Comparable L, std::convertible_to<Operand> R>
Condition operator>(const L& left, const R& right) {
  return Compare(left.text(), ">", right);
}
template <Comparable L, std::convertible_to<Operand> R>
Condition operator>=(const L& left, const R& right) {
  return Compare(left.text(), ">=", right);
}

// ---- updates -------------------------------------------------------------------------------------

// Sum and difference of numbers, for Update::Set.
ITEMDB_EXPORT Operand operator+(const Path& left, const Operand& right);
ITEMDB_EXPORT Operand operator-(const Path& left, const Operand& right);
// if_not_exists(path, otherwise): the stored value, or `otherwise` if there is none.
ITEMDB_EXPORT Operand IfNotExists(const Path& path, const Operand& otherwise);
// The function list_append(first, second).
ITEMDB_EXPORT Operand ListAppend(const Operand& first, const Operand& second);
// Sum and difference with a computed left side: Plus(IfNotExists(Attr("n"), 0), 1).
ITEMDB_EXPORT Operand Plus(const Operand& left, const Operand& right);
ITEMDB_EXPORT Operand Minus(const Operand& left, const Operand& right);

// An update expression. Each function adds one action; their order does not matter.
class ITEMDB_EXPORT Update {
 public:
  Update() = default;

  Update& Set(const Path& path, const Operand& value);
  Update& Remove(const Path& path);
  // Adds to a number (0 when missing), or elements to a set.
  Update& Add(const Path& path, Value value);
  // Removes elements from a set.
  Update& Delete(const Path& path, Value elements);

  ExpressionText text() const;

 private:
  ExpressionText set_;
  ExpressionText remove_;
  ExpressionText add_;
  ExpressionText delete_;
};

// ---- key conditions ------------------------------------------------------------------------------

// A key condition: comparisons of key attributes, combined with &&.
class ITEMDB_EXPORT KeyCondition {
 public:
  explicit KeyCondition(ExpressionText text) : text_(std::move(text)) {}
  const ExpressionText& text() const { return text_; }

  friend ITEMDB_EXPORT KeyCondition operator&&(const KeyCondition& a, const KeyCondition& b);

 private:
  ExpressionText text_;
};

// A key attribute of the table or index. Offers only what key conditions allow: equality on partition-key
// attributes, and at most one range over the sort-key attributes.
class ITEMDB_EXPORT Key {
 public:
  explicit Key(std::string name) : name_(std::move(name)) {}

  KeyCondition Between(Value low, Value high) const;
  KeyCondition BeginsWith(Value prefix) const;

  friend KeyCondition operator==(const Key& key, Value value) { return key.Compare("=", std::move(value)); }
  friend KeyCondition operator<(const Key& key, Value value) { return key.Compare("<", std::move(value)); }
  friend KeyCondition operator<=(const Key& key, Value value) { return key.Compare("<=", std::move(value)); }
  friend KeyCondition operator>(const Key& key, Value value) { return key.Compare(">", std::move(value)); }
  friend KeyCondition operator>=(const Key& key, Value value) { return key.Compare(">=", std::move(value)); }

 private:
  KeyCondition Compare(std::string_view comparator, Value value) const;

  std::string name_;
};

// ---- into requests -------------------------------------------------------------------------------

// The part of a request that an expression is for. Made by If, Filter, Where and Project; Update needs none.
struct ConditionPart {
  ExpressionText text;
};
struct FilterPart {
  ExpressionText text;
};
struct KeyConditionPart {
  ExpressionText text;
};
struct ProjectionPart {
  ExpressionText text;
};

// The write happens only when this condition is true.
inline ConditionPart If(const Condition& condition) { return {condition.text()}; }
// Items for which this condition is false are left out of the page.
inline FilterPart Filter(const Condition& condition) { return {condition.text()}; }
// Selects the items of a Query.
inline KeyConditionPart Where(const KeyCondition& condition) { return {condition.text()}; }
// Only these attributes are returned.
ITEMDB_EXPORT ProjectionPart Project(const std::vector<Path>& paths);

namespace internal {

template <typename Request>
std::string WriteInto(Request& request, const ExpressionText& text) {
  if constexpr (requires { request.expression_attribute_values; }) {
    return text.Write(request.expression_attribute_names, &request.expression_attribute_values);
  } else {
    return text.Write(request.expression_attribute_names, nullptr);
  }
}

template <typename Request>
void Put(Request& request, const ConditionPart& part) {
  request.condition_expression = WriteInto(request, part.text);
}
template <typename Request>
void Put(Request& request, const FilterPart& part) {
  request.filter_expression = WriteInto(request, part.text);
}
template <typename Request>
void Put(Request& request, const KeyConditionPart& part) {
  request.key_condition_expression = WriteInto(request, part.text);
}
template <typename Request>
void Put(Request& request, const ProjectionPart& part) {
  request.projection_expression = WriteInto(request, part.text);
}
template <typename Request>
void Put(Request& request, const Update& update) {
  request.update_expression = WriteInto(request, update.text());
}

}  // namespace internal

// Returns `request` with the expressions in `parts`. The request is any request or transaction action of
// requests.h; a part that the request has no field for does not compile. Replaces a text that was set before.
template <typename Request, typename... Parts>
Request Compose(Request request, const Parts&... parts) {
  (internal::Put(request, parts), ...);
  return request;
}

}  // namespace itemdb
