// Reads the members of a JSON object as typed values. Used for the documents that itemctl accepts in AWS's
// format.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "itemdb/requests.h"
#include "itemdb/value.h"
#include "tools/json/item_json.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

// A name that AWS uses, and the enum value that it stands for.
template <typename E>
struct Named {
  std::string_view name;
  E value;
};

// A member that AWS has and itemdb does not support, and the reason for the error message.
struct NotOffered {
  std::string_view name;
  std::string_view why;
};

// Keeps the first error. A read that fails returns a default value, so a caller reads all members and then
// checks status() once. All errors are UsageErrors (tools/base/exit_codes.h).
class MemberReader {
 public:
  using Kind = JsonValue::Kind;

  // Error messages name the document `document`, for example "the CreateTable document", and the object in it
  // `path`, for example "GlobalSecondaryIndexes[0]"; empty for the document itself. `json` is borrowed.
  MemberReader(const JsonValue& json, std::string document, std::string path = "");

  // Refuses every member not in `allowed`.
  void Allow(const std::vector<std::string_view>& allowed, std::span<const NotOffered> not_offered = {});

  // The member called `name`; null if it is missing, which is an error if `required`, or if it has another
  // kind than `kind`, which is always an error.
  const JsonValue* Member(std::string_view name, Kind kind, bool required);

  std::string RequiredString(std::string_view name);
  // Empty if the member is missing.
  std::string OptionalString(std::string_view name);
  int64_t RequiredInt64(std::string_view name);
  std::optional<int64_t> OptionalInt64(std::string_view name);
  bool RequiredBool(std::string_view name);
  // False if the member is missing.
  bool OptionalBool(std::string_view name);
  std::vector<std::string> Strings(std::string_view name);

  // An item or a key, read in `form`.
  Item RequiredItem(std::string_view name, ReadForm form);
  // The members "ExpressionAttributeNames" and "ExpressionAttributeValues"; empty if they are missing.
  ExpressionAttributeNames Names();
  ExpressionAttributeValues Values(ReadForm form);

  // The value whose name in `names` is the member's text; `fallback` if the member is missing. Without a
  // `fallback` a missing member is an error.
  template <typename E, size_t N>
  E Enum(std::string_view name, const Named<E> (&names)[N], std::optional<E> fallback = std::nullopt) {
    const JsonValue* value = Member(name, Kind::kString, !fallback.has_value());
    if (value == nullptr) return fallback.value_or(names[0].value);
    for (const Named<E>& named : names) {
      if (named.name == value->text) return named.value;
    }
    Fail(absl::StrFormat("%s is %s; allowed are %s", PathOf(name), JsonString(value->text),
                         absl::StrJoin(names, ", ", [](std::string* out, const Named<E>& named) {
                           out->append(named.name);
                         })));
    return names[0].value;
  }

  // Calls `read` with a reader for each object in the array `name`.
  template <typename T, typename Read>
  std::vector<T> Objects(std::string_view name, bool required, Read read) {
    std::vector<T> values;
    const JsonValue* array = Member(name, Kind::kArray, required);
    for (size_t i = 0; array != nullptr && i < array->elements.size(); ++i) {
      MemberReader reader(array->elements[i], document_, absl::StrFormat("%s[%d]", PathOf(name), i));
      values.push_back(read(reader));
      KeepFirstError(reader);
    }
    return values;
  }

  // Calls `read` with a reader for the object `name`; nothing if the member is missing.
  template <typename T, typename Read>
  std::optional<T> Object(std::string_view name, bool required, Read read) {
    const JsonValue* object = Member(name, Kind::kObject, required);
    if (object == nullptr) return std::nullopt;
    MemberReader reader(*object, document_, PathOf(name));
    T value = read(reader);
    KeepFirstError(reader);
    return value;
  }

  bool Has(std::string_view name) const { return json_.FindOrNull(name) != nullptr; }
  // The name of the only member; empty if there is not exactly one.
  std::string OnlyName() const;
  // "GlobalSecondaryIndexes[0]"; empty for the document itself.
  const std::string& path() const { return path_; }
  std::string PathOf(std::string_view name) const;

  void Fail(const std::string& message);
  const absl::Status& status() const { return status_; }

 private:
  void KeepFirstError(const MemberReader& inner) {
    if (status_.ok()) status_ = inner.status_;
  }
  void KeepFirstError(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }

  const JsonValue& json_;
  std::string document_;
  std::string path_;
  absl::Status status_;
};

}  // namespace itemdb::tools
