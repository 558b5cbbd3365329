// Expressions: lexer, parser and evaluator of conditions, updates, projections and key conditions.
//
// An input is the text of an expression and, after a zero byte, an optional encoded item for which it is
// evaluated. An accepted expression must be evaluated without a fault, and the result of an update or a
// projection must be canonical.
#include <cstdint>
#include <string>

#include "storage/base/check.h"
#include "storage/expressions/condition.h"
#include "storage/expressions/key_condition.h"
#include "storage/expressions/projection.h"
#include "storage/expressions/update.h"
#include "storage/values/canonical.h"
#include "tests/storage/expressions/notation.h"

namespace itemdb::fuzz {

using namespace storage;

namespace {

const PlaceholderTexts kPlaceholders = {{"#a", "a"},   {"#b", "b.c"},  {":a", "'x'"},
                                        {":b", "1"},   {":c", "[1]"},  {":d", "<'x'>"},
                                        {":e", "<1>"}, {":f", "true"}, {":g", "'S'"}};
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

void Run(std::string_view text, storage::ItemView item) {
  static storage::Placeholders placeholders = MakePlaceholders(kPlaceholders);
  auto condition = storage::Condition::Compile("ConditionExpression", text, placeholders);
  if (condition.ok()) {
    ITEMDB_CHECK(condition->Evaluate(item) == condition->Evaluate(item));
    condition->Evaluate(storage::ItemView());
  } else {
    ExpectRefused(condition.status());
  }
  auto update = storage::UpdateExpression::Compile(text, placeholders);
  if (!update.ok()) ExpectRefused(update.status());
  for (bool exists : {true, false}) {
    if (!update.ok()) break;
    auto after = update->Apply(exists ? item : storage::ItemView(), exists);
    if (!after.ok()) {
      ExpectRefused(after.status());
      continue;
    }
    ExpectCanonical(*after);
    ExpectCanonical(update->TouchedPart(storage::ItemView(*after)));
  }
  auto projection = storage::Projection::Compile(text, placeholders);
  if (projection.ok()) {
    std::string part;
    projection->Apply(item, &part);
    ExpectCanonical(part);
    // The projection of a projected item is the same item, unless list elements have moved to smaller
    // indexes.
    if (text.find('[') == std::string_view::npos) {
      std::string again;
      projection->Apply(storage::ItemView(part), &again);
      ITEMDB_CHECK(again == part);
    }
  } else {
    ExpectRefused(projection.status());
  }
  auto key_condition = storage::KeyCondition::Compile(text, placeholders);
  if (!key_condition.ok()) return ExpectRefused(key_condition.status());
  auto range = key_condition->Select({{"a", storage::ValueType::kS}}, {{"b", storage::ValueType::kN}});
  if (range.ok()) {
    ITEMDB_CHECK(range->range.lower.starts_with(range->prefix));
    ITEMDB_CHECK(!range->prefix.empty());
  } else {
    ExpectRefused(range.status());
  }
}

}  // namespace
}  // namespace itemdb::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  std::string_view input(reinterpret_cast<const char*>(data), bytes);
  static const std::string default_item = itemdb::fuzz::Item(itemdb::fuzz::kItem);
  size_t zero = input.find('\0');
  if (zero == std::string_view::npos) {
    itemdb::fuzz::Run(input, itemdb::storage::ItemView(default_item));
    return 0;
  }
  absl::StatusOr<std::string> item = itemdb::storage::CanonicalizeItem(input.substr(zero + 1));
  if (item.ok()) itemdb::fuzz::Run(input.substr(0, zero), itemdb::storage::ItemView(*item));
  return 0;
}
