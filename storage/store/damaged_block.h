// Goes on behind a damaged block of a table file.
//
// An iterator that meets a damaged block stops with a corruption, and RocksDB does not tell where the next
// block begins. The function here finds the first key behind the damage by trying keys.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rocksdb/iterator.h"

namespace itemdb::storage {

// No key of any column family begins with this byte.
inline constexpr char kBehindAllKeys[] = "\xff";

using MakeIterator = std::function<std::unique_ptr<rocksdb::Iterator>()>;

// `*it` has stopped with an error behind `last`, or without having read a key from `last` on. Replaces it by
// an iterator of `make` on the first key behind the damage, or at the end when there is none. False: the
// error is no corruption, or everything up to the end is damaged; `*it` has an error. `end`: an exclusive
// bound of the keys, not empty.
//
// Reads each damaged block again up to a few hundred times. Where several blocks near each other are damaged,
// records between them may be left out too.
bool StepPastDamage(const MakeIterator& make, const std::string& last, const std::string& end,
                    std::unique_ptr<rocksdb::Iterator>* it);

}  // namespace itemdb::storage
