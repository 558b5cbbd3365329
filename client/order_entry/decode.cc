#include "client/order_entry/decode.h"

#include <utility>

#include "itemdb/item_traits.h"

namespace itemdb {

template <>
struct ItemTraits<order_entry::OrderedProduct> {
  static Item ToItem(const order_entry::OrderedProduct& ordered) {
    return ItemBuilder().With("product_id", ordered.product_id).With("qty", ordered.quantity).Build();
  }
  static absl::StatusOr<order_entry::OrderedProduct> FromItem(const Item& item) {
    order_entry::OrderedProduct ordered;
    ItemReader reader(item);
    reader.ReadIfPresent("product_id", ordered.product_id).ReadIfPresent("qty", ordered.quantity);
    return reader.Finish(std::move(ordered));
  }
};

}  // namespace itemdb

namespace itemdb::order_entry {

absl::StatusOr<Employee> DecodeEmployee(const Item& item) {
  Employee employee;
  ItemReader reader(item);
  reader.ReadIfPresent("employee_id", employee.employee_id)
      .ReadIfPresent("name", employee.name)
      .ReadIfPresent("phone_numbers", employee.phone_numbers)
      .ReadIfPresent("warehouse_id", employee.warehouse_id)
      .ReadIfPresent("job_title", employee.job_title)
      .ReadIfPresent("hire_date", employee.hire_date);
  return reader.Finish(std::move(employee));
}

absl::StatusOr<Customer> DecodeCustomer(const Item& item) {
  Customer customer;
  ItemReader reader(item);
  reader.ReadIfPresent("customer_id", customer.customer_id)
      .ReadIfPresent("name", customer.name)
      .ReadIfPresent("phone_numbers", customer.phone_numbers)
      .ReadIfPresent("email", customer.email)
      .ReadIfPresent("account_rep_id", customer.account_rep_id);
  return reader.Finish(std::move(customer));
}

absl::StatusOr<Order> DecodeOrder(const Item& item) {
  Order order;
  ItemReader reader(item);
  reader.ReadIfPresent("order_id", order.order_id)
      .ReadIfPresent("customer_id", order.customer_id)
      .ReadIfPresent("order_date", order.order_date)
      .ReadIfPresent("status", order.status)
      .ReadIfPresent("account_rep_id", order.account_rep_id)
      .Read("total_amount", order.total_amount)
      .ReadIfPresent("order_items", order.order_items)
      .Read("shard", order.shard);
  return reader.Finish(std::move(order));
}

absl::StatusOr<ProductOrder> DecodeProductOrder(const Item& item) {
  ProductOrder order;
  ItemReader reader(item);
  reader.ReadIfPresent("product_id", order.product_id)
      .ReadIfPresent("order_id", order.order_id)
      .ReadIfPresent("customer_id", order.customer_id)
      .ReadIfPresent("order_date", order.order_date)
      .ReadIfPresent("quantity", order.quantity);
  return reader.Finish(std::move(order));
}

absl::StatusOr<Stock> DecodeStock(const Item& item) {
  Stock stock;
  ItemReader reader(item);
  reader.ReadIfPresent("product_id", stock.product_id)
      .ReadIfPresent("warehouse_id", stock.warehouse_id)
      .ReadIfPresent("inventory_quantity", stock.quantity);
  return reader.Finish(std::move(stock));
}

absl::StatusOr<ProductStock> DecodeProduct(const Item& item) {
  ProductStock product;
  ItemReader reader(item);
  reader.ReadIfPresent("product_id", product.product_id)
      .ReadIfPresent("product_name", product.product_name)
      .ReadIfPresent("category", product.category)
      .Read("unit_price", product.unit_price)
      .ReadIfPresent("total_inventory", product.total_inventory);
  return reader.Finish(std::move(product));
}

absl::StatusOr<std::vector<std::string>> DecodePhoneNumbers(const Item& item) {
  std::vector<std::string> numbers;
  ItemReader reader(item);
  reader.ReadIfPresent("phone_numbers", numbers);
  return reader.Finish(std::move(numbers));
}

absl::StatusOr<int64_t> DecodeInteger(const Item& item, std::string_view attribute) {
  int64_t integer = 0;
  ItemReader reader(item);
  reader.ReadIfPresent(attribute, integer);
  return reader.Finish(integer);
}

}  // namespace itemdb::order_entry
