// Values that only one item may have, beside its key: an e-mail address, a user name.
//
// Such a value is held by an item of its own, whose key is made of the value and which can be created only
// while it does not exist. It is written in the transaction that writes the item it belongs to, so that one
// never exists without the other.
//
//   WriteWithReservations(client, {.actions = {TransactPut{.table_name = "App", .item = user}}},
//                         {{.table_name = "App", .item = {{"PK", "EMAIL#a@b.c"}, {"SK", "EMAIL#a@b.c"},
//                                                         {"user_id", "u1"}}, .key_attributes = {"PK",
//                                                         "SK"}}});
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "itemdb/export.h"
#include "itemdb/options.h"
#include "itemdb/requests.h"
#include "itemdb/value.h"

namespace itemdb {
inline namespace client {

inline constexpr std::string_view kReasonValueReserved = "VALUE_RESERVED";

struct Reservation {
  std::string table_name;
  // The key attributes, made of the value, and whatever says whose it is.
  Item item;
  // The names of the table's key attributes, one or two, all in `item`.
  std::vector<std::string> key_attributes;
};

// Applies `request` and takes and releases reservations, all of it or nothing. A released one must exist and
// have the very attributes of `item`, so that nobody releases what is another's. Each reservation is an
// action more, within the limits of a transaction. Blocks.
//
// ALREADY_EXISTS (VALUE_RESERVED): a value to be taken is held; the message names the first.
// FAILED_PRECONDITION (TRANSACTION_CANCELLED): a condition of `request` was false, or a released reservation
// is not there; CancellationReasons() speaks of the actions of `request`, then of `take`, then of `release`.
// INVALID_ARGUMENT also: a reservation's item lacks a key attribute.
ITEMDB_EXPORT absl::StatusOr<TransactWriteItemsResult> WriteWithReservations(
    const Client& client, TransactWriteItemsRequest request, const std::vector<Reservation>& take,
    const std::vector<Reservation>& release = {}, CallOptions options = {});

}  // namespace client
}  // namespace itemdb
