// UpdateTimeToLive: changes the time to live of a definition.

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/catalog/table.h"

namespace itemdb::storage {

absl::StatusOr<v1::TableDescription> DefinitionWithTimeToLive(v1::TableDescription definition,
                                                              const v1::UpdateTimeToLiveRequest& request,
                                                              int64_t now_ms,
                                                              std::chrono::milliseconds wait) {
  const v1::TimeToLiveSpecification& wanted = request.time_to_live_specification();
  const v1::TimeToLive& present = definition.time_to_live();
  const std::string& name = wanted.attribute_name();
  if (name.empty() || name.size() > kMaxKeyAttributeNameBytes) {
    return WithServiceText(
        "1 validation error detected: Value '" + name +
            "' at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have "
            "length " +
            (name.empty() ? "greater than or equal to 1" : "less than or equal to 255"),
        ValidationError("SEM-009", "the AttributeName of TimeToLiveSpecification must be 1 to " +
                                       std::to_string(kMaxKeyAttributeNameBytes) +
                                       " bytes long; this one has " + std::to_string(name.size())));
  }
  const bool is_enabled = !present.attribute_name().empty();
  if (is_enabled && name != present.attribute_name()) {
    return ValidationError("SEM-111",
                           "TimeToLive is active on a different AttributeName: current AttributeName is " +
                               present.attribute_name());
  }
  if (wanted.enabled() == is_enabled) {
    return ValidationError("SEM-111",
                           std::string("TimeToLive is already ") + (is_enabled ? "enabled" : "disabled"));
  }
  // Negative after the clock was set back. Then the change is allowed, so that the wait is not longer.
  const int64_t passed_ms = now_ms - present.update_time_ms();
  if (passed_ms >= 0 && passed_ms < wait.count()) {
    return ValidationError("SEM-111",
                           "Time to live has been modified multiple times within a fixed interval");
  }
  v1::TimeToLive changed;
  changed.set_update_time_ms(now_ms);
  if (wanted.enabled()) {
    changed.set_attribute_name(name);
    changed.set_index_status(v1::TABLE_STATUS_CREATING);
  }
  *definition.mutable_time_to_live() = std::move(changed);
  return definition;
}

}  // namespace itemdb::storage
