// An export whose files are not those of its manifests any more.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/files.h"

namespace itemdb::e2e {

// A CreateTable request: a table with the keys of Things.
inline constexpr char kCopyOfThings[] =
    R"({"TableName": "Copy", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
                               {"AttributeName": "sk", "AttributeType": "N"}],
      "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]})";

// Gives all items in the gzip files of `folder` another attribute.
inline void ChangeExportedItems(const std::string& folder) {
  const CommandResult changed = RunProgram(
      "/bin/sh",
      {"-ec",
       R"(for file in "$0"/*; do zcat "$file" | sed 's/{"Item":{/&"changed":{"BOOL":true},/' | gzip > "$0/../new"
          mv "$0/../new" "$file"; done)",
       folder});
  ASSERT_EQ(changed.exit_code, 0) << changed.err;
}

// ImportTable and a bulk put into Things of the changed files at `prefix` are refused, naming a file.
// `directory` is for a file.
inline void ExpectChangedExportIsRefused(
    const std::function<CommandResult(std::vector<std::string>)>& itemctl, const std::string& directory,
    const std::string& prefix) {
  const std::string table_file = directory + "/copy.json";
  testing::WriteFile(table_file, kCopyOfThings);
  for (const std::vector<std::string>& begin : {std::vector<std::string>{"import", "start", "-f", table_file},
                                                std::vector<std::string>{"bulk-put", "start", "Things"}}) {
    std::vector<std::string> arguments = begin;
    arguments.insert(arguments.end(), {"bucket", "--prefix", prefix, "--compression", "GZIP", "--wait"});
    const CommandResult refused = itemctl(arguments);
    EXPECT_NE(refused.exit_code, 0) << refused.out;
    EXPECT_THAT(refused.err, ::testing::HasSubstr("ManifestValidationError"));
    EXPECT_THAT(refused.err, ::testing::HasSubstr("the data file " + prefix));
    EXPECT_THAT(refused.err, ::testing::HasSubstr(" has another MD5 than manifest-files.json says"));
  }
  EXPECT_NE(itemctl({"table", "describe", "Copy"}).exit_code, 0);
}

}  // namespace itemdb::e2e
