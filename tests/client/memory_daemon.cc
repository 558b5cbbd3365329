#include "tests/client/memory_daemon.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "client/convert.h"

namespace itemdb {
namespace {

grpc::Status Unsupported(const std::string& what) {
  return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "the memory daemon does not know " + what);
}

// Returns a number below, equal to or above zero. Only for strings and numbers, the key types of the tests.
int Compare(const Value& a, const Value& b) {
  if (a.string_or_null() != nullptr && b.string_or_null() != nullptr) {
    return a.string_or_null()->compare(*b.string_or_null());
  }
  if (a.number_or_null() != nullptr && b.number_or_null() != nullptr) {
    return *a.number_or_null() < *b.number_or_null()    ? -1
           : *a.number_or_null() == *b.number_or_null() ? 0
                                                        : 1;
  }
  return a.type() < b.type() ? -1 : 1;
}

std::vector<std::string> KeyNames(const std::vector<KeySchemaElement>& key_schema) {
  std::vector<std::string> names;
  for (const KeySchemaElement& element : key_schema) names.push_back(element.attribute_name);
  return names;
}

Item Pick(const Item& item, const std::set<std::string>& names) {
  Item picked;
  for (const Attribute& attribute : item) {
    if (names.contains(attribute.name)) picked.Set(attribute.name, attribute.value);
  }
  return picked;
}

const GlobalSecondaryIndex* FindIndexOrNull(const TableDefinition& table, const std::string& index_name) {
  for (const GlobalSecondaryIndex& index : table.global_secondary_indexes) {
    if (index.index_name == index_name) return &index;
  }
  return nullptr;
}

// The names of the attributes by which entries are sorted: those of the index key, then those of the table
// key.
std::vector<std::string> OrderOf(const TableDefinition& table, const GlobalSecondaryIndex* index) {
  std::vector<std::string> names;
  if (index != nullptr) names = KeyNames(index->key_schema);
  for (const std::string& name : KeyNames(table.key_schema)) names.push_back(name);
  return names;
}

// The items that have an entry in the index, complete, in index order.
std::vector<Item> Indexed(const TableDefinition& table, const GlobalSecondaryIndex* index,
                          std::vector<Item> items) {
  const std::vector<std::string> order = OrderOf(table, index);
  std::erase_if(items, [&](const Item& item) {
    return std::any_of(order.begin(), order.end(),
                       [&](const std::string& name) { return !item.contains(name); });
  });
  std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    for (const std::string& name : order) {
      const int compared = Compare(*a.find_or_null(name), *b.find_or_null(name));
      if (compared != 0) return compared < 0;
    }
    return false;
  });
  return items;
}

// The attributes of `item` that the index projects.
Item Projected(const TableDefinition& table, const GlobalSecondaryIndex* index, const Item& item) {
  if (index == nullptr || index->projection.projection_type == ProjectionType::kAll) return item;
  std::set<std::string> names(index->projection.non_key_attributes.begin(),
                              index->projection.non_key_attributes.end());
  for (const std::string& name : OrderOf(table, index)) names.insert(name);
  return Pick(item, names);
}

// `attribute` between `low` and `high`; no `high` means no upper bound.
struct Clause {
  std::string attribute;
  Value low;
  std::optional<Value> high;
};

// Empty for a condition that this daemon does not implement.
std::optional<std::vector<Clause>> ParseKeyCondition(const v1::QueryRequest& request) {
  const auto value = [&](const std::string& placeholder) {
    return FromProto(request.expression_attribute_values().at(placeholder)).value();
  };
  std::istringstream words(request.key_condition_expression());
  std::vector<Clause> clauses;
  std::string name, comparator, operand, word;
  while (words >> name >> comparator >> operand) {
    if (!request.expression_attribute_names().contains(name)) return std::nullopt;
    Clause& clause = clauses.emplace_back();
    clause.attribute = request.expression_attribute_names().at(name);
    clause.low = value(operand);
    if (comparator == "=") {
      clause.high = clause.low;
    } else if (comparator == "BETWEEN") {
      if (!(words >> word >> operand) || word != "AND") return std::nullopt;
      clause.high = value(operand);
    } else if (comparator != ">=") {
      return std::nullopt;
    }
    if (words >> word && word != "AND") return std::nullopt;
  }
  return clauses;
}

bool Matches(const Item& item, const std::vector<Clause>& clauses) {
  return std::all_of(clauses.begin(), clauses.end(), [&](const Clause& clause) {
    const Value& value = *item.find_or_null(clause.attribute);
    return Compare(value, clause.low) >= 0 && (!clause.high.has_value() || Compare(value, *clause.high) <= 0);
  });
}

}  // namespace

MemoryDaemon::MemoryDaemon() {
  daemon_.create_table = [this](const auto& request, auto* reply) { return CreateTable(request, reply); };
  daemon_.describe_table = [this](const auto& request, auto* reply) {
    std::lock_guard lock(mutex_);
    *reply->mutable_table() = DescribedAs(tables_[request.table_name()].request);
    return grpc::Status::OK;
  };
  daemon_.get_item = [this](const auto& request, auto* reply) { return GetItem(request, reply); };
  daemon_.query = [this](const auto& request, auto* reply) { return Query(request, reply); };
  daemon_.transact_write_items = [this](const auto& request, auto* reply) {
    return TransactWriteItems(request, reply);
  };
}

