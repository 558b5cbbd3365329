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
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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
  ITEMDB_ASSIGN_OR_RETURN(AccessPatternsResult patterns, client.GetAccessPatterns("", context.Call()));
  sample.patterns = std::move(patterns.patterns);
  sample.time = absl::Now();
  return sample;
}

std::string IdentityOf(const AccessPattern& pattern) {
  return absl::StrCat(pattern.table_name, "\n", pattern.operation, "\n", pattern.index_name, "\n",
                      pattern.key_condition, "\n", pattern.filter, "\n", pattern.descending);
}

std::string RateText(double per_second) {
  return per_second >= 100 ? WithSeparators(static_cast<int64_t>(per_second))
                           : absl::StrFormat("%.1f", per_second);
}

std::vector<TopRow> Sorted(std::map<std::string, TopRow> rows) {
  std::vector<TopRow> sorted;
  for (auto& [name, row] : rows) {
    if (row.calls_per_second > 0) sorted.push_back(std::move(row));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const TopRow& a, const TopRow& b) { return a.calls_per_second > b.calls_per_second; });
  return sorted;
}

// "archive 1.2 s behind; standby 0.3 s behind"; empty if the daemon has neither.
std::string LagText(const DaemonStatus& status) {
  std::string text;
  if (status.archive.has_value())
    text = absl::StrFormat("archive %.1f s behind", absl::ToDoubleSeconds(status.archive->lag));
  if (status.standby.has_value()) {
    absl::StrAppend(&text, text.empty() ? "" : "; ",
                    absl::StrFormat("standby %.1f s behind", absl::ToDoubleSeconds(status.standby->lag)));
  }
  if (!status.writes_refused.empty()) absl::StrAppend(&text, text.empty() ? "" : "; ", "WRITES ARE REFUSED");
  return text;
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
  if (const std::string lag = LagText(status); !lag.empty()) out << lag << '\n';
  out << '\n';
  if (figures.operations.empty()) {
    out << "no calls\n";
  } else {
    PrintRows("operation", figures.operations, kTablesShown, size.columns, out);
    out << '\n';
    PrintRows("table", figures.tables, kTablesShown, size.columns, out);
  }
  out << "\nlatencies since the start of itemd; q or Ctrl-C leaves\n";
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

// The same figures as on the screen.
JsonValue ToJson(const DaemonStatus& status, const TopFigures& figures) {
  JsonValue object =
      JsonValue::Object()
          .Add("calls_per_second", JsonValue::Number(absl::StrFormat("%.1f", figures.calls_per_second)))
          .Add("writes_per_second", JsonValue::Number(absl::StrFormat("%.1f", figures.writes_per_second)))
          .Add("commit_groups_per_second",
               JsonValue::Number(absl::StrFormat("%.1f", figures.commit_groups_per_second)))
          .Add("operations", RowsToJson("operation", figures.operations))
          .Add("tables", RowsToJson("table_name", figures.tables))
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
  std::map<std::string, const AccessPattern*> earlier;
  for (const AccessPattern& pattern : before.patterns) earlier[IdentityOf(pattern)] = &pattern;
  std::map<std::string, TopRow> operations;
  std::map<std::string, TopRow> tables;
  for (const AccessPattern& pattern : now.patterns) {
    const auto found = earlier.find(IdentityOf(pattern));
    // After a restart the daemon counts from 0.
    const bool goes_on = found != earlier.end() && found->second->calls <= pattern.calls;
    const AccessPattern zero{};
    const AccessPattern& old = goes_on ? *found->second : zero;
    const double calls = static_cast<double>(pattern.calls - old.calls) / seconds;
    if (calls <= 0) continue;
    figures.calls_per_second += calls;
    for (TopRow* row : {&operations[pattern.operation], &tables[pattern.table_name]}) {
      row->calls_per_second += calls;
      row->errors_per_second += static_cast<double>(pattern.errors - old.errors) / seconds;
      row->items_per_second += static_cast<double>(pattern.items_scanned - old.items_scanned) / seconds;
      row->p50 = std::max(row->p50, pattern.p50);
      row->p99 = std::max(row->p99, pattern.p99);
    }
    operations[pattern.operation].name = pattern.operation;
    tables[pattern.table_name].name = pattern.table_name;
  }
  const auto rate = [seconds](auto new_count, auto old_count) {
    return new_count > old_count ? static_cast<double>(new_count - old_count) / seconds : 0.0;
  };
  figures.writes_per_second = rate(now.status.writes.committed, before.status.writes.committed);
  figures.commit_groups_per_second =
      rate(now.status.writes.commit_groups, before.status.writes.commit_groups);
  figures.operations = Sorted(std::move(operations));
  figures.tables = Sorted(std::move(tables));
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
      context.Print(ToJson(now.status, figures));
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
           "measurement, or --count. Calls of both protocols are counted; latencies are those inside the "
           "database, since it was started.",
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
