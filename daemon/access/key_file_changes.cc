#include "daemon/access/key_file_changes.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "daemon/access/access_keys.h"
#include "daemon/process/descriptor.h"
#include "daemon/process/file_bytes.h"

namespace itemdb::daemon {
namespace {

constexpr size_t kMaxKeyFileBytes = 1 << 20;
constexpr size_t kSecretBytes = 32;
constexpr std::string_view kKeyHeading = "[[key]]";

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::UnavailableError(absl::StrFormat("cannot write %s: %s", path, std::strerror(error)));
}

std::string NewSecret() {
  unsigned char bytes[kSecretBytes];
  // Fails only if the machine has no random numbers.
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return "";
  return absl::WebSafeBase64Escape({reinterpret_cast<const char*>(bytes), sizeof(bytes)});
}

// Where a key stands in the text of a key file.
struct KeyPlace {
  // Lines from 0: that of [[key]], and the one behind the last that belongs to the key.
  size_t begin = 0;
  size_t end = 0;
  // The value of its secret: line, first column and the column behind it, from 0.
  size_t secret_line = 0;
  size_t secret_begin = 0;
  size_t secret_end = 0;
};

// The place of the key `id`. NOT_FOUND: there is none. INVALID_ARGUMENT: it is not written in the usual form.
absl::StatusOr<KeyPlace> PlaceOf(const std::string& path, const std::string& id, const std::string& text,
                                 const std::vector<std::string>& lines) {
  // The file has been read as a key file, so it parses.
  const toml::table document = toml::parse(text);
  const toml::array* keys = document["key"].as_array();
  for (size_t i = 0; keys != nullptr && i < keys->size(); ++i) {
    const toml::table* key = (*keys)[i].as_table();
    if (key == nullptr || (*key)["id"].value_or(std::string()) != id) continue;
    const toml::source_region secret = key->get("secret")->source();
    KeyPlace place;
    place.begin = key->source().begin.line - 1;
    place.end = i + 1 < keys->size() ? (*keys)[i + 1].source().begin.line - 1 : lines.size();
    place.secret_line = secret.begin.line - 1;
    place.secret_begin = secret.begin.column - 1;
    place.secret_end = secret.end.column - 1;
    const bool usual = lines[place.begin].find(kKeyHeading) != std::string::npos &&
                       secret.begin.line == secret.end.line && place.secret_line > place.begin &&
                       place.secret_end <= lines[place.secret_line].size();
    if (usual) return place;
    return storage::ValidationError(
        absl::StrFormat("%s:%d: the key \"%s\" is not written as a [[key]] with a line for each member; "
                        "change it with an editor",
                        path, key->source().begin.line, id));
  }
  return absl::NotFoundError(absl::StrFormat("%s has no key \"%s\"", path, id));
}

bool IsBlank(const std::string& line) { return absl::StripAsciiWhitespace(line).empty(); }
bool IsComment(const std::string& line) { return absl::StartsWith(absl::StripAsciiWhitespace(line), "#"); }

// Removes a key with its comments: those right above it, unless the file begins with them, and those behind
// its last member up to an empty line. Comments right above the next key are that one's.
void RemoveKey(const KeyPlace& place, std::vector<std::string>* lines) {
  const std::vector<std::string>& text = *lines;
  size_t begin = place.begin;
  while (begin > 0 && IsComment(text[begin - 1])) --begin;
  if (begin == 0) begin = place.begin;
  size_t end = place.end;
  // Behind the last member.
  while (end > place.begin + 1 && (IsBlank(text[end - 1]) || IsComment(text[end - 1]))) --end;
  const size_t members_end = end;
  while (end < place.end && IsComment(text[end])) ++end;
  // No empty line between: they are right above the next key.
  if (end == place.end && place.end < text.size()) end = members_end;
  const bool is_apart = begin == 0 || IsBlank(text[begin - 1]);
  while (is_apart && end < place.end && IsBlank(text[end])) ++end;
  lines->erase(lines->begin() + static_cast<ptrdiff_t>(begin), lines->begin() + static_cast<ptrdiff_t>(end));
}

// Waits for other changes of key files in the same folder. Closing the descriptor ends the lock.
absl::StatusOr<Descriptor> LockFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Descriptor locked(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (locked.get() < 0 || flock(locked.get(), LOCK_EX) != 0) return CannotWrite(path, errno);
  return locked;
}

// Replaces the file by one with `text`, if that is a valid key file.
absl::Status Replace(const std::string& path, const std::string& text, const Descriptor& folder) {
  const std::string made = path + ".new";
  struct stat before = {};
  const bool exists = stat(path.c_str(), &before) == 0;
  unlink(made.c_str());
  Descriptor file(open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return CannotWrite(path, errno);
  absl::Cleanup remove = [&made] { unlink(made.c_str()); };
  // The daemon may run as another user than the one that makes the change.
  if (exists && (fchown(file.get(), before.st_uid, before.st_gid) != 0 ||
                 fchmod(file.get(), before.st_mode & 07777) != 0)) {
    return CannotWrite(path, errno);
  }
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      fsync(file.get()) != 0) {
    return CannotWrite(path, errno == 0 ? EIO : errno);
  }
  ITEMDB_RETURN_IF_ERROR(AccessKeys::Read(made).status());
  // Otherwise a power cut could bring a revoked secret back.
  if (rename(made.c_str(), path.c_str()) != 0 || fsync(folder.get()) != 0) return CannotWrite(path, errno);
  std::move(remove).Cancel();
  return absl::OkStatus();
}

absl::Status CheckNewKey(const KeyFileChange& change) {
  if (!IsKeyId(change.id)) {
    return storage::ValidationError(
        absl::StrFormat("\"%s\" is not allowed as the id of a key: it has %d to %d letters, digits, '_', '-' "
                        "and '.'",
                        change.id, kMinKeyIdBytes, kMaxKeyIdBytes));
  }
  for (const Role role : {Role::kMetrics, Role::kRead, Role::kWrite, Role::kAdmin}) {
    if (NameOf(role) == change.role) return absl::OkStatus();
  }
  return storage::ValidationError(
      absl::StrFormat("\"%s\" is not a role: it is metrics, read, write or admin", change.role));
}

}  // namespace

