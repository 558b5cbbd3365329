// Deleting an item whose record cannot be read.
#pragma once

#include "itemdb/v1/admin.pb.h"
#include "storage/api/replies.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implements Database's DiscardDamagedItem.
//
// While an item cannot be read, every write to it is refused. So its entries, which are found by reading the
// indexes of its table in one view, are still its entries when the unit is applied. One commit deletes the
// item without reading it, the entries, and counts both; its change record has no old image.
//
// The size of the item is not known. The table's statistics lose one item of mean size, so its bytes are
// estimates until the next check with repair that finds no damage in the table.
void DiscardDamagedItem(Engine& engine, const v1::DiscardDamagedItemRequest& request,
                        Done<v1::DiscardDamagedItemReply> done, CancellationPtr cancellation);

}  // namespace itemdb::storage
