#include "tools/base/terminal_size.h"

#include <sys/ioctl.h>

namespace itemdb::tools {

TerminalSize TerminalSizeOf(int descriptor) {
  winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return {};
  return {.columns = size.ws_col, .rows = size.ws_row};
}

}  // namespace itemdb::tools
