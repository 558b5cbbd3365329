// Pass an error on to the caller.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the calling function if the absl::Status is an error.
#define ITEMDB_RETURN_IF_ERROR(...)                                                               \
  do {                                                                                            \
    if (absl::Status itemdb_status_ = (__VA_ARGS__); !itemdb_status_.ok()) return itemdb_status_; \
  } while (false)

// Assigns the value of an absl::StatusOr to `lhs` (which may declare a variable) or returns its status.
#define ITEMDB_ASSIGN_OR_RETURN(lhs, ...) \
  ITEMDB_ASSIGN_OR_RETURN_(ITEMDB_CONCAT_(itemdb_statusor_, __LINE__), lhs, (__VA_ARGS__))
#define ITEMDB_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = expr;                               \
  if (!tmp.ok()) return tmp.status();            \
  lhs = std::move(tmp).value()
#define ITEMDB_CONCAT_(a, b) ITEMDB_CONCAT_INNER_(a, b)
#define ITEMDB_CONCAT_INNER_(a, b) a##b
