// Cancelling calls.
//
//   CancelToken token;
//   client.QueryAsync(request, callback, {.cancel = token});
//   token.Cancel();  // From any thread: the callback gets CANCELLED, unless the reply came first.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <memory>

#include "itemdb/export.h"

namespace itemdb {

// Cancels every call that was given a copy of this token: calls under way and later ones. A read ends with
// CANCELLED (reason CANCELLED). A write that was already sent ends with CANCELLED and reason
// WRITE_OUTCOME_UNKNOWN, because the daemon may have applied it; an unsent write has reason CANCELLED.
//
// All copies are the same token and cheap. Thread-safe.
class ITEMDB_EXPORT CancelToken {
 public:
  // Not cancelled yet.
  CancelToken();

  // Does not wait for the calls to end, and runs no callback itself. A second call has no effect.
  void Cancel() const;
  bool cancelled() const;

 private:
  friend class CancelCallback;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace itemdb
