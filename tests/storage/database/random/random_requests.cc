#include "tests/storage/database/random/random_requests.h"

#include <algorithm>

#include "tests/storage/values/random_item.h"

namespace itemdb::testing {
namespace {

using std::string_literals::operator""s;

const std::vector<v1::AttributeValue>& Pool(char type) {
  static const std::vector<v1::AttributeValue> strings = {S("a"),     S("ab"),     S("b"),   S("a\0"s),
                                                          S("a\0b"s), S("\u00e9"), S("\x7f")};
  static const std::vector<v1::AttributeValue> numbers = {N("1"),  N("0"),   N("-1.5"), N("2"),
                                                          N("10"), N("100"), N("-20"),  N("0.5")};
  static const std::vector<v1::AttributeValue> bytes = {B("\xff"), B("\0"s),     B("a"),        B("\xff\xff"),
                                                        B("a\0"s), B("\0\x01"s), B("a\xff\x01")};
  return type == 'S' ? strings : type == 'N' ? numbers : bytes;
}

const std::vector<std::string>& OtherAttributes() {
  static const std::vector<std::string> names = {"x", "y", "count", "tags", "size"};
  return names;
}

// The attributes in index keys, with their types.
const std::vector<std::pair<std::string, char>>& IndexAttributes() {
  static const std::vector<std::pair<std::string, char>> attributes = {
      {"status", 'S'}, {"shard", 'N'}, {"hash", 'B'}, {"city", 'S'}, {"total", 'N'}, {"blob", 'B'}};
  return attributes;
}

v1::AttributeValue StringSet(const std::set<std::string>& elements) {
  v1::AttributeValue value;
  for (const std::string& element : elements) value.mutable_ss()->add_values(element);
  return value;
}

std::set<std::string> Elements(const v1::AttributeValue& value) {
  return {value.ss().values().begin(), value.ss().values().end()};
}

const v1::AttributeValue* FindIn(const ModelItem& item, const std::string& name) {
  auto found = item.find(name);
  return found == item.end() ? nullptr : &found->second;
}

bool SameScalarType(const v1::AttributeValue* a, const v1::AttributeValue& b) {
  return a != nullptr && ScalarType(*a) != 0 && ScalarType(*a) == ScalarType(b);
}

bool BeginsWith(const v1::AttributeValue& value, const v1::AttributeValue& prefix) {
  const std::string& text = value.has_s() ? value.s() : value.b();
  const std::string& start = prefix.has_s() ? prefix.s() : prefix.b();
  return ScalarType(value) == ScalarType(prefix) && text.compare(0, start.size(), start) == 0;
}

bool Compare(const v1::AttributeValue& left, const std::string& op, const v1::AttributeValue& right) {
  int order = CompareScalars(left, right);
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  if (op == ">") return order > 0;
  if (op == ">=") return order >= 0;
  return order == 0;
}

v1::ComparisonOperator OperatorOf(const std::string& op) {
  return op == "<"    ? v1::COMPARISON_OPERATOR_LT
         : op == "<=" ? v1::COMPARISON_OPERATOR_LE
         : op == ">"  ? v1::COMPARISON_OPERATOR_GT
         : op == ">=" ? v1::COMPARISON_OPERATOR_GE
                      : v1::COMPARISON_OPERATOR_EQ;
}

std::string Mirrored(const std::string& op) {
  return op == "<" ? ">" : op == "<=" ? ">=" : op == ">" ? "<" : op == ">=" ? "<=" : op;
}

// Adds an attribute definition if there is none.
void Define(const std::string& attribute, char type, v1::CreateTableRequest* request) {
  for (const auto& definition : request->attribute_definitions()) {
    if (definition.attribute_name() == attribute) return;
  }
  auto* definition = request->add_attribute_definitions();
  definition->set_attribute_name(attribute);
  definition->set_attribute_type(static_cast<v1::ScalarAttributeType>(std::string(" SNB").find(type)));
}

}  // namespace

std::string RequestNames::Name(const std::string& attribute) {
  names_.insert(attribute);
  return "#" + attribute;
}

std::string RequestNames::Value(const v1::AttributeValue& value) {
  values_.push_back(value);
  return ":v" + std::to_string(values_.size() - 1);
}

v1::CreateTableRequest RandomRequests::Table(const std::string& name) {
  v1::CreateTableRequest request;
  request.set_table_name(name);
  request.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  request.set_stream_view_type(static_cast<v1::StreamViewType>(Pick(0, 4)));
  auto add_key = [&](const std::string& attribute, char type, v1::KeyType key_type) {
    Define(attribute, type, &request);
    auto* element = request.add_key_schema();
    element->set_attribute_name(attribute);
    element->set_key_type(key_type);
  };
  add_key("pk", "SNB"[Pick(0, 2)], v1::KEY_TYPE_HASH);
  if (Chance(0.75)) add_key("sk", "SNB"[Pick(0, 2)], v1::KEY_TYPE_RANGE);

  int indexes = Pick(1, 4);
  for (int i = 0; i < indexes; ++i) {
    std::vector<std::pair<std::string, char>> attributes = IndexAttributes();
    if (Chance(0.3)) {  // Key attributes of the table may be key attributes of an index.
      for (const auto& key : request.attribute_definitions()) {
        const std::string& key_name = key.attribute_name();
        if (key_name == "pk" || key_name == "sk")
          attributes.emplace_back(key_name, " SNB"[key.attribute_type()]);
      }
    }
    std::shuffle(attributes.begin(), attributes.end(), random_);
    auto partition = static_cast<size_t>(i == 0 ? 2 : Pick(1, Chance(0.2) ? 4 : 2));
    auto sort = static_cast<size_t>(
        i == 0 ? 2 : std::min(Pick(0, Chance(0.2) ? 4 : 2), 6 - static_cast<int>(partition)));
    auto* index = request.add_global_secondary_indexes();
    index->set_index_name("index" + std::to_string(i));
    for (size_t j = 0; j < partition + sort; ++j) {
      auto* element = index->add_key_schema();
      element->set_attribute_name(attributes[j].first);
      element->set_key_type(j < partition ? v1::KEY_TYPE_HASH : v1::KEY_TYPE_RANGE);
      Define(attributes[j].first, attributes[j].second, &request);
    }
    SetProjection(index->mutable_projection());
  }
  if (request.key_schema_size() < 2) return request;
  int local_indexes = Pick(0, 3);
  for (int i = 0; i < local_indexes; ++i) {
    auto* index = request.add_local_secondary_indexes();
    index->set_index_name("local" + std::to_string(i));
    *index->add_key_schema() = request.key_schema(0);
    const auto& [attribute, type] = OneOf(IndexAttributes());
    auto* element = index->add_key_schema();
    element->set_attribute_name(attribute);
    element->set_key_type(v1::KEY_TYPE_RANGE);
    Define(attribute, type, &request);
    SetProjection(index->mutable_projection());
  }
  return request;
}

void RandomRequests::SetProjection(v1::Projection* projection) {
  projection->set_projection_type(static_cast<v1::ProjectionType>(Pick(1, 3)));
  if (projection->projection_type() != v1::PROJECTION_TYPE_INCLUDE) return;
  projection->add_non_key_attributes("x");
  if (Chance(0.5)) projection->add_non_key_attributes("count");
}

v1::AttributeValue RandomRequests::KeyValue(char type) {
  const auto& pool = Pool(type);
  int last = static_cast<int>(pool.size()) - 1;
  return pool[static_cast<size_t>(std::min(Pick(0, last), Pick(0, last)))];
}

v1::AttributeValue RandomRequests::AnyValue() {
  switch (Pick(0, 7)) {
    case 0:
      return S("");
    case 1:
    case 2: {
      std::set<std::string> elements;
      for (int i = Pick(1, 3); i > 0; --i)
        elements.insert(std::string(1, static_cast<char>('p' + Pick(0, 3))));
      return StringSet(elements);
    }
    case 3: {
      v1::AttributeValue list;
      for (int i = Pick(0, 2); i > 0; --i) *list.mutable_l()->add_values() = KeyValue("SNB"[Pick(0, 2)]);
      list.mutable_l();
      return list;
    }
    default:
      return KeyValue("SNB"[Pick(0, 2)]);
  }
}

v1::AttributeValue RandomRequests::ValueFor(const TableModel& table, const std::string& attribute) {
  if (Chance(0.01)) return AnyValue();
  char type = table.KeyType(attribute);
  // Few different values, so that indexes have item collections of several entries.
  if (type != 0 && !table.IsKey(attribute) && Chance(0.6)) return Pool(type)[static_cast<size_t>(Pick(0, 1))];
  if (type != 0) return KeyValue(type);
  if (attribute == "count") return KeyValue('N');
  if (attribute == "tags") return StringSet({std::string(1, static_cast<char>('p' + Pick(0, 3))), "p"});
  return AnyValue();
}

ModelItem RandomRequests::Key(const TableModel& table) {
  ModelItem key;
  for (const std::string& name : table.key_names()) key[name] = KeyValue(table.KeyType(name));
  if (Chance(0.01)) key[OneOf(table.key_names())] = AnyValue();
  if (Chance(0.005)) key.erase(OneOf(table.key_names()));
  if (Chance(0.005)) key["x"] = AnyValue();
  return key;
}

ModelItem RandomRequests::NewItem(const TableModel& table) {
  ModelItem item;
  for (const std::string& name : table.key_names()) item[name] = ValueFor(table, name);
  for (const auto& [name, type] : IndexAttributes()) {
    if (Chance(0.85)) item[name] = ValueFor(table, name);
  }
  for (const std::string& name : OtherAttributes()) {
    if (Chance(0.4)) item[name] = ValueFor(table, name);
  }
  if (Chance(0.05)) item["payload"] = S(std::string(static_cast<size_t>(Pick(0, 100'000)), 'z'));
  return item;
}

std::vector<std::string> RandomRequests::Attributes(const TableModel& table) const {
  std::vector<std::string> names = OtherAttributes();
  for (const auto& [name, type] : IndexAttributes()) names.push_back(name);
  names.insert(names.end(), table.key_names().begin(), table.key_names().end());
  return names;
}

RandomCondition RandomRequests::Atom(const TableModel& table, const std::vector<std::string>& attributes,
                                     RequestNames* names) {
  std::string name = OneOf(attributes);
  v1::AttributeValue value = ValueFor(table, name);
  std::string path = names->Name(name);
  auto with = [&](const std::string& text, auto holds) {
    return RandomCondition{
        text, [name, holds](const ModelItem& item) { return holds(FindIn(item, name)); }, {name}};
  };
  using Found = const v1::AttributeValue*;
  switch (Pick(0, 6)) {
    case 0:
      return with("attribute_exists(" + path + ")", [](Found found) { return found != nullptr; });
    case 1:
      return with("attribute_not_exists(" + path + ")", [](Found found) { return found == nullptr; });
    case 2:
      return with(path + " = " + names->Value(value),
                  [value](Found found) { return found != nullptr && SameValue(*found, value); });
    case 3:
      return with(path + " <> " + names->Value(value),
                  [value](Found found) { return found == nullptr || !SameValue(*found, value); });
    case 4: {
      v1::AttributeValue scalar = KeyValue("SNB"[Pick(0, 2)]);
      std::string op = OneOf<std::string>({"<", "<=", ">", ">="});
      return with(path + " " + op + " " + names->Value(scalar), [scalar, op](Found found) {
        return SameScalarType(found, scalar) && Compare(*found, op, scalar);
      });
    }
    case 5: {
      char type = "SNB"[Pick(0, 2)];
      v1::AttributeValue low = KeyValue(type);
      v1::AttributeValue high = KeyValue(type);
      if (CompareScalars(low, high) > 0) std::swap(low, high);
      std::string low_name = names->Value(low);
      return with(path + " BETWEEN " + low_name + " AND " + names->Value(high), [low, high](Found found) {
        return SameScalarType(found, low) && CompareScalars(*found, low) >= 0 &&
               CompareScalars(*found, high) <= 0;
      });
    }
    default: {
      v1::AttributeValue prefix = KeyValue(Chance(0.5) ? 'S' : 'B');
      return with("begins_with(" + path + ", " + names->Value(prefix) + ")", [prefix](Found found) {
        return found != nullptr && ScalarType(*found) != 'N' && BeginsWith(*found, prefix);
      });
    }
  }
}

RandomCondition RandomRequests::Condition(const TableModel& table, const std::vector<std::string>& attributes,
                                          RequestNames* names) {
  RandomCondition left = Atom(table, attributes, names);
  int shape = Pick(0, 5);
  if (shape <= 1) return left;
  if (shape == 2)
    return {"NOT " + left.text, [holds = left.holds](const ModelItem& item) { return !holds(item); },
            left.names};
  RandomCondition right = Atom(table, attributes, names);
  std::set<std::string> both = left.names;
  both.insert(right.names.begin(), right.names.end());
  auto l = left.holds;
  auto r = right.holds;
  if (shape == 3)
    return {left.text + " AND " + right.text, [l, r](const ModelItem& i) { return l(i) && r(i); }, both};
  if (shape == 4)
    return {left.text + " OR " + right.text, [l, r](const ModelItem& i) { return l(i) || r(i); }, both};
  return {"NOT (" + left.text + " OR " + right.text + ")",
          [l, r](const ModelItem& i) { return !l(i) && !r(i); }, both};
}

RandomUpdate RandomRequests::Update(const TableModel& table, RequestNames* names) {
  // Each action reads the item before the update, and changes one attribute of the item after it (EXP-23).
  using Action = std::function<bool(const ModelItem& before, ModelItem* after)>;
  std::map<std::string, std::vector<std::string>> clauses;
  std::vector<Action> actions;
  RandomUpdate update;
  update.creates_item = false;

  std::vector<std::string> targets = OtherAttributes();
  for (const auto& [name, type] : IndexAttributes()) {
    if (!table.IsKey(name)) targets.push_back(name);
  }
  std::shuffle(targets.begin(), targets.end(), random_);
  targets.resize(static_cast<size_t>(Pick(0, 3)));
  for (const std::string& name : targets) {
    update.names.insert(name);
    std::string path = names->Name(name);
    // Mostly actions that fit the attribute: additions to numbers, set operations on sets.
    bool numeric = name == "count" || table.KeyType(name) == 'N';
    int kind = Chance(0.05)     ? Pick(0, 7)
               : numeric        ? OneOf<int>({0, 1, 2, 3, 4})
               : name == "tags" ? OneOf<int>({0, 1, 5, 6})
                                : OneOf<int>({0, 0, 1, 7});
    update.creates_item |= kind != 1 && kind != 6;
    auto number = KeyValue('N');
    auto add = [name, amount = NumberOf(number)](std::optional<double> missing) -> Action {
      return [name, amount, missing](const ModelItem& before, ModelItem* after) {
        const auto* old = FindIn(before, name);
        if (old == nullptr ? !missing.has_value() : !old->has_n()) return false;
        (*after)[name] = N(NumberText((old == nullptr ? *missing : NumberOf(*old)) + amount));
        return true;
      };
    };
    switch (kind) {
      case 0: {
        auto value = ValueFor(table, name);
        clauses["SET"].push_back(path + " = " + names->Value(value));
        actions.push_back([name, value](const ModelItem&, ModelItem* after) {
          (*after)[name] = value;
          return true;
        });
        break;
      }
      case 1:
        clauses["REMOVE"].push_back(path);
        actions.push_back([name](const ModelItem&, ModelItem* after) {
          after->erase(name);
          return true;
        });
        break;
      case 2:
        clauses["ADD"].push_back(path + " " + names->Value(number));
        actions.push_back(add(0));
        break;
      case 3:
        clauses["SET"].push_back(path + " = " + path + " + " + names->Value(number));
        actions.push_back(add(std::nullopt));
        break;
      case 4: {
        auto start = KeyValue('N');
        clauses["SET"].push_back(path + " = if_not_exists(" + path + ", " + names->Value(start) + ") + " +
                                 names->Value(number));
        actions.push_back(add(NumberOf(start)));
        break;
      }
      case 5:
      case 6: {
        bool adds = kind == 5;
        auto set = StringSet({std::string(1, static_cast<char>('p' + Pick(0, 3)))});
        clauses[adds ? "ADD" : "DELETE"].push_back(path + " " + names->Value(set));
        actions.push_back([name, set, adds](const ModelItem& before, ModelItem* after) {
          const auto* old = FindIn(before, name);
          if (old != nullptr && !old->has_ss()) return false;
          std::set<std::string> elements = old == nullptr ? std::set<std::string>() : Elements(*old);
          for (const std::string& element : Elements(set))
            adds ? (void)elements.insert(element) : (void)elements.erase(element);
          after->erase(name);
          if (!elements.empty()) (*after)[name] = StringSet(elements);
          return true;
        });
        break;
      }
      default: {
        // An existing attribute, mostly of the right type.
        std::string source = table.IsKey("sk") && Chance(0.5) ? "sk"
                             : Chance(0.7)                    ? "pk"
                                                              : OneOf(Attributes(table));
        clauses["SET"].push_back(path + " = " + names->Name(source));
        actions.push_back([name, source](const ModelItem& before, ModelItem* after) {
          const auto* value = FindIn(before, source);
          if (value == nullptr) return false;
          (*after)[name] = *value;
          return true;
        });
      }
    }
  }
  for (const auto& [keyword, parts] : clauses) {
    update.text += (update.text.empty() ? "" : " ") + keyword;
    for (size_t i = 0; i < parts.size(); ++i) update.text += (i == 0 ? " " : ", ") + parts[i];
  }
  if (update.text.empty()) update.creates_item = true;
  update.apply = [actions](const ModelItem& before) -> std::optional<ModelItem> {
    ModelItem after = before;
    for (const Action& action : actions) {
      if (!action(before, &after)) return std::nullopt;
    }
    return after;
  };
  return update;
}

RandomKeyCondition RandomRequests::KeyCondition(const TableModel& table, const ModelIndex* index,
                                                RequestNames* names) {
  // The values of an existing entry, if there is one, so that the condition often selects something.
  ModelItem target;
  std::vector<ModelEntry> entries = table.Entries(index);
  if (!entries.empty() && !Chance(0.1)) target = OneOf(entries).item;
  auto value_of = [&](const std::string& name) {
    const auto* value = FindIn(target, name);
    return value != nullptr && Chance(0.9) ? *value : KeyValue(table.KeyType(name));
  };
  RandomKeyCondition condition;
  std::vector<std::pair<std::string, Predicate>> clauses;
  auto add = [&](const std::string& name, const std::string& op, const v1::AttributeValue& value) {
    std::string path = names->Name(name);
    std::string operand = names->Value(value);
    clauses.emplace_back(
        Chance(0.2) ? operand + " " + Mirrored(op) + " " + path : path + " " + op + " " + operand,
        [name, op, value](const ModelItem& item) { return Compare(item.at(name), op, value); });
    condition.comparisons.push_back({name, OperatorOf(op), {value}, clauses.back().second});
  };
  const auto& partition = table.Partition(index);
  const auto& sort = table.Sort(index);
  int conditions = Pick(0, static_cast<int>(sort.size()));
  int last = static_cast<int>(partition.size()) + conditions - 1;
  // A condition may leave out only the last attribute (SEM-080, SEM-081).
  int left_out = Chance(0.04) ? Pick(0, last) : -1;
  condition.valid = left_out < 0 || (left_out == last && conditions > 0);
  for (int i = 0; i <= last; ++i) {
    if (i == left_out) continue;
    bool in_partition = i < static_cast<int>(partition.size());
    const std::string& name =
        in_partition ? partition[static_cast<size_t>(i)] : sort[static_cast<size_t>(i) - partition.size()];
    v1::AttributeValue value = value_of(name);
    int shape = in_partition || i < last ? 0 : Pick(0, 6);
    if (shape == 0) {
      add(name, "=", value);
    } else if (shape <= 4) {
      add(name, OneOf<std::string>({"<", "<=", ">", ">="}), value);
    } else if (shape == 5 || table.KeyType(name) == 'N') {
      v1::AttributeValue low = value;
      v1::AttributeValue high = KeyValue(table.KeyType(name));
      if (CompareScalars(low, high) > 0) std::swap(low, high);
      std::string path = names->Name(name);
      std::string low_name = names->Value(low);
      clauses.emplace_back(path + " BETWEEN " + low_name + " AND " + names->Value(high),
                           [name, low, high](const ModelItem& item) {
                             return CompareScalars(item.at(name), low) >= 0 &&
                                    CompareScalars(item.at(name), high) <= 0;
                           });
      condition.comparisons.push_back(
          {name, v1::COMPARISON_OPERATOR_BETWEEN, {low, high}, clauses.back().second});
    } else {
      v1::AttributeValue prefix = value;
      if (Chance(0.5)) {
        if (prefix.has_b()) prefix.set_b(prefix.b().substr(0, 1));
        // Only an ASCII character, so that no character is cut.
        if (prefix.has_s() && static_cast<unsigned char>(prefix.s()[0]) < 0x80)
          prefix.set_s(prefix.s().substr(0, 1));
      }
      clauses.emplace_back(
          "begins_with(" + names->Name(name) + ", " + names->Value(prefix) + ")",
          [name, prefix](const ModelItem& item) { return BeginsWith(item.at(name), prefix); });
      condition.comparisons.push_back(
          {name, v1::COMPARISON_OPERATOR_BEGINS_WITH, {prefix}, clauses.back().second});
    }
  }
  std::shuffle(clauses.begin(), clauses.end(), random_);
  std::vector<Predicate> all;
  for (const auto& [text, selects] : clauses) {
    condition.text += (condition.text.empty() ? "" : " AND ") + text;
    all.push_back(selects);
  }
  condition.selects = [all](const ModelItem& item) {
    return std::all_of(all.begin(), all.end(), [&item](const Predicate& selects) { return selects(item); });
  };
  return condition;
}

std::string RandomRequests::EncodeForRequest(const ModelItem& item) {
  return Chance(0.5) ? EncodeItem(item) : EncodeLoosely(ToMessage(item), random_);
}

}  // namespace itemdb::testing
