#include "daemon/http/api/shown_statuses.h"

#include <algorithm>
#include <utility>

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

bool ShownStatuses::HavePassed(const Times& times, Clock::time_point now) const {
  return std::max({times.created, times.updated, times.time_to_live}) < now &&
         std::all_of(times.indexes.begin(), times.indexes.end(),
                     [&](const auto& index) { return index.second + delay_ < now; });
}

ShownStatuses::Times& ShownStatuses::TimesOf(const std::string& table) {
  const Clock::time_point now = Clock::now();
  std::erase_if(times_, [&](const auto& entry) { return HavePassed(entry.second, now); });
  return times_[NameOfTable(table)];
}

void ShownStatuses::Remember(const std::string& table, Clock::time_point Times::*which) {
  if (delay_.count() == 0) return;
  storage::MutexLock lock(mutex_);
  TimesOf(table).*which = Clock::now() + delay_;
}

void ShownStatuses::Created(const std::string& table) {
  if (delay_.count() == 0) return;
  storage::MutexLock lock(mutex_);
  TimesOf(table) = {.created = Clock::now() + delay_, .updated = {}, .time_to_live = {}, .indexes = {}};
}

void ShownStatuses::Updated(const v1::TableDescription& table) {
  if (delay_.count() == 0) return;
  storage::MutexLock lock(mutex_);
  Times& times = TimesOf(table.table_name());
  times.updated = Clock::now() + delay_;
  // Without those that are being deleted.
  std::map<std::string, Clock::time_point> indexes;
  const auto keep = [&](const auto& index) {
    const auto known = times.indexes.find(index.index_name());
    if (known != times.indexes.end() && index.index_status() != v1::TABLE_STATUS_DELETING) {
      indexes.insert(*known);
    } else if (index.index_status() == v1::TABLE_STATUS_CREATING) {
      indexes.emplace(index.index_name(), times.updated);
    }
  };
  for (const auto& index : table.global_secondary_indexes()) keep(index);
  for (const auto& index : table.vector_indexes()) keep(index);
  times.indexes = std::move(indexes);
}

ShownStatuses::Times ShownStatuses::Find(const std::string& table) {
  if (delay_.count() == 0) return {};
  storage::MutexLock lock(mutex_);
  const auto found = times_.find(NameOfTable(table));
  return found == times_.end() ? Times() : found->second;
}

void ShownStatuses::Show(v1::TableDescription* table) {
  if (delay_.count() == 0) return;
  if (table->table_status() != v1::TABLE_STATUS_ACTIVE && table->table_status() != v1::TABLE_STATUS_UPDATING)
    return;
  const Times times = Find(table->table_name());
  const Clock::time_point now = Clock::now();
  const bool is_created = now < times.created;
  bool is_backfilled = false;
  const auto show = [&](auto& index) {
    if (is_created) index.set_index_status(v1::TABLE_STATUS_CREATING);
    const auto added = times.indexes.find(index.index_name());
    const bool is_shown = added != times.indexes.end() && index.index_status() != v1::TABLE_STATUS_DELETING &&
                          now < added->second + delay_;
    if (is_shown) {
      index.set_index_status(v1::TABLE_STATUS_CREATING);
      index.set_backfilling(now >= added->second);
    }
    is_backfilled |= index.index_status() == v1::TABLE_STATUS_CREATING && index.backfilling();
  };
  for (auto& index : *table->mutable_global_secondary_indexes()) show(index);
  for (auto& index : *table->mutable_vector_indexes()) show(index);
  if (is_created) {
    table->set_table_status(v1::TABLE_STATUS_CREATING);
  } else if (now < times.updated) {
    table->set_table_status(v1::TABLE_STATUS_UPDATING);
  } else if (is_backfilled) {
    table->set_table_status(v1::TABLE_STATUS_ACTIVE);
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
