// The command-line options of the order-entry commands. order_entry_commands.cc runs them.
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/commands/order_entry_commands.h"

namespace itemdb::tools {
namespace {

// The number of words of one --line.
constexpr int kLineWords = 4;

// "itemctl order-entry customer-orders cust_001 2025-01-01 2025-12-31".
std::string LineFor(const order_entry::AccessPattern& pattern) {
  std::string line = "itemctl order-entry " + std::string(pattern.name);
  for (const order_entry::PatternParameter& parameter : pattern.parameters) {
    const std::string value(parameter.default_value);
    line += value.find(' ') == std::string::npos ? " " + value : " '" + value + "'";
  }
  return line;
}

void RegisterPattern(CommandTable& table, CLI::App* group, const order_entry::AccessPattern& pattern) {
  auto options = std::make_shared<PatternOptions>();
  options->pattern = &pattern;
  // Sized once: the parser keeps pointers to the elements.
  options->arguments.resize(pattern.parameters.size());
  // Filled below; the parsed options tell how many arguments were given.
  auto positional = std::make_shared<std::vector<CLI::Option*>>();
  CLI::App* command = table.Add(
      group,
      {.name = std::string(pattern.name),
       .summary = absl::StrFormat("Pattern %d: %s", pattern.number, std::string(pattern.title)),
       .examples = {{LineFor(pattern), std::string(pattern.title)},
                    {"itemctl order-entry " + std::string(pattern.name) + " -o json",
                     "the same for the default arguments, with the table and index that were read"}}},
      [options, positional](Context& context) {
        // Arguments are given from the left, so missing ones are at the end. An empty argument counts as
        // given, and is refused.
        PatternOptions given = *options;
        size_t count = 0;
        while (count < positional->size() && (*positional)[count]->count() > 0) ++count;
        given.arguments.resize(count);
        return RunOrderEntryPattern(context, given);
      });
  for (size_t i = 0; i < pattern.parameters.size(); ++i) {
    positional->push_back(command->add_option(
        std::string(pattern.parameters[i].name), options->arguments[i],
        absl::StrFormat("Default: %s", std::string(pattern.parameters[i].default_value))));
  }
  command->add_flag("--typed", options->typed, "Print DynamoDB JSON");
}

void RegisterPlaceOrder(CommandTable& table, CLI::App* group) {
  auto options = std::make_shared<PlaceOrderOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "place-order",
       .summary = "Store an open order and take its lines out of stock",
       .details =
           "All in one transaction: when one line lacks stock, nothing is stored and the exit code is 4.",
       .examples = {{"itemctl order-entry place-order ord_900 cust_001 --date 2026-02-01 --rep rep_001 "
                     "--line prod_100 wh_sea 2 25.00",
                     "an order of one line"},
                    {"itemctl order-entry place-order ord_901 cust_001 --date 2026-02-01 --rep rep_001 "
                     "--line prod_100 wh_pdx 1 25.00 --line prod_101 wh_sea 3 50.00 --total 170.00",
                     "two lines, with a total price"}}},
      [options](Context& context) { return RunPlaceOrder(context, *options); });
  command->add_option("order-id", options->order_id, "A new id")->required();
  command->add_option("customer-id", options->customer_id, "Who orders")->required();
  command->add_option("--date", options->order_date, "Order date")->required()->type_name("YYYY-MM-DD");
  command->add_option("--rep", options->account_rep_id, "Account representative")
      ->required()
      ->type_name("ID");
  command->add_option("--line", options->lines, "One line of the order; may be repeated")
      ->type_name("PRODUCT WAREHOUSE QUANTITY PRICE")
      ->type_size(kLineWords)
      ->allow_extra_args(false)
      ->required();
  command
      ->add_option("--total", options->total_amount,
                   "Price of the order. Default: the sum of quantity times price")
      ->type_name("AMOUNT");
  command
      ->add_option("--shard", options->shard,
                   "Partition of the open orders, 0 to 4. Default: by a hash of the id")
      ->check(WholeNumberBetween(0, order_entry::kShards - 1))
      ->type_name("NUMBER");
}

void RegisterStockCommands(CommandTable& table, CLI::App* group) {
  auto move = std::make_shared<order_entry::StockMove>();
  CLI::App* command = table.Add(group,
                                {.name = "move-stock",
                                 .summary = "Move stock of a product from one warehouse to another",
                                 .examples = {{"itemctl order-entry move-stock prod_100 wh_sea wh_pdx 5",
                                               "five pieces from wh_sea to wh_pdx"},
                                              {"itemctl order-entry move-stock prod_100 wh_sea wh_new 10",
                                               "into a warehouse that had none"}}},
                                [move](Context& context) { return RunMoveStock(context, *move); });
  command->add_option("product-id", move->product_id, "What is moved")->required();
  command->add_option("from-warehouse-id", move->from_warehouse_id, "Where it is")->required();
  command->add_option("to-warehouse-id", move->to_warehouse_id, "Where it goes")->required();
  command->add_option("quantity", move->quantity, "Pieces, 1 or more")->check(WholeNumberFrom(1))->required();

  auto delivery = std::make_shared<order_entry::StockDelivery>();
  command = table.Add(
      group,
      {.name = "restock",
       .summary = "Add to the stock of a product in a warehouse",
       .examples = {{"itemctl order-entry restock prod_100 wh_sea 50", "fifty pieces arrive"},
                    {"itemctl order-entry restock prod_101 wh_new 1", "in a warehouse that had none"}}},
      [delivery](Context& context) { return RunRestock(context, *delivery); });
  command->add_option("product-id", delivery->product_id, "What arrives")->required();
  command->add_option("warehouse-id", delivery->warehouse_id, "Where")->required();
  command->add_option("quantity", delivery->quantity, "Pieces, 1 or more")
      ->check(WholeNumberFrom(1))
      ->required();
}

}  // namespace

void RegisterOrderEntryCommands(CommandTable& table) {
  CLI::App* group = table.AddGroup(
      {.name = "order-entry", .summary = "The order-entry application: its data, patterns and writes"});
  table.Add(
      group,
      {.name = "load",
       .summary = "Create the four tables and write the sample data, as far as they are missing",
       .examples = {{"itemctl order-entry load", "write the data that the other examples read"},
                    {"itemctl order-entry load -o json", "print how many items were missing, as JSON"}}},
      RunOrderEntryLoad);
  table.Add(group,
            {.name = "all",
             .summary = "Print the answer of every access pattern",
             .examples = {{"itemctl order-entry all", "for the default arguments"},
                          {"itemctl order-entry all -o jsonl", "one JSON document for each pattern"}}},
            RunOrderEntryAll);
  for (const order_entry::AccessPattern& pattern : order_entry::AccessPatterns())
    RegisterPattern(table, group, pattern);
  RegisterPlaceOrder(table, group);

  auto order_id = std::make_shared<std::string>();
  CLI::App* command =
      table.Add(group,
                {.name = "close-order",
                 .summary = "Close an order, which takes it out of the open orders",
                 .details = "Ends with exit code 4 when it is closed already.",
                 .examples = {{"itemctl order-entry close-order ord_002", "close one"},
                              {"itemctl order-entry close-order ord_003 -o json", "close another"}}},
                [order_id](Context& context) { return RunCloseOrder(context, *order_id); });
  command->add_option("order-id", *order_id, "An open order")->required();
  RegisterStockCommands(table, group);
}

}  // namespace itemdb::tools
