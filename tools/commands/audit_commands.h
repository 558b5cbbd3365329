// `itemctl audit verify`: checks the audit logs that itemd writes (daemon/access/audit_log.h). Needs no
// daemon.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct AuditVerifyOptions {
  // Parts of one log, the oldest first.
  std::vector<std::string> files;
};

// Prints the number of records and the last hash. ExitCode::kFindings: a record does not follow from the one
// before; the message names the file and the first such line. ExitCode::kUsage: a file cannot be read.
absl::Status RunAuditVerify(Context& context, const AuditVerifyOptions& options);

void RegisterAuditCommands(CommandTable& table);

}  // namespace itemdb::tools
