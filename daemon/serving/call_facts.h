// What the log may say about a call: its table and how many items it concerns, never what is in them.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <string>

#include "itemdb/wire/data.pb.h"
#include "storage/database.h"

namespace itemdb {

struct CallFacts {
  // As the request names it, which need not be a valid name; the first of several. Empty: none.
  std::string table_name;
  // More tables than that.
  bool more_tables = false;
  // Items that the request writes or asks for by key.
  int64_t items = 0;
};

// The table for the log: "-" without one, "?" for a name that no table can have, "orders,..." for several.
std::string LoggedTableName(const CallFacts& facts);

CallFacts FactsOf(const wire::BatchWriteItemRequest& request);
CallFacts FactsOf(const wire::BulkWriteChunk& chunk);
CallFacts FactsOf(const wire::TransactWriteItemsRequest& request);
CallFacts FactsOf(const wire::BatchGetItemRequest& request);
CallFacts FactsOf(const wire::TransactGetItemsRequest& request);
inline CallFacts FactsOf(const wire::WriteItemRequest& request) {
  return {.table_name = request.table_name(), .items = 1};
}
inline CallFacts FactsOf(const wire::GetItemRequest& request) {
  return {.table_name = request.table_name(), .items = 1};
}
// Of all others.
template <typename Request>
CallFacts FactsOf(const Request& request) {
  if constexpr (requires { std::string(request.table_name()); }) {
    return {.table_name = request.table_name()};
  } else {
    return {};
  }
}

// Items in a reply; -1 when it has no number of them.
inline int64_t ItemsOf(const Page& page) { return page.reply.count(); }
inline int64_t ItemsOf(const StatementPage&) { return -1; }
inline int64_t ItemsOf(const google::protobuf::MessageLite&) { return -1; }

}  // namespace itemdb
