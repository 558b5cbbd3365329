#include "itemdb/expression.h"

#include <algorithm>

namespace itemdb {
namespace {

// The first of "#n0", "#n1", ... (or ":v0", ...) that is not in `taken`. Starts at the size of `taken`, so
// that adding many placeholders does not take quadratic time.
template <typename Map>
std::string NewPlaceholder(const Map& taken, std::string_view prefix) {
  for (size_t number = taken.size();; ++number) {
    std::string placeholder = std::string(prefix) + std::to_string(number);
    if (!taken.contains(placeholder)) return placeholder;
  }
}

ExpressionText Function(std::string_view name, const ExpressionText& argument) {
  ExpressionText text;
  text.Text(name).Text("(").Append(argument).Text(")");
  return text;
}

ExpressionText Function(std::string_view name, const ExpressionText& first, const ExpressionText& second) {
  ExpressionText text;
  text.Text(name).Text("(").Append(first).Text(", ").Append(second).Text(")");
  return text;
}

ExpressionText Function(std::string_view name, const ExpressionText& first, Value second) {
  ExpressionText text;
  text.Text(name).Text("(").Append(first).Text(", ").AttributeValue(std::move(second)).Text(")");
  return text;
}

ExpressionText Joined(const ExpressionText& left, std::string_view between, const ExpressionText& right) {
  ExpressionText text;
  text.Append(left).Text(between).Append(right);
  return text;
}

// Parentheses keep the meaning of `inner` next to any operator.
ExpressionText InParentheses(const ExpressionText& inner) { return Function("", inner); }

ExpressionText BetweenText(const ExpressionText& left, Value low, Value high) {
  ExpressionText text = left;
  text.Text(" BETWEEN ").AttributeValue(std::move(low)).Text(" AND ").AttributeValue(std::move(high));
  return text;
}

// Adds one action to a clause of an update.
ExpressionText& NextAction(ExpressionText& clause, std::string_view keyword) {
  return clause.Text(clause.empty() ? keyword : ", ");
}

}  // namespace

// ---- ExpressionText ------------------------------------------------------------------------------

ExpressionText& ExpressionText::Text(std::string_view text) {
  if (text.empty()) return *this;
  std::string* last = pieces_.empty() ? nullptr : std::get_if<std::string>(&pieces_.back());
  if (last != nullptr) {
    last->append(text);
  } else {
    pieces_.emplace_back(std::in_place_type<std::string>, text);
  }
  return *this;
}

ExpressionText& ExpressionText::AttributeName(std::string name) {
  pieces_.emplace_back(Name{std::move(name)});
  return *this;
}

ExpressionText& ExpressionText::AttributeValue(Value value) {
  pieces_.emplace_back(std::in_place_type<Value>, std::move(value));
  return *this;
}

ExpressionText& ExpressionText::Append(const ExpressionText& other) {
  pieces_.insert(pieces_.end(), other.pieces_.begin(), other.pieces_.end());
  return *this;
}

std::string ExpressionText::Write(ExpressionAttributeNames& names, ExpressionAttributeValues* values) const {
  std::string text;
  for (const auto& piece : pieces_) {
    if (const auto* plain = std::get_if<std::string>(&piece)) {
      text += *plain;
    } else if (const auto* name = std::get_if<Name>(&piece)) {
      auto it =
          std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.second == name->name; });
      if (it == names.end()) it = names.emplace(NewPlaceholder(names, "#n"), name->name).first;
      text += it->first;
    } else if (values != nullptr) {
      text += values->emplace(NewPlaceholder(*values, ":v"), std::get<Value>(piece)).first->first;
    }
  }
  return text;
}

// ---- operands and conditions ---------------------------------------------------------------------

Path Path::operator[](std::string_view member) const {
  Path path = *this;
  path.text_.Text(".").AttributeName(std::string(member));
  return path;
}

Path Path::operator[](int index) const {
  Path path = *this;
  path.text_.Text(std::string("[").append(std::to_string(index)).append("]"));
  return path;
}

