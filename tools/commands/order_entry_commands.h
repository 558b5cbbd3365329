// `itemctl order-entry ...`: the order-entry application, one subcommand per access pattern and per write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "itemdb/order_entry.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

// Creates the four tables and writes the sample items, as far as they are missing. Prints how many items were
// written and how many existed already.
absl::Status RunOrderEntryLoad(Context& context);

// Prints the answer of every access pattern for its default arguments. As table: see order_entry_table.h.
// As jsonl and, in an array, as json:
// {"pattern": 1 to 15, "name": ..., "table": ..., "index": ... or null, "items": [...]}.
absl::Status RunOrderEntryAll(Context& context);

struct PatternOptions {
  // Not null; from order_entry::AccessPatterns().
  const order_entry::AccessPattern* pattern = nullptr;
  // In the order of the pattern's parameters; missing arguments at the end have their default value.
  std::vector<std::string> arguments;
  // Print DynamoDB JSON.
  bool typed = false;
};

// Prints the items of one pattern: jsonl one item a line, table and json as RunOrderEntryAll.
// ExitCode::kNotFound if a look-up by key finds no item.
absl::Status RunOrderEntryPattern(Context& context, const PatternOptions& options);

struct PlaceOrderOptions {
  std::string order_id;
  std::string customer_id;
  std::string order_date;
  std::string account_rep_id;
  // Four words for each order line: product, warehouse, quantity, price of one piece.
  std::vector<std::string> lines;
  // Empty for the sum of quantity times price.
  std::string total_amount;
  std::optional<int> shard;
};

// Each prints the change sequence of its transaction.
absl::Status RunPlaceOrder(Context& context, const PlaceOrderOptions& options);
absl::Status RunCloseOrder(Context& context, const std::string& order_id);
absl::Status RunMoveStock(Context& context, const order_entry::StockMove& move);
absl::Status RunRestock(Context& context, const order_entry::StockDelivery& delivery);

void RegisterOrderEntryCommands(CommandTable& table);

}  // namespace itemdb::tools
