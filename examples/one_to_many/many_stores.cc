#include "one_to_many/many_stores.h"

#include <itemdb/keys.h>

#include <random>
#include <string>

#include "one_to_many/store_questions.h"
#include "shared/volume.h"

namespace one_to_many {
namespace {

using itemdb::Item;

constexpr char kTable[] = "Stores.generated";

struct City {
  const char* country;
  const char* state;
  const char* city;
  // The beginning of its zip codes; two digits follow.
  const char* zip_prefix;
  // Number of stores, compared with a city of weight 1.
  int weight;
};

constexpr City kCities[] = {
    {"USA", "AZ", "PHOENIX", "850", 6},
    {"USA", "AZ", "TUCSON", "857", 2},
    {"USA", "CA", "LOS ANGELES", "900", 14},
    {"USA", "CA", "OAKLAND", "946", 2},
    {"USA", "CA", "SACRAMENTO", "958", 3},
    {"USA", "CA", "SAN DIEGO", "921", 6},
    {"USA", "CA", "SAN FRANCISCO", "941", 7},
    {"USA", "CO", "DENVER", "802", 5},
    {"USA", "FL", "MIAMI", "331", 4},
    {"USA", "FL", "ORLANDO", "328", 4},
    {"USA", "GA", "ATLANTA", "303", 5},
    {"USA", "IL", "CHICAGO", "606", 10},
    {"USA", "IL", "SPRINGFIELD", "627", 1},
    {"USA", "MA", "BOSTON", "021", 5},
    {"USA", "MA", "SPRINGFIELD", "011", 1},
    {"USA", "MI", "DETROIT", "482", 3},
    {"USA", "MN", "MINNEAPOLIS", "554", 3},
    {"USA", "MO", "SPRINGFIELD", "658", 1},
    {"USA", "NE", "LINCOLN", "685", 1},
    {"USA", "NE", "OMAHA", "681", 2},
    {"USA", "NE", "OMAHA HEIGHTS", "681", 1},
    {"USA", "NV", "LAS VEGAS", "891", 6},
    {"USA", "NY", "BUFFALO", "142", 2},
    {"USA", "NY", "NEW YORK", "100", 16},
    {"USA", "OR", "PORTLAND", "972", 5},
    {"USA", "PA", "PHILADELPHIA", "191", 5},
    {"USA", "TX", "AUSTIN", "787", 5},
    {"USA", "TX", "DALLAS", "752", 6},
    {"USA", "TX", "HOUSTON", "770", 8},
    {"USA", "WA", "SEATTLE", "981", 9},
    {"USA", "WA", "SPOKANE", "992", 2},
    {"CHINA", "BJ", "BEIJING", "1000", 9},
    {"CHINA", "GD", "GUANGZHOU", "5100", 6},
    {"CHINA", "SH", "SHANGHAI", "2000", 16},
    {"FRANCE", "ARA", "LYON", "690", 2},
    {"FRANCE", "IDF", "PARIS", "750", 6},
    {"FRANCE", "PAC", "NICE", "060", 1},
    {"GERMANY", "BE", "BERLIN", "101", 4},
    {"GERMANY", "BY", "MUNICH", "803", 3},
    {"GERMANY", "HH", "HAMBURG", "200", 2},
    {"JAPAN", "KANAGAWA", "YOKOHAMA", "22000", 4},
    {"JAPAN", "OSAKA", "OSAKA", "53000", 5},
    {"JAPAN", "TOKYO", "SHIBUYA", "15000", 6},
    {"JAPAN", "TOKYO", "SHINJUKU", "16000", 6},
    {"MEXICO", "CMX", "MEXICO CITY", "060", 6},
    {"MEXICO", "JAL", "GUADALAJARA", "441", 2},
};

// Zip codes per city.
constexpr uint64_t kZipCodes = 40;

std::string Digits(uint64_t number, int width) {
  const std::string digits = std::to_string(number);
  const size_t wanted = static_cast<size_t>(width);
  return digits.size() < wanted ? std::string(wanted - digits.size(), '0') + digits : digits;
}

Item MakeStore(int64_t number, std::mt19937_64& random) {
  static constexpr const char* kStreets[] = {"Main St",   "Market St", "Lake Rd",
                                             "Harney St", "Elm St",    "Park Ave"};
  static const uint64_t all_weights = [] {
    uint64_t sum = 0;
    for (const City& city : kCities) sum += static_cast<uint64_t>(city.weight);
    return sum;
  }();
  const City* city = kCities;
  uint64_t drawn = random() % all_weights;
  for (; drawn >= static_cast<uint64_t>(city->weight); ++city) drawn -= static_cast<uint64_t>(city->weight);
  const std::string zip_code = city->zip_prefix + Digits(random() % kZipCodes, 2);
  const std::string id = Digits(static_cast<uint64_t>(number), 6);
  return {{"Country", city->country},
          {"Place", itemdb::CompositeKey({city->state, city->city, zip_code, id}).value()},
          {"State", city->state},
          {"City", city->city},
          {"ZipCode", zip_code},
          {"StoreId", id},
          {"Street", std::to_string(1 + random() % 9'999) + " " + kStreets[random() % std::size(kStreets)]}};
}

}  // namespace

void AskManyStores(const itemdb::Client& client, int64_t count, int64_t seed) {
  example::CreateLike(client, "Stores", kTable);
  example::Loader loader(client, kTable);
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  for (int64_t number = 0; number < count; ++number) loader.Put(MakeStore(number, random));
  loader.Finish();
  for (const Place& place : {Place{.country = "USA"}, Place{.country = "USA", .state = "NE"},
                             Place{.country = "USA", .state = "NE", .city = "OMAHA"},
                             Place{.country = "USA", .state = "NE", .city = "OMAHA", .zip_code = "68114"}}) {
    example::ShowCost(client, "stores of " + place.Name(), StoresBySortKey(place, kTable));
    example::ShowCost(client, "stores of " + place.Name() + ", by the index", StoresByIndex(place, kTable));
  }
}

}  // namespace one_to_many
