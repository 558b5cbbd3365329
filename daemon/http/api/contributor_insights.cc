#include "daemon/http/api/contributor_insights.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace itemdb::http::json {
namespace {

using storage::ContributorInsightsState;
using storage::JsonWriter;

constexpr std::string_view kThrottledKeysMode = "THROTTLED_KEYS";
constexpr std::string_view kAllKeysMode = "ACCESSED_AND_THROTTLED_KEYS";
// The service's limit for names of rules in CloudWatch.
constexpr size_t kMaxInsightsRuleBytes = 128;
constexpr size_t kMaxInsightsResults = 100;

struct DescribeInsightsRequest {
  std::string table_name;
  std::string index_name;
};

struct ListInsightsRequest {
  std::string table_name;
  size_t max_results = kMaxInsightsResults;
  // Where the last page ended: table and index.
  std::optional<std::pair<std::string, std::string>> after;
};

absl::StatusOr<storage::UpdateContributorInsightsRequest> ReadUpdateInsights(const JsonObject& object) {
  return storage::UpdateContributorInsightsRequest{
      .table_name = std::string(TextOf(object, "TableName")),
      .index_name = std::string(TextOf(object, "IndexName")),
      .enable = TextOf(object, "ContributorInsightsAction") == "ENABLE",
      .throttled_keys_only = TextOf(object, "ContributorInsightsMode") == kThrottledKeysMode};
}

absl::StatusOr<DescribeInsightsRequest> ReadDescribeInsights(const JsonObject& object) {
  return DescribeInsightsRequest{std::string(TextOf(object, "TableName")),
                                 std::string(TextOf(object, "IndexName"))};
}

// A token is the names of the table and index that a page ends with, parted by a slash.
std::string InsightsTokenOf(const ContributorInsightsState& last) {
  return absl::WebSafeBase64Escape(last.table_name + "/" + last.index_name);
}

absl::StatusOr<ListInsightsRequest> ReadListInsights(const JsonObject& object) {
  ListInsightsRequest request{.table_name = std::string(TextOf(object, "TableName")), .after = std::nullopt};
  // The service takes numbers below 1 as if there were none.
  if (const std::optional<int64_t> most = NumberOf(object, "MaxResults"); most.has_value() && *most > 0)
    request.max_results = static_cast<size_t>(*most);
  if (!HasMember(object, "NextToken")) return request;
  std::string names;
  const std::string token(TextOf(object, "NextToken"));
  const bool is_text = absl::WebSafeBase64Unescape(token, &names);
  const size_t slash = names.find('/');
  if (!is_text || slash == std::string::npos || absl::WebSafeBase64Escape(names) != token)
    return storage::ValidationError("Invalid Request: Provided nextToken is invalid");
  request.after.emplace(names.substr(0, slash), names.substr(slash + 1));
  return request;
}

void WriteInsightsNames(const ContributorInsightsState& state, JsonWriter* writer) {
  writer->Name("TableName").String(state.table_name);
  if (!state.index_name.empty()) writer->Name("IndexName").String(state.index_name);
}

void WriteInsightsMode(const ContributorInsightsState& state, JsonWriter* writer) {
  writer->Name("ContributorInsightsMode")
      .String(state.insights.throttled_keys_only() ? kThrottledKeysMode : kAllKeysMode);
}

void WriteInsightsStatus(std::string_view status, JsonWriter* writer) {
  writer->Name("ContributorInsightsStatus").String(status);
}

// The names that the service would give to its rules in CloudWatch.
void WriteInsightsRules(const ContributorInsightsState& state, JsonWriter* writer) {
  writer->Name("ContributorInsightsRuleList").BeginArray();
  const std::string end = absl::StrCat("-", state.insights.update_time_ms());
  const std::string& name = state.index_name.empty() ? state.table_name : state.index_name;
  for (const char* kind : {"PKC", "SKC", "PKT", "SKT"}) {
    if (kind[0] == 'S' && !state.has_sort_key) continue;
    if (kind[2] == 'C' && state.insights.throttled_keys_only()) continue;
    std::string rule = absl::StrCat("DynamoDBContributorInsights-", kind, "-", name);
    rule.resize(std::min(rule.size(), kMaxInsightsRuleBytes - end.size()));
    writer->String(rule + end);
  }
  writer->EndArray();
}

template <typename Write>
void AnswerInsights(JsonAnswer answer, Write write) {
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject();
  write(&writer);
  writer.EndObject();
  std::move(answer).Succeed(std::move(body));
}

void ExecuteUpdateInsights(JsonCall call, storage::UpdateContributorInsightsRequest request) {
  const bool enable = request.enable;
  storage::Database& database = call.database;
  database.UpdateContributorInsights(
      std::move(request),
      [answer = std::move(call.answer), enable](absl::StatusOr<ContributorInsightsState> state) mutable {
        if (!state.ok()) return std::move(answer).Fail(state.status());
        AnswerInsights(std::move(answer), [&](JsonWriter* writer) {
          WriteInsightsNames(*state, writer);
          // It is done already, but programs wait for what they know.
          WriteInsightsStatus(enable ? "ENABLING" : "DISABLING", writer);
          if (enable) WriteInsightsMode(*state, writer);
        });
      });
}

void ExecuteDescribeInsights(JsonCall call, const DescribeInsightsRequest& request) {
  const auto state = call.database.DescribeContributorInsights(request.table_name, request.index_name);
  if (!state.ok()) return std::move(call.answer).Fail(state.status());
  AnswerInsights(std::move(call.answer), [&](JsonWriter* writer) {
    WriteInsightsNames(*state, writer);
    if (state->insights.enabled()) WriteInsightsRules(*state, writer);
    WriteInsightsStatus(state->insights.enabled() ? "ENABLED" : "DISABLED", writer);
    if (state->insights.update_time_ms() != 0)
      writer->Name("LastUpdateDateTime").Time(state->insights.update_time_ms());
    if (state->insights.enabled()) WriteInsightsMode(*state, writer);
  });
}

void ExecuteListInsights(JsonCall call, const ListInsightsRequest& request) {
  auto all = call.database.ListContributorInsights(request.table_name);
  if (!all.ok()) return std::move(call.answer).Fail(all.status());
  auto from = all->begin();
  if (request.after.has_value()) {
    from = std::find_if(all->begin(), all->end(), [&](const ContributorInsightsState& state) {
      return std::tie(state.table_name, state.index_name) >
             std::tie(request.after->first, request.after->second);
    });
  }
  const auto count = std::min(request.max_results, static_cast<size_t>(all->end() - from));
  const auto end = from + static_cast<std::ptrdiff_t>(count);
  AnswerInsights(std::move(call.answer), [&](JsonWriter* writer) {
    writer->Name("ContributorInsightsSummaries").BeginArray();
    for (auto state = from; state != end; ++state) {
      writer->BeginObject();
      WriteInsightsNames(*state, writer);
      WriteInsightsStatus("ENABLED", writer);
      WriteInsightsMode(*state, writer);
      writer->EndObject();
    }
    writer->EndArray();
    if (end != all->end()) writer->Name("NextToken").String(InsightsTokenOf(*(end - 1)));
  });
}

}  // namespace

void UpdateContributorInsights(JsonCall call) {
  HandleOperation<ReadUpdateInsights, ExecuteUpdateInsights>(std::move(call));
}
void DescribeContributorInsights(JsonCall call) {
  HandleOperation<ReadDescribeInsights, ExecuteDescribeInsights>(std::move(call));
}
void ListContributorInsights(JsonCall call) {
  HandleOperation<ReadListInsights, ExecuteListInsights>(std::move(call));
}

}  // namespace itemdb::http::json
