// An iterator that goes on behind damaged blocks.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "rocksdb/options.h"
#include "storage/keys/key_range.h"
#include "storage/store/keyspace.h"

namespace itemdb::storage {

// Iterates over the readable records of a range of a keyspace, in key order. Has the newest version of each
// record, or none: where the damaged block may have a newer version than the other files, the record is
// skipped too.
//
// Behind a damaged block the records of other files come first, whose keys are in its range: an iterator that
// leaves the damaged file out finds them, and Get tells whether each is the newest version.
class SkippingIterator {
 public:
  // As KeyspaceIterator.
  SkippingIterator(const Store& store, const Keyspace& keyspace, const rocksdb::ReadOptions& options,
                   const KeyRange& range);
  SkippingIterator(const SkippingIterator&) = delete;
  SkippingIterator& operator=(const SkippingIterator&) = delete;

  void SeekToFirst();
  void Next();
  bool Valid() const { return failure_.ok() && (between_ != nullptr ? between_->Valid() : main_.Valid()); }
  // Both are valid until the iterator moves.
  std::string_view key() const { return between_ != nullptr ? between_->key() : main_.key(); }
  std::string_view value() const { return between_ != nullptr ? ToView(record_) : main_.value(); }
  // Not OK: an error other than damage.
  rocksdb::Status status() const;
  // Whether damage lies between the record before and this one, or the end. True once for each place.
  bool TakeSkipped() { return std::exchange(skipped_, false); }

 private:
  // Moves on until there is a readable record, an error or the end.
  void SettleMain();
  void SettleBetween();
  // Leaves the damaged file that `error` names out of `between_`. False: it names none, or a known one.
  bool Exclude(const rocksdb::Status& error);
  void OpenBetween(std::string lower);

  const Store& store_;
  const Keyspace keyspace_;
  const rocksdb::ReadOptions options_;
  const KeyRange range_;
  // All records. While `between_` is not null, it stands behind the damage.
  KeyspaceIterator main_;
  // The end of the range is damaged: nothing is behind `between_`.
  bool main_ended_ = false;
  // Smaller than every key that is not read yet.
  std::string from_;
  // The records of other files in the range of damage that ends at `between_end_`.
  std::unique_ptr<KeyspaceIterator> between_;
  std::string between_end_;
  rocksdb::PinnableSlice record_;
  // TableFileId of damaged files.
  std::set<std::string> excluded_;
  bool skipped_ = false;
  rocksdb::Status failure_;
};

}  // namespace itemdb::storage
