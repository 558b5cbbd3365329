// Reading all pages of a query or scan over several runs of a program: an export, a migration, a cleanup.
//
//   absl::StatusOr<ResumableRead> read =
//       ResumableRead::Open(client, ScanRequest{.table_name = "Order"}, saved);
//   if (!read.ok()) return read.status();
//   while (!read->done()) {
//     absl::StatusOr<ItemPage> page = read->NextPage();
//     if (!page.ok()) return page.status();
//     Process(page->items);
//     Save(read->position());
//   }
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "itemdb/export.h"
#include "itemdb/options.h"
#include "itemdb/requests.h"

namespace itemdb {

// Returns every item that exists during the whole read. If the program ends before it saves the position
// after a page, the next run returns the items of that page again. For one thread at a time.
class ITEMDB_EXPORT ResumableRead {
 public:
  // `position` comes from an earlier run with the same request; empty starts a new read. Does not block.
  // INVALID_ARGUMENT: `position` is not from a read of this table and index.
  static absl::StatusOr<ResumableRead> Open(const Client& client, QueryRequest request,
                                            std::string_view position = "", CallOptions options = {});
  static absl::StatusOr<ResumableRead> Open(const Client& client, ScanRequest request,
                                            std::string_view position = "", CallOptions options = {});

  // The next page. Blocks. After an error a further call requests the same page again. OUT_OF_RANGE: done().
  absl::StatusOr<ItemPage> NextPage();

  // True when no page is left.
  bool done() const { return done_; }
  // The position after the last returned page, as text; save it after processing the page. A position saved
  // when done() is true opens a read that is done.
  std::string position() const;

 private:
  ResumableRead(const Client& client, CallOptions options) : client_(client), options_(std::move(options)) {}
  template <typename Request>
  static absl::StatusOr<ResumableRead> OpenAny(const Client& client, Request request,
                                               std::string_view position, CallOptions options);

  Client client_;
  CallOptions options_;
  std::variant<QueryRequest, ScanRequest> request_;
  bool done_ = false;
};

}  // namespace itemdb
