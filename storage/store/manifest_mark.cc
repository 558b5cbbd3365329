#include "storage/store/manifest_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "storage/base/xxh3.h"

namespace itemdb::storage {
namespace {

constexpr char kFileName[] = "/MANIFEST_SYNCED";

struct Slot {
  uint64_t number = 0;
  uint64_t bytes = 0;
  uint64_t hash = 0;
};

uint64_t HashOf(const Slot& slot) { return XXH3_64bits(&slot, sizeof(slot) - sizeof(slot.hash)); }

// The number in "MANIFEST-000005", with or without a directory before it.
std::optional<uint64_t> ManifestNumber(const std::string& name) {
  uint64_t number = 0;
  const size_t begin = name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1;
  if (std::sscanf(name.c_str() + begin, "MANIFEST-%" SCNu64, &number) != 1) return std::nullopt;
  return number;
}

// The last mark; empty without one.
std::optional<Slot> ReadMark(const std::string& path) {
  const int file = open((path + kFileName).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  Slot slots[2];
  const ssize_t bytes = pread(file, slots, sizeof(slots), 0);
  close(file);
  std::optional<Slot> last;
  for (size_t i = 0; i < 2 && static_cast<ssize_t>((i + 1) * sizeof(Slot)) <= bytes; ++i) {
    const Slot& slot = slots[i];
    if (slot.hash != HashOf(slot) || slot.number == 0) continue;
    if (!last.has_value() || std::pair(slot.number, slot.bytes) > std::pair(last->number, last->bytes))
      last = slot;
  }
  return last;
}

// The name in CURRENT; nullopt if it cannot be read or is none.
std::optional<std::string> CurrentManifest(rocksdb::Env* env, const std::string& path) {
  std::string name;
  if (!rocksdb::ReadFileToString(env, path + "/CURRENT", &name).ok()) return std::nullopt;
  name.resize(std::min(name.find('\n'), name.size()));
  if (!ManifestNumber(name).has_value()) return std::nullopt;
  return name;
}

}  // namespace

absl::Status CheckManifest(rocksdb::Env* env, const std::string& path) {
  const std::optional<Slot> mark = ReadMark(path);
  const std::optional<std::string> name = CurrentManifest(env, path);
  if (!mark.has_value() || !name.has_value()) return absl::OkStatus();
  const uint64_t number = *ManifestNumber(*name);
  if (number < mark->number) {
    return DataLossError("CURRENT names " + *name + ", but the MANIFEST with the number " +
                         std::to_string(mark->number) + " was in use, as the file MANIFEST_SYNCED says");
  }
  if (number > mark->number) return absl::OkStatus();
  uint64_t bytes = 0;
  if (!env->GetFileSize(path + "/" + *name, &bytes).ok()) return absl::OkStatus();
  if (bytes >= mark->bytes) return CheckManifestRecords(env, path + "/" + *name, mark->bytes);
  return DataLossError(*name + " has " + std::to_string(bytes) + " bytes, but " +
                       std::to_string(mark->bytes) + " were synced, as the file MANIFEST_SYNCED says");
}

std::optional<ReadManifest> WithoutTornTail(rocksdb::Env* env, const std::string& path) {
  const std::optional<Slot> mark = ReadMark(path);
  const std::optional<std::string> name = CurrentManifest(env, path);
  uint64_t bytes = 0;
  if (!mark.has_value() || !name.has_value() || ManifestNumber(*name) != mark->number ||
      !env->GetFileSize(path + "/" + *name, &bytes).ok() || !CheckManifest(env, path).ok())
    return std::nullopt;
  const uint64_t intact = IntactManifestBytes(env, path + "/" + *name, mark->bytes);
  if (intact >= bytes) return std::nullopt;
  return ReadManifest{.name = *name, .bytes = intact};
}

ManifestMark::ManifestMark(const std::string& path)
    : file_(open((path + kFileName).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) {}

ManifestMark::~ManifestMark() {
  if (file_ >= 0) close(file_);
}

void ManifestMark::Update(rocksdb::DB& db) {
  if (file_ < 0) return;
  MutexLock lock(mutex_);
  std::vector<std::string> files;
  uint64_t bytes = 0;
  // The length that RocksDB has synced, not the one of the file.
  if (!db.GetLiveFiles(files, &bytes, /*flush_memtable=*/false).ok()) return;
  uint64_t number = 0;
  for (const std::string& file : files) number = std::max(number, ManifestNumber(file).value_or(0));
  if (number == 0 || (number == number_ && bytes == bytes_)) return;
  Slot slot{.number = number, .bytes = bytes};
  slot.hash = HashOf(slot);
  // The first mark of an opened store replaces both slots: a MANIFEST that a recovery made anew has a low
  // number.
  const Slot slots[2] = {slot, Slot()};
  const ssize_t size = number_ == 0 ? sizeof(slots) : sizeof(slot);
  if (pwrite(file_, slots, static_cast<size_t>(size), second_slot_ ? sizeof(slot) : 0) != size) return;
  if (fdatasync(file_) != 0) return;
  number_ = number;
  bytes_ = bytes;
  second_slot_ = !second_slot_;
}

}  // namespace itemdb::storage
