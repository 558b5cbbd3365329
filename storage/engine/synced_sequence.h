// DIRECTORY/SYNCED: the last change sequence that a commit group has synced.
//
// WATERMARK is replaced once a second, so a process that is killed leaves up to a second of acknowledged
// writes above it. This file is written after each synced group, before its writes are acknowledged, and
// never synced itself: it survives a killed process, and a power cut can only make it older. So a log that is
// cut or damaged while the database is not open is noticed whichever acknowledged write it lacks.
//
// Two slots are written in turn, each a sequence and its XXH3-64: one is intact whenever the process is
// killed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace itemdb::storage {

class SyncedSequence {
 public:
  // The sequence in `directory`; 0 when the file is missing or has no intact slot.
  static uint64_t Read(const std::string& directory);

  // Opens the file, or makes it. Null when that is not possible: the database works without it.
  static std::unique_ptr<SyncedSequence> Open(const std::string& directory);
  ~SyncedSequence();
  SyncedSequence(const SyncedSequence&) = delete;
  SyncedSequence& operator=(const SyncedSequence&) = delete;

  // Writes `sequence`: about a microsecond. Ignores errors. Called by one thread at a time.
  void Store(uint64_t sequence);

 private:
  explicit SyncedSequence(int file) : file_(file) {}

  const int file_;
  bool second_slot_ = false;
};

}  // namespace itemdb::storage
