#include "storage/buckets/s3_bucket.h"

#include <openssl/evp.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/time/time.h"
#include "storage/base/check.h"
#include "storage/base/limits.h"
#include "storage/buckets/object_digests.h"
#include "storage/buckets/xml_element.h"

namespace itemdb::storage {
namespace {

// Of uploads, and of pieces that are read. S3 takes parts from 5 MiB on.
constexpr size_t kPartBytes = 8 << 20;
constexpr int kMaxParts = 10'000;

std::string Md5Of(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  ITEMDB_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_md5(), nullptr) == 1);
  return std::string(reinterpret_cast<const char*>(digest), size);
}

std::string_view WithoutQuotes(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
  return etag;
}

// A text of a list with encoding-type=url.
std::string UriDecode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned int byte = 0;
    const auto is_byte = [&] {
      const char* const digits = text.data() + i + 1;
      return i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    };
    if (text[i] == '%' && is_byte()) {
      decoded.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      decoded.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return decoded;
}

absl::StatusOr<XmlElement> ParseReply(const S3Request& request, const HttpReply& reply) {
  absl::StatusOr<XmlElement> document = ParseXml(reply.body);
  if (document.ok()) return document;
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonBucketUnusable,
                   "the reply to " + request.method + " " + request.path +
                       " is not one of an S3 endpoint: " + MessageOf(document.status()));
}

absl::Status ReplyLacks(const S3Request& request, const std::string& what) {
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonBucketUnusable,
                   "the reply to " + request.method + " " + request.path + " has no " + what +
                       ", so it is not one of an S3 endpoint");
}

// Where an object is.
struct S3Place {
  std::shared_ptr<const S3Client> client;
  std::string bucket;
  std::string key;

  std::string path() const { return "/" + bucket + "/" + key; }
};

struct FoundUpload {
  std::string key;
  std::string id;
};

// The uploads of parts that are not finished.
absl::StatusOr<std::vector<FoundUpload>> FindUploads(const S3Client& client, const std::string& bucket,
                                                     std::string_view prefix) {
  std::vector<FoundUpload> uploads;
  std::string key_marker;
  std::string id_marker;
  for (;;) {
    S3Request request{.method = "GET",
                      .path = "/" + bucket,
                      .query = {{"uploads", ""}, {"prefix", std::string(prefix)}, {"encoding-type", "url"}}};
    if (!key_marker.empty()) request.query.emplace_back("key-marker", key_marker);
    if (!id_marker.empty()) request.query.emplace_back("upload-id-marker", id_marker);
    const absl::StatusOr<S3Reply> reply = client.Send(request);
    // Stores that do not list them mostly end them after some time.
    if (ReasonOf(reply.status()) == kReasonNotOffered) return uploads;
    ITEMDB_RETURN_IF_ERROR(reply.status());
    ITEMDB_ASSIGN_OR_RETURN(const XmlElement list, ParseReply(request, reply->http));
    const bool is_encoded = list.TextOf("EncodingType") == "url";
    const auto decode = [&](const std::string& text) { return is_encoded ? UriDecode(text) : text; };
    for (const XmlElement& upload : list.children) {
      if (upload.name != "Upload") continue;
      std::string key = decode(upload.TextOf("Key"));
      if (key.starts_with(prefix)) uploads.push_back({std::move(key), upload.TextOf("UploadId")});
    }
    if (list.TextOf("IsTruncated") != "true") return uploads;
    std::string next_key = decode(list.TextOf("NextKeyMarker"));
    std::string next_id = list.TextOf("NextUploadIdMarker");
    if (next_key == key_marker && next_id == id_marker) return ReplyLacks(request, "NextKeyMarker");
    key_marker = std::move(next_key);
    id_marker = std::move(next_id);
  }
}

S3Request AbortRequest(const std::string& path, const std::string& id) {
  return {.method = "DELETE", .path = path, .query = {{"uploadId", id}}};
}

absl::Status AbortUpload(const S3Client& client, const std::string& path, const std::string& id) {
  const absl::Status status = client.Send(AbortRequest(path, id)).status();
  const std::string reason = ReasonOf(status);
  // It has ended already.
  return reason == kReasonObjectChanged || reason == kReasonNotOffered ? absl::OkStatus() : status;
}

