// Random order-entry data in the application's own types, for any table layout.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "itemdb/order_entry.h"

namespace itemdb::examples {

struct OrderEntryData {
  std::vector<order_entry::Employee> employees;
  std::vector<order_entry::Customer> customers;
  // The total inventory of a product is the sum of its stock.
  std::vector<order_entry::ProductStock> products;
  struct OrderWithLines {
    order_entry::Order order;
    std::vector<order_entry::NewOrderLine> lines;
  };
  std::vector<OrderWithLines> orders;
};

// Up to 12 of each kind. There are only a few names, dates, titles, warehouses and representatives, so that
// values occur more than once. Employees and customers have the same ids, and products the names of
// employees.
OrderEntryData RandomOrderEntry(std::mt19937_64& random);

// The possible dates; `number` is 0 to kDates - 1, and a larger number is a later date.
inline constexpr int kDates = 8;
std::string DateNumber(int number);
// The possible names, titles, warehouses and representatives; `number` is 0 to kFew - 1.
inline constexpr int kFew = 4;
std::string NameNumber(int number);
std::string TitleNumber(int number);
std::string WarehouseNumber(int number);
std::string RepNumber(int number);

}  // namespace itemdb::examples
