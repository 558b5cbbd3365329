// The stores of a place, at every level of the hierarchy, asked in two ways.
#pragma once

#include <itemdb/requests.h>

#include <string>
#include <vector>

namespace one_to_many {

// A country, or a part of it; what is empty is not asked for, and neither may be what is below it.
struct Place {
  std::string country;
  std::string state = "";
  std::string city = "";
  std::string zip_code = "";

  // The parts below the country.
  std::vector<std::string> Path() const;
  // "USA, NE, OMAHA".
  std::string Name() const;
};

// By the composite sort key "NE#OMAHA#68144#01#".
itemdb::QueryRequest StoresBySortKey(const Place& place, const std::string& table_name = "Stores");
// By the index of country, state, city and zip code.
itemdb::QueryRequest StoresByIndex(const Place& place, const std::string& table_name = "Stores");

}  // namespace one_to_many
