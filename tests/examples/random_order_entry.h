// Order-entry data made at random, in the application's own types, for whatever layout.
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
  // Their total inventory is the sum of their stock.
  std::vector<order_entry::ProductStock> products;
  struct OrderWithLines {
    order_entry::Order order;
    std::vector<order_entry::NewOrderLine> lines;
  };
  std::vector<OrderWithLines> orders;
};

// Up to 12 of each kind. Names, dates, titles, warehouses and representatives are of a few, so that they
// meet; employees and customers have the same ids, and products the names of employees.
OrderEntryData RandomOrderEntry(std::mt19937_64& random);

// One of the few dates; ascending by `number`, 0 to kDates - 1.
inline constexpr int kDates = 8;
std::string DateNumber(int number);
// One of the few names, titles, warehouses and representatives.
inline constexpr int kFew = 4;
std::string NameNumber(int number);
std::string TitleNumber(int number);
std::string WarehouseNumber(int number);
std::string RepNumber(int number);

}  // namespace itemdb::examples
