#include "storage/exports/export_manifests.h"

#include <openssl/evp.h>

#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "storage/base/check.h"
#include "storage/catalog/table.h"
#include "storage/json/json_writer.h"

namespace itemdb::storage {
namespace {

constexpr size_t kNameBytes = 16;

std::string Digest(const EVP_MD* kind, std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  ITEMDB_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &size, kind, nullptr) == 1);
  return std::string(reinterpret_cast<const char*>(digest), size);
}

// RFC 4648 base32, but in lower case and without padding.
std::string Base32(std::string_view bytes) {
  constexpr char kDigits[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(c);
    for (count += 8; count >= 5; count -= 5) text.push_back(kDigits[bits >> (count - 5) & 31]);
  }
  if (count > 0) text.push_back(kDigits[bits << (5 - count) & 31]);
  return text;
}

std::string PrefixOf(const v1::ExportDescription& description) {
  std::string prefix = description.request().s3_prefix();
  if (!prefix.empty() && prefix.back() != '/') prefix.push_back('/');
  return prefix.append("AWSDynamoDB/");
}

// A member that is null when `text` is empty.
void WriteTextOrNull(std::string_view name, const std::string& text, JsonWriter* writer) {
  writer->Name(name);
  if (text.empty()) {
    writer->out()->append("null");
  } else {
    writer->String(text);
  }
}

}  // namespace

std::string ExportTimeText(int64_t time_ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(time_ms), absl::UTCTimeZone());
}

std::string ExportIdOf(const v1::ExportDescription& description) {
  const std::string& arn = description.export_arn();
  return arn.substr(arn.rfind('/') + 1);
}

std::string ExportFolderOf(const v1::ExportDescription& description) {
  return PrefixOf(description) + ExportIdOf(description) + "/";
}

std::string DataFolderOf(const v1::ExportDescription& description) {
  return description.request().export_type() == v1::EXPORT_TYPE_INCREMENTAL_EXPORT
             ? PrefixOf(description) + "data/"
             : ExportFolderOf(description) + "data/";
}

std::string DataFileKey(const v1::ExportDescription& description, int partition, int number) {
  const std::string seed = absl::StrCat(description.export_arn(), "/", partition, "/", number);
  const bool is_ion = description.request().export_format() == v1::EXPORT_FORMAT_ION;
  return DataFolderOf(description) + Base32(Digest(EVP_sha256(), seed).substr(0, kNameBytes)) +
         (is_ion ? ".ion.gz" : ".json.gz");
}

std::string FilesManifest(const std::vector<DataFile>& files) {
  std::string text;
  for (const DataFile& file : files) {
    std::string line;
    JsonWriter writer(&line);
    writer.BeginObject().Name("itemCount").Integer(file.item_count);
    writer.Name("md5Checksum").String(absl::Base64Escape(file.object.md5));
    // As S3 tells it for an object that was uploaded in one part.
    writer.Name("etag").String(absl::BytesToHexString(Digest(EVP_md5(), file.object.md5)) + "-1");
    writer.Name("dataFileS3Key").String(file.object.key).EndObject();
    text.append(line).push_back('\n');
  }
  return text;
}

std::string SummaryManifest(const v1::ExportDescription& description) {
  const v1::ExportTableToPointInTimeRequest& request = description.request();
  const bool is_incremental = request.export_type() == v1::EXPORT_TYPE_INCREMENTAL_EXPORT;
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject().Name("version").String(is_incremental ? "2023-08-01" : "2020-06-30");
  writer.Name("exportArn").String(description.export_arn());
  writer.Name("startTime").String(ExportTimeText(description.start_time_ms()));
  writer.Name("endTime").String(ExportTimeText(description.end_time_ms()));
  writer.Name("tableArn").String(request.table_arn());
  writer.Name("tableId").String(description.table_id());
  if (is_incremental) {
    const v1::IncrementalExportSpecification& changes = request.incremental_export_specification();
    writer.Name("exportFromTime").String(ExportTimeText(changes.export_from_time_ms()));
    writer.Name("exportToTime").String(ExportTimeText(changes.export_to_time_ms()));
  } else {
    writer.Name("exportTime").String(ExportTimeText(description.export_time_ms()));
  }
  writer.Name("s3Bucket").String(request.s3_bucket());
  WriteTextOrNull("s3Prefix", request.s3_prefix(), &writer);
  WriteTextOrNull("s3SseAlgorithm", request.s3_sse_algorithm(), &writer);
  WriteTextOrNull("s3SseKmsKeyId", request.s3_sse_kms_key_id(), &writer);
  writer.Name("manifestFilesS3Key").String(ExportFolderOf(description) + "manifest-files.json");
  writer.Name("billedSizeBytes").Integer(description.billed_size_bytes());
  writer.Name("itemCount").Integer(description.item_count());
  writer.Name("outputFormat")
      .String(request.export_format() == v1::EXPORT_FORMAT_ION ? "ION" : "DYNAMODB_JSON");
  if (is_incremental) {
    const bool new_only =
        request.incremental_export_specification().export_view_type() == v1::EXPORT_VIEW_TYPE_NEW_IMAGE;
    writer.Name("outputView").String(new_only ? "NEW_IMAGE" : "NEW_AND_OLD_IMAGES");
    writer.Name("exportType").String("INCREMENTAL_EXPORT");
  }
  writer.EndObject();
  return text + "\n";
}

std::string ChecksumText(const std::string& contents) {
  return absl::Base64Escape(Digest(EVP_md5(), contents));
}

std::string OwnManifest(const v1::StoredExport& stored, const std::vector<WrittenObject>& objects) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject().Name("version").Integer(1);
  writer.Name("exportArn").String(stored.description().export_arn());
  writer.Name("databaseId").String(stored.database_id());
  writer.Name("changeSequence").Integer(static_cast<int64_t>(stored.description().change_sequence()));
  writer.Name("schema").BeginObject().Name("keySchema").BeginArray();
  const Table table = MakeTable(stored.table());
  const auto write_keys = [&](const std::vector<KeyAttribute>& keys, std::string_view type) {
    for (const KeyAttribute& key : keys) {
      writer.BeginObject().Name("attributeName").String(key.name);
      writer.Name("attributeType").String(ValueTypeName(key.type));
      writer.Name("keyType").String(type).EndObject();
    }
  };
  write_keys(table.partition, "HASH");
  write_keys(table.sort, "RANGE");
  writer.EndArray().EndObject().Name("files").BeginArray();
  for (const WrittenObject& object : objects) {
    writer.BeginObject().Name("key").String(object.key).Name("bytes").Integer(object.bytes);
    writer.Name("sha256").String(absl::BytesToHexString(object.sha256)).EndObject();
  }
  writer.EndArray().EndObject();
  return text + "\n";
}

}  // namespace itemdb::storage
