// The graphs of a vector index in a file, so that a start need not make them again.
//
// DIRECTORY/vector-graphs/ID, where ID is the storage id of the index:
//
//   frames        4 bytes: number of bytes, 8 bytes: XXH3-64 of them with the frame's number as seed, the
//   bytes end           a frame without bytes
//
// The bytes of all frames together, integers as those of the machine:
//
//   header        "itemdb vector graphs 1\n", storage id (8), change sequence (8), distance function (4),
//                 dimensions (4), number of graphs (4)
//   each graph    length of the partition's key (4), the key, number of entries (8), a hash of each entry's
//   key
//                 and vector (8 each), the links (vector_graph.h)
//
// Vectors are not in the file: the copy in memory has them. Hashes tell which entry has which place in the
// graph. So whatever the file says, a search finds only entries that are there; a file that is old, or
// belongs to another state of the database, costs recall at most, and is not used where much of it differs.
//
// The file is a cache: it is replaced by a rename, is not part of backups, and may be deleted while the
// database is closed. It is encrypted where the directory is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "rocksdb/env.h"
#include "storage/base/status.h"
#include "storage/vectors/vector_copy.h"

namespace itemdb::storage {

// Which index the graphs are of.
struct GraphFileIndex {
  uint64_t storage_id = 0;
  v1::VectorDistanceFunction distance = v1::VECTOR_DISTANCE_FUNCTION_UNSPECIFIED;
  size_t dimensions = 0;
};

class GraphFiles {
 public:
  GraphFiles(rocksdb::Env* env, const std::string& data_directory)
      : env_(env), directory_(data_directory + "/vector-graphs") {}

  // Begins a file that replaces the one of `index` when Finish is called. UNAVAILABLE: the disk says so.
  class Writer;
  absl::StatusOr<std::unique_ptr<Writer>> Write(const GraphFileIndex& index, uint64_t change_sequence,
                                                size_t graphs) const;

  struct Restored {
    // Of the state that the file was made of.
    uint64_t change_sequence = 0;
    size_t entries = 0;
    // Entries of these graphs that are not there any more.
    size_t replaced = 0;
    // Graphs of partitions that have changed too much.
    size_t unused_graphs = 0;
  };
  // Gives `*copy`, which was filled and not changed since, the graphs of the file. Calls `check` now and
  // then, and ends with its error.
  //
  // NOT_FOUND: there is no file. DATA_LOSS: it is damaged. FAILED_PRECONDITION: it is of another index or
  // version. UNAVAILABLE: it cannot be read. After an error some partitions may have their graphs.
  absl::StatusOr<Restored> Restore(const GraphFileIndex& index, absl::FunctionRef<absl::Status()> check,
                                   VectorCopy* copy) const;

  // Deletes the files of other indexes than these.
  void DeleteAllBut(const std::set<uint64_t>& storage_ids) const;

  std::string PathOf(uint64_t storage_id) const { return directory_ + "/" + std::to_string(storage_id); }

 private:
  rocksdb::Env* const env_;
  const std::string directory_;
};

// Not thread-safe. Without Finish the file stays as it was.
class GraphFiles::Writer {
 public:
  Writer(rocksdb::Env* env, std::string path, std::unique_ptr<rocksdb::WritableFile> file)
      : env_(env), path_(std::move(path)), file_(std::move(file)) {}
  ~Writer();

  // `go_on` is called now and then; false ends it with CANCELLED.
  absl::Status Add(const VectorCopy::PartitionGraph& graph, const std::vector<uint64_t>& hashes,
                   absl::FunctionRef<bool()> go_on);
  // Makes the file durable and puts it in the place of the one before. Bytes of the file.
  absl::StatusOr<uint64_t> Finish();

 private:
  friend class GraphFiles;
  bool Append(const void* bytes, size_t size);
  absl::Status WriteFrame();
  absl::Status Error() const;

  rocksdb::Env* const env_;
  const std::string path_;
  std::unique_ptr<rocksdb::WritableFile> file_;
  rocksdb::Status status_;
  std::string frame_;
  uint64_t frames_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace itemdb::storage
