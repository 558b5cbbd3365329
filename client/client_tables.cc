// The operations on tables: each with a callback, and from that with a future and blocking.
#include <utility>

#include "client/call.h"
#include "client/convert.h"
#include "client/core.h"
#include "client/wait.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

template <typename Reply>
TableResult ToTableResult(const Reply& reply) {
  return {.change_sequence = reply.change_sequence(), .table = FromProto(reply.table())};
}

}  // namespace

void Client::Start(const TableDefinition& request, Callback<TableResult> callback,
                   CallOptions options) const {
  StartCall<v1::CreateTableReply>(core_, "/itemdb.v1.Tables/CreateTable", CallKind::kWrite, ToProto(request),
                                  options, &ToTableResult<v1::CreateTableReply>, std::move(callback));
}

void Client::Start(const DescribeTableCall& request, Callback<TableResult> callback,
                   CallOptions options) const {
  v1::DescribeTableRequest message;
  message.set_table_name(request.table_name);
  StartCall<v1::DescribeTableReply>(core_, "/itemdb.v1.Tables/DescribeTable", CallKind::kRead, message,
                                    options, &ToTableResult<v1::DescribeTableReply>, std::move(callback));
}

void Client::Start(const DeleteTableCall& request, Callback<TableResult> callback,
                   CallOptions options) const {
  v1::DeleteTableRequest message;
  message.set_table_name(request.table_name);
  StartCall<v1::DeleteTableReply>(core_, "/itemdb.v1.Tables/DeleteTable", CallKind::kWrite, message, options,
                                  &ToTableResult<v1::DeleteTableReply>, std::move(callback));
}

void Client::Start(const UpdateTableRequest& request, Callback<TableResult> callback,
                   CallOptions options) const {
  StartCall<v1::UpdateTableReply>(core_, "/itemdb.v1.Tables/UpdateTable", CallKind::kWrite, ToProto(request),
                                  options, &ToTableResult<v1::UpdateTableReply>, std::move(callback));
}

void Client::Start(const TagTableRequest& request, Callback<TagTableResult> callback,
                   CallOptions options) const {
  StartCall<v1::TagTableReply>(
      core_, "/itemdb.v1.Tables/TagTable", CallKind::kWrite, ToProto(request), options,
      [](const v1::TagTableReply& reply) { return TagTableResult{reply.change_sequence()}; },
      std::move(callback));
}

void Client::Start(const UntagTableRequest& request, Callback<TagTableResult> callback,
                   CallOptions options) const {
  v1::UntagTableRequest message;
  message.set_table_name(request.table_name);
  message.mutable_tag_keys()->Add(request.tag_keys.begin(), request.tag_keys.end());
  StartCall<v1::UntagTableReply>(
      core_, "/itemdb.v1.Tables/UntagTable", CallKind::kWrite, message, options,
      [](const v1::UntagTableReply& reply) { return TagTableResult{reply.change_sequence()}; },
      std::move(callback));
}

void Client::Start(const UpdateTimeToLiveRequest& request, Callback<UpdateTimeToLiveResult> callback,
                   CallOptions options) const {
  v1::UpdateTimeToLiveRequest message;
  message.set_table_name(request.table_name);
  message.mutable_time_to_live_specification()->set_enabled(request.enabled);
  message.mutable_time_to_live_specification()->set_attribute_name(request.attribute_name);
  StartCall<v1::UpdateTimeToLiveReply>(
      core_, "/itemdb.v1.Tables/UpdateTimeToLive", CallKind::kWrite, message, options,
      [](const v1::UpdateTimeToLiveReply& reply) {
        return UpdateTimeToLiveResult{.change_sequence = reply.change_sequence()};
      },
      std::move(callback));
}

void Client::Start(const DescribeTimeToLiveCall& request, Callback<TimeToLiveResult> callback,
                   CallOptions options) const {
  v1::DescribeTimeToLiveRequest message;
  message.set_table_name(request.table_name);
  StartCall<v1::DescribeTimeToLiveReply>(
      core_, "/itemdb.v1.Tables/DescribeTimeToLive", CallKind::kRead, message, options,
      [](const v1::DescribeTimeToLiveReply& reply) { return FromProto(reply); }, std::move(callback));
}

void Client::Start(const ListTablesRequest& request, Callback<ListTablesResult> callback,
                   CallOptions options) const {
  v1::ListTablesRequest message;
  message.set_exclusive_start_table_name(request.exclusive_start_table_name);
  if (request.limit.has_value()) message.set_limit(*request.limit);
  const auto convert = [](const v1::ListTablesReply& reply) {
    ListTablesResult result;
    result.change_sequence = reply.change_sequence();
    result.table_names.assign(reply.table_names().begin(), reply.table_names().end());
    if (!reply.last_evaluated_table_name().empty())
      result.last_evaluated_table_name = reply.last_evaluated_table_name();
    return result;
  };
  StartCall<v1::ListTablesReply>(core_, "/itemdb.v1.Tables/ListTables", CallKind::kRead, message, options,
                                 convert, std::move(callback));
}

