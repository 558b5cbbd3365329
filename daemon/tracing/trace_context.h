// What a caller says about the trace that its call belongs to, in the header or metadata `traceparent` (W3C
// Trace Context) or `X-Amzn-Trace-Id` (AWS X-Ray). A malformed value is as good as none: the call is served
// all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace itemdb::daemon {

// Never both zero.
struct TraceId {
  uint64_t high = 0;
  uint64_t low = 0;

  friend bool operator==(const TraceId&, const TraceId&) = default;
};

struct TraceContext {
  TraceId trace_id;
  // The span of the caller that this call is a part of; 0: the caller names none.
  uint64_t parent_id = 0;
  // Whether the caller records this trace; nullopt: it leaves the decision to us.
  std::optional<bool> sampled;
};

// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". A later version than 00 is read as far as
// version 00 goes, as the specification says. nullopt: malformed, or an id is zero.
std::optional<TraceContext> ParseTraceparent(std::string_view text);
// "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1", of which Root is needed.
// nullopt: malformed.
std::optional<TraceContext> ParseAmazonTraceId(std::string_view text);

// The context of a call with these headers; nullopt stands for a header that is missing or is there more than
// once. traceparent counts first.
std::optional<TraceContext> ReadTraceContext(std::optional<std::string_view> traceparent,
                                             std::optional<std::string_view> amazon_trace_id);

// 32 and 16 hexadecimal digits.
std::string ToText(const TraceId& id);
std::string SpanIdText(uint64_t id);

}  // namespace itemdb::daemon
