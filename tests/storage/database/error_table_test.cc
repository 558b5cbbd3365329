// Every error text of the data model: what provokes it, which rule it names, its exact words; and that
// nothing was changed.

#include <functional>

#include "storage/base/limits.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using Provoke = std::function<absl::Status(TestDatabase&)>;

struct ErrorRow {
  const char* rule;
  Provoke provoke;
  std::string text;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  std::string_view reason = kReasonValidation;
};

v1::AttributeValue True() {
  v1::AttributeValue value;
  value.set_bool_(true);
  return value;
}

v1::AttributeValue Null(bool truth = true) {
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

// `value` in so many lists.
v1::AttributeValue Wrapped(int times, v1::AttributeValue value = S("x")) {
  for (; times > 0; --times) {
    v1::AttributeValue list;
    *list.mutable_l()->add_values() = std::move(value);
    value = std::move(list);
  }
  return value;
}

std::string Times(int times, const std::string& text, const std::string& separator = "") {
  std::string result;
  for (int i = 0; i < times; ++i) result += (i > 0 ? separator : "") + text;
  return result;
}

std::string Long(size_t bytes) { return std::string(bytes, 'x'); }

// Gives the request the placeholders that occur in `text`, as far as there is a meaning for them here.
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

Provoke Put(v1::Item item, const std::string& table = "Things") {
  return [item, table](TestDatabase& database) {
    wire::WriteItemRequest request;
    request.set_table_name(table);
    request.set_key_or_item(item.SerializeAsString());
    return PutItem(database, request).status();
  };
}

// A put of the item p/s with one more attribute.
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

Provoke KeyCondition(const std::string& text, const std::string& index = "",
                     const std::string& table = "Things") {
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

// Makes the request so many bytes long, with a table's name of more than half of that.
void PadTo(size_t bytes, wire::TransactWriteItemsRequest* request) {
  std::string* name = request->mutable_transact_items(0)->mutable_put()->mutable_table_name();
  *name = Long(bytes - request->ByteSizeLong());
  name->resize(name->size() - (request->ByteSizeLong() - bytes));
}

Provoke TransactGetting(std::function<void(wire::TransactGetItemsRequest*)> change) {
  return [change](TestDatabase& database) {
    wire::TransactGetItemsRequest request;
    auto* get = request.add_transact_items();
    get->set_table_name("Things");
    get->set_key(Encode({{"pk", S("p")}, {"sk", S("s")}}));
    change(&request);
    return Await<wire::TransactGetItemsReply>(
               [&](auto done) { database->TransactGetItems(request, std::move(done)); })
        .status();
  };
}

Provoke Creating(std::function<void(v1::CreateTableRequest*)> change) {
  return [change](TestDatabase& database) {
    auto request = TableRequest("New");
    change(&request);
    return CreateTable(database, request).status();
  };
}

Provoke UpdatingTable(std::function<void(v1::UpdateTableRequest*)> change) {
  return [change](TestDatabase& database) {
    v1::UpdateTableRequest request;
    request.set_table_name("Things");
    change(&request);
    return Await<v1::UpdateTableReply>([&](auto done) { database->UpdateTable(request, std::move(done)); })
        .status();
  };
}

Provoke Tagging(std::function<void(v1::TagTableRequest*)> change) {
  return [change](TestDatabase& database) {
    v1::TagTableRequest request;
    request.set_table_name("Things");
    change(&request);
    return Await<v1::TagTableReply>([&](auto done) { database->TagTable(request, std::move(done)); })
        .status();
  };
}

// ---- legacy parameters

Provoke Expecting(std::function<void(wire::ExpectedAttributeValue*)> change) {
  return Deleting([change](auto* request) {
    auto* entry = request->add_expected();
    entry->set_name("a");
    change(entry->mutable_value());
  });
}

Provoke Comparing(v1::ComparisonOperator comparison, const std::vector<v1::AttributeValue>& values) {
  return Scanning([comparison, values](auto* request) {
    auto* entry = request->add_legacy_filter();
    entry->set_name("a");
    entry->mutable_value()->set_comparison_operator(comparison);
    for (const auto& value : values)
      entry->mutable_value()->add_attribute_value_list(value.SerializeAsString());
  });
}

Provoke KeyComparing(v1::ComparisonOperator comparison, const std::vector<v1::AttributeValue>& values,
                     const std::string& name = "pk") {
  return Querying([=](auto* request) {
    request->clear_key_condition_expression();
    request->clear_expression_attribute_values();
    auto* entry = request->add_key_conditions();
    entry->set_name(name);
    entry->mutable_value()->set_comparison_operator(comparison);
    for (const auto& value : values)
      entry->mutable_value()->add_attribute_value_list(value.SerializeAsString());
  });
}

Provoke Acting(v1::AttributeAction action, std::optional<v1::AttributeValue> value,
               const std::string& name = "a") {
  return Updating([=](auto* request) {
    auto* entry = request->add_attribute_updates();
    entry->set_name(name);
    entry->mutable_value()->set_action(action);
    if (value.has_value()) entry->mutable_value()->set_value(value->SerializeAsString());
  });
}

class ErrorTable : public ::testing::TestWithParam<ErrorRow> {
 protected:
  static void SetUpTestSuite() {
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
  static void TearDownTestSuite() { database_.reset(); }

  static uint64_t Sequence() {
    auto reply = database_->ReadChanges(0);
    return reply.ok() ? reply->change_sequence() : 0;
  }

  static std::unique_ptr<TestDatabase> database_;
};

std::unique_ptr<TestDatabase> ErrorTable::database_;

TEST_P(ErrorTable, NamesItsRuleInItsWordsAndChangesNothing) {
  const ErrorRow& row = GetParam();
  const uint64_t before = Sequence();
  absl::Status status = row.provoke(*database_);
  EXPECT_EQ(MessageOf(status), row.text);
  EXPECT_EQ(status.code(), row.code);
  EXPECT_EQ(ReasonOf(status), row.reason);
  EXPECT_EQ(RuleOf(status), row.rule);
  EXPECT_EQ(Sequence(), before);
}

std::vector<ErrorRow> Rows() {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const std::string values = "One or more parameter values were invalid: ";
  const std::string condition = "Invalid ConditionExpression: ";
  const std::string update = "Invalid UpdateExpression: ";
  const std::string keys = "Invalid KeyConditionExpression: ";
  return {
      {"SEM-001", PutValue("fat", S(Long(409'600))),
       "Item size has exceeded the maximum allowed size of 409600 bytes"},
      {"SEM-001", Update("SET one = :fat, two = :fat"),
       "Item size to update has exceeded the maximum allowed size"},
      {"SEM-006", Put(Item({{"pk", S(Long(2'049))}, {"sk", S("s")}})),
       values + "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
      {"SEM-006", Put(Item({{"pk", S("p")}, {"sk", S(Long(1'025))}})),
       values + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
      {"SEM-006", Getting([](auto* r) {
         r->set_key(Encode({{"pk", S(Long(2'049))}, {"sk", S("s")}}));
       }),
       values + "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
      {"SEM-006", Deleting([](auto* r) {
         r->set_key_or_item(Encode({{"pk", S("p")}, {"sk", S(Long(1'025))}}));
       }),
       values + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
      {"SEM-006", KeyCondition("pk = :long"),
       values + "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
      {"SEM-006", KeyCondition("pk = :p AND sk < :longer"),
       values + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
      {"SEM-007", Put(Item({{"pk", S("p")}})), values + "Missing the key sk in the item"},
      {"SEM-007", Put(Item({{"pk", N("1")}, {"sk", S("s")}})),
       values + "Type mismatch for key pk expected: S actual: N"},
      {"SEM-007", Put(Item({{"pk", S("p")}, {"sk", Strings({"s"})}})),
       values + "Type mismatch for key sk expected: S actual: SS"},
      {"SEM-007", Put(Item({{"pk", S("")}, {"sk", S("s")}})),
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
       "empty string value. Key: pk"},
      {"SEM-007", Getting([](auto* r) {
         r->set_key(Encode({{"pk", S("p")}}));
       }),
       "The provided key element does not match the schema; the key of table Things consists of: pk, sk"},
      {"SEM-007", Getting([](auto* r) {
         r->set_key(Encode({{"pk", S("p")}, {"sk", S("s")}, {"a", S("x")}}));
       }),
       "The provided key element does not match the schema; the key of table Things consists of: pk, sk"},
      {"SEM-007", Updating([](auto* r) {
         r->set_key_or_item(Encode({{"pk", S("p")}, {"other", S("s")}}));
       }),
       "The provided key element does not match the schema; the key of table Things consists of: pk, sk"},
      {"SEM-007", Deleting([](auto* r) {
         r->set_key_or_item(Encode({{"pk", S("p")}, {"sk", N("1")}}));
       }),
       values + "Type mismatch for key sk expected: S actual: N"},
      {"SEM-007", Deleting([](auto* r) {
         r->set_key_or_item(Encode({{"pk", S("p")}, {"sk", S("")}}));
       }),
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
       "empty string value. Key: sk"},
      {"SEM-008", Getting([](auto* r) { r->set_table_name("ab"); }),
       "TableName 'ab' is invalid: it must be 3 to 255 characters of a-z, A-Z, 0-9, '_', '.' and '-'"},
      {"SEM-008", Getting([](auto* r) { r->set_table_name("no spaces"); }),
       "TableName 'no spaces' is invalid: it must be 3 to 255 characters of a-z, A-Z, 0-9, '_', '.' and '-'"},
      {"SEM-008",
       Getting([](auto* r) { r->set_table_name("arn:aws:dynamodb:eu-west-1:000000000000:stream/Things"); }),
       "TableName 'arn:aws:dynamodb:eu-west-1:000000000000:stream/Things' is invalid: it must be 3 to 255 "
       "characters of a-z, A-Z, 0-9, '_', '.' and '-'"},
      {"SEM-009", PutValue("", S("x")), values + "Empty attribute name"},
      {"SEM-009", PutValue(Long(65'536), S("x")),
       "Attribute name is too large, must be at most 65535 bytes, has 65536"},
      {"SEM-009", Put([] {
         v1::Item item = Item({{"pk", S("p")}, {"sk", S("s")}});
         *item.add_attributes() = item.attributes(0);
         return item;
       }()),
       "Duplicate attribute name: \"pk\""},
      {"SEM-010", PutValue("v", v1::AttributeValue()),
       "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes (attribute "
       "\"v\")"},
      {"SEM-010", PutValue("v", Null(false)),
       values + "Null attribute value types must have the value of true (attribute \"v\")"},
      {"SEM-011", PutValue("v", N("123456789012345678901234567890123456789")),
       "Attempting to store more than 38 significant digits in a Number (attribute \"v\")"},
      {"SEM-011", PutValue("v", N("1e126")),
       "Number overflow. Attempting to store a number with magnitude larger than supported range (attribute "
       "\"v\")"},
      {"SEM-011", PutValue("v", N("1e-131")),
       "Number underflow. Attempting to store a number with magnitude smaller than supported range "
       "(attribute \"v\")"},
      {"SEM-011", PutValue("v", N("one")),
       "The parameter cannot be converted to a numeric value: one (attribute \"v\")"},
      {"SEM-011", PutValue("v", Numbers({"1e999999999999"})),
       "Number overflow. Attempting to store a number with magnitude larger than supported range (attribute "
       "\"v\")"},
      {"SEM-015", PutValue("v", Strings({"x", "y", "x"})),
       values + "Input collection [x, x] contains duplicates. (attribute \"v\")"},
      {"SEM-015", PutValue("v", Numbers({"1", "1.0"})),
       values + "Input collection [1, 1] contains duplicates. (attribute \"v\")"},
      {"SEM-015", PutValue("v", Binaries({"x", "x"})),
       values + "Input collection [eA==, eA==] contains duplicates. (attribute \"v\")"},
      {"SEM-016", PutValue("v", Strings({})), values + "A string set may not be empty (attribute \"v\")"},
      {"SEM-016", PutValue("v", Numbers({})), values + "A number set may not be empty (attribute \"v\")"},
      {"SEM-016", PutValue("v", Binaries({})), values + "A binary set may not be empty (attribute \"v\")"},
      {"SEM-017", PutValue("v", Wrapped(32)),
       "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "
       "supported limit of 32 (attribute \"v" +
           Times(32, "[0]") + "\")"},
      {"SEM-017", Condition("a" + Times(32, "[0]") + " = :s"),
       condition + "The document path has too many nesting elements; nesting levels: 33, maximum: 32"},
      {"SEM-017", Updating([](auto* r) {
         r->set_update_expression("SET v = :v");
         SetValue(r, ":v", Wrapped(32));
       }),
       "ExpressionAttributeValues contains invalid value: Nesting Levels have exceeded supported limits: "
       "Attributes in the item have nested levels beyond supported limit of 32 (attribute \"" +
           Times(32, "[0]") + "\") for key :v"},
      {"SEM-017", Update("SET mp.k = :deep, lst[0] = :deep, mp.k2 = :deeper"),
       "Nesting Levels have exceeded supported limits: attributes may nest at most 32 levels deep"},
      {"SEM-019", Condition(" "), condition + "The expression can not be empty;"},
      {"SEM-019", Update(" "), update + "The expression can not be empty;"},
      {"SEM-019", Condition("a = :s" + std::string(4'091, ' ')),
       condition +
           "Expression size has exceeded the maximum allowed size; expression size: 4097, maximum: 4096"},
      {"SEM-020", Condition(Times(150, "a = :s", " OR ") + " OR a = :s"),
       condition + "The expression contains too many operators; operator count: 301"},
      {"SEM-021", Condition("a IN (" + Times(101, ":s", ", ") + ")"),
       condition + "The IN operator is provided with too many operands; number of operands: 101"},
      {"SEM-022", Deleting([](auto* r) {
         r->set_condition_expression("a = :" + Long(255));
         SetValue(r, ":" + Long(255), S("x"));
       }),
       "ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is "
       "too long; maximum length: 255"},
      {"SEM-022", Deleting([](auto* r) {
         r->set_condition_expression("#" + Long(255) + " = a");
         SetName(r, "#" + Long(255), "x");
       }),
       "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is "
       "too long; maximum length: 255"},
      {"SEM-022", Deleting([](auto* r) {
         r->set_condition_expression("a = :s");
         SetValue(r, "s", S("x"));
       }),
       "ExpressionAttributeValues contains invalid key: Syntax error; key: \"s\""},
      {"SEM-022", Deleting([](auto* r) {
         r->set_condition_expression("a = :v");
         SetValue(r, ":v", S(Long(2'097'151)));
       }),
       "ExpressionAttributeNames and ExpressionAttributeValues have exceeded the maximum allowed size; size "
       "in bytes: 2097157, maximum: 2097152"},
      {"SEM-022", Deleting([](auto* r) {
         r->set_condition_expression("a = :v");
         SetValue(r, ":v", S("x"));
         SetValue(r, ":v", S("y"));
       }),
       "ExpressionAttributeValues contains a duplicate key: :v"},
      {"SEM-009", Deleting([](auto* r) {
         r->set_condition_expression("#a = b");
         SetName(r, "#a", "");
       }),
       "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"},
      {"SEM-009", Deleting([](auto* r) {
         r->set_condition_expression("#a = b");
         SetName(r, "#a", Long(65'536));
       }),
       "ExpressionAttributeNames contains invalid value: Attribute name exceeds the maximum of 65535 bytes "
       "for key #a"},
      {"SEM-011", Deleting([](auto* r) {
         r->set_condition_expression("a = :v");
         SetValue(r, ":v", N("x"));
       }),
       "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric "
       "value: x for key :v"},
      {"SEM-023", Condition("a.Name = :s"),
       condition + "Attribute name is a reserved keyword; reserved keyword: Name; name it by an #alias"},
      {"SEM-023", Update("REMOVE Status"),
       update + "Attribute name is a reserved keyword; reserved keyword: Status; name it by an #alias"},
      {"SEM-023", Project("size"),
       "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: size; name it "
       "by an #alias"},
      {"SEM-024", Condition("a = :undefined"),
       condition +
           "An expression attribute value used in expression is not defined; attribute value: :undefined"},
      {"SEM-024", Condition("#undefined = :s OR attribute_exists(pk)"),
       condition + "An expression attribute name used in the document path is not defined; attribute name: "
                   "#undefined"},
      {"SEM-024", Deleting([](auto* r) {
         r->set_condition_expression("a = b");
         SetValue(r, ":v", S("x"));
       }),
       "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"},
      {"SEM-024", Deleting([](auto* r) {
         r->set_condition_expression("a = b");
         SetName(r, "#n", "x");
         SetName(r, "#m", "x");
       }),
       "Value provided in ExpressionAttributeNames unused in expressions: keys: {#m, #n}"},
      {"SEM-025", Condition("((a = :s))"), condition + "The expression has redundant parentheses;"},
      {"SEM-025", Condition("((a)) = :s"), condition + "The expression has redundant parentheses;"},
      {"SEM-025", Update("SET a = ((b + :n))"), update + "The expression has redundant parentheses;"},
      {"SEM-026", Deleting([](auto* r) { SetValue(r, ":v", S("x")); }),
       "ExpressionAttributeValues can only be specified when using expressions"},
      {"SEM-026", Getting([](auto* r) { SetName(r, "#n", "x"); }),
       "ExpressionAttributeNames can only be specified when using expressions"},
      {"SEM-026", Updating([](auto* r) {
         r->set_condition_expression("attribute_exists(a)");
         r->set_update_expression("REMOVE a");
         r->add_expected()->set_name("a");
         r->add_attribute_updates()->set_name("a");
         r->set_conditional_operator(v1::CONDITIONAL_OPERATOR_AND);
       }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {AttributeUpdates, Expected, ConditionalOperator} Expression parameters: "
       "{UpdateExpression, ConditionExpression}"},
      {"SEM-026", Getting([](auto* r) {
         r->set_projection_expression("a");
         r->add_attributes_to_get("a");
       }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"},
      {"SEM-026", Querying([](auto* r) {
         r->add_legacy_filter()->set_name("a");
         r->add_attributes_to_get("a");
         r->set_filter_expression("a = b");
       }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {AttributesToGet, QueryFilter} Expression parameters: {FilterExpression, "
       "KeyConditionExpression}"},
      {"SEM-026", Scanning([](auto* r) {
         r->add_legacy_filter()->set_name("a");
         r->set_projection_expression("a");
       }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {ScanFilter} Expression parameters: {ProjectionExpression}"},
      {"SEM-029", Querying([](auto* r) { r->set_limit(0); }), "Limit must be at least 1; it is 0"},
      {"SEM-029", Scanning([](auto* r) { r->set_limit(-1); }), "Limit must be at least 1; it is -1"},
      {"SEM-032", Querying([](auto* r) {
         r->set_exclusive_start_key(Encode({{"pk", S("p")}}));
       }),
       "The provided starting key is invalid: it must consist of exactly these attributes: pk, sk"},
      {"SEM-032", Querying([](auto* r) {
         r->set_exclusive_start_key(Encode({{"pk", S("p")}, {"sk", N("1")}}));
       }),
       "The provided starting key is invalid: One or more parameter values were invalid: Type mismatch for "
       "key sk expected: S actual: N"},
      {"SEM-032", Querying([](auto* r) {
         r->set_exclusive_start_key(Encode({{"pk", S("q")}, {"sk", S("s")}}));
       }),
       "The provided starting key is outside query boundaries based on provided conditions"},
      {"SEM-032", Querying([](auto* r) {
         r->set_key_condition_expression("pk = :p AND sk > :s");
         SetValue(r, ":s", S("m"));
         r->set_exclusive_start_key(Encode({{"pk", S("p")}, {"sk", S("a")}}));
       }),
       "The provided starting key does not match the range key predicate"},
      {"SEM-032",
       [](TestDatabase& database) {
         auto request = QueryRequest("Single", "pk = :p", {{":p", S("p")}});
         request.set_exclusive_start_key(Encode({{"pk", S("p")}}));
         return database.Query(request).status();
       },
       "ExclusiveStartKey makes no sense for a Query on a table without a sort key: there is one item at "
       "most"},
      {"SEM-032", Scanning([](auto* r) {
         r->set_index_name("ByA");
         r->set_exclusive_start_key(Encode({{"pk", S("p")}, {"sk", S("s")}}));
       }),
       "The provided starting key is invalid: it must consist of exactly these attributes: a, pk, sk"},
      {"SEM-033", Scanning([](auto* r) { r->set_segment(0); }),
       "The TotalSegments parameter is required but was not present in the request when Segment parameter is "
       "present"},
      {"SEM-033", Scanning([](auto* r) { r->set_total_segments(1); }),
       "The Segment parameter is required but was not present in the request when parameter TotalSegments is "
       "present"},
      {"SEM-033", Scanning([](auto* r) {
         r->set_segment(2);
         r->set_total_segments(2);
       }),
       "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 2 is not "
       "less than TotalSegments: 2"},
      {"SEM-033", Scanning([](auto* r) {
         r->set_segment(0);
         r->set_total_segments(1'000'001);
       }),
       "TotalSegments must be 1 to 1000000; it is 1000001"},
      {"SEM-033", Scanning([](auto* r) {
         r->set_segment(-1);
         r->set_total_segments(2);
       }),
       "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: -1 is "
       "not less than TotalSegments: 2"},
      {"SEM-033", Querying([](auto* r) {
         r->set_segment(0);
         r->set_total_segments(2);
       }),
       "Query takes neither Segment nor TotalSegments; use Scan"},
      {"SEM-035", Scanning([](auto* r) { r->set_scan_index_forward(false); }),
       "Scan takes neither a key condition nor ScanIndexForward; use Query"},
      {"SEM-036", Scanning([](auto* r) { r->set_select(v1::SELECT_SPECIFIC_ATTRIBUTES); }),
       "Must specify the ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"},
      {"SEM-036", Scanning([](auto* r) { r->set_select(v1::SELECT_ALL_PROJECTED_ATTRIBUTES); }),
       "ALL_PROJECTED_ATTRIBUTES can be used only when an IndexName is given"},
      {"SEM-036", Scanning([](auto* r) {
         r->set_select(v1::SELECT_ALL_ATTRIBUTES);
         r->set_index_name("ByA");
       }),
       values + "Select type ALL_ATTRIBUTES is not supported for global secondary index ByA because its "
                "projection type is not ALL"},
      {"SEM-036", Scanning([](auto* r) {
         r->set_select(v1::SELECT_ALL_ATTRIBUTES);
         r->set_projection_expression("a");
       }),
       "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES"},
      {"SEM-036", Scanning([](auto* r) {
         r->set_select(v1::SELECT_COUNT);
         r->add_attributes_to_get("a");
       }),
       "Cannot specify the AttributesToGet when choosing to get only the Count"},
      {"SEM-036", Scanning([](auto* r) { r->set_select(static_cast<v1::Select>(9)); }),
       "Select 9 is unknown; it must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, SPECIFIC_ATTRIBUTES or "
       "COUNT"},
      {"SEM-036", Scanning([](auto* r) { r->set_count_all(true); }),
       "count_all counts a whole range: it needs Select COUNT and takes no Limit"},
      {"SEM-037", Scanning([](auto* r) {
         r->set_index_name("ByA");
         r->set_filter_expression("n = n2");
       }),
       values + "Secondary index ByA does not project one or more filter attributes: [n]"},
      {"SEM-037", Scanning([](auto* r) {
         r->set_index_name("ByA");
         r->set_projection_expression("pk, n");
       }),
       values + "Secondary index ByA does not project one or more projected attributes: [n]"},
      {"SEM-039", Scanning([](auto* r) { r->set_index_name("Missing"); }),
       "The table does not have the specified index: Missing (table Things)"},
      {"SEM-039", Scanning([](auto* r) { r->set_table_name("Missing"); }),
       "Requested resource not found: Table: Missing not found", absl::StatusCode::kNotFound,
       kReasonResourceNotFound},
      {"SEM-039",
       Getting([](auto* r) { r->set_table_name("arn:aws:dynamodb:eu-west-1:000000000000:table/Missing"); }),
       "Requested resource not found: Table: Missing not found", absl::StatusCode::kNotFound,
       kReasonResourceNotFound},
      {"SEM-039", BatchWriting([](auto* r) { r->mutable_request_items(0)->set_table_name("Missing"); }),
       "Requested resource not found: Table: Missing not found", absl::StatusCode::kNotFound,
       kReasonResourceNotFound},
      {"SEM-039",
       Transacting([](auto* r) { r->mutable_transact_items(0)->mutable_put()->set_table_name("Missing"); }),
       "Requested resource not found: Table: Missing not found", absl::StatusCode::kNotFound,
       kReasonResourceNotFound},
      {"SEM-040", Querying([](auto* r) { r->set_filter_expression("sk = n"); }),
       "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"},
      {"SEM-040", Querying([](auto* r) {
         r->set_filter_expression("n = #pk.x");
         SetName(r, "#pk", "pk");
       }),
       "Filter Expression can only contain non-primary key attributes: Primary key attribute: pk"},
      {"SEM-040",
       [](TestDatabase& database) {
         auto request = QueryRequest("Things", "a = :a AND b = :b", {{":a", S("x")}, {":b", N("1")}});
         request.set_index_name("ByMany");
         request.set_filter_expression("d = n");
         return database.Query(request).status();
       },
       "Filter Expression can only contain non-primary key attributes: Primary key attribute: d"},
      {"SEM-043", BatchGetting([](auto* r) {
         for (int i = 0; i < 100; ++i)
           r->mutable_request_items(0)->add_keys(Encode({{"pk", S(std::to_string(i))}, {"sk", S("s")}}));
       }),
       "a batch must contain 1 to 100 keys; this one has 101"},
      {"SEM-043", BatchGetting([](auto* r) { r->mutable_request_items(0)->clear_keys(); }),
       "the list of keys for table 'Things' is empty"},
      {"SEM-043", BatchGetting([](auto* r) { *r->add_request_items() = r->request_items(0); }),
       "table 'Things' is named twice; put all its keys into one entry"},
      {"SEM-043", BatchGetting([](auto* r) { r->set_max_reply_bytes(0); }),
       "max_reply_bytes must be 1 to 16777216; it is 0"},
      {"SEM-044",
       BatchGetting([](auto* r) { r->mutable_request_items(0)->add_keys(r->request_items(0).keys(0)); }),
       "Provided list of item keys contains duplicates"},
      {"SEM-045", BatchWriting([](auto* r) {
         for (int i = 0; i < 25; ++i)
           r->mutable_request_items(0)->add_write_requests()->mutable_delete_request()->set_key(
               Encode({{"pk", S(std::to_string(i))}, {"sk", S("s")}}));
       }),
       "a batch must contain 1 to 25 write requests; this one has 26"},
      {"SEM-045", BatchWriting([](auto* r) { r->mutable_request_items(0)->add_write_requests(); }),
       "each write request must contain a PutRequest or a DeleteRequest"},
      {"SEM-045", BatchWriting([](auto* r) { r->mutable_request_items(0)->clear_write_requests(); }),
       "the list of write requests for table 'Things' is empty"},
      {"SEM-046", BatchWriting([](auto* r) {
         r->mutable_request_items(0)->add_write_requests()->mutable_delete_request()->set_key(
             Encode({{"pk", S("batch")}, {"sk", S("s")}}));
       }),
       "Provided list of item keys contains duplicates"},
      {"SEM-001", BatchWriting([](auto* r) {
         r->mutable_request_items(0)->add_write_requests()->mutable_put_request()->set_item(
             Encode({{"pk", S("p")}, {"sk", S("s")}, {"fat", S(Long(409'600))}}));
       }),
       "Item size has exceeded the maximum allowed size of 409600 bytes"},
      {"SEM-070", BatchWriting([](auto* r) {
         r->mutable_request_items(0)->add_write_requests()->mutable_put_request()->set_item(
             Encode({{"pk", S("p")}, {"sk", S("s")}, {"a", N("1")}}));
       }),
       values + "Type mismatch for Index Key a Expected: S Actual: N IndexName: ByA"},
      {"SEM-047", Transacting([](auto* r) { r->clear_transact_items(); }),
       "a transaction must contain 1 to 100 actions; this one has 0"},
      {"SEM-047", Transacting([](auto* r) {
         for (int i = 0; i < 100; ++i)
           *r->add_transact_items()->mutable_delete_() =
               WriteRequest("Things", {{"pk", S(std::to_string(i))}, {"sk", S("s")}});
       }),
       "a transaction must contain 1 to 100 actions; this one has 101"},
      {"SEM-047", Transacting([](auto* r) { PadTo(4'194'305, r); }),
       "a transaction may be at most 4194304 bytes long; this one has 4194305"},
      {"SEM-047", Transacting([](auto* r) {
         r->set_large(true);
         PadTo(17'825'793, r);
       }),
       "a transaction may be at most 17825792 bytes long; this one has 17825793"},
      {"SEM-047", Transacting([](auto* r) { r->add_transact_items(); }),
       "each action of a transaction must be a Put, Update, Delete or ConditionCheck"},
      {"SEM-047", Transacting([](auto* r) {
         *r->add_transact_items()->mutable_update() =
             WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
       }),
       "an Update in a transaction needs an UpdateExpression"},
      {"SEM-048",
       Transacting([](auto* r) { *r->add_transact_items()->mutable_delete_() = r->transact_items(0).put(); }),
       "Transaction request cannot include multiple operations on one item"},
      {"SEM-050", Transacting([](auto* r) { r->set_client_request_token(Long(37)); }),
       "ClientRequestToken must be 1 to 36 characters long; it has 37"},
      // SEM-053
      {"EXP-01", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_condition_expression("a b");
       }),
       condition + "Syntax error; token: \"b\", near: \"a b\""},
      // SEM-053
      {"SEM-024", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_condition_expression("a = :v");
       }),
       condition + "An expression attribute value used in expression is not defined; attribute value: :v"},
      // SEM-053
      {"SEM-001", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_key_or_item(
             Encode({{"pk", S("p")}, {"sk", S("s")}, {"fat", S(Long(409'600))}}));
       }),
       "Item size has exceeded the maximum allowed size of 409600 bytes"},
      // SEM-053
      {"SEM-060", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_return_values_on_condition_check_failure(
             static_cast<v1::ReturnValuesOnConditionCheckFailure>(9));
       }),
       "ReturnValuesOnConditionCheckFailure 9 is unknown"},
      // SEM-005
      {"SEM-007", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_key_or_item(
             Encode({{"pk", S("")}, {"sk", S("s")}}));
       }),
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
       "empty string value. Key: pk"},
      {"SEM-054", Transacting([](auto* r) {
         *r->add_transact_items()->mutable_condition_check() =
             WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
       }),
       "a ConditionCheck needs a ConditionExpression"},
      {"SEM-056", TransactGetting([](auto* r) { r->clear_transact_items(); }),
       "a transaction must contain 1 to 100 gets; this one has 0"},
      {"SEM-048", TransactGetting([](auto* r) { *r->add_transact_items() = r->transact_items(0); }),
       "Transaction request cannot include multiple operations on one item"},
      {"ERR-08", Write(&Database::PutItem, [](auto* r) { r->set_client_request_token("used"); }),
       "the client request token used was used for a request with other parameters in the last 10 minutes",
       kInvalid, kReasonIdempotentParameterMismatch},
      {"SEM-058", Deleting([](auto* r) { r->set_return_values(v1::RETURN_VALUES_ALL_NEW); }),
       "Return values set to invalid value: only NONE and ALL_OLD are allowed here"},
      {"SEM-058", Updating([](auto* r) { r->set_return_values(static_cast<v1::ReturnValues>(9)); }),
       "ReturnValues 9 is unknown"},
      {"SEM-060", Updating([](auto* r) {
         r->set_return_values_on_condition_check_failure(
             static_cast<v1::ReturnValuesOnConditionCheckFailure>(9));
       }),
       "ReturnValuesOnConditionCheckFailure 9 is unknown"},
      {"SEM-061",
       Getting([](auto* r) { r->set_return_consumed_capacity(static_cast<v1::ReturnConsumedCapacity>(9)); }),
       "ReturnConsumedCapacity 9 is unknown; it must be NONE, TOTAL or INDEXES"},
      {"SEM-070", PutValue("a", N("1")),
       values + "Type mismatch for Index Key a Expected: S Actual: N IndexName: ByA"},
      {"SEM-070", PutValue("a", Null()),
       values + "Type mismatch for Index Key a Expected: S Actual: NULL IndexName: ByA"},
      {"SEM-070", PutValue("a", S("")),
       "One or more parameter values are not valid. A value specified for a secondary index key is not "
       "supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: "
       "ByA, IndexKey: a"},
      {"SEM-070", Update("SET b = :s"),
       values + "Type mismatch for Index Key b Expected: N Actual: S IndexName: ByMany"},
      {"SEM-084", PutValue("a", S(Long(2'049))),
       values + "Aggregate size for HASH key attributes [a] of index ByA has exceeded limit 2048 bytes, with "
                "actual size 2049 bytes"},
      {"SEM-084", Put(Item({{"pk", S("p")}, {"sk", S("s")}, {"c", S(Long(600))}, {"d", S(Long(600))}})),
       values + "Aggregate size for RANGE key attributes [c, d] of index ByMany has exceeded limit 1024 "
                "bytes, with actual size 1200 bytes"},
      {"SEM-071", Update("SET a.x = :s"),
       "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
       "IndexKey: a"},
      {"SEM-071", Update("REMOVE c[0]"),
       "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
       "IndexKey: c"},
      {"SEM-080", KeyCondition("a = :s", "ByMany"),
       "HASH key attributes a, b must have equality conditions specified in the query"},
      {"SEM-081", KeyCondition("a = :s AND b = :n AND d = :s", "ByMany"),
       "RANGE key attributes c must have equality conditions specified in the query because a condition is "
       "present on key attribute d"},
      {"SEM-081", KeyCondition("a = :s AND b = :n AND c > :s AND d = :s", "ByMany"),
       "RANGE key attributes c must have equality conditions specified in the query because a condition is "
       "present on key attribute d"},
      {"EXP-01", Condition("a ="), condition + "Syntax error; token: \"<EOF>\", near: \"=\""},
      {"EXP-01", Condition("a ! b"), condition + "Syntax error; token: \"!\", near: \"a ! b\""},
      {"EXP-01", Condition("a = 1"), condition + "Syntax error; token: \"1\", near: \"= 1\""},
      {"EXP-01", Update("SET a"), update + "Syntax error; token: \"<EOF>\", near: \"a\""},
      {"EXP-01", Update("ADD a b"), update + "Syntax error; token: \"b\", near: \"a b\""},
      {"EXP-01", Project("a,,b"), "Invalid ProjectionExpression: Syntax error; token: \",\", near: \",,b\""},
      {"EXP-02", Condition("a[9999999999] = :s"),
       condition + "List index is not within the allowable range; index: [9999999999]"},
      {"EXP-04", Condition("attribute_exists(a, b)"),
       condition + "Incorrect number of operands for operator or function; operator or function: "
                   "attribute_exists, number of operands: 2"},
      {"EXP-04", Condition("attribute_exists(:s)"),
       condition + "Operator or function requires a document path; operator or function: attribute_exists"},
      {"EXP-04", Condition("ATTRIBUTE_EXISTS(a)"),
       condition + "Invalid function name; function: ATTRIBUTE_EXISTS"},
      {"EXP-04", Condition("if_not_exists(a, b) = :s"),
       condition + "The function is not allowed in a condition expression; function: if_not_exists"},
      {"EXP-05", Condition("size(a)"),
       condition + "The function is not allowed to be used this way in an expression; function: size"},
      {"EXP-05", Condition("a = attribute_exists(b)"),
       condition +
           "The function is not allowed to be used this way in an expression; function: attribute_exists"},
      {"EXP-05", Condition("contains(a, size(b))"),
       condition + "The function is not allowed to be used this way in an expression; function: size"},
      {"EXP-08", KeyCondition("pk <> :p"), "Invalid operator used in KeyConditionExpression: <>"},
      {"EXP-08", KeyCondition("pk = :p OR sk = :s"), "Invalid operator used in KeyConditionExpression: OR"},
      {"EXP-08", KeyCondition("NOT pk = :p"), "Invalid operator used in KeyConditionExpression: NOT"},
      {"EXP-08", KeyCondition("pk IN (:p)"), "Invalid operator used in KeyConditionExpression: IN"},
      {"EXP-08", KeyCondition("pk.x = :p"),
       "KeyConditionExpressions cannot have conditions on nested attributes"},
      {"EXP-08", KeyCondition("size(pk) = :n"), "KeyConditionExpressions cannot contain nested operations"},
      {"EXP-08", KeyCondition("pk = sk"),
       "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
      {"EXP-08", KeyCondition(":p = :s"),
       "Invalid condition in KeyConditionExpression: No key attribute specified"},
      {"EXP-09", Update("SET a = :s SET b = :s"),
       update + "The \"SET\" section can only be used once in an update expression;"},
      {"EXP-10", Update("SET a = size(b)"),
       update + "The function is not allowed in an update expression; function: size"},
      {"EXP-10", Update("SET a = list_append(b, :s)"),
       update + "Incorrect operand type for operator or function; operator or function: list_append, operand "
                "type: S"},
      {"EXP-10", Update("SET a = list_append(txt, :l)"),
       "An operand in the update expression has an incorrect data type"},
      {"EXP-13", Condition("a < :t"),
       condition +
           "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"},
      {"EXP-15", Condition("attribute_type(a, :type)"),
       condition + "Invalid attribute type name found; type: {S:STRING}, valid types: "
                   "{S,N,B,SS,NS,BS,L,M,BOOL,NULL}"},
      {"EXP-15", Condition("attribute_type(a, :n)"),
       condition + "Incorrect operand type for operator or function; operator or function: attribute_type, "
                   "operand type: N"},
      {"EXP-15", Condition("attribute_type(a, b)"),
       condition + "The second operand of attribute_type must be an expression attribute value of type S"},
      {"EXP-16", Condition("begins_with(a, :n)"),
       condition + "Incorrect operand type for operator or function; operator or function: begins_with, "
                   "operand type: N"},
      {"EXP-16", Condition("begins_with(:t, a)"),
       condition + "Incorrect operand type for operator or function; operator or function: begins_with, "
                   "operand type: BOOL"},
      {"EXP-17", Condition("contains(a, a)"),
       condition + "The first operand must be distinct from the remaining operands for this operator or "
                   "function; operator: contains, first operand: [a]"},
      {"EXP-17", Condition("contains(:n, a)"),
       condition + "Incorrect operand type for operator or function; operator or function: contains, operand "
                   "type: N"},
      {"EXP-18", Condition("size(:n) = a"),
       condition +
           "Incorrect operand type for operator or function; operator or function: size, operand type: N"},
      {"EXP-19", Condition("a BETWEEN :two AND :n"),
       condition + "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
                   "lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"},
      {"EXP-19", Condition("a BETWEEN :n AND :s"),
       condition + "The BETWEEN operator requires same data type for lower and upper bounds; lower bound "
                   "operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:x}"},
      {"EXP-19", Condition("a BETWEEN :l AND :s"),
       condition +
           "Incorrect operand type for operator or function; operator or function: BETWEEN, operand type: L"},
      {"EXP-19", KeyCondition("pk = :p AND sk BETWEEN :s AND :p"),
       keys + "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower "
              "bound operand: AttributeValue: {S:x}, upper bound operand: AttributeValue: {S:p}"},
      {"EXP-21", KeyCondition("sk = :s"), "Query condition missed key schema element: pk"},
      {"EXP-21", KeyCondition("pk > :p"),
       "Query key condition not supported: partition key attribute pk allows only ="},
      {"EXP-21", KeyCondition("pk = :p AND pk = :s"),
       "KeyConditionExpressions must only contain one condition per key"},
      {"EXP-21", KeyCondition("pk = :p AND n = :n"),
       "Query key condition not supported: attribute n is not in the key schema (pk, sk)"},
      {"EXP-21", KeyCondition("pk = :n"),
       values + "Condition parameter type does not match schema type; key: pk, expected: S, actual: N"},
      {"EXP-21", Querying([](auto* r) {
         r->clear_key_condition_expression();
         r->clear_expression_attribute_values();
       }),
       "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request"},
      // EXP-22
      {"EXP-16", KeyCondition("pk = :p AND begins_with(sk, :n)", "", "Missing"),
       keys + "Incorrect operand type for operator or function; operator or function: begins_with, operand "
              "type: N"},
      // EXP-22
      {"EXP-08", KeyCondition("pk <> :p AND begins_with(sk, :n)"),
       "Invalid operator used in KeyConditionExpression: <>"},
      {"EXP-24", Update("SET mp = :s, mp.k = :s"),
       update + "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
                "one: [mp], path two: [mp, k]"},
      {"EXP-24", Update("SET mp.k = :s, mp[0] = :s"),
       update + "Two document paths conflict with each other; must remove or rewrite one of these paths; "
                "path one: [mp, k], path two: [mp, [0]]"},
      {"EXP-24", Project("a.b, a"),
       "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one "
       "of these paths; path one: [a, b], path two: [a]"},
      {"EXP-26", Update("SET gone.k = :s"),
       "The document path provided in the update expression is invalid for update: [gone, k]"},
      {"EXP-26", Update("SET txt[0] = :s"),
       "The document path provided in the update expression is invalid for update: [txt, [0]]"},
      // EXP-27
      {"EXP-26", Update("REMOVE gone.k"),
       "The document path provided in the update expression is invalid for update: [gone, k]"},
      {"EXP-28", Update("ADD a :s"),
       update +
           "Incorrect operand type for operator or function; operator or function: ADD, operand type: S"},
      {"EXP-28", Update("ADD txt :n"), "An operand in the update expression has an incorrect data type"},
      {"EXP-28", Update("ADD st :ns"), "An operand in the update expression has an incorrect data type"},
      {"EXP-29", Update("DELETE st :s"),
       update +
           "Incorrect operand type for operator or function; operator or function: DELETE, operand type: S"},
      {"EXP-29", Update("DELETE st :ns"), "An operand in the update expression has an incorrect data type"},
      {"EXP-30", Update("SET a = gone + :n"),
       "The provided expression refers to an attribute that does not exist in the item: [gone]"},
      {"EXP-30", Update("SET a = txt + :n"),
       "An operand in the update expression has an incorrect data type"},
      {"EXP-30", Update("SET a = n - :s"),
       update + "Incorrect operand type for operator or function; operator or function: -, operand type: S"},
      // EXP-30
      {"SEM-011", Update("ADD huge :big"), "Attempting to store more than 38 significant digits in a Number"},
      // EXP-30
      {"SEM-011", Update("SET a = huge + :one"),
       "Attempting to store more than 38 significant digits in a Number"},
      // EXP-31
      {"EXP-01", Update("SET a = if_not_exists(a, b + :n)"),
       update + "Syntax error; token: \"+\", near: \"b + :n\""},
      {"EXP-32", Update("SET pk = :s"),
       values + "Cannot update attribute pk. This attribute is part of the key"},
      {"EXP-32", Update("REMOVE sk.x"),
       values + "Cannot update attribute sk. This attribute is part of the key"},
      // EXP-34
      {"EXP-24", Project("a[0], a[0]"),
       "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one "
       "of these paths; path one: [a, [0]], path two: [a, [0]]"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_BETWEEN, {N("1")}),
       values + "Invalid number of argument(s) for the BETWEEN ComparisonOperator"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_NULL, {N("1")}),
       values + "Invalid number of argument(s) for the NULL ComparisonOperator"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_EQ, {}),
       values + "Invalid number of argument(s) for the EQ ComparisonOperator"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_IN, {}),
       values + "Invalid number of argument(s) for the IN ComparisonOperator"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_IN, std::vector<v1::AttributeValue>(101, N("1"))),
       values + "Invalid number of argument(s) for the IN ComparisonOperator"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_IN, {N("1"), S("x")}),
       values + "AttributeValues inside AttributeValueList must be of same type"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_LT, {True()}),
       values + "ComparisonOperator LT is not valid for BOOL AttributeValue type"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_CONTAINS, {Strings({"x"})}),
       values + "ComparisonOperator CONTAINS is not valid for SS AttributeValue type"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_BEGINS_WITH, {N("1")}),
       values + "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_BETWEEN, {N("2"), N("1")}),
       "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_UNSPECIFIED, {N("1")}),
       values + "the condition on attribute a needs a ComparisonOperator: one of EQ, NE, IN, LE, LT, GE, GT, "
                "BETWEEN, NOT_NULL, NULL, CONTAINS, NOT_CONTAINS, BEGINS_WITH"},
      // SEM-112
      {"SEM-016", Comparing(v1::COMPARISON_OPERATOR_EQ, {Strings({})}),
       values + "A string set may not be empty (attribute \"a\")"},
      {"SEM-112", Expecting([](auto* e) {
         e->set_value(N("1").SerializeAsString());
         e->add_attribute_value_list(N("1").SerializeAsString());
       }),
       values + "Value and AttributeValueList cannot be used together for Attribute: a"},
      {"SEM-112", Expecting([](auto* e) {
         e->set_exists(true);
         e->set_comparison_operator(v1::COMPARISON_OPERATOR_NULL);
       }),
       values + "Exists and ComparisonOperator cannot be used together for Attribute: a"},
      {"SEM-112", Expecting([](auto* e) { e->set_comparison_operator(v1::COMPARISON_OPERATOR_GE); }),
       values + "Value or AttributeValueList must be used with ComparisonOperator: GE for Attribute: a"},
      {"SEM-112", Expecting([](auto* e) { e->add_attribute_value_list(N("1").SerializeAsString()); }),
       values + "AttributeValueList can only be used with a ComparisonOperator for Attribute: a"},
      {"SEM-112", Expecting([](auto*) {}),
       values + "Value must be provided when Exists is null for Attribute: a"},
      {"SEM-112", Expecting([](auto* e) { e->set_exists(true); }),
       values + "Value must be provided when Exists is true for Attribute: a"},
      {"SEM-112", Expecting([](auto* e) {
         e->set_exists(false);
         e->set_value(N("1").SerializeAsString());
       }),
       values + "Value cannot be used when Exists is false for Attribute: a"},
      {"SEM-112", Deleting([](auto* r) { r->set_conditional_operator(v1::CONDITIONAL_OPERATOR_OR); }),
       "ConditionalOperator cannot be used without Filter or Expected"},
      {"SEM-112",
       Deleting([](auto* r) { r->set_conditional_operator(static_cast<v1::ConditionalOperator>(9)); }),
       values + "ConditionalOperator 9 is unknown; it must be AND or OR"},
      {"SEM-112", Acting(v1::ATTRIBUTE_ACTION_PUT, std::nullopt),
       values + "Only DELETE action is allowed when no attribute value is specified"},
      {"SEM-112", Acting(v1::ATTRIBUTE_ACTION_ADD, S("x")),
       values + "ADD action is not supported for the type S"},
      {"SEM-112", Acting(v1::ATTRIBUTE_ACTION_DELETE, N("1")),
       values + "DELETE action with value is not supported for the type N"},
      {"SEM-112", Acting(static_cast<v1::AttributeAction>(9), N("1")),
       values + "the action 9 for attribute a is unknown; it must be PUT, ADD or DELETE"},
      // SEM-112
      {"EXP-28", Acting(v1::ATTRIBUTE_ACTION_ADD, N("1"), "txt"), "Type mismatch for attribute to update"},
      // SEM-112
      {"EXP-10", Acting(v1::ATTRIBUTE_ACTION_ADD, Wrapped(1), "txt"),
       "Type mismatch for attribute to update"},
      // SEM-112
      {"EXP-32", Acting(v1::ATTRIBUTE_ACTION_PUT, S("x"), "pk"),
       values + "Cannot update attribute pk. This attribute is part of the key"},
      {"SEM-112", Acting(v1::ATTRIBUTE_ACTION_PUT, S("x"), ""),
       values + "Empty attribute name in AttributeUpdates"},
      {"SEM-112", Getting([](auto* r) {
         r->add_attributes_to_get("a");
         r->add_attributes_to_get("a");
       }),
       values + "Duplicate value in attribute name: a"},
      {"SEM-112", KeyComparing(v1::COMPARISON_OPERATOR_NE, {S("p")}),
       "Attempted conditional constraint is not an indexable operation"},
      // SEM-112
      {"EXP-21", KeyComparing(v1::COMPARISON_OPERATOR_GT, {S("p")}),
       "Query key condition not supported: partition key attribute pk allows only ="},
      // SEM-112
      {"EXP-21", KeyComparing(v1::COMPARISON_OPERATOR_EQ, {S("p")}, "sk"),
       "Query condition missed key schema element: pk"},
      // SEM-112
      {"SEM-040", Querying([](auto* r) {
         r->clear_key_condition_expression();
         r->clear_expression_attribute_values();
         auto* k = r->add_key_conditions();
         k->set_name("pk");
         k->mutable_value()->set_comparison_operator(v1::COMPARISON_OPERATOR_EQ);
         k->mutable_value()->add_attribute_value_list(S("p").SerializeAsString());
         auto* f = r->add_legacy_filter();
         f->set_name("sk");
         f->mutable_value()->set_comparison_operator(v1::COMPARISON_OPERATOR_NOT_NULL);
       }),
       "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk"},
      // SEM-115
      {"SEM-026", Updating([](auto* r) {
         r->set_table_name("Missing");
         r->set_update_expression("SET");
         r->add_attribute_updates()->set_name("a");
       }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {AttributeUpdates} Expression parameters: {UpdateExpression}"},
      // SEM-115
      {"EXP-01", Updating([](auto* r) {
         r->set_table_name("Missing");
         r->set_update_expression("SET");
         r->set_key_or_item("no item");
       }),
       update + "Syntax error; token: \"<EOF>\", near: \"SET\""},
      // SEM-115
      {"SEM-009", Put(Item({{"", S("p")}}), "Missing"), values + "Empty attribute name"},
      // SEM-115
      {"SEM-039", Put(Item({{"pk", N("1")}}), "Missing"),
       "Requested resource not found: Table: Missing not found", absl::StatusCode::kNotFound,
       kReasonResourceNotFound},
      // SEM-115
      {"SEM-007", Updating([](auto* r) {
         r->set_key_or_item(Encode({{"pk", S("p")}}));
         r->set_update_expression("SET pk = :v");
         SetValue(r, ":v", S("x"));
       }),
       "The provided key element does not match the schema; the key of table Things consists of: pk, sk"},
      {"SEM-067", Creating([](auto* r) {
         for (int i = 0; i < 21; ++i)
           AddIndex(r, "Index" + std::to_string(i), {"a:S"}, 1, v1::PROJECTION_TYPE_ALL);
       }),
       values + "table New has 21 global secondary indexes; at most 20 are allowed"},
      {"SEM-067", Creating([](auto* r) {
         for (int i = 0; i < 2; ++i) AddIndex(r, "Twice", {"a:S"}, 1, v1::PROJECTION_TYPE_ALL);
       }),
       values + "Duplicate index name: Twice"},
      {"SEM-068", Creating([](auto* r) { AddIndex(r, "Index", {"a:S"}, 1, v1::PROJECTION_TYPE_INCLUDE); }),
       values + "ProjectionType of index Index is INCLUDE, but NonKeyAttributes is not specified"},
      {"SEM-068", Creating([](auto* r) { AddIndex(r, "Index", {"a:S"}, 1, v1::PROJECTION_TYPE_ALL, {"b"}); }),
       values + "ProjectionType of index Index is ALL, but NonKeyAttributes is specified"},
      {"SEM-068",
       Creating([](auto* r) { AddIndex(r, "Index", {"a:S"}, 1, v1::PROJECTION_TYPE_UNSPECIFIED); }),
       values + "ProjectionType of index Index must be KEYS_ONLY, INCLUDE or ALL"},
      {"SEM-077", Creating([](auto* r) {
         AddIndex(r, "Index", {"a:S", "b:S", "c:S", "d:S", "e:S"}, 5, v1::PROJECTION_TYPE_ALL);
       }),
       "The KeySchema exceeds the maximum allowed number of HASH/RANGE key attributes: index Index may have "
       "4 HASH and 4 RANGE"},
      {"SEM-078", Creating([](auto* r) { r->mutable_key_schema()->SwapElements(0, 1); }),
       "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
      {"SEM-079", Creating([](auto* r) { r->mutable_attribute_definitions()->RemoveLast(); }),
       values + "Some index key attributes are not defined in AttributeDefinitions. Keys: [sk], "
                "AttributeDefinitions: [pk]"},
      {"SEM-093", Creating([](auto* r) { r->clear_key_schema(); }),
       values + "the KeySchema of table New is empty; it needs a HASH key attribute"},
      {"SEM-093", Creating([](auto* r) {
         r->add_attribute_definitions()->set_attribute_name("unused");
         r->mutable_attribute_definitions()->rbegin()->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_S);
       }),
       values + "Some AttributeDefinitions are not used. AttributeDefinitions: [pk, sk, unused], keys used: "
                "[pk, sk]"},
      {"SEM-093", Creating([](auto* r) { r->set_billing_mode(v1::BILLING_MODE_PROVISIONED); }),
       values + "ProvisionedThroughput of table New must be given when BillingMode is PROVISIONED (the "
                "default); use PAY_PER_REQUEST to leave it out"},
      {"SEM-008", Creating([](auto* r) { r->set_table_name(Long(256)); }),
       "TableName '" + Long(255) +
           "' is invalid: it must be 3 to 255 characters of a-z, A-Z, 0-9, '_', '.' and '-'"},
      {"SEM-093", Creating([](auto* r) { r->set_table_name("Things"); }), "Table already exists: Things",
       absl::StatusCode::kAlreadyExists, kReasonResourceInUse},
      {"SEM-094", [](TestDatabase& database) { return DeleteTable(database, "Single").status(); },
       "Resource cannot be deleted as it is currently protected against deletion. Disable deletion "
       "protection first. Table: Single"},
      {"SEM-095", UpdatingTable([](auto*) {}),
       values +
           "at least one of BillingMode, ProvisionedThroughput, index throughputs, an index to create or "
           "delete, DeletionProtectionEnabled, StreamEnabled, StreamViewType, TableClass, SSESpecification, "
           "OnDemandThroughput and WarmThroughput must be given"},
      {"SEM-099", UpdatingTable([](auto* r) { r->mutable_warm_throughput(); }),
       values + "WarmThroughput must give ReadUnitsPerSecond, WriteUnitsPerSecond or both"},
      {"SEM-099", UpdatingTable([](auto* r) { r->set_table_class(static_cast<v1::TableClass>(9)); }),
       values + "TableClass must be STANDARD or STANDARD_INFREQUENT_ACCESS"},
      {"SEM-099", UpdatingTable([](auto* r) {
         r->mutable_sse_specification()->set_enabled(true);
         r->mutable_sse_specification()->set_sse_type("DES");
       }),
       values + "SSEType must be AES256 or KMS; it is 'DES'"},
      {"SEM-099", UpdatingTable([](auto* r) { r->mutable_sse_specification()->set_sse_type("KMS"); }),
       values + "SSEType and KMSMasterKeyId must not be given when SSESpecification is not enabled"},
      {"SEM-099", UpdatingTable([](auto* r) { r->mutable_sse_specification()->set_kms_master_key_id("k"); }),
       values + "SSEType and KMSMasterKeyId must not be given when SSESpecification is not enabled"},
      {"SEM-099", UpdatingTable([](auto* r) {
         r->mutable_sse_specification()->set_enabled(true);
         r->mutable_sse_specification()->set_sse_type("AES256");
         r->mutable_sse_specification()->set_kms_master_key_id("k");
       }),
       values + "KMSMasterKeyId must not be given when SSEType is AES256"},
      {"SEM-099", Creating([](auto* r) {
         r->mutable_sse_specification()->set_enabled(true);
         r->mutable_sse_specification()->set_kms_master_key_id(Long(kMaxKmsKeyIdBytes + 1));
       }),
       values + "KMSMasterKeyId has 2049 bytes; at most 2048 are allowed"},
      {"SEM-099", UpdatingTable([](auto* r) { r->mutable_on_demand_throughput(); }),
       values + "OnDemandThroughput must give MaxReadRequestUnits, MaxWriteRequestUnits or both"},
      {"SEM-099",
       UpdatingTable([](auto* r) { r->mutable_on_demand_throughput()->set_max_read_request_units(0); }),
       values +
           "MaxReadRequestUnits and MaxWriteRequestUnits of OnDemandThroughput must be at least 1, or -1 for "
           "no bound"},
      {"SEM-099",
       UpdatingTable([](auto* r) { r->mutable_on_demand_throughput()->set_max_write_request_units(-2); }),
       values +
           "MaxReadRequestUnits and MaxWriteRequestUnits of OnDemandThroughput must be at least 1, or -1 for "
           "no bound"},
      {"SEM-099", UpdatingTable([](auto* r) { r->mutable_warm_throughput()->set_read_units_per_second(0); }),
       values + "ReadUnitsPerSecond and WriteUnitsPerSecond of WarmThroughput must be at least 1"},
      {"SEM-099",
       UpdatingTable([](auto* r) { r->mutable_warm_throughput()->set_write_units_per_second(-1); }),
       values + "ReadUnitsPerSecond and WriteUnitsPerSecond of WarmThroughput must be at least 1"},
      {"SEM-066", Deleting([](auto* r) {
         r->set_return_item_collection_metrics(static_cast<v1::ReturnItemCollectionMetrics>(9));
       }),
       "ReturnItemCollectionMetrics 9 is unknown; it must be NONE or SIZE"},
      {"SEM-105",
       [](TestDatabase& database) {
         v1::ReadChangesRequest request;
         request.set_limit(1'001);
         return Await<v1::ReadChangesReply>(
                    [&](auto done) { database->ReadChanges(request, std::move(done)); })
             .status();
       },
       "Limit must be 1 to 1000; it is 1001"},
      {"OP-04",
       [](TestDatabase& database) {
         v1::ListTablesRequest request;
         request.set_limit(101);
         return database->ListTables(request).status();
       },
       "Limit must be 1 to 100; it is 101"},
      {"SEM-091", Creating([](auto* r) {
         auto* index = r->add_local_secondary_indexes();
         index->set_index_name("Local");
         *index->mutable_key_schema() = r->key_schema();
         index->mutable_key_schema()->RemoveLast();
         index->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_ALL);
       }),
       values + "Index KeySchema does not have a range key for index: Local"},
      {"SEM-091", Creating([](auto* r) {
         auto* index = r->add_local_secondary_indexes();
         index->set_index_name("Local");
         *index->mutable_key_schema() = r->key_schema();
         index->mutable_key_schema(0)->set_attribute_name("sk");
         index->mutable_key_schema(1)->set_attribute_name("pk");
         index->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_ALL);
       }),
       values + "Index KeySchema does not have the same leading hash key as table KeySchema for index: "
                "Local. index "
                "hash key: sk, table hash key: pk"},
      {"OP-08", Tagging([](auto*) {}), values + "Tags must name at least one tag"},
      {"OP-08", Tagging([](auto* r) { r->add_tags()->set_key(Long(129)); }),
       values + "a tag key must be 1 to 128 characters long; one has 129"},
  };
}

INSTANTIATE_TEST_SUITE_P(Rows, ErrorTable, ::testing::ValuesIn(Rows()), [](const auto& info) {
  std::string rule = info.param.rule;
  std::erase(rule, '-');
  return rule + "_" + std::to_string(info.index);
});

// The other side of the bounds above: the last value that is allowed.
TEST(Bounds, WhatIsExactlyAtABoundIsAccepted) {
  struct Accepted {
    const char* rule;
    Provoke request;
  };
  const Accepted rows[] = {
      {"SEM-006", Put(Item({{"pk", S(Long(2'048))}, {"sk", S(Long(1'024))}}))},
      {"SEM-006", Getting([](auto* r) {
         r->set_key(Encode({{"pk", S(Long(2'048))}, {"sk", S(Long(1'024))}}));
       })},
      {"SEM-008", Creating([](auto* r) { r->set_table_name(Long(255)); })},
      {"SEM-008", Creating([](auto* r) { r->set_table_name("a.b"); })},
      {"SEM-009", PutValue(Long(65'535), S("x"))},
      {"SEM-011", PutValue("v", N("12345678901234567890123456789012345678"))},
      {"SEM-011", PutValue("v", N("-9.9999999999999999999999999999999999999E+125"))},
      {"SEM-011", PutValue("v", N("1E-130"))},
      {"SEM-016", PutValue("v", Strings({""}))},
      {"SEM-017", PutValue("v", Wrapped(31))},
      {"SEM-017", Condition("attribute_not_exists(a" + Times(31, "[0]") + ")")},
      {"SEM-019", Condition("a <> :s" + std::string(4'089, ' '))},
      {"SEM-020", Condition(Times(150, "a <> :s", " OR ") + " OR attribute_exists(pk)")},
      {"SEM-021", Condition("NOT a IN (" + Times(100, ":s", ", ") + ")")},
      {"SEM-022", Deleting([](auto* r) {
         r->set_condition_expression("a <> :" + Long(254));
         SetValue(r, ":" + Long(254), S("x"));
       })},
      {"SEM-022", Deleting([](auto* r) {
         r->set_condition_expression("a <> :v");
         // The token, and the tag and length of the value's encoding, count too.
         SetValue(r, ":v", S(Long((2 << 20) - 2 - 5)));
       })},
      {"SEM-025", Condition("((a = :s) AND b = :s) OR attribute_exists(pk)")},
      {"SEM-033", Scanning([](auto* r) {
         r->set_segment(999'999);
         r->set_total_segments(1'000'000);
       })},
      {"SEM-043", BatchGetting([](auto* r) {
         for (int i = 1; i < 100; ++i)
           r->mutable_request_items(0)->add_keys(Encode({{"pk", S(std::to_string(i))}, {"sk", S("s")}}));
       })},
      {"SEM-045", BatchWriting([](auto* r) {
         for (int i = 1; i < 25; ++i) {
           r->mutable_request_items(0)->add_write_requests()->mutable_delete_request()->set_key(
               Encode({{"pk", S(std::to_string(i))}, {"sk", S("s")}}));
         }
       })},
      {"SEM-047", Transacting([](auto* r) {
         for (int i = 1; i < 100; ++i) {
           *r->add_transact_items()->mutable_delete_() =
               WriteRequest("Things", {{"pk", S(std::to_string(i))}, {"sk", S("s")}});
         }
       })},
      {"SEM-050", Write(&Database::PutItem, [](auto* r) { r->set_client_request_token(Long(36)); })},
      {"SEM-099", Creating([](auto* r) {
         r->set_table_name("Encrypted");
         r->mutable_sse_specification()->set_enabled(true);
         r->mutable_sse_specification()->set_kms_master_key_id(Long(kMaxKmsKeyIdBytes));
         r->mutable_on_demand_throughput()->set_max_read_request_units(1);
         r->mutable_on_demand_throughput()->set_max_write_request_units(-1);
         r->mutable_warm_throughput()->set_read_units_per_second(1);
       })}};
  TestDatabase database;
  database.CreateTable(TableRequest("Things"));
  for (const Accepted& row : rows) {
    SCOPED_TRACE(row.rule);
    EXPECT_EQ(row.request(database), absl::OkStatus());
  }
}

// SEM-092. QUEUE_FULL and DISK_FULL, which need a disk that fails, have their words in
// tests/storage/engine/failed_sync_test.cc.
TEST(Errors, AnItemCollectionThatIsTooLargeIsRefusedInItsWords) {
  TemporaryDirectory directory;
  DatabaseOptions options = TestDatabase::DefaultOptions(directory.path() + "/data");
  options.max_item_collection_bytes = 100;
  TestDatabase database(options);
  auto table = TableRequest("Things");
  AddLocalIndex(&table, "ByA", "a:S", v1::PROJECTION_TYPE_KEYS_ONLY);
  database.CreateTable(table);
  // 2 + 1 + 2 + 1 + 1 + 93 bytes, and no entry in the index.
  EXPECT_EQ(PutItem(database, WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}, {"b", S(Long(93))}}))
                .status(),
            absl::OkStatus());
  const absl::Status status =
      PutItem(database, WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}, {"b", S(Long(94))}}))
          .status();
  EXPECT_EQ(
      MessageOf(status),
      "nothing was written: the items of table Things with one partition key and their entries in local "
      "indexes would have 101 bytes; at most 100 are allowed");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(status), kReasonItemCollectionSizeLimitExceeded);
  EXPECT_EQ(RuleOf(status), "SEM-092");
}

// SEM-005: alone an error of the request, in a transaction the reason of its action.
TEST(Errors, AKeyThatIsTooLongCancelsItsTransaction) {
  TestDatabase database;
  database.CreateTable(TableRequest("Things"));
  const auto long_key = WriteRequest("Things", {{"pk", S("p")}, {"sk", S(Long(1'025))}});
  wire::TransactWriteItemsRequest request;
  *request.add_transact_items()->mutable_put() = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
  for (int kind = 0; kind < 4; ++kind) {
    SCOPED_TRACE(kind);
    wire::TransactWriteItemsRequest transaction = request;
    auto* action = transaction.add_transact_items();
    if (kind == 0) *action->mutable_put() = long_key;
    if (kind == 1) *action->mutable_delete_() = long_key;
    if (kind == 2) *action->mutable_update() = long_key;
    if (kind == 2) action->mutable_update()->set_update_expression("REMOVE a");
    if (kind == 3) *action->mutable_condition_check() = If(long_key, "attribute_not_exists(pk)");
    auto reply = database.Transact(transaction);
    ASSERT_TRUE(reply.ok()) << reply.status();
    ASSERT_EQ(reply->cancelled().reasons_size(), 2);
    EXPECT_EQ(reply->cancelled().reasons(0).code(), v1::CANCELLATION_CODE_NONE);
    EXPECT_EQ(reply->cancelled().reasons(1).code(), v1::CANCELLATION_CODE_VALIDATION_ERROR);
    EXPECT_EQ(reply->cancelled().reasons(1).message(),
              "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the "
              "size limit of 1024 bytes");
  }
  EXPECT_EQ(database.Get("Things", {{"pk", S("p")}, {"sk", S("s")}}), "");
}

// SEM-008: wherever a request names a table it may give the table's ARN.
TEST(Errors, ATableMayBeNamedByItsArn) {
  TestDatabase database;
  database.CreateTable(TableRequest("Things"));
  const std::string arn = "arn:aws:dynamodb:eu-west-1:000000000000:table/Things";
  ASSERT_TRUE(database.Put(arn, {{"pk", S("p")}, {"sk", S("s")}}).ok());
  EXPECT_EQ(database.Get("Things", {{"pk", S("p")}, {"sk", S("s")}}), "pk=p sk=s");
  EXPECT_EQ(ScanAll(database, ScanRequest(arn)).size(), 1u);
  EXPECT_EQ(QueryAll(database, QueryRequest(arn, "pk = :p", {{":p", S("p")}})).size(), 1u);
  auto transaction = wire::TransactWriteItemsRequest();
  *transaction.add_transact_items()->mutable_delete_() = WriteRequest(arn, {{"pk", S("p")}, {"sk", S("s")}});
  auto reply = database.Transact(transaction);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->has_committed());
  EXPECT_EQ(database.Get(arn, {{"pk", S("p")}, {"sk", S("s")}}), "");
  // One table under two names is one table.
  *transaction.add_transact_items()->mutable_put() = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
  EXPECT_EQ(RuleOf(database.Transact(transaction).status()), "SEM-048");
}

// SEM-013: our decision for BatchGetItem, where the service compares texts.
TEST(Errors, EqualNumbersAreOneKeyInABatchOfGets) {
  TestDatabase database;
  auto table = TableRequest("Numbers", /*sorted=*/false);
  table.mutable_attribute_definitions(0)->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_N);
  database.CreateTable(table);
  wire::BatchGetItemRequest request;
  auto* keys = request.add_request_items();
  keys->set_table_name("Numbers");
  keys->add_keys(Encode({{"pk", N("1000")}}));
  keys->add_keys(Encode({{"pk", N("1e3")}}));
  auto reply =
      Await<wire::BatchGetItemReply>([&](auto done) { database->BatchGetItem(request, std::move(done)); });
  EXPECT_EQ(RuleOf(reply.status()), "SEM-044");
}

}  // namespace
}  // namespace itemdb::testing