std::vector<v1::QueryRequest> MemoryDaemon::queries() const {
  std::lock_guard lock(mutex_);
  return queries_;
}

int MemoryDaemon::transactions() const {
  std::lock_guard lock(mutex_);
  return transactions_;
}

size_t MemoryDaemon::item_count() const {
  std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [name, table] : tables_) count += table.items.size();
  return count;
}

std::vector<Item> MemoryDaemon::Entries(const std::string& table_name, const std::string& index_name) const {
  std::lock_guard lock(mutex_);
  const Table& table = tables_.at(table_name);
  const GlobalSecondaryIndex* index = FindIndexOrNull(table.definition, index_name);
  std::vector<Item> entries;
  for (const Item& item : Indexed(table.definition, index, table.items)) {
    entries.push_back(Projected(table.definition, index, item));
  }
  return entries;
}

grpc::Status MemoryDaemon::CreateTable(const v1::CreateTableRequest& request, v1::CreateTableReply* reply) {
  std::lock_guard lock(mutex_);
  if (tables_.contains(request.table_name())) {
    return ErrorReply(grpc::StatusCode::ALREADY_EXISTS, "RESOURCE_IN_USE", "there is one");
  }
  Table& table = tables_[request.table_name()];
  table.request = request;
  *reply->mutable_table() = DescribedAs(request);
  table.definition = FromProto(reply->table()).definition;
  return grpc::Status::OK;
}

grpc::Status MemoryDaemon::GetItem(const v1::GetItemRequest& request, v1::GetItemReply* reply) {
  std::lock_guard lock(mutex_);
  const Table& table = tables_[request.table_name()];
  const std::vector<std::string> names = KeyNames(table.definition.key_schema);
  for (const Item& item : table.items) {
    if (Pick(item, {names.begin(), names.end()}) != FromProto(request.key()).value()) continue;
    const Item found =
        request.projection_expression().empty()
            ? item
            : Pick(item, {request.expression_attribute_names().at(request.projection_expression())});
    (void)ToProto(found, reply->mutable_item());
  }
  return grpc::Status::OK;
}

grpc::Status MemoryDaemon::Query(const v1::QueryRequest& request, v1::QueryReply* reply) {
  std::lock_guard lock(mutex_);
  queries_.push_back(request);
  const Table& table = tables_[request.table_name()];
  const GlobalSecondaryIndex* index = FindIndexOrNull(table.definition, request.index_name());
  if (index == nullptr && !request.index_name().empty())
    return Unsupported("the index " + request.index_name());
  const std::optional<std::vector<Clause>> clauses = ParseKeyCondition(request);
  if (!clauses.has_value()) return Unsupported(request.key_condition_expression());
  const std::vector<std::string> order = OrderOf(table.definition, index);
  const auto key_of = [&](const Item& item) { return Pick(item, {order.begin(), order.end()}); };

  std::vector<Item> items = Indexed(table.definition, index, table.items);
  if (request.has_exclusive_start_key()) {
    const Item start = FromProto(request.exclusive_start_key()).value();
    const auto at =
        std::find_if(items.begin(), items.end(), [&](const Item& item) { return key_of(item) == start; });
    if (at == items.end()) return Unsupported("this start key");
    items.erase(items.begin(), at + 1);
  }
  std::erase_if(items, [&](const Item& item) { return !Matches(item, *clauses); });
  for (size_t i = 0; i < std::min(items.size(), page_items); ++i) {
    (void)ToProto(Projected(table.definition, index, items[i]), reply->add_items());
  }
  // Returns a last key even if the page ends with the last item, as a daemon may do.
  if (items.size() >= page_items)
    (void)ToProto(key_of(items[page_items - 1]), reply->mutable_last_evaluated_key());
  return grpc::Status::OK;
}

grpc::Status MemoryDaemon::TransactWriteItems(const v1::TransactWriteItemsRequest& request,
                                              v1::TransactWriteItemsReply* reply) {
  std::lock_guard lock(mutex_);
  v1::TransactionCancelled cancelled;
  bool failed = false;
  for (const v1::TransactWriteItem& action : request.transact_items()) {
    if (!action.has_put() || action.put().condition_expression() != "attribute_not_exists(#pk)") {
      return Unsupported("this action");
    }
    const Table& table = tables_[action.put().table_name()];
    const std::vector<std::string> names = KeyNames(table.definition.key_schema);
    const Item key = Pick(FromProto(action.put().item()).value(), {names.begin(), names.end()});
    const bool exists = std::any_of(table.items.begin(), table.items.end(), [&](const Item& item) {
      return Pick(item, {names.begin(), names.end()}) == key;
    });
    failed |= exists;
    cancelled.add_reasons()->set_code(exists ? v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED
                                             : v1::CANCELLATION_CODE_NONE);
  }
  if (failed) {
    *reply->mutable_cancelled() = cancelled;
    return grpc::Status::OK;
  }
  for (const v1::TransactWriteItem& action : request.transact_items()) {
    tables_[action.put().table_name()].items.push_back(FromProto(action.put().item()).value());
  }
  ++transactions_;
  reply->mutable_committed();
  return grpc::Status::OK;
}

}  // namespace itemdb
