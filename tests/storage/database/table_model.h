// Tables as plain maps: what the database must answer, computed in the most obvious way.
//
// Keys are compared value by value and index entries recomputed from the items each time, so nothing here
// shares an idea, let alone code, with the encoded keys and maintained entries under test.
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
// By SEM-002 and SEM-003.
int64_t SizeOf(const ModelItem& item);

bool SameValue(const v1::AttributeValue& a, const v1::AttributeValue& b);
// Numbers of the model.
double NumberOf(const v1::AttributeValue& value);
std::string NumberText(double number);
// 'S', 'N' or 'B'; 0 for every other type.
char ScalarType(const v1::AttributeValue& value);
// Less than, equal to or greater than zero. Both of one scalar type, by SEM-014.
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
  // The item that an entry was made from.
  ModelItem whole;
};

class TableModel {
 public:
  TableModel() = default;
  explicit TableModel(const v1::TableDescription& definition);

  const v1::TableDescription& definition() const { return definition_; }
  // Keys and indexes must be the same.
  void set_definition(const v1::TableDescription& definition) { definition_ = definition; }
  const std::string& name() const { return definition_.table_name(); }
  const std::vector<std::string>& key_names() const { return key_names_; }
  bool IsKey(const std::string& attribute) const;
  const std::vector<ModelIndex>& indexes() const { return indexes_; }
  // The type of an attribute that some key uses; 0 for others.
  char KeyType(const std::string& attribute) const;
  // The key attributes of what `index` names, the table when it is null: partition, sort, and all of a
  // position.
  const std::vector<std::string>& Partition(const ModelIndex* index) const {
    return index ? index->partition : partition_;
  }
  const std::vector<std::string>& Sort(const ModelIndex* index) const { return index ? index->sort : sort_; }
  std::vector<std::string> PositionNames(const ModelIndex* index) const;

  // Whether `item` has the primary key's attributes, with their types and not empty.
  bool HasKey(const ModelItem& item) const;
  // The same, and nothing else.
  bool IsExactKey(const ModelItem& item) const { return HasKey(item) && item.size() == key_names_.size(); }
  // Whether every index key attribute that is present has its type and is not empty (SEM-070).
  bool FitsIndexes(const ModelItem& item) const;
  ModelItem KeyOf(const ModelItem& item) const;

  // The item with the primary key of `key`; null when there is none.
  const ModelItem* Find(const ModelItem& key) const;
  void Put(const ModelItem& item) { items_[KeyValues(key_names_, item)] = item; }
  void Erase(const ModelItem& key) { items_.erase(KeyValues(key_names_, key)); }

  // Everything in the table, or in `index`, in key order.
  std::vector<ModelEntry> Entries(const ModelIndex* index) const;
  // What an entry with the key attributes of `item` is sorted by.
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

// What one page must contain, given everything that the request selects, in order (SEM-027..030).
struct ModelPage {
  // After filter and projection; they count, though a page may be asked not to show them.
  std::vector<ModelItem> items;
  bool count_only = false;
  int scanned = 0;
  // Nothing when the page is the last.
  std::optional<size_t> last_evaluated;
};

struct ModelPageRequest {
  std::optional<int> limit;
  std::function<bool(const ModelItem&)> filter;  // Null: everything.
  std::set<std::string> projection;              // Empty: everything.
  // Filter and projection look at the item that an entry was made from; and, without a projection, the page
  // shows that (SEM-036).
  bool fetch_items = false;
  bool whole_items = false;
  // Select COUNT: nothing is shown; count_all: and everything is one page.
  bool count_only = false;
  bool count_all = false;
};

ModelPage ReadModelPage(const std::vector<ModelEntry>& selected, size_t start,
                        const ModelPageRequest& request);

}  // namespace itemdb::testing
