// Commit groups of the primary, as the standby writes them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "itemdb/v1/tables.pb.h"
#include "storage/archive/archive_segment.h"
#include "storage/changes/change_record.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Checks that all of `archived` decodes, so that AppendReplicated cannot fail, and returns the definitions of
// tables that it puts. DATA_LOSS: it does not decode, or has not the changes that it should have.
// FAILED_PRECONDITION (FORMAT_UNKNOWN): the primary is a newer program, and this one does not know all of a
// definition.
absl::StatusOr<std::vector<v1::TableDescription>> CheckReplicated(const ArchivedGroup& archived,
                                                                  const Store& store);

// The vector indexes in which groups have changed an entry without a change of its item, as a repair does:
// what is in memory of them does not follow from the change log.
class IndexesWithSilentChanges {
 public:
  // `catalog`: from before the groups.
  explicit IndexesWithSilentChanges(const Catalog& catalog);

  // What a group has: a key of Store::global_entries() that it puts or deletes, and a change record.
  void Entry(std::string_view stored_key);
  void Change(const ChangeView& change);
  void EndGroup();

  // Storage ids.
  const std::set<uint64_t>& found() const { return found_; }

 private:
  // By storage id of the index; and the tables that have one, by theirs.
  std::map<uint64_t, std::pair<std::shared_ptr<const Table>, const Index*>> indexes_;
  std::map<uint64_t, std::shared_ptr<const Table>> tables_;
  // Of the group: storage id of the table, encoded primary key.
  std::set<std::pair<uint64_t, std::string>> changed_;
  // The same of entries, with the storage ids of their indexes.
  std::map<std::pair<uint64_t, std::string>, std::set<uint64_t>> entries_;
  std::set<uint64_t> found_;
};

// Appends what `archived` wrote to `group`, whose next_sequence() must be its first change: records as they
// are, definitions of tables also to the catalog in memory, size statistics also to those in memory. Left out
// is what each database does for itself: where its change log begins, and that the space of a deleted table
// or index was reclaimed. CheckReplicated must have succeeded. Tells `silent` what the group has.
absl::Status AppendReplicated(Engine& engine, const Store& store, const ArchivedGroup& archived,
                              CommitGroup& group, IndexesWithSilentChanges* silent);

}  // namespace itemdb::storage
