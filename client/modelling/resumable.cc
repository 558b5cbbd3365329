#include "itemdb/resumable.h"

#include <utility>

#include "client/errors_internal.h"
#include "client/modelling/position.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

// A position is {"read": table or table/index, "key": the key to continue from}; no key at the end.
constexpr char kRead[] = "read";
constexpr char kKey[] = "key";

template <typename Request>
std::string NameOf(const Request& request) {
  return request.index_name.empty() ? request.table_name : request.table_name + "/" + request.index_name;
}

}  // namespace

template <typename Request>
absl::StatusOr<ResumableRead> ResumableRead::OpenAny(const Client& client, Request request,
                                                     std::string_view position, CallOptions options) {
  ResumableRead read(client, std::move(options));
  if (!position.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(Item decoded, DecodePosition(position));
    const Value* name = decoded.find_or_null(kRead);
    const Value* key = decoded.find_or_null(kKey);
    if (name == nullptr || *name != Value(NameOf(request)) ||
        (key != nullptr && key->map_or_null() == nullptr)) {
      return WrongPosition(position);
    }
    read.done_ = key == nullptr;
    if (key != nullptr) request.exclusive_start_key = *key->map_or_null();
  }
  read.request_ = std::move(request);
  return read;
}

absl::StatusOr<ResumableRead> ResumableRead::Open(const Client& client, QueryRequest request,
                                                  std::string_view position, CallOptions options) {
  return OpenAny(client, std::move(request), position, std::move(options));
}

absl::StatusOr<ResumableRead> ResumableRead::Open(const Client& client, ScanRequest request,
                                                  std::string_view position, CallOptions options) {
  return OpenAny(client, std::move(request), position, std::move(options));
}

absl::StatusOr<ItemPage> ResumableRead::NextPage() {
  if (done_) {
    return MakeError(absl::StatusCode::kOutOfRange, kReasonValidation,
                     "all pages of this read were given out");
  }
  struct Fetch {
    const Client& client;
    const CallOptions& options;
    absl::StatusOr<ItemPage> operator()(const QueryRequest& request) const {
      return client.Query(request, options);
    }
    absl::StatusOr<ItemPage> operator()(const ScanRequest& request) const {
      return client.Scan(request, options);
    }
  };
  absl::StatusOr<ItemPage> page = std::visit(Fetch{client_, options_}, request_);
  if (!page.ok()) return page;
  done_ = !page->last_evaluated_key.has_value();
  std::visit([&](auto& request) { request.exclusive_start_key = page->last_evaluated_key; }, request_);
  return page;
}

std::string ResumableRead::position() const {
  return std::visit(
      [&](const auto& request) -> std::string {
        if (!done_ && !request.exclusive_start_key.has_value()) return "";
        Item position = {{kRead, NameOf(request)}};
        if (!done_) position.Set(kKey, Value::Map(*request.exclusive_start_key));
        return EncodePosition(position);
      },
      request_);
}

}  // namespace itemdb
