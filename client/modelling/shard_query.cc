#include <algorithm>
#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/errors_internal.h"
#include "client/modelling/merge.h"
#include "client/modelling/position.h"
#include "common/status_macros.h"
#include "itemdb/sharding.h"

namespace itemdb {
namespace {

QueryRequest OfShard(const ShardedQuery& query, const Value& shard) {
  QueryRequest request = query.request;
  request.expression_attribute_values[query.shard_value] = shard;
  request.exclusive_start_key.reset();
  return request;
}

MergeOrder OrderOf(const ShardedQuery& query) {
  return {.attributes = query.order_by, .descending = !query.request.scan_index_forward};
}

// A position is {"keys": names of the key attributes, "shards": a list with one element per shard: {} before
// the first item, the key of the last returned item, or NULL at the end of the shard}.
constexpr char kKeys[] = "keys";
constexpr char kShards[] = "shards";

struct ShardState {
  // Empty: the read starts at the beginning.
  Item last;
  bool done = false;
};

struct Position {
  std::vector<std::string> key_attributes;
  std::vector<ShardState> shards;
};

std::string Encode(const Position& position) {
  std::vector<Value> shards;
  for (const ShardState& shard : position.shards) {
    shards.push_back(shard.done ? Value::Null() : Value::Map(shard.last));
  }
  return EncodePosition(
      {{kKeys, Value::StringSet(position.key_attributes)}, {kShards, Value::List(std::move(shards))}});
}

absl::StatusOr<Position> Decode(const std::string& text, size_t shards) {
  ITEMDB_ASSIGN_OR_RETURN(Item decoded, DecodePosition(text));
  const Value* keys = decoded.find_or_null(kKeys);
  const Value* states = decoded.find_or_null(kShards);
  if (keys == nullptr || keys->string_set_or_null() == nullptr || states == nullptr ||
      states->list_or_null() == nullptr || states->list_or_null()->size() != shards) {
    return WrongPosition(text);
  }
  Position position = {.key_attributes = *keys->string_set_or_null(), .shards = {}};
  for (const Value& state : *states->list_or_null()) {
    if (!state.is_null() && state.map_or_null() == nullptr) return WrongPosition(text);
    position.shards.push_back(
        {.last = state.is_null() ? Item() : *state.map_or_null(), .done = state.is_null()});
  }
  return position;
}

// The start of a read: the names of the key attributes of the table and of the queried index.
absl::StatusOr<Position> FirstPosition(const Client& client, const ShardedQuery& query,
                                       const CallOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(TableResult table, client.DescribeTable(query.request.table_name, options));
  Position position = {.key_attributes = {}, .shards = std::vector<ShardState>(query.shards.size())};
  const TableDefinition& definition = table.table.definition;
  const auto add = [&](const std::vector<KeySchemaElement>& schema) {
    for (const KeySchemaElement& element : schema) {
      std::vector<std::string>& names = position.key_attributes;
      if (std::find(names.begin(), names.end(), element.attribute_name) == names.end()) {
        names.push_back(element.attribute_name);
      }
    }
  };
  add(definition.key_schema);
  for (const auto& index : definition.global_secondary_indexes) {
    if (index.index_name == query.request.index_name) add(index.key_schema);
  }
  for (const auto& index : definition.local_secondary_indexes) {
    if (index.index_name == query.request.index_name) add(index.key_schema);
  }
  return position;
}

absl::StatusOr<Item> KeyOf(const Item& item, const std::vector<std::string>& key_attributes) {
  Item key;
  for (const std::string& name : key_attributes) {
    const Value* value = item.find_or_null(name);
    if (value == nullptr) {
      return MakeError(
          absl::StatusCode::kInvalidArgument, kReasonValidation,
          absl::StrCat("paging over shards needs the key attribute ", name, " in the projection"));
    }
    key.Set(name, *value);
  }
  return key;
}

}  // namespace

ItemRange QueryShards(const Client& client, ShardedQuery query, CallOptions options) {
  std::vector<FetchPage> sources;
  for (const Value& shard : query.shards) {
    sources.push_back([client = client, request = OfShard(query, shard),
                       options](const std::optional<Item>& exclusive_start_key) mutable {
      request.exclusive_start_key = exclusive_start_key;
      return client.Query(request, options);
    });
  }
  return MergePages(std::move(sources), OrderOf(query));
}

absl::StatusOr<ShardedPage> QueryShardsPage(const Client& client, const ShardedQuery& query, int limit,
                                            const std::string& position_text, CallOptions options) {
  if (limit < 1) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     absl::StrCat("a page of ", limit, " items: at least 1 is needed"));
  }
  ITEMDB_ASSIGN_OR_RETURN(Position position, position_text.empty()
                                                 ? FirstPosition(client, query, options)
                                                 : Decode(position_text, query.shards.size()));

  std::vector<std::future<absl::StatusOr<ItemPage>>> fetches(query.shards.size());
  for (size_t i = 0; i < query.shards.size(); ++i) {
    const ShardState& shard = position.shards[i];
    if (shard.done) continue;
    QueryRequest request = OfShard(query, query.shards[i]);
    request.limit = limit;
    if (!shard.last.empty()) request.exclusive_start_key = shard.last;
    fetches[i] = client.QueryAsync(request, options);
  }
  std::vector<ItemPage> pages(query.shards.size());
  absl::Status failure;
  for (size_t i = 0; i < fetches.size(); ++i) {
    if (!fetches[i].valid()) continue;
    absl::StatusOr<ItemPage> page = fetches[i].get();
    if (!page.ok()) {
      failure.Update(page.status());
      continue;
    }
    // Checked even if no key is needed in the end, so that a wrong projection fails at once or never.
    if (!page->items.empty()) failure.Update(KeyOf(page->items[0], position.key_attributes).status());
    pages[i] = *std::move(page);
  }
  if (!failure.ok()) return failure;

  ShardedPage result;
  const MergeOrder order = OrderOf(query);
  std::vector<size_t> used(pages.size());
  while (result.items.size() < static_cast<size_t>(limit)) {
    size_t first = pages.size();
    bool blocked = false;
    for (size_t i = 0; i < pages.size(); ++i) {
      if (used[i] == pages[i].items.size()) {
        // The next item of this shard is unknown, so no later item may be returned yet.
        blocked = blocked || pages[i].last_evaluated_key.has_value();
      } else if (first == pages.size() ||
                 order.Before(pages[i].items[used[i]], pages[first].items[used[first]])) {
        first = i;
      }
    }
    if (blocked || first == pages.size()) break;
    result.items.push_back(pages[first].items[used[first]++]);
  }

  bool all_done = true;
  for (size_t i = 0; i < pages.size(); ++i) {
    ShardState& shard = position.shards[i];
    if (!shard.done && used[i] == pages[i].items.size()) {
      shard.done = !pages[i].last_evaluated_key.has_value();
      if (!shard.done) shard.last = *pages[i].last_evaluated_key;
    } else if (used[i] > 0) {
      ITEMDB_ASSIGN_OR_RETURN(Item key, KeyOf(pages[i].items[used[i] - 1], position.key_attributes));
      shard.last = std::move(key);
    }
    all_done = all_done && shard.done;
  }
  if (!all_done) result.position = Encode(position);
  return result;
}

}  // namespace itemdb
