#include "storage/schema/contributor_insights.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
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

v1::ContributorInsightsSummary SummaryOf(const Table& table, const std::string& index_name,
                                         const InsightsOf& of) {
  v1::ContributorInsightsSummary summary;
  summary.set_table_name(table.name);
  summary.set_index_name(index_name);
  summary.set_contributor_insights_status(of.insights->enabled() ? v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLED
                                                                 : v1::CONTRIBUTOR_INSIGHTS_STATUS_DISABLED);
  if (of.insights->enabled())
    summary.set_contributor_insights_mode(of.insights->throttled_keys_only()
                                              ? v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS
                                              : v1::CONTRIBUTOR_INSIGHTS_MODE_ACCESSED_AND_THROTTLED_KEYS);
  summary.set_last_update_time_ms(of.insights->update_time_ms());
  summary.set_has_sort_key(!of.sort->empty());
  return summary;
}

absl::StatusOr<v1::ContributorInsightsSummary> Describe(const Table& table, const std::string& index_name) {
  ITEMDB_ASSIGN_OR_RETURN(const InsightsOf of, FindInsights(table, index_name));
  return SummaryOf(table, index_name, of);
}

absl::Status CheckUpdate(const v1::UpdateContributorInsightsRequest& request) {
  const v1::ContributorInsightsAction action = request.contributor_insights_action();
  if (action != v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE && action != v1::CONTRIBUTOR_INSIGHTS_ACTION_DISABLE)
    return ValidationError("OP-56", "contributor_insights_action is " + std::to_string(action) +
                                        "; it must be ENABLE (1) or DISABLE (2)");
  if (!v1::ContributorInsightsMode_IsValid(request.contributor_insights_mode()))
    return ValidationError("OP-56", "contributor_insights_mode is " +
                                        std::to_string(request.contributor_insights_mode()) +
                                        "; it must be ACCESSED_AND_THROTTLED_KEYS (1) or THROTTLED_KEYS (2)");
  return absl::OkStatus();
}

