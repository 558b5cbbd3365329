#include "one_to_many/writes.h"

#include <itemdb/bulk_writer.h>
#include <itemdb/expression.h>
#include <itemdb/reservations.h>

#include <iostream>
#include <utility>

#include "absl/time/clock.h"
#include "shared/ask.h"

namespace one_to_many {

using example::Need;
using itemdb::Attr;
using itemdb::Client;
using itemdb::Compose;
using itemdb::If;
using itemdb::Item;
using itemdb::Key;
using itemdb::Path;
using itemdb::QueryRequest;
using itemdb::Reservation;
using itemdb::SizeOf;
using itemdb::TransactPut;
using itemdb::TransactUpdate;
using itemdb::TransactWriteItemsRequest;
using itemdb::Update;
using itemdb::UpdateItemRequest;
using itemdb::Value;
using itemdb::Where;

// ---- 1: a complex attribute ----------------------------------------------------------------------

UpdateItemRequest SetAddress(const std::string& customer_id, const std::string& name, Item address) {
  const Path addresses = Attr("MailingAddresses");
  return Compose(UpdateItemRequest{.table_name = "Customers", .key = {{"CustomerId", customer_id}}},
                 Update().Set(addresses[name], Value::Map(std::move(address))),
                 If(SizeOf(addresses) < kMaxAddresses || addresses[name].Exists()));
}

UpdateItemRequest RemoveAddress(const std::string& customer_id, const std::string& name) {
  return Compose(UpdateItemRequest{.table_name = "Customers", .key = {{"CustomerId", customer_id}}},
                 Update().Remove(Attr("MailingAddresses")[name]));
}

// ---- 2: duplicated data --------------------------------------------------------------------------

QueryRequest BooksOf(const std::string& author) {
  return Compose(QueryRequest{.table_name = "Books", .index_name = "BooksByAuthor"},
                 Where(Key("AuthorName") == author));
}

absl::Status ChangeBirthYear(const Client& client, const std::string& author, int64_t year) {
  TransactWriteItemsRequest change{.actions = {}, .large = true};
  itemdb::ItemRange books = client.QueryAll(BooksOf(author));
  for (const Item& book : books) {
    const TransactUpdate of_book{
        .table_name = "Books", .key = {{"Title", *book.find_or_null("Title")}}, .update_expression = ""};
    change.actions.push_back(
        Compose(of_book, Update().Set(Attr("AuthorBirthYear"), year), If(Attr("AuthorName") == author)));
  }
  if (!books.status().ok() || change.actions.empty()) return books.status();
  return client.TransactWriteItems(change).status();
}

// ---- 3 and 4: keys -------------------------------------------------------------------------------

absl::Status AddUser(const Client& client, const std::string& organization, const std::string& user,
                     const std::string& email) {
  const std::string org_key = "ORG#" + organization, user_key = "USER#" + user;
  const TransactPut put{.table_name = "Organizations",
                        .item = {{"PK", org_key},
                                 {"SK", user_key},
                                 {"GSI1PK", org_key + "#" + user_key},
                                 {"GSI1SK", user_key},
                                 {"Email", email}}};
  const std::string reserved = "EMAIL#" + email;
  const Reservation address{.table_name = "Organizations",
                            .item = {{"PK", reserved}, {"SK", reserved}, {"User", user}},
                            .key_attributes = {"PK", "SK"}};
  return itemdb::WriteWithReservations(client, {.actions = {put}}, {address}).status();
}

// ---- shown ---------------------------------------------------------------------------------------

namespace {

void Say(const std::string& text) { std::cout << "   " << text << "\n"; }

void ShowAddresses(const Client& client) {
  example::ShowQuestion("Writing 1: addresses are set one by one, " + std::to_string(kMaxAddresses) +
                        " at most");
  const Item key{{"CustomerId", "example"}};
  Item customer = key;
  customer.Set("MailingAddresses", Value::Map({}));
  Need(client.PutItem({.table_name = "Customers", .item = customer}));
  int set = 0;
  absl::Status status;
  while (
      (status =
           client.UpdateItem(SetAddress("example", "Address " + std::to_string(set + 1), {{"City", "Omaha"}}))
               .status())
          .ok()) {
    ++set;
  }
  Say(std::to_string(set) + " were set, the next one was refused: " + itemdb::ReasonOf(status));
  Need(client.UpdateItem(SetAddress("example", "Address 1", {{"City", "Lincoln"}})));
  Need(client.UpdateItem(RemoveAddress("example", "Address 2")));
  Need(client.UpdateItem(SetAddress("example", "Home", {{"City", "Omaha"}})));
  Say("one that is there may change, and one that goes makes room");
  Need(client.DeleteItem({.table_name = "Customers", .key = key}));
}

void ShowFanOut(const Client& client) {
  example::ShowQuestion("Writing 2: what is known of an author changes on every book at once");
  const char* author = "Richard Bachman";
  const char* titles[] = {"Rage", "Roadwork", "Thinner"};
  for (const char* title : titles) {
    Need(client.PutItem(
        {.table_name = "Books",
         .item = {
             {"Title", title}, {"AuthorName", author}, {"AuthorBirthYear", 1942}, {"Published", 1980}}}));
  }
  Need(ChangeBirthYear(client, author, 1947));
  Say("the books are found by the index (1 request) and changed in one transaction; then they are");
  const example::Answer books = Need(example::Ask(client, BooksOf(author)));
  example::ShowRequest(books);
  example::ShowItems(books.items);
  for (const char* title : titles) {
    Need(client.DeleteItem({.table_name = "Books", .key = {{"Title", title}}}));
  }
}

void ShowReservation(const Client& client) {
  example::ShowQuestion("Writing 3 and 4: an e-mail address belongs to one user");
  Need(AddUser(client, "EXAMPLE", "ANN", "ann@example.com"));
  const absl::Status status = AddUser(client, "EXAMPLE", "BEN", "ann@example.com");
  Say("the second user was refused: " + itemdb::ReasonOf(status));
  for (const auto& [pk, sk] :
       {std::pair("ORG#EXAMPLE", "USER#ANN"), std::pair("EMAIL#ann@example.com", "EMAIL#ann@example.com")}) {
    Need(client.DeleteItem({.table_name = "Organizations", .key = {{"PK", pk}, {"SK", sk}}}));
  }
}

}  // namespace

void ChangeManyCopies(const Client& client, int64_t copies) {
  if (copies < 1 || copies > kMaxCopies) {
    Need(absl::InvalidArgumentError("--copies must be 1 to " + std::to_string(kMaxCopies) +
                                    ": the books are changed in one transaction"));
  }
  const std::string author = "Generated Author";
  const auto title = [](int64_t copy) { return "Generated Book " + std::to_string(copy); };
  itemdb::BulkWriter books(client);
  for (int64_t copy = 0; copy < copies; ++copy) {
    Need(books.Put(
        "Books",
        {{"Title", title(copy)}, {"AuthorName", author}, {"AuthorBirthYear", 1942}, {"Published", 1980}}));
  }
  Need(books.Finish());
  const absl::Time start = absl::Now();
  Need(ChangeBirthYear(client, author, 1947));
  std::cout << copies << " books changed in one transaction: " << absl::Now() - start << "\n";
  itemdb::BulkWriter gone(client);
  for (int64_t copy = 0; copy < copies; ++copy) Need(gone.Delete("Books", {{"Title", title(copy)}}));
  Need(gone.Finish());
}

void ShowWrites(const Client& client) {
  ShowAddresses(client);
  ShowFanOut(client);
  ShowReservation(client);
}

}  // namespace one_to_many
