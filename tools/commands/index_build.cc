#include "tools/commands/index_build.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "tools/cli/progress.h"

namespace itemdb::tools {
namespace {

// The time between two polls of the index's progress.
constexpr absl::Duration kBuildPollInterval = absl::Milliseconds(200);

}  // namespace

const IndexDescription* FindIndex(const TableDescription& table, std::string_view index_name) {
  for (const IndexDescription& index : table.indexes) {
    if (index.definition.index_name == index_name) return &index;
  }
  return nullptr;
}

absl::Status NoSuchIndex(const std::string& table_name, const std::string& index_name) {
  return absl::NotFoundError(
      absl::StrFormat("the table %s has no global secondary index %s", table_name, index_name));
}

std::string PhaseText(const IndexBuild& build) {
  switch (build.phase) {
    case IndexBuild::Phase::kWaiting:
      return "waiting for another index";
    case IndexBuild::Phase::kScanning:
      return "reading items";
    case IndexBuild::Phase::kWriting:
      return "writing entries";
    case IndexBuild::Phase::kCatchingUp:
      return "catching up with writes";
    case IndexBuild::Phase::kUnknown:
      return "";
  }
  return "";
}

absl::StatusOr<TableDescription> AwaitIndex(Context& context, const Client& client,
                                            const std::string& table_name, const std::string& index_name) {
  std::unique_ptr<Progress> progress;
  std::optional<IndexBuild::Phase> shown;
  while (true) {
    ITEMDB_ASSIGN_OR_RETURN(TableResult result, client.DescribeTable(table_name, context.Call()));
    const IndexDescription* index = FindIndex(result.table, index_name);
    if (index == nullptr) return NoSuchIndex(table_name, index_name);
    if (index->index_status != TableStatus::kCreating) return std::move(result.table);
    if (index->build.has_value()) {
      if (shown != index->build->phase) {
        progress.reset();  // Erases the old line first: only one Progress may write to the terminal.
        progress = std::make_unique<Progress>(
            ProgressStream(context),
            Progress::Options{
                .doing = absl::StrCat(index_name, ": ", PhaseText(*index->build)),
                .unit = index->build->phase == IndexBuild::Phase::kCatchingUp ? "changes" : "items",
                .total = index->build->total});
        shown = index->build->phase;
      }
      progress->Set(index->build->done);
    }
    if (context.session().interrupted())
      return absl::CancelledError("interrupted; the daemon continues to create the index");
    absl::SleepFor(kBuildPollInterval);
  }
}

}  // namespace itemdb::tools
