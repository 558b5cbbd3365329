#include "client/http/json_exchange.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "client/http/typed_exchange.h"
#include "client/json_method.h"
#include "itemdb/v1/data.pb.h"
#include "protocol/exceptions.h"

namespace itemdb {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

std::string TextOf(const object& members, std::string_view name) {
  std::string_view text;
  return members.at_key(name).get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

// ---- outcomes: what gRPC answers in a reply and the service by an exception

// Reads the item of an exception or of one of its reasons.
absl::Status ReadItem(const object& members, const auto& mutable_item) {
  object item;
  if (members.at_key("Item").get(item) != simdjson::SUCCESS) return absl::OkStatus();
  v1::ConditionFailed read;
  ITEMDB_RETURN_IF_ERROR(ReadJsonMessage(members, &read));
  mutable_item()->Swap(read.mutable_item());
  return absl::OkStatus();
}

bool IsConditionFailed(const JsonError* error) {
  return error != nullptr && error->name == "ConditionalCheckFailedException";
}

bool IsCancelled(const JsonError* error) {
  return error != nullptr && error->name == "TransactionCanceledException";
}

v1::CancellationCode CancellationCodeOf(std::string_view code) {
  static constexpr std::pair<std::string_view, v1::CancellationCode> kCodes[] = {
      {"None", v1::CANCELLATION_CODE_NONE},
      {"ConditionalCheckFailed", v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED},
      {"ValidationError", v1::CANCELLATION_CODE_VALIDATION_ERROR},
      {"ItemCollectionSizeLimitExceeded", v1::CANCELLATION_CODE_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED},
      {"DuplicateItem", v1::CANCELLATION_CODE_DUPLICATE_ITEM},
  };
  for (const auto& [text, value] : kCodes)
    if (text == code) return value;
  return v1::CANCELLATION_CODE_UNSPECIFIED;
}

absl::Status ReadCancelled(const JsonError& error, v1::TransactionCancelled* cancelled) {
  simdjson::dom::array reasons;
  if (error.body.at_key("CancellationReasons").get(reasons) != simdjson::SUCCESS) return absl::OkStatus();
  for (const element one : reasons) {
    object given;
    if (one.get(given) != simdjson::SUCCESS) continue;
    v1::CancellationReason* reason = cancelled->add_reasons();
    const std::string code = TextOf(given, "Code");
    reason->set_code(CancellationCodeOf(code));
    reason->set_message(TextOf(given, "Message"));
    // The code is then known from the message only: TransactionConflict, ThrottlingError, ...
    if (reason->code() == v1::CANCELLATION_CODE_UNSPECIFIED)
      reason->set_message(reason->message().empty() ? code : code + ": " + reason->message());
    ITEMDB_RETURN_IF_ERROR(ReadItem(given, [reason] { return reason->mutable_item(); }));
  }
  return absl::OkStatus();
}

// Whether nothing but other transactions or a throttle was in the way: then sending the transaction again
// helps.
bool IsWorthRepeating(const v1::TransactionCancelled& cancelled) {
  bool is_busy = false;
  for (const v1::CancellationReason& reason : cancelled.reasons()) {
    if (reason.code() == v1::CANCELLATION_CODE_NONE) continue;
    const std::string_view message = reason.message();
    if (!message.starts_with("TransactionConflict") && !message.starts_with("ThrottlingError") &&
        !message.starts_with("ProvisionedThroughputExceeded"))
      return false;
    is_busy = true;
  }
  return is_busy;
}

// The reply to a transaction that `error` has cancelled.
template <typename Reply>
absl::StatusOr<JsonStep> CancelledReply(const JsonError& error) {
  Reply reply;
  ITEMDB_RETURN_IF_ERROR(ReadCancelled(error, reply.mutable_cancelled()));
  if (IsWorthRepeating(reply.cancelled())) {
    return MakeError(absl::StatusCode::kResourceExhausted, "TRANSACTION_CONFLICT", error.message,
                     /*retry_after_ms=*/20);
  }
  return JsonStep(reply.SerializeAsString());
}

// ---- items

constexpr std::string_view kNoToken =
    "a request token for a single write or a batch (CallOptions::idempotent, client_request_token): a write "
    "in "
    "TransactWriteItems has one";

template <typename Request, typename Reply>
class WriteExchange : public TypedExchange<Request, Reply> {
 public:
  using TypedExchange<Request, Reply>::TypedExchange;

  absl::StatusOr<JsonStep> Fail(absl::Status status, const JsonError* error) override {
    if (!IsConditionFailed(error)) return status;
    Reply reply;
    v1::ConditionFailed* failed = reply.mutable_condition_failed();
    ITEMDB_RETURN_IF_ERROR(ReadItem(error->body, [failed] { return failed->mutable_item(); }));
    return JsonStep(reply.SerializeAsString());
  }

 protected:
  absl::Status Prepare(Request* request) override {
    return request->client_request_token().empty() ? absl::OkStatus() : NotInProtocol(kNoToken);
  }
};

// Query and Scan.
template <typename Request, typename Reply>
class PageExchange : public TypedExchange<Request, Reply> {
 public:
  using TypedExchange<Request, Reply>::TypedExchange;

  absl::StatusOr<JsonStep> Take(const object& page) override {
    if (!counts_all_) return TypedExchange<Request, Reply>::Take(page);
    Reply reply;
    ITEMDB_RETURN_IF_ERROR(ReadJsonMessage(page, &reply));
    total_.set_count(total_.count() + reply.count());
    total_.set_scanned_count(total_.scanned_count() + reply.scanned_count());
    if (reply.has_consumed_capacity())
      AddCapacity(reply.consumed_capacity(), total_.mutable_consumed_capacity());
    if (!reply.has_last_evaluated_key()) return JsonStep(total_.SerializeAsString());
    this->request_.mutable_exclusive_start_key()->Swap(reply.mutable_last_evaluated_key());
    ITEMDB_ASSIGN_OR_RETURN(JsonRequest next, this->Sent(this->request_));
    return JsonStep(std::move(next));
  }

  absl::StatusOr<JsonStep> Fail(absl::Status status, const JsonError* error) override {
    const bool is_of_global_index =
        this->request_.consistent_read() && !this->request_.index_name().empty() && error != nullptr &&
        error->name == "ValidationException" && error->message.find("onsistent read") != std::string::npos;
    if (is_of_global_index)
      return NotInProtocol("a consistent read of a global index (" + error->message + ")");
    // Of engines that know no longer keys.
    if (error != nullptr && error->message == "Conditions can be of length 1 or 2 only")
      return this->NotOfferedThere("key conditions on more than two attributes", error->message);
    return status;
  }

 protected:
  absl::Status Prepare(Request* request) override {
    if (request->explain()) return NotInProtocol("explain, the plan of a read,");
    if (request->skip_damage()) return NotInProtocol("skip_damage");
    counts_all_ = request->count_all();
    request->clear_count_all();
    return absl::OkStatus();
  }

 private:
  static void AddUnits(const google::protobuf::Map<std::string, v1::Capacity>& more,
                       google::protobuf::Map<std::string, v1::Capacity>* sum) {
    for (const auto& [name, units] : more)
      (*sum)[name].set_capacity_units((*sum)[name].capacity_units() + units.capacity_units());
  }
  static void AddCapacity(const v1::ConsumedCapacity& more, v1::ConsumedCapacity* sum) {
    sum->set_table_name(more.table_name());
    sum->set_capacity_units(sum->capacity_units() + more.capacity_units());
    if (more.has_table())
      sum->mutable_table()->set_capacity_units(sum->table().capacity_units() + more.table().capacity_units());
    AddUnits(more.local_secondary_indexes(), sum->mutable_local_secondary_indexes());
    AddUnits(more.global_secondary_indexes(), sum->mutable_global_secondary_indexes());
  }

  // The number of all items is asked for: page after page is counted.
  bool counts_all_ = false;
  Reply total_;
};

// ---- several items

// A table can be a member of RequestItems only once.
template <typename Tables>
absl::Status CheckTablesDiffer(const Tables& tables) {
  std::vector<std::string_view> names;
  for (const auto& table : tables) names.push_back(table.table_name());
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return absl::OkStatus();
  return InvalidRequest("the table " + std::string(*twice) +
                        " is named twice in one request, which DynamoDB's protocol cannot carry");
}

class BatchGetExchange : public TypedExchange<v1::BatchGetItemRequest, v1::BatchGetItemReply> {
 public:
  using TypedExchange::TypedExchange;

 protected:
  absl::Status Prepare(v1::BatchGetItemRequest* request) override {
    return CheckTablesDiffer(request->request_items());
  }

  // The service answers in any order. Here the tables and items follow the request.
  absl::Status Complete(const object&, v1::BatchGetItemReply* reply) override {
    auto* tables = reply->mutable_responses();
    for (v1::TableItems& table : *tables) Sort(&table);
    std::stable_sort(tables->pointer_begin(), tables->pointer_end(),
                     [this](const v1::TableItems* a, const v1::TableItems* b) {
                       return PlaceOf(a->table_name()) < PlaceOf(b->table_name());
                     });
    return absl::OkStatus();
  }

 private:
  int PlaceOf(std::string_view table_name) const {
    int place = 0;
    for (const v1::KeysAndAttributes& table : request_.request_items()) {
      if (table.table_name() == table_name) break;
      ++place;
    }
    return place;
  }

  static const v1::AttributeValue* Find(const v1::Item& item, std::string_view name) {
    for (const v1::Attribute& attribute : item.attributes())
      if (attribute.name() == name) return &attribute.value();
    return nullptr;
  }

  // The place of the first key that the item has. The client asks for the key attributes of every item. A
  // number may be written in another way than in the request; numbers of keys are compared as the client
  // reads them.
  size_t KeyOf(const v1::KeysAndAttributes& asked, const v1::Item& item) const {
    for (int k = 0; k < asked.keys_size(); ++k) {
      const auto& attributes = asked.keys(k).attributes();
      const bool has_key =
          std::all_of(attributes.begin(), attributes.end(), [&](const v1::Attribute& attribute) {
            const v1::AttributeValue* value = Find(item, attribute.name());
            return value != nullptr && Same(*value, attribute.value());
          });
      if (has_key) return static_cast<size_t>(k);
    }
    return static_cast<size_t>(asked.keys_size());
  }

  static bool Same(const v1::AttributeValue& a, const v1::AttributeValue& b) {
    if (a.value_case() != b.value_case()) return false;
    if (a.value_case() != v1::AttributeValue::kN) return a.SerializeAsString() == b.SerializeAsString();
    const absl::StatusOr<Number> one = Number::Parse(a.n());
    const absl::StatusOr<Number> other = Number::Parse(b.n());
    return one.ok() && other.ok() && *one == *other;
  }

  void Sort(v1::TableItems* table) const {
    const int place = PlaceOf(table->table_name());
    if (place == request_.request_items_size()) return;
    const v1::KeysAndAttributes& asked = request_.request_items(place);
    std::vector<std::pair<size_t, v1::Item*>> items;
    for (v1::Item& item : *table->mutable_items()) items.emplace_back(KeyOf(asked, item), &item);
    std::stable_sort(items.begin(), items.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    v1::TableItems sorted;
    for (const auto& [key, item] : items) sorted.add_items()->Swap(item);
    table->mutable_items()->Swap(sorted.mutable_items());
  }
};

class BatchWriteExchange : public TypedExchange<v1::BatchWriteItemRequest, v1::BatchWriteItemReply> {
 public:
  using TypedExchange::TypedExchange;

 protected:
  absl::Status Prepare(v1::BatchWriteItemRequest* request) override {
    if (!request->client_request_token().empty()) return NotInProtocol(kNoToken);
    return CheckTablesDiffer(request->request_items());
  }
};

// The service's limit for transactions.
constexpr int kMaxActions = 100;

template <typename Request, typename Reply>
class TransactionExchange : public TypedExchange<Request, Reply> {
 public:
  using TypedExchange<Request, Reply>::TypedExchange;

  absl::StatusOr<JsonStep> Fail(absl::Status status, const JsonError* error) override {
    if (!IsCancelled(error)) return status;
    return CancelledReply<Reply>(*error);
  }

 protected:
  absl::Status Prepare(Request* request) override {
    if constexpr (requires { request->large(); }) {
      // Otherwise it is a transaction like any other.
      if (request->large() && request->transact_items_size() > kMaxActions)
        return NotInProtocol("a transaction of more than 100 actions (large)");
      request->clear_large();
    }
    return absl::OkStatus();
  }
};

class StatementExchange : public TypedExchange<v1::ExecuteStatementRequest, v1::ExecuteStatementReply> {
 public:
  using TypedExchange::TypedExchange;

  absl::StatusOr<JsonStep> Fail(absl::Status status, const JsonError* error) override {
    if (!IsConditionFailed(error)) return status;
    v1::ExecuteStatementReply reply;
    v1::ConditionFailed* failed = reply.mutable_condition_failed();
    ITEMDB_RETURN_IF_ERROR(ReadItem(error->body, [failed] { return failed->mutable_item(); }));
    return JsonStep(reply.SerializeAsString());
  }
};

// The reason of an error of one statement, by its code in the service's words.
std::string_view ReasonOfStatementCode(std::string_view code, CallKind kind) {
  if (code == "ThrottlingError" || code == "ProvisionedThroughputExceeded") return "THROTTLED";
  if (code == "TransactionConflict") return "TRANSACTION_CONFLICT";
  // As for a whole call (json_errors.cc): the service does not say whether a write was applied before it
  // failed.
  if (code == "InternalServerError")
    return kind == CallKind::kRead ? kReasonUnavailable : kReasonWriteOutcomeUnknown;
  const std::string_view reason = protocol::ReasonOfShortCode(code);
  return reason.empty() ? code : reason;
}

class StatementsExchange
    : public TypedExchange<v1::BatchExecuteStatementRequest, v1::BatchExecuteStatementReply> {
 public:
  using TypedExchange::TypedExchange;

 protected:
  absl::Status Complete(const object& members, v1::BatchExecuteStatementReply* reply) override {
    simdjson::dom::array responses;
    if (members.at_key("Responses").get(responses) != simdjson::SUCCESS) return absl::OkStatus();
    int place = 0;
    for (const element one : responses) {
      v1::BatchStatementResponse* response = reply->mutable_responses(place++);
      object error;
      if (one.at_key("Error").get(error) == simdjson::SUCCESS)
        response->mutable_error()->set_reason(
            std::string(ReasonOfStatementCode(TextOf(error, "Code"), kind_)));
    }
    return absl::OkStatus();
  }
};

// ---- any operation (CallJson)

class AnyExchange : public JsonExchange {
 public:
  absl::StatusOr<JsonRequest> Begin(std::string_view request) override {
    const size_t end = request.find('\n');
    if (end == std::string_view::npos)
      return MakeError(absl::StatusCode::kInternal, "INTERNAL", "a call of this client has no target");
    target_ = std::string(request.substr(0, end));
    return JsonRequest{.operation = target_, .body = std::string(request.substr(end + 1))};
  }

  absl::StatusOr<JsonStep> Take(const object& reply) override {
    return JsonStep(std::string(simdjson::minify(reply)));
  }

 private:
  std::string target_;
};

// ---- the methods

template <typename Exchange>
std::unique_ptr<JsonExchange> Make(std::string_view operation, CallKind kind) {
  return std::make_unique<Exchange>(operation, kind);
}

struct Row {
  std::string_view operation;
  std::unique_ptr<JsonExchange> (*make)(std::string_view, CallKind);
};
constexpr Row kRows[] = {
    {"GetItem", &Make<TypedExchange<v1::GetItemRequest, v1::GetItemReply>>},
    {"PutItem", &Make<WriteExchange<v1::PutItemRequest, v1::PutItemReply>>},
    {"UpdateItem", &Make<WriteExchange<v1::UpdateItemRequest, v1::UpdateItemReply>>},
    {"DeleteItem", &Make<WriteExchange<v1::DeleteItemRequest, v1::DeleteItemReply>>},
    {"Query", &Make<PageExchange<v1::QueryRequest, v1::QueryReply>>},
    {"Scan", &Make<PageExchange<v1::ScanRequest, v1::ScanReply>>},
    {"BatchGetItem", &Make<BatchGetExchange>},
    {"BatchWriteItem", &Make<BatchWriteExchange>},
    {"TransactGetItems", &Make<TransactionExchange<v1::TransactGetItemsRequest, v1::TransactGetItemsReply>>},
    {"TransactWriteItems",
     &Make<TransactionExchange<v1::TransactWriteItemsRequest, v1::TransactWriteItemsReply>>},
    {"ExecuteStatement", &Make<StatementExchange>},
    {"BatchExecuteStatement", &Make<StatementsExchange>},
    {"ExecuteTransaction",
     &Make<TransactionExchange<v1::ExecuteTransactionRequest, v1::ExecuteTransactionReply>>},
    {"SearchVectors", &Make<TypedExchange<v1::SearchVectorsRequest, v1::SearchVectorsReply>>},
};

}  // namespace

std::unique_ptr<JsonExchange> MakeJsonExchange(std::string_view method, CallKind kind) {
  if (method == kJsonMethod) return std::make_unique<AnyExchange>();
  constexpr std::string_view kData = "/itemdb.v1.Data/";
  if (!method.starts_with(kData)) return MakeTableExchange(method, kind);
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& one) {
    return one.operation == method.substr(kData.size());
  });
  return row == std::end(kRows) ? nullptr : row->make(row->operation, kind);
}

absl::Status JsonExchange::NotOfferedThere(std::string_view what, std::string_view words) const {
  return MakeError(absl::StatusCode::kUnimplemented, "UNIMPLEMENTED",
                   endpoint_ + " does not offer " + std::string(what) + " (" + std::string(words) + ")");
}

absl::Status NotInProtocol(std::string_view what) {
  return MakeError(
      absl::StatusCode::kUnimplemented, "UNIMPLEMENTED",
      std::string(what) +
          " is not part of DynamoDB's HTTP protocol, which this client speaks; itemd offers it at its "
          "gRPC address (--listen)");
}

absl::Status NotOverHttp(std::string_view method) {
  if (method.starts_with('/')) method.remove_prefix(1);
  return MakeError(
      absl::StatusCode::kUnimplemented, "UNIMPLEMENTED",
      std::string(method) +
          " is not offered over HTTP, where this client has items, tables and statements; itemd offers "
          "it at its gRPC address (--listen)");
}

}  // namespace itemdb
