// The table of every error text of the data model. A row has a request that causes an error, the rule that
// the error names, and its exact text, code and reason. The test here sends each request, checks the error,
// and checks that nothing was changed. The rows are in error_table_*_test.cc, grouped by subject:
//
//   INSTANTIATE_TEST_SUITE_P(Items, ErrorTable, ::testing::ValuesIn(ItemErrors()), RuleAndPlace);
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "tests/storage/database/requests.h"

namespace itemdb::testing::errors {

// Sends one request and returns its status.
using Provoke = std::function<absl::Status(TestDatabase&)>;

// The texts of an error: the message, and DynamoDB's sentence (storage/base/service_text.h).
struct Words {
  // One text for both.
  Words(const char* text) : service_text(text), message(text) {}
  Words(std::string text) : service_text(text), message(std::move(text)) {}
  // The message is the sentence, and goes on with `addition`.
  Words(const std::string& sentence, const std::string& addition)
      : service_text(sentence), message(sentence + addition) {}

  std::string service_text;
  std::string message;
};
// The message is another text than the sentence.
Words Apart(const std::string& sentence, const std::string& message);

struct ErrorRow {
  const char* rule;
  Provoke provoke;
  Words text;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  std::string_view reason = kReasonValidation;
};

// All rows of one INSTANTIATE_TEST_SUITE_P use one database, which no row changes:
//   Things  with a sort key; the indexes ByA (a) and ByMany (a, b; c, d); the item p/s, see SetUpTestSuite
//   Single  without a sort key, protected against deletion
// The client request token "used" has been used.
class ErrorTable : public ::testing::TestWithParam<ErrorRow> {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  // The sequence number of the last change.
  static uint64_t Sequence();

  static std::unique_ptr<TestDatabase> database_;
};

// The name of a row's test, for example SEM001_0.
std::string RuleAndPlace(const ::testing::TestParamInfo<ErrorRow>& info);

// ---- values

v1::AttributeValue True();
v1::AttributeValue Null(bool truth = true);
v1::AttributeValue Strings(std::initializer_list<std::string> texts);
v1::AttributeValue Numbers(std::initializer_list<std::string> texts);
v1::AttributeValue Binaries(std::initializer_list<std::string> texts);
v1::AttributeValue Map(const std::string& name, const v1::AttributeValue& element);
// `value` inside `times` nested lists.
v1::AttributeValue Wrapped(int times, v1::AttributeValue value = S("x"));
std::string Times(int times, const std::string& text, const std::string& separator = "");
std::string Long(size_t bytes);

// ---- requests, by default on the item p/s of Things

Provoke Put(v1::Item item, const std::string& table = "Things");
// A put of the item p/s with one additional attribute.
Provoke PutValue(const std::string& name, const v1::AttributeValue& value);
Provoke Write(void (Database::*write)(const wire::WriteItemRequest&, Done<wire::WriteItemReply>,
                                      CancellationPtr),
              std::function<void(wire::WriteItemRequest*)> change);
Provoke Deleting(std::function<void(wire::WriteItemRequest*)> change);
Provoke Updating(std::function<void(wire::WriteItemRequest*)> change);
Provoke Getting(std::function<void(wire::GetItemRequest*)> change);
// Queries all items with the partition key p.
Provoke Querying(std::function<void(wire::PageRequest*)> change);
Provoke Scanning(std::function<void(wire::PageRequest*)> change);
// A batch with the key p/s.
Provoke BatchGetting(std::function<void(wire::BatchGetItemRequest*)> change);
// A batch that puts batch/s.
Provoke BatchWriting(std::function<void(wire::BatchWriteItemRequest*)> change);
// A transaction that puts transaction/s.
Provoke Transacting(std::function<void(wire::TransactWriteItemsRequest*)> change);
// Creates the table New, which does not exist.
Provoke Creating(std::function<void(v1::CreateTableRequest*)> change);

// ---- requests with an expression; placeholders in it have the values of error_table.cc

// A delete with this condition.
Provoke Condition(const std::string& text);
Provoke Update(const std::string& text);
// A get with this projection, which may contain no placeholders.
Provoke Project(const std::string& text);
Provoke KeyCondition(const std::string& text, const std::string& index = "",
                     const std::string& table = "Things");

}  // namespace itemdb::testing::errors
