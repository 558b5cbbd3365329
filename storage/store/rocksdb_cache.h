// The class rocksdb::Cache: RocksDB 9 defines it in a header of its own, which RocksDB 7 does not have.
#pragma once

#include "rocksdb/cache.h"
#if __has_include("rocksdb/advanced_cache.h")
#include "rocksdb/advanced_cache.h"
#endif
