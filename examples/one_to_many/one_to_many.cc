// Five strategies for one-to-many relations: the questions that each answers, and the writes that each needs.
//
//   itemctl model apply examples/one_to_many      # creates four tables with their items
//   example_one_to_many [ENDPOINT]
//   example_one_to_many [ENDPOINT] --stores 25000 # strategy 5 with 25,000 stores
//   example_one_to_many [ENDPOINT] --copies 1000  # strategy 2 with 1,000 books of an author
#include <itemdb/client.h>
#include <itemdb/expression.h>

#include <string>

#include "one_to_many/many_stores.h"
#include "one_to_many/store_questions.h"
#include "one_to_many/writes.h"
#include "shared/ask.h"
#include "shared/command_line.h"

using example::Need;
using example::Show;
using itemdb::Attr;
using itemdb::Compose;
using itemdb::GetItemRequest;
using itemdb::Key;
using itemdb::KeyCondition;
using itemdb::QueryRequest;
using itemdb::Where;

namespace {

// Strategy 1: the many are an attribute of the one.
void AskComplexAttribute(const itemdb::Client& client) {
  const GetItemRequest customer{.table_name = "Customers", .key = {{"CustomerId", "avega"}}};
  Show(client, "1. a customer with all addresses", customer);
  Show(client, "2. one address of a customer",
       Compose(customer, itemdb::Project({Attr("MailingAddresses")["Work"]})));
}

// Strategy 2: each of the many has a copy of the one's data.
void AskDuplicates(const itemdb::Client& client) {
  Show(client, "3. a book with what is known of its author",
       GetItemRequest{.table_name = "Books", .key = {{"Title", "It"}}});
  Show(client, "4. every copy of an author", one_to_many::BooksOf("Stephen King"));
}

// Strategy 3: one and many have the same partition key.
void AskPrimaryKey(const itemdb::Client& client) {
  const auto item = [](const char* sk) {
    return GetItemRequest{.table_name = "Organizations", .key = {{"PK", "ORG#MICROSOFT"}, {"SK", sk}}};
  };
  const auto collection = [](const KeyCondition& condition) {
    return Compose(QueryRequest{.table_name = "Organizations"}, Where(condition));
  };
  Show(client, "5. an organization", item("METADATA#MICROSOFT"));
  Show(client, "6. an organization and its users", collection(Key("PK") == "ORG#MICROSOFT"));
  Show(client, "7. the users of an organization",
       collection(Key("PK") == "ORG#MICROSOFT" && Key("SK").BeginsWith("USER#")));
  Show(client, "8. one user", item("USER#BILLGATES"));
}

// Strategy 4: the many have their own primary key, and a secondary index puts them together.
void AskSecondaryIndex(const itemdb::Client& client) {
  const char* ticket = "TICKET#2025-03-04T11:02:00Z-09bc";
  Show(client, "9. a ticket by its id",
       GetItemRequest{.table_name = "Organizations", .key = {{"PK", ticket}, {"SK", ticket}}});
  // In descending order, "USER#" comes before "TICKET#", and newer tickets before older ones.
  Show(client, "10. a user and the two newest tickets",
       Compose(
           QueryRequest{
               .table_name = "Organizations", .index_name = "GSI1", .limit = 3, .scan_index_forward = false},
           Where(Key("GSI1PK") == "ORG#MICROSOFT#USER#BILLGATES")));
}

// Strategy 5: a hierarchy in one sort key; and the same queries on an index of several attributes.
void AskHierarchy(const itemdb::Client& client) {
  const one_to_many::Place places[] = {
      {.country = "USA"},
      {.country = "USA", .state = "NE"},
      {.country = "USA", .state = "NE", .city = "OMAHA"},
      {.country = "USA", .state = "NE", .city = "OMAHA", .zip_code = "68144"}};
  int number = 11;
  for (const one_to_many::Place& place : places) {
    Show(client, std::to_string(number++) + ". stores of " + place.Name(),
         one_to_many::StoresBySortKey(place));
  }
  for (const one_to_many::Place& place : places) {
    Show(client, std::to_string(number++) + ". stores of " + place.Name() + ", by the index",
         one_to_many::StoresByIndex(place));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const example::CommandLine line = example::ReadCommandLine(argc, argv, {"--stores", "--copies", "--seed"});
  const itemdb::Client client = Need(itemdb::Client::Open({.endpoint = line.endpoint}));
  if (line.given("--stores") || line.given("--copies")) {
    if (line.given("--stores")) {
      one_to_many::AskManyStores(client, line.number("--stores", 0), line.number("--seed", 42));
    }
    if (line.given("--copies")) one_to_many::ChangeManyCopies(client, line.number("--copies", 0));
    return 0;
  }
  AskComplexAttribute(client);
  AskDuplicates(client);
  AskPrimaryKey(client);
  AskSecondaryIndex(client);
  AskHierarchy(client);
  one_to_many::ShowWrites(client);
}
