#include "tests/support/unsynced_state.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "storage/base/check.h"

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;

std::string ParentOf(const std::string& path) { return fs::path(path).parent_path().string(); }

bool IsBelow(const std::string& path, const std::string& directory) {
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

std::string ReadRange(const std::string& path, uint64_t offset, uint64_t bytes) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  std::string result(bytes, '\0');
  in.read(result.data(), static_cast<std::streamsize>(bytes));
  ITEMDB_CHECK(static_cast<uint64_t>(in.gcount()) == bytes);
  return result;
}

void WriteRange(const std::string& path, uint64_t offset, const std::string& bytes) {
  std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(offset));
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.flush();
  ITEMDB_CHECK(out.good());
}

void Resize(const std::string& path, uint64_t size) {
  std::error_code error;
  fs::resize_file(path, size, error);
  ITEMDB_CHECK(!error);
}

void Move(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  ITEMDB_CHECK(!error);
}

constexpr uint64_t kSectorBytes = 512;

// Replaces some of the sectors between `begin` and `end` by zeros or noise.
void LoseSectors(const std::string& path, uint64_t begin, uint64_t end, std::mt19937_64& random) {
  for (uint64_t at = begin; at < end;) {
    const uint64_t next = std::min(end, (at / kSectorBytes + 1) * kSectorBytes);
    const uint64_t kind = random() % 3;
    if (kind != 0) {
      std::string bytes(next - at, '\0');
      if (kind == 2) std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
      WriteRange(path, at, bytes);
    }
    at = next;
  }
}

// Undoes an overwrite in some of its sectors.
void UndoSectors(const std::string& path, const UnsyncedFile::Overwrite& overwrite, std::mt19937_64& random) {
  const uint64_t end = overwrite.offset + overwrite.old_bytes.size();
  for (uint64_t at = overwrite.offset; at < end;) {
    const uint64_t next = std::min(end, (at / kSectorBytes + 1) * kSectorBytes);
    if (random() % 2 == 0) WriteRange(path, at, overwrite.old_bytes.substr(at - overwrite.offset, next - at));
    at = next;
  }
}

// A number in [0, last]: 0 and `last` have a probability of a third each, because recovery code fails most
// often at these ends.
uint64_t ChoosePrefix(uint64_t last, std::mt19937_64& random) {
  switch (random() % 3) {
    case 0:
      return 0;
    case 1:
      return last;
    default:
      return random() % (last + 1);
  }
}

}  // namespace

UnsyncedState::UnsyncedState(const std::string& root) : kept_directory_(root + ".kept") {
  std::error_code error;
  ITEMDB_CHECK(fs::is_directory(root, error));
  fs::create_directory(kept_directory_, error);
  ITEMDB_CHECK(!error);
}

UnsyncedState::~UnsyncedState() {
  std::error_code ignored;
  fs::remove_all(kept_directory_, ignored);
}

std::shared_ptr<UnsyncedFile> UnsyncedState::Find(const std::string& path) {
  std::shared_ptr<UnsyncedFile>& file = files_[path];
  if (file == nullptr) {
    file = std::make_shared<UnsyncedFile>();
    std::error_code error;
    file->size = file->synced_bytes = fs::file_size(path, error);
    ITEMDB_CHECK(!error);
  }
  return file;
}

std::shared_ptr<UnsyncedFile> UnsyncedState::CreateFile(const std::string& path) {
  auto file = std::make_shared<UnsyncedFile>();
  files_[path] = file;
  changes_.push_back({.kind = Change::Kind::kCreate, .path = path, .file = file});
  return file;
}

void UnsyncedState::BeforeOverwrite(const std::string& path, uint64_t offset, uint64_t bytes) {
  std::shared_ptr<UnsyncedFile> file = Find(path);
  if (offset >= file->size) return;
  bytes = std::min(bytes, file->size - offset);
  file->overwrites.push_back({offset, ReadRange(path, offset, bytes), /*was_end=*/false});
}

void UnsyncedState::BeforeTruncate(const std::string& path, uint64_t size) {
  std::shared_ptr<UnsyncedFile> file = Find(path);
  if (size < file->size) {
    file->overwrites.push_back({size, ReadRange(path, size, file->size - size), /*was_end=*/true});
  }
  file->size = size;
  file->synced_bytes = std::min(file->synced_bytes, size);
}

void UnsyncedState::SyncFile(const std::shared_ptr<UnsyncedFile>& file) {
  if (file->sync_failed) return;
  file->synced_bytes = file->size;
  file->overwrites.clear();
  for (Change& change : changes_) {
    if (change.file == file) change.file_synced = true;
  }
}

