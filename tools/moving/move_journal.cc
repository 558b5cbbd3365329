#include "tools/moving/move_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "itemdb/errors.h"

namespace itemdb::tools {
namespace {

constexpr char kKeyAttribute[] = "source";
constexpr char kStateAttribute[] = "state";

absl::Status FileError(const std::string& doing, const std::string& path) {
  return absl::FailedPreconditionError("cannot " + doing + " " + path + ": " + std::strerror(errno));
}

absl::Status SyncFolderOf(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return FileError("open", folder.string());
  const bool synced = fsync(descriptor) == 0;
  close(descriptor);
  return synced ? absl::OkStatus() : FileError("sync", folder.string());
}

}  // namespace

Item MoveJournal::KeyOfMove(const std::string& source) const { return Item{{kKeyAttribute, source}}; }

absl::StatusOr<std::optional<MoveState>> MoveJournal::LoadFile() const {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return std::nullopt;
  std::ifstream file(path_, std::ios::binary);
  std::ostringstream text;
  if (!file.is_open()) return FileError("read", path_);
  text << file.rdbuf();
  absl::StatusOr<MoveState> state = ParseMoveState(text.str());
  if (!state.ok()) return WithWords(path_, state.status());
  return *std::move(state);
}

absl::StatusOr<std::optional<MoveState>> MoveJournal::ReadItem(const std::string& source) const {
  ITEMDB_ASSIGN_OR_RETURN(const auto table, target_.FindTable(kMovesTable));
  if (!table.has_value()) return std::nullopt;
  ITEMDB_ASSIGN_OR_RETURN(const auto items, target_.GetItems(kMovesTable, {KeyOfMove(source)}));
  if (!items.front().has_value()) return std::nullopt;
  const Value* text = items.front()->find_or_null(kStateAttribute);
  if (text == nullptr || text->string_or_null() == nullptr)
    return absl::DataLossError(std::string("the item of the move in table ") + kMovesTable +
                               " of the target has no state");
  ITEMDB_ASSIGN_OR_RETURN(MoveState state, ParseMoveState(*text->string_or_null()));
  return state;
}

absl::StatusOr<std::optional<MoveState>> MoveJournal::Load(const std::string& source) {
  ITEMDB_ASSIGN_OR_RETURN(std::optional<MoveState> of_file, LoadFile());
  ITEMDB_ASSIGN_OR_RETURN(std::optional<MoveState> of_target, ReadItem(source));
  item_exists_ = of_target.has_value();
  if (!of_file.has_value() && !of_target.has_value()) return std::nullopt;
  if (of_file.has_value() && of_file->source != source)
    return absl::FailedPreconditionError(path_ + " is of a move from another database (" +
                                         of_file->source_endpoint + "): name another file with --state");
  // The item is deleted before the file: only that was left to do.
  if (!of_target.has_value() && of_file->step == MoveStep::kBack) of_target = of_file;
  if (!of_target.has_value()) {
    return absl::FailedPreconditionError(
        "the target has no record of the move in " + path_ +
        ": it lost its data, or is another one. End that move with --abort, then begin again");
  }
  if (of_file.has_value() && of_file->move_id != of_target->move_id) {
    return absl::FailedPreconditionError(
        path_ + " and table " + kMovesTable +
        " of the target are of different moves: delete the file if that move "
        "is over, or name another file with --state");
  }
  MoveState state = *std::move(of_target);
  // A target that was restored to the time before the switch has lost what writers wrote there, but not them.
  if (of_file.has_value() && of_file->step >= MoveStep::kSwitched)
    state.step = std::max(state.step, of_file->step);
  std::lock_guard<std::mutex> lock(mutex_);
  state_ = state;
  return state;
}

absl::Status MoveJournal::Begin(MoveState state) {
  ITEMDB_ASSIGN_OR_RETURN(const auto table, target_.FindTable(kMovesTable));
  if (!table.has_value()) {
    const TableDefinition definition{.table_name = kMovesTable,
                                     .attribute_definitions = {{kKeyAttribute, ScalarAttributeType::kString}},
                                     .key_schema = {{kKeyAttribute, KeyType::kHash}}};
    const absl::Status made =
        target_.Try([&] { return target_.client().CreateTable(definition, target_.call()).status(); });
    // It may have been made by a call whose answer was lost.
    if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
  }
  const MoveState loaded = this->state();
  Condition condition{.expression = "attribute_not_exists(move_id)"};
  if (item_exists_) condition = IsAsLoaded(loaded);
  std::lock_guard<std::mutex> lock(store_mutex_);
  {
    std::lock_guard<std::mutex> state_lock(mutex_);
    state_ = std::move(state);
  }
  return Store(std::move(condition));
}

MoveJournal::Condition MoveJournal::IsAsLoaded(const MoveState& loaded) const {
  // Earlier versions stored no run.
  if (loaded.run.empty())
    return {.expression = "move_id = :loaded AND attribute_not_exists(run_id)",
            .values = {{":loaded", loaded.move_id}}};
  return {.expression = "move_id = :loaded AND run_id = :loaded_run AND revision = :loaded_revision",
          .values = {{":loaded", loaded.move_id},
                     {":loaded_run", loaded.run},
                     {":loaded_revision", Number(loaded.revision)}}};
}

absl::Status MoveJournal::TakeOver(const std::string& run) {
  Condition condition = IsAsLoaded(state());
  std::lock_guard<std::mutex> lock(store_mutex_);
  {
    std::lock_guard<std::mutex> state_lock(mutex_);
    state_.run = run;
  }
  return Store(std::move(condition));
}

MoveState MoveJournal::state() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return state_;
}

