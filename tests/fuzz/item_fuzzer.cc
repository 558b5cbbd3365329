// Items from clients: decoding into canonical form. An input is an encoded itemdb.v1.Item.
#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <string>

#include "itemdb/v1/item.pb.h"
#include "storage/base/check.h"
#include "storage/values/canonical.h"

namespace itemdb::fuzz {
namespace {

size_t Walk(storage::ValueView value) {
  size_t values = 1;
  switch (value.type()) {
    case storage::ValueType::kL:
      for (storage::ValueView element : storage::ListView(value.payload())) values += Walk(element);
      break;
    case storage::ValueType::kM:
      for (storage::AttributeView attribute : storage::ItemView(value.payload()))
        values += Walk(attribute.value);
      break;
    case storage::ValueType::kSS:
    case storage::ValueType::kNS:
    case storage::ValueType::kBS:
      values += storage::SetView(value.payload()).Count();
      ITEMDB_CHECK(values > 1);
      break;
    default:
      break;
  }
  return values;
}

void Run(const std::string& encoded) {
  absl::StatusOr<std::string> canonical = storage::CanonicalizeItem(encoded);
  v1::Item message;
  if (!canonical.ok()) {
    ITEMDB_CHECK(absl::IsInvalidArgument(canonical.status()) && !canonical.status().message().empty());
    return;
  }
  // An accepted item is a valid message, and the generated code serializes it to the same bytes.
  ITEMDB_CHECK(message.ParseFromString(encoded));
  ITEMDB_CHECK(message.ParseFromString(*canonical) && message.SerializeAsString() == *canonical);
  absl::StatusOr<std::string> again = storage::CanonicalizeItem(*canonical);
  ITEMDB_CHECK(again.ok() && *again == *canonical);
  size_t bytes = 0;
  std::string_view last;
  bool first = true;
  for (storage::AttributeView attribute : storage::ItemView(*canonical)) {
    ITEMDB_CHECK(first || last < attribute.name);
    first = false;
    last = attribute.name;
    Walk(attribute.value);
    ITEMDB_CHECK(storage::ItemView(*canonical).Find(attribute.name)->encoded() == attribute.value.encoded());
    bytes += attribute.name.size() + storage::ValueSizeBytes(attribute.value);
  }
  ITEMDB_CHECK(storage::ItemSizeBytes(storage::ItemView(*canonical)) == bytes);
}

}  // namespace
}  // namespace itemdb::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  itemdb::fuzz::Run(std::string(data, data + bytes));
  return 0;
}
