#include "daemon/access/encryption_key_file.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "daemon/access/access_keys.h"
#include "daemon/process/file_bytes.h"
#include "storage/base/hex.h"

namespace itemdb::daemon {
namespace {

constexpr size_t kMaxEncryptionKeyFileBytes = 64 << 10;

bool IsHex(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isxdigit(static_cast<unsigned char>(c)); });
}

}  // namespace

absl::StatusOr<storage::EncryptionKeys> ReadEncryptionKeys(const std::string& path) {
  ITEMDB_ASSIGN_OR_RETURN(const std::string text, ReadSecretFile(path, kMaxEncryptionKeyFileBytes));
  storage::EncryptionKeys keys;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (!line.empty() && line.front() == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    const auto wrong = [&](const std::string& message) {
      return storage::ValidationError(absl::StrFormat("%s:%d: %s", path, number, message));
    };
    if (words.size() != 2 || words[1].size() != 2 * storage::kEncryptionSecretBytes || !IsHex(words[1])) {
      return wrong(
          "a line is an id and 64 hexadecimal digits: echo \"2026-11 $(openssl rand -hex 32)\" makes one");
    }
    if (!IsKeyId(words[0]) || words[0].size() > storage::kMaxEncryptionKeyIdBytes) {
      return wrong(absl::StrFormat("an id has %d to %d letters, digits, '_', '-' and '.'", kMinKeyIdBytes,
                                   storage::kMaxEncryptionKeyIdBytes));
    }
    if (std::any_of(keys.begin(), keys.end(), [&](const auto& key) { return key.id == words[0]; }))
      return wrong(absl::StrFormat("the id %s is there twice", words[0]));
    keys.push_back({.id = words[0], .secret = storage::FromHex(words[1])});
  }
  if (keys.empty())
    return storage::ValidationError(
        absl::StrFormat("%s has no key: echo \"2026-11 $(openssl rand -hex 32)\" makes one", path));
  return keys;
}

}  // namespace itemdb::daemon
