// Order-preserving encoding of key attribute values. RocksDB's keys are made of these encodings.
//
// A primary key is the encodings of its attributes one after another. An index key is the encodings of the
// index's partition and sort attributes, then of the base table's primary key. RocksDB compares the bytes as
// unsigned, from left to right; that order is the data model's order (SEM-014).
//
//   items:   partition key              sort key (if any)
//           +------+-------------+-----+------+-------------+-----+
//           | type | contents    | end | type | contents    | end |
//           +------+-------------+-----+------+-------------+-----+
//
// S and B: the bytes themselves, with 00 escaped, so that the end mark is less than any byte that could
// follow.
//
//   +-----------+-----------------------+-------+      escape: 00 -> 00 FF     end: 00 01
//   | 53 S      | bytes, 00 escaped     | 00 01 |
//   | 42 B      |                       |       |      S "a\0b" -> 53 61 00 FF 62 00 01
//   +-----------+-----------------------+-------+      S ""     -> 53 00 01
//
// N: sign, exponent, digits. The number is d.ddd... * 10^exponent with the first d from 1 to 9 and exponent
// -130 to 125 (SEM-011). The digits are taken in pairs, from the first digit on; a last single digit is
// followed by a zero. Each pair is stored plus one, so that every pair is greater than the end mark 00.
//
//   +------+----+----------------+---------------------+----+
//   | 4E N | C0 | exponent + 130 | pairs 00..99 + 1 ...| 00 |    100.5 = 1.005e2 -> 4E C0 84 0B 06 00
//   +------+----+----------------+---------------------+----+    (10 05 is 0B 06)
//   | 4E N | 80 |                                                0 -> 4E 80
//   +------+----+----------------+---------------------+----+
//   | 4E N | each byte of the positive number's complement  |    -100.5 -> 4E 3F 7B F4 F9 FF
//   +------+----+----------------+---------------------+----+
//
// begins_with("a"): from 53 61 to 53 62. The lower bound is the escaped prefix without end mark. The upper
// bound is the lower bound without trailing FF bytes and with its last byte + 1. The escape does not disturb
// this: begins_with("\0") is from 53 00 FF to 53 01, which leaves out the empty string 53 00 01.
//
// Registry. These bytes are on disk: never renumber, never reuse. Retired codes stay listed with the reason.
//
//   byte | value       | length                   | order           | test vector                | status
//   -----|-------------|--------------------------|-----------------|----------------------------|-------
//   42   | B, type     | 3 + bytes + count of 00  | unsigned bytes  | B FF:  42 FF 00 01         | in use
//   4E   | N, type     | 2 (zero), else 5 to 23   | numeric         | N 1:   4E C0 82 0B 00      | in use
//   53   | S, type     | 3 + bytes + count of 00  | UTF-8 bytes     | S "a": 53 61 00 01         | in use
//   3F   | N, negative | after 4E                 | before zero     | N -1:  4E 3F 7D F4 FF      | in use
//   80   | N, zero     | after 4E                 | between         | N 0:   4E 80               | in use
//   C0   | N, positive | after 4E                 | after zero      | N 100: 4E C0 84 0B 00      | in use
//
// All other bytes are free. A key schema fixes each attribute's type, so the order of types has no meaning.
//
// Properties, each with a test in tests/storage/keys:
// - KeyOrder: byte order is the data model's order, for single values and for sequences of values. S and B:
//   at the first difference two bytes decide, or one value ends there: its 00 01 is less than 00 FF and than
//   every byte above 00. N: sign, then exponent, then digits decide. If one number has more digits, it is
//   greater, because every pair is above the end mark. The complement reverses the order of negative numbers.
// - PrefixFree: no encoding is a prefix of another, because the end mark cannot occur inside an encoding. So
//   a sequence splits in one way, and an item collection is exactly the keys that start with its partition
//   key.
// - OneNumberOneKey: equal numbers have one encoding (SEM-013), and decoding accepts no other.
// - Round trip: decoding undoes encoding.
//
// Thread-safe; nothing here blocks or keeps state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/status.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// Appends the encoding of one key attribute value to `*out`. `value` must be canonical and of type S, N or B,
// which the check against the key schema ensures (SEM-007); any other type is a bug of ours and aborts. The
// caller checks the size limits of keys (SEM-006).
void AppendKeyValue(ValueView value, std::string* out);

// Consumes one encoded key attribute value from the front of `*in` and returns it as an encoded
// AttributeValue.
//
// DATA_LOSS: the bytes are not an encoding that AppendKeyValue writes; `*in` is then unspecified.
absl::StatusOr<std::string> ConsumeKeyValue(std::string_view* in);

// Returns the length of the first encoded key attribute value in `encoded`, with type byte and end mark.
// Returns std::nullopt where ConsumeKeyValue would return an error, except that the UTF-8 of a string is not
// checked. Allocates nothing: RocksDB's prefix extractor calls this for every key.
std::optional<size_t> KeyValueLength(std::string_view encoded);

// Appends the inclusive lower bound of all values that begin with `prefix` (S or B, else it aborts): the
// escaped prefix without end mark. PrefixSuccessor of the result is the exclusive upper bound.
void AppendKeyPrefix(ValueView prefix, std::string* out);

// Returns the least byte string that is greater than every string that starts with `prefix`: trailing FF
// bytes dropped, last byte increased. Empty if there is none (`prefix` is empty or all FF). No encoded key
// starts with FF.
std::string PrefixSuccessor(std::string_view prefix);

}  // namespace itemdb::storage
