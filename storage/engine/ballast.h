// The file DIRECTORY/BALLAST: 32 MiB that are given up when a full disk keeps the database from opening.
#pragma once

#include <memory>
#include <string>

#include "storage/base/status.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// As Store::Open. When the disk is full, deletes the ballast and tries again.
absl::StatusOr<std::shared_ptr<Store>> OpenWithBallast(const std::string& directory,
                                                       const StoreOptions& options);

// Gives the space back. Ignores errors.
void DeleteBallast(rocksdb::Env* env, const std::string& directory);

// Makes the ballast file if it is missing and at least 8 times its size is free. Ignores errors. Slow on a
// file system that must write the bytes, so no request should wait for it.
void EnsureBallast(rocksdb::Env* env, const std::string& directory);

}  // namespace itemdb::storage
