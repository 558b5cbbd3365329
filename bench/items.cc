#include "bench/items.h"

#include "bench/writers.h"

namespace itemdb::bench {
namespace {

constexpr uint64_t kLoadedChunkWrites = 1'000;

}  // namespace

v1::CreateTableRequest TableNamed(const std::string& name) {
  v1::CreateTableRequest request;
  request.set_table_name(name);
  request.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  const auto add_attribute = [&request](const char* attribute, v1::ScalarAttributeType type) {
    v1::AttributeDefinition* definition = request.add_attribute_definitions();
    definition->set_attribute_name(attribute);
    definition->set_attribute_type(type);
  };
  const auto add_keys = [](auto* schema, const char* partition, const char* sort) {
    v1::KeySchemaElement* element = schema->Add();
    element->set_attribute_name(partition);
    element->set_key_type(v1::KEY_TYPE_HASH);
    element = schema->Add();
    element->set_attribute_name(sort);
    element->set_key_type(v1::KEY_TYPE_RANGE);
  };
  add_attribute("pk", v1::SCALAR_ATTRIBUTE_TYPE_S);
  add_attribute("sk", v1::SCALAR_ATTRIBUTE_TYPE_S);
  add_attribute("group", v1::SCALAR_ATTRIBUTE_TYPE_S);
  add_attribute("rank", v1::SCALAR_ATTRIBUTE_TYPE_N);
  add_keys(request.mutable_key_schema(), "pk", "sk");
  v1::GlobalSecondaryIndex* global = request.add_global_secondary_indexes();
  global->set_index_name("by_group");
  add_keys(global->mutable_key_schema(), "group", "sk");
  global->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_ALL);
  v1::LocalSecondaryIndex* local = request.add_local_secondary_indexes();
  local->set_index_name("by_rank");
  add_keys(local->mutable_key_schema(), "pk", "rank");
  local->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_KEYS_ONLY);
  return request;
}

namespace {

// A hash, different for each `number`, whose digits do not compress well.
uint64_t Mixed(uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

std::string GroupOf(uint64_t number) { return "group" + std::to_string(Mixed(number) % 10'000); }
std::string PartitionOf(uint64_t number, uint64_t collection_items) {
  return "pk" + std::to_string(Mixed(number / collection_items));
}
std::string RankOf(uint64_t number) { return std::to_string(number % 1'000'000); }
std::string SortOf(uint64_t number, uint64_t collection_items) {
  return "sk" + std::to_string(number % collection_items);
}
std::string TextOf(uint64_t number) {
  std::string text;
  for (uint64_t i = 0; i < 14; ++i) text += std::to_string(Mixed(number * 14 + i));
  return text;
}

}  // namespace

std::string EncodedItem(uint64_t number, uint64_t collection_items) {
  v1::Item item;
  const auto add = [&item](const char* name) {
    v1::Attribute* attribute = item.add_attributes();
    attribute->set_name(name);
    return attribute->mutable_value();
  };
  add("group")->set_s(GroupOf(number));
  add("pk")->set_s(PartitionOf(number, collection_items));
  add("rank")->set_n(RankOf(number));
  add("sk")->set_s(SortOf(number, collection_items));
  add("text")->set_s(TextOf(number));
  return item.SerializeAsString();
}

std::string JsonItem(uint64_t number, uint64_t collection_items) {
  return R"({"group":{"S":")" + GroupOf(number) + R"("},"pk":{"S":")" +
         PartitionOf(number, collection_items) + R"("},"rank":{"N":")" + RankOf(number) +
         R"("},"sk":{"S":")" + SortOf(number, collection_items) + R"("},"text":{"S":")" + TextOf(number) +
         "\"}}";
}

absl::Status LoadItems(Session& session, const std::string& command, storage::Database& database,
                       const std::string& table, uint64_t items, uint64_t collection_items) {
  session.Progress(command + ": loading " + std::to_string(items) + " items into " + table);
  ITEMDB_RETURN_IF_ERROR(Await<v1::CreateTableReply>([&](auto done) {
                           database.CreateTable(TableNamed(table), std::move(done));
                         }).status());
  const std::shared_ptr<storage::BulkWrites> writes = database.BeginBulkWrite();
  for (uint64_t item = 0; item < items;) {
    ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
    wire::BulkWriteChunk chunk;
    chunk.set_chunk_number(item / kLoadedChunkWrites + 1);
    wire::TableWriteRequests* puts = chunk.add_request_items();
    puts->set_table_name(table);
    for (uint64_t i = 0; i < kLoadedChunkWrites && item < items; ++i, ++item)
      puts->add_write_requests()->mutable_put_request()->set_item(EncodedItem(item, collection_items));
    ITEMDB_RETURN_IF_ERROR(Await<wire::BulkWriteReply>([&](auto done) {
                             database.BulkWrite(*writes, chunk, std::move(done));
                           }).status());
  }
  return absl::OkStatus();
}

}  // namespace itemdb::bench
