// Client request tokens: which requests were applied lately, so that one that comes again is answered as
// before instead of being applied again (SEM-050).
//
// They live in the family `requests` and are written in the batch of the write they belong to, so they
// survive exactly when it does:
//
// clang-format off
//   key                                     record's payload
//   't' token                               time (varint), fingerprint (16 bytes), 00 or: 01, attributes
//   'e' time (8 bytes, big-endian) token    length of the record under 't' (varint): in order of expiry
// clang-format on
//
// The time is the clock's when the request was committed. Unlike commit times it may go back with the clock;
// a time further in the future than tokens live counts as expired, so that a clock once set wrong does not
// keep tokens for ever.
//
// Only requests that were applied are remembered: one whose condition was false wrote nothing and may be
// tried again. Looked up at the request's turn in the commit order, so that of two equal ones under way the
// second finds the first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "storage/base/status.h"
#include "storage/commit/group_counters.h"
#include "storage/commit/write_set.h"

namespace itemdb {

// In the checksums of the family's records, and in the counters, it goes by this id.
inline constexpr uint64_t kRequestsStorageId = UINT64_MAX;

// What is known of an applied request.
struct AppliedRequest {
  // Microseconds since the Unix epoch, by the clock.
  int64_t time_us = 0;
  // Hash of everything in the request but its token, 16 bytes.
  std::string fingerprint;
  // The attributes its reply showed.
  std::optional<std::string> attributes;
};

// What ordering keeps about tokens across groups.
struct RequestTokenState {
  // Where to look for the next ones that expire, and the time of the first of them.
  std::string forget_from = "e";
  int64_t oldest_us = 0;
};

std::string RequestKey(std::string_view token);
std::string RequestExpiryKey(int64_t time_us, std::string_view token);
std::string EncodeRequest(std::string_view token, const AppliedRequest& request);
// Nothing when the record is damaged.
std::optional<AppliedRequest> DecodeRequest(std::string_view token, std::string_view record);

// The tokens of one commit group.
class GroupTokens {
 public:
  // The group's own, which must outlive this. `now_us` is the clock's time.
  GroupTokens(const Store& store, int64_t now_us, RequestTokenState& state, GroupCounters& counters,
              WriteSet& writes)
      : store_(store), now_us_(now_us), state_(state), counters_(counters), writes_(writes) {}

  // The request applied under `token`, by an earlier group or this one; nothing when there is none or it is
  // too long ago. DATA_LOSS, or what the store answers.
  absl::StatusOr<std::optional<AppliedRequest>> Find(std::string_view token);
  // RESOURCE_EXHAUSTED: as many tokens are remembered as may be.
  absl::Status CheckRoom() const;
  // Records a request, which Find has just not found, as applied.
  void Remember(std::string_view token, std::string_view fingerprint, std::optional<std::string> attributes);
  // Deletes up to so many tokens that have expired.
  void ForgetExpired(size_t at_most);
  // Deletes some that have expired, so that their number falls back after a peak.
  void ForgetSome();

 private:
  struct ExpiredToken {
    int64_t time_us;
    int64_t bytes;
  };

  const Store& store_;
  const int64_t now_us_;
  RequestTokenState& state_;
  GroupCounters& counters_;
  WriteSet& writes_;
  absl::flat_hash_map<std::string, AppliedRequest> remembered_;
  // Tokens that Find found expired.
  absl::flat_hash_map<std::string, ExpiredToken> expired_;
};

}  // namespace itemdb
