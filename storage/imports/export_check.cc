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
constexpr char kOwnManifest[] = "itemdb-manifest.json";
constexpr size_t kRestBytes = 256 << 10;

absl::Status NotWholeError(const std::string& folder, const std::string& why) {
  return WithRule("IMP-15", MakeError(absl::StatusCode::kFailedPrecondition, kReasonExportNotWhole,
                                      "the export in " + folder + " cannot be imported: " + why));
}

std::string LastSegment(std::string_view key) { return std::string(key.substr(key.rfind('/') + 1)); }

struct ExportPlace {
  // With a slash at its end.
  std::string folder;
  // All data files, not only those whose names begin in some way.
  bool is_whole = false;
};

// Where the data files are whose keys begin with `prefix`; nullopt: not in the folder of an export.
std::optional<ExportPlace> FindExport(std::string_view prefix) {
  const std::string whole = std::string(prefix) + (prefix.ends_with(kDataFolder) ? "/" : "");
  const size_t data = whole.rfind(std::string(kDataFolder) + "/");
  if (data == std::string::npos || data == 0) return std::nullopt;
  const size_t id = whole.rfind('/', data - 1);
  if (id == std::string::npos || id == 0 || id + 1 == data) return std::nullopt;
  if (LastSegment(std::string_view(whole).substr(0, id)) != kExportsFolder) return std::nullopt;
  return ExportPlace{.folder = whole.substr(0, data + 1),
                     .is_whole = data + kDataFolder.size() + 1 == whole.size()};
}

class Manifests {
 public:
  Manifests(const Bucket& bucket, std::string folder) : bucket_(bucket), folder_(std::move(folder)) {}

  absl::Status Open() {
    ITEMDB_ASSIGN_OR_RETURN(objects_, bucket_.List(folder_ + "manifest-", kMaxManifests));
    ITEMDB_ASSIGN_OR_RETURN(const std::vector<BucketObject> own,
                            bucket_.List(folder_ + kOwnManifest, kMaxManifests));
    objects_.insert(objects_.end(), own.begin(), own.end());
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
  // itemdb-manifest.json; nullopt: there is none.
  absl::StatusOr<std::optional<std::string>> ReadOwn() const {
    const BucketObject* const manifest = Find(kOwnManifest);
    if (manifest == nullptr) return std::nullopt;
    return Contents(*manifest);
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
    files.emplace(LastSegment(key), ExportChecksum{.md5 = std::move(md5)});
  }
  return files;
}

// Adds the SHA-256 of each of `files` from itemdb-manifest.json.
absl::Status AddSha256(const std::string& folder, const std::string& text, ExportChecksums* files) {
  simdjson::dom::parser parser;
  simdjson::dom::array entries;
  if (parser.parse(text)["files"].get(entries) != simdjson::SUCCESS)
    return NotWholeError(folder, "itemdb-manifest.json is no JSON object with files");
  for (const simdjson::dom::element entry : entries) {
    std::string_view key;
    std::string_view sha256;
    if (entry["key"].get(key) != simdjson::SUCCESS || entry["sha256"].get(sha256) != simdjson::SUCCESS)
      return NotWholeError(folder, "a file of itemdb-manifest.json has no key or no sha256");
    if (const auto file = files->find(LastSegment(key)); file != files->end())
      file->second.sha256 = absl::AsciiStrToLower(std::string(sha256));
  }
  for (const auto& [name, checksum] : *files) {
    if (checksum.sha256.empty())
      return NotWholeError(folder, "the data file " + name + " is not in itemdb-manifest.json");
  }
  return absl::OkStatus();
}

class ChecksummedObject final : public ReadableObject {
 public:
  ChecksummedObject(std::unique_ptr<ReadableObject> object, std::string key, ExportChecksum checksum)
      : object_(std::move(object)), key_(std::move(key)), checksum_(std::move(checksum)) {}

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    if (!error_.ok()) return error_;
    if (has_ended_) return 0;
    const absl::StatusOr<size_t> count = object_->Read(out, size);
    if (!count.ok()) {
      error_ = count.status();
    } else if (*count > 0) {
      digests_.Add({out, *count});
    } else {
      has_ended_ = true;
      error_ = Compare();
    }
    if (!error_.ok()) return error_;
    return count;
  }

