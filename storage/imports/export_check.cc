#include "storage/imports/export_check.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "storage/buckets/object_digests.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kExportsFolder = "AWSDynamoDB";
constexpr std::string_view kDataFolder = "/data";
constexpr std::string_view kReadVersion = "2020-06-30";
// Of 50,000 data files it takes ten.
constexpr size_t kMaxManifestBytes = 64 << 20;
constexpr size_t kMaxManifests = 100;

absl::Status NotWholeError(const std::string& folder, const std::string& why) {
  return WithRule("IMP-15", MakeError(absl::StatusCode::kFailedPrecondition, kReasonExportNotWhole,
                                      "the export in " + folder + " cannot be imported: " + why));
}

std::string LastSegment(std::string_view key) { return std::string(key.substr(key.rfind('/') + 1)); }

// The folder of the export, with a slash at its end, if `prefix` is that of its data files.
std::optional<std::string> ExportFolder(std::string_view prefix) {
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (!prefix.ends_with(kDataFolder)) return std::nullopt;
  const std::string folder(prefix.substr(0, prefix.size() - kDataFolder.size() + 1));
  const size_t id = folder.rfind('/', folder.size() - 2);
  if (id == std::string::npos || id == 0 || id + 2 == folder.size()) return std::nullopt;
  const std::string_view above = std::string_view(folder).substr(0, id);
  return LastSegment(above) == kExportsFolder ? std::optional(folder) : std::nullopt;
}

class Manifests {
 public:
  Manifests(const Bucket& bucket, std::string folder) : bucket_(bucket), folder_(std::move(folder)) {}

  absl::Status Open() {
    ITEMDB_ASSIGN_OR_RETURN(objects_, bucket_.List(folder_ + "manifest-", kMaxManifests));
    return absl::OkStatus();
  }
  bool empty() const { return objects_.empty(); }
  // Compared with its checksum, in base64 or hexadecimal, if there is one beside it.
  absl::StatusOr<std::string> Read(const std::string& name) const {
    const BucketObject* const manifest = Find(name + ".json");
    if (manifest == nullptr) {
      return NotWholeError(folder_,
                           name +
                               ".json is missing, which is written when all data files are there. To "
                               "import what is there, copy the data files to a folder of another name");
    }
    ITEMDB_ASSIGN_OR_RETURN(std::string text, Contents(*manifest));
    const BucketObject* const noted = Find(name + ".md5");
    if (noted == nullptr) return text;
    ITEMDB_ASSIGN_OR_RETURN(const std::string checksum, Contents(*noted));
    ObjectDigests digests;
    digests.Add(text);
    const std::string md5 = digests.Finish("").md5;
    const std::string wanted(absl::StripAsciiWhitespace(checksum));
    if (wanted == absl::Base64Escape(md5) || absl::AsciiStrToLower(wanted) == absl::BytesToHexString(md5))
      return text;
    return NotWholeError(folder_, name + ".json has another MD5 than " + name + ".md5 says");
  }

 private:
  const BucketObject* Find(std::string_view name) const {
    const auto found = std::find_if(objects_.begin(), objects_.end(), [&](const BucketObject& object) {
      return object.key == folder_ + std::string(name);
    });
    return found == objects_.end() ? nullptr : &*found;
  }
  absl::StatusOr<std::string> Contents(const BucketObject& object) const {
    if (object.bytes > kMaxManifestBytes) {
      return NotWholeError(folder_, LastSegment(object.key) + " has " + std::to_string(object.bytes) +
                                        " bytes, more than " + std::to_string(kMaxManifestBytes));
    }
    ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<ReadableObject> opened, bucket_.Open(object));
    std::string text(object.bytes, '\0');
    size_t size = 0;
    while (size < text.size()) {
      ITEMDB_ASSIGN_OR_RETURN(const size_t count, opened->Read(text.data() + size, text.size() - size));
      if (count == 0) break;
      size += count;
    }
    text.resize(size);
    return text;
  }

  const Bucket& bucket_;
  const std::string folder_;
  std::vector<BucketObject> objects_;
};

