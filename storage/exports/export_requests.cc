#include "storage/exports/export_requests.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "storage/buckets/bucket.h"
#include "storage/exports/export_manifests.h"

namespace itemdb::storage {
namespace {

constexpr size_t kMinBucketBytes = 3;
constexpr size_t kMaxBucketBytes = 255;
constexpr size_t kMaxTokenBytes = 255;
constexpr size_t kOwnerDigits = 12;
constexpr size_t kMaxKeyIdBytes = 2'048;
// XPT-04.
constexpr int64_t kMinWindowMs = int64_t{15} * 60 * 1'000;
constexpr int64_t kMaxWindowMs = int64_t{24} * 60 * 60 * 1'000;

bool IsAlphanumeric(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

bool IsBucketName(std::string_view name) {
  return name.size() >= kMinBucketBytes && name.size() <= kMaxBucketBytes && IsAlphanumeric(name.front()) &&
         IsAlphanumeric(name.back()) && std::all_of(name.begin(), name.end(), [](char c) {
           return IsAlphanumeric(c) || c == '.' || c == '-' || c == '_';
         });
}

// Whether the keys of all files can be paths in the bucket.
absl::Status CheckPrefix(const v1::ExportTableToPointInTimeRequest& request) {
  v1::ExportDescription description;
  description.set_export_arn("/00000000000000-00000000");
  description.mutable_request()->set_s3_prefix(request.s3_prefix());
  const absl::Status status = CheckObjectKey(DataFileKey(description, 0, 0));
  if (status.ok()) return status;
  return ValidationError("S3Prefix '" + request.s3_prefix() + "' cannot be used: " + MessageOf(status));
}

absl::Status InvalidExportTime(std::string_view rule, const std::string& message) {
  return WithRule(rule, MakeError(absl::StatusCode::kOutOfRange, kReasonInvalidExportTime, message));
}

absl::Status InvalidRequest(const std::string& message) {
  return ValidationError("XPT-03", "Invalid Request: " + message);
}

}  // namespace

absl::Status CheckExportShape(const v1::ExportTableToPointInTimeRequest& request) {
  if (!IsBucketName(request.s3_bucket())) {
    return ValidationError(
        "S3Bucket must be 3 to 255 letters, digits, '.', '-' and '_', the first and last a letter or a "
        "digit; "
        "it is '" +
        request.s3_bucket() + "'");
  }
  ITEMDB_RETURN_IF_ERROR(CheckPrefix(request));
  const std::string& token = request.client_token();
  if (token.size() > kMaxTokenBytes || token.find('$') != std::string::npos) {
    return ValidationError("ClientToken must have at most " + std::to_string(kMaxTokenBytes) +
                           " bytes and no '$'");
  }
  const std::string& owner = request.s3_bucket_owner();
  if (!owner.empty() && (owner.size() != kOwnerDigits || !std::all_of(owner.begin(), owner.end(), [](char c) {
                           return c >= '0' && c <= '9';
                         }))) {
    return ValidationError("S3BucketOwner must be 12 digits; it is '" + owner + "'");
  }
  const std::string& algorithm = request.s3_sse_algorithm();
  if (!algorithm.empty() && algorithm != "AES256" && algorithm != "KMS")
    return ValidationError("S3SseAlgorithm must be AES256 or KMS; it is '" + algorithm + "'");
  if (request.s3_sse_kms_key_id().size() > kMaxKeyIdBytes)
    return ValidationError("S3SseKmsKeyId must have at most " + std::to_string(kMaxKeyIdBytes) + " bytes");
  if (!v1::ExportFormat_IsValid(request.export_format()))
    return ValidationError("ExportFormat must be DYNAMODB_JSON or ION");
  if (!v1::ExportType_IsValid(request.export_type()))
    return ValidationError("ExportType must be FULL_EXPORT or INCREMENTAL_EXPORT");
  if (!v1::ExportViewType_IsValid(request.incremental_export_specification().export_view_type())) {
    return ValidationError("XPT-06", "ExportViewType must be NEW_IMAGE or NEW_AND_OLD_IMAGES");
  }
  return absl::OkStatus();
}

absl::Status CheckExportCouplings(const v1::ExportTableToPointInTimeRequest& request) {
  const bool is_incremental = request.export_type() == v1::EXPORT_TYPE_INCREMENTAL_EXPORT;
  const bool has_specification = request.has_incremental_export_specification();
  if (has_specification && request.export_type() == v1::EXPORT_TYPE_UNSPECIFIED) {
    return InvalidRequest(
        "Export Type expected to be Incremental Export when incremental export specification is provided");
  }
  if (has_specification && !is_incremental) {
    return InvalidRequest(
        "When Export Type is Full Export , Incremental Export Specification should not be provided");
  }
  if (is_incremental && !has_specification) {
    return InvalidRequest(
        "Incremental Export Specification expected when export type is set as Incremental Export");
  }
  if (is_incremental && !request.incremental_export_specification().has_export_from_time_ms())
    return InvalidRequest("ExportFromTime must be provided in IncrementalExportSpecification");
  if (!request.s3_sse_kms_key_id().empty() && request.s3_sse_algorithm() != "KMS")
    return InvalidRequest("KMS Key Id is not supported for this encryption type");
  return absl::OkStatus();
}

absl::Status CheckExportTime(int64_t time_ms, const std::vector<RecoveryTimes>& times) {
  if (IsRecoveryTime(time_ms, times)) return absl::OkStatus();
  return InvalidExportTime("XPT-05", "Export Time is invalid");
}

absl::Status CheckExportWindow(const v1::IncrementalExportSpecification& changes, int64_t creation_time_ms,
                               int64_t now_ms) {
  const int64_t from_ms = changes.export_from_time_ms();
  const int64_t to_ms = changes.has_export_to_time_ms() ? changes.export_to_time_ms() : now_ms;
  const std::string difference = "Difference between export period from time and export period to time is ";
  if (from_ms < creation_time_ms) {
    return InvalidExportTime(
        "XPT-04", "Incremental export period from time cannot be less than the table creation time : " +
                      ExportTimeText(creation_time_ms));
  }
  if (to_ms > now_ms) {
    return InvalidExportTime("XPT-04",
                             "Incremental export period to time cannot be greater than the current time : " +
                                 ExportTimeText(now_ms));
  }
  if (to_ms - from_ms < kMinWindowMs) return InvalidExportTime("XPT-04", difference + "less than 15 minutes");
  if (to_ms - from_ms > kMaxWindowMs) return InvalidExportTime("XPT-04", difference + "more than 24 hours");
  return absl::OkStatus();
}

v1::ExportTableToPointInTimeRequest ShownRequest(v1::ExportTableToPointInTimeRequest request) {
  if (request.export_format() == v1::EXPORT_FORMAT_UNSPECIFIED)
    request.set_export_format(v1::EXPORT_FORMAT_DYNAMODB_JSON);
  if (request.s3_sse_algorithm().empty()) request.set_s3_sse_algorithm("AES256");
  if (request.has_incremental_export_specification()) {
    v1::IncrementalExportSpecification* changes = request.mutable_incremental_export_specification();
    if (changes->export_view_type() == v1::EXPORT_VIEW_TYPE_UNSPECIFIED)
      changes->set_export_view_type(v1::EXPORT_VIEW_TYPE_NEW_AND_OLD_IMAGES);
  }
  return request;
}

v1::ExportTableToPointInTimeRequest ComparedRequest(const v1::ExportTableToPointInTimeRequest& request) {
  v1::ExportTableToPointInTimeRequest compared = ShownRequest(request);
  if (compared.export_type() == v1::EXPORT_TYPE_UNSPECIFIED)
    compared.set_export_type(v1::EXPORT_TYPE_FULL_EXPORT);
  return compared;
}

}  // namespace itemdb::storage
