// Converts items to the typed results of the access patterns.
//
// A missing attribute leaves its member empty, because indexes hold only some attributes. DATA_LOSS (reason
// UNEXPECTED_ITEM): an attribute has another type than order entry gives it.
#pragma once

#include "itemdb/order_entry.h"

namespace itemdb::order_entry {

absl::StatusOr<Employee> DecodeEmployee(const Item& item);
absl::StatusOr<Customer> DecodeCustomer(const Item& item);
absl::StatusOr<Order> DecodeOrder(const Item& item);
absl::StatusOr<ProductOrder> DecodeProductOrder(const Item& item);
absl::StatusOr<Stock> DecodeStock(const Item& item);
// The metadata item; leaves `stock` empty.
absl::StatusOr<ProductStock> DecodeProduct(const Item& item);

// Single attributes of an item.
absl::StatusOr<std::vector<std::string>> DecodePhoneNumbers(const Item& item);
absl::StatusOr<int64_t> DecodeInteger(const Item& item, std::string_view attribute);

}  // namespace itemdb::order_entry
