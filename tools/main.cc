#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "tools/base/terminal_size.h"
#include "tools/itemctl.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  // itemctl reports an error in one sentence; without this setting gRPC would log it too. A value set by the
  // user is kept.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  itemdb::tools::Streams streams{.in = std::cin,
                                 .out = std::cout,
                                 .err = std::cerr,
                                 .in_is_terminal = isatty(STDIN_FILENO) == 1,
                                 .out_is_terminal = isatty(STDOUT_FILENO) == 1,
                                 .err_is_terminal = isatty(STDERR_FILENO) == 1,
                                 .terminal_size = [] {
                                   const int terminal =
                                       isatty(STDOUT_FILENO) == 1 ? STDOUT_FILENO : STDERR_FILENO;
                                   return itemdb::tools::TerminalSizeOf(terminal);
                                 }};
  return static_cast<int>(itemdb::tools::RunItemctl({argv + (argc > 0 ? 1 : 0), argv + argc}, streams));
}
