// Unary methods that are one call of the database, without steps of their own.
#pragma once

#include "daemon/rpc/raw_call.h"

namespace itemdb::daemon {

// Base class of the services.
class DatabaseCalls {
 protected:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;
  using UnaryReactor = grpc::ServerUnaryReactor;
  using Database = storage::Database;

  DatabaseCalls(Database& database, ServingContext& serving) : database_(database), serving_(serving) {}

  // Serves a call by `operation`, whose types are those of request and reply. `method` is the full name of
  // the method, such as "itemdb.v1.Data/PutItem".
  template <typename Request, typename Reply>
  UnaryReactor* Serve(Context* context, std::string_view method, const Bytes* request, Bytes* reply,
                      void (Database::*operation)(Request, storage::Done<Reply>, storage::CancellationPtr)) {
    return ServeUnary<std::remove_cvref_t<Request>, Reply>(
        serving_, context, method, request, reply, [=, this](auto decoded, auto done, auto cancellation) {
          (database_.*operation)(std::move(decoded), std::move(done), std::move(cancellation));
        });
  }
  template <typename Request, typename Reply>
  UnaryReactor* Serve(Context* context, std::string_view method, const Bytes* request, Bytes* reply,
                      void (Database::*operation)(Request, storage::Done<Reply>)) {
    return ServeUnary<Request, Reply>(serving_, context, method, request, reply,
                                      [=, this](auto decoded, auto done, auto) {
                                        (database_.*operation)(std::move(decoded), std::move(done));
                                      });
  }
  template <typename Request, typename Reply>
  UnaryReactor* Serve(Context* context, std::string_view method, const Bytes* request, Bytes* reply,
                      absl::StatusOr<Reply> (Database::*operation)(const Request&)) {
    return ServeUnary<Request, Reply>(
        serving_, context, method, request, reply,
        [=, this](auto decoded, auto done, auto) { std::move(done)((database_.*operation)(decoded)); });
  }

  Database& database_;
  ServingContext& serving_;
};

}  // namespace itemdb::daemon
