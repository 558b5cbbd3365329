#include "itemdb/item_traits.h"

#include "client/errors_internal.h"

namespace itemdb {

namespace internal {

absl::Status WrongType(std::string_view expected, const Value& value) {
  return MakeError(absl::StatusCode::kDataLoss, kReasonUnexpectedItem,
                   "is of type " + std::string(TypeName(value.type())) + ", not " + std::string(expected));
}

absl::Status NotInRange(const Number& number) {
  return MakeError(absl::StatusCode::kDataLoss, kReasonUnexpectedItem,
                   "is " + number.text() + ", which does not fit the integer it is read into");
}

}  // namespace internal

const Value* ItemReader::Required(std::string_view name) {
  const Value* value = item_.find_or_null(name);
  if (value == nullptr) {
    Keep(name, MakeError(absl::StatusCode::kDataLoss, kReasonUnexpectedItem, "is missing"));
  }
  return value;
}

void ItemReader::Keep(std::string_view name, const absl::Status& status) {
  if (status.ok() || !status_.ok()) return;
  status_ =
      MakeError(status.code(), ReasonOf(status), "attribute " + std::string(name) + " " + MessageOf(status));
}

}  // namespace itemdb
