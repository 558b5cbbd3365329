// Loads the definitions of all tables and the size statistics of an opened store into memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "storage/base/status.h"
#include "storage/engine/recovery.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// Fills the parts of `*recovered` that come from the catalog and from the size statistics of
// `recovered->start.store`. DATA_LOSS: a record is damaged. FAILED_PRECONDITION (FORMAT_UNKNOWN): a
// definition has parts that this program does not know. Or the error of the store.
absl::Status LoadCatalog(Recovered* recovered);

// FAILED_PRECONDITION (FORMAT_UNKNOWN): as LoadCatalog. Passes over what cannot be read.
absl::Status CheckDefinitionsAreKnown(const Store& store);

// The number in the catalog under `key`; `fallback` when there is none. Errors as LoadCatalog.
absl::StatusOr<uint64_t> ReadCatalogNumber(const Store& store, std::string_view key, uint64_t fallback);

}  // namespace itemdb::storage
