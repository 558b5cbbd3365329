// Makes clients over any transport.
#pragma once

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "client/timer.h"
#include "client/transport.h"
#include "itemdb/client.h"

namespace itemdb {

class ITEMDB_EXPORT ClientAccess {
 public:
  // Calls `make_transport` once; the timer outlives the transport that it returns. `make_transport` itself
  // uses `options.endpoint` and the other options of the connection. INVALID_ARGUMENT: the timeout or the
  // retry options are out of their bounds. Also the errors of `make_transport`.
  static absl::StatusOr<Client> Make(
      const ClientOptions& options,
      absl::FunctionRef<absl::StatusOr<std::unique_ptr<Transport>>(Timer&)> make_transport);

  static const std::shared_ptr<ClientCore>& CoreOf(const Client& client) { return client.core_; }
};

}  // namespace itemdb
