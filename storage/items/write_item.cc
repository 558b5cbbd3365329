// PutItem, UpdateItem and DeleteItem.

#include "storage/items/operations.h"
#include "storage/items/write_unit.h"

namespace itemdb::storage {
namespace {

// The operation of a single write.
AccessOperation OperationOf(ActionKind kind) {
  switch (kind) {
    case ActionKind::kUpdate:
      return AccessOperation::kUpdateItem;
    case ActionKind::kDelete:
      return AccessOperation::kDeleteItem;
    default:
      return AccessOperation::kPutItem;
  }
}

// Binds the call to the access pattern of the write.
void FindPattern(const PreparedAction& action, AccessCall* call) {
  PatternKey key;
  key.operation = OperationOf(action.kind);
  if (action.condition.has_value()) key.filter = action.condition->ShapeHash();
  call->Bind(*action.table->patterns, key, [&action] {
    AccessTexts texts;
    if (action.condition.has_value()) texts.filter = action.condition->Shape();
    return texts;
  });
}

void Count(const WriteUnit::UnitResult& unit_result, const AccessCall& call) {
  if (!unit_result.status.ok()) return call.Record(false, 0, 0);
  const WriteUnit::ActionResult& result = unit_result.results[0];
  call.Record(unit_result.Applied(), 1, result.item.has_value() ? 1 : 0);
}

wire::WriteItemReply MakeReply(WriteUnit::UnitResult unit_result) {
  wire::WriteItemReply reply;
  reply.set_change_sequence(unit_result.change_sequence);
  unit_result.capacity.MoveInto(&reply);
  unit_result.collections.MoveInto(&reply);
  WriteUnit::ActionResult& result = unit_result.results[0];
  if (result.outcome == Decision::Outcome::kConditionFailed) {
    auto* failed = reply.mutable_condition_failed();
    if (result.item.has_value()) failed->set_item(*std::move(result.item));
  } else {
    auto* written = reply.mutable_result();
    if (result.item.has_value()) written->set_attributes(*std::move(result.item));
  }
  return reply;
}

}  // namespace

void WriteItem(Engine& engine, ActionKind kind, const wire::WriteItemRequest& request,
               Done<wire::WriteItemReply> done, CancellationPtr cancellation) {
  AccessCall call;
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto action = PrepareAction(kind, request, (*view)->catalog());
  if (!action.ok()) return std::move(done)(action.status());
  auto token = PrepareToken(OperationName(OperationOf(kind)), request);
  if (!token.ok()) return std::move(done)(token.status());
  WritePreparedItem(engine, call, *std::move(view), *std::move(action), request, *std::move(token),
                    std::move(done), std::move(cancellation));
}

void WritePreparedItem(Engine& engine, AccessCall call, std::shared_ptr<const ReadView> view,
                       PreparedAction action, const wire::WriteItemRequest& request,
                       std::optional<RequestToken> token, Done<wire::WriteItemReply> done,
                       CancellationPtr cancellation) {
  FindPattern(action, &call);
  std::vector<PreparedAction> actions;
  // `call` borrows the patterns. The callback keeps them alive, as Decide may replace the action's table.
  std::shared_ptr<TablePatterns> patterns = action.table->patterns;
  actions.push_back(std::move(action));
  auto finish = [call, patterns = std::move(patterns),
                 done = std::move(done)](WriteUnit::UnitResult unit_result) mutable {
    Count(unit_result, call);
    if (!unit_result.status.ok()) return std::move(done)(unit_result.status);
    if (!unit_result.results[0].error.ok()) return std::move(done)(unit_result.results[0].error);
    std::move(done)(MakeReply(std::move(unit_result)));
  };
  auto unit = std::make_unique<WriteUnit>(WriteUnit::Mode::kIndependent, std::move(actions),
                                          std::move(finish), std::move(cancellation));
  unit->SetToken(std::move(token));
  unit->SetCapacityMeter(CapacityMeter(request.return_consumed_capacity()));
  unit->SetCollectionMeter(CollectionMeter(request.return_item_collection_metrics()));
  ReadAndSubmit(engine, std::move(view), std::move(unit));
}

}  // namespace itemdb::storage
