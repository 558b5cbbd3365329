#include "tools/commands/top_commands.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "tools/base/interrupt.h"
#include "tools/base/number_text.h"
#include "tools/base/text_table.h"
#include "tools/base/text_width.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"

namespace itemdb::tools {
namespace {

constexpr double kLongestInterval = 3'600;
constexpr int64_t kMostCounts = 1'000'000;
constexpr size_t kTablesShown = 10;
constexpr size_t kWatchesShown = 5;
// Shown if the size of the terminal is not known.
constexpr TerminalSize kUsualSize = {.columns = 80, .rows = 24};

// Switches to a screen of its own and back, so that what was on the terminal is there again afterwards.
constexpr char kEnterScreen[] = "\x1b[?1049h\x1b[?25l";
constexpr char kLeaveScreen[] = "\x1b[?25h\x1b[?1049l";
constexpr char kTopLeft[] = "\x1b[H";
constexpr char kClearRestOfLine[] = "\x1b[K";
constexpr char kClearBelow[] = "\x1b[J";

absl::StatusOr<TopSample> Sample(Context& context, const Client& client) {
  TopSample sample;
  ITEMDB_ASSIGN_OR_RETURN(sample.status, client.GetStatus({}, context.Call()));
  ITEMDB_ASSIGN_OR_RETURN(sample.activity, client.GetActivity(context.Call()));
  sample.time = absl::Now();
  return sample;
}

std::string RateText(double per_second) {
  return per_second >= 100 ? WithSeparators(static_cast<int64_t>(per_second))
                           : absl::StrFormat("%.1f", per_second);
}

// Calls by how long they took.
using Latencies = std::map<absl::Duration, int64_t>;

int64_t CallsOf(const Latencies& latencies) {
  int64_t calls = 0;
  for (const auto& [latency, count] : latencies) calls += count;
  return calls;
}

// The latency that `percent` of the calls did not exceed.
absl::Duration Percentile(const Latencies& latencies, int64_t percent) {
  const int64_t rank = (CallsOf(latencies) * percent + 99) / 100;
  int64_t seen = 0;
  for (const auto& [latency, count] : latencies) {
    seen += count;
    if (seen >= rank) return latency;
  }
  return absl::ZeroDuration();
}

// What calls of one operation or table did between two samples.
struct CallsBetween {
  Latencies latencies;
  int64_t errors = 0;
  int64_t items = 0;

