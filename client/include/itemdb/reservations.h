// Values other than the key that only one item may have: an e-mail address, a user name.
//
// An extra item, the reservation, stands for such a value. Its key is made of the value, and it can be
// created only if it does not exist. The reservation and the item that has the value are written in one
// transaction, so neither exists without the other.
//
//   WriteWithReservations(client, {.actions = {TransactPut{.table_name = "App", .item = user}}},
//                         {{.table_name = "App",
//                           .item = {{"PK", "EMAIL#a@b.c"}, {"SK", "EMAIL#a@b.c"}, {"user_id", "u1"}},
//                           .key_attributes = {"PK", "SK"}}});
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

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

inline constexpr std::string_view kReasonValueReserved = "VALUE_RESERVED";

struct Reservation {
  std::string table_name;
  // The key attributes, made of the value, and attributes that say which item has the value.
  Item item;
  // The names of the table's key attributes, one or two, all in `item`.
  std::vector<std::string> key_attributes;
};

// Applies `request`, creates the reservations in `take` and deletes those in `release`, in one transaction. A
// released reservation must exist with exactly the attributes of `item`, so that no caller releases the value
// of another item. Each reservation counts as one action of the transaction. Blocks.
//
// ALREADY_EXISTS (VALUE_RESERVED): a reservation in `take` exists already; the message names the first.
// FAILED_PRECONDITION (TRANSACTION_CANCELLED): a condition of `request` was false, or a released reservation
// does not exist; CancellationReasons() lists the actions of `request`, then of `take`, then of `release`.
// INVALID_ARGUMENT also: a reservation's item lacks a key attribute.
ITEMDB_EXPORT absl::StatusOr<TransactWriteItemsResult> WriteWithReservations(
    const Client& client, TransactWriteItemsRequest request, const std::vector<Reservation>& take,
    const std::vector<Reservation>& release = {}, CallOptions options = {});

}  // namespace itemdb
