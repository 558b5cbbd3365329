// Makes the first encryption key the only one that the files of the data directory need.
//
// To rotate keys, a person puts a new key before the old ones into the key file and starts itemd again. New
// files then get the new key; at a start these are the write-ahead log, MANIFEST and one OPTIONS file.
// RewriteSmallFiles and the thread of KeyRotation do the rest: table files are compacted one after another,
// which writes them anew. When no file needs an old key any more, the log says so, and the key may be removed
// from the key file. An opening without a key that is still needed is refused (CheckEncryption).
#pragma once

#include <atomic>
#include <set>
#include <string>

#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Called while nothing else writes files: rewrites the files of the data directory that RocksDB does not make
// anew, such as IDENTITY and CATALOG, if they need another key than the first.
absl::Status RewriteSmallFiles(const Environment& environment, const std::string& directory);

class KeyRotation {
 public:
  // Starts the thread if the database is encrypted. It ends when no file needs another key than the first.
  explicit KeyRotation(Engine& engine);
  ~KeyRotation();

  // Any thread.
  void Describe(v1::GetStatusReply* reply) const;

 private:
  void Loop();
  void ShowProgress();
  // Counts a file, and logs each tenth of the files that are rewritten.
  void LogProgress();
  // Rewrites the table files among `names`. False: the thread is to end.
  bool RewriteTableFiles(const std::set<std::string>& names);
  // The names of the files that need another key than the first.
  std::set<std::string> FindOldFiles() const;

  Engine& engine_;
  // Files to rewrite since the start, those of them that are, and the tenths that were logged.
  size_t total_ = 0;
  size_t rewritten_ = 0;
  size_t logged_tenths_ = 0;
  // What Describe says; -1 before the files were looked at.
  std::atomic<int64_t> shown_old_files_ = -1;
  std::atomic<int64_t> shown_rewritten_ = 0;
  // Ends a compaction.
  std::atomic<bool> stopped_ = false;
  // The last member: ends before the others are destroyed.
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
