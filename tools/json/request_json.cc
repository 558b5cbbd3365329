#include "tools/json/request_json.h"

#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/json/member_reader.h"

namespace itemdb::tools {
namespace {

using Kind = JsonValue::Kind;

constexpr char kRequestItems[] = "the request items";
constexpr char kTransactItems[] = "the transact items";

absl::StatusOr<JsonValue> Parse(std::string_view text, const std::string& what) {
  absl::StatusOr<JsonValue> json = ParseJson(text);
  if (!json.ok()) return UsageError(what + ": " + std::string(json.status().message()));
  return json;
}

absl::Status MustBe(const std::string& what, const std::string& expected, const JsonValue& found) {
  return UsageError(
      absl::StrFormat("%s must be %s, not %s", what, expected, std::string(KindName(found.kind))));
}

absl::Status MustBeTables(const JsonValue& json) {
  if (json.kind == Kind::kObject) return absl::OkStatus();
  return MustBe(kRequestItems, "a JSON object of table names", json);
}

constexpr Named<ReturnValuesOnConditionCheckFailure> kOnConditionFailure[] = {
    {"NONE", ReturnValuesOnConditionCheckFailure::kNone},
    {"ALL_OLD", ReturnValuesOnConditionCheckFailure::kAllOld}};

// Reads {"PutRequest": {"Item": ...}} or {"DeleteRequest": {"Key": ...}}.
BatchWrite ReadWrite(MemberReader& reader, const std::string& table_name, ReadForm form) {
  reader.Allow({"PutRequest", "DeleteRequest"});
  if (reader.OnlyName().empty()) {
    reader.Fail(reader.path() + (reader.path().empty() ? "" : " ") +
                "must have exactly one member, PutRequest or DeleteRequest");
    return BatchPut{};
  }
  if (reader.Has("PutRequest")) {
    return BatchPut{table_name, reader
                                    .Object<Item>("PutRequest", true,
                                                  [form](MemberReader& put) {
                                                    put.Allow({"Item"});
                                                    return put.RequiredItem("Item", form);
                                                  })
                                    .value_or(Item())};
  }
  return BatchDelete{table_name, reader
                                     .Object<Item>("DeleteRequest", true,
                                                   [form](MemberReader& remove) {
                                                     remove.Allow({"Key"});
                                                     return remove.RequiredItem("Key", form);
                                                   })
                                     .value_or(Item())};
}

// Reads the members that all actions except Get have in common.
template <typename Action>
void ReadCondition(MemberReader& reader, ReadForm form, Action* action) {
  action->table_name = reader.RequiredString("TableName");
  action->condition_expression = reader.OptionalString("ConditionExpression");
  action->expression_attribute_names = reader.Names();
  action->expression_attribute_values = reader.Values(form);
  action->return_values_on_condition_check_failure = reader.Enum<ReturnValuesOnConditionCheckFailure>(
      "ReturnValuesOnConditionCheckFailure", kOnConditionFailure, ReturnValuesOnConditionCheckFailure::kNone);
}

const std::vector<std::string_view> kConditionMembers = {
    "TableName", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues",
    "ReturnValuesOnConditionCheckFailure"};

std::vector<std::string_view> With(std::string_view member, std::vector<std::string_view> members) {
  members.insert(members.begin() + 1, member);
  return members;
}

TransactAction ReadPutAction(MemberReader& reader, ReadForm form) {
  reader.Allow(With("Item", kConditionMembers));
  TransactPut put;
  ReadCondition(reader, form, &put);
  put.item = reader.RequiredItem("Item", form);
  return put;
}

TransactAction ReadUpdateAction(MemberReader& reader, ReadForm form) {
  reader.Allow(With("Key", With("UpdateExpression", kConditionMembers)));
  TransactUpdate update;
  ReadCondition(reader, form, &update);
  update.key = reader.RequiredItem("Key", form);
  update.update_expression = reader.RequiredString("UpdateExpression");
  return update;
}

TransactAction ReadDeleteAction(MemberReader& reader, ReadForm form) {
  reader.Allow(With("Key", kConditionMembers));
  TransactDelete remove;
  ReadCondition(reader, form, &remove);
  remove.key = reader.RequiredItem("Key", form);
  return remove;
}

TransactAction ReadCheckAction(MemberReader& reader, ReadForm form) {
  reader.Allow(With("Key", kConditionMembers));
  ConditionCheck check;
  ReadCondition(reader, form, &check);
  check.key = reader.RequiredItem("Key", form);
  return check;
}

TransactGet ReadGetAction(MemberReader& reader, ReadForm form) {
  reader.Allow({"TableName", "Key", "ProjectionExpression", "ExpressionAttributeNames"});
  TransactGet get;
  get.table_name = reader.RequiredString("TableName");
  get.key = reader.RequiredItem("Key", form);
  get.projection_expression = reader.OptionalString("ProjectionExpression");
  get.expression_attribute_names = reader.Names();
  return get;
}

// Reads one element of TransactItems.
std::variant<TransactAction, TransactGet> ReadTransactItem(MemberReader& reader, ReadForm form) {
  reader.Allow({"Put", "Update", "Delete", "ConditionCheck", "Get"});
  const std::string name = reader.OnlyName();
  if (name.empty()) {
    reader.Fail(reader.path() + " must have exactly one member: Put, Update, Delete, ConditionCheck or Get");
    return TransactGet{};
  }
  if (name == "Get") {
    return reader
        .Object<TransactGet>("Get", true, [form](MemberReader& get) { return ReadGetAction(get, form); })
        .value_or(TransactGet{});
  }
  const auto read = name == "Put"      ? ReadPutAction
                    : name == "Update" ? ReadUpdateAction
                    : name == "Delete" ? ReadDeleteAction
                                       : ReadCheckAction;
  return reader.Object<TransactAction>(name, true, [&](MemberReader& action) { return read(action, form); })
      .value_or(TransactAction());
}

}  // namespace

absl::StatusOr<std::vector<KeysAndAttributes>> BatchGetsFromJson(const JsonValue& json, ReadForm form) {
  ITEMDB_RETURN_IF_ERROR(MustBeTables(json));
  std::vector<KeysAndAttributes> tables;
  for (const auto& [table_name, value] : json.members) {
    MemberReader reader(value, kRequestItems, table_name);
    reader.Allow({"Keys", "ProjectionExpression", "ExpressionAttributeNames", "ConsistentRead"});
    KeysAndAttributes table{.table_name = table_name};
    const JsonValue* keys = reader.Member("Keys", Kind::kArray, true);
    for (size_t i = 0; keys != nullptr && i < keys->elements.size(); ++i) {
      ITEMDB_ASSIGN_OR_RETURN(Item key,
                              ItemFromJson(keys->elements[i], form,
                                           absl::StrFormat("%s: %s.Keys[%d]", kRequestItems, table_name, i)));
      table.keys.push_back(std::move(key));
    }
    table.projection_expression = reader.OptionalString("ProjectionExpression");
    table.expression_attribute_names = reader.Names();
    table.consistent_read = reader.OptionalBool("ConsistentRead");
    if (!reader.status().ok()) return reader.status();
    tables.push_back(std::move(table));
  }
  return tables;
}

absl::StatusOr<std::vector<KeysAndAttributes>> ParseBatchGets(std::string_view text, ReadForm form) {
  ITEMDB_ASSIGN_OR_RETURN(JsonValue json, Parse(text, kRequestItems));
  return BatchGetsFromJson(json, form);
}

absl::StatusOr<std::vector<BatchWrite>> BatchWritesFromJson(const JsonValue& json, ReadForm form) {
  ITEMDB_RETURN_IF_ERROR(MustBeTables(json));
  std::vector<BatchWrite> writes;
  for (const auto& [table_name, value] : json.members) {
    if (value.kind != Kind::kArray) {
      return MustBe(std::string(kRequestItems) + ": " + table_name, "an array of requests", value);
    }
    for (size_t i = 0; i < value.elements.size(); ++i) {
      MemberReader reader(value.elements[i], kRequestItems, absl::StrFormat("%s[%d]", table_name, i));
      writes.push_back(ReadWrite(reader, table_name, form));
      if (!reader.status().ok()) return reader.status();
    }
  }
  return writes;
}

absl::StatusOr<std::vector<BatchWrite>> ParseBatchWrites(std::string_view text, ReadForm form) {
  ITEMDB_ASSIGN_OR_RETURN(JsonValue json, Parse(text, kRequestItems));
  return BatchWritesFromJson(json, form);
}

absl::StatusOr<BatchWrite> ParseWriteLine(std::string_view line, const std::string& table_name, ReadForm form,
                                          const std::string& what) {
  ITEMDB_ASSIGN_OR_RETURN(JsonValue json, Parse(line, what));
  MemberReader reader(json, what);
  if (!reader.status().ok()) return reader.status();
  if (reader.OnlyName() == "PutRequest" || reader.OnlyName() == "DeleteRequest") {
    BatchWrite write = ReadWrite(reader, table_name, form);
    if (!reader.status().ok()) return reader.status();
    return write;
  }
  ITEMDB_ASSIGN_OR_RETURN(Item item, ItemFromJson(json, form, what));
  return BatchPut{table_name, std::move(item)};
}

absl::StatusOr<Transaction> TransactionFromJson(const JsonValue& json, ReadForm form) {
  const JsonValue* items = &json;
  if (const JsonValue* member = json.FindOrNull("TransactItems"); member != nullptr) {
    MemberReader reader(json, kTransactItems);
    reader.Allow({"TransactItems"});
    if (!reader.status().ok()) return reader.status();
    items = member;
  }
  if (items->kind != Kind::kArray) return MustBe(kTransactItems, "a JSON array", *items);
  std::vector<TransactAction> actions;
  std::vector<TransactGet> gets;
  for (size_t i = 0; i < items->elements.size(); ++i) {
    MemberReader reader(items->elements[i], kTransactItems, absl::StrFormat("TransactItems[%d]", i));
    std::variant<TransactAction, TransactGet> item = ReadTransactItem(reader, form);
    if (!reader.status().ok()) return reader.status();
    if (std::holds_alternative<TransactGet>(item)) {
      gets.push_back(std::get<TransactGet>(std::move(item)));
    } else {
      actions.push_back(std::get<TransactAction>(std::move(item)));
    }
  }
  if (!gets.empty() && !actions.empty()) {
    return UsageError(
        absl::StrFormat("%s: a transaction either reads or writes; these are %d Get and %d others",
                        kTransactItems, gets.size(), actions.size()));
  }
  if (!gets.empty()) return gets;
  return actions;
}

absl::StatusOr<Transaction> ParseTransaction(std::string_view text, ReadForm form) {
  ITEMDB_ASSIGN_OR_RETURN(JsonValue json, Parse(text, kTransactItems));
  return TransactionFromJson(json, form);
}

}  // namespace itemdb::tools
