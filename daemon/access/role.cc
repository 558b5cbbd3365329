#include "daemon/access/role.h"

namespace itemdb::daemon {

std::string_view NameOf(Role role) {
  switch (role) {
    case Role::kNone:
      return "none";
    case Role::kMetrics:
      return "metrics";
    case Role::kRead:
      return "read";
    case Role::kWrite:
      return "write";
    default:
      return "admin";
  }
}

}  // namespace itemdb::daemon
