// What the strategies take when something is written.
#pragma once

#include <itemdb/client.h>

#include <cstdint>
#include <string>

namespace one_to_many {

// Strategy 1: sets one address. The condition fails for the 21st of a customer.
inline constexpr int kMaxAddresses = 20;
itemdb::UpdateItemRequest SetAddress(const std::string& customer_id, const std::string& name,
                                     itemdb::Item address);
itemdb::UpdateItemRequest RemoveAddress(const std::string& customer_id, const std::string& name);

// Strategy 2: the books of an author, and what is known of the author on all of them, all at once or not at
// all: up to 10,000 books (DynamoDB: 100).
itemdb::QueryRequest BooksOf(const std::string& author);
absl::Status ChangeBirthYear(const itemdb::Client& client, const std::string& author, int64_t year);

// Strategies 3 and 4: a user whose e-mail address nobody else has. ALREADY_EXISTS (VALUE_RESERVED) otherwise.
absl::Status AddUser(const itemdb::Client& client, const std::string& organization, const std::string& user,
                     const std::string& email);

// Strategy 2 at volume, up to kMaxCopies: prints how long it takes to change what is known of an author on
// `copies` books, which are deleted at the end.
inline constexpr int64_t kMaxCopies = 10'000;
void ChangeManyCopies(const itemdb::Client& client, int64_t copies);

// All of these on items of their own, which are deleted at the end.
void ShowWrites(const itemdb::Client& client);

}  // namespace one_to_many
