#include "daemon/access/access_keys.h"

#include "absl/strings/str_format.h"

namespace itemdb::daemon {

std::string_view NameOf(Role role) {
  switch (role) {
    case Role::kRead:
      return "read";
    case Role::kWrite:
      return "write";
    default:
      return "admin";
  }
}

bool IsKeyId(std::string_view text) {
  return text.size() >= kMinKeyIdBytes && text.size() <= kMaxKeyIdBytes &&
         text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") ==
             std::string_view::npos;
}

absl::Status AccessDeniedError(const Caller& caller, std::string_view what, Role needed) {
  return storage::WithRule(
      "ERR-17", storage::MakeError(
                    absl::StatusCode::kPermissionDenied, kReasonAccessDenied,
                    absl::StrFormat(
                        "User: %s is not authorized to perform: %s because its role is %s and this takes %s",
                        caller.key_id, what, NameOf(caller.role), NameOf(needed))));
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

}  // namespace itemdb::daemon
