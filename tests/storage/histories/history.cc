#include "tests/storage/histories/history.h"

#include <algorithm>

namespace itemdb::testing {
namespace {

bool Holds(const Step& step, const std::optional<HotItem>& item) {
  switch (step.condition) {
    case HotCondition::kNone:
      return true;
    case HotCondition::kExists:
      return item.has_value();
    case HotCondition::kMissing:
      return !item.has_value();
    case HotCondition::kCountBelow:
      return item.has_value() && item->count < step.bound;
  }
  return false;
}

void Do(const Step& step, std::optional<HotItem>* item) {
  if (step.kind == StepKind::kPut) *item = {step.version, 0};
  if (step.kind == StepKind::kAdd) *item = {step.version, item->value_or(HotItem()).count + 1};
  if (step.kind == StepKind::kDelete) item->reset();
}

std::string ApplySingle(const Operation& operation, HotState* state) {
  const Step& step = operation.steps[0];
  std::optional<HotItem>& item = (*state)[static_cast<size_t>(step.item)];
  std::optional<HotItem> before = item;
  bool holds = Holds(step, item);
  if (holds) Do(step, &item);
  std::string outcome = holds ? "applied" : "refused";
  if (operation.quiet) return outcome;
  return outcome + " " + Show(step.item, holds && step.kind == StepKind::kAdd ? item : before);
}

std::string ApplyTransaction(const Operation& operation, HotState* state) {
  bool applies = true;
  std::string reasons;
  for (const Step& step : operation.steps) {
    const auto& item = (*state)[static_cast<size_t>(step.item)];
    bool holds = Holds(step, item);
    applies = applies && holds;
    reasons += holds ? " none" : operation.quiet ? " refused" : " refused=" + Show(step.item, item);
  }
  if (!applies) return "cancelled" + reasons;
  for (const Step& step : operation.steps) Do(step, &(*state)[static_cast<size_t>(step.item)]);
  return "applied";
}

std::string ApplyPage(const Operation& operation, const HotState& state) {
  std::vector<int> found;
  for (int i = 0; i < kHotItems; ++i) {
    if (state[static_cast<size_t>(i)].has_value()) found.push_back(i);
  }
  auto at = [&state](int item) { return *state[static_cast<size_t>(item)]; };
  if (operation.kind == OperationKind::kQueryIndex) {
    std::sort(found.begin(), found.end(), [&](int a, int b) { return at(a).version < at(b).version; });
  }
  if (operation.kind == OperationKind::kQuery || operation.kind == OperationKind::kCount)
    std::erase_if(found, [&](int item) { return item < operation.first || item > operation.last; });
  size_t scanned = found.size();
  if (operation.kind == OperationKind::kQuery || operation.kind == OperationKind::kCount)
    std::erase_if(found, [&](int item) { return at(item).count >= operation.bound; });
  std::string answer = std::to_string(found.size()) + " of " + std::to_string(scanned);
  if (operation.kind == OperationKind::kCount) return answer;
  for (int item : found) answer += " " + Show(item, at(item));
  return answer;
}

}  // namespace

const char* NameOf(OperationKind kind) {
  static constexpr const char* kNames[kOperationKinds] = {
      "PutItem", "UpdateItem",         "DeleteItem",       "BatchWriteItem", "TransactWriteItems",
      "GetItem", "BatchGetItem",       "TransactGetItems", "Query",          "Query of the index",
      "Scan",    "Query for the count"};
  return kNames[static_cast<int>(kind)];
}

std::string Describe(const Operation& operation) {
  static constexpr const char* kSteps[] = {"put", "add to", "delete", "look at"};
  static constexpr const char* kConditions[] = {"", " if there", " if missing", " if below "};
  std::string text = "client " + std::to_string(operation.client) + ": " + NameOf(operation.kind);
  for (const Step& step : operation.steps) {
    text += std::string(", ") + kSteps[static_cast<int>(step.kind)] + " " + std::to_string(step.item) +
            kConditions[static_cast<int>(step.condition)];
    if (step.condition == HotCondition::kCountBelow) text += std::to_string(step.bound);
    if (step.version != 0) text += " as " + std::to_string(step.version);
  }
  return text + ", answered '" + operation.answer + "' at change " + std::to_string(operation.sequence) +
         ", from " + std::to_string(operation.invoked) + " to " + std::to_string(operation.returned);
}

std::string Show(int item, const std::optional<HotItem>& value) {
  std::string text = std::to_string(item) + ":";
  if (!value.has_value()) return text + "-";
  return text + std::to_string(value->version) + "/" + std::to_string(value->count);
}

std::string Apply(const Operation& operation, HotState* state) {
  switch (operation.kind) {
    case OperationKind::kPut:
    case OperationKind::kUpdate:
    case OperationKind::kDelete:
      return ApplySingle(operation, state);
    case OperationKind::kBatchWrite:
      for (const Step& step : operation.steps) Do(step, &(*state)[static_cast<size_t>(step.item)]);
      return "applied";
    case OperationKind::kTransactWrite:
      return ApplyTransaction(operation, state);
    case OperationKind::kGet:
    case OperationKind::kBatchGet:
    case OperationKind::kTransactGet: {
      std::string answer = "found";
      for (const Step& step : operation.steps)
        answer += " " + Show(step.item, (*state)[static_cast<size_t>(step.item)]);
      return answer;
    }
    case OperationKind::kQuery:
    case OperationKind::kQueryIndex:
    case OperationKind::kScan:
    case OperationKind::kCount:
      return ApplyPage(operation, *state);
  }
  return "";
}

int ChangesBetween(const HotState& a, const HotState& b) {
  int changes = 0;
  for (size_t i = 0; i < a.size(); ++i) changes += a[i] != b[i];
  return changes;
}

}  // namespace itemdb::testing
