// BatchWriteItem: several puts and deletes in one request and one commit unit.

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/items/distinct_keys.h"
#include "storage/items/operations.h"
#include "storage/items/write_unit.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kEmptyWriteRequest =
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";

absl::StatusOr<std::vector<PreparedAction>> PrepareBatch(const wire::BatchWriteItemRequest& request,
                                                         const Catalog& catalog) {
  int writes = 0;
  for (const auto& table : request.request_items()) {
    if (table.write_requests().empty()) {
      return ValidationError("SEM-045",
                             "the list of write requests for table '" + table.table_name() + "' is empty");
    }
    writes += table.write_requests_size();
  }
  if (writes < 1 || writes > kMaxBatchWrites) {
    return WithServiceText(
        "Too many items requested for the BatchWriteItem call",
        ValidationError("SEM-045", "a batch must contain 1 to " + std::to_string(kMaxBatchWrites) +
                                       " write requests; this one has " + std::to_string(writes)));
  }

  ITEMDB_RETURN_IF_ERROR(CheckReturnConsumedCapacity(request.return_consumed_capacity()));
  ITEMDB_RETURN_IF_ERROR(CheckReturnItemCollectionMetrics(request.return_item_collection_metrics()));
  std::vector<PreparedAction> actions;
  DistinctKeys keys(ValidationError("SEM-046", "Provided list of item keys contains duplicates"));
  wire::WriteItemRequest single;
  for (const auto& table : request.request_items()) {
    for (const auto& write : table.write_requests()) {
      single.set_table_name(table.table_name());
      ActionKind kind = ActionKind::kPut;
      if (write.has_put_request()) {
        single.set_key_or_item(write.put_request().item());
      } else if (write.has_delete_request()) {
        kind = ActionKind::kDelete;
        single.set_key_or_item(write.delete_request().key());
      } else {
        return WithServiceText(
            kEmptyWriteRequest,
            ValidationError("SEM-045", "each write request must contain a PutRequest or a DeleteRequest"));
      }
      absl::StatusOr<PreparedAction> action = PrepareAction(kind, single, catalog);
      if (!action.ok()) {
        ITEMDB_RETURN_IF_ERROR(keys.AddFailed(action.status(), table.table_name(), single.key_or_item()));
        continue;
      }
      ITEMDB_RETURN_IF_ERROR(keys.Add(action->table->storage_id, action->key.encoded));
      actions.push_back(*std::move(action));
    }
  }
  ITEMDB_RETURN_IF_ERROR(keys.Finish());
  return actions;
}

}  // namespace

void BatchWriteItem(Engine& engine, const wire::BatchWriteItemRequest& request,
                    Done<wire::BatchWriteItemReply> done, CancellationPtr cancellation) {
  MultiTableAccessCall access_call(AccessOperation::kBatchWriteItem);
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto actions = PrepareBatch(request, (*view)->catalog());
  if (!actions.ok()) return std::move(done)(actions.status());
  auto token = PrepareToken("BatchWriteItem", request);
  if (!token.ok()) return std::move(done)(token.status());

  for (const PreparedAction& action : *actions) access_call.Add(action.table->patterns, 1, 0);
  auto finish = [access_call = std::move(access_call),
                 done = std::move(done)](WriteUnit::UnitResult unit_result) mutable {
    access_call.Record(unit_result.Applied());
    if (!unit_result.status.ok()) return std::move(done)(unit_result.status);
    for (const WriteUnit::ActionResult& result : unit_result.results) {
      if (!result.error.ok()) return std::move(done)(result.error);
    }
    wire::BatchWriteItemReply reply;
    reply.set_change_sequence(unit_result.change_sequence);
    unit_result.capacity.AddTo(&reply);
    unit_result.collections.AddTo(&reply);
    std::move(done)(std::move(reply));
  };
  auto unit = std::make_unique<WriteUnit>(WriteUnit::Mode::kIndependent, *std::move(actions),
                                          std::move(finish), std::move(cancellation));
  unit->SetMaxItemBytes(engine.options().max_unit_bytes);
  unit->SetToken(*std::move(token));
  unit->SetCapacityMeter(CapacityMeter(request.return_consumed_capacity()));
  unit->SetCollectionMeter(CollectionMeter(request.return_item_collection_metrics()));
  ReadAndSubmit(engine, *std::move(view), std::move(unit));
}

}  // namespace itemdb::storage
