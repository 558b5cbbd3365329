#include "tools/moving/fences.h"

#include <algorithm>

#include "common/status_macros.h"
#include "itemdb/errors.h"

namespace itemdb::tools {

absl::Status Fences::Read(const Side& side) {
  by_table_.clear();
  if (!side.is_itemd()) return absl::OkStatus();
  const MoveState state = journal_.state();
  for (const MovedTable& moved : state.tables) {
    ITEMDB_ASSIGN_OR_RETURN(const auto table, side.FindTable(moved.name));
    if (!table.has_value()) {
      // Only the records of the move are left to be deleted.
      if (state.step == MoveStep::kBack) continue;
      return absl::NotFoundError("table " + moved.name + " was deleted in " + side.name());
    }
    Add(moved.name, table->write_fence.value_or(WriteFence()));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Fences::SetOne(const Side& side, const std::string& table, const WriteFence& fence) {
  WriteFence& present = by_table_.at(table);
  WriteFence expected = present;
  for (bool again = true;; again = false) {
    const UpdateTableRequest update{
        .table_name = table, .write_fence = fence, .expected_write_fence = expected};
    const absl::StatusOr<TableResult> result =
        side.Try([&] { return side.client().UpdateTable(update, side.call()); });
    if (result.ok()) {
      present = fence;
      return result->change_sequence;
    }
    if (ReasonOf(result.status()) != kReasonConditionalCheckFailed) return result.status();
    ITEMDB_ASSIGN_OR_RETURN(const auto found, side.FindTable(table));
    // This run set it by a call whose answer was lost.
    const bool is_own =
        found.has_value() && found->write_fence.has_value() && found->write_fence->pass_sha256 == run_;
    if (!is_own || !again) break;
    expected = *found->write_fence;
  }
  ITEMDB_RETURN_IF_ERROR(journal_.CheckIsTheRun());
  return absl::AbortedError("somebody changed the fence of table " + table + " in " + side.name() +
                            " meanwhile: run the same command again");
}

absl::StatusOr<uint64_t> Fences::Set(const Side& side, const WriteFence& fence) {
  uint64_t last = 0;
  for (const auto& [table, present] : by_table_) {
    ITEMDB_ASSIGN_OR_RETURN(const uint64_t sequence, SetOne(side, table, fence));
    last = std::max(last, sequence);
  }
  return last;
}

absl::Status Fences::LiftAll(const Side& side) {
  absl::Status lifted;
  // Also where they seem to have none: the answer of the call that set it may have been lost.
  for (const auto& [table, present] : by_table_) lifted.Update(SetOne(side, table, {}).status());
  return lifted;
}

absl::Status Fences::LiftWaitingFor(const Side& side, const std::string& endpoint) {
  for (const auto& [table, present] : by_table_) {
    if (present.moved || present.endpoint != endpoint) continue;
    ITEMDB_RETURN_IF_ERROR(SetOne(side, table, {}).status());
  }
  return absl::OkStatus();
}

std::optional<std::string> Fences::OtherThanWaitingFor(const std::string& endpoint) const {
  for (const auto& [table, fence] : by_table_) {
    if (!fence.endpoint.empty() && (fence.moved || fence.endpoint != endpoint)) return fence.endpoint;
  }
  return std::nullopt;
}

bool Fences::SendsWritersAway() const {
  return std::any_of(by_table_.begin(), by_table_.end(),
                     [](const auto& known) { return known.second.moved; });
}

}  // namespace itemdb::tools