  // Counts are less than before when an index or the table was deleted: then nothing is known of the calls.
  void Add(const OperationActivity& before, const OperationActivity& now) {
    Latencies of_row;
    for (const LatencyCount& one : now.latencies) of_row[one.latency] += one.calls;
    for (const LatencyCount& one : before.latencies) of_row[one.latency] -= one.calls;
    for (const auto& [latency, calls] : of_row) {
      if (calls > 0) latencies[latency] += calls;
    }
    errors += std::max<int64_t>(now.errors - before.errors, 0);
    items += std::max<int64_t>(now.items_scanned - before.items_scanned, 0);
  }
};

std::vector<TopRow> Sorted(const std::map<std::string, CallsBetween>& differences, double seconds) {
  std::vector<TopRow> sorted;
  for (const auto& [name, difference] : differences) {
    const int64_t calls = CallsOf(difference.latencies);
    if (calls == 0) continue;
    sorted.push_back({.name = name,
                      .calls_per_second = static_cast<double>(calls) / seconds,
                      .errors_per_second = static_cast<double>(difference.errors) / seconds,
                      .items_per_second = static_cast<double>(difference.items) / seconds,
                      .p50 = Percentile(difference.latencies, 50),
                      .p99 = Percentile(difference.latencies, 99)});
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const TopRow& a, const TopRow& b) { return a.calls_per_second > b.calls_per_second; });
  return sorted;
}

bool IsBehind(const WatchActivity& watch) { return watch.lag > absl::ZeroDuration(); }

// "archive 1.2 s behind; standby 0.3 s behind; 3 watches, the slowest 2.0 s behind"
std::string LagText(const DaemonStatus& status, const DaemonActivity& activity) {
  std::vector<std::string> parts;
  if (status.archive.has_value())
    parts.push_back(absl::StrFormat("archive %.1f s behind", absl::ToDoubleSeconds(status.archive->lag)));
  if (status.standby.has_value())
    parts.push_back(absl::StrFormat("standby %.1f s behind", absl::ToDoubleSeconds(status.standby->lag)));
  std::string watches = CountText(activity.open_watches, {.one = "watch", .many = "watches"});
  if (!activity.watches.empty()) {
    const WatchActivity& slowest = activity.watches.front();
    absl::StrAppend(&watches, IsBehind(slowest) ? absl::StrFormat(", the slowest %.1f s behind",
                                                                  absl::ToDoubleSeconds(slowest.lag))
                                                : ", none behind");
  }
  parts.push_back(std::move(watches));
  if (!status.writes_refused.empty()) parts.push_back("WRITES ARE REFUSED");
  return absl::StrJoin(parts, "; ");
}

void PrintRows(const std::string& heading, const std::vector<TopRow>& rows, size_t most, size_t columns,
               std::ostream& out) {
  TextTable table({heading, NumberColumn("calls/s"), NumberColumn("errors/s"), NumberColumn("items/s"),
                   NumberColumn("p50"), NumberColumn("p99")});
  for (size_t i = 0; i < std::min(rows.size(), most); ++i) {
    const TopRow& row = rows[i];
    table.AddRow({row.name, RateText(row.calls_per_second), RateText(row.errors_per_second),
                  RateText(row.items_per_second), LatencyText(row.p50), LatencyText(row.p99)});
  }
  table.Print(out, {.max_width = columns});
}

// The watches that are behind.
void PrintWatches(const std::vector<WatchActivity>& watches, size_t columns, std::ostream& out) {
  TextTable table({"watch", "table", "key", "client", NumberColumn("changes"), NumberColumn("behind")});
  for (const WatchActivity& watch : watches) {
    if (!IsBehind(watch) || table.row_count() == kWatchesShown) break;
    table.AddRow({absl::StrCat(watch.watch_id), watch.table_name.empty() ? "(all)" : watch.table_name,
                  watch.key_id, watch.peer, WithSeparators(watch.lag_changes), LatencyText(watch.lag)});
  }
  if (table.empty()) return;
  out << '\n';
  table.Print(out, {.max_width = columns});
}

std::string ScreenText(const std::string& endpoint, const TopSample& now, const TopFigures& figures,
                       TerminalSize size) {
  std::ostringstream out;
  const DaemonStatus& status = now.status;
  out << absl::StrFormat("itemd %s at %s  %s\n", status.version, endpoint,
                         absl::FormatTime("%H:%M:%S", now.time, absl::LocalTimeZone()));
  out << absl::StrFormat("%s calls/s  %s writes/s in %s commit groups/s  change %s\n",
                         RateText(figures.calls_per_second), RateText(figures.writes_per_second),
                         RateText(figures.commit_groups_per_second),
                         WithSeparators(static_cast<int64_t>(status.change_sequence)));
  out << absl::StrFormat("memory %s  queue %s  disk %s free\n", BytesText(status.memory.resident),
                         BytesText(status.memory.write_queue), BytesText(status.disk.free));
  out << LagText(status, now.activity) << "\n\n";
  if (figures.operations.empty()) {
    out << "no calls\n";
  } else {
    PrintRows("operation", figures.operations, kTablesShown, size.columns, out);
    out << '\n';
    PrintRows("table", figures.tables, kTablesShown, size.columns, out);
  }
  PrintWatches(now.activity.watches, size.columns, out);
  out << "\nlatencies inside the database, of this interval; q or Ctrl-C leaves\n";
  return out.str();
}

// Draws over the last screen, line by line, so that it does not flicker. What does not fit is left out.
void Draw(const std::string& text, TerminalSize size, std::ostream& out) {
  out << kTopLeft;
  std::istringstream lines(text);
  std::string line;
  for (size_t row = 0; row + 1 < size.rows && std::getline(lines, line); ++row)
    out << line.substr(0, BytesWithin(line, size.columns)) << kClearRestOfLine << "\r\n";
  out << kClearBelow << std::flush;
}

JsonValue RowsToJson(const char* name, const std::vector<TopRow>& rows) {
  JsonValue array = JsonValue::Array();
  for (const TopRow& row : rows) {
    array.elements.push_back(
        JsonValue::Object()
            .Add(name, row.name)
            .Add("calls_per_second", JsonValue::Number(absl::StrFormat("%.1f", row.calls_per_second)))
            .Add("errors_per_second", JsonValue::Number(absl::StrFormat("%.1f", row.errors_per_second)))
            .Add("items_per_second", JsonValue::Number(absl::StrFormat("%.1f", row.items_per_second)))
            .Add("p50_us", absl::ToInt64Microseconds(row.p50))
            .Add("p99_us", absl::ToInt64Microseconds(row.p99)));
  }
  return array;
}

JsonValue WatchesToJson(const std::vector<WatchActivity>& watches) {
  JsonValue array = JsonValue::Array();
  for (const WatchActivity& watch : watches) {
    JsonValue object = JsonValue::Object().Add("watch_id", watch.watch_id);
    if (!watch.table_name.empty()) object.Add("table_name", watch.table_name);
    if (!watch.key_id.empty()) object.Add("key_id", watch.key_id);
    array.elements.push_back(std::move(object.Add("client", watch.peer)
                                           .Add("lag_changes", watch.lag_changes)
                                           .Add("lag_ms", absl::ToInt64Milliseconds(watch.lag))));
  }
  return array;
}

// The same figures as on the screen, and all watches.
JsonValue ToJson(const TopSample& now, const TopFigures& figures) {
  const DaemonStatus& status = now.status;
  JsonValue object =
      JsonValue::Object()
          .Add("calls_per_second", JsonValue::Number(absl::StrFormat("%.1f", figures.calls_per_second)))
          .Add("writes_per_second", JsonValue::Number(absl::StrFormat("%.1f", figures.writes_per_second)))
          .Add("commit_groups_per_second",
               JsonValue::Number(absl::StrFormat("%.1f", figures.commit_groups_per_second)))
          .Add("operations", RowsToJson("operation", figures.operations))
          .Add("tables", RowsToJson("table_name", figures.tables))
          .Add("open_watches", now.activity.open_watches)
          .Add("watches", WatchesToJson(now.activity.watches))
          .Add("change_sequence", status.change_sequence)
          .Add("resident_bytes", status.memory.resident)
          .Add("write_queue_bytes", status.memory.write_queue)
          .Add("disk_free_bytes", status.disk.free);
  if (status.archive.has_value())
    object.Add("archive_lag_ms", absl::ToInt64Milliseconds(status.archive->lag));
  if (status.standby.has_value())
    object.Add("standby_lag_ms", absl::ToInt64Milliseconds(status.standby->lag));
  if (!status.writes_refused.empty()) object.Add("writes_refused", status.writes_refused);
  return object;
}

// While it exists, keys arrive at once and are not shown.
class KeyMode {
 public:
  KeyMode() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    set_ = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
  }
  ~KeyMode() {
    if (set_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  KeyMode(const KeyMode&) = delete;
  KeyMode& operator=(const KeyMode&) = delete;

  // Waits for a key; true if it is q.
  bool AwaitQ(absl::Duration patience, const std::function<bool()>& stopped) const {
    const absl::Time end = absl::Now() + patience;
    while (absl::Now() < end && !stopped()) {
      constexpr int64_t kSliceMs = 100;
      pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
      const int64_t left_ms = absl::ToInt64Milliseconds(end - absl::Now()) + 1;
      if (poll(&input, 1, static_cast<int>(std::clamp<int64_t>(left_ms, 0, kSliceMs))) != 1) continue;
      char key = 0;
      if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q') return true;
    }
    return false;
  }

 private:
  termios before_ = {};
  bool set_ = false;
};

absl::Status RunScreen(Context& context, const Client& client, const TopOptions& options) {
  absl::Notification stopped;
  const InterruptScope interrupt([&stopped] {
    if (!stopped.HasBeenNotified()) stopped.Notify();
  });
  ITEMDB_ASSIGN_OR_RETURN(TopSample before, Sample(context, client));
  absl::Status status;
  {
    const KeyMode keys;
    context.out() << kEnterScreen << kTopLeft << kClearBelow << "measuring ...\r\n" << std::flush;
    // The first screen comes soon.
    double wait = std::min(options.interval_seconds, 1.0);
    for (int64_t round = 1; !stopped.HasBeenNotified(); ++round) {
      if (keys.AwaitQ(absl::Seconds(wait), [&stopped] { return stopped.HasBeenNotified(); })) break;
      if (stopped.HasBeenNotified()) break;
      absl::StatusOr<TopSample> now = Sample(context, client);
      status = now.status();
      if (!status.ok()) break;
      TerminalSize size =
          context.streams().terminal_size != nullptr ? context.streams().terminal_size() : kUsualSize;
      if (size.columns == 0 || size.rows == 0) size = kUsualSize;
      Draw(ScreenText(client.endpoint(), *now, Compare(before, *now), size), size, context.out());
      before = *std::move(now);
      wait = options.interval_seconds;
      if (round == options.count) break;
    }
    context.out() << kLeaveScreen << std::flush;
  }
  return status;
}

}  // namespace

TopFigures Compare(const TopSample& before, const TopSample& now) {
  TopFigures figures;
  const double seconds = std::max(absl::ToDoubleSeconds(now.time - before.time), 1e-3);
  // After a restart the daemon counts from 0.
  const bool goes_on = before.activity.start_time == now.activity.start_time;
  std::map<std::pair<std::string_view, std::string_view>, const OperationActivity*> earlier;
  if (goes_on) {
    for (const OperationActivity& one : before.activity.operations)
      earlier[{one.table_name, one.operation}] = &one;
  }
  const OperationActivity none;
  std::map<std::string, CallsBetween> operations;
  std::map<std::string, CallsBetween> tables;
  for (const OperationActivity& one : now.activity.operations) {
    const auto found = earlier.find({one.table_name, one.operation});
    const OperationActivity& old = found != earlier.end() ? *found->second : none;
    operations[one.operation].Add(old, one);
    tables[one.table_name].Add(old, one);
  }
  const auto rate = [seconds](auto new_count, auto old_count) {
    return new_count > old_count ? static_cast<double>(new_count - old_count) / seconds : 0.0;
  };
  figures.writes_per_second = rate(now.status.writes.committed, before.status.writes.committed);
  figures.commit_groups_per_second =
      rate(now.status.writes.commit_groups, before.status.writes.commit_groups);
  figures.operations = Sorted(operations, seconds);
  figures.tables = Sorted(tables, seconds);
  for (const TopRow& row : figures.operations) figures.calls_per_second += row.calls_per_second;
  return figures;
}

absl::Status RunTop(Context& context, const TopOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  const bool screen = context.format() == OutputFormat::kTable && context.streams().in_is_terminal &&
                      context.streams().out_is_terminal;
  if (screen) return RunScreen(context, client, options);
  absl::Notification stopped;
  const InterruptScope interrupt([&stopped] {
    if (!stopped.HasBeenNotified()) stopped.Notify();
  });
  ITEMDB_ASSIGN_OR_RETURN(TopSample before, Sample(context, client));
  for (int64_t round = 0; round < std::max<int64_t>(options.count, 1); ++round) {
    stopped.WaitForNotificationWithTimeout(absl::Seconds(options.interval_seconds));
    if (stopped.HasBeenNotified() || !context.out().good()) break;
    ITEMDB_ASSIGN_OR_RETURN(TopSample now, Sample(context, client));
    const TopFigures figures = Compare(before, now);
    if (context.format() == OutputFormat::kTable) {
      context.out() << ScreenText(client.endpoint(), now, figures, kUsualSize);
    } else {
      context.Print(ToJson(now, figures));
    }
    context.out().flush();
    before = std::move(now);
  }
  return absl::OkStatus();
}

void RegisterTopCommand(CommandTable& table) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "top",
       .summary = "Show what the daemon does now: calls, latencies, the tables with the most calls, lag",
       .details =
           "On a terminal a screen that is drawn again and again, until q or Ctrl-C. Otherwise one "
           "measurement, or --count. Calls of both protocols are counted. Latencies are those inside the "
           "database, of the calls of the interval: half of them took at most p50, 99 of 100 at most p99. "
           "Lag is how long ago an archive, a standby or a watch of changes was up to date; watches that are "
           "behind have a line each, the slowest five.",
       .examples = {{"itemctl top --interval 0.1 --count 2 -o json", "two measurements for a program"},
                    {"itemctl top --interval 0.2 -o table", "one measurement as text"}}},
      [options](Context& context) { return RunTop(context, *options); });
  command
      ->add_option("--interval", options->interval_seconds,
                   "Seconds from one measurement to the next, 0.1 to 3600. Default: 2")
      ->check(SecondsBetween(0.1, kLongestInterval))
      ->type_name("SECONDS");
  command
      ->add_option("--count", options->count,
                   "Measurements to show, 1 to 1000000. Default: on a terminal until q, otherwise 1")
      ->check(WholeNumberBetween(1, kMostCounts))
      ->type_name("COUNT");
}

}  // namespace itemdb::tools
