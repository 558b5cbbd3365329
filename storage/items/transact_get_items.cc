// TransactGetItems: reads several items from any tables, in request order. As BatchGetItem too reads from one
// state, the difference is that this operation returns all items or fails.

#include <algorithm>

#include "storage/base/limits.h"
#include "storage/catalog/capacity.h"
#include "storage/expressions/from_request.h"
#include "storage/items/cancellation.h"
#include "storage/items/distinct_keys.h"
#include "storage/items/operations.h"
#include "storage/items/point_reads.h"

namespace itemdb::storage {
namespace {

absl::StatusOr<std::vector<PointRead>> Prepare(const Catalog& catalog,
                                               const wire::TransactGetItemsRequest& request) {
  const int max_count = request.large() ? kMaxLargeTransactActions : kMaxTransactActions;
  int count = request.transact_items_size();
  if (count < 1 || count > max_count) {
    return ValidationError("SEM-056", "a transaction must contain 1 to " + std::to_string(max_count) +
                                          " gets; this one has " + std::to_string(count));
  }
  ITEMDB_RETURN_IF_ERROR(CheckReturnConsumedCapacity(request.return_consumed_capacity()));
  std::vector<PointRead> reads;
  DistinctKeys keys(SeveralActionsError());
  for (const wire::GetItemRequest& get : request.transact_items()) {
    ITEMDB_ASSIGN_OR_RETURN(std::optional<Projection> projection, MakeOnlyProjection(get));
    absl::StatusOr<PointRead> read =
        PrepareTransactRead(catalog, get.table_name(), get.key(), std::move(projection));
    if (!read.ok()) {
      ITEMDB_RETURN_IF_ERROR(keys.AddFailed(read.status(), get.table_name(), get.key()));
      continue;
    }
    ITEMDB_RETURN_IF_ERROR(keys.Add(read->table->storage_id, read->key));
    reads.push_back(*std::move(read));
  }
  ITEMDB_RETURN_IF_ERROR(keys.Finish());
  return reads;
}

}  // namespace

void TransactGetItems(Engine& engine, const wire::TransactGetItemsRequest& request,
                      Done<wire::TransactGetItemsReply> done, CancellationPtr cancellation) {
  MultiTableAccessCall access_call(AccessOperation::kTransactGetItems);
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto reads = Prepare((*view)->catalog(), request);
  if (!reads.ok()) return std::move(done)(reads.status());
  ReadPreparedTransaction(engine, std::move(access_call), *std::move(view), *std::move(reads), request,
                          std::move(done), std::move(cancellation));
}

void ReadPreparedTransaction(Engine& engine, MultiTableAccessCall access_call,
                             std::shared_ptr<const ReadView> view, std::vector<PointRead> reads,
                             const wire::TransactGetItemsRequest& request,
                             Done<wire::TransactGetItemsReply> done, CancellationPtr cancellation) {
  struct Reading {
    explicit Reading(MultiTableAccessCall access_call) : access_call(std::move(access_call)) {}

    MultiTableAccessCall access_call;
    size_t max_bytes = kMaxTransactBytes;
    wire::TransactGetItemsReply reply;
    CapacityMeter capacity;
    size_t bytes = 0;
    // Encoded bytes can exceed counted bytes: numbers count for little and are encoded as full decimal text.
    size_t encoded_bytes = 0;
  };
  for (const PointRead& read : reads) access_call.Add(read.table->patterns, 0, 0);
  if (std::any_of(reads.begin(), reads.end(), [](const PointRead& read) { return !read.key_error.ok(); })) {
    wire::TransactGetItemsReply reply;
    reply.set_change_sequence(view->change_sequence());
    CancellationReasons reasons(reply.mutable_cancelled());
    for (const PointRead& read : reads) reasons.AddValidationError(read.key_error);
    access_call.Record(false);
    return std::move(done)(std::move(reply));
  }
  auto reading = std::make_shared<Reading>(std::move(access_call));
  if (request.large()) reading->max_bytes = kMaxBatchGetBytes;
  reading->reply.set_change_sequence(view->change_sequence());
  reading->capacity = CapacityMeter(request.return_consumed_capacity());
  std::vector<std::shared_ptr<const Table>> tables;
  for (const PointRead& read : reads) tables.push_back(read.table);

  PointReads point_reads;
  point_reads.view = std::move(view);
  point_reads.reads = std::move(reads);
  point_reads.cancellation = std::move(cancellation);
  point_reads.take = [reading, tables = std::move(tables)](size_t i, PointReadResult result) {
    reading->capacity.AddRead(*tables[i], result.key, 2 * ReadUnits(result.item_size, /*consistent=*/true));
    reading->bytes += result.item_size;
    reading->access_call.Add(tables[i]->patterns, result.item_size > 0, result.item.has_value());
    if (result.item.has_value()) reading->encoded_bytes += result.item->size();
    auto* response = reading->reply.add_responses();
    if (result.item.has_value()) response->set_item(*std::move(result.item));
    return reading->bytes <= reading->max_bytes && reading->encoded_bytes <= kMaxBatchGetBytes;
  };
  point_reads.done = [reading, done = std::move(done)](absl::Status status) mutable {
    reading->access_call.Record(status.ok() && reading->bytes <= reading->max_bytes &&
                                reading->encoded_bytes <= kMaxBatchGetBytes);
    if (!status.ok()) return std::move(done)(std::move(status));
    if (reading->bytes > reading->max_bytes) {
      return std::move(done)(
          ValidationError("SEM-056", "the items of the transaction are together more than " +
                                         std::to_string(reading->max_bytes) + " bytes"));
    }
    if (reading->encoded_bytes > kMaxBatchGetBytes) {
      return std::move(done)(
          ValidationError("SEM-056", "the items of the transaction are together more than " +
                                         std::to_string(kMaxBatchGetBytes) +
                                         " bytes long as encoded, with all their numbers written out"));
    }
    reading->capacity.AddTo(&reading->reply);
    std::move(done)(std::move(reading->reply));
  };
  RunPointReads(engine, std::move(point_reads));
}

}  // namespace itemdb::storage