 private:
  absl::Status Compare() {
    const WrittenObject read = digests_.Finish("");
    if (read.md5 != checksum_.md5)
      return ExportFileError(key_, "has another MD5 than manifest-files.json says");
    if (!checksum_.sha256.empty() && absl::BytesToHexString(read.sha256) != checksum_.sha256)
      return ExportFileError(key_, "has another SHA-256 than itemdb-manifest.json says");
    return absl::OkStatus();
  }

  const std::unique_ptr<ReadableObject> object_;
  const std::string key_;
  const ExportChecksum checksum_;
  ObjectDigests digests_;
  bool has_ended_ = false;
  absl::Status error_;
};

}  // namespace

absl::StatusOr<ExportChecksums> CheckExport(const Bucket& bucket, const std::string& prefix,
                                            v1::InputFormat format,
                                            const std::vector<BucketObject>& objects) {
  const std::optional<ExportPlace> place = FindExport(prefix);
  if (!place.has_value()) return ExportChecksums();
  const std::string& folder = place->folder;
  Manifests manifests(bucket, folder);
  ITEMDB_RETURN_IF_ERROR(manifests.Open());
  // Where nothing is, the table is empty, as with any other prefix.
  if (manifests.empty() && (objects.empty() || !place->is_whole)) return ExportChecksums();
  ITEMDB_ASSIGN_OR_RETURN(const std::string summary, manifests.Read("manifest-summary"));
  ITEMDB_RETURN_IF_ERROR(CheckSummary(folder, summary, format));
  ITEMDB_ASSIGN_OR_RETURN(const std::string list, manifests.Read("manifest-files"));
  ITEMDB_ASSIGN_OR_RETURN(ExportChecksums files, ReadFiles(folder, list));
  ITEMDB_ASSIGN_OR_RETURN(const std::optional<std::string> own, manifests.ReadOwn());
  if (own.has_value()) ITEMDB_RETURN_IF_ERROR(AddSha256(folder, *own, &files));
  ExportChecksums missing = files;
  for (const BucketObject& object : objects) {
    if (!files.contains(LastSegment(object.key)))
      return NotWholeError(folder, object.key + " is not in manifest-files.json");
    missing.erase(std::string(LastSegment(object.key)));
  }
  if (missing.empty() || !place->is_whole) return files;
  return NotWholeError(folder, "the data file " + missing.begin()->first + " is missing (" +
                                   std::to_string(missing.size()) + " are missing)");
}

absl::Status ExportFileError(const std::string& key, const std::string& why) {
  return NotWholeError(key.substr(0, key.rfind("/data/") + 1), "the data file " + key + " " + why);
}

const ExportChecksum* FindChecksum(const ExportChecksums& checksums, std::string_view key) {
  const auto found = checksums.find(key.substr(key.rfind('/') + 1));
  return found == checksums.end() ? nullptr : &found->second;
}

std::unique_ptr<ReadableObject> WithChecksum(std::unique_ptr<ReadableObject> object, std::string key,
                                             ExportChecksum checksum) {
  return std::make_unique<ChecksummedObject>(std::move(object), std::move(key), std::move(checksum));
}

absl::Status ReadToEnd(ReadableObject& object, absl::FunctionRef<absl::Status()> check) {
  std::string buffer(kRestBytes, '\0');
  for (;;) {
    ITEMDB_RETURN_IF_ERROR(check());
    ITEMDB_ASSIGN_OR_RETURN(const size_t count, object.Read(buffer.data(), buffer.size()));
    if (count == 0) return absl::OkStatus();
  }
}

}  // namespace itemdb::storage
