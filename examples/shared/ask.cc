#include "shared/ask.h"

#include <cstdlib>
#include <utility>

namespace example {
namespace {

using itemdb::Client;
using itemdb::GetItemRequest;
using itemdb::GetItemResult;
using itemdb::Item;
using itemdb::ItemPage;
using itemdb::QueryRequest;
using itemdb::ShardedQuery;

absl::StatusOr<Answer> AskFor(const Client& client, const GetItemRequest& request) {
  absl::StatusOr<GetItemResult> got = client.GetItem(request);
  if (!got.ok()) return got.status();
  Answer answer{.requests = 1, .asked = "GetItem " + request.table_name + " " + ToJson(request.key)};
  if (got->item.has_value()) answer.items.push_back(*std::move(got->item));
  return answer;
}

std::string Asked(const QueryRequest& request) {
  return "Query " + request.table_name + (request.index_name.empty() ? "" : ", index " + request.index_name);
}

absl::StatusOr<Answer> AskFor(const Client& client, QueryRequest request) {
  request.explain = true;
  absl::StatusOr<ItemPage> page = client.Query(request);
  // DynamoDB's HTTP protocol has no plans.
  if (absl::IsUnimplemented(page.status())) {
    request.explain = false;
    page = client.Query(request);
  }
  if (!page.ok()) return page.status();
  if (page->last_evaluated_key.has_value() && !request.limit.has_value()) {
    return absl::OutOfRangeError("the answer to " + Asked(request) + " is longer than a page");
  }
  return Answer{.items = std::move(page->items),
                .requests = 1,
                .asked = Asked(request) + ": " +
                         (page->plan.has_value() ? page->plan->key_range : request.key_condition_expression),
                .scanned = page->scanned_count,
                .bytes = page->plan.has_value() ? page->plan->bytes_read : 0};
}

absl::StatusOr<Answer> AskFor(const Client& client, const ShardedQuery& query) {
  absl::StatusOr<std::vector<Item>> items = itemdb::QueryShards(client, query).ToVector();
  if (!items.ok()) return items.status();
  return Answer{.items = *std::move(items),
                .requests = static_cast<int>(query.shards.size()),
                .asked = Asked(query.request) + ", of each shard, merged"};
}

std::string Enclosed(char open, const std::string& text, char close) { return open + text + close; }

std::string Quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return Enclosed('"', quoted, '"');
}

template <typename Range, typename Format>
std::string Joined(const Range& range, const Format& format) {
  std::string joined;
  for (const auto& element : range) joined += (joined.empty() ? "" : ", ") + format(element);
  return joined;
}

std::string ValueToJson(const itemdb::Value& value) {
  if (const auto* text = value.string_or_null()) return Quoted(*text);
  if (const auto* number = value.number_or_null()) return number->text();
  if (const auto* yes = value.bool_or_null()) return *yes ? "true" : "false";
  if (const auto* map = value.map_or_null()) return ToJson(*map);
  if (const auto* list = value.list_or_null()) return Enclosed('[', Joined(*list, ValueToJson), ']');
  if (const auto* texts = value.string_set_or_null()) return Enclosed('[', Joined(*texts, Quoted), ']');
  if (value.is_null()) return "null";
  return Quoted(itemdb::TypeName(value.type()));
}

}  // namespace

absl::StatusOr<Answer> Ask(const Client& client, const Request& request) {
  return std::visit([&](const auto& r) { return AskFor(client, r); }, request);
}

std::string ToJson(const Item& item) {
  const auto member = [](const itemdb::Attribute& attribute) {
    return Quoted(attribute.name) + ": " + ValueToJson(attribute.value);
  };
  return Enclosed('{', Joined(item, member), '}');
}

void Fail(const absl::Status& status) {
  std::cerr << status.message() << "\n";
  std::exit(1);
}

void ShowQuestion(std::string_view question) { std::cout << question << "\n"; }

void ShowRequest(const Answer& answer) {
  std::cout << "   " << answer.asked << " (" << answer.requests
            << (answer.requests == 1 ? " request" : " requests");
  if (answer.scanned > 0) {
    std::cout << ", " << answer.scanned << (answer.scanned == 1 ? " item read" : " items read");
  }
  std::cout << ")\n";
}

void ShowItems(const std::vector<Item>& items) {
  for (const Item& item : items) std::cout << "   " << ToJson(item) << "\n";
}

std::vector<Item> Show(const Client& client, std::string_view question, const Request& request) {
  Answer answer = Need(Ask(client, request));
  ShowQuestion(question);
  ShowRequest(answer);
  ShowItems(answer.items);
  return std::move(answer.items);
}

}  // namespace example
