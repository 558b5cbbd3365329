// What a move would do: which tables it makes in the target, how much it copies, and what stands in its way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/moving/side.h"

namespace itemdb::tools {

struct TablePlan {
  TableDescription source;
  // Empty: the table has no time to live.
  std::string time_to_live_attribute = {};
  bool exists_in_target = false;
  int64_t items_in_target = 0;
  // The first pages of its table were empty, and more follow: so many that they were not all read.
  bool may_have_items_in_target = false;
  // Why the table cannot be moved as it is, with what to do; empty if it can.
  std::string problem = {};
};

struct MovePlan {
  std::vector<TablePlan> tables;
  // What programs do with the tables that the target does not offer: no hindrance for the move.
  std::vector<std::string> warnings;
  int64_t items = 0;
  int64_t bytes = 0;
  // What DynamoDB charges for writing the items and their index entries once, by the mean sizes.
  int64_t write_units = 0;
  absl::Duration expected_copy_time;
};

struct PlanOptions {
  // Empty: all tables of the source.
  std::vector<std::string> table_names = {};
  // A table of the target with the same definition may have items, which the move overwrites and deletes.
  bool overwrite = false;
  // 0: no bound.
  double max_items_per_second = 0;
};

// Asks both sides. NOT_FOUND: the source has no such table. FAILED_PRECONDITION: it has no tables.
absl::StatusOr<MovePlan> PlanMove(const Side& source, const Side& target, const PlanOptions& options);

// The first problem of the plan's tables as an error.
absl::Status CheckPlan(const MovePlan& plan);

// The definition with which a table is made in the target: without stream, protection and time to live, which
// it gets when it has all items (FinishTable).
TableDefinition DefinitionForCopy(TableDefinition definition);

// Makes the tables that the target lacks.
absl::Status MakeTables(const Side& target, const MovePlan& plan);

// How the definitions of a table differ in the two sides, apart from what FinishTable sets; empty if they do
// not.
std::string DifferenceForCopy(const TableDefinition& source, const TableDefinition& target);

// Gives the table of the target the stream, or the time to live and the deletion protection, of `source`. May
// be repeated.
absl::Status FinishStream(const Side& target, const TableDefinition& source);
absl::Status FinishTable(const Side& target, const TableDefinition& source,
                         const std::string& time_to_live_attribute);

// The TTL attribute of a table; empty if it has none.
absl::StatusOr<std::string> TimeToLiveOf(const Side& side, const std::string& table_name);

}  // namespace itemdb::tools
