#include "storage/buckets/s3_client.h"

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "storage/buckets/bucket.h"
#include "storage/buckets/xml_element.h"

namespace itemdb::storage {
namespace {

constexpr int kMaxS3Attempts = 8;
constexpr std::chrono::milliseconds kMaxS3Pause = std::chrono::seconds(10);
constexpr std::chrono::milliseconds kCancellationInterval(20);
// The longest reply is a part of an object (s3_bucket.cc).
constexpr size_t kMaxS3ReplyBytes = 16 << 20;

bool IsOneOf(std::string_view code, std::initializer_list<std::string_view> codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

}  // namespace

absl::Status S3Retries::WaitAfter(const absl::Status& error, int retry_after_s) {
  if (!absl::IsUnavailable(error) || ++attempts_ >= kMaxS3Attempts) return error;
  const auto longest = std::min(kMaxS3Pause, pause_ * (1 << (attempts_ - 1)));
  // All of it is random, so that many clients do not come back at once.
  const auto pause = std::chrono::milliseconds(
      std::uniform_int_distribution<int64_t>(longest.count() / 10, longest.count())(random_));
  const std::chrono::milliseconds asked =
      std::min<std::chrono::milliseconds>(kMaxS3Pause, std::chrono::seconds(retry_after_s));
  const auto until = std::chrono::steady_clock::now() + std::max(pause, asked);
  for (;;) {
    ITEMDB_RETURN_IF_ERROR(cancellation_.Check());
    const auto left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0) return absl::OkStatus();
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kCancellationInterval));
  }
}

int RetryAfterSecondsOf(const HttpReply& reply) {
  const std::string text = reply.HeaderOf("retry-after");
  int seconds = 0;
  // A date instead of a number is left out.
  (void)std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::clamp(seconds, 0, 60);
}

S3Client::S3Client(S3Options options, S3Endpoint endpoint, S3Credentials credentials,
                   const Cancellation& cancellation)
    : options_(std::move(options)),
      endpoint_(std::move(endpoint)),
      credentials_(std::move(credentials)),
      cancellation_(cancellation),
      transfers_({.ca_file = options_.ca_file, .stall_timeout = options_.stall_timeout}, cancellation) {}

absl::StatusOr<S3Reply> S3Client::Send(const S3Request& request) const {
  S3Retries retries = NewRetries();
  S3Reply reply;
  for (;; ++reply.attempts) {
    const absl::Status status = SendOnce(request, &reply.http);
    if (status.ok()) return reply;
    ITEMDB_RETURN_IF_ERROR(retries.WaitAfter(status, RetryAfterSecondsOf(reply.http)));
  }
}

absl::Status S3Client::SendOnce(const S3Request& request, HttpReply* reply) const {
  absl::StatusOr<S3Credentials> credentials = options_.credentials();
  {
    MutexLock lock(mutex_);
    if (credentials.ok()) credentials_ = *credentials;
    // A file that is just being replaced.
    if (!credentials.ok()) credentials = credentials_;
  }
  const HttpCall call{
      .method = request.method,
      .url = endpoint_.url() + TargetOf(request),
      .headers = SignedHeadersOf(request, endpoint_.host, options_.region, *credentials, absl::Now()),
      .body = request.body,
      .max_reply_bytes = kMaxS3ReplyBytes};
  const absl::Status sent = transfers_.Perform(call, reply);
  if (absl::IsCancelled(sent) || absl::IsDeadlineExceeded(sent)) return sent;
  // A store may refuse a request before it has read it all.
  if (!sent.ok() && reply->status < 300) {
    const std::string message = "the S3 endpoint: " + MessageOf(sent);
    return absl::IsUnavailable(sent)
               ? MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, message)
               : MakeError(absl::StatusCode::kFailedPrecondition, kReasonBucketUnusable, message);
  }
  if (reply->status >= 200 && reply->status < 300) return absl::OkStatus();
  return ErrorOf(request, *reply);
}

absl::Status S3Client::ErrorOf(const S3Request& request, const HttpReply& reply) const {
  std::string key_id;
  {
    MutexLock lock(mutex_);
    key_id = credentials_.key_id;
  }
  const absl::StatusOr<XmlElement> document = ParseXml(reply.body);
  const std::string code = document.ok() ? document->TextOf("Code") : "";
  const int status = reply.status;
  std::string message = "S3 answers " + std::to_string(status) + (code.empty() ? "" : " " + code) + " to " +
                        request.method + " " + request.path;
  if (document.ok() && !document->TextOf("Message").empty()) message += ": " + document->TextOf("Message");
  const auto error = [&](absl::StatusCode kind, std::string_view reason, const std::string& hint = "") {
    return MakeError(kind, reason, hint.empty() ? message : hint + ": " + message);
  };
  if (code == "NoSuchBucket") {
    return WithRule("IMP-09", error(absl::StatusCode::kNotFound, kReasonNoSuchBucket,
                                    "The specified bucket does not exist at " + endpoint_.url()));
  }
  if (IsOneOf(code, {"NoSuchKey", "NoSuchUpload"}) || status == 412)
    return WithRule("IMP-19", error(absl::StatusCode::kFailedPrecondition, kReasonObjectChanged));
  if (code == "RequestTimeTooSkewed") {
    return error(absl::StatusCode::kPermissionDenied, kReasonBucketAccessDenied,
                 "the clock of this machine differs too much from that of the endpoint, which is " +
                     reply.HeaderOf("date"));
  }
  if (code == "InvalidAccessKeyId") {
    return error(absl::StatusCode::kPermissionDenied, kReasonBucketAccessDenied,
                 "the endpoint does not know the access key " + key_id);
  }
  if (code == "SignatureDoesNotMatch") {
    return error(absl::StatusCode::kPermissionDenied, kReasonBucketAccessDenied,
                 "the secret of the access key " + key_id + " is wrong");
  }
  if (IsOneOf(code, {"ExpiredToken", "InvalidToken", "TokenRefreshRequired"})) {
    return error(absl::StatusCode::kPermissionDenied, kReasonBucketAccessDenied,
                 "the session token of the access key " + key_id + " is not valid any more");
  }
  if (status == 507 || IsOneOf(code, {"QuotaExceeded", "XMinioStorageFull"}))
    return error(absl::StatusCode::kResourceExhausted, kReasonDiskFull);
  if (IsOneOf(code, {"SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "OperationAborted",
                     "BadDigest", "IncompleteBody"}) ||
      status == 429 || status == 408 || status < 300)
    return error(absl::StatusCode::kUnavailable, kReasonUnavailable);
  if (status == 501 || code == "NotImplemented" || code == "MethodNotAllowed")
    return error(absl::StatusCode::kUnimplemented, kReasonNotOffered);
  if (status >= 500) return error(absl::StatusCode::kUnavailable, kReasonUnavailable);
  if (IsOneOf(code, {"PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed"}) ||
      (status >= 300 && status < 400)) {
    return error(absl::StatusCode::kFailedPrecondition, kReasonBucketUnusable,
                 "the bucket is elsewhere, so --s3-endpoint or --s3-region is wrong");
  }
  if (status == 401 || status == 403)
    return error(absl::StatusCode::kPermissionDenied, kReasonBucketAccessDenied);
  if (status == 404) return error(absl::StatusCode::kFailedPrecondition, kReasonObjectChanged);
  return error(absl::StatusCode::kFailedPrecondition, kReasonBucketUnusable);
}

}  // namespace itemdb::storage
