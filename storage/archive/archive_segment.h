// A segment: a file of the archive. It has commit groups as they were committed, in commit order.
//
// Numbers are 8 bytes, big-endian. A segment begins with a header:
//
//   "itemdb archive 1\n"
//   number | previous | chain_id | after_sequence | after_change | after_hash | begin_time_us
//                                                                                          (SegmentHeader)
//   length and bytes of database_id | length and bytes of store_id
//   hash
//
// Then there is a frame for each commit group:
//
//   length of the batch | first_sequence | last_sequence | first_change | last_change | commit_time_us |
//   flags hash the batch
//
// Each hash is the XXH3-64 of what the header or frame has, with the hash before it as the seed. So a frame
// that was changed, left out or moved is found, and so is a segment. A crash may leave half a frame at the
// end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/write_batch.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// One commit group. Sequences are RocksDB's sequence numbers, which count the records of batches: no two
// groups have one in common. Changes are change sequences.
struct ArchivedGroup {
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
  // first_change is last_change + 1 when the group has no change record.
  uint64_t first_change = 0;
  uint64_t last_change = 0;
  // Microseconds since the Unix epoch; never decreases.
  int64_t commit_time_us = 0;
  // Table files were added to the store (Store::Ingest) after the group before. They are not in the archive.
  bool follows_ingestion = false;
  rocksdb::WriteBatch batch;
};

struct SegmentHeader {
  uint64_t number = 0;
  // The number of the segment that this one continues; 0: it begins a chain.
  uint64_t previous = 0;
  // A random number, the same in all segments of a chain.
  uint64_t chain_id = 0;
  // The last sequence and change before the first group. Frames of `previous` behind them do not count: they
  // were written again in this segment, or never became durable in the database.
  uint64_t after_sequence = 0;
  uint64_t after_change = 0;
  // The hash of the frame that ends there; 0 at the beginning of a chain.
  uint64_t after_hash = 0;
  // When the segment was begun.
  int64_t begin_time_us = 0;
  std::string database_id = {};
  // Which store of the database: sequences of different stores cannot be compared.
  std::string store_id = {};
};

std::string SegmentName(uint64_t number);
// std::nullopt when `name` is not the name of a segment.
std::optional<uint64_t> ParseSegmentName(const std::string& name);

class SegmentWriter {
 public:
  // Makes the file and syncs it with its header. UNAVAILABLE, RESOURCE_EXHAUSTED (DISK_FULL): as the file
  // system says.
  static absl::StatusOr<std::unique_ptr<SegmentWriter>> Create(rocksdb::Env* env,
                                                               const std::string& directory,
                                                               const SegmentHeader& header);
  // Groups are durable after Sync. After an error the segment must not be used any more. Errors as Create.
  absl::Status Append(const ArchivedGroup& group);
  absl::Status Sync();

  uint64_t number() const { return number_; }
  uint64_t bytes() const { return bytes_; }
  // The hash of the last frame, or of the header.
  uint64_t hash() const { return hash_; }

 private:
  SegmentWriter(std::unique_ptr<rocksdb::WritableFile> file, uint64_t number)
      : file_(std::move(file)), number_(number) {}
  absl::Status Write();

  const std::unique_ptr<rocksdb::WritableFile> file_;
  const uint64_t number_;
  // Not yet given to the file.
  std::string buffer_;
  uint64_t bytes_ = 0;
  uint64_t hash_ = 0;
};

class SegmentReader {
 public:
  // DATA_LOSS: the header is damaged or of another format. NOT_FOUND: there is no such file. UNAVAILABLE: the
  // file system says so.
  static absl::StatusOr<std::unique_ptr<SegmentReader>> Open(rocksdb::Env* env, const std::string& directory,
                                                             uint64_t number);
  const SegmentHeader& header() const { return header_; }
  // std::nullopt: there is no further whole frame. UNAVAILABLE: the file system says so.
  absl::StatusOr<std::optional<ArchivedGroup>> Next();
  // The hash of the last frame that Next has returned, or of the header.
  uint64_t hash() const { return hash_; }
  // After Next has returned std::nullopt: whether bytes follow that are no whole, undamaged frame.
  bool ends_in_damage() const { return ends_in_damage_; }
  // After Next has returned std::nullopt: makes Next look again, if the file has other bytes behind the last
  // whole frame than it had. A segment may be written while it is read. Errors as Open.
  absl::Status Refresh();

 private:
  SegmentReader(rocksdb::Env* env, std::string path, std::unique_ptr<rocksdb::SequentialFile> file,
                uint64_t bytes)
      : env_(env), path_(std::move(path)), file_(std::move(file)), bytes_(bytes), bytes_left_(bytes) {}
  // Reads `count` bytes into `*to`. False: there are fewer.
  absl::StatusOr<bool> Read(size_t count, std::string* to);
  absl::StatusOr<bool> ReadHeader();

  rocksdb::Env* const env_;
  const std::string path_;
  std::unique_ptr<rocksdb::SequentialFile> file_;
  // The size of the file when it was opened.
  uint64_t bytes_;
  uint64_t bytes_left_;
  // Where the last whole frame ends, or the header.
  uint64_t end_of_frames_ = 0;
  SegmentHeader header_;
  uint64_t hash_ = 0;
  bool ends_in_damage_ = false;
};

}  // namespace itemdb::storage
