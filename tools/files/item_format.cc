#include "tools/files/item_format.h"

#include <utility>

namespace itemdb::tools {
namespace {

constexpr std::pair<ItemFormat, std::string_view> kItemFormats[] = {
    {ItemFormat::kDynamoDbJson, "DYNAMODB_JSON"}, {ItemFormat::kJson, "JSON"}, {ItemFormat::kCsv, "CSV"}};
constexpr std::pair<ItemFormat, std::string_view> kFormatSuffixes[] = {
    {ItemFormat::kDynamoDbJson, ".json"}, {ItemFormat::kJson, ".jsonl"}, {ItemFormat::kCsv, ".csv"}};
constexpr std::pair<Compression, std::string_view> kCompressionNames[] = {
    {Compression::kNone, "NONE"}, {Compression::kGzip, "GZIP"}, {Compression::kZstd, "ZSTD"}};
constexpr std::pair<Compression, std::string_view> kCompressionSuffixes[] = {
    {Compression::kNone, ""}, {Compression::kGzip, ".gz"}, {Compression::kZstd, ".zst"}};
constexpr std::pair<ColumnType, std::string_view> kColumnTypes[] = {{ColumnType::kText, "S"},
                                                                    {ColumnType::kNumber, "N"},
                                                                    {ColumnType::kBinary, "B"},
                                                                    {ColumnType::kBool, "BOOL"}};

template <typename Value, size_t kSize>
std::string_view NameIn(const std::pair<Value, std::string_view> (&names)[kSize], Value value) {
  for (const auto& [each, name] : names)
    if (each == value) return name;
  return "";
}

template <typename Value, size_t kSize>
std::optional<Value> FindName(const std::pair<Value, std::string_view> (&names)[kSize],
                              std::string_view wanted) {
  for (const auto& [value, name] : names)
    if (name == wanted) return value;
  return std::nullopt;
}

}  // namespace

std::string_view NameOf(ItemFormat format) { return NameIn(kItemFormats, format); }
std::optional<ItemFormat> ItemFormatFromName(std::string_view name) { return FindName(kItemFormats, name); }
std::string_view NameOf(Compression compression) { return NameIn(kCompressionNames, compression); }
std::optional<Compression> CompressionFromName(std::string_view name) {
  return FindName(kCompressionNames, name);
}
std::string_view NameOf(ColumnType type) { return NameIn(kColumnTypes, type); }
std::optional<ColumnType> ColumnTypeFromName(std::string_view name) { return FindName(kColumnTypes, name); }

std::string SuffixOf(ItemFormat format, Compression compression) {
  return std::string(NameIn(kFormatSuffixes, format)).append(NameIn(kCompressionSuffixes, compression));
}

Compression CompressionOfFile(std::string_view name) {
  if (name.ends_with(".gz")) return Compression::kGzip;
  return name.ends_with(".zst") ? Compression::kZstd : Compression::kNone;
}

}  // namespace itemdb::tools