class ReadableS3Object final : public ReadableObject {
 public:
  ReadableS3Object(S3Place place, BucketObject object)
      : place_(std::move(place)), object_(std::move(object)) {}

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    if (taken_ == piece_.size()) ITEMDB_RETURN_IF_ERROR(FetchPiece());
    const size_t count = std::string_view(piece_).substr(taken_).copy(out, size);
    taken_ += count;
    return count;
  }

 private:
  // Reads the next piece; an empty one at the end.
  absl::Status FetchPiece() {
    piece_.clear();
    taken_ = 0;
    const uint64_t piece_end = std::min<uint64_t>(object_.bytes, fetched_ + kPartBytes);
    S3Retries retries = place_.client->NewRetries();
    while (fetched_ < piece_end) {
      S3Request request{
          .method = "GET",
          .path = place_.path(),
          .headers = {{"range", "bytes=" + std::to_string(fetched_) + "-" + std::to_string(piece_end - 1)}}};
      if (!object_.etag.empty()) request.headers.emplace_back("if-match", object_.etag);
      HttpReply reply;
      const absl::Status status = place_.client->SendOnce(request, &reply);
      // After a cut in the middle of its head a reply has no bytes.
      const bool has_bytes =
          (reply.status == 206 || reply.status == 200) && (status.ok() || !reply.body.empty());
      const uint64_t fetched_before = fetched_;
      if (has_bytes) ITEMDB_RETURN_IF_ERROR(Take(request, &reply, piece_end));
      if (status.ok() && fetched_ < piece_end) return ReplyLacks(request, "further bytes of the object");
      if (status.ok()) continue;
      if (fetched_ > fetched_before) retries.Restart();
      ITEMDB_RETURN_IF_ERROR(retries.WaitAfter(status, RetryAfterSecondsOf(reply)));
    }
    return absl::OkStatus();
  }

  // Adds the bytes of a reply to the piece.
  absl::Status Take(const S3Request& request, HttpReply* reply, uint64_t piece_end) {
    const std::string etag = reply->HeaderOf("etag");
    const std::string range = reply->HeaderOf("content-range");
    const std::string expected = "bytes " + std::to_string(fetched_) + "-" + std::to_string(piece_end - 1) +
                                 "/" + std::to_string(object_.bytes);
    const bool is_other_version =
        !etag.empty() && !object_.etag.empty() && WithoutQuotes(etag) != WithoutQuotes(object_.etag);
    const bool is_other_size = reply->status == 206 && range.find('/') != std::string::npos &&
                               range.substr(range.find('/')) != expected.substr(expected.find('/'));
    if (is_other_version || is_other_size) {
      return WithRule("IMP-19",
                      MakeError(absl::StatusCode::kFailedPrecondition, kReasonObjectChanged,
                                "the object was changed after the bucket had been listed: " + object_.key));
    }
    // 200 is the answer of a store that does not know ranges: it sends the whole object.
    const bool is_whole = reply->status == 200 && fetched_ == 0 && piece_end == object_.bytes;
    if ((reply->status == 206 && range != expected) || (reply->status == 200 && !is_whole))
      return ReplyLacks(request, "Content-Range \"" + expected + "\" but \"" + range + "\"");
    if (reply->body.size() > piece_end - fetched_)
      return ReplyLacks(request, "body of the size of its range");
    fetched_ += reply->body.size();
    if (piece_.empty()) {
      piece_ = std::move(reply->body);
    } else {
      piece_ += reply->body;
    }
    return absl::OkStatus();
  }

  const S3Place place_;
  const BucketObject object_;
  std::string piece_;
  // Of the piece.
  size_t taken_ = 0;
  // Of the object.
  uint64_t fetched_ = 0;
};

class WritableS3Object final : public WritableObject {
 public:
  explicit WritableS3Object(S3Place place) : place_(std::move(place)) {}
  ~WritableS3Object() override {
    if (upload_id_.empty()) return;
    // One attempt: what stays is removed by RemoveLeftovers.
    HttpReply reply;
    (void)place_.client->SendOnce(AbortRequest(place_.path(), upload_id_), &reply);
  }

