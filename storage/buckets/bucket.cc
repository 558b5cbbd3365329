#include "storage/buckets/bucket.h"

#include "storage/base/limits.h"

namespace itemdb::storage {
namespace {

// A file name has at most 255 bytes. While a folder's object is written, the name ends with ".partial".
constexpr size_t kMaxSegmentBytes = 247;

}  // namespace

bool HasPlainSegments(std::string_view key) {
  while (true) {
    const size_t end = key.find('/');
    const std::string_view segment = key.substr(0, end);
    if (segment.empty() || segment == "." || segment == "..") return false;
    if (end == std::string_view::npos) return true;
    key.remove_prefix(end + 1);
  }
}

absl::Status CheckObjectKey(std::string_view key) {
  const auto fail = [&](const std::string& why) {
    return ValidationError("the key of an object is the path of a file in the bucket: " + why);
  };
  if (key.size() > kMaxObjectKeyBytes)
    return fail("it must have at most " + std::to_string(kMaxObjectKeyBytes) + " bytes; it has " +
                std::to_string(key.size()));
  if (key.find('\0') != std::string_view::npos) return fail("it must not have a zero byte");
  if (!HasPlainSegments(key)) return fail("none of its segments may be empty, '.' or '..'");
  while (true) {
    const size_t end = key.find('/');
    const std::string_view segment = key.substr(0, end);
    if (segment.size() > kMaxSegmentBytes)
      return fail("its segments must have at most " + std::to_string(kMaxSegmentBytes) + " bytes");
    if (end == std::string_view::npos) return absl::OkStatus();
    key.remove_prefix(end + 1);
  }
}

std::string BucketFailureCode(const absl::Status& error, std::string_view otherwise) {
  const std::string reason = ReasonOf(error);
  if (reason == kReasonNoSuchBucket) return "S3NoSuchBucket";
  return std::string(reason == kReasonBucketAccessDenied ? "S3AccessDenied" : otherwise);
}

absl::Status NoSuchBucketError(std::string_view where) {
  return WithRule("IMP-09",
                  MakeError(absl::StatusCode::kNotFound, kReasonNoSuchBucket,
                            "The specified bucket does not exist: there is no " + std::string(where)));
}

absl::StatusOr<WrittenObject> Bucket::Write(const std::string& key, std::string_view contents) const {
  ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<WritableObject> object, Create(key));
  ITEMDB_RETURN_IF_ERROR(object->Append(contents));
  return object->Finish();
}

}  // namespace itemdb::storage
