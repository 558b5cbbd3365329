#include "storage/encryption/environment.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include "absl/strings/str_split.h"
#include "rocksdb/file_system.h"
#include "storage/encryption/encrypted_file_system.h"
#include "storage/encryption/file_cipher.h"
#include "storage/store/durable_file.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstLines = "itemdb encryption 1\ncipher AES-256-CTR\n";
constexpr std::string_view kFirstWords = "itemdb encryption ";

std::string MarkerPath(const std::string& directory) { return directory + "/" + kEncryptionFileName; }

// The first bytes of a file, at most one header.
std::string ReadHeader(const fs::path& path) {
  std::string header(FileCipher::kHeaderBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  header.resize(static_cast<size_t>(file.gcount()));
  return header;
}

std::string MarkerText(const EncryptionKeys& keys) {
  std::string text(kFirstLines);
  for (const EncryptionKey& key : keys) text += "key " + key.id + " " + CheckValueOf(key) + "\n";
  return text;
}

// The check values of ENCRYPTION by the ids of the keys. Empty: there is no such file, or it is damaged.
// FAILED_PRECONDITION (FORMAT_UNKNOWN): a newer version has written it.
absl::StatusOr<std::map<std::string, std::string>> ReadMarker(const std::string& directory) {
  std::ifstream file(MarkerPath(directory), std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  const std::string text = std::move(content).str();
  std::map<std::string, std::string> checks;
  if (!text.starts_with(kFirstLines)) {
    if (!text.starts_with(kFirstWords) || text.starts_with("itemdb encryption 1\n")) return checks;
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonFormatUnknown,
                     MarkerPath(directory) +
                         " has a format that this program does not know. Open the database "
                         "with the program that wrote it, or a newer one");
  }
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() == 3 && words[0] == "key") checks[words[1]] = words[2];
  }
  return checks;
}

// A file or folder of a directory that is not encrypted and has something; empty: there is none.
std::string FindEntry(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name != "LOCK" && name != "lost+found" && !name.starts_with(kEncryptionFileName)) return name;
  }
  return "";
}

const EncryptionKey* FindKey(const EncryptionKeys& keys, const std::string& id) {
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const auto& one) { return one.id == id; });
  return key == keys.end() ? nullptr : &*key;
}

absl::Status WrongKeyError(const std::string& directory, const std::string& id) {
  return ValidationError("the key " + id + " of --encryption-key-file is not the key " + id +
                         " that encrypted " + directory + ": give the key file that was used there");
}

std::string Subject(const std::vector<std::string>& files, const std::string& directory) {
  const std::string example = fs::path(files.front()).lexically_relative(directory);
  return files.size() == 1
             ? "the file " + example + " of " + directory + " is"
             : std::to_string(files.size()) + " files of " + directory + " (for example " + example + ") are";
}

// Calls `visit` with each file that is not plain, and the id of its key if it is encrypted, until it returns
// false.
void VisitFiles(const std::string& directory,
                const std::function<bool(const fs::path&, const std::optional<std::string>&)>& visit) {
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    const fs::path& path = entry->path();
    if (entry->is_directory(gone)) {
      if (path.filename().string().starts_with("quarantine-") || fs::exists(MarkerPath(path), gone))
        entry.disable_recursion_pending();
      continue;
    }
    // A file that is no longer than a header has nothing to decrypt. RocksDB keeps empty logs for long.
    if (!entry->is_regular_file(gone) || IsPlainFile(path) ||
        entry->file_size(gone) <= FileCipher::kHeaderBytes)
      continue;
    if (!visit(path, KeyIdOf(ReadHeader(path)))) return;
  }
}

}  // namespace

std::map<std::string, std::vector<std::string>> FindEncryptedFiles(const std::string& directory) {
  std::map<std::string, std::vector<std::string>> found;
  VisitFiles(directory, [&](const fs::path& path, const std::optional<std::string>& id) {
    if (id.has_value()) found[*id].push_back(path);
    return true;
  });
  return found;
}

bool IsEncrypted(const std::string& directory) {
  std::error_code error;
  if (fs::exists(MarkerPath(directory), error)) return true;
  // In an encrypted directory all files are encrypted, or a few are damaged.
  constexpr int kFilesToTry = 16;
  bool is_encrypted = false;
  int tried = 0;
  VisitFiles(directory, [&](const fs::path&, const std::optional<std::string>& id) {
    is_encrypted = id.has_value();
    return !is_encrypted && ++tried < kFilesToTry;
  });
  return is_encrypted;
}

absl::Status CheckEncryption(const std::string& directory, const EncryptionKeys& keys) {
  if (!IsEncrypted(directory)) {
    const std::string entry = keys.empty() ? "" : FindEntry(directory);
    if (entry.empty()) return absl::OkStatus();
    return ValidationError(
        directory + " is not encrypted (it has, for example, " + entry +
        "): leave --encryption-key-file out; to encrypt a database, make a backup of it and "
        "restore the backup with --encryption-key-file");
  }
  ITEMDB_ASSIGN_OR_RETURN(const auto checks, ReadMarker(directory));
  const std::map<std::string, std::vector<std::string>> files = FindEncryptedFiles(directory);
  if (keys.empty()) {
    const std::string id = !files.empty()   ? files.begin()->first
                           : checks.empty() ? ""
                                            : checks.begin()->first;
    return ValidationError(directory + " is encrypted: give --encryption-key-file with the key " + id);
  }
  for (const auto& [id, check] : checks) {
    const EncryptionKey* const key = FindKey(keys, id);
    if (key != nullptr && CheckValueOf(*key) != check) return WrongKeyError(directory, id);
  }
  for (const auto& [id, needing] : files) {
    const EncryptionKey* const key = FindKey(keys, id);
    // Where ENCRYPTION has all keys, another id is a damaged header.
    if (key == nullptr && !checks.empty() && !checks.contains(id)) continue;
    if (key == nullptr)
      return ValidationError(Subject(needing, directory) + " encrypted with the key " + id +
                             ", which --encryption-key-file does not have: add that key to the file");
    // Without a check value of the key the header says whether it is the right one.
    if (!checks.contains(id) && FileCipher::ForFile(*key, ReadHeader(needing.front())) == nullptr)
      return WrongKeyError(directory, id);
  }
  return absl::OkStatus();
}

Environment::Environment(const std::shared_ptr<rocksdb::FileSystem>& file_system)
    : owned_(file_system == nullptr ? nullptr : rocksdb::NewCompositeEnv(file_system)),
      plain_(owned_ == nullptr ? rocksdb::Env::Default() : owned_.get()) {}
Environment::~Environment() = default;

absl::Status Environment::Open(const std::string& directory, const EncryptionKeys& keys) {
  ITEMDB_RETURN_IF_ERROR(CheckEncryption(directory, keys));
  if (keys.empty()) return absl::OkStatus();
  keys_ = keys;
  encrypted_ = rocksdb::NewCompositeEnv(NewEncryptedFileSystem(plain_->GetFileSystem(), keys));
  return absl::OkStatus();
}

absl::Status Environment::Mark(const std::string& directory) const {
  if (keys_.empty()) return absl::OkStatus();
  const std::string path = MarkerPath(directory);
  const std::string text = MarkerText(keys_);
  std::string current;
  if (rocksdb::ReadFileToString(plain_, path, &current).ok() && current == text) return absl::OkStatus();
  const rocksdb::Status written = ReplaceFile(plain_, path, text);
  return written.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + path, written);
}

}  // namespace itemdb::storage
