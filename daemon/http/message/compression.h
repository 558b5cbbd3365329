// Compressed bodies (SEM-113): of requests, as Content-Encoding says, and of replies, as Accept-Encoding
// asks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb::http {

// kDeflate is the zlib format (RFC 9110, 8.4.1.2). Some clients leave out its header; such bodies are read
// too.
enum class Coding { kIdentity, kGzip, kDeflate };

// A shorter reply is not compressed: it would not need fewer packets.
inline constexpr size_t kMinCompressedBytes = 1'400;

// The coding that a header Content-Encoding names; nullopt if it is unknown, or if there are several.
std::optional<Coding> CodingOf(std::string_view content_encoding);

// The coding for a reply to a request with the header Accept-Encoding: the one that the client prefers, gzip
// if it has no preference, kIdentity if it takes neither.
Coding AcceptedCoding(std::string_view accept_encoding);

// "gzip" or "deflate".
std::string_view CodingName(Coding coding);

// Inflates `bytes`, for kGzip one or more members, to at most `max_bytes`, with capacity for `padding` more.
// `coding` is not kIdentity.
//
// INVALID_ARGUMENT: `bytes` do not have the coding, or are not complete. RESOURCE_EXHAUSTED: they inflate to
// more than `max_bytes`; inflating stopped there.
absl::StatusOr<std::string> Inflate(Coding coding, std::string_view bytes, size_t max_bytes, size_t padding);

// Compresses `text`; nullopt if that does not make it shorter.
std::optional<std::string> Deflate(Coding coding, std::string_view text);

}  // namespace itemdb::http
