// Encodes the head of a reply (SEM-114).
#pragma once

#include <string>

#include "daemon/http/message/http_request.h"

namespace itemdb::http {

struct HttpReplyHead {
  const HttpAnswer& answer;
  // The result of OriginHeaders().
  std::string_view origin_headers;
  // Whether the connection stays open. With HTTP/1.1 that is the default and needs no header.
  bool keep_alive = true;
  bool http_1_1 = true;
};

// The head with a new request id, the checksum and length of the body as it is sent, and the date.
std::string EncodeReplyHead(const HttpReplyHead& head);

}  // namespace itemdb::http
