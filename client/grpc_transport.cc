#include "client/grpc_transport.h"

#include <grpc/grpc.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <climits>
#include <string_view>
#include <utility>

#include "client/access_key.h"
#include "client/call_metadata.h"
#include "client/errors_internal.h"
#include "client/tls.h"
#include "common/status_macros.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace itemdb {
namespace {

// The first and the longest pause between attempts to reconnect, for example while a daemon restarts.
constexpr int kFirstReconnectMs = 100;
constexpr int kMaxReconnectMs = 1'000;
// Twice the interval of which the daemon is patient (daemon/server/server.cc): pings that were held up arrive
// closer together than they were sent.
constexpr absl::Duration kMinPingInterval = absl::Seconds(2);
// A call that finds the channel connecting polls again after the first pause, which doubles up to the second.
constexpr absl::Duration kFirstConnectPause = absl::Microseconds(500);
constexpr absl::Duration kMaxConnectPause = absl::Milliseconds(16);

bool IsHostAndPort(std::string_view endpoint) {
  const size_t colon = endpoint.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view port = endpoint.substr(colon + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc() && end == port.data() + port.size() && number >= 1 && number <= 65'535;
}

bool IsUnixPath(std::string_view endpoint) { return endpoint.starts_with("unix:/"); }

// gRPC's messages for a call that found no connection. If a later gRPC changes these texts, such a call is
// reported as of unknown outcome, which is safe but less exact.
bool NeverLeft(const grpc::Status& status) {
  return status.error_message().starts_with("failed to connect to all addresses") ||
         status.error_message().starts_with("empty address list");
}

// True when the daemon's gRPC refused the request because it was too long. The text must contain the
// request's length: otherwise it may be about a reply, and the write was applied before it.
bool RefusedAsTooLong(const grpc::Status& status, size_t request_bytes) {
  return status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
         status.error_message().find("Received message larger than max (" + std::to_string(request_bytes) +
                                     " vs. ") != std::string::npos;
}

// True for statuses of a call that gRPC did not pass to the database: method not offered, not allowed, too
// long. Any other status without the daemon's ErrorInfo may follow a write that was applied: the daemon or
// a proxy may reset a stream with any code.
bool RefusedAtTheDoor(const grpc::Status& status, size_t request_bytes) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNIMPLEMENTED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::INVALID_ARGUMENT:
      return true;
    default:
      return RefusedAsTooLong(status, request_bytes);
  }
}

// Keeps the gRPC library and its callback threads running until the process ends. Otherwise the library would
// shut down with the last client and wait ten seconds for one of its pollers, which a long request may leave
// behind. The destructor of the last channel would also join the callback threads; if a callback destroys the
// last client, that is one of these threads (both seen with gRPC 1.51). One call on a channel that is never
// destroyed is enough.
void KeepGrpcUp() {
  struct Call {
    std::shared_ptr<grpc::Channel> channel = grpc::CreateChannel("", nullptr);  // Every call fails at once.
    grpc::GenericStub stub{channel};
    grpc::ClientContext context;
    grpc::ByteBuffer request{nullptr, 0};
    grpc::ByteBuffer reply;
  };
  // [[gnu::used]]: otherwise the compiler drops the unread pointer, and leak checkers report the objects.
  [[gnu::used]] static const Call* const kept = [] {
    auto* call = new Call;
    call->stub.UnaryCall(&call->context, "/itemdb/KeepUp", grpc::StubOptions(), &call->request, &call->reply,
                         [](const grpc::Status&) {});
    return call;
  }();
}

absl::Status CheckKeepalive(const KeepaliveOptions& options) {
  if (options.interval < kMinPingInterval) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "the keepalive interval of " + absl::FormatDuration(options.interval) + " is below " +
                         absl::FormatDuration(kMinPingInterval));
  }
  if (options.timeout <= absl::ZeroDuration()) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "the keepalive timeout must be longer than 0");
  }
  return absl::OkStatus();
}

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(std::clamp<int64_t>(absl::ToInt64Milliseconds(duration), 1, INT_MAX));
}

void SetKeepalive(const KeepaliveOptions& options, grpc::ChannelArguments& arguments) {
  if (options.interval == absl::InfiniteDuration()) return;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(options.interval));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(options.timeout));
  // Otherwise gRPC sends two pings and then none until it has sent a message: a watch sends one in its life.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

absl::Status Unreachable(const std::string& endpoint, const std::string& why) {
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                   "no daemon answers at " + endpoint + ": " + why);
}

