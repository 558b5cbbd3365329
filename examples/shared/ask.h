// Shared by the example programs: sends the one request for a question, prints request, cost and items found.
#pragma once

#include <itemdb/client.h>
#include <itemdb/sharding.h>

#include <iostream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace example {

// The request for a question. Only a sharded query is more than one request: one per shard.
using Request = std::variant<itemdb::GetItemRequest, itemdb::QueryRequest, itemdb::ShardedQuery>;

struct Answer {
  std::vector<itemdb::Item> items = {};
  // The number of requests sent.
  int requests = 0;
  // The request in one line, for people.
  std::string asked = {};
  // Items read, and their bytes, which nothing tells over HTTP; only for a single Query.
  int64_t scanned = 0;
  int64_t bytes = 0;
};

// Sends the request once. OUT_OF_RANGE: the answer has further pages, and the request has no limit.
absl::StatusOr<Answer> Ask(const itemdb::Client& client, const Request& request);

// For example {"id": "a", "n": 5, "tags": ["x"]}. For people: a binary value is shown by its size.
std::string ToJson(const itemdb::Item& item);

// Need returns the value in `result`; an error is printed and ends the program.
[[noreturn]] void Fail(const absl::Status& status);
template <typename T>
T Need(absl::StatusOr<T> result) {
  if (!result.ok()) Fail(result.status());
  return *std::move(result);
}
inline void Need(const absl::Status& status) {
  if (!status.ok()) Fail(status);
}

// Prints the question, the request and the answer, and returns the items.
std::vector<itemdb::Item> Show(const itemdb::Client& client, std::string_view question,
                               const Request& request);
// The same in parts, for questions that need several requests.
void ShowQuestion(std::string_view question);
void ShowRequest(const Answer& answer);
void ShowItems(const std::vector<itemdb::Item>& items);

}  // namespace example
