// The stores of a place at every level of the hierarchy, by two kinds of queries.
#pragma once

#include <itemdb/requests.h>

#include <string>
#include <vector>

namespace one_to_many {

// A country, or a part of it. Parts below the requested level are empty.
struct Place {
  std::string country;
  std::string state = "";
  std::string city = "";
  std::string zip_code = "";

  // The parts below the country that are not empty.
  std::vector<std::string> Path() const;
  // For example "USA, NE, OMAHA".
  std::string Name() const;
};

// The query by the composite sort key, such as "NE#OMAHA#68144#01#".
itemdb::QueryRequest StoresBySortKey(const Place& place, const std::string& table_name = "Stores");
// The query by the index of country, state, city and zip code.
itemdb::QueryRequest StoresByIndex(const Place& place, const std::string& table_name = "Stores");

}  // namespace one_to_many
