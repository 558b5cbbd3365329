// Marks what the shared library offers; everything else in it is hidden.
#pragma once

#define ITEMDB_EXPORT __attribute__((visibility("default")))
