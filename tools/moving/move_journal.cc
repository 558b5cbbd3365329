#include "tools/moving/move_journal.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "itemdb/errors.h"
#include "tools/base/durable_file.h"

namespace itemdb::tools {
namespace {

constexpr char kKeyAttribute[] = "source";
constexpr char kStateAttribute[] = "state";
// How many parts the state has beside that in the item of the move.
constexpr char kPartsAttribute[] = "parts";
// Of a part: the source of its move.
constexpr char kPartOfAttribute[] = "part_of";
// Of the text of a state in one item, which is at most 400 KB large.
constexpr size_t kMostBytesOfPart = 300'000;
// More than stores that fail one after the other although parts can be written.
constexpr uint64_t kSetsOfParts = 8;
// How often a state is read that others are stored over meanwhile.
constexpr int kMostReads = 20;

// At least one. No character is in two of them.
std::vector<std::string> PartsOf(std::string_view text) {
  std::vector<std::string> parts;
  do {
    size_t size = std::min(text.size(), kMostBytesOfPart);
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    parts.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  } while (!text.empty());
  return parts;
}

}  // namespace

Item MoveJournal::KeyOfMove(const std::string& source) const { return Item{{kKeyAttribute, source}}; }

absl::StatusOr<std::optional<MoveState>> MoveJournal::LoadFile() const {
  ITEMDB_ASSIGN_OR_RETURN(const std::optional<std::string> text, ReadFileIfExists(path_));
  if (!text.has_value()) return std::nullopt;
  absl::StatusOr<MoveState> state = ParseMoveState(*text);
  if (!state.ok()) return WithWords(path_, state.status());
  return *std::move(state);
}

// The key attribute holds only sources otherwise: endpoints and UUIDs, which have no spaces.
Item MoveJournal::KeyOfPart(const std::string& source, const std::string& run, uint64_t revision,
                            size_t number) {
  return Item{
      {kKeyAttribute, absl::StrCat(source, " part ", number, " of ", run, "/", revision % kSetsOfParts)}};
}

absl::StatusOr<std::string> MoveJournal::ReadText(const Item& item) const {
  const auto text_of = [](const Item& one, const char* name) -> const std::string* {
    const Value* value = one.find_or_null(name);
    return value == nullptr ? nullptr : value->string_or_null();
  };
  const auto number_of = [](const Item& one, const char* name) -> int64_t {
    const Value* value = one.find_or_null(name);
    const Number* number = value == nullptr ? nullptr : value->number_or_null();
    return number == nullptr ? 0 : number->ToInt64().value_or(0);
  };
  const std::string* first = text_of(item, kStateAttribute);
  if (first == nullptr)
    return absl::DataLossError(std::string("the item of the move in table ") + kMovesTable +
                               " of the target has no state");
  const int64_t parts = number_of(item, kPartsAttribute);
  const int64_t revision = number_of(item, "revision");
  const std::string* source = text_of(item, kKeyAttribute);
  const std::string* run = text_of(item, "run_id");
  if (parts <= 0 || source == nullptr || run == nullptr) return *first;
  std::string text = *first;
  for (int64_t i = 0; i < parts; ++i) {
    const Item key = KeyOfPart(*source, *run, static_cast<uint64_t>(revision), static_cast<size_t>(i));
    ITEMDB_ASSIGN_OR_RETURN(const auto found, target_.GetItems(kMovesTable, {key}));
    const std::string* part = found.front().has_value() ? text_of(*found.front(), kStateAttribute) : nullptr;
    if (part == nullptr || number_of(*found.front(), "revision") != revision) return "";
    text += *part;
  }
  return text;
}

absl::StatusOr<std::optional<MoveState>> MoveJournal::ReadItem(const std::string& source) const {
  ITEMDB_ASSIGN_OR_RETURN(const auto table, target_.FindTable(kMovesTable));
  if (!table.has_value()) return std::nullopt;
  for (int i = 0; i < kMostReads; ++i) {
    ITEMDB_ASSIGN_OR_RETURN(const auto items, target_.GetItems(kMovesTable, {KeyOfMove(source)}));
    if (!items.front().has_value()) return std::nullopt;
    ITEMDB_ASSIGN_OR_RETURN(const std::string text, ReadText(*items.front()));
    if (text.empty()) continue;
    ITEMDB_ASSIGN_OR_RETURN(MoveState state, ParseMoveState(text));
    return state;
  }
  return absl::DataLossError(std::string("parts of the state of the move in table ") + kMovesTable +
                             " of the target are missing");
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
  stored_sequence_ = state.sequence;
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
  const std::string source = state.source, run = state.run;
  {
    std::lock_guard<std::mutex> state_lock(mutex_);
    state_ = std::move(state);
  }
  item_exists_ = false;
  if (const absl::Status stored = Store(std::move(condition)); !stored.ok()) {
    // Only the file could not be written: a record without it would be in the way of the next move.
    if (item_exists_) Forget().IgnoreError();
    return stored;
  }
  return DeleteParts(source, run, /*all=*/false);
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
  ITEMDB_RETURN_IF_ERROR(Store(std::move(condition)));
  return DeleteParts(state().source, run, /*all=*/false);
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

absl::Status MoveJournal::StoreParts(const MoveState& state, const std::vector<std::string>& parts) {
  parts_ = std::max(parts_, parts.size());
  const Side& target = hurries_ ? hurried_target_ : target_;
  for (size_t i = 0; i < parts_; ++i) {
    Item item = KeyOfPart(state.source, state.run, state.revision, i);
    item.Set(kPartOfAttribute, state.source);
    item.Set("run_id", state.run);
    item.Set("revision", Number(state.revision));
    item.Set(kStateAttribute, i < parts.size() ? parts[i] : std::string(" "));
    // A late repetition of an older one must not replace it.
    const PutItemRequest put{
        .table_name = kMovesTable,
        .item = std::move(item),
        .condition_expression = "attribute_not_exists(revision) OR revision <= :revision",
        .expression_attribute_values = {{":revision", Number(state.revision)}}};
    ITEMDB_RETURN_IF_ERROR(target.Try([&] { return target.client().PutItem(put, target.call()).status(); }));
  }
  return absl::OkStatus();
}

absl::Status MoveJournal::DeleteParts(const std::string& source, const std::string& run, bool all) {
  std::optional<Item> after;
  do {
    ITEMDB_ASSIGN_OR_RETURN(ItemPage page, target_.ScanPage(kMovesTable, 0, 1, after));
    for (const Item& item : page.items) {
      const Value* part_of = item.find_or_null(kPartOfAttribute);
      const Value* run_id = item.find_or_null("run_id");
      if (part_of == nullptr || *part_of != Value(source)) continue;
      if (!all && run_id != nullptr && *run_id == Value(run)) continue;
      const DeleteItemRequest remove{.table_name = kMovesTable,
                                     .key = {{kKeyAttribute, *item.find_or_null(kKeyAttribute)}}};
      ITEMDB_RETURN_IF_ERROR(
          target_.Try([&] { return target_.client().DeleteItem(remove, target_.call()).status(); }));
    }
    after = std::move(page.last_evaluated_key);
  } while (after.has_value());
  return absl::OkStatus();
}

// The target first: the file of a move that another run has ended must not come back.
absl::Status MoveJournal::Store(Condition condition) {
  MoveState state;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ++state_.revision;
    state = state_;
  }
  const std::string text = OneLine(MoveStateToJson(state));
  std::vector<std::string> parts = PartsOf(text);
  std::string first = std::move(parts.front());
  parts.erase(parts.begin());
  ITEMDB_RETURN_IF_ERROR(StoreParts(state, parts));
  Item item = KeyOfMove(state.source);
  item.Set("move_id", state.move_id);
  item.Set("run_id", state.run);
  item.Set("revision", Number(state.revision));
  item.Set("step", std::string(StepName(state.step)));
  item.Set("sequence", Number(state.sequence));
  item.Set(kStateAttribute, std::move(first));
  if (parts_ > 0) item.Set(kPartsAttribute, Number(static_cast<uint64_t>(parts_)));
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
  stored_sequence_ = state.sequence;
  return WriteFile(state);
}

absl::Status MoveJournal::WriteFile(const MoveState& state) const {
  return ReplaceFile(path_, Indented(MoveStateToJson(state)) + "\n");
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
  if (removed.ok()) ITEMDB_RETURN_IF_ERROR(DeleteParts(state.source, state.run, /*all=*/true));
  return ForgetFile(state.move_id);
}

absl::Status MoveJournal::ForgetFile(const std::string& move_id) const {
  const auto file = LoadFile();
  if (!file.ok() || !file->has_value() || (*file)->move_id != move_id) return absl::OkStatus();
  if (std::remove(path_.c_str()) != 0 && errno != ENOENT) return FileError("delete", path_);
  return absl::OkStatus();
}

}  // namespace itemdb::tools
