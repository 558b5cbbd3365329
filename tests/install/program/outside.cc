// A program that uses only the installed itemdb. With an endpoint it uses that daemon, without one the fake
// database.
#include <itemdb/client.h>
#include <itemdb/testing/fake_database.h>

#include <iostream>

int main(int argc, char** argv) {
  const auto fake = itemdb::testing::FakeDatabase::Open().value();
  const itemdb::Client client =
      argc > 1 ? itemdb::Client::Open({.endpoint = argv[1]}).value() : fake->NewClient();
  client
      .CreateTable({.table_name = "Greeting",
                    .attribute_definitions = {{"id", itemdb::ScalarAttributeType::kString}},
                    .key_schema = {{"id", itemdb::KeyType::kHash}}})
      .value();
  client.PutItem({.table_name = "Greeting", .item = {{"id", "world"}, {"text", "hello"}}}).value();
  const auto got = client.GetItemAsync({.table_name = "Greeting", .key = {{"id", "world"}}}).get();
  std::cout << *got.value().item.value().find_or_null("text")->string_or_null() << "\n";
}
