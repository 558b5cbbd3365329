#include "storage/items/cancellation.h"

#include "storage/catalog/table.h"

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
  // Programs compare the text of a reason, and its position says which key is meant. So a key that does not
  // fit has the service's text alone.
  std::string message = MessageOf(error);
  if (message.starts_with(kKeyMismatch)) message = std::string(kKeyMismatch);
  reason->set_message(std::move(message));
}

}  // namespace itemdb::storage
