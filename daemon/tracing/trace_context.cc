#include "daemon/tracing/trace_context.h"

#include "absl/strings/str_format.h"

namespace itemdb::daemon {
namespace {

// nullopt: `text` does not have `digits` hexadecimal digits in lower case, at most 16.
std::optional<uint64_t> ParseHex(std::string_view text, size_t digits) {
  if (text.size() != digits) return std::nullopt;
  uint64_t number = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      number = number << 4 | static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      number = number << 4 | static_cast<uint64_t>(c - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return number;
}

constexpr size_t kTraceDigits = 32;
constexpr size_t kSpanDigits = 16;

std::optional<TraceId> ParseTraceId(std::string_view text) {
  if (text.size() != kTraceDigits) return std::nullopt;
  const auto high = ParseHex(text.substr(0, 16), 16);
  const auto low = ParseHex(text.substr(16), 16);
  if (!high.has_value() || !low.has_value() || (*high == 0 && *low == 0)) return std::nullopt;
  return TraceId{*high, *low};
}

std::string_view WithoutBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

}  // namespace

std::optional<TraceContext> ParseTraceparent(std::string_view text) {
  // VERSION-TRACE-PARENT-FLAGS: 2, 32, 16 and 2 digits.
  constexpr size_t kBytes = 2 + 1 + kTraceDigits + 1 + kSpanDigits + 1 + 2;
  text = WithoutBlanks(text);
  if (text.size() < kBytes || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  const auto version = ParseHex(text.substr(0, 2), 2);
  if (!version.has_value() || *version == 0xff) return std::nullopt;
  if (text.size() > kBytes && (*version == 0 || text[kBytes] != '-')) return std::nullopt;
  const auto trace_id = ParseTraceId(text.substr(3, kTraceDigits));
  const auto parent_id = ParseHex(text.substr(36, kSpanDigits), kSpanDigits);
  const auto flags = ParseHex(text.substr(53, 2), 2);
  if (!trace_id.has_value() || !parent_id.has_value() || *parent_id == 0 || !flags.has_value())
    return std::nullopt;
  return TraceContext{*trace_id, *parent_id, (*flags & 1) != 0};
}

std::optional<TraceContext> ParseAmazonTraceId(std::string_view text) {
  TraceContext context;
  bool has_root = false;
  while (!text.empty()) {
    const size_t end = text.find(';');
    const std::string_view field = WithoutBlanks(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    const size_t equals = field.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = field.substr(0, equals);
    const std::string_view value = field.substr(equals + 1);
    if (name == "Root") {
      // 1-SECONDS-RANDOM: 8 and 24 digits, which together are the trace id.
      if (value.size() != 35 || !value.starts_with("1-") || value[10] != '-') return std::nullopt;
      const auto id = ParseTraceId(std::string(value.substr(2, 8)).append(value.substr(11)));
      if (!id.has_value()) return std::nullopt;
      context.trace_id = *id;
      has_root = true;
    } else if (name == "Parent") {
      const auto parent = ParseHex(value, kSpanDigits);
      if (!parent.has_value()) return std::nullopt;
      context.parent_id = *parent;
    } else if (name == "Sampled" && (value == "0" || value == "1")) {
      context.sampled = value == "1";
    }
  }
  if (!has_root) return std::nullopt;
  return context;
}

std::optional<TraceContext> ReadTraceContext(std::optional<std::string_view> traceparent,
                                             std::optional<std::string_view> amazon_trace_id) {
  std::optional<TraceContext> context;
  if (traceparent.has_value()) context = ParseTraceparent(*traceparent);
  if (!context.has_value() && amazon_trace_id.has_value()) context = ParseAmazonTraceId(*amazon_trace_id);
  return context;
}

std::string ToText(const TraceId& id) { return absl::StrFormat("%016x%016x", id.high, id.low); }
std::string SpanIdText(uint64_t id) { return absl::StrFormat("%016x", id); }

}  // namespace itemdb::daemon
