// Makes clients over any transport.
#pragma once

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "client/timer.h"
#include "client/transport.h"
#include "itemdb/client.h"

namespace itemdb {
inline namespace client {

class ITEMDB_EXPORT ClientAccess {
 public:
  // `make_transport` is called once; the timer outlives the transport it returns. `options.endpoint` and what
  // else concerns the connection is for `make_transport` to use. INVALID_ARGUMENT: the timeout or the retry
  // options are of no use. Otherwise as `make_transport`.
  static absl::StatusOr<Client> Make(
      const ClientOptions& options,
      absl::FunctionRef<absl::StatusOr<std::unique_ptr<Transport>>(Timer&)> make_transport);

  static const std::shared_ptr<ClientCore>& CoreOf(const Client& client) { return client.core_; }
};

}  // namespace client
}  // namespace itemdb
