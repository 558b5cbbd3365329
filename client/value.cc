#include "itemdb/value.h"

#include <algorithm>

namespace itemdb {

// ---- Item ----------------------------------------------------------------------------------------

namespace {

struct NameLess {
  bool operator()(const Attribute& a, std::string_view name) const { return a.name < name; }
};

}  // namespace

Item::Item() = default;
Item::Item(const Item&) = default;
Item::Item(Item&&) noexcept = default;
Item& Item::operator=(const Item&) = default;
Item& Item::operator=(Item&&) noexcept = default;
Item::~Item() = default;

Item::Item(std::initializer_list<Attribute> attributes) {
  attributes_.reserve(attributes.size());
  for (const Attribute& attribute : attributes) Set(attribute.name, attribute.value);
}

bool Item::empty() const { return attributes_.empty(); }
size_t Item::size() const { return attributes_.size(); }
Item::const_iterator Item::begin() const { return attributes_.data(); }
Item::const_iterator Item::end() const { return attributes_.data() + attributes_.size(); }

bool Item::contains(std::string_view name) const { return find_or_null(name) != nullptr; }

const Value* Item::find_or_null(std::string_view name) const {
  auto it = std::lower_bound(attributes_.begin(), attributes_.end(), name, NameLess());
  return it != attributes_.end() && it->name == name ? &it->value : nullptr;
}

void Item::Set(std::string name, Value value) {
  // Attributes of replies come sorted, so this is the usual case.
  if (attributes_.empty() || attributes_.back().name < name) {
    attributes_.push_back({std::move(name), std::move(value)});
    return;
  }
  auto it = std::lower_bound(attributes_.begin(), attributes_.end(), name, NameLess());
  if (it != attributes_.end() && it->name == name) {
    it->value = std::move(value);
  } else {
    attributes_.insert(it, {std::move(name), std::move(value)});
  }
}

bool Item::Remove(std::string_view name) {
  auto it = std::lower_bound(attributes_.begin(), attributes_.end(), name, NameLess());
  if (it == attributes_.end() || it->name != name) return false;
  attributes_.erase(it);
  return true;
}

bool operator==(const Item& a, const Item& b) { return a.attributes_ == b.attributes_; }

// ---- Value ---------------------------------------------------------------------------------------

std::string_view TypeName(ValueType type) {
  switch (type) {
    case ValueType::kNull:
      return "NULL";
    case ValueType::kString:
      return "S";
    case ValueType::kNumber:
      return "N";
    case ValueType::kBinary:
      return "B";
    case ValueType::kStringSet:
      return "SS";
    case ValueType::kNumberSet:
      return "NS";
    case ValueType::kBinarySet:
      return "BS";
    case ValueType::kList:
      return "L";
    case ValueType::kMap:
      return "M";
    case ValueType::kBool:
      return "BOOL";
  }
  return "";
}

Value::Value(Content content) : content_(std::move(content)) {}
Value::Value(std::string text) : content_(std::move(text)) {}
Value::Value(Number number) : content_(std::move(number)) {}

Value Value::Binary(std::string bytes) { return Value(Content(Bytes{std::move(bytes)})); }

Value Value::StringSet(std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  return Value(Content(Strings{std::move(values)}));
}

Value Value::NumberSet(std::vector<Number> values) {
  std::sort(values.begin(), values.end());
  return Value(Content(std::move(values)));
}

Value Value::BinarySet(std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  return Value(Content(ByteStrings{std::move(values)}));
}

Value Value::List(std::vector<Value> values) { return Value(Content(std::move(values))); }
Value Value::Map(Item attributes) { return Value(Content(std::move(attributes))); }

const std::string* Value::string_or_null() const { return std::get_if<std::string>(&content_); }
const Number* Value::number_or_null() const { return std::get_if<Number>(&content_); }
const std::vector<Number>* Value::number_set_or_null() const {
  return std::get_if<std::vector<Number>>(&content_);
}
const std::vector<Value>* Value::list_or_null() const { return std::get_if<std::vector<Value>>(&content_); }
const Item* Value::map_or_null() const { return std::get_if<Item>(&content_); }
const bool* Value::bool_or_null() const { return std::get_if<bool>(&content_); }

const std::string* Value::binary_or_null() const {
  const Bytes* bytes = std::get_if<Bytes>(&content_);
  return bytes == nullptr ? nullptr : &bytes->data;
}

const std::vector<std::string>* Value::string_set_or_null() const {
  const Strings* strings = std::get_if<Strings>(&content_);
  return strings == nullptr ? nullptr : &strings->values;
}

const std::vector<std::string>* Value::binary_set_or_null() const {
  const ByteStrings* strings = std::get_if<ByteStrings>(&content_);
  return strings == nullptr ? nullptr : &strings->values;
}

bool operator==(const Value& a, const Value& b) { return a.content_ == b.content_; }

}  // namespace itemdb
