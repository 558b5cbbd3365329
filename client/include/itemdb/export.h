// Marks the symbols that the shared library exports; all others are hidden.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#define ITEMDB_EXPORT __attribute__((visibility("default")))
