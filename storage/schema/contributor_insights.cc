#include "storage/schema/contributor_insights.h"

#include <algorithm>
#include <utility>

#include "spdlog/spdlog.h"
#include "storage/base/limits.h"
#include "storage/keys/key_codec.h"
#include "storage/schema/table_changes.h"

namespace itemdb::storage {
namespace {

using KeyAttributes = std::vector<KeyAttribute>;

// The contributor insights of the table, or of the global index, that a request names; the names of their
// keys.
struct InsightsOf {
  const v1::ContributorInsights* insights;
  const KeyCounts* counts;
  const KeyAttributes* partition;
  const KeyAttributes* sort;
};

absl::Status IndexMissingError(const std::string& index_name) {
  return WithRule("OP-57",
                  NotFoundError("Requested resource not found: Index: " + index_name + " not found"));
}

absl::StatusOr<InsightsOf> FindInsights(const Table& table, const std::string& index_name) {
  if (index_name.empty()) {
    return InsightsOf{&table.definition.contributor_insights(), table.counted_keys.get(), &table.partition,
                      &table.sort};
  }
  for (const auto& description : table.definition.global_secondary_indexes()) {
    if (description.index_name() != index_name) continue;
    const Index* index = table.FindIndex(index_name);
    return InsightsOf{&description.contributor_insights(), index->counted_keys.get(), &index->partition,
                      &index->sort};
  }
  return IndexMissingError(index_name);
}

ContributorInsightsState StateOf(const Table& table, const std::string& index_name, const InsightsOf& of) {
  return {.table_name = table.name,
          .index_name = index_name,
          .insights = *of.insights,
          .has_sort_key = !of.sort->empty()};
}

absl::StatusOr<ContributorInsightsState> Describe(const Table& table, const std::string& index_name) {
  ITEMDB_ASSIGN_OR_RETURN(const InsightsOf of, FindInsights(table, index_name));
  return StateOf(table, index_name, of);
}

absl::StatusOr<ContributorInsightsState> Update(Engine& engine,
                                                const UpdateContributorInsightsRequest& request) {
  std::shared_ptr<const Table> old_table;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    ITEMDB_ASSIGN_OR_RETURN(old_table, view->catalog().Find(request.table_name));
  }
  ITEMDB_ASSIGN_OR_RETURN(ContributorInsightsState state, Describe(*old_table, request.index_name));
  // What is as asked for goes on counting.
  if (state.insights.enabled() == request.enable &&
      (!request.enable || state.insights.throttled_keys_only() == request.throttled_keys_only))
    return state;
  if (request.enable) state.insights.set_throttled_keys_only(request.throttled_keys_only);
  state.insights.set_enabled(request.enable);
  // Never the time of the change before: it tells the counts of the two apart.
  state.insights.set_update_time_ms(
      std::max(engine.time_of_day().NowMicros() / 1'000, state.insights.update_time_ms() + 1));
  v1::TableDescription definition = old_table->definition;
  if (request.index_name.empty()) *definition.mutable_contributor_insights() = state.insights;
  for (auto& index : *definition.mutable_global_secondary_indexes()) {
    if (index.index_name() == request.index_name) *index.mutable_contributor_insights() = state.insights;
  }
  ITEMDB_ASSIGN_OR_RETURN(uint64_t change_sequence,
                          ReplaceTable(engine, WithDefinition(*old_table, std::move(definition))));
  engine.options().log->info(
      "contributor insights changed table={} index={} enabled={} throttled_keys_only={} change_sequence={}",
      old_table->name, request.index_name, state.insights.enabled(), state.insights.throttled_keys_only(),
      change_sequence);
  return state;
}

// The key attributes that are encoded in front of `encoded`.
absl::StatusOr<v1::TopKey> Decode(const TopKeys::Counted& counted, const KeyAttributes& partition,
                                  const KeyAttributes* sort) {
  v1::TopKey key;
  key.set_count(counted.count);
  key.set_error(counted.error);
  std::string_view rest = counted.key;
  for (const KeyAttributes* part : {&partition, sort}) {
    if (part == nullptr) continue;
    for (const KeyAttribute& attribute : *part) {
      ITEMDB_ASSIGN_OR_RETURN(const std::string value, ConsumeKeyValue(&rest));
      v1::Attribute* added = key.mutable_key()->add_attributes();
      added->set_name(attribute.name);
      if (!added->mutable_value()->ParseFromString(value))
        return DataLossError("a counted key does not decode");
    }
  }
  auto& attributes = *key.mutable_key()->mutable_attributes();
  std::sort(attributes.begin(), attributes.end(),
            [](const v1::Attribute& a, const v1::Attribute& b) { return a.name() < b.name(); });
  return key;
}

absl::Status Fill(const std::vector<TopKeys::Counted>& from, const KeyAttributes& partition,
                  const KeyAttributes* sort, google::protobuf::RepeatedPtrField<v1::TopKey>* to) {
  for (const TopKeys::Counted& counted : from) {
    ITEMDB_ASSIGN_OR_RETURN(*to->Add(), Decode(counted, partition, sort));
  }
  return absl::OkStatus();
}

}  // namespace

void UpdateContributorInsights(Engine& engine, UpdateContributorInsightsRequest request,
                               Done<ContributorInsightsState> done) {
  RunDefinition(
      engine, [&engine, request = std::move(request)] { return Update(engine, request); }, std::move(done));
}

absl::StatusOr<ContributorInsightsState> DescribeContributorInsights(const Engine& engine,
                                                                     const std::string& table_name,
                                                                     const std::string& index_name) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  ITEMDB_ASSIGN_OR_RETURN(auto table, view->catalog().Find(table_name));
  return Describe(*table, index_name);
}

absl::StatusOr<std::vector<ContributorInsightsState>> ListContributorInsights(const Engine& engine,
                                                                              const std::string& table_name) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  std::vector<ContributorInsightsState> all;
  const auto add = [&all](const Table& table) -> absl::Status {
    std::vector<std::string> names = {""};
    for (const auto& index : table.definition.global_secondary_indexes()) names.push_back(index.index_name());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      ITEMDB_ASSIGN_OR_RETURN(ContributorInsightsState state, Describe(table, name));
      if (state.insights.enabled()) all.push_back(std::move(state));
    }
    return absl::OkStatus();
  };
  if (!table_name.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(auto table, view->catalog().Find(table_name));
    ITEMDB_RETURN_IF_ERROR(add(*table));
    return all;
  }
  for (const auto& table : view->catalog()) {
    ITEMDB_RETURN_IF_ERROR(add(*table));
  }
  return all;
}

