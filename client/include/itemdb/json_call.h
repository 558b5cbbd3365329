// Operations of DynamoDB's HTTP protocol that Client has no functions for, such as those of DynamoDB Streams.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <string>

#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "itemdb/export.h"

namespace itemdb {

struct JsonCall {
  // What the header X-Amz-Target has: "DynamoDBStreams_20120810.GetRecords".
  std::string target;
  // A JSON object.
  std::string body;
};

// Sends the call, signed, and returns the reply: a JSON object on one line. Only for operations that change
// nothing: a call whose reply is lost is sent again. Blocks.
//
// UNIMPLEMENTED: the client's endpoint is no URL, or the other side does not have the operation.
// INVALID_ARGUMENT: the target has other characters than letters, digits, '_', '-' and '.'. The errors of the
// operation have the codes of other calls.
ITEMDB_EXPORT absl::StatusOr<std::string> CallJson(const Client& client, const JsonCall& call,
                                                   CallOptions options = {});

}  // namespace itemdb
