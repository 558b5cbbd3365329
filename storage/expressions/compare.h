// Comparing and measuring values in place, on their canonical bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "storage/values/value_view.h"

namespace itemdb::storage {

// Whether values of this type have an order: S, N and B.
constexpr bool IsScalar(ValueType type) {
  return type == ValueType::kS || type == ValueType::kN || type == ValueType::kB;
}

// Whether this is SS, NS or BS.
constexpr bool IsSet(ValueType type) {
  return type == ValueType::kSS || type == ValueType::kNS || type == ValueType::kBS;
}

// Compares two canonical numbers (SEM-012) by their texts.
std::strong_ordering CompareNumberTexts(std::string_view a, std::string_view b);

// Compares two values of one scalar type (SEM-014).
std::strong_ordering CompareScalars(ValueView a, ValueView b);

// Deep equality (EXP-14): canonical values are equal iff their bytes are.
inline bool SameValue(ValueView a, ValueView b) { return a.encoded() == b.encoded(); }

// `begins_with(value, prefix)`: both S or both B (EXP-16); false for other types.
bool BeginsWith(ValueView value, ValueView prefix);

// `contains(container, part)`: substring of S or B, member of a set, element of a list (EXP-17); false for
// other types. Linear in the container.
bool Contains(ValueView container, ValueView part);

// `size(value)` (EXP-18): UTF-16 code units of S, bytes of B, elements of sets, L, M; nullopt for N, BOOL,
// NULL.
std::optional<uint64_t> SizeOf(ValueView value);

// Levels of nesting (SEM-017), at most kMaxDepth: 1 for a scalar, a set, an empty list; 2 for a list of
// scalars.
int DepthOf(ValueView value);

}  // namespace itemdb::storage
