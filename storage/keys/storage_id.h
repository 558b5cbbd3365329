// Encoding of storage ids. The storage id of its table or index is the first part of every stored key.
//
//   id            bytes
//   0 to 239      the id itself                                          7 -> 07
//   from 240 on   EF + n, then the id in n bytes, big-endian, n least    240 -> F0 F0    65536 -> F2 01 00 00
//
// Properties, each with a test in tests/storage/keys: byte order is numeric order; no encoding is a prefix of
// another; an id has one encoding. No first byte is above F7.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace itemdb::storage {

void AppendStorageId(uint64_t storage_id, std::string* out);

// Consumes one id from the front of `*in`. Returns std::nullopt when the bytes are not an encoding that
// AppendStorageId writes; `*in` is then unspecified.
std::optional<uint64_t> ConsumeStorageId(std::string_view* in);

}  // namespace itemdb::storage
