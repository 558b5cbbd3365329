// The NextToken of a SELECT: where the next page begins (PQL-13).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "itemdb/wire/data.pb.h"
#include "storage/base/status.h"

namespace itemdb::partiql {

// A place in what a SELECT reads.
struct PagePosition {
  // Which of its ranges; 0 when it has one or scans.
  size_t range = 0;
  // The last key evaluated in it, encoded; empty: the range has not been begun.
  std::string last_key;
};

// `position` as text, bound to the statement and parameters of `request`.
std::string EncodeNextToken(const wire::ExecuteStatementRequest& request, const PagePosition& position);

// The position that the request's token stands for; the beginning when it has none. What the key is worth is
// for the reader of the page to check. INVALID_ARGUMENT: it is no token of this statement with these
// parameters.
absl::StatusOr<PagePosition> DecodeNextToken(const wire::ExecuteStatementRequest& request);

}  // namespace itemdb::partiql
