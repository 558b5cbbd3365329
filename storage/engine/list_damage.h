// Lists the known damage, with the keys that may be lost.
#pragma once

#include "itemdb/v1/admin.pb.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implements Database's ListDamage. Reads the damaged files, each from beginning to end. Blocks on disk.
absl::StatusOr<v1::ListDamageReply> ListDamage(const Engine& engine);

}  // namespace itemdb::storage
