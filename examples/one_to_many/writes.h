// The writes that each strategy needs.
#pragma once

#include <itemdb/client.h>

#include <cstdint>
#include <string>

namespace one_to_many {

// Strategy 1: sets one address. The condition is false for a customer's 21st address.
inline constexpr int kMaxAddresses = 20;
itemdb::UpdateItemRequest SetAddress(const std::string& customer_id, const std::string& name,
                                     itemdb::Item address);
itemdb::UpdateItemRequest RemoveAddress(const std::string& customer_id, const std::string& name);

// Strategy 2: the books of an author, and a change of the author's data on all of them in one transaction,
// for up to 10,000 books (DynamoDB: 100).
itemdb::QueryRequest BooksOf(const std::string& author);
absl::Status ChangeBirthYear(const itemdb::Client& client, const std::string& author, int64_t year);

// Strategies 3 and 4: adds a user. ALREADY_EXISTS (VALUE_RESERVED): another user has the e-mail address.
absl::Status AddUser(const itemdb::Client& client, const std::string& organization, const std::string& user,
                     const std::string& email);

// Strategy 2 with many items, up to kMaxCopies: prints how long it takes to change the author's data on
// `copies` books. Deletes the books at the end.
inline constexpr int64_t kMaxCopies = 10'000;
void ChangeManyCopies(const itemdb::Client& client, int64_t copies);

// Runs all of these on separate items, and deletes these items at the end.
void ShowWrites(const itemdb::Client& client);

}  // namespace one_to_many
