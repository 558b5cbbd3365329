// A bank of 100 accounts. Money only moves between accounts, so every committed state has the same sum.
#pragma once

#include <random>
#include <string>

#include "storage/database.h"

namespace itemdb::testing {

inline constexpr int kAccounts = 100;
inline constexpr int kMoney = kAccounts * 50;

// Creates the table and all accounts.
absl::Status OpenBank(storage::Database& database);

// Moves an amount between two or three accounts in one transaction. Cancelled when an account has less money.
absl::StatusOr<wire::TransactWriteItemsReply> Transfer(storage::Database& database, std::mt19937_64& random);

// Reads all accounts with each operation that reads one state: TransactGetItems, BatchGetItem, one page of
// Scan, of Query, and of Query of the index by balance. Returns what is wrong; empty if nothing.
std::string CheckMoney(storage::Database& database);

}  // namespace itemdb::testing