absl::Status CheckSummary(const std::string& folder, const std::string& text, v1::InputFormat format) {
  simdjson::dom::parser parser;
  simdjson::dom::object summary;
  std::string_view version;
  if (parser.parse(text).get(summary) != simdjson::SUCCESS ||
      summary["version"].get(version) != simdjson::SUCCESS)
    return NotWholeError(folder, "manifest-summary.json is no JSON object with a version");
  if (version != kReadVersion) {
    return NotWholeError(folder, "it has the version \"" + std::string(version) + "\", and \"" +
                                     std::string(kReadVersion) + "\" is read, that of full exports");
  }
  std::string_view output;
  const std::string wanted = format == v1::INPUT_FORMAT_CSV   ? "CSV"
                             : format == v1::INPUT_FORMAT_ION ? "ION"
                                                              : "DYNAMODB_JSON";
  if (summary["outputFormat"].get(output) == simdjson::SUCCESS && output != wanted) {
    return NotWholeError(folder,
                         "its files are " + std::string(output) + ", and the InputFormat is " + wanted);
  }
  return absl::OkStatus();
}

absl::StatusOr<ExportChecksums> ReadFiles(const std::string& folder, const std::string& text) {
  ExportChecksums files;
  simdjson::dom::parser parser;
  size_t number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    simdjson::dom::object file;
    std::string_view key;
    std::string_view checksum;
    std::string md5;
    if (parser.parse(line).get(file) != simdjson::SUCCESS ||
        file["dataFileS3Key"].get(key) != simdjson::SUCCESS ||
        file["md5Checksum"].get(checksum) != simdjson::SUCCESS ||
        !absl::Base64Unescape(std::string(checksum), &md5)) {
      return NotWholeError(
          folder, "line " + std::to_string(number) +
                      " of manifest-files.json is no JSON object with dataFileS3Key and md5Checksum");
    }
    files.emplace(LastSegment(key), std::move(md5));
  }
  return files;
}

class ChecksummedObject final : public ReadableObject {
 public:
  ChecksummedObject(std::unique_ptr<ReadableObject> object, std::string md5)
      : object_(std::move(object)), md5_(std::move(md5)) {}

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    ITEMDB_ASSIGN_OR_RETURN(const size_t count, object_->Read(out, size));
    if (count > 0) {
      digests_.Add({out, count});
    } else if (!std::exchange(has_ended_, true) && digests_.Finish("").md5 != md5_) {
      return ValidationError("IMP-15", "the object has another MD5 than manifest-files.json says");
    }
    return count;
  }

 private:
  const std::unique_ptr<ReadableObject> object_;
  const std::string md5_;
  ObjectDigests digests_;
  bool has_ended_ = false;
};

}  // namespace

absl::StatusOr<ExportChecksums> CheckExport(const Bucket& bucket, const std::string& prefix,
                                            v1::InputFormat format,
                                            const std::vector<BucketObject>& objects) {
  const std::optional<std::string> folder = ExportFolder(prefix);
  if (!folder.has_value()) return ExportChecksums();
  Manifests manifests(bucket, *folder);
  ITEMDB_RETURN_IF_ERROR(manifests.Open());
  // Where nothing is, the table is empty, as with any other prefix.
  if (objects.empty() && manifests.empty()) return ExportChecksums();
  ITEMDB_ASSIGN_OR_RETURN(const std::string summary, manifests.Read("manifest-summary"));
  ITEMDB_RETURN_IF_ERROR(CheckSummary(*folder, summary, format));
  ITEMDB_ASSIGN_OR_RETURN(const std::string list, manifests.Read("manifest-files"));
  ITEMDB_ASSIGN_OR_RETURN(ExportChecksums files, ReadFiles(*folder, list));
  ExportChecksums missing = files;
  for (const BucketObject& object : objects) {
    if (!files.contains(LastSegment(object.key)))
      return NotWholeError(*folder, object.key + " is not in manifest-files.json");
    missing.erase(std::string(LastSegment(object.key)));
  }
  if (missing.empty()) return files;
  return NotWholeError(*folder, "the data file " + missing.begin()->first + " is missing (" +
                                    std::to_string(missing.size()) + " are missing)");
}

std::unique_ptr<ReadableObject> WithChecksum(std::unique_ptr<ReadableObject> object, std::string md5) {
  return std::make_unique<ChecksummedObject>(std::move(object), std::move(md5));
}

}  // namespace itemdb::storage
