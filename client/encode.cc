#include "client/encode.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "client/convert.h"
#include "client/core.h"
#include "client/enum_table.h"
#include "client/errors_internal.h"
#include "common/status_macros.h"
#include "itemdb/v1/data.pb.h"

namespace itemdb {
namespace {

// ---- requests ------------------------------------------------------------------------------------

template <typename Request, typename Message>
absl::Status PlaceholdersToProto(const Request& request, Message* message) {
  for (const auto& [placeholder, name] : request.expression_attribute_names) {
    (*message->mutable_expression_attribute_names())[placeholder] = name;
  }
  for (const auto& [placeholder, value] : request.expression_attribute_values) {
    ITEMDB_RETURN_IF_ERROR(ToProto(value, &(*message->mutable_expression_attribute_values())[placeholder]));
  }
  return absl::OkStatus();
}

// The fields that all conditional writes have, single or in a transaction.
template <typename Request, typename Message>
absl::Status ConditionToProto(const Request& request, Message* message) {
  message->set_table_name(request.table_name);
  message->set_condition_expression(request.condition_expression);
  message->set_return_values_on_condition_check_failure(
      ToProto(request.return_values_on_condition_check_failure));
  return PlaceholdersToProto(request, message);
}

// The further fields that all single writes have.
template <typename Request, typename Message>
void ReturnsToProto(const Request& request, Message* message) {
  message->set_return_values(ToProto(request.return_values));
  message->set_return_consumed_capacity(ToProto(request.return_consumed_capacity));
  message->set_return_item_collection_metrics(ToProto(request.return_item_collection_metrics));
}

template <typename Request, typename Message>
absl::Status ConditionalPutToProto(const Request& request, Message* message) {
  absl::Status status = ConditionToProto(request, message);
  return status.ok() ? ToProto(request.item, message->mutable_item()) : status;
}

template <typename Request, typename Message>
absl::Status ConditionalKeyToProto(const Request& request, Message* message) {
  absl::Status status = ConditionToProto(request, message);
  return status.ok() ? ToProto(request.key, message->mutable_key()) : status;
}

// One overload for each type of action.
absl::Status ActionToProto(const TransactPut& put, v1::TransactWriteItem* message) {
  return ConditionalPutToProto(put, message->mutable_put());
}
absl::Status ActionToProto(const TransactUpdate& update, v1::TransactWriteItem* message) {
  message->mutable_update()->set_update_expression(update.update_expression);
  return ConditionalKeyToProto(update, message->mutable_update());
}
absl::Status ActionToProto(const TransactDelete& remove, v1::TransactWriteItem* message) {
  return ConditionalKeyToProto(remove, message->mutable_delete_());
}
absl::Status ActionToProto(const ConditionCheck& check, v1::TransactWriteItem* message) {
  return ConditionalKeyToProto(check, message->mutable_condition_check());
}

// The fields that all reads by key have.
template <typename Request, typename Message>
void ProjectionToProto(const Request& request, Message* message) {
  message->set_table_name(request.table_name);
  message->set_projection_expression(request.projection_expression);
  message->mutable_expression_attribute_names()->insert(request.expression_attribute_names.begin(),
                                                        request.expression_attribute_names.end());
}

v1::Select SelectToProto(Select select) {
  using enum Select;
  static constexpr std::pair<Select, v1::Select> kSelects[] = {
      {kAllAttributes, v1::SELECT_ALL_ATTRIBUTES},
      {kAllProjectedAttributes, v1::SELECT_ALL_PROJECTED_ATTRIBUTES},
      {kSpecificAttributes, v1::SELECT_SPECIFIC_ATTRIBUTES},
      {kCount, v1::SELECT_COUNT}};
  return ProtoOf(kSelects, select);
}

// The fields that Query and Scan have in common.
template <typename Request, typename Message>
absl::Status PageRequestToProto(const Request& request, Message* message) {
  message->set_table_name(request.table_name);
  message->set_index_name(request.index_name);
  message->set_filter_expression(request.filter_expression);
  message->set_projection_expression(request.projection_expression);
  if (request.limit.has_value()) message->set_limit(*request.limit);
  message->set_select(SelectToProto(request.select));
  message->set_count_all(request.count_all);
  message->set_consistent_read(request.consistent_read);
  message->set_return_consumed_capacity(ToProto(request.return_consumed_capacity));
  message->set_explain(request.explain);
  message->set_skip_damage(request.skip_damage);
  absl::Status status = PlaceholdersToProto(request, message);
  if (!status.ok() || !request.exclusive_start_key.has_value()) return status;
  return ToProto(*request.exclusive_start_key, message->mutable_exclusive_start_key());
}

absl::Status ToProto(const QueryRequest& request, v1::QueryRequest* message) {
  message->set_key_condition_expression(request.key_condition_expression);
  message->set_scan_index_forward(request.scan_index_forward);
  return PageRequestToProto(request, message);
}

absl::Status ToProto(const ScanRequest& request, v1::ScanRequest* message) {
  if (request.segment.has_value()) message->set_segment(*request.segment);
  if (request.total_segments.has_value()) message->set_total_segments(*request.total_segments);
  return PageRequestToProto(request, message);
}

// The token of a write: the caller's, a random one if `idempotent`, or none.
std::string TokenFor(const CallOptions& options, bool idempotent) {
  if (!options.client_request_token.empty() || !idempotent) return options.client_request_token;
  return NewRequestToken();
}

const std::string& TableNameOf(const v1::TransactWriteItem& item) {
  if (item.has_put()) return item.put().table_name();
  if (item.has_update()) return item.update().table_name();
  return item.has_delete_() ? item.delete_().table_name() : item.condition_check().table_name();
}

// The table that a request names first; empty: none.
template <typename Message>
std::string TableNameOf(const Message& message) {
  if constexpr (requires { message.table_name(); }) {
    return message.table_name();
  } else if constexpr (requires { message.request_items(0).table_name(); }) {
    return message.request_items_size() == 0 ? "" : message.request_items(0).table_name();
  } else if constexpr (requires { message.transact_items(0); }) {
    return message.transact_items_size() == 0 ? "" : TableNameOf(message.transact_items(0));
  } else {
    return "";
  }
}

template <typename Message>
CallSpec WriteSpec(const char* method, const CallOptions& options, bool idempotent, Message* message) {
  message->set_client_request_token(TokenFor(options, idempotent));
  return {.method = method,
          .kind = CallKind::kWrite,
          .has_token = !message->client_request_token().empty(),
          .request = message->SerializeAsString(),
          .table_name = TableNameOf(*message)};
}

template <typename Message>
CallSpec ReadSpec(const char* method, const Message& message) {
  return {.method = method,
          .kind = CallKind::kRead,
          .has_token = false,
          .request = message.SerializeAsString(),
          .table_name = TableNameOf(message)};
}

}  // namespace

absl::StatusOr<CallSpec> Encode(const PutItemRequest& request, const CallOptions& options) {
  v1::PutItemRequest message;
  ReturnsToProto(request, &message);
  ITEMDB_RETURN_IF_ERROR(ConditionalPutToProto(request, &message));
  return WriteSpec("/itemdb.v1.Data/PutItem", options, options.idempotent, &message);
}

absl::StatusOr<CallSpec> Encode(const UpdateItemRequest& request, const CallOptions& options) {
  v1::UpdateItemRequest message;
  ReturnsToProto(request, &message);
  message.set_update_expression(request.update_expression);
  ITEMDB_RETURN_IF_ERROR(ConditionalKeyToProto(request, &message));
  return WriteSpec("/itemdb.v1.Data/UpdateItem", options, options.idempotent, &message);
}

absl::StatusOr<CallSpec> Encode(const DeleteItemRequest& request, const CallOptions& options) {
  v1::DeleteItemRequest message;
  ReturnsToProto(request, &message);
  ITEMDB_RETURN_IF_ERROR(ConditionalKeyToProto(request, &message));
  return WriteSpec("/itemdb.v1.Data/DeleteItem", options, options.idempotent, &message);
}

absl::StatusOr<CallSpec> Encode(const TransactWriteItemsRequest& request, const CallOptions& options) {
  v1::TransactWriteItemsRequest message;
  message.set_large(request.large);
  message.set_return_consumed_capacity(ToProto(request.return_consumed_capacity));
  message.set_return_item_collection_metrics(ToProto(request.return_item_collection_metrics));
  for (const TransactAction& action : request.actions) {
    ITEMDB_RETURN_IF_ERROR(
        std::visit([&](const auto& a) { return ActionToProto(a, message.add_transact_items()); }, action));
  }
  return WriteSpec("/itemdb.v1.Data/TransactWriteItems", options, /*idempotent=*/true, &message);
}

CallSpec Encode(v1::BatchWriteItemRequest* message, const CallOptions& options) {
  return WriteSpec("/itemdb.v1.Data/BatchWriteItem", options, options.idempotent, message);
}

absl::StatusOr<CallSpec> Encode(const GetItemRequest& request) {
  v1::GetItemRequest message;
  ProjectionToProto(request, &message);
  message.set_consistent_read(request.consistent_read);
  message.set_return_consumed_capacity(ToProto(request.return_consumed_capacity));
  ITEMDB_RETURN_IF_ERROR(ToProto(request.key, message.mutable_key()));
  return ReadSpec("/itemdb.v1.Data/GetItem", message);
}

CallSpec Encode(const v1::BatchGetItemRequest& message) {
  return ReadSpec("/itemdb.v1.Data/BatchGetItem", message);
}

absl::StatusOr<CallSpec> Encode(const TransactGetItemsRequest& request) {
  v1::TransactGetItemsRequest message;
  message.set_large(request.large);
  message.set_return_consumed_capacity(ToProto(request.return_consumed_capacity));
  for (const TransactGet& get : request.gets) {
    v1::TransactGet* added = message.add_transact_items();
    ProjectionToProto(get, added);
    ITEMDB_RETURN_IF_ERROR(ToProto(get.key, added->mutable_key()));
  }
  return ReadSpec("/itemdb.v1.Data/TransactGetItems", message);
}

absl::StatusOr<CallSpec> Encode(const QueryRequest& request) {
  v1::QueryRequest message;
  ITEMDB_RETURN_IF_ERROR(ToProto(request, &message));
  return ReadSpec("/itemdb.v1.Data/Query", message);
}

absl::StatusOr<CallSpec> Encode(const ScanRequest& request) {
  v1::ScanRequest message;
  ITEMDB_RETURN_IF_ERROR(ToProto(request, &message));
  return ReadSpec("/itemdb.v1.Data/Scan", message);
}

bool IsSelectStatement(const std::string& statement) {
  return absl::StartsWithIgnoreCase(absl::StripLeadingAsciiWhitespace(statement), "select");
}

absl::StatusOr<CallSpec> Encode(const ExecuteStatementRequest& request) {
  v1::ExecuteStatementRequest message;
  message.set_statement(request.statement);
  for (const Value& value : request.parameters)
    ITEMDB_RETURN_IF_ERROR(ToProto(value, message.add_parameters()));
  message.set_consistent_read(request.consistent_read);
  message.set_next_token(request.next_token);
  message.set_return_consumed_capacity(ToProto(request.return_consumed_capacity));
  if (request.limit.has_value()) message.set_limit(*request.limit);
  message.set_return_values_on_condition_check_failure(
      ToProto(request.return_values_on_condition_check_failure));
  return CallSpec{.method = "/itemdb.v1.Data/ExecuteStatement",
                  .kind = IsSelectStatement(request.statement) ? CallKind::kRead : CallKind::kWrite,
                  .has_token = false,
                  .request = message.SerializeAsString()};
}

bool IsReadBatch(const BatchExecuteStatementRequest& request) {
  return std::all_of(request.statements.begin(), request.statements.end(),
                     [](const BatchStatement& one) { return IsSelectStatement(one.statement); });
}

absl::StatusOr<CallSpec> Encode(const BatchExecuteStatementRequest& request) {
  v1::BatchExecuteStatementRequest message;
  message.set_return_consumed_capacity(ToProto(request.return_consumed_capacity));
  for (const BatchStatement& statement : request.statements) {
    v1::BatchStatement* added = message.add_statements();
    added->set_statement(statement.statement);
    for (const Value& value : statement.parameters)
      ITEMDB_RETURN_IF_ERROR(ToProto(value, added->add_parameters()));
    added->set_consistent_read(statement.consistent_read);
    added->set_return_values_on_condition_check_failure(
        ToProto(statement.return_values_on_condition_check_failure));
  }
  return CallSpec{.method = "/itemdb.v1.Data/BatchExecuteStatement",
                  .kind = IsReadBatch(request) ? CallKind::kRead : CallKind::kWrite,
                  .has_token = false,
                  .request = message.SerializeAsString()};
}

absl::StatusOr<CallSpec> Encode(const ExecuteTransactionRequest& request, const CallOptions& options) {
  v1::ExecuteTransactionRequest message;
  message.set_return_consumed_capacity(ToProto(request.return_consumed_capacity));
  for (const TransactStatement& statement : request.statements) {
    v1::TransactStatement* added = message.add_transact_statements();
    added->set_statement(statement.statement);
    for (const Value& value : statement.parameters)
      ITEMDB_RETURN_IF_ERROR(ToProto(value, added->add_parameters()));
  }
  return WriteSpec("/itemdb.v1.Data/ExecuteTransaction", options, /*idempotent=*/true, &message);
}

absl::StatusOr<CallSpec> Encode(const SearchVectorsRequest& request) {
  v1::SearchVectorsRequest message;
  message.set_table_name(request.table_name);
  message.set_index_name(request.index_name);
  for (const float element : request.search_vector) {
    if (!std::isfinite(element)) {
      return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                       "element " + std::to_string(message.search_vector_size()) +
                           " of search_vector is not a finite number");
    }
    char text[32];
    char* const end = std::to_chars(text, text + sizeof(text), element).ptr;
    message.add_search_vector()->set_n(std::string(text, end));
  }
  message.set_top_k(request.top_k);
  if (!request.search_condition_expression.empty())
    message.set_search_condition_expression(request.search_condition_expression);
  message.set_projection_expression(request.projection_expression);
  message.set_return_consumed_capacity(ToProto(request.return_consumed_capacity));
  ITEMDB_RETURN_IF_ERROR(PlaceholdersToProto(request, &message));
  return ReadSpec("/itemdb.v1.Data/SearchVectors", message);
}

absl::StatusOr<std::string> EncodeStream(const QueryRequest& request, bool one_state) {
  v1::QueryStreamRequest message;
  message.set_one_state(one_state);
  ITEMDB_RETURN_IF_ERROR(ToProto(request, message.mutable_query()));
  return message.SerializeAsString();
}

absl::StatusOr<std::string> EncodeStream(const ScanRequest& request, bool one_state) {
  v1::ScanStreamRequest message;
  message.set_one_state(one_state);
  ITEMDB_RETURN_IF_ERROR(ToProto(request, message.mutable_scan()));
  return message.SerializeAsString();
}

}  // namespace itemdb
