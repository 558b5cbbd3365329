#include "tools/itemctl.h"

#include "tools/shell/statement.h"

namespace itemdb::tools {

ExitCode RunItemctl(const std::vector<std::string>& arguments, Streams streams) {
  Session session;
  return RunStatement(arguments, streams, session);
}

}  // namespace itemdb::tools
