// `itemctl damage list` and `discard`.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

// Prints the damaged table files, and between which keys each cannot be read.
absl::Status RunDamageList(Context& context);

struct DamageDiscardOptions {
  std::string table_name;
  // A JSON object: the key attributes.
  std::string key;
  ConfirmOptions confirm;
};

// Deletes an item whose record cannot be read. Prints the change and the number of its index entries.
absl::Status RunDamageDiscard(Context& context, const DamageDiscardOptions& options);

void RegisterDamageCommands(CommandTable& table);

}  // namespace itemdb::tools
