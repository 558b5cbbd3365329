#include "daemon/http/message/http_reply.h"

#include <libdeflate.h>

#include <ctime>

#include "absl/strings/str_cat.h"
#include "daemon/http/message/absl_view.h"
#include "daemon/http/message/request_id.h"

namespace itemdb::http {
namespace {

std::string_view ReasonPhrase(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Unknown";
  }
}

// "Sun, 22 Nov 2026 01:02:03 GMT"; made once a second.
std::string_view Date() {
  thread_local std::time_t second = 0;
  thread_local char text[32] = "";
  thread_local size_t bytes = 0;
  if (std::time_t now = std::time(nullptr); now != second) {
    second = now;
    std::tm utc = {};
    gmtime_r(&now, &utc);
    bytes = std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &utc);
  }
  return {text, bytes};
}

}  // namespace

std::string EncodeReplyHead(const HttpReplyHead& head) {
  const std::string& body = head.answer.reply.body;
  const uint32_t checksum = libdeflate_crc32(0, body.data(), body.size());
  absl::string_view connection;
  if (!head.keep_alive) connection = "Connection: close\r\n";
  if (head.keep_alive && !head.http_1_1) connection = "Connection: keep-alive\r\n";
  std::string encoding;
  if (std::string_view name = head.answer.reply.content_encoding; !name.empty())
    encoding = absl::StrCat("Content-Encoding: ", Absl(name), "\r\nVary: Accept-Encoding\r\n");
  return absl::StrCat(
      "HTTP/1.1 ", head.answer.reply.http_status, " ", Absl(ReasonPhrase(head.answer.reply.http_status)),
      "\r\nServer: itemdb\r\nDate: ", Absl(Date()), "\r\nContent-Type: ", Absl(head.answer.content_type),
      "\r\nContent-Length: ", body.size(), "\r\nx-amzn-RequestId: ", NewRequestId(),
      "\r\nx-amz-crc32: ", checksum, "\r\n", encoding, connection, Absl(head.origin_headers),
      head.answer.headers, "\r\n");
}

}  // namespace itemdb::http
