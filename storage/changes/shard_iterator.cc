// An iterator is, in URL-safe base64 without padding:
//
// clang-format off
//   version       1 byte
//   hash          16 bytes: XXH3-128 of the database's id and all that follows
//   made          varint: milliseconds since the Unix epoch
//   after         varint: change sequence
//   trim horizon  1 byte: 0 or 1
//   table name    varint length, then the name
//   label         the rest
// clang-format on
//
// The hash detects iterators of other databases and modified ones. It is not secret and need not be: a client
// that may read the stream may read it from any position.
#include "storage/changes/shard_iterator.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"
#include "storage/base/xxh3.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

// Never reuse a version: after an upgrade clients still send iterators that the program before has made.
constexpr char kVersion = 1;

std::string Fingerprint(std::string_view database_id, std::string_view rest) {
  const std::string bytes = absl::StrCat(std::string(database_id), std::string(rest));
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes.data(), bytes.size()));
  return std::string(reinterpret_cast<const char*>(hash.digest), sizeof(hash.digest));
}

absl::Status InvalidIterator() {
  return ValidationError("SEM-104", "Invalid ShardIterator: it was not made by this database");
}

struct Decoded {
  std::string fingerprint;
  // What the fingerprint is of, besides the database's id.
  std::string rest;
  ShardPosition position;
};

absl::StatusOr<Decoded> Decode(std::string_view text) {
  if (text.empty() || text.size() > kMaxShardIteratorCharacters) {
    return ValidationError("SEM-104", absl::StrCat("ShardIterator must be 1 to ", kMaxShardIteratorCharacters,
                                                   " characters long; it has ", text.size()));
  }
  std::string bytes;
  // Several base64 texts decode to the same bytes; only the one that EncodeShardIterator returns is valid.
  if (!absl::WebSafeBase64Unescape(std::string(text), &bytes) || absl::WebSafeBase64Escape(bytes) != text)
    return InvalidIterator();
  constexpr size_t kHead = 1 + sizeof(XXH128_canonical_t);
  if (bytes.size() <= kHead || bytes[0] != kVersion) return InvalidIterator();

  Decoded decoded{.fingerprint = bytes.substr(1, kHead - 1), .rest = bytes.substr(kHead), .position = {}};
  std::string_view rest = decoded.rest;
  ShardPosition& position = decoded.position;
  uint64_t made = 0;
  uint64_t name_bytes = 0;
  if (!wire::ConsumeVarint(&rest, &made) || !wire::ConsumeVarint(&rest, &position.after_sequence) ||
      rest.empty())
    return InvalidIterator();
  position.made_ms = static_cast<int64_t>(made);
  position.trim_horizon = rest[0] != 0;
  rest.remove_prefix(1);
  if (!wire::ConsumeVarint(&rest, &name_bytes) || name_bytes > rest.size()) return InvalidIterator();
  position.table_name = rest.substr(0, name_bytes);
  position.stream_label = rest.substr(name_bytes);
  return decoded;
}

}  // namespace

std::string EncodeShardIterator(const ShardPosition& position, std::string_view database_id) {
  std::string rest;
  wire::AppendVarint(static_cast<uint64_t>(position.made_ms), &rest);
  wire::AppendVarint(position.after_sequence, &rest);
  rest.push_back(position.trim_horizon ? 1 : 0);
  wire::AppendVarint(position.table_name.size(), &rest);
  rest += position.table_name;
  rest += position.stream_label;
  return absl::WebSafeBase64Escape(
      absl::StrCat(std::string(1, kVersion), Fingerprint(database_id, rest), rest));
}

absl::StatusOr<ShardPosition> DecodeShardIterator(std::string_view text, std::string_view database_id,
                                                  int64_t now_ms) {
  ITEMDB_ASSIGN_OR_RETURN(Decoded decoded, Decode(text));
  if (decoded.fingerprint != Fingerprint(database_id, decoded.rest)) return InvalidIterator();
  const int64_t made_ms = decoded.position.made_ms;
  constexpr int64_t kMinuteMs = 60'000;
  if (now_ms - made_ms > kShardIteratorMinutes * kMinuteMs) {
    return WithRule("SEM-104", MakeError(absl::StatusCode::kOutOfRange, kReasonExpiredIterator,
                                         absl::StrCat("Iterator expired: it was made ", now_ms - made_ms,
                                                      " ms ago and may be used for ", kShardIteratorMinutes,
                                                      " minutes; ask for a new one with GetShardIterator")));
  }
  return std::move(decoded.position);
}

absl::StatusOr<std::string> TableOfShardIterator(std::string_view text) {
  ITEMDB_ASSIGN_OR_RETURN(Decoded decoded, Decode(text));
  return std::move(decoded.position.table_name);
}

}  // namespace itemdb::storage
