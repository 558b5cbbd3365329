// Items as JSON, in two forms.
//
//   plain   {"id": "a", "price": 25.5, "tags": ["x", "y"]}                     for people
//   typed   {"id": {"S": "a"}, "price": {"N": "25.5"}, "tags": {"SS": ["x", "y"]}}   DynamoDB JSON, lossless
//
// Plain JSON has no sets and no binary: printed plain, a set is an array and binary is base64 text; read back
// plain, those are a list and a string. Numbers keep all their digits in both forms. What makes a valid item
// is the daemon's to judge; here only the forms are checked. All errors are UsageErrors
// (tools/base/exit_codes.h).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "itemdb/value.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

enum class ItemForm { kPlain, kTyped };

// In which form an item is to be read.
enum class ReadForm {
  // Typed when every attribute value is an object with exactly one member, called S, N, B, SS, NS, BS, L, M,
  // BOOL or
  // NULL and with content of the fitting JSON kind, at every depth; otherwise plain.
  kDetect,
  kPlain,
  kTyped,
};

JsonValue ValueToJson(const Value& value, ItemForm form);
JsonValue ItemToJson(const Item& item, ItemForm form);

// `what` is what errors call the document: "the item", "the key", "--expression-attribute-values".
absl::StatusOr<Item> ItemFromJson(const JsonValue& json, ReadForm form, std::string_view what);

// ParseJson and ItemFromJson.
absl::StatusOr<Item> ParseItem(std::string_view text, ReadForm form, std::string_view what);

// Placeholders: `{"#n": "name"}` and `{":v": value}`, the values in either form as in an item. Empty text
// gives none.
absl::StatusOr<ExpressionAttributeNames> ParseNames(std::string_view text, std::string_view what);
absl::StatusOr<ExpressionAttributeValues> ParseValues(std::string_view text, ReadForm form,
                                                      std::string_view what);

// Gives `request` the names and values of a command's options. UsageError: they are malformed.
template <typename Options, typename Request>
absl::Status FillPlaceholders(const Options& options, Request& request) {
  absl::StatusOr<ExpressionAttributeNames> names = ParseNames(options.names, "--expression-attribute-names");
  if (!names.ok()) return names.status();
  absl::StatusOr<ExpressionAttributeValues> values = ParseValues(
      options.values, options.plain ? ReadForm::kPlain : ReadForm::kDetect, "--expression-attribute-values");
  if (!values.ok()) return values.status();
  request.expression_attribute_names = *std::move(names);
  request.expression_attribute_values = *std::move(values);
  return absl::OkStatus();
}

}  // namespace itemdb::tools
