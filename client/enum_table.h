// An enum of the public types and its counterpart in proto/: one table, read in both directions.
#pragma once

#include <cstddef>
#include <utility>

namespace itemdb {

// Returns the message's value for `value`; 0, which is unspecified in every enum of proto/, if the table has
// none.
template <typename Value, typename Message, size_t kSize>
Message ProtoOf(const std::pair<Value, Message> (&table)[kSize], Value value) {
  for (const auto& [ours, theirs] : table) {
    if (ours == value) return theirs;
  }
  return Message{};
}

// Returns the public value for `message`; `fallback` if the table has none: a newer daemon may send it.
template <typename Value, typename Message, size_t kSize>
Value ValueOf(const std::pair<Value, Message> (&table)[kSize], Message message, Value fallback) {
  for (const auto& [ours, theirs] : table) {
    if (theirs == message) return ours;
  }
  return fallback;
}

}  // namespace itemdb
