// Items and values as JSON.
//
//   ToJson(item)                        {"id": "hammer", "stock": 5}
//   ToJson(item, JsonForm::kDynamoDb)   {"id": {"S": "hammer"}, "stock": {"N": "5"}}
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "itemdb/export.h"
#include "itemdb/value.h"

namespace itemdb {

enum class JsonForm {
  // JSON's own types. Numbers keep all digits. What JSON does not have loses its type: binary is a string in
  // Base64,
  // and a set is an array.
  kPlain,
  // That of DynamoDB's API, of `itemctl -o json` and of exports: each value under the name of its type.
  // Nothing is
  // lost.
  kDynamoDb,
};

// On one line.
ITEMDB_EXPORT std::string ToJson(const Item& item, JsonForm form = JsonForm::kPlain);
ITEMDB_EXPORT std::string ToJson(const Value& value, JsonForm form = JsonForm::kPlain);

// INVALID_ARGUMENT (reason VALIDATION): the text is not JSON of this form, names an attribute twice, or nests
// more than 64 deep. The message says where.
ITEMDB_EXPORT absl::StatusOr<Item> ItemFromJson(std::string_view json, JsonForm form = JsonForm::kPlain);
ITEMDB_EXPORT absl::StatusOr<Value> ValueFromJson(std::string_view json, JsonForm form = JsonForm::kPlain);

}  // namespace itemdb
