#include "daemon/tracing/tracer.h"

#include <curl/curl.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/process/version.h"
#include "storage/base/check.h"

namespace itemdb::daemon {
namespace {

using Clock = storage::CallTrace::Clock;
using Json = nlohmann::json;
using Step = storage::CallTrace::Step;

constexpr std::chrono::milliseconds kInterval{1'000};
// Calls of one request to the collector: at most a few MiB of JSON.
constexpr size_t kMaxBatchCalls = 512;
// After a failure the collector is left alone for so long.
constexpr std::chrono::seconds kPauseAfterFailure{5};
constexpr long kSendTimeoutMs = 5'000;
// For what waits when the daemon stops.
constexpr std::chrono::seconds kMaxStopTime{2};
constexpr size_t kMaxReplyBytes = 64 << 10;

// Ids must be unique but not secret. SplitMix64: a few instructions, and no state worth a table.
uint64_t RandomNumber() {
  thread_local uint64_t state = [] {
    std::random_device device;
    return static_cast<uint64_t>(device()) << 32 | device();
  }();
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t NewId() {
  uint64_t id = 0;
  while (id == 0) id = RandomNumber();
  return id;
}

// Every service that decides by the id of a trace decides alike: by its last 56 bits, as OpenTelemetry's
// samplers do.
bool IsWithin(double ratio, const TraceId& id) {
  constexpr uint64_t kRange = uint64_t{1} << 56;
  return static_cast<double>(id.low & (kRange - 1)) < ratio * static_cast<double>(kRange);
}

std::string_view NameOf(Step step) {
  switch (step) {
    case Step::kCacheRead:
      return "read from memory";
    case Step::kIoQueue:
      return "wait for an I/O thread";
    case Step::kDiskRead:
      return "read on an I/O thread";
    case Step::kQueue:
      return "queue";
    case Step::kOrder:
      return "order";
    case Step::kSync:
      return "sync";
    case Step::kPublish:
      return "publish";
    case Step::kStandby:
      return "wait for a standby";
  }
  return "";
}

// OpenTelemetry's conventions for gRPC servers: these are the server's fault, all others the caller's.
bool IsServerError(const std::string& code) {
  constexpr std::string_view kErrors[] = {"UNKNOWN",  "DEADLINE_EXCEEDED", "UNIMPLEMENTED",
                                          "INTERNAL", "UNAVAILABLE",       "DATA_LOSS"};
  return std::find(std::begin(kErrors), std::end(kErrors), code) != std::end(kErrors);
}

Json Attribute(const char* name, std::string_view text) {
  return {{"key", name}, {"value", {{"stringValue", text}}}};
}
// Numbers of 64 bits are texts in the JSON of protobuf.
Json Attribute(const char* name, int64_t number) {
  return {{"key", name}, {"value", {{"intValue", std::to_string(number)}}}};
}

}  // namespace

// Posts to the collector. Used by the thread of the tracer only.
class Tracer::Sender {
 public:
  Sender(const std::string& url, const std::atomic<bool>& stopping) : stopping_(stopping) {
    // Of the whole process, for good.
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    ITEMDB_CHECK(started == CURLE_OK);
    handle_ = curl_easy_init();
    ITEMDB_CHECK(handle_ != nullptr);
    headers_ = curl_slist_append(nullptr, "Content-Type: application/json");
    // Without it libcurl asks before it sends a long body, and waits a second for the answer.
    headers_ = curl_slist_append(headers_, "Expect:");
    curl_easy_setopt(handle_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle_, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
    curl_easy_setopt(handle_, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(handle_, CURLOPT_USERAGENT, "itemd");
    curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle_, CURLOPT_TIMEOUT_MS, kSendTimeoutMs);
    curl_easy_setopt(handle_, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
    curl_easy_setopt(handle_, CURLOPT_ERRORBUFFER, detail_);
    curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, &OnBody);
    curl_easy_setopt(handle_, CURLOPT_WRITEDATA, &reply_);
    curl_easy_setopt(handle_, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle_, CURLOPT_XFERINFOFUNCTION, &OnProgress);
    curl_easy_setopt(handle_, CURLOPT_XFERINFODATA, this);
  }
  ~Sender() {
    curl_easy_cleanup(handle_);
    curl_slist_free_all(headers_);
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  // Empty: the collector has accepted it. Otherwise why not.
  std::string Post(const std::string& body) {
    detail_[0] = '\0';
    reply_.clear();
    curl_easy_setopt(handle_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(handle_, CURLOPT_POSTFIELDS, body.data());
    const CURLcode code = curl_easy_perform(handle_);
    if (code != CURLE_OK) return *detail_ != '\0' ? detail_ : curl_easy_strerror(code);
    long status = 0;
    curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 && status < 300
               ? ""
               : absl::StrCat("the collector answered with the HTTP status ", status);
  }

  // Spans of the last batch that the collector has accepted but thrown away, as it says in its reply.
  int64_t rejected() const {
    const Json reply = Json::parse(reply_, nullptr, /*allow_exceptions=*/false);
    if (!reply.is_object()) return 0;
    const auto partial = reply.find("partialSuccess");
    if (partial == reply.end() || !partial->is_object()) return 0;
    const auto rejected = partial->find("rejectedSpans");
    if (rejected == partial->end()) return 0;
    if (rejected->is_number_integer()) return rejected->get<int64_t>();
    return rejected->is_string() ? std::atoll(rejected->get<std::string>().c_str()) : 0;
  }

 private:
  static size_t OnBody(char* bytes, size_t one, size_t count, void* data) {
    auto& reply = *static_cast<std::string*>(data);
    if (reply.size() + one * count > kMaxReplyBytes) return 0;
    reply.append(bytes, one * count);
    return one * count;
  }
  static int OnProgress(void* data, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto& sender = *static_cast<Sender*>(data);
    if (!sender.stopping_.load(std::memory_order_relaxed)) return 0;
    const Clock::time_point now = Clock::now();
    if (!sender.stop_seen_.has_value()) sender.stop_seen_ = now;
    return now - *sender.stop_seen_ > kMaxStopTime ? 1 : 0;
  }

  const std::atomic<bool>& stopping_;
  std::optional<Clock::time_point> stop_seen_;
  CURL* handle_ = nullptr;
  curl_slist* headers_ = nullptr;
  char detail_[CURL_ERROR_SIZE] = "";
  std::string reply_;
};

Tracer::Tracer(TracerOptions options)
    : options_(std::move(options)), sender_(std::make_unique<Sender>(options_.url, stopping_)) {
  thread_.Start([this] { Run(); });
}

Tracer::~Tracer() {
  stopping_ = true;
  thread_.Stop();
}

std::shared_ptr<TracedCall> Tracer::Begin(const std::optional<TraceContext>& caller) const {
  const TraceId id = caller.has_value() ? caller->trace_id : TraceId{0, NewId()};
  const bool decided = caller.has_value() && caller->sampled.has_value();
  if (decided ? !*caller->sampled : !IsWithin(options_.ratio, id)) return nullptr;
  auto call = std::make_shared<TracedCall>();
  call->trace_id = caller.has_value() ? id : TraceId{NewId(), id.low};
  call->span_id = NewId();
  call->parent_id = caller.has_value() ? caller->parent_id : 0;
  return call;
}

std::shared_ptr<TracedCall> Tracer::TakePart(TracedCall& call) {
  auto part = std::make_shared<TracedCall>();
  part->trace_id = call.trace_id;
  part->span_id = NewId();
  part->parent_id = call.parent_id;
  for (const auto& [step, begin, end] : call.steps.Take()) part->steps.Add(step, begin, end);
  return part;
}

void Tracer::Finish(TracedCall& call, CallSpan span) {
  const auto unix_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const auto clock_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch());
  Finished finished{call.trace_id,   call.span_id,      call.parent_id,
                    std::move(span), call.steps.Take(), (unix_ns - clock_ns).count()};
  bool wake = false;
  {
    storage::MutexLock lock(mutex_);
    if (queue_.size() >= kMaxQueuedCalls) {
      dropped_.fetch_add(finished.spans(), std::memory_order_relaxed);
      return;
    }
    queue_.push_back(std::move(finished));
    wake = queue_.size() == kMaxBatchCalls;
  }
  if (wake) thread_.Wake();
}

void Tracer::Run() {
  bool going_on = true;
  while (going_on) {
    going_on = thread_.WaitFor(kInterval);
    const Clock::time_point stop_at = Clock::now() + kMaxStopTime;
    while (true) {
      // While the collector does not answer, the queue fills up, and what does not fit is dropped.
      if (going_on && Clock::now() < next_attempt_) break;
      std::vector<Finished> batch;
      {
        storage::MutexLock lock(mutex_);
        const auto end = queue_.begin() + static_cast<int64_t>(std::min(queue_.size(), kMaxBatchCalls));
        batch.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
        queue_.erase(queue_.begin(), end);
      }
      if (batch.empty()) break;
      if (!going_on && (failing_ || Clock::now() > stop_at)) {
        for (const Finished& call : batch) dropped_.fetch_add(call.spans(), std::memory_order_relaxed);
        continue;
      }
      Send(batch);
    }
  }
}

void Tracer::Send(const std::vector<Finished>& batch) {
  int64_t spans = 0;
  for (const Finished& call : batch) spans += call.spans();
  const std::string problem = sender_->Post(Encode(batch));
  if (problem.empty()) {
    const int64_t rejected = std::clamp<int64_t>(sender_->rejected(), 0, spans);
    dropped_.fetch_add(rejected, std::memory_order_relaxed);
    exported_.fetch_add(spans - rejected, std::memory_order_relaxed);
    if (std::exchange(failing_, false))
      options_.log->info("spans are sent again trace_endpoint={}", options_.url);
    return;
  }
  dropped_.fetch_add(spans, std::memory_order_relaxed);
  next_attempt_ = Clock::now() + kPauseAfterFailure;
  // Once, not every few seconds.
  if (!std::exchange(failing_, true))
    options_.log->warn("spans cannot be sent and are dropped trace_endpoint={} reason={}", options_.url,
                       problem);
}

std::string Tracer::Encode(const std::vector<Finished>& batch) {
  Json spans = Json::array();
  for (const Finished& call : batch) {
    const std::string trace_id = ToText(call.trace_id);
    const std::string span_id = SpanIdText(call.span_id);
    const auto unix_ns = [&](Clock::time_point time) {
      const auto clock_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch());
      return std::to_string(call.clock_offset_ns + clock_ns.count());
    };
    const CallSpan& span = call.span;
    Json attributes =
        Json::array({Attribute("db.system.name", "itemdb"), Attribute("db.operation.name", span.operation),
                     Attribute("network.protocol.name", span.protocol), Attribute("itemdb.code", span.code),
                     Attribute("itemdb.request_bytes", static_cast<int64_t>(span.request_bytes)),
                     Attribute("itemdb.reply_bytes", static_cast<int64_t>(span.reply_bytes))});
    if (!span.table.empty()) attributes.push_back(Attribute("db.collection.name", span.table));
    if (!span.reason.empty()) attributes.push_back(Attribute("error.type", span.reason));
    if (span.items >= 0) attributes.push_back(Attribute("itemdb.items", span.items));
    Json root = {{"traceId", trace_id},
                 {"spanId", span_id},
                 {"name", span.operation},
                 {"kind", 2},  // SPAN_KIND_SERVER
                 {"startTimeUnixNano", unix_ns(span.begin)},
                 {"endTimeUnixNano", unix_ns(span.end)},
                 {"attributes", std::move(attributes)}};
    if (call.parent_id != 0) root["parentSpanId"] = SpanIdText(call.parent_id);
    if (IsServerError(span.code)) root["status"] = {{"code", 2}};  // STATUS_CODE_ERROR
    spans.push_back(std::move(root));
    for (const storage::CallTrace::Timing& step : call.steps) {
      spans.push_back({{"traceId", trace_id},
                       {"spanId", SpanIdText(NewId())},
                       {"parentSpanId", span_id},
                       {"name", NameOf(step.step)},
                       {"kind", 1},  // SPAN_KIND_INTERNAL
                       {"startTimeUnixNano", unix_ns(step.begin)},
                       {"endTimeUnixNano", unix_ns(step.end)}});
    }
  }
  const Json scope_spans = {{"scope", {{"name", "itemd"}, {"version", Version()}}},
                            {"spans", std::move(spans)}};
  const Json attributes =
      Json::array({Attribute("service.name", "itemd"), Attribute("service.version", Version())});
  const Json resource_spans = {{"resource", {{"attributes", attributes}}},
                               {"scopeSpans", Json::array({scope_spans})}};
  const Json document = {{"resourceSpans", Json::array({resource_spans})}};
  return document.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace itemdb::daemon
