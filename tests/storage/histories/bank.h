// A bank of 100 accounts whose money only moves: its sum is the same in every committed state.
#pragma once

#include <random>
#include <string>

#include "storage/database.h"

namespace itemdb::testing {

inline constexpr int kAccounts = 100;
inline constexpr int kMoney = kAccounts * 50;

// Makes the table and all accounts.
absl::Status OpenBank(Database& database);

// Moves an amount between two accounts, or between three, in one transaction. Cancelled when an account does
// not have that much.
absl::StatusOr<wire::TransactWriteItemsReply> Transfer(Database& database, std::mt19937_64& random);

// Reads all accounts in each way that shows one state: TransactGetItems, BatchGetItem, one page of Scan, of
// Query, and of Query of the index by balance. What does not add up, in words; nothing when all does.
std::string CheckMoney(Database& database);

}  // namespace itemdb::testing
