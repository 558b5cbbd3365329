// What a disk would lose if its power failed now: the records behind PowerLossFileSystem.
//
// The real directory always shows what the running program wrote, as the page cache does. This class also
// remembers which file bytes and which directory entries are not durable yet, and keeps in a sibling
// directory, `<root>.kept`, the content that the undoing of a deletion or rename would restore.
// DropUnsynced() turns the real directory into one of the states that a power cut could have left.
//
// What becomes durable, and when:
// - Syncing a file makes the bytes written so far durable. Of later bytes any prefix may survive; with
//   LostBytes::kAnySectors any of their sectors, and the others are zeros or noise.
// - After a failed sync no later sync of that file makes more bytes durable: the kernel has marked the pages
//   clean.
// - Overwriting, truncating or rewriting a file in place is kept or undone until it is synced: as a whole;
//   with LostBytes::kAnySectors an overwrite also in any of its sectors.
// - Creating, deleting, renaming and linking change a directory; syncing the directory makes its changes
//   durable. One of two models, which cover local file systems, chooses which other changes survive:
//     in order: each directory keeps its changes up to some moment and loses all later ones. A synced file in
//       an unsynced directory can vanish, as POSIX allows.
//     any order: each change survives or is lost by itself, unless a surviving change depends on it. Syncing
//       a file also makes its name durable, as on ext4, XFS and Btrfs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace itemdb::testing {

// The losses of a power cut. A test checks sums over many seeds, to show that it can see losses at all.
struct PowerLossReport {
  uint64_t lost_bytes = 0;
  int undone_overwrites = 0;
  int undone_entries = 0;
  // Which of the two models was chosen for directory changes.
  bool in_order = false;
};

// What a power cut does to bytes at the end of a file that were not synced.
enum class LostBytes {
  // The file is cut.
  kEnd,
  // File systems may also write the length first, and then the sectors in any order.
  kAnySectors,
};

// The content of one file, which may have several names. Shared by its names and its open handles.
struct UnsyncedFile {
  // Bytes [offset, offset + old_bytes.size()) before they were overwritten or cut off.
  struct Overwrite {
    uint64_t offset;
    std::string old_bytes;
    // The file ended after these bytes; undoing cuts it there again.
    bool was_end;
  };

  uint64_t size = 0;
  // A power cut keeps the first `synced_bytes`; never more than `size`.
  uint64_t synced_bytes = 0;
  std::vector<Overwrite> overwrites;
  bool sync_failed = false;
};

// Not thread-safe: PowerLossFileSystem calls it under its mutex. Paths are below the root, absolute and
// lexically normal. A function named after an operation is called after that operation has succeeded, unless
// its comment says otherwise.
class UnsyncedState {
 public:
  // Everything below `root`, an existing directory, is durable at this moment.
  explicit UnsyncedState(const std::string& root);
  // Removes the kept content.
  ~UnsyncedState();
  UnsyncedState(const UnsyncedState&) = delete;
  UnsyncedState& operator=(const UnsyncedState&) = delete;

  // The file at `path`, which must exist. A file that was not seen before is wholly durable.
  std::shared_ptr<UnsyncedFile> Find(const std::string& path);

  std::shared_ptr<UnsyncedFile> CreateFile(const std::string& path);
  // Call before bytes at `offset`, at most `bytes` of them, are overwritten in the file at `path`.
  void BeforeOverwrite(const std::string& path, uint64_t offset, uint64_t bytes);
  // Call before the file at `path` is cut or extended to `size`.
  void BeforeTruncate(const std::string& path, uint64_t size);
  void SyncFile(const std::shared_ptr<UnsyncedFile>& file);
  void SyncDirectory(const std::string& directory);

  // Call before the file at `path` is deleted or replaced by a rename: keeps its content. Returns the path of
  // the kept content for DeleteFile or RenameFile; empty if there is no such file.
  std::string KeepAside(const std::string& path);
  void DeleteFile(const std::string& path, const std::string& kept);
  // Renaming a directory moves the records of the files below it; pending changes inside it become durable.
  void RenameFile(const std::string& from, const std::string& to, const std::string& kept);
  void LinkFile(const std::string& from, const std::string& to);
  void CreateDirectory(const std::string& path);
  void DeleteDirectory(const std::string& path);

  // Leaves in the real directory what `random` lets survive, and all of that is durable then. No file may be
  // open for writing. Aborts if the real directory does not match the records.
  PowerLossReport DropUnsynced(std::mt19937_64& random, LostBytes lost_bytes = LostBytes::kEnd);

 private:
  // One change of a directory that is not durable yet.
  struct Change {
    enum class Kind { kCreate, kDelete, kRename, kLink, kCreateDirectory, kDeleteDirectory };
    Kind kind;
    // The entry that changed; for a rename the new name.
    std::string path;
    // The old name; renames only.
    std::string from = {};
    // The path of the kept content that the change removed from `path`; empty if it removed none.
    std::string kept = {};
    // The changed file; null for a directory.
    std::shared_ptr<UnsyncedFile> file = nullptr;
    // The file was synced after the change.
    bool file_synced = false;
  };

  static bool DependsOn(const Change& later, const Change& earlier);
  void ForgetBytes(const std::string& path, UnsyncedFile& file, LostBytes lost_bytes, std::mt19937_64& random,
                   PowerLossReport& report);
  std::vector<bool> ChooseUndoneInOrder(std::mt19937_64& random) const;
  std::vector<bool> ChooseUndoneInAnyOrder(std::mt19937_64& random) const;
  void Undo(const Change& change);
  // Removes the marked changes from the list, with the content kept for them.
  void MakeDurable(const std::vector<bool>& durable);

  const std::string kept_directory_;
  uint64_t kept_count_ = 0;
  // By real path, including kept content.
  std::map<std::string, std::shared_ptr<UnsyncedFile>> files_;
  // In the order of the changes.
  std::vector<Change> changes_;
};

}  // namespace itemdb::testing
