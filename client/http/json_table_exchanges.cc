// Operations on tables. gRPC answers CreateTable when the table is usable, DeleteTable when it is gone, and
// all of them with the table's tags. Here that takes more requests than one.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "client/http/json_exchange.h"
#include "client/http/typed_exchange.h"
#include "client/retry.h"
#include "itemdb/v1/tables.pb.h"
#include "storage/json/json_writer.h"

namespace itemdb {
namespace {

using simdjson::dom::object;

// The pauses between looks at a table that is being created or deleted double up to the longest.
constexpr absl::Duration kFirstLook = absl::Milliseconds(20);
constexpr absl::Duration kLongestLook = absl::Seconds(2);

// ---- table descriptions

std::string_view TextIn(const object& members, std::string_view name) {
  std::string_view text;
  return members.at_key(name).get(text) == simdjson::SUCCESS ? text : std::string_view();
}

bool FindObject(const object& members, std::string_view name, object* found) {
  return members.at_key(name).get(*found) == simdjson::SUCCESS;
}

absl::Status ReadTableDescription(const object& given, v1::TableDescription* table) {
  table->Clear();
  ITEMDB_RETURN_IF_ERROR(ReadJsonMessage(given, table));
  double seconds = 0;
  if (given.at_key("CreationDateTime").get(seconds) == simdjson::SUCCESS)
    table->set_creation_time_ms(std::llround(seconds * 1'000));
  // A table that was never on demand has no summary.
  table->set_billing_mode(v1::BILLING_MODE_PROVISIONED);
  object part;
  if (FindObject(given, "BillingModeSummary", &part) && TextIn(part, "BillingMode") == "PAY_PER_REQUEST")
    table->set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  if (FindObject(given, "TableClassSummary", &part) &&
      TextIn(part, "TableClass") == "STANDARD_INFREQUENT_ACCESS")
    table->set_table_class(v1::TABLE_CLASS_STANDARD_INFREQUENT_ACCESS);
  if (FindObject(given, "SSEDescription", &part) && TextIn(part, "Status") == "ENABLED") {
    v1::SseSpecification* sse = table->mutable_sse_specification();
    sse->set_enabled(true);
    sse->set_sse_type(std::string(TextIn(part, "SSEType")));
    sse->set_kms_master_key_id(std::string(TextIn(part, "KMSMasterKeyArn")));
  }
  bool is_enabled = false;
  if (FindObject(given, "StreamSpecification", &part) &&
      part.at_key("StreamEnabled").get(is_enabled) == simdjson::SUCCESS && is_enabled) {
    table->set_stream_enabled(true);
    v1::StreamViewType type = v1::STREAM_VIEW_TYPE_UNSPECIFIED;
    v1::StreamViewType_Parse("STREAM_VIEW_TYPE_" + std::string(TextIn(part, "StreamViewType")), &type);
    table->set_stream_view_type(type);
  }
  return absl::OkStatus();
}

// The member StreamSpecification for a request that has such a setting, else nothing; takes the setting out
// of the request.
template <typename Request>
absl::StatusOr<std::string> TakeStream(Request* request) {
  const bool is_enabled = request->stream_enabled();
  const v1::StreamViewType type = request->stream_view_type();
  bool is_given =
      is_enabled || (type != v1::STREAM_VIEW_TYPE_UNSPECIFIED && type != v1::STREAM_VIEW_TYPE_KEYS_ONLY);
  if constexpr (requires { request->has_stream_enabled(); })
    is_given = request->has_stream_enabled() || type != v1::STREAM_VIEW_TYPE_UNSPECIFIED;
  request->clear_stream_enabled();
  request->clear_stream_view_type();
  if (!is_given) return std::string();
  if (!is_enabled && type != v1::STREAM_VIEW_TYPE_UNSPECIFIED && type != v1::STREAM_VIEW_TYPE_KEYS_ONLY)
    return NotInProtocol("a stream view type of a table without stream (images in the change log)");
  std::string text;
  storage::JsonWriter writer(&text);
  writer.BeginObject().Name("StreamEnabled").Boolean(is_enabled);
  if (is_enabled)
    writer.Name("StreamViewType")
        .String(v1::StreamViewType_Name(type).substr(std::size("STREAM_VIEW_TYPE_") - 1));
  writer.EndObject();
  return "\"StreamSpecification\":" + text;
}

void AppendMember(const std::string& member, std::string* body) {
  if (member.empty()) return;
  if (!body->ends_with('{')) body->push_back(',');
  body->append(member);
}

// ---- requests of which operations are made

JsonRequest Describe(const std::string& table_name, absl::Duration delay = absl::ZeroDuration()) {
  JsonRequest request{.operation = "DescribeTable", .body = {}, .kind = CallKind::kRead, .delay = delay};
  storage::JsonWriter(&request.body).BeginObject().Name("TableName").String(table_name).EndObject();
  return request;
}

JsonRequest ListTags(const std::string& table_arn, const std::string& next_token) {
  JsonRequest request{.operation = "ListTagsOfResource", .body = {}, .kind = CallKind::kRead};
  storage::JsonWriter writer(&request.body);
  writer.BeginObject().Name("ResourceArn").String(table_arn);
  if (!next_token.empty()) writer.Name("NextToken").String(next_token);
  writer.EndObject();
  return request;
}

// What a failed look at a table that is being created or deleted says.
bool IsNotFound(const JsonError* error) {
  return error != nullptr && error->name == "ResourceNotFoundException";
}
bool MayPass(const absl::Status& status) {
  return ClassifyForRetry(status, CallKind::kRead) == Retryability::kRetry;
}
bool IsOver(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) || absl::IsCancelled(status);
}

// ---- what engines of the protocol refuse, or take and do not do

bool IsInvalid(const JsonError* error) { return error != nullptr && error->name == "ValidationException"; }
bool Says(const JsonError& error, std::string_view words) {
  return error.message.find(words) != std::string::npos;
}

// In the words of Alternator, and of dynalite and earlier versions of the service. Other errors of a
// KeySchema are mistakes of the request.
bool RefusesLongIndexKeys(const JsonError& error) {
  return Says(error, "one or two key columns") ||
         (Says(error, "lobalSecondaryIndex") && Says(error, "eySchema' failed to satisfy constraint") &&
          Says(error, "length less than or equal to 2"));
}

// "StreamSpecification, TableClass" of the body of an UpdateTable.
std::string SettingsIn(const std::string& body) {
  simdjson::dom::parser parser;
  object members;
  std::string names;
  if (parser.parse(body).get(members) != simdjson::SUCCESS) return names;
  for (const auto member : members) {
    if (member.key == "TableName" || member.key == "AttributeDefinitions") continue;
    names.append(names.empty() ? "" : ", ").append(member.key);
  }
  return names;
}

// Reads a table and its tags, and then does what the derived class does in Described().
template <typename Request, typename Reply>
class DescribingExchange : public JsonExchange {
 public:
  DescribingExchange(std::string_view operation, CallKind kind) : operation_(operation), kind_(kind) {}

  absl::StatusOr<JsonRequest> Begin(std::string_view bytes) override {
    if (!request_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      return MakeError(absl::StatusCode::kInternal, "INTERNAL", "a request of this client does not decode");
    return First();
  }

  absl::StatusOr<JsonStep> Take(const object& reply) override {
    object table;
    if (!has_table_) {
      if (!FindObject(reply, "Table", &table))
        return MakeError(absl::StatusCode::kDataLoss, "DATA_LOSS", "the reply describes no table");
      ITEMDB_RETURN_IF_ERROR(TakeTable(table));
      return wants_tags_ ? JsonStep(ListTags(arn_, "")) : Described();
    }
    v1::CreateTableRequest tags;
    ITEMDB_RETURN_IF_ERROR(ReadJsonMessage(reply, &tags));
    table_.mutable_tags()->MergeFrom(tags.tags());
    if (const std::string token(TextIn(reply, "NextToken")); !token.empty())
      return JsonStep(ListTags(arn_, token));
    has_tags_ = true;
    return Described();
  }

  absl::StatusOr<JsonStep> Fail(absl::Status status, const JsonError* error) override {
    // An engine without tags: its tables have none.
    const bool has_no_tags =
        has_table_ && wants_tags_ && !has_tags_ && error != nullptr &&
        (error->name == "UnknownOperationException" || error->name == "ValidationException");
    if (!has_no_tags) return status;
    has_tags_ = true;
    return Described();
  }

 protected:
  virtual absl::StatusOr<JsonRequest> First() { return Describe(request_.table_name()); }
  virtual absl::StatusOr<JsonStep> Described() { return Answer(); }

  // UNIMPLEMENTED if one of the indexes has a key of several attributes for one role, which the service has
  // refused with `error`.
  template <typename Indexes>
  absl::Status CheckIndexKeys(const Indexes& indexes, const JsonError& error) const {
    for (const v1::GlobalSecondaryIndex& index : indexes) {
      if (index.key_schema_size() <= 2) continue;
      return this->NotOfferedThere("index keys of more than two attributes, as the index " +
                                       index.index_name() + " of table " + request_.table_name() + " has one",
                                   error.message);
    }
    return absl::OkStatus();
  }

  absl::Status TakeTable(const object& table) {
    has_table_ = true;
    arn_ = std::string(TextIn(table, "TableArn"));
    return ReadTableDescription(table, &table_);
  }

  absl::StatusOr<JsonStep> Answer() {
    Reply reply;
    if constexpr (requires { reply.mutable_table(); }) reply.mutable_table()->Swap(&table_);
    return JsonStep(reply.SerializeAsString());
  }

  const std::string_view operation_;
  const CallKind kind_;
  Request request_;
  v1::TableDescription table_;
  std::string arn_;
  bool has_table_ = false;
  bool wants_tags_ = true;
  bool has_tags_ = false;
};

using DescribeExchange = DescribingExchange<v1::DescribeTableRequest, v1::DescribeTableReply>;

// ---- CreateTable: looks at the table until it is usable

class CreateExchange : public DescribingExchange<v1::CreateTableRequest, v1::CreateTableReply> {
 public:
  using DescribingExchange::DescribingExchange;

  absl::StatusOr<JsonStep> Take(const object& reply) override {
    object table;
    if (!FindObject(reply, is_created_ ? "Table" : "TableDescription", &table))
      return MakeError(absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
                       "the reply describes no table");
    is_created_ = true;
    ITEMDB_RETURN_IF_ERROR(TakeTable(table));
    if (table_.table_status() != v1::TABLE_STATUS_CREATING) return Finish();
    return JsonStep(Describe(request_.table_name(),
                             std::exchange(look_, std::clamp(look_ * 2, kFirstLook, kLongestLook))));
  }

  // Looks go on after a failure that may pass: the service may not see a new table at once.
  absl::StatusOr<JsonStep> Fail(absl::Status status, const JsonError* error) override {
    if (!is_created_ && IsInvalid(error) && RefusesLongIndexKeys(*error)) {
      ITEMDB_RETURN_IF_ERROR(CheckIndexKeys(request_.global_secondary_indexes(), *error));
    }
    if (!is_created_ || IsOver(status)) return status;
    if (!IsNotFound(error) && !MayPass(status)) return Finish();
    return JsonStep(Describe(request_.table_name(),
                             std::exchange(look_, std::clamp(look_ * 2, kFirstLook, kLongestLook))));
  }

 protected:
  absl::StatusOr<JsonRequest> First() override {
    v1::CreateTableRequest sent = request_;
    ITEMDB_ASSIGN_OR_RETURN(const std::string stream, TakeStream(&sent));
    JsonRequest request{.operation = operation_, .body = "{", .kind = kind_};
    ITEMDB_RETURN_IF_ERROR(AppendJsonMembers(sent, &request.body));
    AppendMember(stream, &request.body);
    request.body.push_back('}');
    return request;
  }

 private:
  absl::StatusOr<JsonStep> Finish() {
    *table_.mutable_tags() = request_.tags();
    return Answer();
  }

  bool is_created_ = false;
  absl::Duration look_ = kFirstLook;
};

// ---- UpdateTable: the reply lacks the tags

class UpdateExchange : public DescribingExchange<v1::UpdateTableRequest, v1::UpdateTableReply> {
 public:
  using DescribingExchange::DescribingExchange;

  absl::StatusOr<JsonStep> Take(const object& reply) override {
    object table;
    if (has_table_) return DescribingExchange::Take(reply);
    if (!FindObject(reply, "TableDescription", &table))
      return MakeError(absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
                       "the reply describes no table");
    ITEMDB_RETURN_IF_ERROR(TakeTable(table));
    ITEMDB_RETURN_IF_ERROR(CheckIndexesAreChanged());
    return JsonStep(ListTags(arn_, ""));
  }

  absl::StatusOr<JsonStep> Fail(absl::Status status, const JsonError* error) override {
    // The table is changed, whatever becomes of the look at its tags.
    if (has_table_) return Answer();
    if (!IsInvalid(error)) return status;
    const auto& creations = request_.global_secondary_index_creations();
    if (RefusesLongIndexKeys(*error)) ITEMDB_RETURN_IF_ERROR(CheckIndexKeys(creations, *error));
    // dynalite wants a throughput of it, whatever the table's billing mode is, and then does not make it.
    if (!creations.empty() && Says(*error, "create.provisionedThroughput' failed to satisfy"))
      return this->NotOfferedThere(AddingOf(creations[0].index_name()), error->message);
    // It does not know what it was asked for: in the words of dynalite, and of Alternator.
    const bool sees_nothing = error->message.starts_with("At least one of ") ||
                              error->message.starts_with("UpdateTable requires one of ");
    if (sees_nothing && !settings_.empty())
      return this->NotOfferedThere(settings_ + " in UpdateTable", error->message);
    return status;
  }

 protected:
  absl::StatusOr<JsonRequest> First() override {
    if (request_.has_write_fence() || request_.has_expected_write_fence())
      return NotInProtocol("a fence of writes (write_fence)");
    v1::UpdateTableRequest sent = request_;
    ITEMDB_ASSIGN_OR_RETURN(const std::string stream, TakeStream(&sent));
    JsonRequest request{.operation = operation_, .body = "{", .kind = kind_};
    const auto [global, vector] = TakeIndexes(&sent);
    ITEMDB_RETURN_IF_ERROR(AppendJsonMembers(sent, &request.body));
    for (const std::string& member : {stream, global, vector}) AppendMember(member, &request.body);
    request.body.push_back('}');
    settings_ = SettingsIn(request.body);
    return request;
  }

 private:
  std::string AddingOf(const std::string& index_name) const {
    return "adding an index to a table later: " + index_name + " of table " + request_.table_name();
  }

  // UNIMPLEMENTED: the service has taken the request, and answers with a table whose indexes are as before.
  absl::Status CheckIndexesAreChanged() const {
    const auto find = [](const auto& indexes, const std::string& name) {
      return std::find_if(indexes.begin(), indexes.end(),
                          [&](const auto& index) { return index.index_name() == name; });
    };
    const auto& global = table_.global_secondary_indexes();
    for (const auto& index : request_.global_secondary_index_creations()) {
      if (find(global, index.index_name()) == global.end())
        return this->NotOfferedThere(AddingOf(index.index_name()),
                                     "it took the request, and answers without the index");
    }
    for (const std::string& name : request_.global_secondary_index_deletions()) {
      const auto found = find(global, name);
      if (found != global.end() && found->index_status() == v1::TABLE_STATUS_ACTIVE)
        return this->NotOfferedThere(
            "deleting an index of a table: " + name + " of table " + request_.table_name(),
            "it took the request, and still has the index");
    }
    const auto& vector = table_.vector_indexes();
    for (const auto& index : request_.vector_index_creations()) {
      if (find(vector, index.index_name()) == vector.end())
        return this->NotOfferedThere(AddingOf(index.index_name()),
                                     "it took the request, and answers without the index");
    }
    return absl::OkStatus();
  }

  static void AppendUpdate(std::string_view kind, const google::protobuf::MessageLite& update,
                           std::string* list) {
    list->append(list->empty() ? "{\"" : ",{\"").append(kind).append("\":");
    // Without items nothing can be wrong with it.
    AppendJsonMessage(update, list).IgnoreError();
    list->append("}");
  }

  static void AppendDeletion(const std::string& index_name, std::string* list) {
    v1::GlobalSecondaryIndexThroughput deletion;
    deletion.set_index_name(index_name);
    AppendUpdate("Delete", deletion, list);
  }

  // The members GlobalSecondaryIndexUpdates and VectorIndexUpdates; takes their fields out of the request.
  static std::pair<std::string, std::string> TakeIndexes(v1::UpdateTableRequest* request) {
    std::string global, vector;
    for (const auto& index : request->global_secondary_index_creations())
      AppendUpdate("Create", index, &global);
    for (const auto& update : request->global_secondary_index_throughputs())
      AppendUpdate("Update", update, &global);
    for (const std::string& name : request->global_secondary_index_deletions()) AppendDeletion(name, &global);
    for (const auto& index : request->vector_index_creations()) AppendUpdate("Create", index, &vector);
    for (const std::string& name : request->vector_index_deletions()) AppendDeletion(name, &vector);
    request->clear_global_secondary_index_creations();
    request->clear_global_secondary_index_throughputs();
    request->clear_global_secondary_index_deletions();
    request->clear_vector_index_creations();
    request->clear_vector_index_deletions();
    if (!global.empty()) global = "\"GlobalSecondaryIndexUpdates\":[" + global + "]";
    if (!vector.empty()) vector = "\"VectorIndexUpdates\":[" + vector + "]";
    return {std::move(global), std::move(vector)};
  }

  // What the request asks for, by the names of its members.
  std::string settings_;
};

// ---- DeleteTable: describes the table, deletes it, and looks until it is gone

class DeleteExchange : public DescribingExchange<v1::DeleteTableRequest, v1::DeleteTableReply> {
 public:
  using DescribingExchange::DescribingExchange;

  absl::StatusOr<JsonStep> Take(const object& reply) override {
    if (!is_deleting_) return DescribingExchange::Take(reply);
    is_deleted_ = true;
    table_.set_table_status(v1::TABLE_STATUS_DELETING);
    return JsonStep(Describe(request_.table_name(),
                             std::exchange(look_, std::clamp(look_ * 2, kFirstLook, kLongestLook))));
  }

  absl::StatusOr<JsonStep> Fail(absl::Status status, const JsonError* error) override {
    if (!is_deleting_) return DescribingExchange::Fail(std::move(status), error);
    if (!is_deleted_ || IsOver(status)) return status;
    if (IsNotFound(error) || !MayPass(status)) return Answer();
    return JsonStep(Describe(request_.table_name(),
                             std::exchange(look_, std::clamp(look_ * 2, kFirstLook, kLongestLook))));
  }

 protected:
  absl::StatusOr<JsonStep> Described() override {
    is_deleting_ = true;
    JsonRequest request = Describe(request_.table_name());
    request.operation = operation_;
    request.kind = kind_;
    return JsonStep(std::move(request));
  }

 private:
  bool is_deleting_ = false;
  bool is_deleted_ = false;
  absl::Duration look_ = absl::ZeroDuration();
};

// ---- tags: the operations name a table by its ARN, which DescribeTable tells

template <typename Request, typename Reply>
class TagExchange : public DescribingExchange<Request, Reply> {
 public:
  TagExchange(std::string_view operation, CallKind kind)
      : DescribingExchange<Request, Reply>(operation == "TagTable" ? "TagResource" : "UntagResource", kind) {
    this->wants_tags_ = false;
  }

  absl::StatusOr<JsonStep> Take(const object& reply) override {
    return is_sent_ ? this->Answer() : DescribingExchange<Request, Reply>::Take(reply);
  }

 protected:
  absl::StatusOr<JsonStep> Described() override {
    is_sent_ = true;
    this->request_.clear_table_name();
    JsonRequest request{.operation = this->operation_, .body = {}, .kind = this->kind_};
    storage::JsonWriter(&request.body).BeginObject().Name("ResourceArn").String(this->arn_);
    ITEMDB_RETURN_IF_ERROR(AppendJsonMembers(this->request_, &request.body));
    request.body.push_back('}');
    return JsonStep(std::move(request));
  }

 private:
  bool is_sent_ = false;
};

// ---- time to live

class DescribeTimeToLiveExchange
    : public TypedExchange<v1::DescribeTimeToLiveRequest, v1::DescribeTimeToLiveReply> {
 public:
  using TypedExchange::TypedExchange;

 protected:
  absl::Status Complete(const object& object, v1::DescribeTimeToLiveReply* reply) override {
    simdjson::dom::object description;
    if (!FindObject(object, "TimeToLiveDescription", &description)) return absl::OkStatus();
    return ReadJsonMessage(description, reply);
  }
};

// ---- contributor insights

class DescribeInsightsExchange
    : public TypedExchange<v1::DescribeContributorInsightsRequest, v1::DescribeContributorInsightsReply> {
 public:
  using TypedExchange::TypedExchange;

 protected:
  absl::Status Complete(const object& object, v1::DescribeContributorInsightsReply* reply) override {
    double seconds = 0;
    if (object.at_key("LastUpdateDateTime").get(seconds) == simdjson::SUCCESS)
      reply->mutable_contributor_insights()->set_last_update_time_ms(std::llround(seconds * 1'000));
    return absl::OkStatus();
  }
};

// ---- the methods

template <typename Exchange>
std::unique_ptr<JsonExchange> MakeOfTables(std::string_view operation, CallKind kind) {
  return std::make_unique<Exchange>(operation, kind);
}

struct TableRow {
  std::string_view operation;
  std::unique_ptr<JsonExchange> (*make)(std::string_view, CallKind);
};
constexpr TableRow kTableRows[] = {
    {"CreateTable", &MakeOfTables<CreateExchange>},
    {"DescribeTable", &MakeOfTables<DescribeExchange>},
    {"ListTables", &MakeOfTables<TypedExchange<v1::ListTablesRequest, v1::ListTablesReply>>},
    {"UpdateTable", &MakeOfTables<UpdateExchange>},
    {"DeleteTable", &MakeOfTables<DeleteExchange>},
    {"TagTable", &MakeOfTables<TagExchange<v1::TagTableRequest, v1::TagTableReply>>},
    {"UntagTable", &MakeOfTables<TagExchange<v1::UntagTableRequest, v1::UntagTableReply>>},
    {"UpdateTimeToLive",
     &MakeOfTables<TypedExchange<v1::UpdateTimeToLiveRequest, v1::UpdateTimeToLiveReply>>},
    {"DescribeTimeToLive", &MakeOfTables<DescribeTimeToLiveExchange>},
    {"UpdateContributorInsights",
     &MakeOfTables<TypedExchange<v1::UpdateContributorInsightsRequest, v1::UpdateContributorInsightsReply>>},
    {"DescribeContributorInsights", &MakeOfTables<DescribeInsightsExchange>},
    {"ListContributorInsights",
     &MakeOfTables<TypedExchange<v1::ListContributorInsightsRequest, v1::ListContributorInsightsReply>>},
    {"DescribeLimits", &MakeOfTables<TypedExchange<v1::DescribeLimitsRequest, v1::DescribeLimitsReply>>},
};

}  // namespace

std::unique_ptr<JsonExchange> MakeTableExchange(std::string_view method, CallKind kind) {
  constexpr std::string_view kTables = "/itemdb.v1.Tables/";
  if (!method.starts_with(kTables)) return nullptr;
  const auto* row = std::find_if(std::begin(kTableRows), std::end(kTableRows), [&](const TableRow& one) {
    return one.operation == method.substr(kTables.size());
  });
  return row == std::end(kTableRows) ? nullptr : row->make(row->operation, kind);
}

}  // namespace itemdb