absl::StatusOr<v1::GetTopKeysReply> GetTopKeys(const Engine& engine, const v1::GetTopKeysRequest& request) {
  const int limit = request.has_limit() ? request.limit() : kDefaultTopKeys;
  if (limit < 1 || limit > kMaxTopKeys) {
    return ValidationError("OP-56", "limit is " + std::to_string(limit) + "; it must be from 1 to " +
                                        std::to_string(kMaxTopKeys));
  }
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  ITEMDB_ASSIGN_OR_RETURN(auto table, view->catalog().Find(request.table_name()));
  ITEMDB_ASSIGN_OR_RETURN(const InsightsOf of, FindInsights(*table, request.index_name()));
  v1::GetTopKeysReply reply;
  if (of.counts == nullptr) return reply;
  reply.set_start_time_us(absl::ToUnixMicros(of.counts->start()));
  reply.set_throttled_keys_only(of.counts->throttled_only());
  const KeyCounts::Lists used = of.counts->Used(static_cast<size_t>(limit));
  const KeyCounts::Lists throttled = of.counts->Throttled(static_cast<size_t>(limit));
  ITEMDB_RETURN_IF_ERROR(Fill(used.partition_keys, *of.partition, nullptr, reply.mutable_partition_keys()));
  ITEMDB_RETURN_IF_ERROR(Fill(used.keys, *of.partition, of.sort, reply.mutable_keys()));
  ITEMDB_RETURN_IF_ERROR(
      Fill(throttled.partition_keys, *of.partition, nullptr, reply.mutable_throttled_partition_keys()));
  ITEMDB_RETURN_IF_ERROR(Fill(throttled.keys, *of.partition, of.sort, reply.mutable_throttled_keys()));
  return reply;
}

}  // namespace itemdb::storage
