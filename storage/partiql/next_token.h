// The NextToken of a SELECT: where the next page begins (PQL-13).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "itemdb/wire/data.pb.h"
#include "storage/base/status.h"

namespace itemdb::storage::partiql {

// A position in the key ranges that a SELECT reads.
struct PagePosition {
  // The number of the range, from 0; 0 for a Scan.
  size_t range = 0;
  // The last key evaluated in the range, encoded. Empty: nothing of the range was read yet.
  std::string last_key;
};

// Encodes `position` as text, together with a hash of the statement and parameters of `request`.
std::string EncodeNextToken(const wire::ExecuteStatementRequest& request, const PagePosition& position);

// Decodes the NextToken of `request`; without one, the position is the beginning. The key is checked later,
// when the page is read. INVALID_ARGUMENT: the token is not for this statement with these parameters.
absl::StatusOr<PagePosition> DecodeNextToken(const wire::ExecuteStatementRequest& request);

}  // namespace itemdb::storage::partiql
