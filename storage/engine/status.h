// The database in figures.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb {

// GetStatus behind Database's method of the same name.
v1::GetStatusReply GetStatus(const Engine& engine);

}  // namespace itemdb
