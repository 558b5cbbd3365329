#include "tests/storage/database/random/random_writes.h"

#include <algorithm>
#include <functional>
#include <set>

#include "tests/storage/database/random/random_legacy.h"

namespace itemdb::testing {
namespace {

enum class ActionType { kPut, kUpdate, kDelete, kConditionCheck };

// One requested action on one item.
struct Action {
  ActionType type;
  TableModel* table;
  wire::WriteItemRequest request;
  ModelItem key_or_item;
  Predicate condition;  // Null: none.
  RandomUpdate update;
};

// The expected result of an action.
struct Expected {
  enum class Outcome { kApply, kConditionFailed, kInvalid } outcome = Outcome::kApply;
  std::optional<ModelItem> old_item;
  std::optional<ModelItem> new_item;
  bool changed = false;
};

class WriteChecker {
 public:
  explicit WriteChecker(SideBySide& both) : both_(both) {}

  void CreateTable(const std::string& name) {
    v1::CreateTableRequest request = both_.random.Table(name);
    auto reply = Await<v1::CreateTableReply>(
        [&](auto done) { both_.database->CreateTable(request, std::move(done)); });
    ASSERT_TRUE(reply.ok()) << reply.status() << request.DebugString();
    both_.tables[name] = TableModel(reply->table());
    AppendTableChange(v1::CHANGE_KIND_CREATE_TABLE, reply->table());
    EXPECT_EQ(reply->change_sequence(), both_.log.size());
  }

  void ReplaceTable() {
    std::string name = both_.AnyTable().name();
    v1::DeleteTableRequest request;
    request.set_table_name(name);
    auto reply = Await<v1::DeleteTableReply>(
        [&](auto done) { both_.database->DeleteTable(request, std::move(done)); });
    if (both_.tables[name].definition().deletion_protection_enabled()) return ExpectInvalid(reply.status());
    ASSERT_TRUE(reply.ok()) << reply.status();
    AppendTableChange(v1::CHANGE_KIND_DELETE_TABLE, both_.tables[name].definition());
    CreateTable(name);
  }

  void UpdateTable() {
    TableModel& table = both_.AnyTable();
    v1::UpdateTableRequest request;
    request.set_table_name(table.name());
    v1::TableDescription definition = table.definition();
    if (both_.random.Chance(0.7)) {
      request.set_stream_view_type(static_cast<v1::StreamViewType>(both_.random.Pick(1, 4)));
      definition.set_stream_view_type(request.stream_view_type());
    }
    if (both_.random.Chance(0.5)) {
      request.set_deletion_protection_enabled(both_.random.Chance(0.3));
      definition.set_deletion_protection_enabled(request.deletion_protection_enabled());
    }
    SCOPED_TRACE("update table " + request.ShortDebugString());
    auto reply = Await<v1::UpdateTableReply>(
        [&](auto done) { both_.database->UpdateTable(request, std::move(done)); });
    if (request.stream_view_type() == v1::STREAM_VIEW_TYPE_UNSPECIFIED &&
        !request.has_deletion_protection_enabled())
      return ExpectInvalid(reply.status());
    ASSERT_TRUE(reply.ok()) << reply.status();
    table.set_definition(definition);
    AppendTableChange(v1::CHANGE_KIND_UPDATE_TABLE, definition);
    EXPECT_EQ(reply->change_sequence(), both_.log.size());
  }

  void RepeatRequest() {
    if (both_.applied.empty()) return;
    const AppliedRequest& request = both_.random.OneOf(both_.applied);
    // A new table with the same name may not accept the request.
    for (const auto& [name, storage_id] : request.tables) {
      if (both_.tables[name].definition().storage_id() != storage_id) return;
    }
    request.repeat();
  }

  // Sometimes a new token, otherwise none.
  std::string RandomToken() {
    return both_.random.Chance(0.2) ? "token-" + std::to_string(both_.next_token++) : "";
  }

  // Stores `request`, which was applied and answered with `attributes`, if it has a token.
  template <typename Request>
  void Remember(const Request& request, const std::vector<Action>& actions, std::function<void()> repeat) {
    if (request.client_request_token().empty()) return;
    AppliedRequest applied{{}, std::move(repeat)};
    for (const Action& action : actions)
      applied.tables[action.table->name()] = action.table->definition().storage_id();
    both_.applied.push_back(std::move(applied));
  }

