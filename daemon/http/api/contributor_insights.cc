#include "daemon/http/api/contributor_insights.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/http/api/shown_statuses.h"

namespace itemdb::http::json {
namespace {

using storage::JsonWriter;
using Summary = v1::ContributorInsightsSummary;

constexpr std::string_view kThrottledKeysMode = "THROTTLED_KEYS";
constexpr std::string_view kAllKeysMode = "ACCESSED_AND_THROTTLED_KEYS";
// The service's limit for names of rules in CloudWatch.
constexpr size_t kMaxInsightsRuleBytes = 128;

absl::StatusOr<v1::UpdateContributorInsightsRequest> ReadUpdateInsights(const JsonObject& object) {
  v1::UpdateContributorInsightsRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  request.set_index_name(std::string(TextOf(object, "IndexName")));
  request.set_contributor_insights_action(TextOf(object, "ContributorInsightsAction") == "ENABLE"
                                              ? v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE
                                              : v1::CONTRIBUTOR_INSIGHTS_ACTION_DISABLE);
  if (TextOf(object, "ContributorInsightsMode") == kThrottledKeysMode)
    request.set_contributor_insights_mode(v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS);
  return request;
}

absl::StatusOr<v1::DescribeContributorInsightsRequest> ReadDescribeInsights(const JsonObject& object) {
  v1::DescribeContributorInsightsRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  request.set_index_name(std::string(TextOf(object, "IndexName")));
  return request;
}

absl::StatusOr<v1::ListContributorInsightsRequest> ReadListInsights(const JsonObject& object) {
  v1::ListContributorInsightsRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  // The service takes numbers below 1 as if there were none.
  if (const std::optional<int64_t> most = NumberOf(object, "MaxResults"); most.has_value() && *most > 0)
    request.set_max_results(static_cast<int32_t>(*most));
  if (HasMember(object, "NextToken")) {
    request.set_next_token(std::string(TextOf(object, "NextToken")));
    // Without a token the database would begin anew.
    if (request.next_token().empty())
      return storage::ValidationError("Invalid Request: Provided nextToken is invalid");
  }
  return request;
}

bool AreOn(const Summary& summary) {
  return summary.contributor_insights_status() == v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLED ||
         summary.contributor_insights_status() == v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLING;
}

void WriteInsightsNames(const Summary& summary, JsonWriter* writer) {
  writer->Name("TableName").String(summary.table_name());
  if (!summary.index_name().empty()) writer->Name("IndexName").String(summary.index_name());
}

bool CountsThrottledOnly(const Summary& summary) {
  return summary.contributor_insights_mode() == v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS;
}

void WriteInsightsMode(const Summary& summary, JsonWriter* writer) {
  writer->Name("ContributorInsightsMode")
      .String(CountsThrottledOnly(summary) ? kThrottledKeysMode : kAllKeysMode);
}

// "ENABLED".
std::string StatusText(const Summary& summary) {
  constexpr std::string_view kPrefix = "CONTRIBUTOR_INSIGHTS_STATUS_";
  return v1::ContributorInsightsStatus_Name(summary.contributor_insights_status()).substr(kPrefix.size());
}

void WriteInsightsStatus(std::string_view status, JsonWriter* writer) {
  writer->Name("ContributorInsightsStatus").String(status);
}

// The names that the service would give to its rules in CloudWatch.
void WriteInsightsRules(const Summary& summary, JsonWriter* writer) {
  writer->Name("ContributorInsightsRuleList").BeginArray();
  const std::string end = absl::StrCat("-", summary.last_update_time_ms());
  const std::string& name = summary.index_name().empty() ? summary.table_name() : summary.index_name();
  for (const char* kind : {"PKC", "SKC", "PKT", "SKT"}) {
    if (kind[0] == 'S' && !summary.has_sort_key()) continue;
    if (kind[2] == 'C' && CountsThrottledOnly(summary)) continue;
    std::string rule = absl::StrCat("DynamoDBContributorInsights-", kind, "-", name);
    rule.resize(std::min(rule.size(), kMaxInsightsRuleBytes - end.size()));
    writer->String(rule + end);
  }
  writer->EndArray();
}

void WriteUpdatedInsights(const v1::UpdateContributorInsightsReply& reply, JsonWriter* writer) {
  const Summary& summary = reply.contributor_insights();
  WriteInsightsNames(summary, writer);
  // It is done already, but programs wait for what they know.
  WriteInsightsStatus(AreOn(summary) ? "ENABLING" : "DISABLING", writer);
  if (AreOn(summary)) WriteInsightsMode(summary, writer);
}

void WriteDescribedInsights(const v1::DescribeContributorInsightsReply& reply, JsonWriter* writer) {
  const Summary& summary = reply.contributor_insights();
  WriteInsightsNames(summary, writer);
  if (AreOn(summary)) WriteInsightsRules(summary, writer);
  WriteInsightsStatus(StatusText(summary), writer);
  if (summary.last_update_time_ms() != 0)
    writer->Name("LastUpdateDateTime").Time(summary.last_update_time_ms());
  if (AreOn(summary)) WriteInsightsMode(summary, writer);
}

void WriteListedInsights(const v1::ListContributorInsightsReply& reply, JsonWriter* writer) {
  writer->Name("ContributorInsightsSummaries").BeginArray();
  for (const Summary& summary : reply.contributor_insights_summaries()) {
    writer->BeginObject();
    WriteInsightsNames(summary, writer);
    WriteInsightsStatus(StatusText(summary), writer);
    WriteInsightsMode(summary, writer);
    writer->EndObject();
  }
  writer->EndArray();
  if (!reply.next_token().empty()) writer->Name("NextToken").String(reply.next_token());
}

void AnswerDescribedInsights(JsonAnswer answer, absl::StatusOr<v1::DescribeContributorInsightsReply> reply) {
  if (reply.ok()) answer.statuses().Show(reply->mutable_contributor_insights());
  AnswerObject<WriteDescribedInsights>(std::move(answer), reply);
}

void AnswerListedInsights(JsonAnswer answer, absl::StatusOr<v1::ListContributorInsightsReply> reply) {
  if (reply.ok())
    for (Summary& summary : *reply->mutable_contributor_insights_summaries())
      answer.statuses().Show(&summary);
  AnswerObject<WriteListedInsights>(std::move(answer), reply);
}

}  // namespace

void UpdateContributorInsights(JsonCall call) {
  HandleOperation<ReadUpdateInsights, &storage::Database::UpdateContributorInsights, WriteUpdatedInsights>(
      std::move(call));
}
void DescribeContributorInsights(JsonCall call) {
  HandleOperation<ReadDescribeInsights,
                  CallDatabase<&storage::Database::DescribeContributorInsights, AnswerDescribedInsights>>(
      std::move(call));
}
void ListContributorInsights(JsonCall call) {
  HandleOperation<ReadListInsights,
                  CallDatabase<&storage::Database::ListContributorInsights, AnswerListedInsights>>(
      std::move(call));
}

}  // namespace itemdb::http::json
