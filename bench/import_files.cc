#include "bench/import_files.h"

#include <zlib.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "bench/items.h"
#include "bench/seconds.h"
#include "bench/writers.h"

namespace itemdb::bench {
namespace {

constexpr size_t kWrittenPieceBytes = 1 << 20;
// Nothing takes longer.
constexpr double kLongestImportSeconds = 3'600;
// Partition and sort key of the indexes.
constexpr std::pair<const char*, const char*> kImportIndexes[] = {
    {"group", "sk"}, {"rank", "pk"}, {"group", "rank"}, {"rank", "group"}};

}  // namespace

absl::StatusOr<int64_t> WriteImportFiles(const Session& session, const std::string& folder, uint64_t items) {
  std::filesystem::create_directories(folder);
  int64_t bytes = 0;
  for (uint64_t file = 0; file < kImportFiles; ++file) {
    const std::string path = folder + "/" + std::to_string(file) + ".json.gz";
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> out(gzopen(path.c_str(), "wb1"), gzclose);
    if (out == nullptr) return absl::InternalError("cannot write " + path);
    const uint64_t end = items * (file + 1) / kImportFiles;
    std::string lines;
    for (uint64_t item = items * file / kImportFiles; item < end; ++item) {
      lines += R"({"Item":)" + JsonItem(item, 1) + "}\n";
      if (lines.size() < kWrittenPieceBytes && item + 1 < end) continue;
      ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
      if (gzwrite(out.get(), lines.data(), static_cast<unsigned>(lines.size())) !=
          static_cast<int>(lines.size()))
        return absl::InternalError("cannot write " + path);
      bytes += static_cast<int64_t>(lines.size());
      lines.clear();
    }
  }
  return bytes;
}

v1::ImportTableRequest ImportOf(const std::string& bucket, const std::string& table, int indexes) {
  v1::ImportTableRequest request;
  request.mutable_s3_bucket_source()->set_s3_bucket(bucket);
  request.set_input_format(v1::INPUT_FORMAT_DYNAMODB_JSON);
  request.set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_GZIP);
  v1::CreateTableRequest& definition = *request.mutable_table_creation_parameters();
  definition = TableNamed(table);
  // Imports have no local indexes.
  definition.clear_local_secondary_indexes();
  definition.clear_global_secondary_indexes();
  if (indexes == 0) {
    // Attributes that no key has are refused.
    definition.mutable_attribute_definitions()->DeleteSubrange(2, 2);
  }
  for (int i = 0; i < indexes; ++i) {
    const auto& [partition, sort] = kImportIndexes[i];
    v1::GlobalSecondaryIndex* index = definition.add_global_secondary_indexes();
    index->set_index_name(std::string("by_") + partition + "_" + sort);
    v1::KeySchemaElement* element = index->add_key_schema();
    element->set_attribute_name(partition);
    element->set_key_type(v1::KEY_TYPE_HASH);
    element = index->add_key_schema();
    element->set_attribute_name(sort);
    element->set_key_type(v1::KEY_TYPE_RANGE);
    index->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_KEYS_ONLY);
  }
  return request;
}

absl::Status RunImport(const Session& session, storage::Database& database,
                       const v1::ImportTableRequest& request, uint64_t items) {
  const Clock::time_point begin = Clock::now();
  ITEMDB_ASSIGN_OR_RETURN(const auto begun, Await<v1::ImportTableReply>([&](auto done) {
                            database.ImportTable(request, std::move(done));
                          }));
  v1::DescribeImportRequest describe;
  describe.set_import_arn(begun.import().import_arn());
  v1::ImportDescription description;
  do {
    ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
    if (SecondsSince(begin) > kLongestImportSeconds)
      return absl::DeadlineExceededError("the import did not end");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ITEMDB_ASSIGN_OR_RETURN(const auto reply, database.DescribeImport(describe));
    description = reply.import();
  } while (description.import_status() == v1::IMPORT_STATUS_IN_PROGRESS);
  if (description.import_status() != v1::IMPORT_STATUS_COMPLETED)
    return absl::InternalError(description.failure_message());
  if (description.imported_item_count() != static_cast<int64_t>(items)) {
    return absl::InternalError("the import has " + std::to_string(description.imported_item_count()) +
                               " items, not " + std::to_string(items));
  }
  return absl::OkStatus();
}

}  // namespace itemdb::bench
