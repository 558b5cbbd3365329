// Says in one sentence what an older language setting would say in hundreds. Every public header includes
// this file first.
#pragma once

#if __cplusplus < 202002L
#error "itemdb's headers need C++20: compile with -std=c++20 or newer"
// A missing file ends the compilation, so that no other errors hide this one.
#include <compile-with-std=c++20-or-newer>
#endif
