#include "bench/imports.h"

#include <ctime>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/import_files.h"
#include "bench/order_store.h"
#include "bench/scratch.h"
#include "bench/seconds.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;
constexpr char kImportsBucket[] = "bucket";
constexpr char kImportsTable[] = "imported";
constexpr int kIndexCounts[] = {2, 4};
constexpr double kGoalsPerSecond[] = {300'000, 180'000};
constexpr size_t kImportKinds = std::size(kIndexCounts);

struct MeasuredImport {
  double seconds = 0;
  double cpu_seconds = 0;
};

// Into a new database, so that nothing of an earlier import is left to do.
absl::StatusOr<MeasuredImport> ImportOnce(Session& session, const std::string& buckets, uint64_t items,
                                          int indexes) {
  const std::string directory = session.scratch.NewPath();
  storage::DatabaseOptions database_options = OptionsFor(directory, /*durable=*/true);
  database_options.export_directory = buckets;
  MeasuredImport measured;
  {
    ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<storage::Database> database,
                            storage::Database::Open(std::move(database_options)));
    const Clock::time_point begin = Clock::now();
    const std::clock_t cpu = std::clock();
    ITEMDB_RETURN_IF_ERROR(
        RunImport(session, *database, ImportOf(kImportsBucket, kImportsTable, indexes), items));
    measured.seconds = SecondsSince(begin);
    measured.cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  }
  RemoveAll(directory);
  return measured;
}

}  // namespace

absl::Status RunImports(Session& session, const ImportsOptions& options) {
  const std::string buckets = session.scratch.NewPath();
  session.Progress("imports: writing the files");
  ITEMDB_ASSIGN_OR_RETURN(const int64_t json_bytes,
                          WriteImportFiles(session, buckets + "/" + kImportsBucket, options.items));
  int64_t file_bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(buckets + "/" + kImportsBucket))
    file_bytes += static_cast<int64_t>(file.file_size());

  std::vector<double> seconds[kImportKinds];
  std::vector<double> cpu_seconds[kImportKinds];
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < kImportKinds; ++i) {
      session.Progress("imports: round " + std::to_string(round + 1) + ", " +
                       std::to_string(kIndexCounts[i]) + " indexes");
      ITEMDB_ASSIGN_OR_RETURN(const MeasuredImport measured,
                              ImportOnce(session, buckets, options.items, kIndexCounts[i]));
      seconds[i].push_back(measured.seconds);
      cpu_seconds[i].push_back(measured.cpu_seconds);
    }
  }
  session.Progress("");
  RemoveAll(buckets);

  TextTable table;
  const auto megabytes = [](int64_t bytes) { return Figure(static_cast<double>(bytes) / 1e6); };
  table.title = "ImportTable of " + std::to_string(options.items) + " items of 300 bytes from " +
                std::to_string(kImportFiles) + " gzip files: " + megabytes(file_bytes) + " MB, " +
                megabytes(json_bytes) + " MB of JSON";
  table.columns = {"key-only global indexes", "seconds", "items/s", "goal", "CPU seconds"};
  table.notes = {"Each import makes a table of a new database in this process."};
  std::vector<ordered_json> lines;
  for (size_t i = 0; i < kImportKinds; ++i) {
    std::vector<double> per_second;
    for (const double once : seconds[i]) per_second.push_back(static_cast<double>(options.items) / once);
    table.rows.push_back({std::to_string(kIndexCounts[i]), Figure(SpreadOf(seconds[i])),
                          Figure(SpreadOf(per_second)), Figure(kGoalsPerSecond[i]),
                          Figure(SpreadOf(cpu_seconds[i]))});
    lines.push_back({{"figure", "import"},
                     {"items", options.items},
                     {"indexes", kIndexCounts[i]},
                     {"seconds", ToJson(SpreadOf(seconds[i]))},
                     {"items_per_second", ToJson(SpreadOf(per_second))},
                     {"cpu_seconds", ToJson(SpreadOf(cpu_seconds[i]))}});
  }
  session.report.Add(table, lines);
  return absl::OkStatus();
}

}  // namespace itemdb::bench
