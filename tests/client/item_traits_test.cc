// Conversion of structs to items and back, with the examples of the header.
#include "itemdb/item_traits.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/fake_daemon.h"

struct Product {
  std::string product_id;
  int64_t stock = 0;
  std::optional<std::string> note;
};

template <>
struct itemdb::ItemTraits<Product> {
  static itemdb::Item ToItem(const Product& product) {
    return itemdb::ItemBuilder()
        .With("product_id", product.product_id)
        .With("stock", product.stock)
        .With("note", product.note)  // Left out if it is empty.
        .Build();
  }
  static absl::StatusOr<Product> FromItem(const itemdb::Item& item) {
    Product product;
    itemdb::ItemReader reader(item);
    reader.Read("product_id", product.product_id).Read("stock", product.stock).Read("note", product.note);
    return reader.Finish(std::move(product));
  }
};

// Every kind of member.
struct Everything {
  std::string text;
  bool flag = false;
  int8_t small = 0;
  uint32_t positive = 0;
  itemdb::Number exact;
  itemdb::Value any;
  std::vector<std::string> list;
  std::map<std::string, int> map;
  std::vector<Product> products;
  std::optional<Product> inner;
};

template <>
struct itemdb::ItemTraits<Everything> {
  static itemdb::Item ToItem(const Everything& e) {
    return itemdb::ItemBuilder()
        .With("text", e.text)
        .With("flag", e.flag)
        .With("small", e.small)
        .With("positive", e.positive)
        .With("exact", e.exact)
        .With("any", e.any)
        .With("list", e.list)
        .With("map", e.map)
        .With("products", e.products)
        .With("inner", e.inner)
        .With("literal", "kept")
        .Build();
  }
  static absl::StatusOr<Everything> FromItem(const itemdb::Item& item) {
    Everything e;
    itemdb::ItemReader reader(item);
    reader.Read("text", e.text).Read("flag", e.flag).Read("small", e.small).Read("positive", e.positive);
    reader.Read("exact", e.exact).Read("any", e.any).Read("list", e.list).Read("map", e.map);
    reader.Read("products", e.products).Read("inner", e.inner);
    return reader.Finish(std::move(e));
  }
};

namespace itemdb {
namespace {

TEST(ItemTraits, EveryKindOfMemberComesBack) {
  const Everything everything{.text = "t",
                              .flag = true,
                              .small = -128,
                              .positive = std::numeric_limits<uint32_t>::max(),
                              .exact = *Number::Parse("12345678901234567890123456789012345.678"),
                              .any = Value::NumberSet({1, 2}),
                              .list = {"a", "b"},
                              .map = {{"x", 1}},
                              .products = {{.product_id = "p", .stock = 3, .note = std::nullopt}},
                              .inner = Product{.product_id = "q", .stock = 4, .note = "n"}};
  const Item item = ToItem(everything);
  const absl::StatusOr<Everything> back = FromItem<Everything>(item);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(ToItem(*back), item);
  EXPECT_EQ(back->exact, everything.exact);
  EXPECT_EQ(back->inner->note, "n");
  EXPECT_FALSE(back->products[0].note.has_value());
  EXPECT_EQ(*item.find_or_null("literal")->string_or_null(), "kept");
}

TEST(ItemTraits, WhatDoesNotFitNamesTheAttribute) {
  struct Case {
    Item item;
    std::string expected;
  };
  const Case cases[] = {
      {{{"product_id", "p"}}, "attribute stock is missing"},
      {{{"product_id", 5}, {"stock", 1}}, "attribute product_id is of type N, not S"},
      {{{"product_id", "p"}, {"stock", *Number::Parse("1.5")}}, "attribute stock is 1.5"},
      {{{"product_id", "p"}, {"stock", *Number::Parse("1e30")}}, "attribute stock is 1e30"},
      {{{"product_id", "p"}, {"stock", 1}, {"note", true}}, "attribute note is of type BOOL, not S"},
  };
  for (const Case& c : cases) {
    const absl::Status status = FromItem<Product>(c.item).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(ReasonOf(status), kReasonUnexpectedItem);
    EXPECT_NE(std::string(status.message()).find(c.expected), std::string::npos) << status;
  }
  int8_t small = 0;
  const Item item{{"n", 128}};
  EXPECT_FALSE(ItemReader(item).Read("n", small).status().ok());
}

struct Shelf {
  std::string id;
  std::vector<Product> products;
  std::optional<int> level;
  std::map<std::string, bool> flags;
  Number weight;
};
struct Nothing {};
// As many members as fit easily in a line, to see that each is expanded.
struct Wide {
  int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0, l = 0, m = 0, n = 0, o = 0,
      p = 0;
};

}  // namespace
}  // namespace itemdb

ITEMDB_ITEM(itemdb::Shelf, (id, "PK"), products, (level, "Level"), flags, weight)
ITEMDB_ITEM(itemdb::Nothing)
ITEMDB_ITEM(itemdb::Wide, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, (p, "last"))

namespace itemdb {
namespace {

TEST(ItemMacro, IsItemTraitsInALine) {
  const Shelf shelf = {.id = "s1",
                       .products = {{.product_id = "saw", .stock = 2, .note = "sharp"}},
                       .level = std::nullopt,
                       .flags = {{"locked", true}},
                       .weight = *Number::Parse("1.50")};
  const Item item = ToItem(shelf);
  EXPECT_EQ(
      item,
      (Item{{"PK", "s1"},
            {"products", Value::List({Value::Map({{"product_id", "saw"}, {"stock", 2}, {"note", "sharp"}})})},
            {"flags", Value::Map({{"locked", true}})},
            {"weight", *Number::Parse("1.5")}}));
  absl::StatusOr<Shelf> read = FromItem<Shelf>(item);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToItem(*read), item);
  EXPECT_FALSE(read->level.has_value());

  const absl::Status missing = FromItem<Shelf>(Item{{"PK", "s1"}}).status();
  EXPECT_EQ(ReasonCodeOf(missing), Reason::kUnexpectedItem);
  EXPECT_NE(missing.message().find("products"), absl::string_view::npos) << missing;

  EXPECT_TRUE(ToItem(Nothing()).empty());
  EXPECT_TRUE(FromItem<Nothing>(Item{{"more", 1}}).ok());
  EXPECT_EQ(ToItem(Wide{.a = 1, .p = 16})["last"], 16);
  EXPECT_EQ(ToItem(Wide()).size(), 16u);
}

TEST(ItemTraits, TypedOperationsPutAndGet) {
  FakeDaemon daemon;
  v1::Item stored;
  daemon.put_item = [&](const v1::PutItemRequest& request, v1::PutItemReply* reply) {
    stored = request.item();
    reply->mutable_result();
    return grpc::Status::OK;
  };
  daemon.get_item = [&](const v1::GetItemRequest& request, v1::GetItemReply* reply) {
    if (request.table_name() == "Product") *reply->mutable_item() = stored;
    return grpc::Status::OK;
  };
  Client client = *Client::Open({.endpoint = daemon.endpoint()});
  ASSERT_TRUE(PutItemAs(client, "Product", Product{.product_id = "p", .stock = 7, .note = {}}).ok());
  const absl::StatusOr<std::optional<Product>> got =
      GetItemAs<Product>(client, {.table_name = "Product", .key = {{"product_id", "p"}}});
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_TRUE(got->has_value());
  EXPECT_EQ((*got)->stock, 7);
  const absl::StatusOr<std::optional<Product>> none =
      GetItemAs<Product>(client, {.table_name = "x", .key = {}});
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
}

}  // namespace
}  // namespace itemdb
