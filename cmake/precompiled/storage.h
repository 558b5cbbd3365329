// For storage/ and targets that link it: messages, RocksDB, spdlog.
#pragma once

#include "standard.h"

#include "itemdb/v1/admin.pb.h"
#include "itemdb/v1/changes.pb.h"
#include "itemdb/v1/data.pb.h"
#include "itemdb/v1/tables.pb.h"
#include "itemdb/wire/data.pb.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rocksdb/write_batch.h"
#include "spdlog/spdlog.h"
