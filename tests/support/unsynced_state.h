// What a disk would forget if its power failed now: the bookkeeping behind PowerLossFileSystem.
//
// The real directory always shows what the running program wrote, as the page cache does. Beside it this
// class remembers which file bytes and which directory entries are not durable yet, and keeps the content
// that an undone deletion or rename would bring back (in a sibling directory, `<root>.kept`).
// ForgetUnsynced() then turns the real directory into one of the states that a power cut could have left.
//
// Rules of what becomes durable when:
// - Syncing a file makes the bytes written so far durable. Of bytes written later any prefix, byte by byte,
// may stay.
// - After a failed sync no later sync of that file makes more bytes durable: the kernel has marked the pages
// clean.
// - Overwriting, truncating or rewriting a file in place is kept or undone whole until the file is synced.
// - Creating, deleting, renaming and linking change a directory; syncing the directory makes its changes
// durable.
//   Which of the others stay is chosen among two worlds that local file systems stay within:
//     in order: each directory keeps the changes up to some moment and forgets those after it, and a synced
//     file in an
//       unsynced directory can vanish (what POSIX leaves open);
//     any order: each change stays or goes by itself, unless one that stays needs it; syncing a file also
//     makes its
//       name durable (what ext4, XFS and Btrfs do).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace itemdb::testing {

// How much a power cut took. A test asserts on sums over many seeds to show that it can see loss at all.
struct PowerLossReport {
  uint64_t lost_bytes = 0;
  int undone_overwrites = 0;
  int undone_entries = 0;
  // Which world was chosen for directory changes.
  bool in_order = false;
};

// The content of one file, which may have several names. Shared by its names and its open handles.
struct UnsyncedFile {
  // Bytes [offset, offset + old_bytes.size()) before they were overwritten or cut off.
  struct Overwrite {
    uint64_t offset;
    std::string old_bytes;
    // The file ended there; undoing cuts it again.
    bool was_end;
  };

  uint64_t size = 0;
  // The first `synced_bytes` survive; never more than `size`.
  uint64_t synced_bytes = 0;
  std::vector<Overwrite> overwrites;
  bool sync_failed = false;
};

// Not thread-safe: PowerLossFileSystem calls it under its mutex. Paths are below the root, absolute and
// lexically normal. Functions named after an operation are called after that operation succeeded, except
// those that say otherwise.
class UnsyncedState {
 public:
  // All that is below `root`, an existing directory, is durable at this moment.
  explicit UnsyncedState(const std::string& root);
  // Removes the kept content.
  ~UnsyncedState();
  UnsyncedState(const UnsyncedState&) = delete;
  UnsyncedState& operator=(const UnsyncedState&) = delete;

  // The file at `path`, which exists; one not seen before is wholly durable.
  std::shared_ptr<UnsyncedFile> Find(const std::string& path);

  std::shared_ptr<UnsyncedFile> CreateFile(const std::string& path);
  // To be called before the file at `path` is overwritten or cut: bytes from `offset` on, at most `bytes`.
  void BeforeOverwrite(const std::string& path, uint64_t offset, uint64_t bytes);
  // To be called before the file at `path` is cut or extended to `size`.
  void BeforeTruncate(const std::string& path, uint64_t size);
  void SyncFile(const std::shared_ptr<UnsyncedFile>& file);
  void SyncDirectory(const std::string& directory);

  // To be called before the file at `path` is deleted or replaced by a rename: keeps its content. Returns
  // where, to be handed to DeleteFile or RenameFile; empty when there is no such file.
  std::string KeepAside(const std::string& path);
  void DeleteFile(const std::string& path, const std::string& kept);
  // A renamed directory takes with it what is known of the files below; its own pending changes become
  // durable.
  void RenameFile(const std::string& from, const std::string& to, const std::string& kept);
  void LinkFile(const std::string& from, const std::string& to);
  void CreateDirectory(const std::string& path);
  void DeleteDirectory(const std::string& path);

  // Leaves in the real directory what `random` lets survive; all of it is durable then. No file may be open
  // for writing. Aborts when the real directory does not match what was recorded.
  PowerLossReport ForgetUnsynced(std::mt19937_64& random);

 private:
  // One change of a directory that is not durable yet.
  struct Change {
    enum class Kind { kCreate, kDelete, kRename, kLink, kCreateDirectory, kDeleteDirectory };
    Kind kind;
    // The entry that changed; for a rename the new name.
    std::string path;
    // The old name; renames only.
    std::string from = {};
    // Where the content lies that the change removed from `path`; empty when it removed none.
    std::string kept = {};
    // The file concerned; null for directories.
    std::shared_ptr<UnsyncedFile> file = nullptr;
    // The file was synced after the change.
    bool file_synced = false;
  };

  static bool DependsOn(const Change& later, const Change& earlier);
  void ForgetBytes(const std::string& path, UnsyncedFile& file, std::mt19937_64& random,
                   PowerLossReport& report);
  std::vector<bool> ChooseUndoneInOrder(std::mt19937_64& random) const;
  std::vector<bool> ChooseUndoneInAnyOrder(std::mt19937_64& random) const;
  void Undo(const Change& change);
  // Drops the changes marked, with the content kept for them.
  void MakeDurable(const std::vector<bool>& durable);

  const std::string kept_directory_;
  uint64_t kept_count_ = 0;
  // By real path, kept content included.
  std::map<std::string, std::shared_ptr<UnsyncedFile>> files_;
  // In the order in which they were made.
  std::vector<Change> changes_;
};

}  // namespace itemdb::testing
