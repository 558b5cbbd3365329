// The order-entry application over HTTP: the same answers as over gRPC.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "itemdb/client.h"
#include "itemdb/errors.h"
#include "itemdb/order_entry.h"
#include "tests/client/http/call_text.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::order_entry {
namespace {

// An itemd of its own for each transport, because the tables have fixed names.
struct Side {
  explicit Side(bool is_http) {
    const absl::Status started = daemon.Start({"--http-listen", "127.0.0.1:0"});
    EXPECT_TRUE(started.ok()) << started;
    client = *Client::Open({.endpoint = is_http ? "http://" + daemon.http_endpoint() : daemon.endpoint()});
  }

  std::string Run(const AccessPattern& pattern) {
    absl::StatusOr<ItemRange> range = RunPattern(*client, pattern, {});
    if (!range.ok()) return TextOf(range.status());
    const absl::StatusOr<std::vector<Item>> items = range->ToVector();
    return TextOf(items.status()) + TextOf(items.value_or(std::vector<Item>()));
  }

  std::string RunAll() {
    std::string text;
    for (const AccessPattern& pattern : AccessPatterns())
      text += std::to_string(pattern.number) + " " + Run(pattern) + "\n";
    return text;
  }

  testing::TemporaryDirectory directory;
  e2e::DaemonProcess daemon{directory.path()};
  std::optional<Client> client;
};

TEST(OrderEntryOverHttp, FifteenPatternsAndTheWritesAnswerAsOverGrpc) {
  Side grpc(/*is_http=*/false);
  Side http(/*is_http=*/true);
  const auto compare = [&](const std::string& what, const auto& operation) {
    const std::string expected = operation(grpc);
    EXPECT_EQ(operation(http), expected) << what;
    return expected;
  };
  for (Side* side : {&grpc, &http}) {
    ASSERT_TRUE(CreateTables(*side->client).ok());
    const absl::StatusOr<LoadResult> loaded = Load(*side->client);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
  }
  const std::string answers = compare("patterns", [](Side& side) { return side.RunAll(); });
  // 15 patterns, none without an item.
  EXPECT_EQ(std::count(answers.begin(), answers.end(), 'O') > 15, true);
  EXPECT_EQ(answers.find("OK\n\n"), std::string::npos);

  const NewOrder order{
      .order_id = "ord_100",
      .customer_id = "cust_001",
      .order_date = "2026-02-01",
      .account_rep_id = "emp_003",
      .lines = {{.product_id = "prod_100", .quantity = 3, .price = 7, .warehouse_id = "wh_sea"}}};
  const auto place = [](Side& side, const NewOrder& placed) {
    return TextOf(PlaceOrder(*side.client, placed).status());
  };
  EXPECT_EQ(compare("PlaceOrder", [&](Side& side) { return place(side, order); }), "OK");
  compare("PlaceOrder again", [&](Side& side) { return place(side, order); });
  NewOrder large = order;
  large.order_id = "ord_101";
  large.lines[0].quantity = 100'000;
  EXPECT_NE(compare("PlaceOrder without stock", [&](Side& side) { return place(side, large); })
                .find("OUT_OF_STOCK"),
            std::string::npos);
  compare("CloseOrder", [](Side& side) { return TextOf(CloseOrder(*side.client, "ord_100").status()); });
  compare("CloseOrder again",
          [](Side& side) { return TextOf(CloseOrder(*side.client, "ord_100").status()); });
  compare("CloseOrder of none",
          [](Side& side) { return TextOf(CloseOrder(*side.client, "ord_999").status()); });
  compare("MoveStock", [](Side& side) {
    return TextOf(MoveStock(*side.client, {"prod_100", "wh_sea", "wh_new", 4}).status());
  });
  compare("MoveStock without stock", [](Side& side) {
    return TextOf(MoveStock(*side.client, {"prod_100", "wh_new", "wh_sea", 5}).status());
  });
  compare("Restock", [](Side& side) {
    return TextOf(Restock(*side.client, {"prod_100", "wh_new", 6}).status());
  });
  compare("Restock of none", [](Side& side) {
    return TextOf(Restock(*side.client, {"prod_999", "wh_new", 6}).status());
  });
  compare("patterns after the writes", [](Side& side) { return side.RunAll(); });
}

}  // namespace
}  // namespace itemdb::order_entry