ITEMDB_DEFINE_FORMS(CreateTable, TableDefinition, TableResult)
ITEMDB_DEFINE_FORMS(UpdateTable, UpdateTableRequest, TableResult)
ITEMDB_DEFINE_FORMS(TagTable, TagTableRequest, TagTableResult)
ITEMDB_DEFINE_FORMS(UntagTable, UntagTableRequest, TagTableResult)
ITEMDB_DEFINE_FORMS(UpdateTimeToLive, UpdateTimeToLiveRequest, UpdateTimeToLiveResult)
ITEMDB_DEFINE_FORMS(ListTables, ListTablesRequest, ListTablesResult)

// The same for operations that take the name of a table only.
#define ITEMDB_DEFINE_FORMS_OF_NAME(Operation, Result)                                                 \
  std::future<absl::StatusOr<Result>> Client::Operation##Async(const std::string& table_name,          \
                                                               CallOptions options) const {            \
    return StartAsync<Result>(Operation##Call{table_name}, options);                                   \
  }                                                                                                    \
  absl::StatusOr<Result> Client::Operation(const std::string& table_name, CallOptions options) const { \
    return StartAndWait<Result>(Operation##Call{table_name}, options);                                 \
  }
ITEMDB_DEFINE_FORMS_OF_NAME(DescribeTable, TableResult)
ITEMDB_DEFINE_FORMS_OF_NAME(DeleteTable, TableResult)
ITEMDB_DEFINE_FORMS_OF_NAME(DescribeTimeToLive, TimeToLiveResult)
#undef ITEMDB_DEFINE_FORMS_OF_NAME

absl::StatusOr<ContributorInsights> Client::UpdateContributorInsights(
    const UpdateContributorInsightsRequest& request, CallOptions options) const {
  v1::UpdateContributorInsightsRequest message;
  message.set_table_name(request.table_name);
  message.set_index_name(request.index_name);
  message.set_contributor_insights_action(request.enabled ? v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE
                                                          : v1::CONTRIBUTOR_INSIGHTS_ACTION_DISABLE);
  if (request.enabled && request.mode == ContributorInsightsMode::kThrottledKeys)
    message.set_contributor_insights_mode(v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS);
  return Call<v1::UpdateContributorInsightsReply, ContributorInsights>(
      core_, "/itemdb.v1.Tables/UpdateContributorInsights", CallKind::kWrite, message, options,
      [](const v1::UpdateContributorInsightsReply& reply) {
        return FromProto(reply.contributor_insights());
      });
}

absl::StatusOr<ContributorInsights> Client::DescribeContributorInsights(const std::string& table_name,
                                                                        const std::string& index_name,
                                                                        CallOptions options) const {
  v1::DescribeContributorInsightsRequest message;
  message.set_table_name(table_name);
  message.set_index_name(index_name);
  return Call<v1::DescribeContributorInsightsReply, ContributorInsights>(
      core_, "/itemdb.v1.Tables/DescribeContributorInsights", CallKind::kRead, message, options,
      [](const v1::DescribeContributorInsightsReply& reply) {
        return FromProto(reply.contributor_insights());
      });
}

absl::StatusOr<std::vector<ContributorInsights>> Client::ListContributorInsights(
    const std::string& table_name, CallOptions options) const {
  v1::ListContributorInsightsRequest message;
  message.set_table_name(table_name);
  std::vector<ContributorInsights> all;
  do {
    // The token of the next page.
    const absl::StatusOr<std::string> next = Call<v1::ListContributorInsightsReply, std::string>(
        core_, "/itemdb.v1.Tables/ListContributorInsights", CallKind::kRead, message, options,
        [&all](const v1::ListContributorInsightsReply& reply) {
          for (const auto& summary : reply.contributor_insights_summaries())
            all.push_back(FromProto(summary));
          return reply.next_token();
        });
    ITEMDB_RETURN_IF_ERROR(next.status());
    message.set_next_token(*next);
  } while (!message.next_token().empty());
  return all;
}

absl::StatusOr<TableLimits> Client::DescribeLimits(CallOptions options) const {
  return Call<v1::DescribeLimitsReply, TableLimits>(
      core_, "/itemdb.v1.Tables/DescribeLimits", CallKind::kRead, v1::DescribeLimitsRequest(), options,
      [](const v1::DescribeLimitsReply& reply) {
        return TableLimits{.account_max_read_capacity_units = reply.account_max_read_capacity_units(),
                           .account_max_write_capacity_units = reply.account_max_write_capacity_units(),
                           .table_max_read_capacity_units = reply.table_max_read_capacity_units(),
                           .table_max_write_capacity_units = reply.table_max_write_capacity_units()};
      });
}

}  // namespace itemdb
