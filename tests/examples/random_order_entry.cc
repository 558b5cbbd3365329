#include "tests/examples/random_order_entry.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"

namespace itemdb::examples {
namespace {

constexpr int kMost = 12;

class Maker {
 public:
  explicit Maker(std::mt19937_64& random) : random_(random) {}

  // 0 to `n` - 1.
  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  std::vector<std::string> Phones() {
    std::vector<std::string> phones;
    for (int i = Below(3); i >= 0; --i) phones.push_back(absl::StrCat("+1-555-", 1000 + Below(9000)));
    return phones;
  }

  Number Money() { return Number::Parse(absl::StrCat(1 + Below(500), ".", 10 + Below(90))).value(); }

 private:
  std::mt19937_64& random_;
};

order_entry::ProductStock MakeProduct(Maker& maker, int number) {
  order_entry::ProductStock product{.product_id = absl::StrCat("prod_", number),
                                    .product_name = NameNumber(maker.Below(kFew)),
                                    .category = "Hardware",
                                    .unit_price = maker.Money(),
                                    .stock = {}};
  for (int warehouse = 0; warehouse < kFew; ++warehouse) {
    if (maker.Below(3) == 0) continue;
    product.stock.push_back({product.product_id, WarehouseNumber(warehouse), maker.Below(1'000)});
    product.total_inventory += product.stock.back().quantity;
  }
  return product;
}

}  // namespace

std::string DateNumber(int number) {
  return absl::FormatCivilTime(absl::CivilDay(2024, 11, 30) + 40 * number);
}
std::string NameNumber(int number) { return absl::StrCat("Name ", number); }
std::string TitleNumber(int number) { return absl::StrCat("Title ", number); }
std::string WarehouseNumber(int number) { return absl::StrCat("wh_", number); }
std::string RepNumber(int number) { return absl::StrCat("rep_", number); }

OrderEntryData RandomOrderEntry(std::mt19937_64& random) {
  Maker maker(random);
  OrderEntryData data;
  for (int i = maker.Below(kMost + 1); i > 0; --i) {
    data.employees.push_back({.employee_id = absl::StrCat("id_", i),
                              .name = NameNumber(maker.Below(kFew)),
                              .phone_numbers = maker.Phones(),
                              .warehouse_id = WarehouseNumber(maker.Below(kFew)),
                              .job_title = TitleNumber(maker.Below(kFew)),
                              .hire_date = DateNumber(maker.Below(kDates))});
  }
  for (int i = 1 + maker.Below(kMost); i > 0; --i) {
    data.customers.push_back({.customer_id = absl::StrCat("id_", i),
                              .name = NameNumber(maker.Below(kFew)),
                              .phone_numbers = maker.Phones(),
                              .email = absl::StrCat("c", i, "@example.com"),
                              .account_rep_id = RepNumber(maker.Below(kFew))});
  }
  for (int i = 1 + maker.Below(kMost); i > 0; --i) data.products.push_back(MakeProduct(maker, i));
  for (int i = maker.Below(kMost + 1); i > 0; --i) {
    const order_entry::Customer& customer =
        data.customers[static_cast<size_t>(maker.Below(static_cast<int>(data.customers.size())))];
    OrderEntryData::OrderWithLines made{.order = {.order_id = absl::StrCat("ord_", i),
                                                  .customer_id = customer.customer_id,
                                                  .order_date = DateNumber(maker.Below(kDates)),
                                                  .status = maker.Below(2) == 0 ? "OPEN" : "CLOSED",
                                                  .account_rep_id = customer.account_rep_id,
                                                  .total_amount = maker.Money(),
                                                  .order_items = {},
                                                  .shard = std::nullopt},
                                        .lines = {}};
    std::vector<order_entry::ProductStock> products = data.products;
    std::shuffle(products.begin(), products.end(), random);
    products.resize(std::min<size_t>(products.size(), 1 + static_cast<size_t>(maker.Below(3))));
    for (const order_entry::ProductStock& product : products) {
      made.lines.push_back({.product_id = product.product_id,
                            .quantity = 1 + maker.Below(20),
                            .price = maker.Money(),
                            .warehouse_id = ""});
    }
    data.orders.push_back(std::move(made));
  }
  return data;
}

}  // namespace itemdb::examples
