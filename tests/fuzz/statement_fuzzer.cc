// PartiQL: lexer, parser, and what the parts of a statement make of items.
//
// An input is the text of a statement. Whatever is accepted must run, and what an update or a projection
// makes must be canonical; whatever is refused must be refused as a mistake of the caller's.
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

namespace itemdb {
namespace {

constexpr std::string_view kItem =
    "{a: 1, b: {c: [1, {d: 'x'}]}, c: [[1], 2], d: <'x', 'y'>, e: 'xyz', f: {}}";

void ExpectRefused(const absl::Status& status) {
  ITEMDB_CHECK(absl::IsInvalidArgument(status) && ReasonOf(status) == kReasonValidation);
  ITEMDB_CHECK(!status.message().empty());
}

void ExpectCanonical(const std::string& item) {
  absl::StatusOr<std::string> again = CanonicalizeItem(item);
  ITEMDB_CHECK(again.ok() && *again == item);
}

void RunWhere(const partiql::Statement& statement, ItemView item) {
  partiql::TreeWriter writer(statement, "a");
  std::vector<uint32_t> copies;
  for (uint32_t position : partiql::Conjuncts(statement)) copies.push_back(writer.CopyCondition(position));
  copies.push_back(writer.AddExistence(ConditionKind::kAttributeExists));
  auto condition = Condition::FromTree("WHERE clause", writer.Finish(writer.AddConjunction(copies)));
  if (!condition.ok()) return ExpectRefused(condition.status());
  ITEMDB_CHECK(condition->Evaluate(item) == condition->Evaluate(item));
  ITEMDB_CHECK(!condition->Evaluate(ItemView()));
}

void RunChanges(const partiql::Statement& statement, ItemView item) {
  partiql::TreeWriter writer(statement);
  for (const ActionSyntax& action : statement.actions) writer.CopyAction(action);
  auto update = UpdateExpression::FromTree("SET or REMOVE clause", writer.Finish());
  if (!update.ok()) return ExpectRefused(update.status());
  auto after = update->Apply(item);
  if (!after.ok()) return ExpectRefused(after.status());
  ExpectCanonical(*after);
}

void RunProjection(const partiql::Statement& statement, ItemView item) {
  partiql::TreeWriter writer(statement);
  for (uint32_t path : statement.projection) writer.CopyPath(path);
  auto projection = Projection::FromTree("SELECT list", writer.Finish());
  if (!projection.ok()) return ExpectRefused(projection.status());
  std::string part;
  projection->Apply(item, &part);
  ExpectCanonical(part);
}

void Run(const partiql::Statement& statement, ItemView item) {
  RunWhere(statement, item);
  if (statement.kind == partiql::StatementKind::kUpdate) RunChanges(statement, item);
  if (!statement.projection.empty()) RunProjection(statement, item);
  if (statement.kind == partiql::StatementKind::kInsert) ExpectCanonical(statement.item);
}

}  // namespace
}  // namespace itemdb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using namespace itemdb;
  std::string_view text(reinterpret_cast<const char*>(data), bytes);
  static const std::string item = Item(kItem);
  ITEMDB_CHECK(partiql::Tokenize(text).size() <= text.size() + 1);
  // With as many parameters as the statement has, if it has few.
  partiql::Parameters parameters;
  for (const char* value : {"", "'x'", "1", "<'x'>", "[1, {k: null}]"}) {
    if (*value != '\0') parameters.Add(Value(value));
    auto statement = partiql::ParseStatement(text, parameters);
    if (!statement.ok()) {
      ExpectRefused(statement.status());
      continue;
    }
    ITEMDB_CHECK(IsReadStatement(text) == (statement->kind == partiql::StatementKind::kSelect));
    Run(*statement, ItemView(item));
  }
  return 0;
}
