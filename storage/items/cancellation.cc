#include "storage/items/cancellation.h"

#include "storage/base/service_text.h"

namespace itemdb::storage {

wire::CancellationReason* CancellationReasons::Add() {
  wire::CancellationReason* reason = cancelled_->add_reasons();
  reason->set_code(v1::CANCELLATION_CODE_NONE);
  return reason;
}

void CancellationReasons::AddValidationError(const absl::Status& error) {
  wire::CancellationReason* reason = Add();
  if (error.ok() || has_validation_error_) return;
  has_validation_error_ = true;
  reason->set_code(v1::CANCELLATION_CODE_VALIDATION_ERROR);
  // Programs compare the text of a reason, and its position says which action is meant.
  reason->set_message(ServiceTextOf(error));
}

}  // namespace itemdb::storage
