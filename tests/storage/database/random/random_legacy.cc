#include "tests/storage/database/random/random_legacy.h"

#include <algorithm>

namespace itemdb::testing {
namespace {

using Found = const v1::AttributeValue*;

Found FindAttribute(const ModelItem& item, const std::string& name) {
  auto found = item.find(name);
  return found == item.end() ? nullptr : &found->second;
}

bool HasTypeOf(Found found, const v1::AttributeValue& value) {
  return found != nullptr && ScalarType(*found) != 0 && ScalarType(*found) == ScalarType(value);
}

const std::string& TextOf(const v1::AttributeValue& value) { return value.has_s() ? value.s() : value.b(); }

bool BeginsWith(Found found, const v1::AttributeValue& prefix) {
  return HasTypeOf(found, prefix) && TextOf(*found).starts_with(TextOf(prefix));
}

// Whether `part` is part of a text, or an element of a set of strings or of a list.
bool Contains(const v1::AttributeValue& whole, const v1::AttributeValue& part) {
  if (whole.has_ss()) {
    return part.has_s() && std::count(whole.ss().values().begin(), whole.ss().values().end(), part.s()) > 0;
  }
  if (whole.has_l()) {
    return std::any_of(whole.l().values().begin(), whole.l().values().end(),
                       [&part](const v1::AttributeValue& element) { return SameValue(element, part); });
  }
  return ScalarType(whole) != 'N' && HasTypeOf(&whole, part) &&
         TextOf(whole).find(TextOf(part)) != std::string::npos;
}

// The result of `comparison` with `values` for an attribute.
bool Holds(v1::ComparisonOperator comparison, const std::vector<v1::AttributeValue>& values, Found found) {
  switch (comparison) {
    case v1::COMPARISON_OPERATOR_NOT_NULL:
      return found != nullptr;
    case v1::COMPARISON_OPERATOR_NULL:
      return found == nullptr;
    case v1::COMPARISON_OPERATOR_EQ:
      return found != nullptr && SameValue(*found, values[0]);
    case v1::COMPARISON_OPERATOR_NE:
      return found == nullptr || !SameValue(*found, values[0]);
    case v1::COMPARISON_OPERATOR_LT:
      return HasTypeOf(found, values[0]) && CompareScalars(*found, values[0]) < 0;
    case v1::COMPARISON_OPERATOR_LE:
      return HasTypeOf(found, values[0]) && CompareScalars(*found, values[0]) <= 0;
    case v1::COMPARISON_OPERATOR_GT:
      return HasTypeOf(found, values[0]) && CompareScalars(*found, values[0]) > 0;
    case v1::COMPARISON_OPERATOR_GE:
      return HasTypeOf(found, values[0]) && CompareScalars(*found, values[0]) >= 0;
    case v1::COMPARISON_OPERATOR_BETWEEN:
      return HasTypeOf(found, values[0]) && CompareScalars(*found, values[0]) >= 0 &&
             CompareScalars(*found, values[1]) <= 0;
    case v1::COMPARISON_OPERATOR_IN:
      return found != nullptr && std::any_of(values.begin(), values.end(),
                                             [found](const auto& value) { return SameValue(*found, value); });
    case v1::COMPARISON_OPERATOR_BEGINS_WITH:
      return BeginsWith(found, values[0]);
    case v1::COMPARISON_OPERATOR_CONTAINS:
      return found != nullptr && Contains(*found, values[0]);
    default:  // NOT_CONTAINS.
      return found != nullptr && !Contains(*found, values[0]);
  }
}

RandomComparison AnyComparison(RandomRequests& random, const TableModel& table, const std::string& name) {
  RandomComparison any{name, static_cast<v1::ComparisonOperator>(random.Pick(1, 13)), {}, nullptr};
  const char type = "SNB"[random.Pick(0, 2)];
  switch (any.comparison) {
    case v1::COMPARISON_OPERATOR_NOT_NULL:
    case v1::COMPARISON_OPERATOR_NULL:
      break;
    case v1::COMPARISON_OPERATOR_EQ:
    case v1::COMPARISON_OPERATOR_NE:
      any.values.push_back(random.ValueFor(table, name));
      break;
    case v1::COMPARISON_OPERATOR_BETWEEN:
      any.values = {random.KeyValue(type), random.KeyValue(type)};
      if (CompareScalars(any.values[0], any.values[1]) > 0) std::swap(any.values[0], any.values[1]);
      break;
    case v1::COMPARISON_OPERATOR_IN:
      for (int i = random.Pick(1, 4); i > 0; --i) any.values.push_back(random.KeyValue(type));
      break;
    case v1::COMPARISON_OPERATOR_BEGINS_WITH:
      any.values.push_back(random.KeyValue(type == 'N' ? 'S' : type));
      break;
    case v1::COMPARISON_OPERATOR_CONTAINS:
    case v1::COMPARISON_OPERATOR_NOT_CONTAINS:
      // These are also elements of the sets of strings.
      any.values.push_back(random.Chance(0.4) ? S(std::string(1, static_cast<char>('p' + random.Pick(0, 3))))
                                              : random.KeyValue(type));
      break;
    default:
      any.values.push_back(random.KeyValue(type));
  }
  any.holds = [name, comparison = any.comparison, values = any.values](const ModelItem& item) {
    return Holds(comparison, values, FindAttribute(item, name));
  };
  return any;
}

v1::AttributeValue LegacyStringSet(const std::set<std::string>& elements) {
  v1::AttributeValue value;
  for (const std::string& element : elements) value.mutable_ss()->add_values(element);
  return value;
}

std::set<std::string> LegacyElements(const v1::AttributeValue& value) {
  return {value.ss().values().begin(), value.ss().values().end()};
}

// Reads the item before the update, and changes one attribute of the item after it; false if impossible.
using Effect = std::function<bool(const ModelItem& before, ModelItem* after)>;

Effect Put(const std::string& name, const v1::AttributeValue& value) {
  return [=](const ModelItem&, ModelItem* after) {
    (*after)[name] = value;
    return true;
  };
}

Effect Remove(const std::string& name) {
  return [=](const ModelItem&, ModelItem* after) {
    after->erase(name);
    return true;
  };
}

Effect AddNumber(const std::string& name, const v1::AttributeValue& number) {
  return [=](const ModelItem& before, ModelItem* after) {
    Found old = FindAttribute(before, name);
    if (old != nullptr && !old->has_n()) return false;
    (*after)[name] = N(NumberText((old == nullptr ? 0 : NumberOf(*old)) + NumberOf(number)));
    return true;
  };
}

Effect AddOrDeleteElements(const std::string& name, const v1::AttributeValue& set, bool adds) {
  return [=](const ModelItem& before, ModelItem* after) {
    Found old = FindAttribute(before, name);
    if (old != nullptr && !old->has_ss()) return false;
    std::set<std::string> elements = old == nullptr ? std::set<std::string>() : LegacyElements(*old);
    for (const std::string& element : LegacyElements(set))
      adds ? (void)elements.insert(element) : (void)elements.erase(element);
    after->erase(name);
    if (!elements.empty()) (*after)[name] = LegacyStringSet(elements);
    return true;
  };
}

Effect Append(const std::string& name, const v1::AttributeValue& list) {
  return [=](const ModelItem& before, ModelItem* after) {
    Found old = FindAttribute(before, name);
    if (old != nullptr && !old->has_l()) return false;
    v1::AttributeValue whole = old == nullptr ? v1::AttributeValue() : *old;
    whole.mutable_l()->MergeFrom(list.l());
    (*after)[name] = whole;
    return true;
  };
}

}  // namespace

std::set<std::string> RandomComparisons::Names() const {
  std::set<std::string> names;
  for (const RandomComparison& entry : entries) names.insert(entry.name);
  return names;
}

bool RandomComparisons::Hold(const ModelItem& item) const {
  auto holds = [&item](const RandomComparison& entry) { return entry.holds(item); };
  return joined_by == v1::CONDITIONAL_OPERATOR_OR ? std::any_of(entries.begin(), entries.end(), holds)
                                                  : std::all_of(entries.begin(), entries.end(), holds);
}

void RandomComparisons::SetOn(google::protobuf::RepeatedPtrField<wire::NamedCondition>* conditions) const {
  for (const RandomComparison& entry : entries) {
    wire::NamedCondition* condition = conditions->Add();
    condition->set_name(entry.name);
    condition->mutable_value()->set_comparison_operator(entry.comparison);
    for (const v1::AttributeValue& value : entry.values)
      condition->mutable_value()->add_attribute_value_list(value.SerializeAsString());
  }
}

void RandomComparisons::SetExpected(RandomRequests& random, wire::WriteItemRequest* request) const {
  request->set_conditional_operator(joined_by);
  for (const RandomComparison& entry : entries) {
    wire::NamedExpectation* expected = request->add_expected();
    expected->set_name(entry.name);
    wire::ExpectedAttributeValue* value = expected->mutable_value();
    const bool oldest_form = random.Chance(0.5);
    if (entry.comparison == v1::COMPARISON_OPERATOR_NULL && oldest_form) {
      value->set_exists(false);
    } else if (entry.comparison == v1::COMPARISON_OPERATOR_EQ && oldest_form) {
      value->set_value(entry.values[0].SerializeAsString());
      if (random.Chance(0.5)) value->set_exists(true);
    } else {
      value->set_comparison_operator(entry.comparison);
      for (const v1::AttributeValue& argument : entry.values)
        value->add_attribute_value_list(argument.SerializeAsString());
    }
  }
}

void RandomLegacyUpdate::SetOn(wire::WriteItemRequest* request) const {
  for (const wire::NamedUpdate& entry : entries) *request->add_attribute_updates() = entry;
}

RandomComparisons LegacyConditions(RandomRequests& random, const TableModel& table,
                                   const std::vector<std::string>& attributes) {
  RandomComparisons conditions;
  std::set<std::string> names;
  for (int i = random.Pick(1, 3); i > 0; --i) names.insert(random.OneOf(attributes));
  for (const std::string& name : names) conditions.entries.push_back(AnyComparison(random, table, name));
  if (conditions.entries.size() > 1)
    conditions.joined_by = static_cast<v1::ConditionalOperator>(random.Pick(0, 2));
  return conditions;
}

RandomLegacyUpdate LegacyUpdate(RandomRequests& random, const TableModel& table) {
  RandomLegacyUpdate update;
  update.meaning.creates_item = false;
  std::set<std::string> targets;
  std::vector<std::string> attributes = random.Attributes(table);
  std::erase_if(attributes, [&table](const std::string& name) { return table.IsKey(name); });
  for (int i = random.Pick(1, 3); i > 0; --i) targets.insert(random.OneOf(attributes));
  std::vector<Effect> actions;
  for (const std::string& name : targets) {
    wire::NamedUpdate& entry = update.entries.emplace_back();
    entry.set_name(name);
    auto set = [&entry](v1::AttributeAction action, const v1::AttributeValue& value) {
      entry.mutable_value()->set_action(action);
      entry.mutable_value()->set_value(value.SerializeAsString());
    };
    // Mostly an action that fits the attribute.
    const bool numeric = name == "count" || table.KeyType(name) == 'N';
    const int kind = random.Chance(0.05) ? random.Pick(0, 5)
                     : numeric           ? random.OneOf<int>({0, 1, 2})
                     : name == "tags"    ? random.OneOf<int>({0, 1, 3, 4})
                                         : random.OneOf<int>({0, 0, 1, 5});
    update.meaning.creates_item |= kind != 1 && kind != 4;
    const v1::AttributeValue number = random.KeyValue('N');
    const v1::AttributeValue elements =
        LegacyStringSet({std::string(1, static_cast<char>('p' + random.Pick(0, 3)))});
    switch (kind) {
      case 0: {
        const v1::AttributeValue value = random.ValueFor(table, name);
        set(random.Chance(0.5) ? v1::ATTRIBUTE_ACTION_PUT : v1::ATTRIBUTE_ACTION_UNSPECIFIED, value);
        actions.push_back(Put(name, value));
        break;
      }
      case 1:
        entry.mutable_value()->set_action(v1::ATTRIBUTE_ACTION_DELETE);
        actions.push_back(Remove(name));
        break;
      case 2:
        set(v1::ATTRIBUTE_ACTION_ADD, number);
        actions.push_back(AddNumber(name, number));
        break;
      case 3:
      case 4:
        set(kind == 3 ? v1::ATTRIBUTE_ACTION_ADD : v1::ATTRIBUTE_ACTION_DELETE, elements);
        actions.push_back(AddOrDeleteElements(name, elements, kind == 3));
        break;
      default: {
        v1::AttributeValue list;
        *list.mutable_l()->add_values() = number;
        set(v1::ATTRIBUTE_ACTION_ADD, list);
        actions.push_back(Append(name, list));
      }
    }
  }
  update.meaning.names = targets;
  update.meaning.apply = [actions](const ModelItem& before) -> std::optional<ModelItem> {
    ModelItem after = before;
    for (const Effect& action : actions) {
      if (!action(before, &after)) return std::nullopt;
    }
    return after;
  };
  return update;
}

}  // namespace itemdb::testing