absl::StatusOr<v1::UpdateContributorInsightsReply> Update(
    Engine& engine, const v1::UpdateContributorInsightsRequest& request) {
  ITEMDB_RETURN_IF_ERROR(CheckUpdate(request));
  v1::UpdateContributorInsightsReply reply;
  std::shared_ptr<const Table> old_table;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    ITEMDB_ASSIGN_OR_RETURN(old_table, view->catalog().Find(request.table_name()));
    reply.set_change_sequence(view->change_sequence());
  }
  ITEMDB_ASSIGN_OR_RETURN(const InsightsOf of, FindInsights(*old_table, request.index_name()));
  v1::ContributorInsights insights = *of.insights;
  const bool enable = request.contributor_insights_action() == v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE;
  const bool throttled_keys_only =
      request.contributor_insights_mode() == v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS;
  // What is as asked for goes on counting.
  if (insights.enabled() == enable && (!enable || insights.throttled_keys_only() == throttled_keys_only)) {
    *reply.mutable_contributor_insights() = SummaryOf(*old_table, request.index_name(), of);
    return reply;
  }
  if (enable) insights.set_throttled_keys_only(throttled_keys_only);
  insights.set_enabled(enable);
  // Never the time of the change before: it tells the counts of the two apart.
  insights.set_update_time_ms(
      std::max(engine.time_of_day().NowMicros() / 1'000, insights.update_time_ms() + 1));
  v1::TableDescription definition = old_table->definition;
  if (request.index_name().empty()) *definition.mutable_contributor_insights() = insights;
  for (auto& index : *definition.mutable_global_secondary_indexes()) {
    if (index.index_name() == request.index_name()) *index.mutable_contributor_insights() = insights;
  }
  auto new_table = WithDefinition(*old_table, std::move(definition));
  ITEMDB_ASSIGN_OR_RETURN(*reply.mutable_contributor_insights(), Describe(*new_table, request.index_name()));
  ITEMDB_ASSIGN_OR_RETURN(uint64_t change_sequence, ReplaceTable(engine, std::move(new_table)));
  reply.set_change_sequence(change_sequence);
  engine.options().log->info(
      "contributor insights changed table={} index={} enabled={} throttled_keys_only={} change_sequence={}",
      old_table->name, request.index_name(), insights.enabled(), insights.throttled_keys_only(),
      change_sequence);
  return reply;
}

// A table, and an index or nothing for the table itself; pages are in this order.
using NamesOfInsights = std::pair<std::string, std::string>;

// A token is the names of the table and index that a page ends with, parted by a slash.
std::string InsightsToken(const v1::ContributorInsightsSummary& last) {
  return absl::WebSafeBase64Escape(last.table_name() + "/" + last.index_name());
}

// Where the page before ended, which is nothing before the first.
absl::StatusOr<std::optional<NamesOfInsights>> ReadInsightsToken(const std::string& token) {
  if (token.empty()) return std::nullopt;
  std::string names;
  const bool is_text = absl::WebSafeBase64Unescape(token, &names);
  const size_t slash = names.find('/');
  if (!is_text || slash == std::string::npos || absl::WebSafeBase64Escape(names) != token)
    return ValidationError("OP-58", "Invalid Request: Provided nextToken is invalid");
  return NamesOfInsights(names.substr(0, slash), names.substr(slash + 1));
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

void UpdateContributorInsights(Engine& engine, v1::UpdateContributorInsightsRequest request,
                               Done<v1::UpdateContributorInsightsReply> done) {
  RunDefinition(
      engine, [&engine, request = std::move(request)] { return Update(engine, request); }, std::move(done));
}

absl::StatusOr<v1::DescribeContributorInsightsReply> DescribeContributorInsights(
    const Engine& engine, const v1::DescribeContributorInsightsRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  ITEMDB_ASSIGN_OR_RETURN(auto table, view->catalog().Find(request.table_name()));
  v1::DescribeContributorInsightsReply reply;
  reply.set_change_sequence(view->change_sequence());
  ITEMDB_ASSIGN_OR_RETURN(*reply.mutable_contributor_insights(), Describe(*table, request.index_name()));
  return reply;
}

absl::StatusOr<v1::ListContributorInsightsReply> ListContributorInsights(
    const Engine& engine, const v1::ListContributorInsightsRequest& request) {
  const int limit = request.has_max_results() ? request.max_results() : kMaxListContributorInsights;
  if (limit < 1 || limit > kMaxListContributorInsights)
    return ValidationError("OP-58", "max_results is " + std::to_string(limit) + "; it must be from 1 to " +
                                        std::to_string(kMaxListContributorInsights));
  ITEMDB_ASSIGN_OR_RETURN(const auto after, ReadInsightsToken(request.next_token()));
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  v1::ListContributorInsightsReply reply;
  reply.set_change_sequence(view->change_sequence());
  auto& page = *reply.mutable_contributor_insights_summaries();
  const auto add = [&](const Table& table) -> absl::Status {
    std::vector<std::string> names = {""};
    for (const auto& index : table.definition.global_secondary_indexes()) names.push_back(index.index_name());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (after.has_value() && NamesOfInsights(table.name, name) <= *after) continue;
      ITEMDB_ASSIGN_OR_RETURN(const InsightsOf of, FindInsights(table, name));
      if (!of.insights->enabled()) continue;
      if (page.size() == limit) {
        reply.set_next_token(InsightsToken(page.Get(limit - 1)));
        return absl::OkStatus();
      }
      *page.Add() = SummaryOf(table, name, of);
    }
    return absl::OkStatus();
  };
  if (!request.table_name().empty()) {
    ITEMDB_ASSIGN_OR_RETURN(auto table, view->catalog().Find(request.table_name()));
    ITEMDB_RETURN_IF_ERROR(add(*table));
    return reply;
  }
  for (const auto& table : view->catalog()) {
    ITEMDB_RETURN_IF_ERROR(add(*table));
    if (!reply.next_token().empty()) break;
  }
  return reply;
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
