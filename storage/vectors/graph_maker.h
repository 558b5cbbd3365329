// Makes the graphs of vector indexes by a thread of its own, and keeps them in files (graph_file.h), so that
// a start need not make them again.
//
// A file is written when graphs were made, and again when they have grown by a sixteenth. What is newer than
// the file a start adds to the graphs again.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <vector>

#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"
#include "storage/vectors/graph_file.h"
#include "storage/vectors/shared_copy.h"

namespace itemdb::storage {

// The copies whose graphs are made.
class GraphOwner {
 public:
  virtual ~GraphOwner() = default;
  // The storage ids of the indexes that may have a copy.
  virtual std::vector<uint64_t> StorageIds() const = 0;
  // Null: the index has none now.
  virtual std::shared_ptr<SharedCopy> FindCopy(uint64_t storage_id) const = 0;
  // Waits until nobody else changes `copy`. Until the result is destroyed only the caller may. Null: the
  // index has another copy now, or the database closes.
  virtual std::shared_ptr<void> BeginGraphChange(const std::shared_ptr<SharedCopy>& copy) = 0;
};

// Thread-safe, except where said otherwise.
class GraphMaker {
 public:
  GraphMaker(Engine& engine, GraphOwner& owner);
  ~GraphMaker() { Stop(); }
  void Stop();

  // Copies may need graphs. Begins the thread with the first call. Not after or beside Stop.
  void Wake();

  // Gives a copy that was filled, and that nobody else has yet, the graphs of its index's file. Without a
  // usable file, which is logged, it gets none. Errors of `check`.
  absl::Status Restore(SharedCopy& copy, VectorCheck check);
  // Entries that got their place in a graph from a file, since the start.
  int64_t restored_entries() const { return restored_entries_; }

  // Deletes the files of other indexes than these.
  void DeleteAllBut(const std::set<uint64_t>& storage_ids) const { files_.DeleteAllBut(storage_ids); }

 private:
  void Run();
  void MakeGraphsOf(uint64_t storage_id);
  // Writes the file of the copy's graphs if it lacks much of them.
  void Keep(SharedCopy& copy);
  absl::StatusOr<uint64_t> Write(SharedCopy& copy);
  bool MayGoOn(const SharedCopy& copy) const { return !thread_.stopping() && !copy.is_dropped; }

  Engine& engine_;
  GraphOwner& owner_;
  const GraphFiles files_;
  std::atomic<int64_t> restored_entries_ = 0;
  Mutex mutex_;
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
