// Recovery with losses (`--recover=last-good`): makes a store of what can be read of a damaged one.
#pragma once

#include <string>

#include "storage/base/status.h"
#include "storage/engine/damaged_store.h"
#include "storage/engine/durability_watermark.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// Recovers what is readable of the store in `directory`, and puts the result in its place (quarantine.h): the
// damaged store is not changed, and is kept in quarantine-N. Afterwards the directory opens as any other, and
// its catalog says that indexes and size statistics must be rebuilt.
//
// 1. The copy of the store is opened in the first of these ways that succeeds:
//      with a consistent prefix of the write-ahead log
//      with every undamaged record of the log, and without the table files that are missing or cannot be
//        opened; the other files of their families stay
//      with a new manifest, made from the table files and the log. Each file knows its column family. Reads
//        all table files, and writes the items anew
// 2. Tables and streams that its catalog lacks are taken from the file CATALOG (catalog_copy.h).
// 3. A new store gets the items; the index entries and size statistics if all of them can be read; the
//    catalog; and an empty change log that begins after every sequence that was ever given out.
//
// `watermark`: that of the directory, empty when it is missing or damaged. `cause`: the damage. Only a
// missing file and a corruption are damage: any other error, such as EIO, ends the recovery with that error,
// and the directory is as before.
absl::Status RecoverWithLosses(const std::string& directory, const StoreOptions& options,
                               const DurabilityWatermark& watermark, const std::string& cause);

// Steps 1 to 3: makes the recovered store in the folders of `damaged` and checks it as an ordinary start
// does. What was found stays in `damaged`. Changes nothing else. Errors as RecoverWithLosses.
absl::Status MakeLastGoodStore(DamagedStore& damaged);

}  // namespace itemdb::storage
