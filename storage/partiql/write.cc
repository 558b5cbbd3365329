#include "storage/partiql/write.h"

#include "storage/items/operations.h"
#include "storage/partiql/trees.h"

namespace itemdb::storage::partiql {
namespace {

ActionKind KindOf(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::kInsert:
      return ActionKind::kPut;
    case StatementKind::kUpdate:
      return ActionKind::kUpdate;
    case StatementKind::kDelete:
      return ActionKind::kDelete;
    default:
      return ActionKind::kConditionCheck;
  }
}

// Checks the types of operands. This comes before the lookup of the table (SEM-115).
absl::Status CheckWhere(const Statement& statement) {
  if (!statement.where.has_value()) return absl::OkStatus();
  TreeWriter writer(statement);
  const uint32_t root = writer.CopyCondition(*statement.where);
  return Condition::FromTree("WHERE clause", writer.Finish(root)).status();
}

absl::StatusOr<std::optional<UpdateExpression>> MakeUpdate(const Statement& statement) {
  if (statement.kind != StatementKind::kUpdate) return std::nullopt;
  TreeWriter writer(statement);
  for (const ActionSyntax& action : statement.actions) writer.CopyAction(action);
  return UpdateExpression::FromTree("SET or REMOVE clause", writer.Finish());
}

// The condition of the action (table in write.h). `hash` is the name of the partition-key attribute; `rest`
// are the conditions of WHERE that are not equalities on the key.
absl::StatusOr<std::optional<Condition>> MakeCondition(const Statement& statement, const std::string& hash,
                                                       const std::vector<uint32_t>& rest) {
  const bool is_delete = statement.kind == StatementKind::kDelete;
  if (is_delete && rest.empty()) return std::nullopt;
  TreeWriter writer(statement, hash);
  std::vector<uint32_t> copies;
  for (uint32_t position : rest) copies.push_back(writer.CopyCondition(position));
  uint32_t root;
  if (is_delete) {
    // Deleting a missing item succeeds, whatever the other conditions are.
    root = writer.AddCondition(ConditionKind::kOr, {writer.AddExistence(ConditionKind::kAttributeNotExists),
                                                    writer.AddConjunction(copies)});
  } else {
    copies.push_back(writer.AddExistence(statement.kind == StatementKind::kInsert
                                             ? ConditionKind::kAttributeNotExists
                                             : ConditionKind::kAttributeExists));
    root = writer.AddConjunction(copies);
  }
  return Condition::FromTree("WHERE clause", writer.Finish(root));
}

// The item of an INSERT must have the key attributes with their types.
absl::Status CheckInsertedKey(const Statement& statement, const Table& table) {
  for (const auto* attributes : {&table.partition, &table.sort}) {
    for (const KeyAttribute& attribute : *attributes) {
      const std::optional<ValueView> value = ItemView(statement.item).Find(attribute.name);
      if (!value.has_value()) {
        return ValidationError("PQL-02",
                               "Key attribute should be present in the item: Key " + attribute.name);
      }
      ITEMDB_RETURN_IF_ERROR(CheckKeyType(attribute, value->encoded()));
    }
  }
  return absl::OkStatus();
}

// Memory that the compiled expressions of the statement take, in bytes, estimated.
size_t SizeOf(const Statement& statement) {
  size_t bytes = statement.conditions.size() * sizeof(ConditionSyntax) +
                 statement.operands.size() * sizeof(OperandSyntax) + statement.steps.size() * sizeof(Step);
  for (const std::string& value : statement.values) bytes += value.size();
  for (const Step& step : statement.steps) bytes += step.name.size();
  return bytes;
}

}  // namespace

absl::StatusOr<PreparedAction> PrepareWrite(const Statement& statement, const Catalog& catalog,
                                            wire::WriteItemRequest* options) {
  options->set_table_name(statement.table_name);
  options->set_return_values(statement.return_values);
  ActionExpressions expressions;
  expressions.bytes = SizeOf(statement);
  ITEMDB_RETURN_IF_ERROR(CheckWhere(statement));
  ITEMDB_ASSIGN_OR_RETURN(expressions.update, MakeUpdate(statement));
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const Table> table, catalog.Find(statement.table_name));
  std::vector<uint32_t> rest;
  absl::Status key_error;
  if (statement.kind == StatementKind::kInsert) {
    key_error = CheckInsertedKey(statement, *table);
    options->set_key_or_item(statement.item);
  } else {
    ITEMDB_ASSIGN_OR_RETURN(KeyAndRest split, SplitKey(statement, *table));
    options->set_key_or_item(std::move(split.key));
    rest = std::move(split.rest);
    key_error = std::move(split.key_error);
  }
  if (statement.kind == StatementKind::kExists && rest.empty()) {
    return ValidationError("PQL-06",
                           "EXISTS needs a condition beside the equality on the key of table " + table->name);
  }
  ITEMDB_ASSIGN_OR_RETURN(expressions.condition, MakeCondition(statement, table->partition[0].name, rest));
  ITEMDB_ASSIGN_OR_RETURN(PreparedAction action, PrepareTransactAction(KindOf(statement), *options,
                                                                       std::move(expressions), catalog));
  if (!key_error.ok()) action.key_error = std::move(key_error);
  return action;
}

absl::StatusOr<SingleWrite> PrepareSingleWrite(const Statement& statement,
                                               std::shared_ptr<const ReadView> view,
                                               wire::WriteItemRequest options) {
  SingleWrite write;
  if (statement.kind == StatementKind::kExists)
    return ValidationError("PQL-06", "EXISTS is only supported in ExecuteTransaction");
  write.inserts = statement.kind == StatementKind::kInsert;
  ITEMDB_ASSIGN_OR_RETURN(write.action, PrepareWrite(statement, view->catalog(), &options));
  ITEMDB_RETURN_IF_ERROR(write.action.key_error);
  write.view = std::move(view);
  write.options = std::move(options);
  return write;
}

void ExecuteSingleWrite(Engine& engine, SingleWrite write, Done<wire::WriteItemReply> done,
                        CancellationPtr cancellation) {
  auto answer = [inserts = write.inserts,
                 done = std::move(done)](absl::StatusOr<wire::WriteItemReply> reply) mutable {
    if (reply.ok() && inserts && reply->has_condition_failed()) {
      return std::move(done)(WithRule("ERR-13", MakeError(absl::StatusCode::kAlreadyExists,
                                                          kReasonDuplicateItem, kDuplicateItemMessage)));
    }
    std::move(done)(std::move(reply));
  };
  WritePreparedItem(engine, write.call, std::move(write.view), std::move(write.action), write.options,
                    /*token=*/std::nullopt, std::move(answer), std::move(cancellation));
}

}  // namespace itemdb::storage::partiql
