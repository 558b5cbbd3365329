// Client request tokens: the requests that were applied in the last 10 minutes. A request with the token of
// one of them gets the same reply and is not applied again (SEM-050).
//
// A token is stored in the family `requests`, in the same batch as the write of its request, so both survive
// a crash or neither does:
//
// clang-format off
//   key                                     record's payload
//   't' token                               time (varint), fingerprint (16 bytes), 00 or: 01, attributes
//   'e' time (8 bytes, big-endian) token    length of the record under 't' (varint); sorted by expiry
// clang-format on
//
// The time is when the request was committed (TimeOfDay::NowMicros). A wall clock that jumps must not let a
// request apply twice: a jump is not believed for 10 minutes, and for 10 minutes after that no token expires,
// so that those from before the jump live as long as they should. A token whose time is more than 10 minutes
// in the future counts as expired: otherwise a clock that was wrong once would keep tokens for years.
//
// Only applied requests are stored: a request whose condition was false wrote nothing and may be tried again.
// A token is looked up in Apply, so of two equal requests in the queue the second finds the first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "storage/base/status.h"
#include "storage/base/time_of_day.h"
#include "storage/commit/group_statistics.h"
#include "storage/commit/write_set.h"

namespace itemdb::storage {

// The storage id of the family `requests` in the checksums of its records and in the size statistics.
inline constexpr uint64_t kRequestsStorageId = UINT64_MAX;

// The stored form of an applied request.
struct AppliedRequest {
  // Microseconds since the Unix epoch, by the clock.
  int64_t time_us = 0;
  // 16 bytes: hash of the request without its token.
  std::string fingerprint;
  // The attributes in the reply of the request, if any.
  std::optional<std::string> attributes;
};

// State of the tokens that is carried from one commit group to the next.
struct RequestTokenState {
  // The 'e' key from which to search for expired tokens, and the time of the oldest stored token.
  std::string expire_from = "e";
  int64_t oldest_us = 0;
};

std::string RequestKey(std::string_view token);
std::string RequestExpiryKey(int64_t time_us, std::string_view token);
std::string EncodeRequest(std::string_view token, const AppliedRequest& request);
// nullopt: the record is damaged.
std::optional<AppliedRequest> DecodeRequest(std::string_view token, std::string_view record);

// The time by which tokens expire.
struct TokenTime {
  static TokenTime Now(TimeOfDay& time_of_day);

  // Whether a token of `time_us` has expired.
  bool HasExpired(int64_t time_us) const;

  int64_t now_us = 0;
  // Nothing expires: the clock jumped.
  bool stopped = false;
};

// The tokens of one commit group.
class GroupTokens {
 public:
  // `size_statistics` and `writes` are those of the group. All references must outlive this object.
  GroupTokens(const Store& store, TokenTime time, RequestTokenState& state, GroupStatistics& size_statistics,
              WriteSet& writes)
      : store_(store), time_(time), state_(state), size_statistics_(size_statistics), writes_(writes) {}

  // The request that was applied with `token`, by an earlier group or this one; nullopt when there is none or
  // it has expired. DATA_LOSS: its record is damaged. Other errors: of the store.
  absl::StatusOr<std::optional<AppliedRequest>> Find(std::string_view token);
  // RESOURCE_EXHAUSTED: kMaxRequestTokens tokens or kMaxRequestTokensBytes are stored.
  absl::Status CheckRoom() const;
  // Stores a request as applied. Find must have returned nullopt for `token` just before.
  void Save(std::string_view token, std::string_view fingerprint, std::optional<std::string> attributes);
  // Deletes at most `at_most` expired tokens.
  void DeleteExpired(size_t at_most);
  // Deletes up to two expired tokens for each new one of this group, so that their number falls after a peak.
  void DeleteSomeExpired();

 private:
  struct ExpiredToken {
    int64_t time_us;
    int64_t bytes;
  };

  const Store& store_;
  const TokenTime time_;
  RequestTokenState& state_;
  GroupStatistics& size_statistics_;
  WriteSet& writes_;
  absl::flat_hash_map<std::string, AppliedRequest> saved_;
  // Expired tokens that Find has read: Save replaces them.
  absl::flat_hash_map<std::string, ExpiredToken> expired_;
  // Expired tokens that this group deletes: the store still has them.
  absl::flat_hash_set<std::string> deleted_;
};

}  // namespace itemdb::storage
