// The size of a terminal.
#pragma once

#include <cstddef>
#include <functional>

namespace itemdb::tools {

struct TerminalSize {
  // 0: not known, so output has no bound.
  size_t columns = 0;
  size_t rows = 0;
};

// The size of the terminal that `descriptor` is; zeros if it is none. Asked again for each output, because a
// window can change its size. Thread-safe.
TerminalSize TerminalSizeOf(int descriptor);

// Returns the current size; empty: the size is not known.
using AskTerminalSize = std::function<TerminalSize()>;

}  // namespace itemdb::tools