  absl::Status Append(std::string_view bytes) override {
    digests_.Add(bytes);
    while (!bytes.empty()) {
      const size_t count = std::min(bytes.size(), kPartBytes - part_.size());
      // Growing by itself it would take up to twice as much. Small objects do not get a whole part.
      if (part_.size() + count > kPartBytes / 16) part_.reserve(kPartBytes);
      part_.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      if (part_.size() == kPartBytes) ITEMDB_RETURN_IF_ERROR(UploadPart());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<WrittenObject> Finish() override {
    if (upload_id_.empty()) {
      ITEMDB_RETURN_IF_ERROR(place_.client->Send(PutRequest({})).status());
    } else {
      if (!part_.empty()) ITEMDB_RETURN_IF_ERROR(UploadPart());
      ITEMDB_RETURN_IF_ERROR(Complete());
      upload_id_.clear();
    }
    return digests_.Finish(place_.key);
  }

 private:
  struct Part {
    std::string etag;
    std::string md5;
  };

  // Uploads part_, as the object or as a part of it. The store compares its MD5.
  S3Request PutRequest(NamesAndValues query) const {
    const std::string md5 = Md5Of(part_);
    return {
        .method = "PUT",
        .path = place_.path(),
        .query = std::move(query),
        .headers = {{"content-md5", absl::Base64Escape(md5)}, {"content-type", "application/octet-stream"}},
        .body = part_};
  }

  absl::Status UploadPart() {
    if (upload_id_.empty()) ITEMDB_RETURN_IF_ERROR(Begin());
    if (parts_.size() == kMaxParts) {
      return MakeError(absl::StatusCode::kFailedPrecondition, kReasonBucketUnusable,
                       "the object " + place_.key + " is longer than " + std::to_string(kMaxParts) +
                           " parts of " + std::to_string(kPartBytes) + " bytes, which is the limit");
    }
    const S3Request request =
        PutRequest({{"partNumber", std::to_string(parts_.size() + 1)}, {"uploadId", upload_id_}});
    const absl::StatusOr<S3Reply> reply = place_.client->Send(request);
    if (!reply.ok()) return UploadError(reply.status());
    std::string etag = reply->http.HeaderOf("etag");
    if (etag.empty()) return ReplyLacks(request, "ETag");
    parts_.push_back({.etag = std::move(etag), .md5 = Md5Of(part_)});
    part_.clear();
    return absl::OkStatus();
  }

  absl::Status Begin() {
    const S3Request request{.method = "POST",
                            .path = place_.path(),
                            .query = {{"uploads", ""}},
                            .headers = {{"content-type", "application/octet-stream"}}};
    ITEMDB_ASSIGN_OR_RETURN(const S3Reply reply, place_.client->Send(request));
    ITEMDB_ASSIGN_OR_RETURN(const XmlElement begun, ParseReply(request, reply.http));
    upload_id_ = begun.TextOf("UploadId");
    if (upload_id_.empty()) return ReplyLacks(request, "UploadId");
    if (reply.attempts == 1) return absl::OkStatus();
    // An earlier attempt may have begun an upload whose id was lost.
    ITEMDB_ASSIGN_OR_RETURN(const std::vector<FoundUpload> uploads,
                            FindUploads(*place_.client, place_.bucket, place_.key));
    for (const FoundUpload& upload : uploads) {
      if (upload.key == place_.key && upload.id != upload_id_)
        ITEMDB_RETURN_IF_ERROR(AbortUpload(*place_.client, place_.path(), upload.id));
    }
    return absl::OkStatus();
  }

  // Makes the parts an object.
  absl::Status Complete() {
    std::string body = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    std::string md5s;
    for (size_t i = 0; i < parts_.size(); ++i) {
      body += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>&quot;" +
              std::string(WithoutQuotes(parts_[i].etag)) + "&quot;</ETag></Part>";
      md5s += parts_[i].md5;
    }
    body += "</CompleteMultipartUpload>";
    const S3Request request{.method = "POST",
                            .path = place_.path(),
                            .query = {{"uploadId", upload_id_}},
                            .headers = {{"content-type", "application/xml"}},
                            .body = body};
    S3Retries retries = place_.client->NewRetries();
    for (int attempt = 0;; ++attempt) {
      HttpReply reply;
      absl::Status status = place_.client->SendOnce(request, &reply);
      if (status.ok()) {
        // The store answers 200 before it has done the work, so the body may be an error.
        ITEMDB_ASSIGN_OR_RETURN(const XmlElement document, ParseReply(request, reply));
        if (document.name != "Error") return absl::OkStatus();
        status = place_.client->ErrorOf(request, reply);
      }
      // An earlier attempt may have made the object, although its reply was lost.
      if (attempt > 0 && ReasonOf(status) == kReasonObjectChanged && HasMadeObject(md5s))
        return absl::OkStatus();
      if (ReasonOf(status) == kReasonObjectChanged) return UploadError(status);
      ITEMDB_RETURN_IF_ERROR(retries.WaitAfter(status, RetryAfterSecondsOf(reply)));
    }
  }

  // The error of a request about the upload. Somebody may have ended it: the object can be written again.
  static absl::Status UploadError(const absl::Status& status) {
    if (ReasonOf(status) != kReasonObjectChanged) return status;
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, MessageOf(status));
  }

  // Whether the object is there as it was uploaded, by its ETag.
  bool HasMadeObject(const std::string& md5s) const {
    const absl::StatusOr<S3Reply> reply = place_.client->Send({.method = "HEAD", .path = place_.path()});
    const std::string expected = absl::BytesToHexString(Md5Of(md5s)) + "-" + std::to_string(parts_.size());
    return reply.ok() && WithoutQuotes(reply->http.HeaderOf("etag")) == expected;
  }

  const S3Place place_;
  // Empty: no upload of parts has begun, or it has become the object.
  std::string upload_id_;
  std::vector<Part> parts_;
  std::string part_;
  ObjectDigests digests_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<S3Bucket>> S3Bucket::Open(const S3Options& options, const std::string& name,
                                                         const Cancellation& cancellation) {
  ITEMDB_ASSIGN_OR_RETURN(S3Endpoint endpoint, ParseS3Endpoint(options.endpoint));
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    return NoSuchBucketError("bucket \"" + name + "\" at " + endpoint.url());
  absl::StatusOr<S3Credentials> credentials = options.credentials();
  if (!credentials.ok()) {
    return MakeError(absl::StatusCode::kPermissionDenied, kReasonBucketAccessDenied,
                     "there are no credentials: " + MessageOf(credentials.status()));
  }
  return std::unique_ptr<S3Bucket>(new S3Bucket(
      name,
      std::make_shared<const S3Client>(options, std::move(endpoint), *std::move(credentials), cancellation)));
}

absl::StatusOr<std::vector<BucketObject>> S3Bucket::List(std::string_view prefix, size_t max_objects) const {
  std::vector<BucketObject> objects;
  std::string token;
  for (;;) {
    S3Request request{
        .method = "GET",
        .path = "/" + name_,
        .query = {{"list-type", "2"}, {"prefix", std::string(prefix)}, {"encoding-type", "url"}}};
    if (!token.empty()) request.query.emplace_back("continuation-token", token);
    ITEMDB_ASSIGN_OR_RETURN(const S3Reply reply, client_->Send(request));
    ITEMDB_ASSIGN_OR_RETURN(const XmlElement list, ParseReply(request, reply.http));
    if (list.name != "ListBucketResult") return ReplyLacks(request, "ListBucketResult");
    const bool is_encoded = list.TextOf("EncodingType") == "url";
    for (const XmlElement& content : list.children) {
      if (content.name != "Contents") continue;
      const std::string key = content.TextOf("Key");
      const std::string size = content.TextOf("Size");
      BucketObject object{.key = is_encoded ? UriDecode(key) : key, .etag = content.TextOf("ETag")};
      const char* const end = size.data() + size.size();
      if (size.empty() || std::from_chars(size.data(), end, object.bytes).ptr != end)
        return ReplyLacks(request, "Size of " + key);
      absl::Time modified;
      std::string error;
      if (absl::ParseTime(absl::RFC3339_full, content.TextOf("LastModified"), &modified, &error))
        object.modified_ns = absl::ToUnixNanos(modified);
      if (!object.key.starts_with(prefix) || object.bytes == 0) continue;
      if (objects.size() >= max_objects) {
        return MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                         "the bucket has more than " + std::to_string(max_objects) +
                             " objects whose keys begin with the prefix");
      }
      objects.push_back(std::move(object));
    }
    if (list.TextOf("IsTruncated") != "true") break;
    std::string next = list.TextOf("NextContinuationToken");
    if (next.empty() || next == token) return ReplyLacks(request, "NextContinuationToken");
    token = std::move(next);
  }
  std::sort(objects.begin(), objects.end(),
            [](const BucketObject& a, const BucketObject& b) { return a.key < b.key; });
  return objects;
}

absl::StatusOr<std::unique_ptr<ReadableObject>> S3Bucket::Open(const BucketObject& object) const {
  return std::make_unique<ReadableS3Object>(S3Place{client_, name_, object.key}, object);
}

absl::StatusOr<std::unique_ptr<WritableObject>> S3Bucket::Create(const std::string& key) const {
  ITEMDB_RETURN_IF_ERROR(CheckObjectKey(key));
  return std::make_unique<WritableS3Object>(S3Place{client_, name_, key});
}

absl::Status S3Bucket::Delete(const std::string& key) const {
  ITEMDB_RETURN_IF_ERROR(CheckObjectKey(key));
  const absl::Status status = client_->Send({.method = "DELETE", .path = "/" + name_ + "/" + key}).status();
  return ReasonOf(status) == kReasonObjectChanged ? absl::OkStatus() : status;
}

absl::Status S3Bucket::RemoveLeftovers(std::string_view prefix) const {
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<FoundUpload> uploads, FindUploads(*client_, name_, prefix));
  for (const FoundUpload& upload : uploads)
    ITEMDB_RETURN_IF_ERROR(AbortUpload(*client_, "/" + name_ + "/" + upload.key, upload.id));
  return absl::OkStatus();
}

}  // namespace itemdb::storage
