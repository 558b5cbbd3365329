#include "storage/bulk_puts/bulk_commit.h"

#include <algorithm>
#include <utility>

#include "storage/bulk_puts/bulk_records.h"
#include "storage/bulk_puts/bulk_report.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/items/item_collections.h"

namespace itemdb::storage {
namespace {

// Memory of a line besides its item: descriptors, expressions.
constexpr size_t kLineOverheadBytes = 512;

size_t MemoryOf(const std::vector<BulkLine>& lines) {
  size_t bytes = 0;
  for (const BulkLine& line : lines) {
    bytes += kLineOverheadBytes;
    if (!line.put.has_value()) continue;
    bytes += line.put->key_or_item.size() + line.put->expression_bytes;
    if (line.put->prefetched.item.has_value()) bytes += line.put->prefetched.item->size();
  }
  return bytes;
}

// Whether an ordinary put of this item would fail in the same way each time.
bool IsErrorOfItem(const absl::Status& error) {
  return absl::IsInvalidArgument(error) || absl::IsDataLoss(error) ||
         ReasonOf(error) == kReasonItemCollectionSizeLimitExceeded;
}

// Applies the lines of one commit.
class LinesToApply {
 public:
  LinesToApply(BulkCommit& commit, v1::StoredBulkProgress progress)
      : commit_(commit), progress_(std::move(progress)), meter_(v1::RETURN_CONSUMED_CAPACITY_TOTAL) {
    // The group borrows the new items, so the decisions must not be moved.
    decisions_.reserve(commit_.lines.size());
  }

  absl::Status Apply(CommitGroup& group) {
    ITEMDB_RETURN_IF_ERROR(CheckBulkTable(*group.catalog(), commit_.operation));
    absl::Status status;
    for (BulkLine& line : commit_.lines) {
      status = ApplyLine(line, group);
      if (!status.ok()) break;
      progress_.set_done_lines(std::max(progress_.done_lines(), line.number));
    }
    progress_.set_object_bytes(commit_.object_bytes);
    if (status.ok() && commit_.ends_object) EndObject();
    const std::string id = BulkOperationIdOf(commit_.operation.description());
    if (!report_.errors().empty() || !report_.condition_check_failures().empty()) {
      PutBulkReport(id, progress_.next_report(), report_, group);
      progress_.set_next_report(progress_.next_report() + 1);
    }
    PutBulkProgress(id, progress_, group);
    return status;
  }

  const v1::StoredBulkProgress& progress() const { return progress_; }
  double TakeUnits() {
    double units = 0;
    for (const v1::ConsumedCapacity& consumed : meter_.Take()) units += consumed.capacity_units();
    return units;
  }

 private:
  // Any error is one of the database, not of the line.
  absl::Status ApplyLine(BulkLine& line, CommitGroup& group) {
    if (!line.put.has_value()) return AddError(line, line.error);
    PreparedAction& put = *line.put;
    Decision& decision = decisions_.emplace_back(Decide(put, group));
    CheckCollections({&put, 1}, group, {&decision, 1});
    absl::Status status;
    switch (decision.outcome) {
      case Decision::Outcome::kApply:
        AddConsumedCapacity(put, decision, /*transactional=*/false, &meter_);
        if (decision.changed) {
          const uint64_t own = group.next_sequence();
          Append(put, decision, own, own, group);
        }
        progress_.set_written_item_count(progress_.written_item_count() + 1);
        break;
      case Decision::Outcome::kConditionFailed:
        AddConsumedCapacity(put, decision, /*transactional=*/false, &meter_);
        progress_.set_condition_check_failure_count(progress_.condition_check_failure_count() + 1);
        if (Reports(commit_.operation, v1::BULK_OUTPUT_TYPE_CONDITION_CHECK_FAILURE)) {
          const std::string key = ExtractPrimaryKey(*put.table, ItemView(put.key_or_item));
          report_.add_condition_check_failures(ConditionFailureLine(commit_.object, line.number, key));
        }
        break;
      case Decision::Outcome::kError:
        status = IsErrorOfItem(decision.error) ? AddError(line, MessageOf(decision.error)) : decision.error;
        break;
    }
    // Keeps only the new item, which later lines may read.
    decision.old_item.reset();
    decision.entry_changes = {};
    put.prefetched = {};
    group.ReleaseReads();
    return status;
  }

  absl::Status AddError(const BulkLine& line, const std::string& reason) {
    progress_.set_failed_item_count(progress_.failed_item_count() + 1);
    if (Reports(commit_.operation, v1::BULK_OUTPUT_TYPE_ERROR))
      report_.add_errors(BulkErrorLine(commit_.object, line.number, reason));
    return absl::OkStatus();
  }

  void EndObject() {
    progress_.set_ended_objects_bytes(progress_.ended_objects_bytes() + commit_.object_bytes);
    progress_.set_object_bytes(0);
    progress_.set_done_lines(0);
    progress_.set_object(progress_.object() + 1);
  }

  BulkCommit& commit_;
  v1::StoredBulkProgress progress_;
  v1::StoredBulkReport report_;
  std::vector<Decision> decisions_;
  CapacityMeter meter_;
};

}  // namespace

absl::Status CommitBulkLines(Engine& engine, BulkCommit commit, v1::StoredBulkProgress* progress,
                             double* units) {
  // Lives until the group is written: the group borrows from its decisions.
  LinesToApply lines(commit, *progress);
  const absl::Status status =
      CommitAndWait(engine, [&](CommitGroup& group) { return lines.Apply(group); },
                    {.size_bytes = MemoryOf(commit.lines), .when_full = WhenFull::kWait})
          .status();
  *units += lines.TakeUnits();
  if (status.ok()) *progress = lines.progress();
  return status;
}

absl::Status CheckBulkTable(const Catalog& catalog, const v1::StoredBulkOperation& operation) {
  const std::string& name = operation.request().table_name();
  const auto table = catalog.FindByName(name);
  if (table != nullptr && table->storage_id == operation.storage_id()) return absl::OkStatus();
  return NotFoundError("Requested resource not found: Table: " + name +
                       " was deleted while its bulk put was in progress");
}

bool Reports(const v1::StoredBulkOperation& operation, v1::BulkOutputType type) {
  const auto& types = operation.description().output().output_type();
  return std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace itemdb::storage
