// A schedule as cron writes it: minute, hour, day of the month, month, day of the week.
#pragma once

#include <bitset>
#include <string_view>

#include "absl/time/time.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// "30 3 * * 1-5": at 03:30 from Monday to Friday. A field is a list of numbers and ranges, `*`, or one of
// them with a step (`*/15`, `8-18/2`). 0 and 7 are Sunday. If both days are restricted, either may match.
// Also "@hourly", "@daily" (midnight), "@weekly" (Sunday) and "@monthly" (the first).
class CronSchedule {
 public:
  // INVALID_ARGUMENT: names the field and what it may be; or the schedule never comes (February 30).
  static absl::StatusOr<CronSchedule> Parse(std::string_view text);

  // The first time after `time`. A time that the clock skips in spring comes when it has jumped; one that it
  // shows twice in autumn comes once.
  absl::Time NextAfter(absl::Time time, absl::TimeZone zone) const;

 private:
  CronSchedule() = default;
  bool IsOn(absl::CivilDay day) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  // Whether the field is not `*`.
  bool has_days_ = false;
  bool has_weekdays_ = false;
};

}  // namespace itemdb::storage
