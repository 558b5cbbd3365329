#include "storage/backup/backup_notes.h"

#include <cinttypes>
#include <cstdio>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "storage/store/durable_file.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

std::string NotesFolderOf(const std::string& backup_directory) { return backup_directory + "/ended"; }

std::string NotesPathOf(const std::string& backup_directory, uint32_t backup_id) {
  return absl::StrCat(NotesFolderOf(backup_directory), "/", backup_id);
}

// A line after the first. What a later version has noted, or what is damaged, is left out.
void ParseNote(const std::string& line, BackupNotes* notes) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  if (words.size() == 2 && words[0] == "verified") {
    (void)absl::SimpleAtoi(words[1], &notes->verified_time_us);
  } else if (words.size() == 2 && words[0] == "proven") {
    (void)absl::SimpleAtoi(words[1], &notes->proven_time_us);
  } else if (words.size() == 2 && words[0] == "damaged") {
    (void)absl::SimpleAtoi(words[1], &notes->damaged_time_us);
  } else if (words.size() == 2 && words[0] == "tables") {
    notes->tables.emplace();
  } else if (words.size() == 5 && words[0] == "table" && notes->tables.has_value()) {
    int64_t items = 0;
    int64_t bytes = 0;
    int32_t indexes = 0;
    if (!absl::SimpleAtoi(words[1], &items) || !absl::SimpleAtoi(words[2], &bytes) ||
        !absl::SimpleAtoi(words[3], &indexes))
      return;
    v1::TableStatistics& table = notes->tables->emplace_back();
    table.set_table_name(words[4]);
    table.set_item_count(items);
    table.set_item_bytes(bytes);
    table.set_index_count(indexes);
  }
}

std::string TextOf(const v1::DatabaseBackup& backup, const BackupNotes& notes) {
  std::string text = absl::StrFormat("begun %d ended %d\n", backup.begin_time_us(), notes.end_time_us);
  if (notes.verified_time_us != 0) absl::StrAppendFormat(&text, "verified %d\n", notes.verified_time_us);
  if (notes.proven_time_us != 0) absl::StrAppendFormat(&text, "proven %d\n", notes.proven_time_us);
  if (notes.damaged_time_us != 0) absl::StrAppendFormat(&text, "damaged %d\n", notes.damaged_time_us);
  if (!notes.tables.has_value()) return text;
  absl::StrAppendFormat(&text, "tables %d\n", notes.tables->size());
  for (const v1::TableStatistics& table : *notes.tables) {
    absl::StrAppendFormat(&text, "table %d %d %d %s\n", table.item_count(), table.item_bytes(),
                          table.index_count(), table.table_name());
  }
  return text;
}

}  // namespace

std::optional<BackupNotes> ReadBackupNotes(rocksdb::Env* env, const std::string& backup_directory,
                                           const v1::DatabaseBackup& backup) {
  std::string text;
  const std::string path = NotesPathOf(backup_directory, backup.backup_id());
  if (!rocksdb::ReadFileToString(env, path, &text).ok()) return std::nullopt;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  BackupNotes notes;
  int64_t begin_time_us = 0;
  const int fields = std::sscanf(lines.front().c_str(), "begun %" SCNd64 " ended %" SCNd64, &begin_time_us,
                                 &notes.end_time_us);
  if (fields != 2 || begin_time_us != backup.begin_time_us() || notes.end_time_us < begin_time_us)
    return std::nullopt;
  for (size_t i = 1; i < lines.size(); ++i) ParseNote(lines[i], &notes);
  return notes;
}

absl::Status WriteBackupNotes(rocksdb::Env* env, const std::string& backup_directory,
                              const v1::DatabaseBackup& backup, const BackupNotes& notes) {
  rocksdb::Status written = env->CreateDirIfMissing(NotesFolderOf(backup_directory));
  if (written.ok()) written = SyncDirectory(env, backup_directory);
  if (written.ok())
    written = ReplaceFile(env, NotesPathOf(backup_directory, backup.backup_id()), TextOf(backup, notes));
  return written.ok() ? absl::OkStatus() : FromRocksDB("cannot write the notes of a backup", written);
}

void DeleteBackupNotes(rocksdb::Env* env, const std::string& backup_directory, uint32_t backup_id) {
  (void)env->DeleteFile(NotesPathOf(backup_directory, backup_id));
}

}  // namespace itemdb::storage
