#include "daemon/http/api/shown_statuses.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace itemdb::http {
namespace {

// "T" of "T" and of "arn:aws:dynamodb:local:000000000000:table/T".
std::string NameOfTable(const std::string& name_or_arn) {
  if (!name_or_arn.starts_with("arn:")) return name_or_arn;
  const size_t slash = name_or_arn.find('/');
  return slash == std::string::npos ? name_or_arn : name_or_arn.substr(slash + 1);
}

}  // namespace

void ShownStatuses::Remember(const std::string& table, Clock::time_point Times::*which) {
  if (delay_.count() == 0) return;
  const Clock::time_point now = Clock::now();
  storage::MutexLock lock(mutex_);
  std::erase_if(times_, [now](const auto& entry) {
    const Times& times = entry.second;
    return std::max({times.created, times.updated, times.time_to_live}) < now;
  });
  times_[NameOfTable(table)].*which = now + delay_;
}

ShownStatuses::Times ShownStatuses::Find(const std::string& table) {
  if (delay_.count() == 0) return {};
  storage::MutexLock lock(mutex_);
  const auto found = times_.find(NameOfTable(table));
  return found == times_.end() ? Times() : found->second;
}

void ShownStatuses::Show(v1::TableDescription* table) {
  const Times times = Find(table->table_name());
  const Clock::time_point now = Clock::now();
  if (table->table_status() != v1::TABLE_STATUS_ACTIVE) return;
  if (now < times.created) {
    table->set_table_status(v1::TABLE_STATUS_CREATING);
    for (auto& index : *table->mutable_global_secondary_indexes())
      index.set_index_status(v1::TABLE_STATUS_CREATING);
    for (auto& index : *table->mutable_vector_indexes()) index.set_index_status(v1::TABLE_STATUS_CREATING);
  } else if (now < times.updated) {
    table->set_table_status(v1::TABLE_STATUS_UPDATING);
  }
}

void ShownStatuses::Show(const std::string& table, v1::DescribeTimeToLiveReply* time_to_live) {
  if (time_to_live->time_to_live_status() == v1::TIME_TO_LIVE_STATUS_ENABLED &&
      Clock::now() < Find(table).time_to_live)
    time_to_live->set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_ENABLING);
}

void ShownStatuses::Show(v1::ContributorInsightsSummary* insights) const {
  if (insights->last_update_time_ms() == 0) return;
  const absl::Duration age = absl::Now() - absl::FromUnixMillis(insights->last_update_time_ms());
  // The second of two changes in one millisecond has a time of the next one.
  if (absl::AbsDuration(age) >= absl::FromChrono(delay_)) return;
  insights->set_contributor_insights_status(insights->contributor_insights_status() ==
                                                    v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLED
                                                ? v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLING
                                                : v1::CONTRIBUTOR_INSIGHTS_STATUS_DISABLING);
}

}  // namespace itemdb::http
