#include "tools/model/model_answer.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

// For each kind of difference: a changed, a missing and an unexpected item.
constexpr size_t kMostLines = 10;

std::string AnswerText(const Item& item) { return OneLine(ItemToJson(item, ItemForm::kTyped)); }

std::string AnswerText(const Value* value) {
  return value == nullptr ? "missing" : OneLine(ValueToJson(*value, ItemForm::kTyped));
}

size_t EqualAttributes(const Item& a, const Item& b) {
  return static_cast<size_t>(std::count_if(a.begin(), a.end(), [&b](const Attribute& attribute) {
    const Value* other = b.find_or_null(attribute.name);
    return other != nullptr && *other == attribute.value;
  }));
}

// Whether at least half of the attributes of `expected` are equal in `found`. Then `found` counts as a
// changed `expected`, and only the attributes that differ are printed.
bool IsChanged(const Item& expected, const Item& found) {
  const size_t size = static_cast<size_t>(std::distance(expected.begin(), expected.end()));
  return 2 * EqualAttributes(expected, found) >= size;
}

void AddChangedAttributes(const Item& expected, const Item& found, size_t number,
                          std::vector<std::string>* lines) {
  const auto add = [&](const std::string& name) {
    const Value* before = expected.find_or_null(name);
    const Value* after = found.find_or_null(name);
    if (before != nullptr && after != nullptr && *before == *after) return;
    lines->push_back(absl::StrFormat("item %d: %s is %s, expected %s", number, name, AnswerText(after),
                                     AnswerText(before)));
  };
  for (const Attribute& attribute : expected) add(attribute.name);
  for (const Attribute& attribute : found) {
    if (expected.find_or_null(attribute.name) == nullptr) add(attribute.name);
  }
}

void Append(std::vector<std::string> lines, std::vector<std::string>* to) {
  if (lines.size() > kMostLines) {
    const size_t more = lines.size() - kMostLines;
    lines.resize(kMostLines);
    lines.push_back(absl::StrFormat("and %d more differences", more));
  }
  to->insert(to->end(), lines.begin(), lines.end());
}

std::vector<std::string> OrderDifference(const std::vector<Item>& expected, const std::vector<Item>& found) {
  const size_t at = static_cast<size_t>(std::mismatch(expected.begin(), expected.end(), found.begin()).first -
                                        expected.begin());
  if (at == expected.size()) return {};
  return {absl::StrFormat("the items are the expected ones in another order; item %d is %s, expected %s",
                          at + 1, AnswerText(found[at]), AnswerText(expected[at]))};
}

bool AreTied(const Item& a, const Item& b, const std::vector<std::string>& key_attributes) {
  return std::all_of(key_attributes.begin(), key_attributes.end(), [&](const std::string& name) {
    const Value* of_a = a.find_or_null(name);
    const Value* of_b = b.find_or_null(name);
    return of_a != nullptr && of_b != nullptr && *of_a == *of_b;
  });
}

}  // namespace

void OrderTiesAs(const std::vector<Item>& expected, const std::vector<std::string>& key_attributes,
                 std::vector<Item>& found) {
  for (size_t i = 0; i < found.size() && i < expected.size(); ++i) {
    for (size_t j = i; j < found.size(); ++j) {
      if (j > i && !AreTied(found[i], found[j], key_attributes)) break;
      if (!(found[j] == expected[i])) continue;
      std::swap(found[i], found[j]);
      break;
    }
  }
}

std::vector<std::string> AnswerDifferences(const std::vector<Item>& expected, const std::vector<Item>& found,
                                           bool any_order) {
  std::vector<const Item*> missing;
  std::vector<size_t> unexpected;
  std::vector<bool> taken(found.size(), false);
  for (const Item& item : expected) {
    size_t at = 0;
    while (at < found.size() && (taken[at] || !(found[at] == item))) ++at;
    if (at == found.size()) {
      missing.push_back(&item);
    } else {
      taken[at] = true;
    }
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (!taken[i]) unexpected.push_back(i);
  }
  if (missing.empty() && unexpected.empty()) {
    return any_order ? std::vector<std::string>() : OrderDifference(expected, found);
  }
  std::vector<std::string> changed, not_found, not_expected;
  for (const Item* item : missing) {
    const auto other = std::find_if(unexpected.begin(), unexpected.end(),
                                    [&](size_t i) { return IsChanged(*item, found[i]); });
    if (other == unexpected.end()) {
      not_found.push_back("expected, and not found: " + AnswerText(*item));
    } else {
      AddChangedAttributes(*item, found[*other], *other + 1, &changed);
      unexpected.erase(other);
    }
  }
  for (size_t i : unexpected) not_expected.push_back("found, and not expected: " + AnswerText(found[i]));
  std::vector<std::string> lines;
  Append(std::move(changed), &lines);
  Append(std::move(not_found), &lines);
  Append(std::move(not_expected), &lines);
  return lines;
}

}  // namespace itemdb::tools
