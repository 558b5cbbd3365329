// XXH3, compiled into the caller.
#pragma once

#define XXH_INLINE_ALL
// Reads words by loads. By default gcc calls a function for each word.
#define XXH_FORCE_MEMORY_ACCESS 1
#include <xxhash.h>
