// GetItem: reads one item by its primary key.

#include "storage/base/call_trace.h"
#include "storage/catalog/capacity.h"
#include "storage/catalog/key_counting.h"
#include "storage/catalog/key_paths.h"
#include "storage/expressions/from_request.h"
#include "storage/items/operations.h"
#include "storage/patterns/access_call.h"
#include "storage/values/canonical.h"

namespace itemdb::storage {
namespace {

struct PreparedGet {
  std::shared_ptr<const ReadView> view;
  std::shared_ptr<const Table> table;
  std::string key;
  std::optional<Projection> projection;
  CapacityMeter capacity;
  bool consistent_read = false;
  AccessCall call;
};

absl::StatusOr<PreparedGet> Prepare(Engine& engine, const wire::GetItemRequest& request) {
  PreparedGet get;
  ITEMDB_RETURN_IF_ERROR(CheckReturnConsumedCapacity(request.return_consumed_capacity()));
  get.capacity = CapacityMeter(request.return_consumed_capacity());
  get.consistent_read = request.consistent_read();
  ITEMDB_ASSIGN_OR_RETURN(get.view, engine.View());
  ITEMDB_ASSIGN_OR_RETURN(get.projection, MakeOnlyProjection(request));
  ITEMDB_ASSIGN_OR_RETURN(std::string key, CanonicalizeItem(request.key()));
  ITEMDB_ASSIGN_OR_RETURN(get.table, get.view->catalog().Find(request.table_name()));
  ITEMDB_ASSIGN_OR_RETURN(get.key, EncodeExactPrimaryKey(*get.table, ItemView(key)));
  if (get.projection.has_value())
    ITEMDB_RETURN_IF_ERROR(CheckNoPathIntoKeys(*get.table, get.projection->NestedAttributes()));
  get.call.Bind(*get.table->patterns, AccessOperation::kGetItem);
  return get;
}

wire::GetItemReply MakeReply(PreparedGet& get, Lookup lookup) {
  wire::GetItemReply reply;
  get.capacity.AddRead(*get.table, get.key, ReadUnits(lookup.item_size, get.consistent_read));
  get.capacity.MoveInto(&reply);
  reply.set_change_sequence(get.view->change_sequence());
  if (!lookup.item.has_value()) return reply;
  if (get.projection.has_value()) {
    get.projection->Apply(ItemView(*lookup.item), reply.mutable_item());
  } else {
    reply.set_item(*std::move(lookup.item));
  }
  return reply;
}

// Makes the reply and records the call for its access pattern.
absl::StatusOr<wire::GetItemReply> Answer(PreparedGet& get, absl::StatusOr<Lookup> lookup) {
  if (!lookup.ok()) {
    get.call.Record(false, 0, 0);
    CountRefusedKey(*get.table, get.key, lookup.status());
    return lookup.status();
  }
  const int64_t items = lookup->item.has_value() ? 1 : 0;
  wire::GetItemReply reply = MakeReply(get, *std::move(lookup));
  get.call.Record(true, items, items);
  return reply;
}

}  // namespace

void GetItem(Engine& engine, const wire::GetItemRequest& request, Done<wire::GetItemReply> done,
             CancellationPtr cancellation) {
  auto get = Prepare(engine, request);
  if (!get.ok()) return std::move(done)(get.status());
  auto lookup = [&] {
    const TracedStep step(cancellation, CallTrace::Step::kCacheRead);
    return LookupItem(*get->view, *get->table, get->key, ReadTier::kCacheOnly);
  }();
  if (!lookup.ok() || !lookup->would_block) return std::move(done)(Answer(*get, std::move(lookup)));

  struct Waiting {
    PreparedGet get;
    Done<wire::GetItemReply> done;

    void Finish(absl::StatusOr<Lookup> lookup) { std::move(done)(Answer(get, std::move(lookup))); }
  };
  auto waiting = std::make_shared<Waiting>(Waiting{*std::move(get), std::move(done)});
  const TracedWait wait(cancellation);
  IoPool::Task task = [waiting, wait, cancellation = std::move(cancellation)] {
    wait.End(cancellation);
    if (absl::Status wanted = CheckNotCancelled(cancellation); !wanted.ok()) return waiting->Finish(wanted);
    waiting->Finish([&] {
      const TracedStep step(cancellation, CallTrace::Step::kDiskRead);
      return LookupItem(*waiting->get.view, *waiting->get.table, waiting->get.key, ReadTier::kDisk);
    }());
  };
  if (!engine.io().Submit(task, IoPriority::kPoint)) waiting->Finish(IoPoolFullError());
}

}  // namespace itemdb::storage
