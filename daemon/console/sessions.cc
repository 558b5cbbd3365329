#include "daemon/console/sessions.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/escaping.h"
#include "common/signature/sigv4.h"
#include "storage/base/check.h"

namespace itemdb::daemon {
namespace {

std::string NewToken() {
  std::array<unsigned char, 32> bytes = {};
  ITEMDB_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return absl::WebSafeBase64Escape({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string HashOfToken(std::string_view token) { return common::Hex(common::HashOf(token)); }

bool MayEdit(const AccessKey& key) {
  const auto& grants = key.grants.grants();
  return key.role > Role::kRead || std::any_of(grants.begin(), grants.end(),
                                               [](const TableGrant& one) { return one.role > Role::kRead; });
}

Caller ReaderOf(const AccessKey& key) {
  Caller reader{.key_id = key.id, .role = std::min(key.role, Role::kRead)};
  if (!key.grants.empty()) reader.grants = std::make_shared<TableGrants>(key.grants.AtMost(Role::kRead));
  return reader;
}

}  // namespace

void Sessions::SetKeys(std::shared_ptr<const AccessKeys> keys) {
  storage::MutexLock lock(mutex_);
  keys_ = std::move(keys);
  std::erase_if(sessions_,
                [this](const auto& one) ABSL_NO_THREAD_SAFETY_ANALYSIS { return !HasKey(one.second.key); });
}

bool Sessions::HasKey(const AccessKey& key) const {
  const AccessKey* now = keys_ == nullptr ? nullptr : keys_->Find(key.id);
  return now != nullptr && *now == key;
}

std::optional<NewSession> Sessions::Begin(const AccessKey& key) {
  NewSession tokens{.cookie = NewToken(), .page = NewToken()};
  const absl::Time now = options_.now();
  storage::MutexLock lock(mutex_);
  // The keys may have changed since the key was checked.
  if (!HasKey(key)) return std::nullopt;
  if (sessions_.size() >= options_.max_sessions) {
    sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    }));
  }
  sessions_.emplace(HashOfToken(tokens.cookie),
                    Session{.page_hash = HashOfToken(tokens.page), .key = key, .begun = now, .used = now});
  return tokens;
}

Sessions::Session* Sessions::FindLocked(SessionTokens tokens) {
  const auto found = sessions_.find(HashOfToken(tokens.cookie));
  if (found == sessions_.end()) return nullptr;
  Session& session = found->second;
  const absl::Time now = options_.now();
  if (now >= session.begun + options_.longest || now >= session.used + options_.idle ||
      !HasKey(session.key)) {
    sessions_.erase(found);
    return nullptr;
  }
  const std::string page_hash = HashOfToken(tokens.page);
  if (CRYPTO_memcmp(page_hash.data(), session.page_hash.data(), page_hash.size()) != 0) return nullptr;
  return &session;
}

std::optional<FoundSession> Sessions::Find(SessionTokens tokens, bool by_person) {
  storage::MutexLock lock(mutex_);
  Session* session = FindLocked(tokens);
  if (session == nullptr) return std::nullopt;
  if (by_person) session->used = options_.now();
  return FoundSession{.caller = AccessKeys::CallerWith(keys_, *keys_->Find(session->key.id)),
                      .reader = ReaderOf(session->key),
                      .may_edit = MayEdit(session->key),
                      .editing = session->editing,
                      .end = session->begun + options_.longest};
}

bool Sessions::SetEditing(SessionTokens tokens, bool editing) {
  storage::MutexLock lock(mutex_);
  Session* session = FindLocked(tokens);
  if (session == nullptr || (editing && !MayEdit(session->key))) return false;
  session->editing = editing;
  return true;
}

void Sessions::End(SessionTokens tokens) {
  storage::MutexLock lock(mutex_);
  if (FindLocked(tokens) != nullptr) sessions_.erase(HashOfToken(tokens.cookie));
}

size_t Sessions::size() const {
  storage::MutexLock lock(mutex_);
  return sessions_.size();
}

}  // namespace itemdb::daemon
