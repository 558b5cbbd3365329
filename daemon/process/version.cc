#include "daemon/process/version.h"

namespace itemdb::daemon {

std::string_view Version() { return ITEMDB_VERSION; }

}  // namespace itemdb::daemon
