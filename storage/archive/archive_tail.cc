#include "storage/archive/archive_tail.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "storage/store/store.h"

namespace itemdb::storage {

absl::StatusOr<uint64_t> ArchiveTail::FindLastNumber() const {
  std::vector<std::string> names;
  if (const rocksdb::Status listed = env_->GetChildren(directory_, &names); !listed.ok())
    return FromRocksDB("cannot read " + directory_, listed);
  uint64_t last = 0;
  for (const std::string& name : names) last = std::max(last, ParseSegmentName(name).value_or(0));
  return last;
}

absl::StatusOr<bool> ArchiveTail::FindSegment() {
  ITEMDB_ASSIGN_OR_RETURN(const ArchiveContents contents, ReadArchive(env_, directory_));
  // Not contents.last_number: the header of that one may be half written, and is read again then.
  last_number_ = contents.chains.empty() ? 0 : contents.chains.back().segments.back().number;
  const auto chain = std::find_if(contents.chains.begin(), contents.chains.end(),
                                  [&](const ArchiveChain& one) { return one.id == chain_id_; });
  if (chain == contents.chains.end() || chain->after_sequence > sequence_ ||
      chain->through_sequence < sequence_)
    return false;
  through_sequence_ = chain->through_sequence;
  has_ended_ = std::next(chain) != contents.chains.end();
  // The last one that may have what follows.
  const auto behind =
      std::find_if(chain->segments.begin(), chain->segments.end(),
                   [&](const SegmentHeader& segment) { return segment.after_sequence > sequence_; });
  has_later_segment_ = behind != chain->segments.end();
  const SegmentHeader& found = *std::prev(behind);
  if (reader_ != nullptr && reader_->header().number == found.number) {
    ITEMDB_RETURN_IF_ERROR(reader_->Refresh());
  } else {
    ITEMDB_ASSIGN_OR_RETURN(reader_, SegmentReader::Open(env_, directory_, found.number));
  }
  return true;
}

absl::StatusOr<std::optional<ArchivedGroup>> ArchiveTail::NextOfSegment() {
  while (true) {
    ITEMDB_ASSIGN_OR_RETURN(std::optional<ArchivedGroup> group, reader_->Next());
    if (!group.has_value() || group->last_sequence > through_sequence_) return std::nullopt;
    if (group->last_sequence <= sequence_) continue;
    if (group->first_sequence != sequence_ + 1 && !group->follows_ingestion) {
      return DataLossError(absl::StrCat("the archive in ", directory_,
                                        " is damaged: a commit group begins at ", group->first_sequence,
                                        ", the one before ends at ", sequence_));
    }
    sequence_ = group->last_sequence;
    return group;
  }
}

absl::StatusOr<std::optional<ArchivedGroup>> ArchiveTail::Next() {
  if (reader_ != nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(std::optional<ArchivedGroup> group, NextOfSegment());
    if (group.has_value()) return group;
    ITEMDB_RETURN_IF_ERROR(reader_->Refresh());
    ITEMDB_ASSIGN_OR_RETURN(group, NextOfSegment());
    if (group.has_value()) return group;
    ITEMDB_ASSIGN_OR_RETURN(const uint64_t last_number, FindLastNumber());
    if (last_number == last_number_ && !has_ended_ && !has_later_segment_) return std::nullopt;
  }
  ITEMDB_ASSIGN_OR_RETURN(const bool goes_on, FindSegment());
  if (goes_on) {
    ITEMDB_ASSIGN_OR_RETURN(std::optional<ArchivedGroup> group, NextOfSegment());
    if (group.has_value()) return group;
    if (has_later_segment_) {
      return DataLossError(absl::StrCat("the archive in ", directory_, " is damaged: ",
                                        SegmentName(reader_->header().number), " ends early"));
    }
    if (!has_ended_) return std::nullopt;
  }
  return MakeError(absl::StatusCode::kOutOfRange, kReasonRestorePointUnknown,
                   absl::StrCat("the archive in ", directory_, " does not have what follows: it has a gap"));
}

}  // namespace itemdb::storage
