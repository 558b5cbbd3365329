// Document paths. The places themselves are inline, in the header.
#include "itemdb/value_ref.h"

#include <charconv>
#include <optional>

#include "client/errors_internal.h"

namespace itemdb {
namespace {

// Takes the next name or index off `rest`; `name` is empty for an index. False: the path is malformed.
bool TakeStep(std::string_view* rest, bool is_first, std::string_view* name, size_t* index) {
  if (rest->starts_with('[') && !is_first) {
    const size_t end = rest->find(']');
    if (end == std::string_view::npos) return false;
    const char* const last = rest->data() + end;
    const auto [read_to, error] = std::from_chars(rest->data() + 1, last, *index);
    if (error != std::errc() || read_to != last) return false;
    *name = {};
    rest->remove_prefix(end + 1);
    return true;
  }
  if (!is_first && !rest->starts_with('.')) return false;
  if (!is_first) rest->remove_prefix(1);
  *name = rest->substr(0, rest->find_first_of(".[]"));
  rest->remove_prefix(name->size());
  return !name->empty();
}

}  // namespace

absl::StatusOr<ValueRef> AtPath(Item& item, std::string_view path) {
  std::string_view rest = path;
  std::string_view name;
  size_t index = 0;
  std::optional<ValueRef> place;
  do {
    if (!TakeStep(&rest, !place.has_value(), &name, &index)) {
      return InvalidRequest("\"" + std::string(path) +
                            "\" is not a path such as address.city or lines[0].price");
    }
    if (!place.has_value()) {
      place.emplace(item[name]);
    } else {
      place.emplace(name.empty() ? (*place)[index] : (*place)[name]);
    }
  } while (!rest.empty());
  return *std::move(place);
}

const Value* FindPath(const Item& item, std::string_view path) {
  std::string_view rest = path;
  std::string_view name;
  size_t index = 0;
  const Value* value = nullptr;
  bool is_first = true;
  do {
    if (!TakeStep(&rest, is_first, &name, &index)) return nullptr;
    if (is_first) {
      value = item.find_or_null(name);
    } else {
      value = name.empty() ? value->element_or_null(index) : value->member_or_null(name);
    }
    is_first = false;
  } while (value != nullptr && !rest.empty());
  return value;
}

}  // namespace itemdb
