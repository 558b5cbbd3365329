#include "daemon/offline/report_text.h"

#include <algorithm>
#include <cinttypes>
#include <map>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

namespace itemdb::daemon {
namespace {

using storage::RecoveryReport;
using storage::TableReport;

std::string NumberOrUnknown(const std::optional<int64_t>& number) {
  return number.has_value() ? std::to_string(*number) : "unknown";
}

std::string LostOf(const TableReport& table) {
  if (!table.recorded_items.has_value()) return "unknown";
  return std::to_string(std::max<int64_t>(*table.recorded_items - table.readable_items, 0));
}

// "kept" or another word for what happens to the readable items.
std::string TablesText(const RecoveryReport& report, const char* kept) {
  size_t width = 5;
  for (const TableReport& table : report.tables) width = std::max(width, table.name.size());
  std::string text =
      absl::StrFormat("%-*s %12s %12s %12s\n", static_cast<int>(width), "table", kept, "recorded", "lost");
  for (const TableReport& table : report.tables) {
    absl::StrAppendFormat(&text, "%-*s %12d %12s %12s\n", static_cast<int>(width), table.name,
                          table.readable_items, NumberOrUnknown(table.recorded_items), LostOf(table));
  }
  return text;
}

std::string ChangesText(const RecoveryReport& report) {
  std::string text = absl::StrFormat(
      "changes       durable up to %d, readable up to %s\n", report.durable_sequence,
      report.readable_sequence.has_value() ? std::to_string(*report.readable_sequence)
                                           : "unknown, because table files of items are damaged");
  return text;
}

// Everything that is lost or damaged beside the items of tables. A family that is not readable as a whole may
// have readable files.
std::string DamageText(const RecoveryReport& report) {
  std::string text;
  for (const auto& file : report.damaged_files) {
    absl::StrAppendFormat(&text, "damaged file  %s family=%s bytes=%d kept=%s: %s\n", file.name,
                          file.family.empty() ? "unknown" : file.family, file.bytes,
                          file.is_partly_readable ? "undamaged blocks" : "nothing", file.error);
  }
  if (!report.unreadable_families.empty())
    absl::StrAppendFormat(&text, "not readable  families %s\n",
                          absl::StrJoin(report.unreadable_families, ", "));
  const auto count = [&text](int64_t number, const char* what) {
    if (number > 0) absl::StrAppendFormat(&text, "damaged       %d %s\n", number, what);
  };
  count(report.damaged_ranges, "ranges of damaged blocks of items");
  count(report.damaged_items, "items with a wrong checksum");
  count(report.items_in_doubt, "items whose newest version may be in a damaged block");
  if (report.items_without_table > 0)
    absl::StrAppendFormat(&text, "no table      %d readable items are of deleted or unknown tables\n",
                          report.items_without_table);
  return text;
}

std::string HeadText(const std::string& directory, const RecoveryReport& report) {
  return absl::StrFormat("directory     %s\ndatabase      %s\n", directory,
                         report.database_id.empty() ? "unknown" : report.database_id);
}

}  // namespace

std::string PlanText(const std::string& directory, const RecoveryReport& report) {
  std::string text = HeadText(directory, report);
  if (report.cause.empty()) {
    text += "damage        none: an ordinary start opens the directory and keeps everything\n";
    return text + ChangesText(report) + DamageText(report) + "\n" + TablesText(report, "readable");
  }
  absl::StrAppendFormat(&text, "damage        %s\n", report.cause);
  text += ChangesText(report) + DamageText(report);
  absl::StrAppendFormat(
      &text,
      "\n--recover=last-good would keep these items, compute indexes and size statistics again, "
      "forget request tokens, and begin an empty change log at change %d. It would keep the "
      "files from before in quarantine-N. This run has changed nothing.\n\n",
      report.next_sequence);
  return text + TablesText(report, "kept");
}

std::string SalvageText(const std::string& directory, const std::string& target,
                        const RecoveryReport& report) {
  std::string text = HeadText(directory, report);
  absl::StrAppendFormat(&text, "damage        %s\n", report.cause.empty() ? "none" : report.cause);
  text += ChangesText(report) + DamageText(report) + "\n" + TablesText(report, "salvaged");
  absl::StrAppendFormat(
      &text,
      "\n%s has a new database with these items. Its indexes are built when it is first opened: "
      "itemd --data-dir %s\n",
      target, target);
  return text;
}

std::string RestoreText(const std::string& directory, const storage::RestoredDatabase& restored) {
  const auto time_text = [](int64_t time_us) {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::FromUnixMicros(time_us), absl::UTCTimeZone());
  };
  const v1::DatabaseBackup& backup = restored.backup;
  std::string text =
      absl::StrFormat("restored      backup %d of database %s, begun at %s\n", backup.backup_id(),
                      backup.database_id(), time_text(backup.begin_time_us()));
  if (restored.replayed_groups > 0) {
    absl::StrAppendFormat(&text, "replayed      %d commit groups of the archive, the last of %s\n",
                          restored.replayed_groups, time_text(restored.commit_time_us));
  }
  absl::StrAppendFormat(&text, "contains      every change up to %d\n", restored.change_sequence);
  if (restored.needs_rebuild)
    absl::StrAppend(&text, "indexes       the first start computes them from the items\n");
  absl::StrAppendFormat(&text, "next          itemd --data-dir %s\n", directory);
  return text;
}

std::string FilesText(const std::vector<storage::FileReport>& files) {
  struct Sum {
    int64_t files = 0;
    uint64_t bytes = 0;
    uint64_t entries = 0;
  };
  std::map<std::string, Sum> families;
  const bool has_keys =
      std::any_of(files.begin(), files.end(), [](const auto& file) { return !file.key_id.empty(); });
  const auto key_column = [&](const std::string& key) {
    return has_keys ? absl::StrFormat("%-15s ", key.empty() ? "-" : key) : "";
  };
  std::string text = absl::StrFormat("%-20s %14s %-15s %12s %s%s\n", "file", "bytes", "family", "entries",
                                     key_column("key"), "damage");
  for (const storage::FileReport& file : files) {
    const bool is_table_file = file.name.ends_with(".sst");
    const std::string family = !is_table_file ? "-" : file.family.empty() ? "unknown" : file.family;
    absl::StrAppendFormat(&text, "%-20s %14d %-15s %12s %s%s\n", file.name, file.bytes, family,
                          is_table_file ? std::to_string(file.entries) : "-", key_column(file.key_id),
                          file.damage.empty() ? "-" : file.damage);
    if (!is_table_file) continue;
    Sum& sum = families[family];
    ++sum.files;
    sum.bytes += file.bytes;
    sum.entries += file.entries;
  }
  absl::StrAppendFormat(&text, "\n%-20s %14s %-15s %12s\n", "family", "bytes", "files", "entries");
  for (const auto& [family, sum] : families)
    absl::StrAppendFormat(&text, "%-20s %14d %-15d %12d\n", family, sum.bytes, sum.files, sum.entries);
  return text;
}

}  // namespace itemdb::daemon
