// The manual pages, made from the command table.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/command_table.h"

namespace itemdb::tools {

struct ManPage {
  // "itemctl", "itemctl-table", ...
  std::string name;
  // roff for man(7), section 1.
  std::string text;
};

// itemctl first, then one page for each command or group below it that is not hidden.
std::vector<ManPage> ManPages(const CommandTable& table);

}  // namespace itemdb::tools
