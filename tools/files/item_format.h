// The forms that items have in data files, and the names of these files.
//
//   DYNAMODB_JSON   {"Item":{"id":{"S":"a"},"price":{"N":"25.5"}}}, as in exports of DynamoDB
//   JSON            {"id": "a", "price": 25.5}; binary values and sets lose their types
//   CSV             id,price
//                   a,25.5
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/compression/compression.h"

namespace itemdb::tools {

enum class ItemFormat { kDynamoDbJson, kJson, kCsv };

// "DYNAMODB_JSON", "JSON", "CSV".
std::string_view NameOf(ItemFormat format);
std::optional<ItemFormat> ItemFormatFromName(std::string_view name);
// "NONE", "GZIP", "ZSTD".
std::string_view NameOf(Compression compression);
std::optional<Compression> CompressionFromName(std::string_view name);

// ".json.gz", ".jsonl", ".csv.zst": the end of the names of data files.
std::string SuffixOf(ItemFormat format, Compression compression);
// By the end of a file's name.
Compression CompressionOfFile(std::string_view name);

// The types of the columns of CSV files. A cell is read as this type; text of other columns stays text.
enum class ColumnType { kText, kNumber, kBinary, kBool };
using ColumnTypes = std::map<std::string, ColumnType, std::less<>>;
// "S", "N", "B", "BOOL".
std::string_view NameOf(ColumnType type);
std::optional<ColumnType> ColumnTypeFromName(std::string_view name);

}  // namespace itemdb::tools
