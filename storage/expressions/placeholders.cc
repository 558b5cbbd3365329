#include "storage/expressions/placeholders.h"

#include <algorithm>

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/expressions/grammar.h"
#include "storage/expressions/lexer.h"
#include "storage/values/canonical.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kNames = "ExpressionAttributeNames";
constexpr std::string_view kValues = "ExpressionAttributeValues";

// Largest number of tokens that a message lists.
constexpr int kMaxListed = 10;

using Pairs = std::vector<std::pair<std::string, std::string>>;

absl::Status CheckToken(std::string_view map, std::string_view token, char sigil) {
  if (token.size() > kMaxPlaceholderBytes) {
    return DetailedError(
        "SEM-022",
        Concat({map, " contains invalid key: The expression attribute map contains a key that is too long"}),
        Concat({"; maximum length: ", std::to_string(kMaxPlaceholderBytes)}));
  }
  if (!IsPlaceholderToken(token, sigil)) {
    return ValidationError("SEM-022",
                           Concat({map, " contains invalid key: Syntax error; key: \"", token, "\""}));
  }
  return absl::OkStatus();
}

absl::Status CheckTotalBytes(const Pairs& names, const Pairs& values) {
  size_t bytes = 0;
  for (const Pairs* pairs : {&names, &values}) {
    for (const auto& [token, text] : *pairs) bytes += token.size() + text.size();
  }
  if (bytes <= kMaxPlaceholderMapBytes) return absl::OkStatus();
  return DetailedError("SEM-022",
                       Concat({kNames, " and ", kValues, " have exceeded the maximum allowed size"}),
                       Concat({"; size in bytes: ", std::to_string(bytes),
                               ", maximum: ", std::to_string(kMaxPlaceholderMapBytes)}));
}

}  // namespace

absl::StatusOr<Placeholders> Placeholders::Make(Pairs names, Pairs values) {
  ITEMDB_RETURN_IF_ERROR(CheckTotalBytes(names, values));
  Placeholders result;
  result.names_.reserve(names.size());
  for (auto& [token, name] : names) {
    ITEMDB_RETURN_IF_ERROR(CheckToken(kNames, token, '#'));
    if (name.empty()) {
      return ValidationError(
          "SEM-009", Concat({kNames, " contains invalid value: Empty attribute name for key ", token}));
    }
    if (name.size() > kMaxAttributeNameBytes) {
      return ValidationError(
          "SEM-009", Concat({kNames, " contains invalid value: Attribute name exceeds the maximum of ",
                             std::to_string(kMaxAttributeNameBytes), " bytes for key ", token}));
    }
    result.names_.push_back({std::move(token), std::move(name)});
  }
  result.values_.reserve(values.size());
  for (auto& [token, encoded] : values) {
    ITEMDB_RETURN_IF_ERROR(CheckToken(kValues, token, ':'));
    absl::StatusOr<std::string> value = CanonicalizeValue(encoded);
    if (!value.ok()) {
      return Reworded(value.status(), {.before = Concat({kValues, " contains invalid value: "}),
                                       .after = Concat({" for key ", token})});
    }
    result.values_.push_back({std::move(token), *std::move(value)});
  }
  ITEMDB_RETURN_IF_ERROR(SortEntries(kNames, &result.names_));
  ITEMDB_RETURN_IF_ERROR(SortEntries(kValues, &result.values_));
  return result;
}

absl::Status Placeholders::SortEntries(std::string_view map, std::vector<Entry>* entries) {
  std::sort(entries->begin(), entries->end(),
            [](const Entry& a, const Entry& b) { return a.token < b.token; });
  auto same = std::adjacent_find(entries->begin(), entries->end(),
                                 [](const Entry& a, const Entry& b) { return a.token == b.token; });
  if (same == entries->end()) return absl::OkStatus();
  return ValidationError("SEM-022", Concat({map, " contains a duplicate key: ", same->token}));
}

const std::string* Placeholders::Use(std::vector<Entry>& entries, std::string_view token) {
  auto found =
      std::lower_bound(entries.begin(), entries.end(), token,
                       [](const Entry& entry, std::string_view wanted) { return entry.token < wanted; });
  if (found == entries.end() || found->token != token) return nullptr;
  found->used = true;
  return &found->text;
}

const std::string* Placeholders::UseName(std::string_view token) { return Use(names_, token); }
const std::string* Placeholders::UseValue(std::string_view token) { return Use(values_, token); }

absl::Status Placeholders::CheckAllUsed() const {
  ITEMDB_RETURN_IF_ERROR(CheckUsed(kNames, names_));
  return CheckUsed(kValues, values_);
}

absl::Status Placeholders::CheckUsed(std::string_view map, const std::vector<Entry>& entries) {
  std::string unused;
  int count = 0;
  for (const Entry& entry : entries) {
    if (entry.used) continue;
    if (++count > kMaxListed) continue;
    if (!unused.empty()) unused += ", ";
    unused += entry.token;
  }
  if (count == 0) return absl::OkStatus();
  if (count > kMaxListed) unused += Concat({", and ", std::to_string(count - kMaxListed), " more"});
  return ValidationError("SEM-024",
                         Concat({"Value provided in ", map, " unused in expressions: keys: {", unused, "}"}));
}

}  // namespace itemdb::storage
