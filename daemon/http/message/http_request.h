// The head of a request, and what it asks for as far as the head tells (SEM-113). Views point into the
// connection's parser.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/api/http_handler.h"

namespace itemdb {

// SEM-018. Of a body as sent, and of what it inflates to.
inline constexpr size_t kMaxBodyBytes = 16 << 20;

struct HttpHeader {
  std::string_view name;
  std::string_view value;
};

struct HttpHead {
  std::string_view method;
  std::string_view target;
  // In the order sent; a name may occur again.
  std::vector<HttpHeader> headers;

  // The value of the first header of that name, of any case; nothing when there is none.
  std::optional<std::string_view> Find(std::string_view name) const;
  // The target as far as the question mark, and what follows it.
  std::string_view path() const { return target.substr(0, target.find('?')); }
  std::string_view query() const;
};

// What a request is answered with, when no operation is to run.
struct HttpAnswer {
  JsonReply reply;
  std::string_view content_type = "application/x-amz-json-1.0";
  // "Name: value\r\n" of each header that only this answer has.
  std::string headers;
};

struct HttpRoute {
  // Nothing: `answer` is the answer.
  std::optional<HttpOperation> operation;
  HttpAnswer answer;
  bool gzip = false;
};

// `any_origin`: requests that scripts of any web page send are let in. Without it, only those of pages that
// come from this machine: no signature protects from the others.
HttpRoute Route(const HttpHead& head, const HttpHandler& handler, bool any_origin);

// The header that lets the page that sent `head` read the answer; empty when none did.
std::string OriginHeaders(const HttpHead& head);

// Whether a page of this origin, e.g. "http://localhost:8001", comes from this machine.
bool IsLoopbackOrigin(std::string_view origin);

}  // namespace itemdb
