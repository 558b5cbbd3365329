// The head of a reply, as bytes (SEM-114).
#pragma once

#include <string>

#include "daemon/http/message/http_request.h"

namespace itemdb {

struct HttpReplyHead {
  const HttpAnswer& answer;
  // HttpHead::Find("Origin") in the form of OriginHeaders.
  std::string_view origin_headers;
  // Whether the connection serves another request, and whether the client knows that without being told.
  bool keep_alive = true;
  bool http_1_1 = true;
};

// With a new request id, the checksum and length of the body, and the date.
std::string EncodeReplyHead(const HttpReplyHead& head);

}  // namespace itemdb
