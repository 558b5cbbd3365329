#include "storage/items/request_token.h"

#include <algorithm>

#include "storage/base/limits.h"
#include "storage/base/xxh3.h"
#include "storage/values/canonical.h"

namespace itemdb::storage {
namespace {

void SortByName(auto* entries) {
  std::sort(entries->begin(), entries->end(),
            [](const auto& a, const auto& b) { return a.name() < b.name(); });
}

// A malformed item stays as it is; the operation refuses it later.
void Normalize(std::string* item) {
  if (absl::StatusOr<std::string> canonical = CanonicalizeItem(*item); canonical.ok())
    *item = *std::move(canonical);
}

void NormalizeValue(std::string* value) {
  if (absl::StatusOr<std::string> canonical = CanonicalizeValue(*value); canonical.ok())
    *value = *std::move(canonical);
}

void Normalize(wire::WriteItemRequest* request) {
  Normalize(request->mutable_key_or_item());
  SortByName(request->mutable_expression_attribute_names());
  SortByName(request->mutable_expression_attribute_values());
  for (auto& value : *request->mutable_expression_attribute_values()) NormalizeValue(value.mutable_value());
  SortByName(request->mutable_expected());
  for (auto& expected : *request->mutable_expected()) {
    auto* expectation = expected.mutable_value();
    if (expectation->has_value()) NormalizeValue(expectation->mutable_value());
    for (std::string& value : *expectation->mutable_attribute_value_list()) NormalizeValue(&value);
  }
  SortByName(request->mutable_attribute_updates());
  for (auto& update : *request->mutable_attribute_updates()) {
    if (update.value().has_value()) NormalizeValue(update.mutable_value()->mutable_value());
  }
}

// BatchWriteItemRequest, BulkWriteChunk.
void NormalizeWrites(auto* request) {
  for (auto& table : *request->mutable_request_items()) {
    for (auto& write : *table.mutable_write_requests()) {
      if (write.has_put_request()) Normalize(write.mutable_put_request()->mutable_item());
      if (write.has_delete_request()) Normalize(write.mutable_delete_request()->mutable_key());
    }
  }
}

void Normalize(wire::BatchWriteItemRequest* request) { NormalizeWrites(request); }

void Normalize(wire::BulkWriteChunk* chunk) {
  chunk->clear_chunk_number();
  chunk->clear_fence_pass();
  NormalizeWrites(chunk);
}

void Normalize(wire::TransactWriteItemsRequest* request) {
  for (auto& item : *request->mutable_transact_items()) {
    if (item.has_put()) Normalize(item.mutable_put());
    if (item.has_update()) Normalize(item.mutable_update());
    if (item.has_delete_()) Normalize(item.mutable_delete_());
    if (item.has_condition_check()) Normalize(item.mutable_condition_check());
  }
}

void Normalize(wire::ExecuteTransactionRequest* request) {
  for (auto& statement : *request->mutable_transact_statements()) {
    for (std::string& parameter : *statement.mutable_parameters()) NormalizeValue(&parameter);
  }
}

template <typename Request>
absl::StatusOr<std::optional<RequestToken>> Prepare(std::string_view operation, const Request& request) {
  if (request.client_request_token().empty()) return std::nullopt;
  if (request.client_request_token().size() > kMaxRequestTokenBytes) {
    return ValidationError(
        "SEM-050", "ClientRequestToken must be 1 to " + std::to_string(kMaxRequestTokenBytes) +
                       " characters long; it has " + std::to_string(request.client_request_token().size()));
  }
  Request normal = request;
  normal.clear_client_request_token();
  Normalize(&normal);
  std::string bytes(operation);
  bytes.push_back('\0');
  normal.AppendToString(&bytes);
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes.data(), bytes.size()));
  return RequestToken{request.client_request_token(),
                      std::string(reinterpret_cast<const char*>(hash.digest), sizeof(hash.digest))};
}

}  // namespace

absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::WriteItemRequest& request) {
  return Prepare(operation, request);
}

absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::BatchWriteItemRequest& request) {
  return Prepare(operation, request);
}

absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::TransactWriteItemsRequest& request) {
  return Prepare(operation, request);
}

absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::ExecuteTransactionRequest& request) {
  return Prepare(operation, request);
}

absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::BulkWriteChunk& chunk) {
  return Prepare(operation, chunk);
}

absl::Status TokenMismatchError(std::string_view token) {
  return WithRule("ERR-08", MakeError(absl::StatusCode::kInvalidArgument, kReasonIdempotentParameterMismatch,
                                      "the client request token " + std::string(token) +
                                          " was used for a request with other parameters in the last " +
                                          std::to_string(kRequestTokenMinutes) + " minutes"));
}

}  // namespace itemdb::storage
