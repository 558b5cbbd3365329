#include "tests/storage/database/random/table_model.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/support/statistics.h"

namespace itemdb::testing {
namespace {

constexpr int64_t kPageBytes = 1'048'576;

bool FitsKey(char type, const v1::AttributeValue& value) {
  return ScalarType(value) == type && !(value.has_s() && value.s().empty()) &&
         !(value.has_b() && value.b().empty());
}

}  // namespace

v1::Item ToMessage(const ModelItem& item) {
  v1::Item message;
  for (const auto& [name, value] : item) {
    auto* attribute = message.add_attributes();
    attribute->set_name(name);
    *attribute->mutable_value() = value;
  }
  return message;
}

std::string EncodeItem(const ModelItem& item) { return ToMessage(item).SerializeAsString(); }

int64_t SizeOf(const ModelItem& item) { return SizeOf(ToMessage(item)); }

bool SameValue(const v1::AttributeValue& a, const v1::AttributeValue& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

double NumberOf(const v1::AttributeValue& value) { return std::strtod(value.n().c_str(), nullptr); }

std::string NumberText(double number) {
  bool whole = number == static_cast<double>(static_cast<int64_t>(number));
  char text[64];
  std::snprintf(text, sizeof(text), whole ? "%.0f" : "%.1f", number == 0 ? 0.0 : number);
  return text;
}

char ScalarType(const v1::AttributeValue& value) {
  return value.has_s() ? 'S' : value.has_n() ? 'N' : value.has_b() ? 'B' : 0;
}

int CompareScalars(const v1::AttributeValue& a, const v1::AttributeValue& b) {
  if (a.has_n()) return NumberOf(a) < NumberOf(b) ? -1 : NumberOf(a) > NumberOf(b);
  // std::string compares bytes as unsigned.
  return a.has_s() ? a.s().compare(b.s()) : a.b().compare(b.b());
}

bool ModelKeyLess::operator()(const ModelKey& a, const ModelKey& b) const {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (int order = CompareScalars(a[i], b[i]); order != 0) return order < 0;
  }
  return a.size() < b.size();
}

TableModel::TableModel(const v1::TableDescription& definition) : definition_(definition) {
  for (const auto& attribute : definition.attribute_definitions()) {
    types_[attribute.attribute_name()] = " SNB"[attribute.attribute_type()];
  }
  auto split = [](const auto& schema, std::vector<std::string>* partition, std::vector<std::string>* sort) {
    for (const auto& element : schema) {
      (element.key_type() == v1::KEY_TYPE_HASH ? partition : sort)->push_back(element.attribute_name());
    }
  };
  split(definition.key_schema(), &partition_, &sort_);
  key_names_ = partition_;
  key_names_.insert(key_names_.end(), sort_.begin(), sort_.end());
  auto add_index = [&](const auto& description, bool local) {
    ModelIndex& index = indexes_.emplace_back();
    index.local = local;
    index.name = description.index_name();
    split(description.key_schema(), &index.partition, &index.sort);
    index.projects_all = description.projection().projection_type() == v1::PROJECTION_TYPE_ALL;
    index.projected.insert(key_names_.begin(), key_names_.end());
    for (const auto& element : description.key_schema()) index.projected.insert(element.attribute_name());
    for (const auto& name : description.projection().non_key_attributes()) index.projected.insert(name);
  };
  for (const auto& description : definition.global_secondary_indexes()) add_index(description, false);
  for (const auto& description : definition.local_secondary_indexes()) add_index(description, true);
}

bool TableModel::IsKey(const std::string& attribute) const {
  return std::find(key_names_.begin(), key_names_.end(), attribute) != key_names_.end();
}

char TableModel::KeyType(const std::string& attribute) const {
  auto found = types_.find(attribute);
  return found == types_.end() ? 0 : found->second;
}

std::vector<std::string> TableModel::PositionNames(const ModelIndex* index) const {
  std::vector<std::string> names = key_names_;
  if (index == nullptr) return names;
  names.insert(names.begin(), index->sort.begin(), index->sort.end());
  names.insert(names.begin(), index->partition.begin(), index->partition.end());
  return names;
}

bool TableModel::HasKey(const ModelItem& item) const {
  for (const std::string& name : key_names_) {
    auto found = item.find(name);
    if (found == item.end() || !FitsKey(KeyType(name), found->second)) return false;
  }
  return true;
}

bool TableModel::MismatchesKey(const ModelItem& item, bool key) const {
  if (key && item.size() != key_names_.size()) return true;
  return std::any_of(key_names_.begin(), key_names_.end(), [&](const std::string& name) {
    auto found = item.find(name);
    return found == item.end() || ScalarType(found->second) != KeyType(name);
  });
}

bool TableModel::FitsIndexes(const ModelItem& item) const {
  for (const auto& [name, type] : types_) {
    auto found = item.find(name);
    if (found != item.end() && !FitsKey(type, found->second)) return false;
  }
  return true;
}

ModelItem TableModel::KeyOf(const ModelItem& item) const {
  ModelItem key;
  for (const std::string& name : key_names_) key[name] = item.at(name);
  return key;
}

const ModelItem* TableModel::Find(const ModelItem& key) const {
  auto found = items_.find(KeyValues(key_names_, key));
  return found == items_.end() ? nullptr : &found->second;
}

std::vector<ModelEntry> TableModel::Entries(const ModelIndex* index) const {
  std::vector<ModelEntry> entries;
  for (const auto& [key, item] : items_) {
    if (index == nullptr) {
      entries.push_back({key, item, item});
    } else if (auto entry = EntryOf(*index, item); entry.has_value()) {
      entries.push_back(*std::move(entry));
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const ModelEntry& a, const ModelEntry& b) { return ModelKeyLess()(a.key, b.key); });
  return entries;
}

ModelKey TableModel::PositionKey(const ModelIndex* index, const ModelItem& item) const {
  return KeyValues(PositionNames(index), item);
}

ModelKey TableModel::KeyValues(const std::vector<std::string>& names, const ModelItem& item) {
  ModelKey key;
  for (const std::string& name : names) key.push_back(item.at(name));
  return key;
}

std::optional<ModelEntry> TableModel::EntryOf(const ModelIndex& index, const ModelItem& item) const {
  for (const std::string& name : PositionNames(&index)) {
    if (!item.contains(name)) return std::nullopt;
  }
  ModelEntry entry{PositionKey(&index, item), {}, item};
  for (const auto& [name, value] : item) {
    if (index.Projects(name)) entry.item[name] = value;
  }
  return entry;
}

ModelPage ReadModelPage(const std::vector<ModelEntry>& selected, size_t start,
                        const ModelPageRequest& request) {
  ModelPage page;
  page.count_only = request.count_only;
  int64_t bytes = 0;
  int64_t fetched_bytes = 0;
  for (size_t i = start; i < selected.size(); ++i) {
    const ModelItem& item = request.fetch_items ? selected[i].whole : selected[i].item;
    ++page.scanned;
    bytes += SizeOf(selected[i].item);
    if (request.fetch_items) fetched_bytes += SizeOf(item);
    if (request.filter == nullptr || request.filter(item)) {
      ModelItem shown;
      const bool entire = request.whole_items || !request.projection.empty();
      for (const auto& [name, value] : entire ? item : selected[i].item) {
        if (request.projection.empty() || request.projection.contains(name)) shown[name] = value;
      }
      page.items.push_back(std::move(shown));
    }
    if (request.count_all) continue;
    if (page.scanned == request.limit || bytes >= kPageBytes || fetched_bytes >= kPageBytes) {
      page.last_evaluated = i;
      break;
    }
  }
  return page;
}

}  // namespace itemdb::testing
