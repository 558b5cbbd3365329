// One side of a move, the source or the target: its tables, its items by their keys, writes of whole items.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "tools/json/json_value.h"
#include "tools/moving/pace.h"
#include "tools/moving/patience.h"

namespace itemdb::tools {

// Thread-safe.
class Side {
 public:
  // `name`, in messages: "the source", "the target". `say` gets lines about waiting, on any thread.
  // `fence_pass`: of the tables' fences, which only itemd has, for WriteItems; empty: writes are not let
  // through a fence. `streams`: where the tables' DynamoDB Streams are, if that is elsewhere.
  Side(Client client, std::string name, Patience patience, std::function<void(const std::string&)> say,
       std::string fence_pass = "", std::optional<Client> streams = std::nullopt)
      : client_(std::move(client)),
        streams_(streams.has_value() ? *std::move(streams) : client_),
        name_(std::move(name)),
        patience_(std::move(patience)),
        say_(std::move(say)),
        fence_pass_(is_itemd() ? std::move(fence_pass) : "") {}

  const Client& client() const { return client_; }
  const std::string& name() const { return name_; }
  const std::string& endpoint() const { return client_.endpoint(); }
  const Patience& patience() const { return patience_; }
  // Of itemd's gRPC: only that has a change log and fences.
  bool is_itemd() const { return client_.endpoint().find("://") == std::string::npos; }
  CallOptions call() const {
    return {.timeout = std::min(patience_.longest(), absl::Seconds(30)), .cancel = patience_.cancel()};
  }

  // Runs `call`, which returns a status or a result, with patience; an error names this side.
  template <typename Call>
  auto Try(Call call) const -> decltype(call()) {
    auto result = patience_.Try(std::move(call), [this](const absl::Status& error, absl::Duration waited) {
      SayThatItWaits(error, waited);
    });
    if (result.ok()) return result;
    return Named(Patience::StatusOf(result));
  }

  // Nothing if there is no such table.
  absl::StatusOr<std::optional<TableDescription>> FindTable(const std::string& table_name) const;
  absl::StatusOr<std::vector<std::string>> TableNames() const;
  // One page of a segment of a parallel scan, strongly consistent.
  absl::StatusOr<ItemPage> ScanPage(const std::string& table_name, int segment, int segments,
                                    const std::optional<Item>& after) const;
  // The items, strongly consistent, in the order of `keys`, which are different ones.
  absl::StatusOr<std::vector<std::optional<Item>>> GetItems(const std::string& table_name,
                                                            const std::vector<Item>& keys) const;
  // Applies puts and deletes of whole items, none twice on one item. May apply them several times. Waits for
  // `pace` before. INVALID_ARGUMENT: a write is refused for good; the message names its item.
  // FAILED_PRECONDITION: a fence does not have this side's pass any more.
  absl::Status WriteItems(const std::vector<BatchWrite>& writes, Pace& pace) const;
  // An operation of DynamoDB Streams, such as "GetRecords". DATA_LOSS: the reply is no JSON object.
  absl::StatusOr<JsonValue> CallStreams(std::string_view operation, const JsonValue& request) const;

 private:
  // The last write that failed for the whole patience.
  void GiveUp(const absl::Status& error) const;
  absl::Status GivenUpSince(absl::Time begin) const;
  // `error` with the name of this side, and what to do about it where that is known.
  absl::Status Named(const absl::Status& error) const;
  absl::Status WriteOnce(const std::vector<BatchWrite>& writes) const;
  // Not at once, and not for each of many calls.
  void SayThatItWaits(const absl::Status& error, absl::Duration waited) const;

  const Client client_;
  const Client streams_;
  const std::string name_;
  const Patience patience_;
  const std::function<void(const std::string&)> say_;
  const std::string fence_pass_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  mutable absl::Time last_said_ = absl::InfinitePast();
  mutable absl::Time given_up_time_ = absl::InfinitePast();
  mutable absl::Status given_up_;
};

}  // namespace itemdb::tools
