#include "itemdb/reservations.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/errors_internal.h"
#include "common/status_macros.h"
#include "itemdb/errors.h"

namespace itemdb {
namespace {

std::string ShowKey(const Reservation& reservation) {
  return absl::StrCat(
      reservation.table_name, " {",
      absl::StrJoin(reservation.key_attributes, ", ",
                    [&](std::string* out, const std::string& name) {
                      const Value* value = reservation.item.find_or_null(name);
                      const std::string* text = value == nullptr ? nullptr : value->string_or_null();
                      const Number* number = value == nullptr ? nullptr : value->number_or_null();
                      absl::StrAppend(out, name, ": ",
                                      text != nullptr     ? *text
                                      : number != nullptr ? number->text()
                                                          : "(binary)");
                    }),
      "}");
}

absl::Status Check(const Reservation& reservation) {
  for (const std::string& name : reservation.key_attributes) {
    if (!reservation.item.contains(name)) {
      return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                       absl::StrCat("the reservation in the table ", reservation.table_name,
                                    " lacks its key attribute ", name));
    }
  }
  if (reservation.key_attributes.empty()) {
    return MakeError(
        absl::StatusCode::kInvalidArgument, kReasonValidation,
        absl::StrCat("the reservation in the table ", reservation.table_name, " names no key attributes"));
  }
  return absl::OkStatus();
}

TransactPut Take(const Reservation& reservation) {
  return {.table_name = reservation.table_name,
          .item = reservation.item,
          .condition_expression = "attribute_not_exists(#key)",
          .expression_attribute_names = {{"#key", reservation.key_attributes.front()}}};
}

TransactDelete Release(const Reservation& reservation) {
  TransactDelete release = {.table_name = reservation.table_name, .key = {}};
  std::vector<std::string> conditions;
  for (const Attribute& attribute : reservation.item) {
    const std::string number = std::to_string(conditions.size());
    conditions.push_back("#a" + number + " = :a" + number);
    release.expression_attribute_names["#a" + number] = attribute.name;
    release.expression_attribute_values[":a" + number] = attribute.value;
  }
  release.condition_expression = absl::StrJoin(conditions, " AND ");
  for (const std::string& name : reservation.key_attributes) {
    release.key.Set(name, *reservation.item.find_or_null(name));
  }
  return release;
}

}  // namespace

absl::StatusOr<TransactWriteItemsResult> WriteWithReservations(const Client& client,
                                                               TransactWriteItemsRequest request,
                                                               const std::vector<Reservation>& take,
                                                               const std::vector<Reservation>& release,
                                                               CallOptions options) {
  for (const std::vector<Reservation>* reservations : {&take, &release}) {
    for (const Reservation& reservation : *reservations) {
      ITEMDB_RETURN_IF_ERROR(Check(reservation));
    }
  }
  const size_t own_actions = request.actions.size();
  for (const Reservation& reservation : take) request.actions.push_back(Take(reservation));
  for (const Reservation& reservation : release) request.actions.push_back(Release(reservation));
  absl::StatusOr<TransactWriteItemsResult> result = client.TransactWriteItems(request, std::move(options));
  if (result.ok()) return result;
  const std::vector<CancellationReason> reasons = CancellationReasons(result.status());
  for (size_t i = 0; i < take.size() && own_actions + i < reasons.size(); ++i) {
    if (reasons[own_actions + i].code == CancellationReason::Code::kConditionalCheckFailed) {
      return MakeError(absl::StatusCode::kAlreadyExists, kReasonValueReserved,
                       absl::StrCat("the value is taken: there is an item ", ShowKey(take[i])));
    }
  }
  return result;
}

}  // namespace itemdb
