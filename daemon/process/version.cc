#include "daemon/process/version.h"

namespace itemdb {

std::string_view Version() { return ITEMDB_VERSION; }

}  // namespace itemdb
