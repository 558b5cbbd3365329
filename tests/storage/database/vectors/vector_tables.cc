#include "tests/storage/database/vectors/vector_tables.h"

#include <charconv>

namespace itemdb::testing {
namespace {

void AddAttributes(std::initializer_list<std::string> attributes,
                   google::protobuf::RepeatedPtrField<v1::AttributeDefinition>* definitions) {
  for (const std::string& attribute : attributes) {
    const size_t colon = attribute.find(':');
    v1::AttributeDefinition* definition = definitions->Add();
    definition->set_attribute_name(attribute.substr(0, colon));
    v1::ScalarAttributeType type;
    ASSERT_TRUE(v1::ScalarAttributeType_Parse("SCALAR_ATTRIBUTE_TYPE_" + attribute.substr(colon + 1), &type));
    definition->set_attribute_type(type);
  }
}

void AddElement(v1::VectorIndex* index, const std::string& attribute, v1::SearchSchemaElementType type) {
  v1::SearchSchemaElement* element = index->add_search_schema();
  element->set_attribute_name(attribute);
  element->set_search_schema_element_type(type);
}

}  // namespace

v1::AttributeValue VectorValue(const Vector& vector) {
  v1::AttributeValue value;
  value.mutable_l();
  for (const float element : vector) {
    char text[32];
    char* const end = std::to_chars(text, text + sizeof(text), element).ptr;
    value.mutable_l()->add_values()->set_n(std::string(text, end));
  }
  return value;
}

v1::VectorIndex VectorIndexOf(const std::string& name, int dimensions, v1::VectorDistanceFunction distance) {
  v1::VectorIndex index;
  index.set_index_name(name);
  index.set_vector_attribute("v");
  index.set_dimensions(dimensions);
  index.set_distance_function(distance);
  index.mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_ALL);
  return index;
}

void AddHashElement(v1::VectorIndex* index, const std::string& attribute) {
  AddElement(index, attribute, v1::SEARCH_SCHEMA_ELEMENT_TYPE_HASH);
}

void AddInlineFilter(v1::VectorIndex* index, const std::string& attribute) {
  AddElement(index, attribute, v1::SEARCH_SCHEMA_ELEMENT_TYPE_INLINE_FILTER);
}

v1::CreateTableRequest VectorTableRequest(const std::string& name, std::vector<v1::VectorIndex> indexes,
                                          std::initializer_list<std::string> attributes) {
  v1::CreateTableRequest request = TableRequest(name);
  request.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  request.clear_provisioned_throughput();
  for (const v1::VectorIndex& index : indexes) *request.add_vector_indexes() = index;
  AddAttributes(attributes, request.mutable_attribute_definitions());
  return request;
}

v1::UpdateTableRequest CreateVectorIndexRequest(const std::string& table, const v1::VectorIndex& index,
                                                std::initializer_list<std::string> attributes) {
  v1::UpdateTableRequest request;
  request.set_table_name(table);
  *request.add_vector_index_creations() = index;
  AddAttributes(attributes, request.mutable_attribute_definitions());
  return request;
}

v1::UpdateTableRequest DeleteVectorIndexRequest(const std::string& table, const std::string& index) {
  v1::UpdateTableRequest request;
  request.set_table_name(table);
  request.add_vector_index_deletions(index);
  return request;
}

wire::SearchVectorsRequest SearchRequest(const std::string& table, const std::string& index,
                                         const Vector& vector, int top_k) {
  wire::SearchVectorsRequest request;
  request.set_table_name(table);
  request.set_index_name(index);
  const v1::AttributeValue list = VectorValue(vector);
  for (const v1::AttributeValue& element : list.l().values())
    request.add_search_vector(element.SerializeAsString());
  request.set_top_k(top_k);
  return request;
}

absl::StatusOr<wire::SearchVectorsReply> Search(TestDatabase& database,
                                                const wire::SearchVectorsRequest& request) {
  return Await<wire::SearchVectorsReply>(
      [&](auto done) { database->SearchVectors(request, std::move(done)); });
}

std::vector<std::string> SearchShown(TestDatabase& database, const wire::SearchVectorsRequest& request) {
  const auto reply = Search(database, request);
  if (!reply.ok()) return {MessageOf(reply.status())};
  std::vector<std::string> shown;
  for (const wire::SearchResult& result : reply->search_results()) shown.push_back(Show(result.item()));
  return shown;
}

double NaiveScore(v1::VectorDistanceFunction distance, const Vector& a, const Vector& b) {
  double product = 0, a_squares = 0, b_squares = 0, squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i];
    product += x * y;
    a_squares += x * x;
    b_squares += y * y;
    squares += (x - y) * (x - y);
  }
  switch (distance) {
    case v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN:
      return std::sqrt(squares);
    case v1::VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT:
      return product;
    default:
      if (a_squares == 0 || b_squares == 0) return 1;
      return 1 - product / (std::sqrt(a_squares) * std::sqrt(b_squares));
  }
}

}  // namespace itemdb::testing