void UnsyncedState::SyncDirectory(const std::string& directory) {
  std::vector<bool> durable(changes_.size());
  for (size_t i = changes_.size(); i-- > 0;) {
    const Change& change = changes_[i];
    durable[i] = durable[i] || ParentOf(change.path) == directory ||
                 (!change.from.empty() && ParentOf(change.from) == directory);
    if (!durable[i]) continue;
    // Syncing either of its two directories makes a rename durable, and the changes that it depends on. It
    // does not make the creation of the directory itself durable: that needs a sync of the parent.
    for (size_t j = 0; j < i; ++j) {
      if (changes_[j].kind != Change::Kind::kCreateDirectory && DependsOn(change, changes_[j]))
        durable[j] = true;
    }
  }
  MakeDurable(durable);
}

std::string UnsyncedState::KeepAside(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  std::string kept = kept_directory_ + "/" + std::to_string(kept_count_++);
  fs::create_hard_link(path, kept, error);
  if (error == std::errc::no_such_file_or_directory) return "";  // Deleted meanwhile.
  ITEMDB_CHECK(!error);
  return kept;
}

void UnsyncedState::DeleteFile(const std::string& path, const std::string& kept) {
  std::shared_ptr<UnsyncedFile> file;
  if (auto found = files_.find(path); found != files_.end()) {
    file = found->second;
    files_.erase(found);
    files_[kept] = file;
  }
  changes_.push_back({.kind = Change::Kind::kDelete, .path = path, .kept = kept, .file = file});
}

void UnsyncedState::RenameFile(const std::string& from, const std::string& to, const std::string& kept) {
  std::error_code error;
  if (fs::is_directory(to, error)) {
    std::vector<bool> durable(changes_.size());
    for (size_t i = 0; i < changes_.size(); ++i) durable[i] = IsBelow(changes_[i].path, from);
    MakeDurable(durable);
    std::map<std::string, std::shared_ptr<UnsyncedFile>> moved;
    for (auto& [path, file] : files_) {
      moved[IsBelow(path, from) ? to + path.substr(from.size()) : path] = file;
    }
    files_ = std::move(moved);
    changes_.push_back({.kind = Change::Kind::kRename, .path = to, .from = from});
    return;
  }
  if (auto replaced = files_.find(to); replaced != files_.end()) {
    if (!kept.empty()) files_[kept] = replaced->second;
    files_.erase(replaced);
  }
  if (auto found = files_.find(from); found != files_.end()) {
    files_[to] = found->second;
    files_.erase(found);
  }
  std::shared_ptr<UnsyncedFile> file = Find(to);
  changes_.push_back({.kind = Change::Kind::kRename, .path = to, .from = from, .kept = kept, .file = file});
}

void UnsyncedState::LinkFile(const std::string& from, const std::string& to) {
  std::shared_ptr<UnsyncedFile> file = Find(from);
  files_[to] = file;
  changes_.push_back({.kind = Change::Kind::kLink, .path = to, .file = file});
}

void UnsyncedState::CreateDirectory(const std::string& path) {
  changes_.push_back({.kind = Change::Kind::kCreateDirectory, .path = path});
}

void UnsyncedState::DeleteDirectory(const std::string& path) {
  changes_.push_back({.kind = Change::Kind::kDeleteDirectory, .path = path});
}

PowerLossReport UnsyncedState::DropUnsynced(std::mt19937_64& random, LostBytes lost_bytes) {
  PowerLossReport report;
  std::set<UnsyncedFile*> done;
  for (auto& [path, file] : files_) {
    if (done.insert(file.get()).second) ForgetBytes(path, *file, lost_bytes, random, report);
  }
  report.in_order = random() % 2 == 0;
  std::vector<bool> undone = report.in_order ? ChooseUndoneInOrder(random) : ChooseUndoneInAnyOrder(random);
  for (size_t i = changes_.size(); i-- > 0;) {
    if (!undone[i]) continue;
    Undo(changes_[i]);
    ++report.undone_entries;
  }
  MakeDurable(std::vector<bool>(changes_.size(), true));
  files_.clear();
  return report;
}

// Whether undoing `earlier` requires undoing `later`: both change one entry or one file, `earlier` created a
// directory that contains `later`, or `later` deletes a directory that contained `earlier`.
bool UnsyncedState::DependsOn(const Change& later, const Change& earlier) {
  auto touches = [&](const std::string& path) {
    if (path.empty()) return false;
    if (path == earlier.path || path == earlier.from) return true;
    return earlier.kind == Change::Kind::kCreateDirectory && IsBelow(path, earlier.path);
  };
  if (later.kind == Change::Kind::kDeleteDirectory && IsBelow(earlier.path, later.path)) return true;
  return touches(later.path) || touches(later.from) || (later.file != nullptr && later.file == earlier.file);
}

