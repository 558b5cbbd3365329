// BatchGetItem: reads up to 100 items from any tables.

#include <algorithm>
#include <set>

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/catalog/capacity.h"
#include "storage/expressions/from_request.h"
#include "storage/items/distinct_keys.h"
#include "storage/items/operations.h"
#include "storage/items/point_reads.h"

namespace itemdb::storage {
namespace {

// A batch that is being read.
struct Batch {
  wire::BatchGetItemRequest request;
  wire::BatchGetItemReply reply;
  CapacityMeter capacity;
  // For each read: the position of its table in request and reply, and of its key in that table's list.
  std::vector<std::pair<int, int>> places;
  size_t max_bytes = kDefaultBatchGetBytes;
  size_t bytes = 0;
  // How many of the reads are in the reply.
  size_t taken = 0;
  MultiTableAccessCall access_call{AccessOperation::kBatchGetItem};
};

absl::Status CheckCounts(const wire::BatchGetItemRequest& request) {
  int keys = 0;
  std::set<std::string> tables;
  for (const auto& table : request.request_items()) {
    if (table.keys().empty())
      return ValidationError("SEM-043", "the list of keys for table '" + table.table_name() + "' is empty");
    if (!tables.insert(table.table_name()).second)
      return ValidationError(
          "SEM-043", "table '" + table.table_name() + "' is named twice; put all its keys into one entry");
    keys += table.keys_size();
  }
  if (keys < 1 || keys > kMaxBatchGets) {
    return WithServiceText(
        "Too many items requested for the BatchGetItem call",
        ValidationError("SEM-043", "a batch must contain 1 to " + std::to_string(kMaxBatchGets) +
                                       " keys; this one has " + std::to_string(keys)));
  }
  if (request.has_max_reply_bytes() &&
      (request.max_reply_bytes() < 1 || request.max_reply_bytes() > kMaxBatchGetBytes)) {
    return ValidationError("SEM-043", "max_reply_bytes must be 1 to " + std::to_string(kMaxBatchGetBytes) +
                                          "; it is " + std::to_string(request.max_reply_bytes()));
  }
  return CheckReturnConsumedCapacity(request.return_consumed_capacity());
}

absl::StatusOr<std::vector<PointRead>> Prepare(const Catalog& catalog, Batch* batch) {
  ITEMDB_RETURN_IF_ERROR(CheckCounts(batch->request));
  // The tables of one request do not differ in the kind of their parameters either (SEM-026).
  const auto& tables = batch->request.request_items();
  ITEMDB_RETURN_IF_ERROR(CheckNotMixed(
      {{"AttributesToGet",
        std::any_of(tables.begin(), tables.end(),
                    [](const auto& table) { return !table.attributes_to_get().empty(); })}},
      {{"ProjectionExpression", std::any_of(tables.begin(), tables.end(), [](const auto& table) {
          return !table.projection_expression().empty();
        })}}));
  std::vector<PointRead> reads;
  DistinctKeys keys(ValidationError("SEM-044", "Provided list of item keys contains duplicates"));
  for (int t = 0; t < batch->request.request_items_size(); ++t) {
    const wire::KeysAndAttributes& table = batch->request.request_items(t);
    absl::StatusOr<std::optional<Projection>> projection = MakeOnlyProjection(table);
    if (!projection.ok()) return projection.status();
    batch->reply.add_responses()->set_table_name(table.table_name());
    for (int k = 0; k < table.keys_size(); ++k) {
      absl::StatusOr<PointRead> read =
          PreparePointRead(catalog, table.table_name(), table.keys(k), *projection);
      if (!read.ok()) {
        ITEMDB_RETURN_IF_ERROR(keys.AddFailed(read.status(), table.table_name(), table.keys(k)));
        continue;
      }
      ITEMDB_RETURN_IF_ERROR(keys.Add(read->table->storage_id, read->key));
      batch->access_call.Add(read->table->patterns, 0, 0);
      batch->places.emplace_back(t, k);
      reads.push_back(*std::move(read));
    }
  }
  ITEMDB_RETURN_IF_ERROR(keys.Finish());
  return reads;
}

// Adds a result to the reply; false when the reply is full.
bool Take(const Table& table_read, PointReadResult result, Batch* batch) {
  // An encoded item may be longer than its counted size, and the reply must not exceed the size of a message.
  if (result.item.has_value() && batch->taken > 0 && batch->bytes + result.item->size() > kMaxBatchGetBytes)
    return false;
  auto [table, key] = batch->places[batch->taken++];
  batch->capacity.AddRead(table_read, result.key,
                          ReadUnits(result.item_size, batch->request.request_items(table).consistent_read()));
  if (!result.item.has_value()) return true;
  batch->access_call.Add(table_read.patterns, 1, 1);
  batch->bytes += result.item->size();
  batch->reply.mutable_responses(table)->add_items(*std::move(result.item));
  return batch->bytes < batch->max_bytes;
}

// Adds the keys for whose items the reply has no room, in the form of a request (SEM-043).
void AddUnprocessed(Batch* batch) {
  int last_table = -1;
  wire::KeysAndAttributes* unprocessed = nullptr;
  for (size_t i = batch->taken; i < batch->places.size(); ++i) {
    auto [t, k] = batch->places[i];
    const wire::KeysAndAttributes& table = batch->request.request_items(t);
    if (t != last_table) {
      unprocessed = batch->reply.add_unprocessed_keys();
      *unprocessed = table;
      unprocessed->clear_keys();
      last_table = t;
    }
    unprocessed->add_keys(table.keys(k));
  }
}

}  // namespace

void BatchGetItem(Engine& engine, wire::BatchGetItemRequest request, Done<wire::BatchGetItemReply> done,
                  CancellationPtr cancellation) {
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto batch = std::make_shared<Batch>();
  batch->request = std::move(request);
  auto reads = Prepare((*view)->catalog(), batch.get());
  if (!reads.ok()) return std::move(done)(reads.status());
  batch->capacity = CapacityMeter(batch->request.return_consumed_capacity());
  if (batch->request.has_max_reply_bytes()) batch->max_bytes = batch->request.max_reply_bytes();
  batch->reply.set_change_sequence((*view)->change_sequence());

  PointReads point_reads;
  point_reads.view = *std::move(view);
  std::vector<std::shared_ptr<const Table>> tables;
  for (const PointRead& read : *reads) tables.push_back(read.table);
  point_reads.reads = *std::move(reads);
  point_reads.cancellation = std::move(cancellation);
  point_reads.take = [batch, tables = std::move(tables)](size_t i, PointReadResult result) {
    return Take(*tables[i], std::move(result), batch.get());
  };
  point_reads.done = [batch, done = std::move(done)](absl::Status status) mutable {
    batch->access_call.Record(status.ok());
    if (!status.ok()) return std::move(done)(std::move(status));
    AddUnprocessed(batch.get());
    batch->capacity.AddTo(&batch->reply);
    std::move(done)(std::move(batch->reply));
  };
  RunPointReads(engine, std::move(point_reads));
}

}  // namespace itemdb::storage
