#include "tools/moving/side.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "itemdb/bulk_writer.h"
#include "itemdb/errors.h"
#include "itemdb/json_call.h"
#include "tools/base/exit_codes.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

// The reason of LimitExceededException: DynamoDB allows five GetRecords of a shard in a second.
constexpr char kStreamsThrottled[] = "LIMIT_EXCEEDED";
constexpr absl::Duration kThrottledStreamPause = absl::Milliseconds(200);

absl::Status RefusedWrite(const std::string& side, const RejectedWrite& rejected) {
  const auto* put = std::get_if<BatchPut>(&rejected.write);
  const auto* remove = std::get_if<BatchDelete>(&rejected.write);
  const Item& shown = put != nullptr ? put->item : remove->key;
  std::string text = OneLine(ItemToJson(shown, ItemForm::kTyped));
  if (text.size() > 500) text = text.substr(0, 500) + "...";
  return absl::InvalidArgumentError(side + " refuses an item of table " +
                                    (put != nullptr ? put->table_name : remove->table_name) + " (" +
                                    rejected.reason + ": " + rejected.message + "): " + text);
}

// Whether a writer with a pass met another fence, or none.
bool IsShutOut(const absl::Status& status) {
  return ReasonOf(status) == kReasonTableMoving || ReasonOf(status) == kReasonTableMoved ||
         absl::IsInvalidArgument(status);
}

std::string AdviceFor(const absl::Status& error) {
  const auto says = [&](std::string_view words) {
    return std::string(error.message()).find(words) != std::string::npos;
  };
  if (absl::IsUnauthenticated(error) && (says("Signature expired") || says("Signature not yet current")))
    return "the clock of this machine or of that side is wrong: set it, then run the same command again";
  if (absl::IsUnauthenticated(error) || absl::IsPermissionDenied(error))
    return "run the same command again with credentials that it takes";
  if (ReasonOf(error) == kReasonDiskFull)
    return "its disk is full: make room there, then run the same command again";
  if (MayPass(error)) return "run the same command again when it answers";
  return "";
}

}  // namespace

absl::StatusOr<std::optional<TableDescription>> Side::FindTable(const std::string& table_name) const {
  absl::StatusOr<TableResult> described = Try([&] { return client_.DescribeTable(table_name, call()); });
  if (absl::IsNotFound(described.status())) return std::nullopt;
  ITEMDB_RETURN_IF_ERROR(described.status());
  return std::move(described->table);
}

absl::StatusOr<std::vector<std::string>> Side::TableNames() const {
  std::vector<std::string> names;
  ListTablesRequest request;
  while (true) {
    ITEMDB_ASSIGN_OR_RETURN(ListTablesResult page, Try([&] { return client_.ListTables(request, call()); }));
    names.insert(names.end(), page.table_names.begin(), page.table_names.end());
    if (!page.last_evaluated_table_name.has_value()) return names;
    request.exclusive_start_table_name = *page.last_evaluated_table_name;
  }
}

absl::StatusOr<ItemPage> Side::ScanPage(const std::string& table_name, int segment, int segments,
                                        const std::optional<Item>& after) const {
  ScanRequest request{.table_name = table_name, .exclusive_start_key = after, .consistent_read = true};
  if (segments > 1) {
    request.segment = segment;
    request.total_segments = segments;
  }
  return Try([&] { return client_.Scan(request, call()); });
}

absl::StatusOr<std::vector<std::optional<Item>>> Side::GetItems(const std::string& table_name,
                                                                const std::vector<Item>& keys) const {
  const BatchGetItemRequest request{
      .request_items = {{.table_name = table_name, .keys = keys, .consistent_read = true}}};
  ITEMDB_ASSIGN_OR_RETURN(BatchGetItemResult result,
                          Try([&] { return client_.BatchGetItem(request, call()); }));
  return std::move(result.tables.front().items);
}

