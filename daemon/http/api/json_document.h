// The body of a request, parsed, and the memory that this takes.
#pragma once

#include <simdjson.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/serving/calls.h"

namespace itemdb {

// What the parsers of long documents take, counted in CallMemory: several times the documents. Thread-safe.
class ParserMemory {
 public:
  // `calls` is borrowed.
  explicit ParserMemory(CallMemory& calls) : calls_(calls) {}

  // False when there is none left. One document gets it in any case, so that none is too long for ever.
  bool TryReserve(size_t bytes);
  void Release(size_t bytes);

  const CallMemory& calls() const { return calls_; }

 private:
  CallMemory& calls_;
  std::atomic<int> holders_ = 0;
};

// Immovable: objects and views of it borrow from it.
class JsonDocument {
 public:
  // Takes `memory` for a long body, until it is destroyed. A short one is parsed into memory that the thread
  // keeps: it is valid until the thread parses the next.
  //
  // SERIALIZATION: `body` is no JSON object. RESOURCE_EXHAUSTED (CALLS_FULL): there is no memory to read it.
  static absl::StatusOr<std::unique_ptr<JsonDocument>> Parse(std::string body, ParserMemory& memory);

  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  const simdjson::dom::object& root() const { return root_; }

 private:
  JsonDocument(std::string body, ParserMemory& memory) : body_(std::move(body)), memory_(memory) {}
  absl::Status Parse();

  std::string body_;
  ParserMemory& memory_;
  size_t reserved_bytes_ = 0;
  std::unique_ptr<simdjson::dom::parser> own_parser_;
  simdjson::dom::object root_;
};

}  // namespace itemdb
