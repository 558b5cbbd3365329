#include "daemon/access/access_keys.h"

#include "absl/strings/str_format.h"

namespace itemdb::daemon {

bool IsKeyId(std::string_view text) {
  return text.size() >= kMinKeyIdBytes && text.size() <= kMaxKeyIdBytes &&
         text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") ==
             std::string_view::npos;
}

absl::Status AccessDeniedError(const Caller& caller, std::string_view what, Role needed) {
  const std::string_view whose = caller.grants == nullptr ? "its role" : "its role for all tables";
  return storage::WithRule(
      "ERR-17",
      storage::MakeError(
          absl::StatusCode::kPermissionDenied, kReasonAccessDenied,
          absl::StrFormat("User: %s is not authorized to perform: %s because %s is %s and this takes %s",
                          caller.key_id, what, whose, NameOf(caller.role), NameOf(needed))));
}

absl::Status CheckOperation(const Caller& caller, std::string_view what, OperationAccess needed) {
  if (caller.role >= needed.role) return absl::OkStatus();
  if (caller.grants != nullptr && needed.scope != Scope::kDatabase) return absl::OkStatus();
  return AccessDeniedError(caller, what, needed.role);
}

absl::StatusOr<std::shared_ptr<const AccessKeys>> AccessKeys::Make(std::vector<AccessKey> keys) {
  std::shared_ptr<AccessKeys> made(new AccessKeys());
  for (AccessKey& key : keys) {
    auto [place, is_new] = made->keys_.try_emplace(key.id);
    if (!is_new) return storage::ValidationError(absl::StrFormat("the key id \"%s\" is there twice", key.id));
    place->second = std::move(key);
  }
  return made;
}

const AccessKey* AccessKeys::Find(std::string_view id) const {
  auto found = keys_.find(id);
  return found == keys_.end() ? nullptr : &found->second;
}

Caller AccessKeys::CallerWith(const std::shared_ptr<const AccessKeys>& keys, const AccessKey& key) {
  Caller caller{.key_id = key.id, .role = key.role};
  // Shares ownership of the keys, so that nothing is copied.
  if (!key.grants.empty()) caller.grants = std::shared_ptr<const TableGrants>(keys, &key.grants);
  return caller;
}

}  // namespace itemdb::daemon