// The status with its details as payloads, if the daemon itself sent it: then it has an ErrorInfo with the
// daemon's domain. gRPC or a proxy may send other statuses.
std::optional<absl::Status> StatusFromDaemon(const grpc::Status& status) {
  google::rpc::Status sent;
  if (status.error_details().empty() || !sent.ParseFromString(status.error_details())) return std::nullopt;
  absl::Status with_payloads(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  google::rpc::ErrorInfo info;
  for (const google::protobuf::Any& detail : sent.details()) {
    if (detail.type_url() == kErrorInfoUrl && !info.ParseFromString(detail.value())) return std::nullopt;
    with_payloads.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  }
  if (info.domain() != kErrorDomain || info.reason().empty()) return std::nullopt;
  return with_payloads;
}

}  // namespace

// One call, from Send to its end.
struct GrpcTransport::Pending {
  OutgoingCall call;
  Done done;
  // The call's deadline by the clock of the timer.
  Timer::Clock::time_point deadline;
  std::atomic<bool> cancelled = false;
  // Alive until the last Cancel function is destroyed, which may be after the end of the call.
  grpc::ClientContext context;
  grpc::ByteBuffer request;
  grpc::ByteBuffer reply;

  void End(absl::Status status, std::string_view reply_bytes = "") {
    Done last = std::move(done);
    std::move(last)(std::move(status), reply_bytes);
  }
};

GrpcTransport::GrpcTransport(const ClientOptions& options, std::multimap<std::string, std::string> metadata,
                             std::shared_ptr<grpc::Channel> channel, Timer& timer)
    : endpoint_(options.endpoint),
      tls_(options.tls),
      metadata_(std::move(metadata)),
      channel_(std::move(channel)),
      stub_(channel_),
      timer_(timer) {}

absl::StatusOr<std::unique_ptr<Transport>> GrpcTransport::Make(const ClientOptions& options, Timer& timer,
                                                               absl::Duration connect_timeout) {
  const std::string& endpoint = options.endpoint;
  if (!IsUnixPath(endpoint) && !IsHostAndPort(endpoint)) {
    return MakeError(
        absl::StatusCode::kInvalidArgument, kReasonValidation,
        "the endpoint \"" + endpoint + "\" is neither HOST:PORT, such as 127.0.0.1:7420, nor unix:/PATH");
  }
  for (const auto& [key, value] : options.metadata) {
    ITEMDB_RETURN_IF_ERROR(CheckMetadata(key, value));
  }
  ITEMDB_RETURN_IF_ERROR(CheckKeepalive(options.keepalive));
  ITEMDB_ASSIGN_OR_RETURN(std::string authorization, AuthorizationOf(options));
  std::multimap<std::string, std::string> metadata = options.metadata;
  if (!authorization.empty()) metadata.emplace(kAuthorization, std::move(authorization));
  KeepGrpcUp();
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (options.tls.has_value()) {
    ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<grpc::ChannelCredentials> tls, MakeTlsCredentials(*options.tls));
    credentials = std::move(tls);
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  // Despite its name this is the time limit of an attempt.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, Milliseconds(connect_timeout));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  // The client makes retries itself (retry.h). gRPC 1.51 once retried a stream after a failed write and
  // continued without the failed message.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  SetKeepalive(options.keepalive, arguments);
  // Proxies in the environment are meant for the web, not for a database.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Two clients share neither a connection nor the back-off after a failed attempt.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  if (options.tls.has_value() && !options.tls->server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls->server_name);
  }
  return std::unique_ptr<Transport>(new GrpcTransport(
      options, std::move(metadata), grpc::CreateCustomChannel(endpoint, credentials, arguments), timer));
}

Transport::Cancel GrpcTransport::Send(OutgoingCall call, Done done) {
  auto pending = std::make_shared<Pending>();
  pending->call = std::move(call);
  pending->done = std::move(done);
  pending->deadline = Timer::ByClock(pending->call.deadline);
  const std::string& request = *pending->call.request;
  if (request.size() > static_cast<size_t>(kMaxMessageBytes)) {
    timer_.RunSoon([pending, bytes = request.size()] {
      pending->End(MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                             "the request has " + std::to_string(bytes) + " bytes; at most " +
                                 std::to_string(kMaxMessageBytes) + " are allowed"));
    });
    return [] {};
  }
  // The slice refers to the request without copying it, and keeps it alive.
  const grpc::Slice slice(
      const_cast<char*>(request.data()), request.size(),
      [](void* kept) { delete static_cast<std::shared_ptr<const std::string>*>(kept); },
      new std::shared_ptr<const std::string>(pending->call.request));
  pending->request = grpc::ByteBuffer(&slice, 1);
  pending->context.set_deadline(absl::ToChronoTime(pending->call.deadline));
  for (const auto& [key, value] : metadata_) pending->context.AddMetadata(key, value);
  if (!pending->call.traceparent.empty())
    pending->context.AddMetadata(kTraceparent, pending->call.traceparent);
  SendWhenConnected(pending, kFirstConnectPause);
  return [pending] {
    pending->cancelled = true;
    pending->context.TryCancel();
  };
}

