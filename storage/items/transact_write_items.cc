// TransactWriteItems: applies all of several actions, or none.

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/items/cancellation.h"
#include "storage/items/distinct_keys.h"
#include "storage/items/operations.h"
#include "storage/items/write_unit.h"

namespace itemdb::storage {
namespace {

absl::StatusOr<PreparedAction> PrepareTransactItem(const wire::TransactWriteItem& item,
                                                   const Catalog& catalog) {
  switch (item.action_case()) {
    case wire::TransactWriteItem::kPut:
      return PrepareTransactAction(ActionKind::kPut, item.put(), catalog);
    case wire::TransactWriteItem::kDelete:
      return PrepareTransactAction(ActionKind::kDelete, item.delete_(), catalog);
    case wire::TransactWriteItem::kUpdate:
      if (!item.update().has_update_expression())
        return ValidationError("SEM-047", "an Update in a transaction needs an UpdateExpression");
      return PrepareTransactAction(ActionKind::kUpdate, item.update(), catalog);
    case wire::TransactWriteItem::kConditionCheck:
      if (item.condition_check().condition_expression().empty()) {
        return ValidationError("SEM-054", "a ConditionCheck needs a ConditionExpression");
      }
      return PrepareTransactAction(ActionKind::kConditionCheck, item.condition_check(), catalog);
    case wire::TransactWriteItem::ACTION_NOT_SET:
      break;
  }
  return WithServiceText(
      "TransactItems can only contain one of Check, Put, Update or Delete",
      ValidationError("SEM-047",
                      "each action of a transaction must be a Put, Update, Delete or ConditionCheck"));
}

const wire::WriteItemRequest& ActionOf(const wire::TransactWriteItem& item) {
  switch (item.action_case()) {
    case wire::TransactWriteItem::kPut:
      return item.put();
    case wire::TransactWriteItem::kDelete:
      return item.delete_();
    case wire::TransactWriteItem::kUpdate:
      return item.update();
    default:
      return item.condition_check();
  }
}

absl::StatusOr<std::vector<PreparedAction>> PrepareTransaction(const wire::TransactWriteItemsRequest& request,
                                                               const Catalog& catalog) {
  const int max_count = request.large() ? kMaxLargeTransactActions : kMaxTransactActions;
  const size_t max_bytes = request.large() ? kMaxMessageBytes : kMaxTransactBytes;
  int count = request.transact_items_size();
  if (count < 1 || count > max_count) {
    return ValidationError("SEM-047", "a transaction must contain 1 to " + std::to_string(max_count) +
                                          " actions; this one has " + std::to_string(count));
  }
  if (size_t bytes = request.ByteSizeLong(); bytes > max_bytes) {
    return ValidationError("SEM-047", "a transaction may be at most " + std::to_string(max_bytes) +
                                          " bytes long; this one has " + std::to_string(bytes));
  }
  ITEMDB_RETURN_IF_ERROR(CheckReturnConsumedCapacity(request.return_consumed_capacity()));
  ITEMDB_RETURN_IF_ERROR(CheckReturnItemCollectionMetrics(request.return_item_collection_metrics()));
  std::vector<PreparedAction> actions;
  actions.reserve(count);
  DistinctKeys keys(SeveralActionsError());
  for (const auto& item : request.transact_items()) {
    absl::StatusOr<PreparedAction> action = PrepareTransactItem(item, catalog);
    if (!action.ok()) {
      const wire::WriteItemRequest& wanted = ActionOf(item);
      ITEMDB_RETURN_IF_ERROR(keys.AddFailed(action.status(), wanted.table_name(), wanted.key_or_item()));
      continue;
    }
    ITEMDB_RETURN_IF_ERROR(keys.Add(action->table->storage_id, action->key.encoded));
    actions.push_back(*std::move(action));
  }
  ITEMDB_RETURN_IF_ERROR(keys.Finish());
  return actions;
}

bool IsCollectionTooLarge(const absl::Status& error) {
  return ReasonOf(error) == kReasonItemCollectionSizeLimitExceeded;
}

// Adds one cancellation reason per action, in order. Every failed condition and every item collection that
// would be too large is reported, but only the first validation error (SEM-051).
void AddReasons(std::vector<WriteUnit::ActionResult>& results, wire::TransactionCancelled* cancelled) {
  CancellationReasons reasons(cancelled);
  for (WriteUnit::ActionResult& result : results) {
    if (result.outcome == Decision::Outcome::kConditionFailed) {
      wire::CancellationReason* reason = reasons.Add();
      reason->set_code(v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED);
      reason->set_message("The conditional request failed");
      if (result.item.has_value()) reason->set_item(*std::move(result.item));
    } else if (IsCollectionTooLarge(result.error)) {
      wire::CancellationReason* reason = reasons.Add();
      reason->set_code(v1::CANCELLATION_CODE_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED);
      reason->set_message(MessageOf(result.error));
    } else {
      reasons.AddValidationError(result.error);
    }
  }
}

}  // namespace

void TransactWriteItems(Engine& engine, const wire::TransactWriteItemsRequest& request,
                        Done<wire::TransactWriteItemsReply> done, CancellationPtr cancellation) {
  MultiTableAccessCall access_call(AccessOperation::kTransactWriteItems);
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto actions = PrepareTransaction(request, (*view)->catalog());
  if (!actions.ok()) return std::move(done)(actions.status());
  auto token = PrepareToken("TransactWriteItems", request);
  if (!token.ok()) return std::move(done)(token.status());
  WritePreparedTransaction(engine, std::move(access_call), *std::move(view), *std::move(actions), request,
                           *std::move(token), std::move(done), std::move(cancellation));
}

void WritePreparedTransaction(Engine& engine, MultiTableAccessCall access_call,
                              std::shared_ptr<const ReadView> view, std::vector<PreparedAction> actions,
                              const wire::TransactWriteItemsRequest& request,
                              std::optional<RequestToken> token, Done<wire::TransactWriteItemsReply> done,
                              CancellationPtr cancellation) {
  for (const PreparedAction& action : actions) access_call.Add(action.table->patterns, 1, 0);
  auto finish = [access_call = std::move(access_call),
                 done = std::move(done)](WriteUnit::UnitResult unit_result) mutable {
    access_call.Record(unit_result.Applied());
    if (!unit_result.status.ok()) return std::move(done)(unit_result.status);
    wire::TransactWriteItemsReply reply;
    reply.set_change_sequence(unit_result.change_sequence);
    unit_result.capacity.AddTo(&reply);
    unit_result.collections.AddTo(&reply);
    bool cancelled = false;
    for (const WriteUnit::ActionResult& result : unit_result.results) {
      if (result.outcome != Decision::Outcome::kApply) cancelled = true;
      // Damage or a deleted table is an error of the whole request, not a cancellation reason of one action.
      // So is an index key that is empty (SEM-053).
      const bool is_reason = absl::IsInvalidArgument(result.error) || IsCollectionTooLarge(result.error);
      if (!result.error.ok() && (!is_reason || IsEmptyIndexKeyError(result.error)))
        return std::move(done)(result.error);
    }
    if (cancelled) {
      AddReasons(unit_result.results, reply.mutable_cancelled());
    } else {
      reply.mutable_committed();
    }
    std::move(done)(std::move(reply));
  };
  auto unit = std::make_unique<WriteUnit>(WriteUnit::Mode::kTransaction, std::move(actions),
                                          std::move(finish), std::move(cancellation));
  unit->SetToken(std::move(token));
  const size_t max_bytes = engine.options().max_unit_bytes;
  unit->SetMaxItemBytes(request.large() ? std::min(kMaxUnitItemBytes, max_bytes) : max_bytes);
  unit->SetCapacityMeter(CapacityMeter(request.return_consumed_capacity()));
  unit->SetCollectionMeter(CollectionMeter(request.return_item_collection_metrics()));
  ReadAndSubmit(engine, std::move(view), std::move(unit));
}

}  // namespace itemdb::storage
