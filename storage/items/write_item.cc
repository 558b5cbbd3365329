// PutItem, UpdateItem and DeleteItem.

#include "storage/items/operations.h"
#include "storage/items/write_unit.h"

namespace itemdb {
namespace {

std::string_view NameOf(ActionKind kind) {
  switch (kind) {
    case ActionKind::kPut:
      return "PutItem";
    case ActionKind::kUpdate:
      return "UpdateItem";
    case ActionKind::kDelete:
      return "DeleteItem";
    case ActionKind::kConditionCheck:
      return "ConditionCheck";
    case ActionKind::kExpire:
      break;  // Nobody's request.
  }
  return "";
}

wire::WriteItemReply MakeReply(WriteUnit::Outcome outcome) {
  wire::WriteItemReply reply;
  reply.set_change_sequence(outcome.change_sequence);
  outcome.capacity.MoveInto(&reply);
  outcome.collections.MoveInto(&reply);
  WriteUnit::Result& result = outcome.results[0];
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
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto action = PrepareAction(kind, request, (*view)->catalog());
  if (!action.ok()) return std::move(done)(action.status());
  auto token = PrepareToken(NameOf(kind), request);
  if (!token.ok()) return std::move(done)(token.status());
  WritePreparedItem(engine, *std::move(view), *std::move(action), request, *std::move(token), std::move(done),
                    std::move(cancellation));
}

void WritePreparedItem(Engine& engine, std::shared_ptr<const ReadView> view, PreparedAction action,
                       const wire::WriteItemRequest& request, std::optional<RequestToken> token,
                       Done<wire::WriteItemReply> done, CancellationPtr cancellation) {
  std::vector<PreparedAction> actions;
  actions.push_back(std::move(action));
  auto finish = [done = std::move(done)](WriteUnit::Outcome outcome) mutable {
    if (!outcome.status.ok()) return std::move(done)(outcome.status);
    if (!outcome.results[0].error.ok()) return std::move(done)(outcome.results[0].error);
    std::move(done)(MakeReply(std::move(outcome)));
  };
  auto unit = std::make_unique<WriteUnit>(WriteUnit::Mode::kIndependent, std::move(actions),
                                          std::move(finish), std::move(cancellation));
  unit->SetToken(std::move(token));
  unit->SetCapacityMeter(CapacityMeter(request.return_consumed_capacity()));
  unit->SetCollectionMeter(CollectionMeter(request.return_item_collection_metrics()));
  ReadAndSubmit(engine, std::move(view), std::move(unit));
}

}  // namespace itemdb
