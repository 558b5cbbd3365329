#include "storage/engine/request_tokens.h"

#include <algorithm>

#include "storage/base/check.h"
#include "storage/base/limits.h"
#include "storage/engine/commit_group.h"
#include "storage/engine/read_view.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb {
namespace {

constexpr int64_t kRememberUs = int64_t{kRequestTokenMinutes} * 60 * 1'000'000;
constexpr size_t kFingerprintBytes = 16;

bool IsExpired(int64_t time_us, int64_t now_us) {
  return time_us + kRememberUs <= now_us || time_us >= now_us + kRememberUs;
}

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

absl::StatusOr<std::optional<AppliedRequest>> CommitGroup::FindRequest(std::string_view token) {
  auto own = tokens_.find(std::string(token));
  if (own != tokens_.end()) return own->second;
  std::string record;
  rocksdb::Status status =
      state_->store->db()->Get(rocksdb::ReadOptions(), state_->store->requests(), RequestKey(token), &record);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return FromRocksDB("cannot read a client request token", status);
  std::optional<AppliedRequest> request = DecodeRequest(token, record);
  if (!request.has_value()) return DamagedRecordError("the client request tokens", token);
  if (!IsExpired(request->time_us, wall_time_us_)) return request;
  expired_tokens_.emplace(token, ExpiredToken{request->time_us, static_cast<int64_t>(record.size())});
  return std::nullopt;
}

absl::Status CommitGroup::CheckRoomForRequest() const {
  auto counted = counters_.find(kRequestsStorageId);
  const Counters& tokens =
      counted != counters_.end() ? counted->second : state_->counters[kRequestsStorageId];
  if (tokens.items < kMaxRequestTokens && tokens.bytes < kMaxRequestTokensBytes) return absl::OkStatus();
  return MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                   "nothing was written: " + std::to_string(tokens.items) + " client request tokens of " +
                       std::to_string(tokens.bytes) + " bytes are kept from the last " +
                       std::to_string(kRequestTokenMinutes) + " minutes; at most " +
                       std::to_string(kMaxRequestTokens) + " of " + std::to_string(kMaxRequestTokensBytes) +
                       " bytes are; send the request later or without a token",
                   1'000);
}

void CommitGroup::RememberRequest(std::string_view token, std::string_view fingerprint,
                                  std::optional<std::string> attributes) {
  rocksdb::ColumnFamilyHandle* family = state_->store->requests();
  if (auto expired = expired_tokens_.find(std::string(token)); expired != expired_tokens_.end()) {
    ITEMDB_CHECK(batch_.Delete(family, RequestExpiryKey(expired->second.time_us, token)).ok());
    Count(kRequestsStorageId, -1, -expired->second.bytes);
  }
  AppliedRequest request{wall_time_us_, std::string(fingerprint), std::move(attributes)};
  std::string record = EncodeRequest(token, request);
  std::string expiry_key = RequestExpiryKey(wall_time_us_, token);
  ITEMDB_CHECK(batch_.Put(family, RequestKey(token), record).ok());
  ITEMDB_CHECK(batch_.Put(family, expiry_key, EncodeLength(expiry_key, record.size())).ok());
  Count(kRequestsStorageId, 1, static_cast<int64_t>(record.size()));
  tokens_.insert_or_assign(std::string(token), std::move(request));
  if (expiry_key < state_->tokens.forget_from) {  // The clock went back.
    state_->tokens.forget_from = expiry_key.substr(0, 9);
    state_->tokens.oldest_us = wall_time_us_;
  }
}

void CommitGroup::ForgetExpiredRequests(size_t at_most) {
  RequestTokenState& state = state_->tokens;
  if (at_most == 0 || (state.oldest_us > 0 && !IsExpired(state.oldest_us, wall_time_us_))) return;
  rocksdb::Slice end = "f";
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  std::unique_ptr<rocksdb::Iterator> it(state_->store->db()->NewIterator(options, state_->store->requests()));
  for (it->Seek(state.forget_from); it->Valid(); it->Next()) {
    std::string_view key = ToView(it->key());
    std::optional<uint64_t> time = ParseSequenceKey(key.substr(1, 8));
    if (!time.has_value()) continue;  // Damaged: CheckDatabase's to report.
    state.oldest_us = static_cast<int64_t>(*time);
    state.forget_from = key.substr(0, 9);  // Without the token: another of the same time may come before it.
    if (!IsExpired(state.oldest_us, wall_time_us_) || at_most == 0) return;
    // Used anew in this group, which has replaced its record and removed this key.
    std::string token(key.substr(9));
    if (tokens_.contains(token)) continue;
    --at_most;
    ITEMDB_CHECK(batch_.Delete(state_->store->requests(), it->key()).ok());
    ITEMDB_CHECK(batch_.Delete(state_->store->requests(), RequestKey(token)).ok());
    Count(kRequestsStorageId, -1, -DecodeLength(key, ToView(it->value())));
  }
  // None is left: the next one is of now.
  state.oldest_us = wall_time_us_;
}

}  // namespace itemdb
