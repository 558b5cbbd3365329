// The parsed body of a request, and the count of memory that parsers take.
#pragma once

#include <simdjson.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/serving/serving_context.h"

namespace itemdb::http {

// Counts parsers of long documents in CallMemory; each takes several times its document. Thread-safe.
class ParserMemory {
 public:
  // `calls` is borrowed.
  explicit ParserMemory(daemon::CallMemory& calls) : calls_(calls) {}

  // False: the memory for calls is used up. If no other document holds memory this always succeeds, so that a
  // long document is not refused on every retry.
  bool TryReserve(size_t bytes);
  void Release(size_t bytes);

  const daemon::CallMemory& calls() const { return calls_; }

 private:
  daemon::CallMemory& calls_;
  std::atomic<int> holders_ = 0;
};

// Not movable: JSON objects and views borrow from it.
class JsonDocument {
 public:
  // A long body (above 256 KiB) has its own parser, counted in `memory` until the document is destroyed. For
  // a short body the thread's parser is used; the document is valid until the thread parses the next one.
  //
  // INVALID_ARGUMENT, reason SERIALIZATION: `body` is not a JSON object. RESOURCE_EXHAUSTED, reason
  // CALLS_FULL: there is no memory for the parser.
  static absl::StatusOr<std::unique_ptr<JsonDocument>> Parse(std::string body, ParserMemory& memory);

  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  const simdjson::dom::object& root() const { return root_; }
  std::string_view body() const { return body_; }

 private:
  JsonDocument(std::string body, ParserMemory& memory) : body_(std::move(body)), memory_(memory) {}
  absl::Status Parse();

  std::string body_;
  ParserMemory& memory_;
  size_t reserved_bytes_ = 0;
  std::unique_ptr<simdjson::dom::parser> own_parser_;
  simdjson::dom::object root_;
};

}  // namespace itemdb::http
