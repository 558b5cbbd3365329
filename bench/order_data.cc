#include "bench/order_data.h"

#include <google/protobuf/text_format.h>

#include <cstdio>
#include <ctime>
#include <string_view>

#include "storage/base/check.h"
#include "storage/json/json_writer.h"
#include "storage/values/wire.h"

namespace itemdb::bench {
namespace {

constexpr uint64_t kCustomers = 1'000;
constexpr uint64_t kAccountReps = 10;
constexpr uint64_t kProducts = 10'000;
constexpr uint64_t kFirstDate = 1'704'067'200;  // 2024-01-01.
constexpr uint64_t kDateSpanSeconds = uint64_t{730} * 86'400;

// Field numbers of itemdb.v1.Item, Attribute, AttributeValue, List and of the requests.
constexpr uint32_t kFirst = 1;
constexpr uint32_t kSecond = 2;
constexpr uint32_t kS = 1;
constexpr uint32_t kN = 2;
constexpr uint32_t kL = 7;
constexpr uint32_t kM = 8;

constexpr char kTable[] = R"pb(
  table_name: "Order"
  billing_mode: BILLING_MODE_PAY_PER_REQUEST
  attribute_definitions { attribute_name: "PK" attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  attribute_definitions { attribute_name: "SK" attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  attribute_definitions { attribute_name: "customer_id" attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  attribute_definitions { attribute_name: "order_date" attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  attribute_definitions { attribute_name: "status" attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  attribute_definitions { attribute_name: "shard" attribute_type: SCALAR_ATTRIBUTE_TYPE_N }
  attribute_definitions { attribute_name: "account_rep_id" attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  attribute_definitions { attribute_name: "product_id" attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  attribute_definitions { attribute_name: "order_id" attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  key_schema { attribute_name: "PK" key_type: KEY_TYPE_HASH }
  key_schema { attribute_name: "SK" key_type: KEY_TYPE_RANGE }
  global_secondary_indexes {
    index_name: "OrderByCustomerDate"
    key_schema { attribute_name: "customer_id" key_type: KEY_TYPE_HASH }
    key_schema { attribute_name: "order_date" key_type: KEY_TYPE_RANGE }
    key_schema { attribute_name: "status" key_type: KEY_TYPE_RANGE }
    projection {
      projection_type: PROJECTION_TYPE_INCLUDE
      non_key_attributes: [ "order_id", "total_amount", "order_items", "shard" ]
    }
  }
  global_secondary_indexes {
    index_name: "OpenOrdersByDate"
    key_schema { attribute_name: "status" key_type: KEY_TYPE_HASH }
    key_schema { attribute_name: "shard" key_type: KEY_TYPE_HASH }
    key_schema { attribute_name: "order_date" key_type: KEY_TYPE_RANGE }
    projection {
      projection_type: PROJECTION_TYPE_INCLUDE
      non_key_attributes: [ "order_id", "customer_id", "account_rep_id", "order_items", "total_amount" ]
    }
  }
  global_secondary_indexes {
    index_name: "OrderByAccountRep"
    key_schema { attribute_name: "account_rep_id" key_type: KEY_TYPE_HASH }
    key_schema { attribute_name: "order_date" key_type: KEY_TYPE_RANGE }
    projection {
      projection_type: PROJECTION_TYPE_INCLUDE
      non_key_attributes: [ "order_id", "customer_id", "status", "total_amount" ]
    }
  }
  global_secondary_indexes {
    index_name: "ProductInOrders"
    key_schema { attribute_name: "product_id" key_type: KEY_TYPE_HASH }
    key_schema { attribute_name: "order_id" key_type: KEY_TYPE_RANGE }
    projection {
      projection_type: PROJECTION_TYPE_INCLUDE
      non_key_attributes: [ "customer_id", "order_date", "quantity" ]
    }
  }
)pb";

// A hash of `order` and `purpose`, evenly distributed (splitmix64's finisher, twice).
uint64_t Random(uint64_t order, uint64_t purpose) {
  uint64_t x = order * 0x9e3779b97f4a7c15ull + purpose;
  for (int round = 0; round < 2; ++round) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    x ^= x >> 31;
  }
  return x;
}

template <typename... Args>
std::string Format(const char* format, Args... args) {
  char text[64];
  int size = std::snprintf(text, sizeof(text), format, args...);
  return std::string(text, size);
}

std::string OrderId(uint64_t order) {
  return Format("ord_%08llx", static_cast<unsigned long long>((order * 2'654'435'761ull) & 0xffffffffull));
}

std::string Date(uint64_t seconds) {
  time_t time = static_cast<time_t>(kFirstDate + seconds);
  tm parts;
  gmtime_r(&time, &parts);
  char text[32];
  size_t size = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, size);
}

std::string Value(uint32_t type, std::string_view content) {
  std::string value;
  wire::AppendBytesField(type, content, &value);
  return value;
}

void AddAttribute(std::string_view name, std::string_view value, std::string* item) {
  std::string attribute;
  wire::AppendBytesField(kFirst, name, &attribute);
  wire::AppendBytesField(kSecond, value, &attribute);
  wire::AppendBytesField(kFirst, attribute, item);
}

// Three products, each with a quantity. Adds their price in cents to `*total_cents`.
std::string OrderLines(uint64_t order, uint64_t* total_cents) {
  std::string lines;
  for (uint64_t line = 0; line < 3; ++line) {
    uint64_t product = Random(order, 10 + line) % kProducts;
    uint64_t quantity = 1 + Random(order, 20 + line) % 10;
    *total_cents += quantity * (100 + product * 7'919 % 9'900);
    std::string members;
    AddAttribute("product_id", Value(kS, Format("prod_%06llu", static_cast<unsigned long long>(product))),
                 &members);
    AddAttribute("qty", Value(kN, Format("%llu", static_cast<unsigned long long>(quantity))), &members);
    wire::AppendBytesField(kFirst, Value(kM, members), &lines);
  }
  return lines;
}

std::string OrderKey(uint64_t order) {
  std::string key;
  std::string id = Value(kS, OrderId(order));
  AddAttribute("PK", id, &key);
  AddAttribute("SK", id, &key);
  return key;
}

std::string Request(std::string_view key_or_item) {
  std::string request;
  wire::AppendBytesField(kFirst, kOrderTable, &request);
  wire::AppendBytesField(kSecond, key_or_item, &request);
  return request;
}

uint64_t Customer(uint64_t order) { return Random(order, 1) % kCustomers; }

std::string Json(const std::string& item) {
  std::string json;
  itemdb::storage::AppendJsonItem(storage::ItemView(item), &json);
  return json;
}

}  // namespace

v1::CreateTableRequest OrderTableRequest() {
  v1::CreateTableRequest request;
  ITEMDB_CHECK(google::protobuf::TextFormat::ParseFromString(kTable, &request));
  return request;
}

std::string OrderItem(uint64_t order) {
  uint64_t customer = Customer(order);
  bool open = Random(order, 2) % 5 == 0;
  uint64_t cents = 0;
  std::string lines = OrderLines(order, &cents);

  std::string item = OrderKey(order);
  AddAttribute("account_rep_id",
               Value(kS, Format("rep_%04llu", static_cast<unsigned long long>(customer % kAccountReps))),
               &item);
  AddAttribute("customer_id", Value(kS, OrderCustomer(order)), &item);
  AddAttribute("order_date", Value(kS, Date(Random(order, 3) % kDateSpanSeconds)), &item);
  AddAttribute("order_items", Value(kL, lines), &item);
  if (open) {
    AddAttribute("shard", Value(kN, Format("%llu", static_cast<unsigned long long>(Random(order, 4) % 5))),
                 &item);
  }
  AddAttribute(
      "ship_to",
      Value(kS, Format("%03llu Main St, SEA", static_cast<unsigned long long>(Random(order, 5) % 1'000))),
      &item);
  AddAttribute("status", Value(kS, open ? "OPEN" : "CLOSED"), &item);
  AddAttribute("total_amount",
               Value(kN, Format("%llu.%02llu", static_cast<unsigned long long>(cents / 100),
                                static_cast<unsigned long long>(cents % 100))),
               &item);
  return item;
}

std::string PutOrderRequest(uint64_t order) { return Request(OrderItem(order)); }
std::string GetOrderRequest(uint64_t order) { return Request(OrderKey(order)); }

std::string OrderItemJson(uint64_t order) { return Json(OrderItem(order)); }
std::string OrderKeyJson(uint64_t order) { return Json(OrderKey(order)); }
std::string OrderCustomer(uint64_t order) {
  return Format("cust_%07llu", static_cast<unsigned long long>(Customer(order)));
}

Requests Requests::Puts(uint64_t count) {
  Requests puts;
  puts.operations_ = count;
  for (uint64_t order = 0; order < count; ++order) puts.requests_.push_back(PutOrderRequest(order));
  return puts;
}

Requests Requests::Gets(uint64_t orders) {
  Requests gets;
  gets.operations_ = UINT64_MAX;
  gets.random_ = true;
  for (uint64_t order = 0; order < orders; ++order) gets.requests_.push_back(GetOrderRequest(order));
  return gets;
}

uint64_t Requests::order(uint64_t operation) const {
  return random_ ? Random(operation, 0) % requests_.size() : operation;
}

}  // namespace itemdb::bench