absl::StatusOr<std::string> ChangeKeyFile(const std::string& given_path, const KeyFileChange& change) {
  using Kind = KeyFileChange::Kind;
  if (change.kind == Kind::kAdd) ITEMDB_RETURN_IF_ERROR(CheckNewKey(change));
  // The file behind a symbolic link is replaced, not the link.
  std::error_code unresolved;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(given_path, unresolved);
  const std::string path = unresolved ? given_path : resolved.string();
  // One change at a time, from reading to renaming.
  ITEMDB_ASSIGN_OR_RETURN(const Descriptor folder, LockFolderOf(path));
  const std::string secret = change.kind == Kind::kRemove ? "" : NewSecret();
  if (change.kind != Kind::kRemove && secret.empty())
    return absl::InternalError("the machine gives no random numbers for a secret");
  std::string text;
  if (struct stat info = {}; change.kind != Kind::kAdd || stat(path.c_str(), &info) == 0) {
    ITEMDB_RETURN_IF_ERROR(AccessKeys::Read(path).status());
    ITEMDB_ASSIGN_OR_RETURN(text, ReadSecretFile(path, kMaxKeyFileBytes));
  }
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const absl::StatusOr<KeyPlace> place = PlaceOf(path, change.id, text, lines);
  if (change.kind == Kind::kAdd) {
    if (!absl::IsNotFound(place.status())) {
      return storage::ValidationError(absl::StrFormat(
          "%s has a key \"%s\" already: itemd keys rotate gives it a new secret", path, change.id));
    }
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    absl::StrAppendFormat(&text, "%s%s\nid = \"%s\"\nsecret = \"%s\"\nrole = \"%s\"\n",
                          text.empty() ? "" : "\n", std::string(kKeyHeading), change.id, secret, change.role);
    ITEMDB_RETURN_IF_ERROR(Replace(path, text, folder));
    return secret;
  }
  if (!place.ok()) return place.status();
  if (change.kind == Kind::kRotate) {
    lines[place->secret_line].replace(place->secret_begin, place->secret_end - place->secret_begin,
                                      "\"" + secret + "\"");
  } else {
    const auto headings = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find(kKeyHeading) != std::string::npos;
    });
    if (headings <= 1) {
      return storage::ValidationError(absl::StrFormat(
          "\"%s\" is the last key of %s: without a key nobody could use the daemon", change.id, path));
    }
    RemoveKey(*place, &lines);
  }
  ITEMDB_RETURN_IF_ERROR(Replace(path, absl::StrJoin(lines, "\n"), folder));
  return secret;
}

}  // namespace itemdb::daemon
