#include "storage/commit/request_tokens.h"

#include <algorithm>
#include <chrono>

#include "storage/base/limits.h"
#include "storage/store/sequence_key.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kTokenTtlUs = int64_t{kRequestTokenMinutes} * 60 * 1'000'000;
constexpr size_t kFingerprintBytes = 16;
// Expired tokens that are deleted for each new one.
constexpr size_t kDeletedPerToken = 2;

std::string EncodeLength(std::string_view expiry_key, size_t length) {
  std::string payload;
  wire::AppendVarint(length, &payload);
  return EncodeRecord(kRequestsStorageId, expiry_key, 0, payload);
}

int64_t DecodeLength(std::string_view expiry_key, std::string_view record) {
  std::optional<StoredRecord> stored = DecodeRecord(kRequestsStorageId, expiry_key, record);
  uint64_t length = 0;
  if (stored.has_value()) (void)wire::ConsumeVarint(&stored->payload, &length);
  return static_cast<int64_t>(length);
}

}  // namespace

TokenTime TokenTime::Now(TimeOfDay& time_of_day) {
  return {.now_us = time_of_day.NowMicros(),
          .stopped = time_of_day.SteppedWithin(std::chrono::microseconds(kTokenTtlUs))};
}

bool TokenTime::HasExpired(int64_t time_us) const {
  return !stopped && (time_us + kTokenTtlUs <= now_us || time_us >= now_us + kTokenTtlUs);
}

std::string RequestKey(std::string_view token) { return std::string("t").append(token); }

std::string RequestExpiryKey(int64_t time_us, std::string_view token) {
  return std::string("e").append(SequenceKey(static_cast<uint64_t>(time_us))).append(token);
}

std::string EncodeRequest(std::string_view token, const AppliedRequest& request) {
  std::string payload;
  wire::AppendVarint(static_cast<uint64_t>(request.time_us), &payload);
  payload += request.fingerprint;
  payload.push_back(request.attributes.has_value() ? '\1' : '\0');
  if (request.attributes.has_value()) payload += *request.attributes;
  return EncodeRecord(kRequestsStorageId, RequestKey(token), 0, payload);
}

std::optional<AppliedRequest> DecodeRequest(std::string_view token, std::string_view record) {
  std::optional<StoredRecord> stored = DecodeRecord(kRequestsStorageId, RequestKey(token), record);
  if (!stored.has_value()) return std::nullopt;
  std::string_view rest = stored->payload;
  uint64_t time = 0;
  if (!wire::ConsumeVarint(&rest, &time) || rest.size() < kFingerprintBytes + 1) return std::nullopt;
  AppliedRequest request;
  request.time_us = static_cast<int64_t>(time);
  request.fingerprint = rest.substr(0, kFingerprintBytes);
  if (rest[kFingerprintBytes] != '\0') request.attributes.emplace(rest.substr(kFingerprintBytes + 1));
  return request;
}

absl::StatusOr<std::optional<AppliedRequest>> GroupTokens::Find(std::string_view token) {
  auto own = saved_.find(std::string(token));
  if (own != saved_.end()) return own->second;
  std::string record;
  rocksdb::Status status =
      store_.db()->Get(rocksdb::ReadOptions(), store_.requests(), RequestKey(token), &record);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return store_.ReadError("cannot read a client request token", status);
  std::optional<AppliedRequest> request = DecodeRequest(token, record);
  if (!request.has_value()) return DamagedRecordError("the client request tokens", token);
  if (!time_.HasExpired(request->time_us)) return request;
  if (!deleted_.contains(std::string(token)))
    expired_.emplace(token, ExpiredToken{request->time_us, static_cast<int64_t>(record.size())});
  return std::nullopt;
}

absl::Status GroupTokens::CheckRoom() const {
  const SizeStatistics tokens = size_statistics_.Of(kRequestsStorageId);
  if (tokens.items < kMaxRequestTokens && tokens.bytes < kMaxRequestTokensBytes) return absl::OkStatus();
  return MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                   "nothing was written: " + std::to_string(tokens.items) + " client request tokens of " +
                       std::to_string(tokens.bytes) + " bytes are kept from the last " +
                       std::to_string(kRequestTokenMinutes) + " minutes; at most " +
                       std::to_string(kMaxRequestTokens) + " of " + std::to_string(kMaxRequestTokensBytes) +
                       " bytes are; send the request later or without a token",
                   1'000);
}

void GroupTokens::Save(std::string_view token, std::string_view fingerprint,
                       std::optional<std::string> attributes) {
  rocksdb::ColumnFamilyHandle* family = store_.requests();
  if (auto expired = expired_.find(std::string(token)); expired != expired_.end()) {
    writes_.Delete(family, RequestExpiryKey(expired->second.time_us, token));
    size_statistics_.Add(kRequestsStorageId, {-1, -expired->second.bytes});
  }
  AppliedRequest request{time_.now_us, std::string(fingerprint), std::move(attributes)};
  std::string record = EncodeRequest(token, request);
  std::string expiry_key = RequestExpiryKey(time_.now_us, token);
  writes_.Put(family, RequestKey(token), record);
  writes_.Put(family, expiry_key, EncodeLength(expiry_key, record.size()));
  size_statistics_.Add(kRequestsStorageId, {1, static_cast<int64_t>(record.size())});
  saved_.insert_or_assign(std::string(token), std::move(request));
  if (expiry_key < state_.expire_from) {  // The clock went back.
    state_.expire_from = expiry_key.substr(0, 9);
    state_.oldest_us = time_.now_us;
  }
}

void GroupTokens::DeleteSomeExpired() { DeleteExpired(saved_.size() * kDeletedPerToken); }

void GroupTokens::DeleteExpired(size_t at_most) {
  if (at_most == 0 || (state_.oldest_us > 0 && !time_.HasExpired(state_.oldest_us))) return;
  rocksdb::Slice end = "f";
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  std::unique_ptr<rocksdb::Iterator> it = store_.NewIterator(options, store_.requests());
  for (it->Seek(state_.expire_from); it->Valid(); it->Next()) {
    std::string_view key = ToView(it->key());
    std::optional<uint64_t> time = ParseSequenceKey(key.substr(1, 8));
    if (!time.has_value()) continue;  // A damaged key: CheckDatabase reports it.
    state_.oldest_us = static_cast<int64_t>(*time);
    // Without the token: a token that is stored later with the same time may sort before this one.
    state_.expire_from = key.substr(0, 9);
    if (!time_.HasExpired(state_.oldest_us) || at_most == 0) return;
    // The token was used again in this group: Save has replaced its record and deleted this key.
    std::string token(key.substr(9));
    if (saved_.contains(token) || !deleted_.insert(token).second) continue;
    --at_most;
    writes_.Delete(store_.requests(), key);
    writes_.Delete(store_.requests(), RequestKey(token));
    size_statistics_.Add(kRequestsStorageId, {-1, -DecodeLength(key, ToView(it->value()))});
  }
  // No token is left: the next one will have the current time.
  state_.oldest_us = time_.now_us;
}

}  // namespace itemdb::storage
