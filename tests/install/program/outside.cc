// A program that uses only the installed itemdb. With an endpoint, an address or a URL, it uses that daemon
// and a table of the name that follows, without one the fake database.
#include <itemdb/client.h>
#include <itemdb/testing/fake_database.h>

#include <iostream>
#include <string>

int main(int argc, char** argv) {
  const auto fake = itemdb::testing::FakeDatabase::Open().value();
  const itemdb::Client client =
      argc > 1 ? itemdb::Client::Open({.endpoint = argv[1]}).value() : fake->NewClient();
  const std::string table = argc > 2 ? argv[2] : "Greeting";
  client
      .CreateTable({.table_name = table,
                    .attribute_definitions = {{"id", itemdb::ScalarAttributeType::kString}},
                    .key_schema = {{"id", itemdb::KeyType::kHash}}})
      .value();
  client.PutItem({.table_name = table, .item = {{"id", "world"}, {"text", "hello"}}}).value();
  const auto got = client.GetItemAsync({.table_name = table, .key = {{"id", "world"}}}).get();
  std::cout << *got.value().item.value().find_or_null("text")->string_or_null() << "\n";
}
