// The table that a PartiQL statement is about, for access control.
#pragma once

#include <string>

namespace itemdb::storage {

struct StatementTarget {
  // As the statement has it: a table name or an ARN.
  std::string table_name;
  // The statement may change the table. False for SELECT, and for EXISTS, which is a condition on an item.
  bool writes = true;
};

}  // namespace itemdb::storage
