// When a schedule of cron comes next.
#include "storage/base/cron_schedule.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace itemdb::storage {
namespace {

using ::testing::HasSubstr;

absl::TimeZone Berlin() {
  absl::TimeZone zone;
  EXPECT_TRUE(absl::LoadTimeZone("Europe/Berlin", &zone));
  return zone;
}

// The next time after `time`, both in local time of `zone`.
std::string Next(std::string_view schedule, absl::CivilSecond time,
                 absl::TimeZone zone = absl::UTCTimeZone()) {
  const absl::StatusOr<CronSchedule> parsed = CronSchedule::Parse(schedule);
  if (!parsed.ok()) return std::string(parsed.status().message());
  return absl::FormatTime("%Y-%m-%d %H:%M", parsed->NextAfter(absl::FromCivil(time, zone), zone), zone);
}

TEST(CronSchedule, ComesAtTheNextMinuteThatAllFieldsAllow) {
  const absl::CivilSecond now(2026, 11, 25, 3, 30, 0);  // A Wednesday.
  EXPECT_EQ(Next("* * * * *", now), "2026-11-25 03:31");
  EXPECT_EQ(Next("30 3 * * *", now), "2026-11-26 03:30");
  EXPECT_EQ(Next("30 3 * * *", now - 1), "2026-11-25 03:30");
  EXPECT_EQ(Next("*/20 * * * *", now), "2026-11-25 03:40");
  EXPECT_EQ(Next("0 8-18/5 * * *", now), "2026-11-25 08:00");
  EXPECT_EQ(Next("0 8-18/5 * * *", absl::CivilSecond(2026, 11, 25, 13, 0, 0)), "2026-11-25 18:00");
  EXPECT_EQ(Next("15,45 23 * * *", now), "2026-11-25 23:15");
  EXPECT_EQ(Next("0 0 1 1 *", now), "2027-01-01 00:00");
  EXPECT_EQ(Next("0 0 29 2 *", now), "2028-02-29 00:00");
  EXPECT_EQ(Next("0 6 * * 1-5", absl::CivilSecond(2026, 11, 27, 7, 0, 0)), "2026-11-30 06:00");
  EXPECT_EQ(Next("0 6 * * 0", now), "2026-11-29 06:00");
  EXPECT_EQ(Next("0 6 * * 7", now), "2026-11-29 06:00");
  EXPECT_EQ(Next("0\t6  *  *   5-7", now), "2026-11-27 06:00");
}

TEST(CronSchedule, WithBothDaysComesOnEither) {
  const absl::CivilSecond now(2026, 11, 25, 12, 0, 0);
  EXPECT_EQ(Next("0 0 28 * 5", now), "2026-11-27 00:00");
  EXPECT_EQ(Next("0 0 26 * 5", now), "2026-11-26 00:00");
}

TEST(CronSchedule, HasNicknames) {
  const absl::CivilSecond now(2026, 11, 25, 12, 30, 0);
  EXPECT_EQ(Next("@hourly", now), "2026-11-25 13:00");
  EXPECT_EQ(Next("@daily", now), "2026-11-26 00:00");
  EXPECT_EQ(Next("@weekly", now), "2026-11-29 00:00");
  EXPECT_EQ(Next("@monthly", now), "2026-12-01 00:00");
}

TEST(CronSchedule, ComesOnceWhenTheClockIsSetForwardOrBack) {
  // 02:00 to 03:00 is skipped, then shown twice.
  EXPECT_EQ(Next("30 2 * * *", absl::CivilSecond(2026, 3, 28, 12, 0, 0), Berlin()), "2026-03-29 03:00");
  EXPECT_EQ(Next("30 2 * * *", absl::CivilSecond(2026, 3, 29, 3, 0, 0), Berlin()), "2026-03-30 02:30");
  EXPECT_EQ(Next("30 2 * * *", absl::CivilSecond(2026, 10, 24, 12, 0, 0), Berlin()), "2026-10-25 02:30");
  const absl::StatusOr<CronSchedule> schedule = CronSchedule::Parse("30 2 * * *");
  ASSERT_TRUE(schedule.ok());
  const absl::Time first =
      schedule->NextAfter(absl::FromCivil(absl::CivilSecond(2026, 10, 24, 12, 0, 0), Berlin()), Berlin());
  EXPECT_EQ(absl::FormatTime("%Y-%m-%d %H:%M", schedule->NextAfter(first, Berlin()), Berlin()),
            "2026-10-26 02:30");
}

TEST(CronSchedule, RefusesWhatIsNoneAndNamesTheField) {
  for (const auto& [text, says] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", "five fields"},
           {"* * * *", "five fields"},
           {"* * * * * *", "five fields"},
           {"@yearly", "five fields"},
           {"60 * * * *", "the minute may be"},
           {"-1 * * * *", "the minute may be"},
           {"1x * * * *", "the minute may be"},
           {"5/2 * * * *", "the minute may be"},
           {"*/0 * * * *", "the minute may be"},
           {", * * * *", "the minute may be"},
           {"* 24 * * *", "the hour may be"},
           {"* 5-3 * * *", "the hour may be"},
           {"* * 0 * *", "the day of the month may be"},
           {"* * * 13 *", "the month may be"},
           {"* * * * mon", "the day of the week may be"},
           {"* * * * 8", "the day of the week may be"},
           {"0 0 30 2 *", "never comes"}}) {
    const absl::StatusOr<CronSchedule> parsed = CronSchedule::Parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(says)) << text;
  }
}

}  // namespace
}  // namespace itemdb::storage
