#include "storage/engine/synced_sequence.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "storage/base/xxh3.h"

namespace itemdb::storage {
namespace {

struct Slot {
  uint64_t sequence = 0;
  uint64_t hash = 0;
};

std::string PathIn(const std::string& directory) { return directory + "/SYNCED"; }

uint64_t HashOf(uint64_t sequence) { return XXH3_64bits(&sequence, sizeof(sequence)); }

}  // namespace

uint64_t SyncedSequence::Read(const std::string& directory) {
  const int file = open(PathIn(directory).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  Slot slots[2];
  const ssize_t bytes = pread(file, slots, sizeof(slots), 0);
  close(file);
  uint64_t sequence = 0;
  for (size_t i = 0; i < static_cast<size_t>(std::max<ssize_t>(bytes, 0)) / sizeof(Slot); ++i)
    if (slots[i].hash == HashOf(slots[i].sequence)) sequence = std::max(sequence, slots[i].sequence);
  return sequence;
}

std::unique_ptr<SyncedSequence> SyncedSequence::Open(const std::string& directory) {
  const int file = open(PathIn(directory).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  // Blocks are set aside now, so that a full disk does not keep the file from being written.
  (void)posix_fallocate(file, 0, 2 * sizeof(Slot));
  return std::unique_ptr<SyncedSequence>(new SyncedSequence(file));
}

SyncedSequence::~SyncedSequence() { close(file_); }

void SyncedSequence::Store(uint64_t sequence) {
  const Slot slot{sequence, HashOf(sequence)};
  (void)!pwrite(file_, &slot, sizeof(slot), second_slot_ ? sizeof(slot) : 0);
  second_slot_ = !second_slot_;
}

}  // namespace itemdb::storage
