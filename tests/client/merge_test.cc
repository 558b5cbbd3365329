#include "client/modelling/merge.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>

#include <gtest/gtest.h>

#include "client/errors_internal.h"

namespace itemdb {
namespace {

Item Dated(const std::string& date, const std::string& id) {
  return {{"order_date", date}, {"order_id", id}};
}

// Serves `items` in pages of `page_items` and counts the fetches. The start key contains the index of the
// next item.
FetchPage Pages(std::vector<Item> items, size_t page_items,
                std::shared_ptr<std::atomic<int>> fetches = nullptr) {
  return [=](const std::optional<Item>& start) -> absl::StatusOr<ItemPage> {
    if (fetches != nullptr) ++*fetches;
    const size_t from = start.has_value() ? *start->find_or_null("next")->number_or_null()->ToInt64() : 0;
    const size_t to = std::min(from + page_items, items.size());
    ItemPage page;
    page.items.assign(items.begin() + from, items.begin() + to);
    if (to < items.size()) page.last_evaluated_key = Item{{"next", to}};
    return page;
  };
}

TEST(MergePages, GivesAllItemsInOrderForEveryPageSize) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (size_t page_items = 1; page_items <= 8; ++page_items) {
    std::vector<Item> expected;
    std::vector<FetchPage> sources;
    int id = 0;
    for (int source = 0; source < 5; ++source) {
      std::vector<Item> items;
      for (size_t count = random() % 20; items.size() < count;) {
        items.push_back(Dated("2025-01-" + std::to_string(10 + random() % 20), std::to_string(1'000 + id++)));
      }
      const auto before = [](const Item& a, const Item& b) {
        return std::pair(*a.find_or_null("order_date")->string_or_null(),
                         *a.find_or_null("order_id")->string_or_null()) <
               std::pair(*b.find_or_null("order_date")->string_or_null(),
                         *b.find_or_null("order_id")->string_or_null());
      };
      std::sort(items.begin(), items.end(), before);
      expected.insert(expected.end(), items.begin(), items.end());
      std::sort(expected.begin(), expected.end(), before);
      sources.push_back(Pages(std::move(items), page_items));
    }
    const absl::StatusOr<std::vector<Item>> merged =
        MergePages(std::move(sources), {.attributes = {"order_date", "order_id"}}).ToVector();
    ASSERT_TRUE(merged.ok()) << merged.status();
    EXPECT_EQ(*merged, expected);
  }
}

TEST(MergePages, PassesOverEmptyPagesInTheMiddle) {
  FetchPage source = [call = 0](const std::optional<Item>&) mutable -> absl::StatusOr<ItemPage> {
    ItemPage page;
    ++call;
    if (call == 2) page.items = {Dated("2025-01-01", "a")};
    if (call < 4) page.last_evaluated_key = Item{{"call", call}};
    return page;
  };
  std::vector<FetchPage> sources;
  sources.push_back(std::move(source));
  const absl::StatusOr<std::vector<Item>> merged =
      MergePages(std::move(sources), {.attributes = {"order_date"}}).ToVector();
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->size(), 1u);
}

// Open orders are read with five parallel queries (SEED-019). Each fetch waits until all five have started,
// so the test would hang if they ran one after another.
TEST(MergePages, FetchesTheFirstPagesInParallel) {
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    int arrived = 0;
  };
  auto meeting = std::make_shared<Meeting>();
  std::vector<FetchPage> sources;
  for (int i = 0; i < 5; ++i) {
    sources.push_back([meeting, i](const std::optional<Item>&) -> absl::StatusOr<ItemPage> {
      std::unique_lock lock(meeting->mutex);
      ++meeting->arrived;
      meeting->changed.notify_all();
      if (!meeting->changed.wait_for(lock, std::chrono::seconds(20), [&] { return meeting->arrived == 5; })) {
        return absl::DeadlineExceededError("the other sources were not fetched meanwhile");
      }
      ItemPage page;
      page.items = {Dated("2025-01-0" + std::to_string(5 - i), "x")};
      return page;
    });
  }
  const absl::StatusOr<std::vector<Item>> merged =
      MergePages(std::move(sources), {.attributes = {"order_date"}}).ToVector();
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->front(), Dated("2025-01-01", "x"));
}

TEST(MergePages, FetchesNothingBeforeItIsAskedAndLittleWhenStoppedEarly) {
  auto fetches = std::make_shared<std::atomic<int>>(0);
  std::vector<Item> items;
  for (int i = 0; i < 1'000; ++i) items.push_back(Dated("2025-01-01", std::to_string(10'000 + i)));
  {
    std::vector<FetchPage> sources;
    for (int i = 0; i < 3; ++i) sources.push_back(Pages(items, 10, fetches));
    ItemRange merged = MergePages(std::move(sources), {.attributes = {"order_date", "order_id"}});
    EXPECT_EQ(*fetches, 0);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(merged.Next().ok());
  }
  EXPECT_EQ(*fetches, 3);
}

TEST(MergePages, EndsWithTheErrorOfAnySource) {
  std::vector<FetchPage> sources;
  const absl::Status gone = MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "gone");
  sources.push_back(Pages({Dated("2025-01-01", "a"), Dated("2025-01-03", "c")}, 1));
  sources.push_back([gone](const std::optional<Item>& start) -> absl::StatusOr<ItemPage> {
    if (start.has_value()) return gone;
    ItemPage page;
    page.items = {Dated("2025-01-02", "b")};
    page.last_evaluated_key = Item{{"x", 1}};
    return page;
  });
  ItemRange merged = MergePages(std::move(sources), {.attributes = {"order_date"}});
  size_t seen = 0;
  for (const Item& item : merged) seen += item.size() > 0 ? 1 : 0;
  EXPECT_EQ(seen, 2u);
  EXPECT_EQ(merged.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(merged.Next().status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace itemdb
