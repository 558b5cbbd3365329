#include "one_to_many/store_questions.h"

#include <itemdb/expression.h>
#include <itemdb/keys.h>

namespace one_to_many {

using itemdb::Compose;
using itemdb::Key;
using itemdb::KeyCondition;
using itemdb::QueryRequest;
using itemdb::Where;

std::vector<std::string> Place::Path() const {
  std::vector<std::string> path;
  for (const std::string* part : {&state, &city, &zip_code}) {
    if (!part->empty()) path.push_back(*part);
  }
  return path;
}

std::string Place::Name() const {
  std::string name = country;
  for (const std::string& part : Path()) name += ", " + part;
  return name;
}

QueryRequest StoresBySortKey(const Place& place, const std::string& table_name) {
  const QueryRequest request{.table_name = table_name};
  const std::vector<std::string> path = place.Path();
  if (path.empty()) return Compose(request, Where(Key("Country") == place.country));
  // The '#' at the end excludes OMAHA HEIGHTS from OMAHA. No part of a place contains '#'.
  const std::string prefix = itemdb::CompositeKey(path).value();
  return Compose(request, Where(Key("Country") == place.country && Key("Place").BeginsWith(prefix)));
}

QueryRequest StoresByIndex(const Place& place, const std::string& table_name) {
  KeyCondition condition = Key("Country") == place.country;
  const char* levels[] = {"State", "City", "ZipCode"};
  const std::vector<std::string> path = place.Path();
  for (size_t i = 0; i < path.size(); ++i) condition = condition && Key(levels[i]) == path[i];
  return Compose(QueryRequest{.table_name = table_name, .index_name = "StoresByPlace"}, Where(condition));
}

}  // namespace one_to_many