absl::Status MoveJournal::Change(bool now, absl::FunctionRef<void(MoveState&)> change) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    change(state_);
    if (!now && absl::Now() - stored_time_ < absl::Seconds(1)) return absl::OkStatus();
    stored_time_ = absl::Now();
  }
  std::lock_guard<std::mutex> lock(store_mutex_);
  const MoveState present = state();
  return Store(
      {.expression = "move_id = :move AND run_id = :run AND revision < :next",
       .values = {
           {":move", present.move_id}, {":run", present.run}, {":next", Number(present.revision + 1)}}});
}

// The target first: the file of a move that another run has ended must not come back.
absl::Status MoveJournal::Store(Condition condition) {
  MoveState state;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ++state_.revision;
    state = state_;
  }
  Item item = KeyOfMove(state.source);
  item.Set("move_id", state.move_id);
  item.Set("run_id", state.run);
  item.Set("revision", Number(state.revision));
  item.Set("step", std::string(StepName(state.step)));
  item.Set("sequence", Number(state.sequence));
  item.Set(kStateAttribute, OneLine(MoveStateToJson(state)));
  const PutItemRequest put{.table_name = kMovesTable,
                           .item = std::move(item),
                           .condition_expression = std::move(condition.expression),
                           .expression_attribute_values = std::move(condition.values)};
  const Side& target = hurries_ ? hurried_target_ : target_;
  absl::Status stored = target.Try([&] { return target.client().PutItem(put, target.call()).status(); });
  if (ReasonOf(stored) == kReasonConditionalCheckFailed) {
    ITEMDB_ASSIGN_OR_RETURN(const std::optional<MoveState> present, ReadItem(state.source));
    const bool is_stored = present.has_value() && present->move_id == state.move_id &&
                           present->run == state.run && present->revision == state.revision;
    // Otherwise it was stored by an attempt whose answer was lost.
    if (!is_stored) {
      // This run may have written the file again after another one had ended the move.
      if (!present.has_value() || present->move_id != state.move_id)
        ITEMDB_RETURN_IF_ERROR(ForgetFile(state.move_id));
      return absl::AbortedError("another run of this command goes on with the move, or has ended it");
    }
    stored = absl::OkStatus();
  }
  ITEMDB_RETURN_IF_ERROR(stored);
  item_exists_ = true;
  return WriteFile(state);
}

absl::Status MoveJournal::WriteFile(const MoveState& state) const {
  const std::string text = Indented(MoveStateToJson(state)) + "\n";
  const std::string next = path_ + ".new";
  const int descriptor = open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return FileError("write", next);
  bool written = true;
  for (size_t done = 0; written && done < text.size();) {
    const ssize_t more = write(descriptor, text.data() + done, text.size() - done);
    if (more < 0 && errno == EINTR) continue;
    written = more > 0;
    if (written) done += static_cast<size_t>(more);
  }
  written = written && fsync(descriptor) == 0;
  const absl::Status failed = written ? absl::OkStatus() : FileError("write", next);
  close(descriptor);
  ITEMDB_RETURN_IF_ERROR(failed);
  if (std::rename(next.c_str(), path_.c_str()) != 0) return FileError("replace", path_);
  return SyncFolderOf(path_);
}

absl::Status MoveJournal::Forget() {
  const MoveState state = this->state();
  const DeleteItemRequest remove{
      .table_name = kMovesTable,
      .key = KeyOfMove(state.source),
      .condition_expression = "attribute_not_exists(move_id) OR (move_id = :move AND run_id = :run)",
      .expression_attribute_values = {{":move", state.move_id}, {":run", state.run}}};
  const absl::Status removed =
      target_.Try([&] { return target_.client().DeleteItem(remove, target_.call()).status(); });
  if (ReasonOf(removed) == kReasonConditionalCheckFailed)
    return absl::AbortedError("another run of this command goes on with the move");
  if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
  return ForgetFile(state.move_id);
}

absl::Status MoveJournal::ForgetFile(const std::string& move_id) const {
  const auto file = LoadFile();
  if (!file.ok() || !file->has_value() || (*file)->move_id != move_id) return absl::OkStatus();
  if (std::remove(path_.c_str()) != 0 && errno != ENOENT) return FileError("delete", path_);
  return absl::OkStatus();
}

}  // namespace itemdb::tools
