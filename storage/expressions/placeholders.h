// The names and values a request gives for the `#name` and `:value` placeholders of its expressions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/status.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// The placeholders of one request. All its expressions mark what they use here. Not thread-safe.
class Placeholders {
 public:
  // `names` maps "#n" to an attribute name, `values` maps ":v" to an encoded AttributeValue from the client,
  // which is made canonical here. INVALID_ARGUMENT: a malformed token, a duplicate, an empty name, an invalid
  // value, too many bytes (SEM-022).
  static absl::StatusOr<Placeholders> Make(std::vector<std::pair<std::string, std::string>> names,
                                           std::vector<std::pair<std::string, std::string>> values);

  Placeholders() = default;

  // Returns the name or value of a token ("#n", ":v") and marks it as used. Null when it is not defined.
  // Pointers are valid as long as this object, which may be moved.
  const std::string* UseName(std::string_view token);
  const std::string* UseValue(std::string_view token);

  bool empty() const { return names_.empty() && values_.empty(); }

  // Called after every expression of the request was compiled. INVALID_ARGUMENT: a name or value was not used
  // (SEM-024).
  absl::Status CheckAllUsed() const;

 private:
  struct Entry {
    std::string token;
    std::string text;
    bool used = false;
  };

  // Sorts by token. INVALID_ARGUMENT: a token comes twice.
  static absl::Status SortEntries(std::string_view map, std::vector<Entry>* entries);
  static const std::string* Use(std::vector<Entry>& entries, std::string_view token);
  static absl::Status CheckUsed(std::string_view map, const std::vector<Entry>& entries);

  // Sorted by token: a request may have hundreds of thousands of placeholders, and each use is a search.
  std::vector<Entry> names_;
  std::vector<Entry> values_;
};

}  // namespace itemdb::storage