Condition Path::Exists() const { return Condition(Function("attribute_exists", text_)); }
Condition Path::NotExists() const { return Condition(Function("attribute_not_exists", text_)); }
Condition Path::HasType(ValueType type) const {
  return Condition(Function("attribute_type", text_, Value(TypeName(type))));
}
Condition Path::BeginsWith(Value prefix) const {
  return Condition(Function("begins_with", text_, std::move(prefix)));
}
Condition Path::Contains(Value part) const { return Condition(Function("contains", text_, std::move(part))); }
Condition Path::Between(Value low, Value high) const {
  return Condition(BetweenText(text_, std::move(low), std::move(high)));
}

Condition Path::In(const std::vector<Value>& values) const {
  ExpressionText text = text_;
  text.Text(" IN (");
  for (size_t i = 0; i < values.size(); ++i) text.Text(i == 0 ? "" : ", ").AttributeValue(values[i]);
  text.Text(")");
  return Condition(std::move(text));
}

SizeOf::SizeOf(const Path& path) : text_(Function("size", path.text())) {}

Condition Compare(const ExpressionText& left, std::string_view comparator, const Operand& right) {
  return Condition(Joined(left, std::string(" ").append(comparator).append(" "), right.text()));
}

Condition operator&&(const Condition& a, const Condition& b) {
  return Condition(Joined(InParentheses(a.text_), " AND ", InParentheses(b.text_)));
}
Condition operator||(const Condition& a, const Condition& b) {
  return Condition(Joined(InParentheses(a.text_), " OR ", InParentheses(b.text_)));
}
Condition operator!(const Condition& a) { return Condition(Function("NOT ", a.text_)); }

// ---- updates -------------------------------------------------------------------------------------

Operand Plus(const Operand& left, const Operand& right) {
  return Operand(Joined(left.text(), " + ", right.text()));
}
Operand Minus(const Operand& left, const Operand& right) {
  return Operand(Joined(left.text(), " - ", right.text()));
}
Operand operator+(const Path& left, const Operand& right) { return Plus(left, right); }
Operand operator-(const Path& left, const Operand& right) { return Minus(left, right); }
Operand IfNotExists(const Path& path, const Operand& otherwise) {
  return Operand(Function("if_not_exists", path.text(), otherwise.text()));
}
Operand ListAppend(const Operand& first, const Operand& second) {
  return Operand(Function("list_append", first.text(), second.text()));
}

Update& Update::Set(const Path& path, const Operand& value) {
  NextAction(set_, "SET ").Append(path.text()).Text(" = ").Append(value.text());
  return *this;
}
Update& Update::Remove(const Path& path) {
  NextAction(remove_, "REMOVE ").Append(path.text());
  return *this;
}
Update& Update::Add(const Path& path, Value value) {
  NextAction(add_, "ADD ").Append(path.text()).Text(" ").AttributeValue(std::move(value));
  return *this;
}
Update& Update::Delete(const Path& path, Value elements) {
  NextAction(delete_, "DELETE ").Append(path.text()).Text(" ").AttributeValue(std::move(elements));
  return *this;
}

ExpressionText Update::text() const {
  ExpressionText text;
  for (const ExpressionText* clause : {&set_, &remove_, &add_, &delete_}) {
    if (clause->empty()) continue;
    if (!text.empty()) text.Text(" ");
    text.Append(*clause);
  }
  return text;
}

// ---- key conditions and projections --------------------------------------------------------------

KeyCondition operator&&(const KeyCondition& a, const KeyCondition& b) {
  return KeyCondition(Joined(a.text_, " AND ", b.text_));
}

KeyCondition Key::Compare(std::string_view comparator, Value value) const {
  ExpressionText text;
  text.AttributeName(name_)
      .Text(std::string(" ").append(comparator).append(" "))
      .AttributeValue(std::move(value));
  return KeyCondition(std::move(text));
}

KeyCondition Key::Between(Value low, Value high) const {
  return KeyCondition(BetweenText(Path(name_).text(), std::move(low), std::move(high)));
}

KeyCondition Key::BeginsWith(Value prefix) const {
  return KeyCondition(Function("begins_with", Path(name_).text(), std::move(prefix)));
}

ProjectionPart Project(const std::vector<Path>& paths) {
  ProjectionPart projection;
  for (const Path& path : paths)
    projection.text.Text(projection.text.empty() ? "" : ", ").Append(path.text());
  return projection;
}

}  // namespace itemdb