void GrpcTransport::SendWhenConnected(std::shared_ptr<Pending> pending, absl::Duration pause) {
  // gRPC 1.51 reports a change of state only to a thread that waits for it, so a call that finds the channel
  // connecting polls. A channel that has failed to connect tries again by itself, at most kMaxReconnectMs
  // apart; until then gRPC fails calls at once, with the reason in its message.
  const grpc_connectivity_state state = channel_->GetState(/*try_to_connect=*/true);
  if (state == GRPC_CHANNEL_READY || state == GRPC_CHANNEL_TRANSIENT_FAILURE)
    return SendNow(std::move(pending));
  const auto end_with = [&](absl::Status status) {
    timer_.RunSoon([pending, status = std::move(status)]() mutable { pending->End(std::move(status)); });
  };
  if (pending->cancelled) {
    return end_with(MakeError(absl::StatusCode::kCancelled, kReasonCancelled, "the call was cancelled"));
  }
  if (state == GRPC_CHANNEL_SHUTDOWN) return end_with(Unreachable(endpoint_, "this client is shutting down"));
  const Timer::Clock::time_point now = Timer::Clock::now();
  if (now >= pending->deadline) {
    return end_with(Unreachable(endpoint_, "the connection was not established before the deadline"));
  }
  timer_.RunAt(std::min(now + absl::ToChronoNanoseconds(pause), pending->deadline),
               [this, pending, pause] { SendWhenConnected(pending, std::min(pause * 2, kMaxConnectPause)); });
}

void GrpcTransport::SendNow(std::shared_ptr<Pending> pending) {
  Pending* const call = pending.get();
  stub_.UnaryCall(
      &call->context, call->call.method, grpc::StubOptions(), &call->request, &call->reply,
      [this, pending = std::move(pending)](grpc::Status status) {
        if (!status.ok()) {
          return pending->End(
              ToStatus(status, pending->call.kind, pending->cancelled, pending->call.request->size()));
        }
        grpc::Slice reply;
        if (!pending->reply.TrySingleSlice(&reply).ok() && !pending->reply.DumpToSingleSlice(&reply).ok()) {
          return pending->End(MakeError(absl::StatusCode::kInternal, "INTERNAL",
                                        "the reply from " + endpoint_ + " cannot be read"));
        }
        pending->End(absl::OkStatus(),
                     std::string_view(reinterpret_cast<const char*>(reply.begin()), reply.size()));
      });
}

absl::Status GrpcTransport::ToStatus(const grpc::Status& status, CallKind kind, bool cancelled,
                                     size_t request_bytes) const {
  const absl::StatusCode code = static_cast<absl::StatusCode>(status.error_code());

  if (std::optional<absl::Status> from_daemon = StatusFromDaemon(status)) return *std::move(from_daemon);
  // Otherwise the status is from gRPC, on this side or the daemon's.
  switch (code) {
    case absl::StatusCode::kDeadlineExceeded:
      if (kind == CallKind::kRead) {
        return MakeError(code, kReasonDeadlineExceeded,
                         "no reply from " + endpoint_ + " before the deadline");
      }
      return MakeError(
          code, kReasonWriteOutcomeUnknown,
          "no reply from " + endpoint_ + " before the deadline: the write may or may not have been applied");
    case absl::StatusCode::kCancelled:
      if (cancelled) {
        if (kind == CallKind::kRead) return MakeError(code, kReasonCancelled, "the call was cancelled");
        return MakeError(
            code, kReasonWriteOutcomeUnknown,
            "the call was cancelled after the write was sent; it may or may not have been applied");
      }
      [[fallthrough]];
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kDataLoss:
      if (NeverLeft(status)) return Unreachable(endpoint_, WhyNotConnected(status.error_message(), tls_));
      if (kind == CallKind::kRead) {
        return MakeError(
            absl::StatusCode::kUnavailable, kReasonUnavailable,
            "the connection to " + endpoint_ + " was lost before the reply: " + status.error_message());
      }
      return MakeError(absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
                       "the connection to " + endpoint_ +
                           " was lost after the write was sent; it may or may not have been applied: " +
                           status.error_message());
    default:
      if (kind == CallKind::kWrite && !RefusedAtTheDoor(status, request_bytes)) {
        return MakeError(
            absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
            "the call to " + endpoint_ + " ended with " + absl::StatusCodeToString(code) +
                " after the write was sent; it may or may not have been applied: " + status.error_message());
      }
      return MakeError(code, absl::StatusCodeToString(code), status.error_message() + " (" + endpoint_ + ")");
  }
}

}  // namespace itemdb
