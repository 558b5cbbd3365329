// Items as JSON, in two forms.
//
//   plain   {"id": "a", "price": 25.5, "tags": ["x", "y"]}                     for people
//   typed   {"id": {"S": "a"}, "price": {"N": "25.5"}, "tags": {"SS": ["x", "y"]}}   DynamoDB JSON, lossless
//
// Plain JSON has no sets and no binary values: a set is printed as an array and binary as base64 text; plain
// JSON reads them back as a list and a string. Numbers keep all their digits in both forms. Only the JSON
// form is checked here; the daemon checks whether an item is valid. All errors are UsageErrors
// (tools/base/exit_codes.h).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/status_macros.h"
#include "itemdb/client.h"
#include "itemdb/value.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

enum class ItemForm { kPlain, kTyped };

// The form in which an item is read.
enum class ReadForm {
  // Typed if, at every depth, every attribute value is an object with exactly one member, which is named S,
  // N, B, SS, NS, BS, L, M, BOOL or NULL and has a value of the JSON kind for that type; otherwise plain.
  kDetect,
  kPlain,
  kTyped,
};

JsonValue ValueToJson(const Value& value, ItemForm form);
JsonValue ItemToJson(const Item& item, ItemForm form);

// Error messages name the document `what`: "the item", "the key", "--expression-attribute-values".
absl::StatusOr<Item> ItemFromJson(const JsonValue& json, ReadForm form, std::string_view what);

// ParseJson and ItemFromJson.
absl::StatusOr<Item> ParseItem(std::string_view text, ReadForm form, std::string_view what);

// Reads placeholders: `{"#n": "name"}` and `{":v": value}`; values have either form, as in an item. Empty
// text means no placeholders.
absl::StatusOr<ExpressionAttributeNames> ParseNames(std::string_view text, std::string_view what);
absl::StatusOr<ExpressionAttributeValues> ParseValues(std::string_view text, ReadForm form,
                                                      std::string_view what);

// Copies the placeholders of a command's options into `request`. UsageError: they are malformed.
template <typename Options, typename Request>
absl::Status FillPlaceholders(const Options& options, Request& request) {
  ITEMDB_ASSIGN_OR_RETURN(ExpressionAttributeNames names,
                          ParseNames(options.names, "--expression-attribute-names"));
  ITEMDB_ASSIGN_OR_RETURN(ExpressionAttributeValues values,
                          ParseValues(options.values, options.plain ? ReadForm::kPlain : ReadForm::kDetect,
                                      "--expression-attribute-values"));
  request.expression_attribute_names = std::move(names);
  request.expression_attribute_values = std::move(values);
  return absl::OkStatus();
}

}  // namespace itemdb::tools
