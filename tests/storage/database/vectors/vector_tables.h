// Tables with vector indexes, searches of them, and a model that knows what a search must find.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/storage/database/requests.h"
#include "tests/support/live_index.h"

namespace itemdb::testing {

using Vector = std::vector<float>;

inline constexpr v1::VectorDistanceFunction kByCosine = v1::VECTOR_DISTANCE_FUNCTION_COSINE;
inline constexpr v1::VectorDistanceFunction kByDistance = v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN;
inline constexpr v1::VectorDistanceFunction kByProduct = v1::VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT;
inline constexpr v1::VectorDistanceFunction kDistanceFunctions[] = {kByCosine, kByDistance, kByProduct};

// A list of numbers. The texts are the shortest that read as the floats.
v1::AttributeValue VectorValue(const Vector& vector);

// An index of all attributes on the attribute `v`.
v1::VectorIndex VectorIndexOf(const std::string& name, int dimensions, v1::VectorDistanceFunction distance);
void AddHashElement(v1::VectorIndex* index, const std::string& attribute);
void AddInlineFilter(v1::VectorIndex* index, const std::string& attribute);
// A table with the keys pk and sk, on demand, with these indexes. `attributes`: "name:type" of search
// schemas.
v1::CreateTableRequest VectorTableRequest(const std::string& name, std::vector<v1::VectorIndex> indexes,
                                          std::initializer_list<std::string> attributes = {});
v1::UpdateTableRequest CreateVectorIndexRequest(const std::string& table, const v1::VectorIndex& index,
                                                std::initializer_list<std::string> attributes = {});
v1::UpdateTableRequest DeleteVectorIndexRequest(const std::string& table, const std::string& index);

wire::SearchVectorsRequest SearchRequest(const std::string& table, const std::string& index,
                                         const Vector& vector, int top_k);
absl::StatusOr<wire::SearchVectorsReply> Search(TestDatabase& database,
                                                const wire::SearchVectorsRequest& request);
// The items that were found, nearest first, each as Show() writes it; or the error's message.
std::vector<std::string> SearchShown(TestDatabase& database, const wire::SearchVectorsRequest& request);

// The score by VEC-15, computed in doubles one element after another.
double NaiveScore(v1::VectorDistanceFunction distance, const Vector& a, const Vector& b);

}  // namespace itemdb::testing
