#include "storage/indexes/content_check.h"

#include <utility>
#include <vector>

#include "storage/indexes/differences.h"
#include "storage/indexes/findings.h"
#include "storage/indexes/repair.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kRecordsBetweenPauses = 512;

// A table's items, or an index's entries.
struct CountedPart {
  std::string table_name;
  uint64_t storage_id;
};

std::vector<CountedPart> CountedPartsOf(const Catalog& catalog, const std::set<std::string>& without) {
  std::vector<CountedPart> parts;
  for (const auto& table : catalog) {
    if (without.contains(table->name)) continue;
    parts.push_back({table->name, table->storage_id});
    for (const Index& index : table->indexes) parts.push_back({table->name, index.storage_id});
  }
  return parts;
}

// The records of `keyspace`; nullopt: not all of them can be read.
absl::StatusOr<std::optional<SizeStatistics>> CountRecords(const Walk& walk, const Keyspace& keyspace,
                                                           const std::function<void(int64_t)>& pace) {
  SizeStatistics counted;
  bool is_damaged = false;
  const absl::Status read = ForEachRecord(walk, keyspace, [&](std::string_view key, std::string_view record) {
    const std::optional<StoredRecord> stored = DecodeRecord(keyspace.storage_id(), key, record);
    if (!stored.has_value())
      is_damaged = true;
    else
      counted.AddRecord(stored->item_size, stored->checksum);
    if (counted.items % kRecordsBetweenPauses == 0) pace(kRecordsBetweenPauses);
  });
  if (is_damaged || absl::IsDataLoss(read)) return std::nullopt;
  ITEMDB_RETURN_IF_ERROR(read);
  return counted;
}

absl::Status CheckPart(Engine& engine, const CancellationPtr& cancellation,
                       const ContentCheckOptions& options, const CountedPart& part, Findings* findings) {
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
  const std::shared_ptr<const Table> table = view->catalog().FindByName(part.table_name);
  if (table == nullptr) return absl::OkStatus();
  const Index* const index = table->FindIndexByStorageId(part.storage_id);
  const bool is_there =
      index != nullptr ? index->state == IndexState::kActive : table->storage_id == part.storage_id;
  if (!is_there) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(const SizeStatistics stored, ReadStatistics(*view, part.storage_id));
  const bool completes = !stored.content.is_whole && engine.WriteRefusal().ok();
  if (!completes && stored.items > options.max_records) return absl::OkStatus();

  ITEMDB_ASSIGN_OR_RETURN(
      const std::optional<SizeStatistics> counted,
      CountRecords({engine, *view, cancellation},
                   index != nullptr ? EntriesOf(*view->store(), *index) : ItemsOf(*view->store(), *table),
                   completes ? [](int64_t) {} : options.pace));
  if (!counted.has_value()) return absl::OkStatus();
  if (!stored.Matches(*counted)) {
    const std::string owner =
        (index != nullptr ? "index " + index->name + " of table " : "table ") + table->name;
    findings->Report(*table).miscounted(owner, part.storage_id, *counted, stored);
    return absl::OkStatus();
  }
  if (!completes) return absl::OkStatus();
  Repair repair(engine, *view, *table);
  repair.Expected(part.storage_id, *counted);
  return repair.Finish();
}

}  // namespace

absl::Status CheckContents(Engine& engine, const CancellationPtr& cancellation,
                           const ContentCheckOptions& options, v1::CheckDatabaseReply* findings) {
  std::vector<CountedPart> parts;
  {
    ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
    parts = CountedPartsOf(view->catalog(), options.without);
  }
  Findings found(findings);
  absl::Status first_error;
  for (const CountedPart& part : parts) {
    v1::CheckDatabaseReply first;
    Findings first_found(&first);
    first_error.Update(CheckPart(engine, cancellation, options, part, &first_found));
    // In a new view: a repair corrects counts after entries, and may have been about to.
    if (first.finding_count() > 0) first_error.Update(CheckPart(engine, cancellation, options, part, &found));
    ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(cancellation));
  }
  return first_error;
}

}  // namespace itemdb::storage