void UnsyncedState::ForgetBytes(const std::string& path, UnsyncedFile& file, LostBytes lost_bytes,
                                std::mt19937_64& random, PowerLossReport& report) {
  uint64_t tail = file.size - file.synced_bytes;
  if (tail > 0) {
    uint64_t lost = tail - ChoosePrefix(tail, random);
    if (lost_bytes == LostBytes::kAnySectors && random() % 2 == 0) {
      LoseSectors(path, file.size - lost, file.size, random);
    } else {
      file.size -= lost;
      Resize(path, file.size);
    }
    report.lost_bytes += lost;
  }
  // The first overwrites reached the disk, the others did not. These are undone from the last to the first.
  size_t stay = ChoosePrefix(file.overwrites.size(), random);
  for (size_t i = file.overwrites.size(); i-- > stay;) {
    const UnsyncedFile::Overwrite& overwrite = file.overwrites[i];
    if (!overwrite.was_end && overwrite.offset + overwrite.old_bytes.size() > file.size) continue;
    // Bytes appended after the cut end are lost with it; writing extends a file that is shorter than the cut.
    if (file.size < overwrite.offset) Resize(path, overwrite.offset);
    if (lost_bytes == LostBytes::kAnySectors && !overwrite.was_end && random() % 2 == 0) {
      UndoSectors(path, overwrite, random);
    } else {
      WriteRange(path, overwrite.offset, overwrite.old_bytes);
    }
    if (overwrite.was_end) {
      file.size = overwrite.offset + overwrite.old_bytes.size();
      Resize(path, file.size);
    }
    ++report.undone_overwrites;
  }
}

std::vector<bool> UnsyncedState::ChooseUndoneInOrder(std::mt19937_64& random) const {
  std::map<std::string, uint64_t> changes_of;
  for (const Change& change : changes_) ++changes_of[ParentOf(change.path)];
  for (auto& [directory, count] : changes_of) count = ChoosePrefix(count, random);
  std::vector<bool> undone(changes_.size());
  for (size_t i = 0; i < changes_.size(); ++i) {
    uint64_t& stay = changes_of[ParentOf(changes_[i].path)];
    undone[i] = stay == 0;
    // Also lost: changes inside a directory that is lost, or of an entry whose rename is undone.
    for (size_t j = 0; j < i && !undone[i]; ++j) undone[i] = undone[j] && DependsOn(changes_[i], changes_[j]);
    if (undone[i]) {
      stay = 0;
    } else {
      --stay;
    }
  }
  return undone;
}

std::vector<bool> UnsyncedState::ChooseUndoneInAnyOrder(std::mt19937_64& random) const {
  std::vector<bool> stays(changes_.size());
  for (size_t i = changes_.size(); i-- > 0;) {
    stays[i] = stays[i] || changes_[i].file_synced;
    for (size_t j = 0; j < i && stays[i]; ++j) {
      if (DependsOn(changes_[i], changes_[j])) stays[j] = true;
    }
  }
  std::vector<bool> undone(changes_.size());
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (stays[i]) continue;
    undone[i] = random() % 2 == 0;
    for (size_t j = 0; j < i && !undone[i]; ++j) undone[i] = undone[j] && DependsOn(changes_[i], changes_[j]);
  }
  return undone;
}

void UnsyncedState::Undo(const Change& change) {
  std::error_code error;
  switch (change.kind) {
    case Change::Kind::kCreate:
    case Change::Kind::kLink:
      ITEMDB_CHECK(fs::remove(change.path, error));
      return;
    case Change::Kind::kDelete:
      Move(change.kept, change.path);
      return;
    case Change::Kind::kRename:
      Move(change.path, change.from);
      if (!change.kept.empty()) Move(change.kept, change.path);
      return;
    case Change::Kind::kCreateDirectory:
      fs::remove_all(change.path, error);
      ITEMDB_CHECK(!error);
      return;
    case Change::Kind::kDeleteDirectory:
      ITEMDB_CHECK(fs::create_directory(change.path, error));
      return;
  }
}

void UnsyncedState::MakeDurable(const std::vector<bool>& durable) {
  std::vector<Change> rest;
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (!durable[i]) {
      rest.push_back(std::move(changes_[i]));
    } else if (!changes_[i].kept.empty()) {
      std::error_code ignored;  // Undoing a change has moved its content back.
      fs::remove(changes_[i].kept, ignored);
      files_.erase(changes_[i].kept);
    }
  }
  changes_ = std::move(rest);
}

}  // namespace itemdb::testing
