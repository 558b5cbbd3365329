// Goes on behind a damaged block of a table file.
//
// An iterator that meets a damaged block stops with a corruption, and RocksDB does not tell where the next
// block begins. The function here finds the first key behind the damage by trying keys.
#pragma once

#include <string>

#include "rocksdb/iterator.h"

namespace itemdb::storage {

// `it` has stopped with an error behind `last`, or without having read a key from `last` on. Moves it to the
// first key behind the damage, or to the end when there is none. False: the error is no corruption, or
// everything up to the end is damaged; `it` keeps an error. `end`: an exclusive bound of the keys, not empty.
//
// Reads each damaged block again up to a few hundred times. Where several blocks near each other are damaged,
// records between them may be left out too.
bool StepPastDamage(rocksdb::Iterator* it, const std::string& last, const std::string& end);

}  // namespace itemdb::storage
