// Marks the symbols that the shared library exports; all others are hidden. And classes that refer to what
// outlives them.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#define ITEMDB_EXPORT __attribute__((visibility("default")))

// A reference that a temporary of such a class gives stays valid when the temporary is gone: gcc 14 warns
// otherwise.
#if __has_cpp_attribute(gnu::no_dangling)
#define ITEMDB_NO_DANGLING [[gnu::no_dangling]]
#else
#define ITEMDB_NO_DANGLING
#endif
