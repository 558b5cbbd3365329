// PartiQL: lexer, parser, and the evaluation of a statement's parts on items.
//
// An input is the text of a statement. An accepted statement must run without a fault, and the result of an
// update or a projection must be canonical. A refused statement must be refused as the caller's error.
#include <cstdint>
#include <string>

#include "storage/base/check.h"
#include "storage/expressions/condition.h"
#include "storage/expressions/projection.h"
#include "storage/expressions/update.h"
#include "storage/partiql/lexer.h"
#include "storage/partiql/parser.h"
#include "storage/partiql/statement_access.h"
#include "storage/partiql/trees.h"
#include "storage/values/canonical.h"
#include "tests/storage/expressions/notation.h"

namespace itemdb::fuzz {

using namespace storage;

namespace {

constexpr std::string_view kItem =
    "{a: 1, b: {c: [1, {d: 'x'}]}, c: [[1], 2], d: <'x', 'y'>, e: 'xyz', f: {}}";

void ExpectRefused(const absl::Status& status) {
  ITEMDB_CHECK(absl::IsInvalidArgument(status) && storage::ReasonOf(status) == storage::kReasonValidation);
  ITEMDB_CHECK(!status.message().empty());
}

void ExpectCanonical(const std::string& item) {
  absl::StatusOr<std::string> again = storage::CanonicalizeItem(item);
  ITEMDB_CHECK(again.ok() && *again == item);
}

void RunWhere(const storage::partiql::Statement& statement, storage::ItemView item) {
  storage::partiql::TreeWriter writer(statement, "a");
  std::vector<uint32_t> copies;
  for (uint32_t position : storage::partiql::Conjuncts(statement))
    copies.push_back(writer.CopyCondition(position));
  copies.push_back(writer.AddExistence(storage::ConditionKind::kAttributeExists));
  auto condition = storage::Condition::FromTree("WHERE clause", writer.Finish(writer.AddConjunction(copies)));
  if (!condition.ok()) return ExpectRefused(condition.status());
  ITEMDB_CHECK(condition->Evaluate(item) == condition->Evaluate(item));
  ITEMDB_CHECK(!condition->Evaluate(storage::ItemView()));
}

void RunChanges(const storage::partiql::Statement& statement, storage::ItemView item) {
  storage::partiql::TreeWriter writer(statement);
  for (const storage::ActionSyntax& action : statement.actions) writer.CopyAction(action);
  auto update = storage::UpdateExpression::FromTree("SET or REMOVE clause", writer.Finish());
  if (!update.ok()) return ExpectRefused(update.status());
  auto after = update->Apply(item);
  if (!after.ok()) return ExpectRefused(after.status());
  ExpectCanonical(*after);
}

void RunProjection(const storage::partiql::Statement& statement, storage::ItemView item) {
  storage::partiql::TreeWriter writer(statement);
  for (uint32_t path : statement.projection) writer.CopyPath(path);
  auto projection = storage::Projection::Columns("SELECT list", writer.Finish());
  if (!projection.ok()) return ExpectRefused(projection.status());
  std::string part;
  projection->Apply(item, &part);
  ExpectCanonical(part);
}

void Run(const storage::partiql::Statement& statement, storage::ItemView item) {
  RunWhere(statement, item);
  if (statement.kind == storage::partiql::StatementKind::kUpdate) RunChanges(statement, item);
  if (!statement.projection.empty()) RunProjection(statement, item);
  if (statement.kind == storage::partiql::StatementKind::kInsert) ExpectCanonical(statement.item);
}

}  // namespace
}  // namespace itemdb::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using namespace itemdb::fuzz;
  std::string_view text(reinterpret_cast<const char*>(data), bytes);
  static const std::string item = Item(kItem);
  ITEMDB_CHECK(itemdb::storage::partiql::Tokenize(text).size() <= text.size() + 1);
  // Tries 0 to 4 parameters; one of these numbers fits a statement with few parameters.
  itemdb::storage::partiql::Parameters parameters;
  for (const char* value : {"", "'x'", "1", "<'x'>", "[1, {k: null}]"}) {
    if (*value != '\0') parameters.Add(Value(value));
    auto statement = itemdb::storage::partiql::ParseStatement(text, parameters);
    if (!statement.ok()) {
      ExpectRefused(statement.status());
      continue;
    }
    ITEMDB_CHECK(itemdb::storage::IsReadStatement(text) ==
                 (statement->kind == itemdb::storage::partiql::StatementKind::kSelect));
    ITEMDB_CHECK(itemdb::storage::TableNameInStatement(text) == statement->table_name);
    Run(*statement, itemdb::storage::ItemView(item));
  }
  return 0;
}
