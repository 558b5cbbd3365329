#include "tests/storage/database/errors/error_table.h"

#include <map>

#include "daemon/http/api/errors.h"
#include "daemon/rpc/grpc_status.h"
#include "storage/base/service_text.h"
#include "storage/json/json_writer.h"
#include "tests/support/error_details.h"

namespace itemdb::testing::errors {
namespace {

// Adds the placeholders that occur in `text` and have a value below.
template <typename Request>
void GivePlaceholders(Request* request, const std::string& text) {
  static const auto* kValues = new std::map<std::string, v1::AttributeValue>{{":p", S("p")},
                                                                             {":s", S("x")},
                                                                             {":n", N("1")},
                                                                             {":two", N("2")},
                                                                             {":b", B("x")},
                                                                             {":t", True()},
                                                                             {":null", Null()},
                                                                             {":ss", Strings({"x"})},
                                                                             {":ns", Numbers({"1"})},
                                                                             {":l", Wrapped(1)},
                                                                             {":m", Map("k", S("x"))},
                                                                             {":e", S("")},
                                                                             {":big", N("9e125")},
                                                                             {":one", N("1e-20")},
                                                                             {":deep", Wrapped(30)},
                                                                             {":deeper", Wrapped(31)},
                                                                             {":type", S("STRING")},
                                                                             {":fat", S(Long(300'000))},
                                                                             {":long", S(Long(2'049))},
                                                                             {":longer", S(Long(1'025))}};
  for (const auto& [token, value] : *kValues) {
    size_t at = text.find(token);
    bool whole = false;
    for (; at != std::string::npos && !whole; at = text.find(token, at + 1)) {
      char next = at + token.size() < text.size() ? text[at + token.size()] : ' ';
      whole = !isalnum(static_cast<unsigned char>(next)) && next != '_';
    }
    if (!whole) continue;
    if constexpr (requires { request->expression_attribute_values(); }) SetValue(request, token, value);
  }
  if (text.find("#pk") != std::string::npos) SetName(request, "#pk", "pk");
}

}  // namespace

std::unique_ptr<TestDatabase> ErrorTable::database_;

void ErrorTable::SetUpTestSuite() {
  database_ = std::make_unique<TestDatabase>();
  auto things = TableRequest("Things");
  AddIndex(&things, "ByA", {"a:S"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
  AddIndex(&things, "ByMany", {"a:S", "b:N", "c:S", "d:S"}, 2, v1::PROJECTION_TYPE_ALL);
  database_->CreateTable(things);
  auto single = TableRequest("Single", /*sorted=*/false);
  single.set_deletion_protection_enabled(true);
  database_->CreateTable(single);
  ASSERT_TRUE(database_
                  ->Put("Things", {{"pk", S("p")},
                                   {"sk", S("s")},
                                   {"n", N("5")},
                                   {"huge", N("9.9999999999999999999999999999999999999E+125")},
                                   {"txt", S("x")},
                                   {"lst", Wrapped(1)},
                                   {"mp", Map("k", S("x"))},
                                   {"st", Strings({"x"})}})
                  .ok());
  auto token = WriteRequest("Things", {{"pk", S("token")}, {"sk", S("s")}});
  token.set_client_request_token("used");
  ASSERT_TRUE(PutItem(*database_, token).ok());
}

void ErrorTable::TearDownTestSuite() { database_.reset(); }

uint64_t ErrorTable::Sequence() {
  auto reply = database_->ReadChanges(0);
  return reply.ok() ? reply->change_sequence() : 0;
}

TEST_P(ErrorTable, NamesItsRuleInItsWordsAndChangesNothing) {
  const ErrorRow& row = GetParam();
  const uint64_t before = Sequence();
  absl::Status status = row.provoke(*database_);
  EXPECT_EQ(MessageOf(status), row.text.message);
  EXPECT_EQ(ServiceTextOf(status), row.text.service_text);
  EXPECT_EQ(status.code(), row.code);
  EXPECT_EQ(ReasonOf(status), row.reason);
  EXPECT_EQ(RuleOf(status), row.rule);
  EXPECT_EQ(Sequence(), before);
}

// Both protocols send the texts: gRPC the message, and the sentence with the details if it is another; HTTP
// the sentence, and the message as `Detail` if it says more.
TEST_P(ErrorTable, BothProtocolsSendItsTexts) {
  const Words& text = GetParam().text;
  const absl::Status status = GetParam().provoke(*database_);
  const grpc::Status sent = daemon::ToGrpcStatus(status);
  const ErrorDetails details = DetailsOf(sent);
  // Longer ones are cut.
  if (text.message.size() < daemon::kMaxStatusMessageBytes) {
    EXPECT_EQ(sent.error_message(), text.message);
    EXPECT_EQ(details.service_text.value_or(sent.error_message()), text.service_text);
  }
  EXPECT_EQ(details.rule, GetParam().rule);

  const http::JsonReply reply = http::ErrorReply(status, "CreateTable");
  std::string message, detail;
  storage::AppendJsonString(text.service_text, &message);
  storage::AppendJsonString(text.message, &detail);
  EXPECT_NE(reply.body.find("\"message\":" + message), std::string::npos) << reply.body;
  const bool says_more = text.message != text.service_text;
  EXPECT_EQ(reply.body.find("\"Detail\":") != std::string::npos, says_more) << reply.body;
  if (says_more) {
    EXPECT_TRUE(reply.body.ends_with("\"Detail\":" + detail + "}")) << reply.body;
  }
}

Words Apart(const std::string& sentence, const std::string& message) {
  Words words(sentence);
  words.message = message;
  return words;
}

std::string RuleAndPlace(const ::testing::TestParamInfo<ErrorRow>& info) {
  std::string rule = info.param.rule;
  std::erase(rule, '-');
  return rule + "_" + std::to_string(info.index);
}

v1::AttributeValue True() {
  v1::AttributeValue value;
  value.set_bool_(true);
  return value;
}

v1::AttributeValue Null(bool truth) {
  v1::AttributeValue value;
  value.set_null(truth);
  return value;
}

v1::AttributeValue Strings(std::initializer_list<std::string> texts) {
  v1::AttributeValue value;
  value.mutable_ss();
  for (const std::string& text : texts) value.mutable_ss()->add_values(text);
  return value;
}

v1::AttributeValue Numbers(std::initializer_list<std::string> texts) {
  v1::AttributeValue value;
  value.mutable_ns();
  for (const std::string& text : texts) value.mutable_ns()->add_values(text);
  return value;
}

v1::AttributeValue Binaries(std::initializer_list<std::string> texts) {
  v1::AttributeValue value;
  value.mutable_bs();
  for (const std::string& text : texts) value.mutable_bs()->add_values(text);
  return value;
}

v1::AttributeValue Map(const std::string& name, const v1::AttributeValue& element) {
  v1::AttributeValue value;
  auto* attribute = value.mutable_m()->add_attributes();
  attribute->set_name(name);
  *attribute->mutable_value() = element;
  return value;
}

v1::AttributeValue Wrapped(int times, v1::AttributeValue value) {
  for (; times > 0; --times) {
    v1::AttributeValue list;
    *list.mutable_l()->add_values() = std::move(value);
    value = std::move(list);
  }
  return value;
}

std::string Times(int times, const std::string& text, const std::string& separator) {
  std::string result;
  for (int i = 0; i < times; ++i) result += (i > 0 ? separator : "") + text;
  return result;
}

std::string Long(size_t bytes) { return std::string(bytes, 'x'); }

Provoke Put(v1::Item item, const std::string& table) {
  return [item, table](TestDatabase& database) {
    wire::WriteItemRequest request;
    request.set_table_name(table);
    request.set_key_or_item(item.SerializeAsString());
    return PutItem(database, request).status();
  };
}

Provoke PutValue(const std::string& name, const v1::AttributeValue& value) {
  return Put(Item({{"pk", S("p")}, {"sk", S("s")}, {name, value}}));
}

Provoke Write(void (Database::*write)(const wire::WriteItemRequest&, Done<wire::WriteItemReply>,
                                      CancellationPtr),
              std::function<void(wire::WriteItemRequest*)> change) {
  return [write, change](TestDatabase& database) {
    auto request = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
    change(&request);
    return Await<wire::WriteItemReply>(
               [&](auto done) { ((*database).*write)(request, std::move(done), nullptr); })
        .status();
  };
}
Provoke Deleting(std::function<void(wire::WriteItemRequest*)> change) {
  return Write(&Database::DeleteItem, std::move(change));
}
Provoke Updating(std::function<void(wire::WriteItemRequest*)> change) {
  return Write(&Database::UpdateItem, std::move(change));
}

Provoke Condition(const std::string& text) {
  return Deleting([text](auto* request) {
    request->set_condition_expression(text);
    GivePlaceholders(request, text);
  });
}

Provoke Update(const std::string& text) {
  return Updating([text](auto* request) {
    request->set_update_expression(text);
    GivePlaceholders(request, text);
  });
}

Provoke Getting(std::function<void(wire::GetItemRequest*)> change) {
  return [change](TestDatabase& database) {
    wire::GetItemRequest request;
    request.set_table_name("Things");
    request.set_key(Encode({{"pk", S("p")}, {"sk", S("s")}}));
    change(&request);
    return GetItem(database, request).status();
  };
}

Provoke Project(const std::string& text) {
  return Getting([text](auto* request) { request->set_projection_expression(text); });
}

Provoke Querying(std::function<void(wire::PageRequest*)> change) {
  return [change](TestDatabase& database) {
    auto request = QueryRequest("Things", "pk = :p", {{":p", S("p")}});
    change(&request);
    return database.Query(request).status();
  };
}

Provoke KeyCondition(const std::string& text, const std::string& index, const std::string& table) {
  return [text, index, table](TestDatabase& database) {
    auto request = QueryRequest(table, text, {});
    request.set_index_name(index);
    GivePlaceholders(&request, text);
    return database.Query(request).status();
  };
}

Provoke Scanning(std::function<void(wire::PageRequest*)> change) {
  return [change](TestDatabase& database) {
    auto request = ScanRequest("Things");
    change(&request);
    return database.Scan(request).status();
  };
}

Provoke BatchGetting(std::function<void(wire::BatchGetItemRequest*)> change) {
  return [change](TestDatabase& database) {
    wire::BatchGetItemRequest request;
    auto* table = request.add_request_items();
    table->set_table_name("Things");
    table->add_keys(Encode({{"pk", S("p")}, {"sk", S("s")}}));
    change(&request);
    return Await<wire::BatchGetItemReply>(
               [&](auto done) { database->BatchGetItem(request, std::move(done)); })
        .status();
  };
}

Provoke BatchWriting(std::function<void(wire::BatchWriteItemRequest*)> change) {
  return [change](TestDatabase& database) {
    wire::BatchWriteItemRequest request;
    auto* table = request.add_request_items();
    table->set_table_name("Things");
    table->add_write_requests()->mutable_put_request()->set_item(
        Encode({{"pk", S("batch")}, {"sk", S("s")}}));
    change(&request);
    return BatchWrite(database, request).status();
  };
}

Provoke Transacting(std::function<void(wire::TransactWriteItemsRequest*)> change) {
  return [change](TestDatabase& database) {
    wire::TransactWriteItemsRequest request;
    *request.add_transact_items()->mutable_put() =
        WriteRequest("Things", {{"pk", S("transaction")}, {"sk", S("s")}});
    change(&request);
    return database.Transact(request).status();
  };
}

Provoke Creating(std::function<void(v1::CreateTableRequest*)> change) {
  return [change](TestDatabase& database) {
    auto request = TableRequest("New");
    change(&request);
    return CreateTable(database, request).status();
  };
}

}  // namespace itemdb::testing::errors
