// itemdb.wire messages must have the same wire format as their itemdb.v1 twins: clients send the v1 message
// and the server parses the wire message. The test compares the descriptors of twins, starting from the
// methods of the Data service, so it finds a field or method that was added on one side only.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/wire_format_lite.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "itemdb/v1/data.pb.h"
#include "itemdb/wire/data.pb.h"

namespace itemdb::daemon {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::MethodDescriptor;
using google::protobuf::internal::WireFormatLite;

const Descriptor* Wire(const std::string& name) {
  return google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName("itemdb.wire." + name);
}

// The messages that DataService parses and returns for each method.
struct Twins {
  const Descriptor* request;
  const Descriptor* reply;
};

std::map<std::string, Twins> TwinsOfMethods() {
  // Keeps the linker from dropping the generated file with its descriptors.
  wire::PageRequest::descriptor();
  return {
      {"PutItem", {Wire("WriteItemRequest"), Wire("WriteItemReply")}},
      {"UpdateItem", {Wire("WriteItemRequest"), Wire("WriteItemReply")}},
      {"DeleteItem", {Wire("WriteItemRequest"), Wire("WriteItemReply")}},
      {"GetItem", {Wire("GetItemRequest"), Wire("GetItemReply")}},
      {"BatchWriteItem", {Wire("BatchWriteItemRequest"), Wire("BatchWriteItemReply")}},
      {"TransactWriteItems", {Wire("TransactWriteItemsRequest"), Wire("TransactWriteItemsReply")}},
      {"BatchGetItem", {Wire("BatchGetItemRequest"), Wire("BatchGetItemReply")}},
      {"TransactGetItems", {Wire("TransactGetItemsRequest"), Wire("TransactGetItemsReply")}},
      {"Query", {Wire("PageRequest"), Wire("PageReply")}},
      {"Scan", {Wire("PageRequest"), Wire("PageReply")}},
      {"SearchVectors", {Wire("SearchVectorsRequest"), Wire("SearchVectorsReply")}},
      {"QueryStream", {Wire("PageStreamRequest"), Wire("PageReply")}},
      {"ScanStream", {Wire("PageStreamRequest"), Wire("PageReply")}},
      {"ExecuteStatement", {Wire("ExecuteStatementRequest"), Wire("ExecuteStatementReply")}},
      {"BatchExecuteStatement", {Wire("BatchExecuteStatementRequest"), Wire("BatchExecuteStatementReply")}},
      {"ExecuteTransaction", {Wire("ExecuteTransactionRequest"), Wire("ExecuteTransactionReply")}},
      {"BulkWrite", {Wire("BulkWriteChunk"), Wire("BulkWriteReply")}},
  };
}

// Fields that only the twin has, because it serves several messages.
const std::map<std::string, std::set<int>> kOnlyInTwin = {
    {"itemdb.v1.PutItemRequest", {8, 13}},
    {"itemdb.v1.DeleteItemRequest", {8, 13}},
    {"itemdb.v1.TransactPut", {6, 8, 9, 10, 11, 12, 13, 14}},
    {"itemdb.v1.TransactUpdate", {6, 9, 10, 11, 12, 13, 14}},
    {"itemdb.v1.TransactDelete", {6, 8, 9, 10, 11, 12, 13, 14}},
    {"itemdb.v1.ConditionCheck", {6, 8, 9, 10, 11, 12, 13, 14}},
    {"itemdb.v1.QueryRequest", {15, 16}},
    {"itemdb.v1.ScanRequest", {3, 10, 17}},
    {"itemdb.v1.TransactGet", {5, 6, 7}},
};

// Fields that storage encodes by hand: the items of a page.
const std::map<std::string, std::set<int>> kOnlyInPublished = {
    {"itemdb.v1.QueryReply", {2}},
    {"itemdb.v1.ScanReply", {2}},
    {"itemdb.v1.ExecuteStatementReply", {2}},
};

std::set<int> Numbers(const std::map<std::string, std::set<int>>& table, const Descriptor* message) {
  auto found = table.find(message->full_name());
  return found == table.end() ? std::set<int>() : found->second;
}

WireFormatLite::WireType WireTypeOf(const FieldDescriptor* field) {
  return WireFormatLite::WireTypeForFieldType(static_cast<WireFormatLite::FieldType>(field->type()));
}

std::string OneofOf(const FieldDescriptor* field) {
  const auto* oneof = field->real_containing_oneof();
  return oneof == nullptr ? "" : oneof->name();
}

class Comparison {
 public:
  void Messages(const Descriptor* published, const Descriptor* twin) {
    ASSERT_NE(twin, nullptr) << published->full_name();
    if (!compared_.insert({published, twin}).second) return;
    SCOPED_TRACE(published->full_name() + " and " + twin->full_name());
    std::set<int> only_in_twin = Numbers(kOnlyInTwin, published);
    std::set<int> only_in_published = Numbers(kOnlyInPublished, published);
    for (int i = 0; i < published->field_count(); ++i) {
      const FieldDescriptor* field = published->field(i);
      const FieldDescriptor* other = twin->FindFieldByNumber(field->number());
      EXPECT_EQ(other == nullptr, only_in_published.contains(field->number())) << field->name();
      if (other != nullptr) Fields(field, other);
    }
    for (int i = 0; i < twin->field_count(); ++i) {
      int number = twin->field(i)->number();
      EXPECT_EQ(published->FindFieldByNumber(number) == nullptr, only_in_twin.contains(number))
          << twin->field(i)->name();
    }
  }

