// Tables as plain maps: computes in the simplest way what the database must answer.
//
// Keys are compared value by value, and index entries are computed from the items each time. So the model
// shares neither code nor ideas with the encoded keys and maintained index entries that are tested.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "itemdb/v1/item.pb.h"
#include "itemdb/v1/tables.pb.h"

namespace itemdb::testing {

// Attributes by name. Values are canonical, numbers multiples of 0.5 that a double holds exactly.
using ModelItem = std::map<std::string, v1::AttributeValue>;

v1::Item ToMessage(const ModelItem& item);
// The canonical bytes of an item.
std::string EncodeItem(const ModelItem& item);
// The size of an item by the size rules (SEM-002, SEM-003).
int64_t SizeOf(const ModelItem& item);

bool SameValue(const v1::AttributeValue& a, const v1::AttributeValue& b);
// Conversion between numbers of the model and attribute values.
double NumberOf(const v1::AttributeValue& value);
std::string NumberText(double number);
// 'S', 'N' or 'B'; 0 for every other type.
char ScalarType(const v1::AttributeValue& value);
// Less than, equal to or greater than zero, in the order of keys (SEM-014). Both have the same scalar type.
int CompareScalars(const v1::AttributeValue& a, const v1::AttributeValue& b);

using ModelKey = std::vector<v1::AttributeValue>;
struct ModelKeyLess {
  bool operator()(const ModelKey& a, const ModelKey& b) const;
};

struct ModelIndex {
  std::string name;
  bool local = false;
  std::vector<std::string> partition;
  std::vector<std::string> sort;
  bool projects_all = false;
  std::set<std::string> projected;

  bool Projects(const std::string& attribute) const { return projects_all || projected.contains(attribute); }
};

// An item of a table or an entry of an index, with the key that it is sorted by.
struct ModelEntry {
  ModelKey key;
  ModelItem item;
  // The item that the index entry belongs to.
  ModelItem whole;
};

class TableModel {
 public:
  TableModel() = default;
  explicit TableModel(const v1::TableDescription& definition);

  const v1::TableDescription& definition() const { return definition_; }
  // The new definition must have the same keys and indexes.
  void set_definition(const v1::TableDescription& definition) { definition_ = definition; }
  const std::string& name() const { return definition_.table_name(); }
  const std::vector<std::string>& key_names() const { return key_names_; }
  bool IsKey(const std::string& attribute) const;
  const std::vector<ModelIndex>& indexes() const { return indexes_; }
  // The type of an attribute that is in a key; 0 for other attributes.
  char KeyType(const std::string& attribute) const;
  // The key attributes of `index`, or of the table if `index` is null: partition key, sort key, and all
  // attributes of a LastEvaluatedKey.
  const std::vector<std::string>& Partition(const ModelIndex* index) const {
    return index ? index->partition : partition_;
  }
  const std::vector<std::string>& Sort(const ModelIndex* index) const { return index ? index->sort : sort_; }
  std::vector<std::string> PositionNames(const ModelIndex* index) const;

  // Whether `item` has all attributes of the primary key, with the right types and not empty.
  bool HasKey(const ModelItem& item) const;
  // Whether `item` has exactly these attributes.
  bool IsExactKey(const ModelItem& item) const { return HasKey(item) && item.size() == key_names_.size(); }
  // Whether `item` lacks a key attribute or has one of another type, or, if it is a `key`, has other
  // attributes too. In a transaction this is a reason of a cancellation; an empty key attribute is not
  // (SEM-005).
  bool MismatchesKey(const ModelItem& item, bool key) const;
  // Whether each index key attribute in `item` has the right type and is not empty; otherwise the write is
  // refused (SEM-070).
  bool FitsIndexes(const ModelItem& item) const;
  ModelItem KeyOf(const ModelItem& item) const;

  // The item with the primary key in `key`; null if there is none.
  const ModelItem* Find(const ModelItem& key) const;
  void Put(const ModelItem& item) { items_[KeyValues(key_names_, item)] = item; }
  void Erase(const ModelItem& key) { items_.erase(KeyValues(key_names_, key)); }

  // All items of the table or entries of `index`, in key order.
  std::vector<ModelEntry> Entries(const ModelIndex* index) const;
  // The key that orders an entry whose key attributes are in `item`.
  ModelKey PositionKey(const ModelIndex* index, const ModelItem& item) const;

 private:
  static ModelKey KeyValues(const std::vector<std::string>& names, const ModelItem& item);
  std::optional<ModelEntry> EntryOf(const ModelIndex& index, const ModelItem& item) const;

  v1::TableDescription definition_;
  std::map<std::string, char> types_;
  std::vector<std::string> partition_;
  std::vector<std::string> sort_;
  std::vector<std::string> key_names_;
  std::vector<ModelIndex> indexes_;
  std::map<ModelKey, ModelItem, ModelKeyLess> items_;
};

// What one page must contain when the request selects `selected`, in order: a page ends at Limit items or
// with the item that crosses 1 MiB (SEM-027 to SEM-030).
struct ModelPage {
  // The items after filter and projection. With count_only they are only counted.
  std::vector<ModelItem> items;
  bool count_only = false;
  int scanned = 0;
  // Empty if the page is the last.
  std::optional<size_t> last_evaluated;
};

struct ModelPageRequest {
  std::optional<int> limit;
  std::function<bool(const ModelItem&)> filter;  // Null: all items.
  std::set<std::string> projection;              // Empty: all attributes.
  // fetch_items: filter and projection use the item that the entry belongs to. whole_items: without a
  // projection the page contains these items (SEM-036).
  bool fetch_items = false;
  bool whole_items = false;
  // count_only: Select COUNT, the page has no items. count_all: also, everything is one page.
  bool count_only = false;
  bool count_all = false;
};

ModelPage ReadModelPage(const std::vector<ModelEntry>& selected, size_t start,
                        const ModelPageRequest& request);

}  // namespace itemdb::testing
