// What the example programs share: to ask a question by one request, and to show what was asked, what that
// took and what it found.
#pragma once

#include <itemdb/client.h>
#include <itemdb/sharding.h>

#include <iostream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace example {

// What a question may be asked with. Only a sharded query is more than one request: one a shard.
using Request = std::variant<itemdb::GetItemRequest, itemdb::QueryRequest, itemdb::ShardedQuery>;

struct Answer {
  std::vector<itemdb::Item> items = {};
  // Sent for it.
  int requests = 0;
  // The request in a line, for people.
  std::string asked = {};
  // Items looked at, and their bytes; of a single Query only.
  int64_t scanned = 0;
  int64_t bytes = 0;
};

// Asks exactly once: OUT_OF_RANGE when the answer has further pages that the request did not ask for by a
// limit.
absl::StatusOr<Answer> Ask(const itemdb::Client& client, const Request& request);

// {"id": "a", "n": 5, "tags": ["x"]}: for people, so binary is shown as its size.
std::string ToJson(const itemdb::Item& item);

// What is inside, or the end of the program with what went wrong.
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
// The same in parts, for questions that take several requests.
void ShowQuestion(std::string_view question);
void ShowRequest(const Answer& answer);
void ShowItems(const std::vector<itemdb::Item>& items);

}  // namespace example
