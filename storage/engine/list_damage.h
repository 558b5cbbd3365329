// Lists the known damage, with the keys that may be lost.
#pragma once

#include <vector>

#include "itemdb/v1/admin.pb.h"
#include "storage/engine/engine.h"
#include "storage/store/damage_register.h"

namespace itemdb::storage {

// Implements Database's ListDamage: the damage that the engine knows, and files that the file check found,
// which need not fail where they are read. Reads the damaged files, each from beginning to end. Blocks on
// disk.
absl::StatusOr<v1::ListDamageReply> ListDamage(const Engine& engine, std::vector<DamagedFile> found_by_check);

}  // namespace itemdb::storage
