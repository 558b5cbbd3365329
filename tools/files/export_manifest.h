// itemdb-manifest.json: what an export is made of. It is written last, so an export without it is not whole.
// itemd's exports have one too (storage/exports/export_manifests.h): with "exportArn", and fewer members.
//
//   {"version": 1, "databaseId": "7b0c...", "changeSequence": 812, ..., "format": "CSV",
//    "compression": "GZIP", "itemCount": 4, "columns": {"price": "N"}, "table": {"TableName": ...},
//    "files": [{"key": "data/00000001.csv.gz", "bytes": 93, "sha256": "...", "items": 4}]}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "itemdb/table.h"
#include "tools/files/item_format.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

inline constexpr char kManifestName[] = "itemdb-manifest.json";

struct DataFile {
  // The path in the export's folder.
  std::string key = {};
  int64_t bytes = 0;
  // 64 hexadecimal digits.
  std::string sha256 = {};
  // -1: not known.
  int64_t items = -1;
};

struct ExportManifest {
  // Empty over DynamoDB's protocol.
  std::string database_id = {};
  // Every change up to the first is in the items, and none behind the second. 0: not known.
  uint64_t change_sequence = 0;
  uint64_t last_change_sequence = 0;
  // All items are of one committed state.
  bool one_state = false;
  ItemFormat format = ItemFormat::kDynamoDbJson;
  Compression compression = Compression::kNone;
  // Of CSV.
  ColumnTypes columns = {};
  // The table as it was; its other settings are not known in an export of itemd's.
  TableDefinition definition = {};
  std::vector<DataFile> files = {};

  // -1: not known.
  int64_t item_count() const;
};

// `table`: as it was; instead of manifest.definition.
JsonValue ManifestToJson(const ExportManifest& manifest, const TableDescription& table);
// The manifest of an export by itemctl or itemd, with data files only. FAILED_PRECONDITION: it is of another
// version, or of an export that cannot be imported here; DATA_LOSS: it does not parse. Messages begin with
// `path`.
absl::StatusOr<ExportManifest> ParseManifest(std::string_view text, const std::string& path);

}  // namespace itemdb::tools