  static absl::StatusOr<wire::WriteItemReply> Send(SideBySide& both, ActionType type,
                                                   const wire::WriteItemRequest& request) {
    return Await<wire::WriteItemReply>([&](auto done) {
      if (type == ActionType::kPut) return both.database->PutItem(request, std::move(done));
      if (type == ActionType::kUpdate) return both.database->UpdateItem(request, std::move(done));
      both.database->DeleteItem(request, std::move(done));
    });
  }

  void AppendTableChange(v1::ChangeKind kind, const v1::TableDescription& definition) {
    v1::ChangeRecord& record = both_.log.emplace_back();
    record.set_change_sequence(both_.log.size());
    record.set_table_storage_id(definition.storage_id());
    record.set_kind(kind);
    record.set_commit_first_sequence(both_.log.size());
    record.set_commit_last_sequence(both_.log.size());
    *record.mutable_table() = definition;
  }

  Action RandomAction(ActionType type, double condition_probability) {
    Action action{type, &both_.AnyTable(), {}, {}, nullptr, {}};
    RequestNames names;
    action.request.set_table_name(action.table->name());
    action.key_or_item =
        type == ActionType::kPut ? both_.random.NewItem(*action.table) : both_.random.Key(*action.table);
    action.request.set_key_or_item(both_.random.EncodeForRequest(action.key_or_item));
    if (type == ActionType::kUpdate) {
      action.update = both_.random.Update(*action.table, &names);
      if (!action.update.text.empty()) action.request.set_update_expression(action.update.text);
    }
    if (type == ActionType::kConditionCheck || both_.random.Chance(condition_probability)) {
      RandomCondition condition =
          both_.random.Condition(*action.table, both_.random.Attributes(*action.table), &names);
      action.request.set_condition_expression(condition.text);
      action.condition = condition.holds;
    }
    names.SetOn(&action.request);
    if (both_.random.Chance(0.5)) {
      action.request.set_return_values_on_condition_check_failure(
          v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
    }
    return action;
  }

  static bool HasValidKey(const Action& action) {
    return action.type == ActionType::kPut ? action.table->HasKey(action.key_or_item)
                                           : action.table->IsExactKey(action.key_or_item);
  }

  static bool MismatchesKey(const Action& action) {
    return action.table->MismatchesKey(action.key_or_item, action.type != ActionType::kPut);
  }

  // The result for the current state; the key must not have empty attributes.
  static Expected Decide(const Action& action) {
    Expected expected;
    if (MismatchesKey(action)) {
      expected.outcome = Expected::Outcome::kInvalid;
      return expected;
    }
    if (const ModelItem* found = action.table->Find(action.key_or_item)) expected.old_item = *found;
    if (action.condition != nullptr && !action.condition(expected.old_item.value_or(ModelItem()))) {
      // What is wrong with an item that is put comes first.
      const bool fits = action.type != ActionType::kPut || action.table->FitsIndexes(action.key_or_item);
      expected.outcome = fits ? Expected::Outcome::kConditionFailed : Expected::Outcome::kInvalid;
      return expected;
    }
    expected.new_item = expected.old_item;
    if (action.type == ActionType::kPut) expected.new_item = action.key_or_item;
    if (action.type == ActionType::kDelete) expected.new_item = std::nullopt;
    if (action.type == ActionType::kUpdate && (expected.old_item.has_value() || action.update.creates_item)) {
      expected.new_item = action.update.apply(expected.old_item.value_or(action.key_or_item));
      if (!expected.new_item.has_value()) {
        expected.outcome = Expected::Outcome::kInvalid;
        return expected;
      }
    }
    if (expected.new_item.has_value() && !action.table->FitsIndexes(*expected.new_item)) {
      expected.outcome = Expected::Outcome::kInvalid;
    }
    expected.changed = Encoded(expected.old_item) != Encoded(expected.new_item);
    return expected;
  }

  // Applies an action with its expected result; its change record belongs to the commit `first` to `last`.
  void Apply(const Action& action, const Expected& expected, uint64_t first, uint64_t last) {
    if (!expected.changed) return;
    TableModel& table = *action.table;
    v1::ChangeRecord& record = both_.log.emplace_back();
    record.set_change_sequence(both_.log.size());
    record.set_table_storage_id(table.definition().storage_id());
    record.set_kind(!expected.old_item.has_value()   ? v1::CHANGE_KIND_INSERT
                    : !expected.new_item.has_value() ? v1::CHANGE_KIND_REMOVE
                                                     : v1::CHANGE_KIND_MODIFY);
    *record.mutable_key() = ToMessage(table.KeyOf(action.key_or_item));
    v1::StreamViewType view = table.definition().stream_view_type();
    bool both = view == v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES;
    if (expected.old_item.has_value() && (both || view == v1::STREAM_VIEW_TYPE_OLD_IMAGE)) {
      *record.mutable_old_image() = ToMessage(*expected.old_item);
    }
    if (expected.new_item.has_value() && (both || view == v1::STREAM_VIEW_TYPE_NEW_IMAGE)) {
      *record.mutable_new_image() = ToMessage(*expected.new_item);
    }
    record.set_commit_first_sequence(first);
    record.set_commit_last_sequence(last);
    if (expected.new_item.has_value()) {
      table.Put(*expected.new_item);
    } else {
      table.Erase(action.key_or_item);
    }
  }

  // The attributes that ReturnValues asks for (SEM-058, SEM-059).
  static std::optional<ModelItem> Returned(const Action& action, const Expected& expected) {
    auto touched = [&action](const std::optional<ModelItem>& item) -> std::optional<ModelItem> {
      ModelItem part;
      for (const auto& [name, value] : item.value_or(ModelItem())) {
        if (action.update.names.contains(name)) part[name] = value;
      }
      if (part.empty()) return std::nullopt;
      return part;
    };
    switch (action.request.return_values()) {
      case v1::RETURN_VALUES_ALL_OLD:
        return expected.old_item;
      case v1::RETURN_VALUES_ALL_NEW:
        return expected.new_item;
      case v1::RETURN_VALUES_UPDATED_OLD:
        return touched(expected.old_item);
      case v1::RETURN_VALUES_UPDATED_NEW:
        return touched(expected.new_item);
      default:
        return std::nullopt;
    }
  }

  // An action with legacy parameters; some also have expressions, and such a mix is refused (SEM-026).
  Action RandomLegacyAction(ActionType type, bool* mixed) {
    Action action{type, &both_.AnyTable(), {}, {}, nullptr, {}};
    RequestNames names;
    action.request.set_table_name(action.table->name());
    action.key_or_item =
        type == ActionType::kPut ? both_.random.NewItem(*action.table) : both_.random.Key(*action.table);
    action.request.set_key_or_item(both_.random.EncodeForRequest(action.key_or_item));
    const bool updates = type == ActionType::kUpdate && both_.random.Chance(0.8);
    if (updates) {
      RandomLegacyUpdate update = LegacyUpdate(both_.random, *action.table);
      update.SetOn(&action.request);
      action.update = update.meaning;
    } else if (type == ActionType::kUpdate) {
      action.update.apply = [](const ModelItem& before) { return before; };
    }
    if (!updates || both_.random.Chance(0.4)) {
      const RandomComparisons expected =
          LegacyConditions(both_.random, *action.table, both_.random.Attributes(*action.table));
      expected.SetExpected(both_.random, &action.request);
      action.condition = [expected](const ModelItem& item) { return expected.Hold(item); };
    }
    *mixed = both_.random.Chance(0.03);
    if (*mixed) {
      action.request.set_condition_expression(
          both_.random.Condition(*action.table, both_.random.Attributes(*action.table), &names).text);
      names.SetOn(&action.request);
    }
    return action;
  }

  void SingleWrite(ActionType type) {
    bool mixed = false;
    Action action = both_.random.Chance(0.25) ? RandomLegacyAction(type, &mixed) : RandomAction(type, 0.3);
    action.request.set_return_values(
        static_cast<v1::ReturnValues>(both_.random.Pick(0, type == ActionType::kUpdate ? 5 : 2)));
    action.request.set_client_request_token(RandomToken());
    SCOPED_TRACE("action " + std::to_string(static_cast<int>(type)) + " " +
                 action.request.ShortDebugString());
    auto reply = Send(both_, type, action.request);
    if (mixed || !HasValidKey(action)) return ExpectInvalid(reply.status());
    Expected expected = Decide(action);
    if (expected.outcome == Expected::Outcome::kInvalid) return ExpectInvalid(reply.status());
    ASSERT_TRUE(reply.ok()) << reply.status();
    if (expected.outcome == Expected::Outcome::kConditionFailed) {
      ASSERT_TRUE(reply->has_condition_failed());
      ExpectItem(reply->condition_failed(), WantsItem(action) ? Encoded(expected.old_item) : std::nullopt);
    } else {
      ASSERT_TRUE(reply->has_result());
      Apply(action, expected, both_.log.size() + 1, both_.log.size() + 1);
      auto returned = Encoded(Returned(action, expected));
      EXPECT_EQ(reply->result().has_attributes(), returned.has_value());
      EXPECT_EQ(reply->result().attributes(), returned.value_or(""));
      Remember(action.request, {action}, [&both = both_, type, request = action.request, returned] {
        SCOPED_TRACE("again " + request.ShortDebugString());
        auto again = Send(both, type, request);
        ASSERT_TRUE(again.ok()) << again.status();
        EXPECT_EQ(again->result().has_attributes(), returned.has_value());
        EXPECT_EQ(again->result().attributes(), returned.value_or(""));
        EXPECT_EQ(again->change_sequence(), both.log.size());
        // Another request with the same token is refused.
        wire::WriteItemRequest other = request;
        other.set_return_values(request.return_values() == v1::RETURN_VALUES_ALL_OLD
                                    ? v1::RETURN_VALUES_NONE
                                    : v1::RETURN_VALUES_ALL_OLD);
        EXPECT_EQ(ReasonOf(Send(both, type, other).status()), kReasonIdempotentParameterMismatch);
      });
    }
    EXPECT_EQ(reply->change_sequence(), both_.log.size());
  }

  static bool WantsItem(const Action& action) {
    return action.request.return_values_on_condition_check_failure() ==
           v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD;
  }

  // False if two actions have the same key, or an action has no valid key. In a transaction a key may be one
  // that does not fit the schema.
  static bool AllValidAndDistinct(const std::vector<Action>& actions, bool transaction = false) {
    std::set<std::string> keys;
    for (const Action& action : actions) {
      if (transaction && MismatchesKey(action)) continue;
      if (!HasValidKey(action)) return false;
      if (!keys.insert(action.table->name() + EncodeItem(action.table->KeyOf(action.key_or_item))).second)
        return false;
    }
    return true;
  }

  std::vector<Action> RandomActions(int count, const std::vector<ActionType>& types) {
    std::vector<Action> actions;
    while (static_cast<int>(actions.size()) < count) {
      actions.push_back(RandomAction(both_.random.OneOf(types), 0.1));
      // Mostly valid actions, so that few requests only return an error.
      if (!AllValidAndDistinct(actions) && !both_.random.Chance(0.05)) actions.pop_back();
    }
    return actions;
  }

  void Batch() {
    std::vector<Action> actions =
        RandomActions(both_.random.Pick(1, 8), {ActionType::kPut, ActionType::kDelete});
    wire::BatchWriteItemRequest request;
    for (const Action& action : actions) {
      wire::TableWriteRequests* list = nullptr;
      for (auto& candidate : *request.mutable_request_items()) {
        if (candidate.table_name() == action.table->name()) list = &candidate;
      }
      if (list == nullptr) list = request.add_request_items();
      list->set_table_name(action.table->name());
      auto* write = list->add_write_requests();
      if (action.type == ActionType::kPut) {
        write->mutable_put_request()->set_item(action.request.key_or_item());
      } else {
        write->mutable_delete_request()->set_key(action.request.key_or_item());
      }
    }
    request.set_client_request_token(RandomToken());
    SCOPED_TRACE("batch " + request.ShortDebugString());
    auto reply = Await<wire::BatchWriteItemReply>(
        [&](auto done) { both_.database->BatchWriteItem(request, std::move(done)); });
    bool valid = AllValidAndDistinct(actions);
    for (Action& action : actions) {
      action.condition = nullptr;  // A batch has none.
      valid = valid && Decide(action).outcome == Expected::Outcome::kApply;
    }
    if (!valid) return ExpectInvalid(reply.status());
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_TRUE(reply->unprocessed_items().empty());
    // Records are in the order of the request: table by table.
    for (const auto& list : request.request_items()) {
      for (const Action& action : actions) {
        if (action.table->name() != list.table_name()) continue;
        Apply(action, Decide(action), both_.log.size() + 1, both_.log.size() + 1);
      }
    }
    Remember(request, actions, [&both = both_, request] {
      SCOPED_TRACE("again " + request.ShortDebugString());
      auto again = Await<wire::BatchWriteItemReply>(
          [&](auto done) { both.database->BatchWriteItem(request, std::move(done)); });
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_TRUE(again->unprocessed_items().empty());
      EXPECT_EQ(again->change_sequence(), both.log.size());
    });
    EXPECT_EQ(reply->change_sequence(), both_.log.size());
  }

  void Transaction() {
    std::vector<Action> actions =
        RandomActions(both_.random.Pick(1, 6), {ActionType::kPut, ActionType::kPut, ActionType::kUpdate,
                                                ActionType::kDelete, ActionType::kConditionCheck});
    wire::TransactWriteItemsRequest request;
    bool valid = AllValidAndDistinct(actions, /*transaction=*/true);
    for (const Action& action : actions) {
      auto* item = request.add_transact_items();
      if (action.type == ActionType::kPut) *item->mutable_put() = action.request;
      if (action.type == ActionType::kUpdate) *item->mutable_update() = action.request;
      if (action.type == ActionType::kDelete) *item->mutable_delete_() = action.request;
      if (action.type == ActionType::kConditionCheck) *item->mutable_condition_check() = action.request;
      if (action.type == ActionType::kUpdate && action.update.text.empty()) valid = false;
    }
    request.set_client_request_token(RandomToken());
    SCOPED_TRACE("transaction " + request.ShortDebugString());
    auto reply = both_.database.Transact(request);
    if (!valid) return ExpectInvalid(reply.status());
    // An index key that would be empty is an error of the request (SEM-053).
    if (RuleOf(reply.status()) == "SEM-070") {
      EXPECT_TRUE(std::any_of(actions.begin(), actions.end(), [](const Action& action) {
        return Decide(action).outcome == Expected::Outcome::kInvalid;
      }));
      return ExpectInvalid(reply.status());
    }
    ASSERT_TRUE(reply.ok()) << reply.status();

    std::vector<Expected> expected;
    bool applies = true;
    uint64_t changes = 0;
    for (const Action& action : actions) {
      expected.push_back(Decide(action));
      applies = applies && expected.back().outcome == Expected::Outcome::kApply;
      changes += expected.back().changed;
    }
    if (applies) {
      EXPECT_TRUE(reply->has_committed());
      uint64_t first = both_.log.size() + 1;
      for (size_t i = 0; i < actions.size(); ++i) Apply(actions[i], expected[i], first, first + changes - 1);
      Remember(request, actions, [&both = both_, request] {
        SCOPED_TRACE("again " + request.ShortDebugString());
        auto again = both.database.Transact(request);
        ASSERT_TRUE(again.ok()) << again.status();
        EXPECT_TRUE(again->has_committed());
        EXPECT_EQ(again->change_sequence(), both.log.size());
      });
    } else {
      ExpectReasons(reply->cancelled(), actions, expected);
    }
    EXPECT_EQ(reply->change_sequence(), both_.log.size());
  }

  // One reason per action, in order, with the item if requested (SEM-051, SEM-054).
  static void ExpectReasons(const wire::TransactionCancelled& cancelled, const std::vector<Action>& actions,
                            const std::vector<Expected>& expected) {
    ASSERT_EQ(static_cast<size_t>(cancelled.reasons_size()), actions.size());
    bool invalid_seen = false;
    for (size_t i = 0; i < actions.size(); ++i) {
      const auto& reason = cancelled.reasons(static_cast<int>(i));
      v1::CancellationCode code = v1::CANCELLATION_CODE_NONE;
      if (expected[i].outcome == Expected::Outcome::kConditionFailed)
        code = v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED;
      if (expected[i].outcome == Expected::Outcome::kInvalid && !invalid_seen) {
        code = v1::CANCELLATION_CODE_VALIDATION_ERROR;
        invalid_seen = true;
      }
      EXPECT_EQ(reason.code(), code) << "reason " << i;
      bool shown = code == v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED && WantsItem(actions[i]);
      ExpectItem(reason, shown ? Encoded(expected[i].old_item) : std::nullopt);
    }
  }

 private:
  SideBySide& both_;
};

}  // namespace

void CreateRandomTable(SideBySide& both, const std::string& name) { WriteChecker(both).CreateTable(name); }

void RandomWrite(SideBySide& both, RandomWriteKind kind) {
  WriteChecker checker(both);
  switch (kind) {
    case RandomWriteKind::kPutItem:
      return checker.SingleWrite(ActionType::kPut);
    case RandomWriteKind::kUpdateItem:
      return checker.SingleWrite(ActionType::kUpdate);
    case RandomWriteKind::kDeleteItem:
      return checker.SingleWrite(ActionType::kDelete);
    case RandomWriteKind::kBatchWriteItem:
      return checker.Batch();
    case RandomWriteKind::kTransactWriteItems:
      return checker.Transaction();
    case RandomWriteKind::kRepeatRequest:
      return checker.RepeatRequest();
    case RandomWriteKind::kUpdateTable:
      return checker.UpdateTable();
    case RandomWriteKind::kReplaceTable:
      return checker.ReplaceTable();
  }
}

}  // namespace itemdb::testing
