// Random tables, items and expressions, each expression together with its meaning.
//
// Values come from small pools, so that keys are often equal, conditions often true, and index entries often
// tie. The pools hold values that are difficult for encoded keys: zero bytes, FF bytes, values that are
// prefixes of others, negative numbers. Some requests are wrong on purpose.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/storage/database/random/table_model.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {

// The result of a condition for an item; a missing item has no attributes.
using Predicate = std::function<bool(const ModelItem&)>;

struct RandomCondition {
  std::string text;
  Predicate holds;
  // The top-level attributes in the condition.
  std::set<std::string> names;
};

struct RandomUpdate {
  std::string text;  // Empty: no update expression.
  // The new item; nothing if the update cannot be applied to the item.
  std::function<std::optional<ModelItem>(const ModelItem& old_item)> apply;
  std::set<std::string> names;
  // Whether an update of a missing item creates it: false if all clauses are REMOVE or DELETE (EXP-33).
  bool creates_item = true;
};

// One entry of the legacy parameters Expected, QueryFilter, ScanFilter or KeyConditions (SEM-112).
struct RandomComparison {
  std::string name;
  v1::ComparisonOperator comparison = v1::COMPARISON_OPERATOR_UNSPECIFIED;
  std::vector<v1::AttributeValue> values;
  Predicate holds;
};

struct RandomKeyCondition {
  std::string text;
  // The same condition as KeyConditions.
  std::vector<RandomComparison> comparisons;
  Predicate selects;
  // False: the condition does not fit the key schema, and the database must refuse it.
  bool valid = true;
};

// The placeholders of one request.
class RequestNames {
 public:
  std::string Name(const std::string& attribute);
  std::string Value(const v1::AttributeValue& value);
  template <typename Request>
  void SetOn(Request* request) const {
    SetNamesOn(request);
    for (size_t i = 0; i < values_.size(); ++i) SetValue(request, ":v" + std::to_string(i), values_[i]);
  }
  template <typename Request>
  void SetNamesOn(Request* request) const {
    for (const std::string& name : names_) SetName(request, "#" + name, name);
  }

 private:
  std::set<std::string> names_;
  std::vector<v1::AttributeValue> values_;
};

class RandomRequests {
 public:
  explicit RandomRequests(uint64_t seed) : random_(seed) {}

  bool Chance(double probability) { return std::bernoulli_distribution(probability)(random_); }
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  template <typename T>
  const T& OneOf(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(Pick(0, static_cast<int>(choices.size()) - 1))];
  }

  // A table with 1 to 4 global indexes of random shapes; the first has 2 partition and 2 sort attributes. A
  // table with a sort key has up to 3 local indexes.
  v1::CreateTableRequest Table(const std::string& name);
  // A key value of `type` from a small pool; the first values of the pool come more often than the last.
  v1::AttributeValue KeyValue(char type);
  // The primary key of an item of the table, or of no item; rarely an invalid key.
  ModelItem Key(const TableModel& table);
  // An item to put; rarely with a key attribute that is empty or has the wrong type.
  ModelItem NewItem(const TableModel& table);
  // A condition on some of `attributes`.
  RandomCondition Condition(const TableModel& table, const std::vector<std::string>& attributes,
                            RequestNames* names);
  RandomUpdate Update(const TableModel& table, RequestNames* names);
  RandomKeyCondition KeyCondition(const TableModel& table, const ModelIndex* index, RequestNames* names);
  // All attributes that items may have, key attributes included.
  std::vector<std::string> Attributes(const TableModel& table) const;
  // A value for the attribute, mostly of a type that the attribute may have.
  v1::AttributeValue ValueFor(const TableModel& table, const std::string& attribute);
  // `item` encoded in one of the ways that clients use.
  std::string EncodeForRequest(const ModelItem& item);

 private:
  void SetProjection(v1::Projection* projection);
  v1::AttributeValue AnyValue();
  RandomCondition Atom(const TableModel& table, const std::vector<std::string>& attributes,
                       RequestNames* names);

  std::mt19937_64 random_;
};

}  // namespace itemdb::testing
