#include "storage/archive/archive_directory.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "storage/store/durable_file.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

constexpr char kWaitsForStandbyName[] = "WAITS_FOR_STANDBY";

ArchiveChain BeginChain(const SegmentHeader& first) {
  return {.database_id = first.database_id,
          .store_id = first.store_id,
          .id = first.chain_id,
          .after_sequence = first.after_sequence,
          .after_change = first.after_change,
          .begin_time_us = first.begin_time_us,
          .segments = {first}};
}

// Adds `header` to `chain` if it continues it. Segments of the chain behind the one that it names do not
// count: they were begun, and could not be made durable.
bool Continue(const SegmentHeader& header, ArchiveChain* chain) {
  std::vector<SegmentHeader>& segments = chain->segments;
  const auto previous = std::find_if(segments.begin(), segments.end(), [&](const SegmentHeader& segment) {
    return segment.number == header.previous;
  });
  if (header.previous == 0 || previous == segments.end() || chain->id != header.chain_id) return false;
  segments.erase(previous + 1, segments.end());
  segments.push_back(header);
  return true;
}

// Reads one segment. Frames behind `through` do not count.
class SegmentOfChain {
 public:
  SegmentOfChain(std::unique_ptr<SegmentReader> reader, uint64_t through)
      : reader_(std::move(reader)), through_(through) {}

  absl::StatusOr<std::optional<ArchivedGroup>> Next() {
    const uint64_t hash_before = reader_->hash();
    ITEMDB_ASSIGN_OR_RETURN(std::optional<ArchivedGroup> group, reader_->Next());
    if (group.has_value() && group->last_sequence <= through_) {
      hash_ = reader_->hash();
      return group;
    }
    hash_ = hash_before;
    return std::nullopt;
  }
  // Of the last frame that counts, or of the header.
  uint64_t hash() const { return hash_; }

 private:
  const std::unique_ptr<SegmentReader> reader_;
  const uint64_t through_;
  uint64_t hash_ = 0;
};

}  // namespace

absl::StatusOr<ArchiveContents> ReadArchive(rocksdb::Env* env, const std::string& directory) {
  std::vector<std::string> names;
  const rocksdb::Status listed = env->GetChildren(directory, &names);
  if (IsMissingFile(listed))
    return MakeError(absl::StatusCode::kNotFound, kReasonResourceNotFound, directory + " does not exist");
  if (!listed.ok()) return FromRocksDB("cannot read " + directory, listed);
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    if (const std::optional<uint64_t> number = ParseSegmentName(name)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());

  ArchiveContents contents;
  for (const uint64_t number : numbers) {
    contents.last_number = number;
    absl::StatusOr<std::unique_ptr<SegmentReader>> reader = SegmentReader::Open(env, directory, number);
    // A crash while it was made, or damage.
    if (absl::IsDataLoss(reader.status()) || absl::IsNotFound(reader.status())) continue;
    ITEMDB_RETURN_IF_ERROR(reader.status());
    const SegmentHeader& header = (*reader)->header();
    std::vector<ArchiveChain>& chains = contents.chains;
    if (!chains.empty() && Continue(header, &chains.back())) continue;
    if (!chains.empty() && chains.back().store_id == header.store_id)
      chains.back().through_sequence = header.after_sequence;
    chains.push_back(BeginChain(header));
  }
  return contents;
}

absl::StatusOr<ChainEnd> ForEachGroup(rocksdb::Env* env, const std::string& directory,
                                      const ArchiveChain& chain, uint64_t after_sequence,
                                      absl::FunctionRef<absl::StatusOr<bool>(const ArchivedGroup&)> visit) {
  ChainEnd end;
  for (size_t i = 0; i < chain.segments.size(); ++i) {
    const SegmentHeader* const next = i + 1 < chain.segments.size() ? &chain.segments[i + 1] : nullptr;
    // Nothing of this segment is asked for.
    if (next != nullptr && next->after_sequence <= after_sequence) continue;
    const SegmentHeader& header = chain.segments[i];
    end.sequence = header.after_sequence;
    end.change = header.after_change;
    ITEMDB_ASSIGN_OR_RETURN(auto reader, SegmentReader::Open(env, directory, header.number));
    SegmentOfChain segment(std::move(reader),
                           next != nullptr ? next->after_sequence : chain.through_sequence);
    while (true) {
      ITEMDB_ASSIGN_OR_RETURN(const std::optional<ArchivedGroup> group, segment.Next());
      if (!group.has_value()) break;
      end.sequence = group->last_sequence;
      end.change = group->last_change;
      end.commit_time_us = group->commit_time_us;
      if (group->last_sequence <= after_sequence) continue;
      ITEMDB_ASSIGN_OR_RETURN(const bool goes_on, visit(*group));
      if (!goes_on) return end;
    }
    end.hash = segment.hash();
    if (next == nullptr) break;
    // A segment without a frame that counts is continued with what it continues itself.
    const bool is_empty = end.sequence == header.after_sequence;
    const uint64_t expected = is_empty ? header.after_hash : segment.hash();
    if (end.sequence != next->after_sequence || expected != next->after_hash) {
      return DataLossError("the archive in " + directory + " is damaged: " + SegmentName(header.number) +
                           " ends after change " + std::to_string(end.change) + ", but " +
                           SegmentName(next->number) + " goes on after change " +
                           std::to_string(next->after_change));
    }
  }
  return end;
}

absl::StatusOr<int64_t> LastCommitTime(rocksdb::Env* env, const std::string& directory,
                                       const ArchiveChain& chain) {
  // The last ones may have no group.
  for (auto segment = chain.segments.rbegin(); segment != chain.segments.rend(); ++segment) {
    ITEMDB_ASSIGN_OR_RETURN(const ChainEnd end, ForEachGroup(env, directory, chain, segment->after_sequence,
                                                             [](const ArchivedGroup&) { return true; }));
    if (end.commit_time_us != 0) return end.commit_time_us;
  }
  return 0;
}

absl::Status WriteWaitsForStandby(rocksdb::Env* env, const std::string& directory, bool waits) {
  const std::string path = directory + "/" + kWaitsForStandbyName;
  const rocksdb::Status status = waits ? ReplaceFile(env, path, "") : env->DeleteFile(path);
  if (status.ok() || IsMissingFile(status)) return absl::OkStatus();
  return FromRocksDB(std::string("cannot ") + (waits ? "write " : "delete ") + path, status);
}

absl::Status CheckDoesNotWaitForStandby(rocksdb::Env* env, const std::string& directory) {
  const std::string path = directory + "/" + kWaitsForStandbyName;
  if (!env->FileExists(path).ok()) return absl::OkStatus();
  return MakeError(
      absl::StatusCode::kFailedPrecondition, kReasonStandby,
      "the primary that archives into " + directory +
          " waits until a standby acknowledges each write (--standby-acknowledge), and a standby "
          "that reads the primary's directories acknowledges nothing: give --standby HOST:PORT, the "
          "primary's address, or start the primary without --standby-acknowledge. If the primary is "
          "lost, delete " +
          path);
}

}  // namespace itemdb::storage
