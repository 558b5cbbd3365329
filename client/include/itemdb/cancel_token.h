// Cancelling calls.
//
//   CancelToken token;
//   client.QueryAsync(request, callback, {.cancel = token});
//   token.Cancel();  // From any thread: the callback gets CANCELLED, unless the reply came first.
#pragma once

#include <memory>

#include "itemdb/export.h"

namespace itemdb {
inline namespace client {

// Cancels every call that was given a copy of it, those under way and those to come. A read ends with
// CANCELLED (reason CANCELLED). A write ends with CANCELLED and the reason WRITE_OUTCOME_UNKNOWN when it had
// been sent, because cancelling does not undo; with reason CANCELLED when it had not.
//
// Copies are cheap and are the same token. Thread-safe.
class ITEMDB_EXPORT CancelToken {
 public:
  // Not cancelled yet.
  CancelToken();

  // Does not wait for the calls to end. Callbacks run as always, never inside Cancel. Again: no effect.
  void Cancel() const;
  bool cancelled() const;

 private:
  friend class Cancellation;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace client
}  // namespace itemdb
