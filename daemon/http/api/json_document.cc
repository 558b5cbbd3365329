#include "daemon/http/api/json_document.h"

#include "absl/strings/str_cat.h"
#include "daemon/http/api/errors.h"
#include "daemon/http/api/json_api.h"
#include "daemon/http/api/request_check.h"
#include "storage/base/service_text.h"
#include "storage/json/json_values.h"

namespace itemdb::http {
namespace {

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

// A parser keeps the memory that its longest document took. So that threads keep little memory, a longer
// document gets a parser of its own.
constexpr size_t kMaxKeptDocumentBytes = 256 << 10;
// A parser allocates for each byte of a document a position of 4 bytes, a node of 8 bytes, and text.
constexpr size_t kParserBytesPerByte = 14;

}  // namespace

bool ParserMemory::TryReserve(size_t bytes) {
  const bool alone = holders_.fetch_add(1, std::memory_order_relaxed) == 0;
  if (calls_.TryReserve(bytes)) return true;
  if (alone) {
    calls_.Add(bytes);
    return true;
  }
  holders_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

void ParserMemory::Release(size_t bytes) {
  calls_.Release(bytes);
  holders_.fetch_sub(1, std::memory_order_relaxed);
}

absl::StatusOr<std::unique_ptr<JsonDocument>> JsonDocument::Parse(std::string body, ParserMemory& memory) {
  std::unique_ptr<JsonDocument> document(new JsonDocument(std::move(body), memory));
  ITEMDB_RETURN_IF_ERROR(document->Parse());
  return document;
}

absl::Status JsonDocument::Parse() {
  thread_local simdjson::dom::parser kept_parser;
  simdjson::dom::parser* parser = &kept_parser;
  if (body_.size() > kMaxKeptDocumentBytes) {
    const size_t bytes = kParserBytesPerByte * body_.size();
    if (!memory_.TryReserve(bytes)) return daemon::CallsFullError(memory_.calls());
    reserved_bytes_ = bytes;
    own_parser_ = std::make_unique<simdjson::dom::parser>();
    parser = own_parser_.get();
  }
  if (body_.capacity() < body_.size() + kJsonPadding) body_.reserve(body_.size() + kJsonPadding);
  simdjson::dom::element element;
  simdjson::error_code error =
      parser->parse(body_.data(), body_.size(), /*realloc_if_needed=*/false).get(element);
  if (error != simdjson::SUCCESS)
    // The service says nothing.
    return storage::WithServiceText("", storage::SerializationError(absl::StrCat(
                                            "The request is not JSON: ", simdjson::error_message(error))));
  if (element.get(root_) != simdjson::SUCCESS) return storage::WrongJsonType(element, "Structure");
  return absl::OkStatus();
}

JsonDocument::~JsonDocument() {
  own_parser_.reset();
  if (reserved_bytes_ > 0) memory_.Release(reserved_bytes_);
}

}  // namespace itemdb::http