  size_t count() const { return compared_.size(); }

 private:
  void Fields(const FieldDescriptor* field, const FieldDescriptor* other) {
    SCOPED_TRACE(field->name());
    EXPECT_EQ(field->is_repeated(), other->is_repeated());
    EXPECT_EQ(field->is_packed(), other->is_packed());
    EXPECT_EQ(WireTypeOf(field), WireTypeOf(other));
    EXPECT_EQ(OneofOf(field), OneofOf(other));
    // A twin of several messages has one field for fields with different names. The fields of a map entry are
    // called key and value.
    const std::set<std::string> shared = {"key_or_item", "legacy_filter", "page"};
    bool may_differ_in_name =
        shared.contains(other->name()) || field->containing_type()->map_key() != nullptr;
    if (!may_differ_in_name) {
      EXPECT_EQ(field->name(), other->name());
    }

    if (field->type() != FieldDescriptor::TYPE_MESSAGE) {
      EXPECT_EQ(field->type(), other->type());
      EXPECT_EQ(field->enum_type(), other->enum_type());
      return;
    }
    std::string type = field->message_type()->full_name();
    if (type == "itemdb.v1.Item" || type == "itemdb.v1.AttributeValue") {
      EXPECT_EQ(other->type(), FieldDescriptor::TYPE_BYTES) << "an item becomes objects here";
      return;
    }
    ASSERT_EQ(other->type(), FieldDescriptor::TYPE_MESSAGE);
    Messages(field->message_type(), other->message_type());
  }

  std::set<std::pair<const Descriptor*, const Descriptor*>> compared_;
};

TEST(WireTwins, HaveTheWireFormatOfThePublishedMessages) {
  std::map<std::string, Twins> twins = TwinsOfMethods();
  v1::PutItemRequest::descriptor();
  const auto* service =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName("itemdb.v1.Data");
  ASSERT_NE(service, nullptr);
  EXPECT_EQ(service->method_count(), static_cast<int>(twins.size()));
  Comparison comparison;
  for (int i = 0; i < service->method_count(); ++i) {
    const MethodDescriptor* method = service->method(i);
    SCOPED_TRACE(method->name());
    ASSERT_TRUE(twins.contains(method->name())) << "a method without twins";
    comparison.Messages(method->input_type(), twins[method->name()].request);
    comparison.Messages(method->output_type(), twins[method->name()].reply);
  }
  // 20 requests and replies, and the messages inside them.
  EXPECT_GE(comparison.count(), 30u);
}

// The effect of equal descriptors, on one message with every kind of field.
TEST(WireTwins, ReadWhatTheOtherWrote) {
  v1::UpdateItemRequest published;
  published.set_table_name("orders");
  v1::Attribute* attribute = published.mutable_key()->add_attributes();
  attribute->set_name("order_id");
  attribute->mutable_value()->set_s("ord_001");
  published.set_condition_expression("#a = :b");
  (*published.mutable_expression_attribute_names())["#a"] = "status";
  (*published.mutable_expression_attribute_values())[":b"].set_n("7");
  published.set_return_values(v1::RETURN_VALUES_ALL_NEW);
  published.set_update_expression("SET #a = :b");

  wire::WriteItemRequest twin;
  ASSERT_TRUE(twin.ParseFromString(published.SerializeAsString()));
  EXPECT_EQ(twin.key_or_item(), published.key().SerializeAsString());
  ASSERT_EQ(twin.expression_attribute_values_size(), 1);
  EXPECT_EQ(twin.expression_attribute_values(0).name(), ":b");
  EXPECT_EQ(twin.expression_attribute_values(0).value(),
            published.expression_attribute_values().at(":b").SerializeAsString());
  EXPECT_EQ(twin.update_expression(), "SET #a = :b");

  v1::UpdateItemRequest back;
  ASSERT_TRUE(back.ParseFromString(twin.SerializeAsString()));
  EXPECT_EQ(back.SerializeAsString(), published.SerializeAsString());
}

}  // namespace
}  // namespace itemdb::daemon