absl::Status Side::WriteItems(const std::vector<BatchWrite>& writes, Pace& pace) const {
  if (writes.empty()) return absl::OkStatus();
  const auto items = static_cast<int64_t>(writes.size());
  const absl::Time called = absl::Now();
  absl::Status last;
  absl::Status result = Try([&] {
    pace.Begin(items);
    // Calls that wait for their turn need not each find out that the side is away for too long.
    last = GivenUpSince(called);
    if (!last.ok()) {
      pace.End(items, absl::InfiniteDuration(), /*was_refused=*/true);
      return last;
    }
    const absl::Time begin = absl::Now();
    last = WriteOnce(writes);
    pace.End(items, absl::Now() - begin, absl::IsResourceExhausted(last));
    return last;
  });
  if (MayPass(result)) GiveUp(last);
  return result;
}

absl::StatusOr<JsonValue> Side::CallStreams(std::string_view operation, const JsonValue& request) const {
  const JsonCall sent{.target = "DynamoDBStreams_20120810." + std::string(operation),
                      .body = OneLine(request)};
  ITEMDB_ASSIGN_OR_RETURN(const std::string reply, Try([&]() -> absl::StatusOr<std::string> {
                            absl::StatusOr<std::string> answer = CallJson(streams_, sent, call());
                            if (ReasonOf(answer.status()) != kStreamsThrottled) return answer;
                            // Of streams it means too many calls in a second, which passes.
                            absl::SleepFor(kThrottledStreamPause);
                            return absl::UnavailableError(answer.status().message());
                          }));
  absl::StatusOr<JsonValue> json = ParseJson(reply);
  if (!json.ok())
    return absl::DataLossError(name_ + " answers " + std::string(operation) +
                               " with what is no JSON: " + std::string(json.status().message()));
  return json;
}

void Side::GiveUp(const absl::Status& error) const {
  std::lock_guard<std::mutex> lock(mutex_);
  given_up_time_ = absl::Now();
  given_up_ = error;
}

absl::Status Side::GivenUpSince(absl::Time begin) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return given_up_time_ > begin ? given_up_ : absl::OkStatus();
}

absl::Status Side::Named(const absl::Status& error) const {
  const std::string advice = AdviceFor(error);
  absl::Status named = WithWords(name_ + " " + endpoint(), error, advice.empty() ? "" : " (" + advice + ")");
  if (!advice.empty()) named.SetPayload(kAdvisedPayload, absl::Cord());
  return named;
}

void Side::SayThatItWaits(const absl::Status& error, absl::Duration waited) const {
  constexpr absl::Duration kNotWorthALine = absl::Seconds(5);
  constexpr absl::Duration kBetweenLines = absl::Seconds(10);
  if (waited < kNotWorthALine || !say_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (absl::Now() - last_said_ < kBetweenLines) return;
  last_said_ = absl::Now();
  say_(absl::StrFormat("waiting for %s %s for %d s, at most for %d s: %s", name_, endpoint(),
                       absl::ToInt64Seconds(waited), absl::ToInt64Seconds(patience_.longest()),
                       std::string(error.message())));
}

absl::Status Side::WriteOnce(const std::vector<BatchWrite>& writes) const {
  // Patience repeats it, and not for longer than it is.
  CallOptions once = call();
  once.retry = RetryOptions{.max_attempts = 1};
  BulkWriter writer(client_, {.call = std::move(once), .fence_pass = fence_pass_});
  for (const BatchWrite& write : writes) {
    const auto* put = std::get_if<BatchPut>(&write);
    ITEMDB_RETURN_IF_ERROR(put != nullptr ? writer.Put(put->table_name, put->item)
                                          : writer.Delete(std::get<BatchDelete>(write).table_name,
                                                          std::get<BatchDelete>(write).key));
  }
  const absl::StatusOr<BulkWriteResult> result = writer.Finish();
  if (!fence_pass_.empty() && IsShutOut(result.status()))
    return absl::FailedPreconditionError(
        "this run's fence is not there any more: another run of this command goes on with the move, or has "
        "ended it");
  ITEMDB_RETURN_IF_ERROR(result.status());
  if (!result->rejected.empty()) return RefusedWrite(name_, result->rejected.front());
  return absl::OkStatus();
}

}  // namespace itemdb::tools
