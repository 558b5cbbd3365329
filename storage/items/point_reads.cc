#include "storage/items/point_reads.h"

#include "storage/base/call_trace.h"
#include "storage/base/limits.h"
#include "storage/catalog/key_counting.h"
#include "storage/catalog/key_paths.h"
#include "storage/values/canonical.h"

namespace itemdb::storage {
namespace {

// Reads on from `*next`. False when an I/O thread must go on: the next item is on disk, or there are many.
absl::StatusOr<bool> Read(PointReads& reads, ReadTier tier, size_t* next) {
  const TracedStep step(reads.cancellation,
                        tier == ReadTier::kDisk ? CallTrace::Step::kDiskRead : CallTrace::Step::kCacheRead);
  for (; *next < reads.reads.size(); ++*next) {
    if (tier == ReadTier::kCacheOnly && *next == kMaxItemsOnRequestThread) return false;
    ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(reads.cancellation));
    const PointRead& read = reads.reads[*next];
    ITEMDB_ASSIGN_OR_RETURN(Lookup lookup, LookupItem(*reads.view, *read.table, read.key, tier));
    if (lookup.would_block) return false;
    PointReadResult result;
    result.key = read.key;
    result.item_size = lookup.item_size;
    if (lookup.item.has_value() && read.projection.has_value()) {
      read.projection->Apply(ItemView(*lookup.item), &result.item.emplace());
    } else {
      result.item = std::move(lookup.item);
    }
    if (!reads.take(*next, std::move(result))) return true;
  }
  return true;
}

}  // namespace

absl::StatusOr<PointRead> PrepareTransactRead(const Catalog& catalog, const std::string& table_name,
                                              const std::string& key, std::optional<Projection> projection) {
  PointRead read;
  read.projection = std::move(projection);
  ITEMDB_ASSIGN_OR_RETURN(std::string canonical, CanonicalizeItem(key));
  ITEMDB_ASSIGN_OR_RETURN(read.table, catalog.Find(table_name));
  read.key_error = CheckKeyIsExact(*read.table, ItemView(canonical));
  if (!read.key_error.ok()) return read;
  ITEMDB_ASSIGN_OR_RETURN(read.key, EncodeKeyOfAnySize(*read.table, ItemView(canonical)));
  read.key_error = CheckKeySize(*read.table, ItemView(canonical));
  if (read.key_error.ok() && read.projection.has_value())
    ITEMDB_RETURN_IF_ERROR(CheckNoPathIntoKeys(*read.table, read.projection->NestedAttributes()));
  return read;
}

absl::StatusOr<PointRead> PreparePointRead(const Catalog& catalog, const std::string& table_name,
                                           const std::string& key, std::optional<Projection> projection) {
  ITEMDB_ASSIGN_OR_RETURN(PointRead read,
                          PrepareTransactRead(catalog, table_name, key, std::move(projection)));
  ITEMDB_RETURN_IF_ERROR(read.key_error);
  return read;
}

void RunPointReads(Engine& engine, PointReads reads) {
  size_t next = 0;
  absl::StatusOr<bool> all = Read(reads, ReadTier::kCacheOnly, &next);
  if (!all.ok() || *all) return std::move(reads.done)(all.status());

  auto shared = std::make_shared<PointReads>(std::move(reads));
  const TracedWait wait(shared->cancellation);
  IoPool::Task task = [shared, wait, next]() mutable {
    wait.End(shared->cancellation);
    absl::Status status = Read(*shared, ReadTier::kDisk, &next).status();
    std::move(shared->done)(std::move(status));
  };
  if (engine.io().Submit(task, IoPriority::kPoint)) return;
  const absl::Status refused = IoPoolFullError();
  // Those before were read.
  for (size_t i = next; i < shared->reads.size(); ++i)
    CountRefusedKey(*shared->reads[i].table, shared->reads[i].key, refused);
  std::move(shared->done)(refused);
}

}  // namespace itemdb::storage
