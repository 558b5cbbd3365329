#include "storage/base/cron_schedule.h"

#include <charconv>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/time/civil_time.h"

namespace itemdb::storage {
namespace {

// A leap day comes after eight years at most.
constexpr int kMaxDaysAhead = 9 * 366;

struct Field {
  const char* name;
  int min;
  int max;
};

std::optional<int> ReadNumber(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Sets the bits of one element of a list. False: it is wrong.
template <size_t kBits>
bool ReadElement(std::string_view text, const Field& field, std::bitset<kBits>* bits) {
  int step = 1;
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    step = ReadNumber(text.substr(slash + 1)).value_or(0);
    text = text.substr(0, slash);
  }
  int first = field.min;
  int last = field.max;
  if (text != "*") {
    const size_t dash = text.find('-');
    first = ReadNumber(text.substr(0, dash)).value_or(-1);
    last = dash == std::string_view::npos ? first : ReadNumber(text.substr(dash + 1)).value_or(-1);
    if (dash == std::string_view::npos && slash != std::string_view::npos) return false;
  }
  if (step < 1 || step > field.max || first < field.min || last > field.max || first > last) return false;
  for (int i = first; i <= last; i += step) bits->set(static_cast<size_t>(i) % kBits);
  return true;
}

template <size_t kBits>
absl::Status ReadField(std::string_view text, const Field& field, std::bitset<kBits>* bits) {
  for (const absl::string_view element : absl::StrSplit(absl::string_view(text.data(), text.size()), ',')) {
    if (ReadElement({element.data(), element.size()}, field, bits)) continue;
    return ValidationError("the field \"" + std::string(text) + "\" of the schedule is wrong: " + field.name +
                           " may be *, a number from " + std::to_string(field.min) + " to " +
                           std::to_string(field.max) +
                           ", a range such as 1-5, a step such as */2 or 1-9/2, or a list of them");
  }
  return absl::OkStatus();
}

std::string_view WithoutNickname(std::string_view text) {
  if (text == "@hourly") return "0 * * * *";
  if (text == "@daily") return "0 0 * * *";
  if (text == "@weekly") return "0 0 * * 0";
  if (text == "@monthly") return "0 0 1 * *";
  return text;
}

}  // namespace

absl::StatusOr<CronSchedule> CronSchedule::Parse(std::string_view text) {
  text = WithoutNickname(text);
  const std::vector<std::string> fields =
      absl::StrSplit(absl::string_view(text.data(), text.size()), absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (fields.size() != 5) {
    return ValidationError(
        "a schedule has five fields, minute, hour, day of the month, month and day of the week, as in "
        "\"30 3 * * *\" (every day at 03:30), or is @hourly, @daily, @weekly or @monthly");
  }
  CronSchedule schedule;
  // Sunday is 0 and 7: seven bits.
  ITEMDB_RETURN_IF_ERROR(ReadField(fields[0], {"the minute", 0, 59}, &schedule.minutes_));
  ITEMDB_RETURN_IF_ERROR(ReadField(fields[1], {"the hour", 0, 23}, &schedule.hours_));
  ITEMDB_RETURN_IF_ERROR(ReadField(fields[2], {"the day of the month", 1, 31}, &schedule.days_));
  ITEMDB_RETURN_IF_ERROR(ReadField(fields[3], {"the month", 1, 12}, &schedule.months_));
  ITEMDB_RETURN_IF_ERROR(ReadField(fields[4], {"the day of the week", 0, 7}, &schedule.weekdays_));
  schedule.has_days_ = fields[2] != "*";
  schedule.has_weekdays_ = fields[4] != "*";
  if (schedule.NextAfter(absl::UnixEpoch(), absl::UTCTimeZone()) == absl::InfiniteFuture())
    return ValidationError("the schedule \"" + std::string(text) + "\" never comes: no month has that day");
  return schedule;
}

bool CronSchedule::IsOn(absl::CivilDay day) const {
  if (!months_[static_cast<size_t>(day.month())]) return false;
  // absl::Weekday begins with Monday.
  const bool weekday = weekdays_[(static_cast<size_t>(absl::GetWeekday(day)) + 1) % 7];
  const bool date = days_[static_cast<size_t>(day.day())];
  return has_days_ && has_weekdays_ ? weekday || date : weekday && date;
}

absl::Time CronSchedule::NextAfter(absl::Time time, absl::TimeZone zone) const {
  const absl::CivilDay today = absl::ToCivilDay(time, zone);
  for (int ahead = 0; ahead < kMaxDaysAhead; ++ahead) {
    const absl::CivilDay day = today + ahead;
    if (!IsOn(day)) continue;
    for (size_t hour = 0; hour < hours_.size(); ++hour) {
      if (!hours_[hour]) continue;
      for (size_t minute = 0; minute < minutes_.size(); ++minute) {
        if (!minutes_[minute]) continue;
        const absl::Time next = absl::FromCivil(
            absl::CivilMinute(day.year(), day.month(), day.day(), static_cast<absl::civil_diff_t>(hour),
                              static_cast<absl::civil_diff_t>(minute)),
            zone);
        if (next > time) return next;
      }
    }
  }
  return absl::InfiniteFuture();
}

}  // namespace itemdb::storage
