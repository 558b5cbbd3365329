// Reading all pages of a query or scan over several runs of a program: an export, a migration, a sweep.
//
//   absl::StatusOr<ResumableRead> read = ResumableRead::Open(client, ScanRequest{.table_name = "Order"},
//   saved); if (!read.ok()) return read.status(); while (!read->done()) {
//     absl::StatusOr<ItemPage> page = read->NextPage();
//     if (!page.ok()) return page.status();
//     Process(page->items);
//     Save(read->position());
//   }
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "itemdb/export.h"
#include "itemdb/options.h"
#include "itemdb/requests.h"

namespace itemdb {
inline namespace client {

// Every item that is there all the while is seen; those of a page that was being processed when the program
// ended are seen again. To be used by one thread at a time.
class ITEMDB_EXPORT ResumableRead {
 public:
  // `position` is that of an earlier run with the same request, or empty for a new start. Does not block.
  // INVALID_ARGUMENT: it is not a position of a read of this table and index.
  static absl::StatusOr<ResumableRead> Open(const Client& client, QueryRequest request,
                                            std::string_view position = "", CallOptions options = {});
  static absl::StatusOr<ResumableRead> Open(const Client& client, ScanRequest request,
                                            std::string_view position = "", CallOptions options = {});

  // The next page. Blocks. After an error the same page may be asked for again. OUT_OF_RANGE: done().
  absl::StatusOr<ItemPage> NextPage();

  // No page is left.
  bool done() const { return done_; }
  // After the pages given out so far, as text: to be saved when they are processed. Of a read that is done it
  // opens one that is done.
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

}  // namespace client
}  // namespace itemdb
