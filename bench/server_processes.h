// Starts itemd and the echo servers as processes.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>
#include <vector>

#include "storage/base/status.h"
#include "tests/processes/child_process.h"

namespace itemdb::bench {

// Converts the status of a call.
absl::Status ToStatus(const grpc::Status& status);

// Ends a server by SIGTERM; by SIGKILL if it takes longer than 20 s.
struct StopServer {
  void operator()(e2e::ChildProcess* process) const;
};
using OwnedProcess = std::unique_ptr<e2e::ChildProcess, StopServer>;

struct ServerProcess {
  OwnedProcess process;
  // Not connected yet. Does not share its connection with other channels.
  std::shared_ptr<grpc::Channel> channel;
  // "127.0.0.1:7420" or "unix:/PATH".
  std::string address = {};
};

// Starts itemd on `directory`, which may be empty or missing, and returns once it serves. The address file is
// `directory`.address; the socket, if `unix_socket` is true, is `directory`.sock.
absl::StatusOr<ServerProcess> StartItemdProcess(const std::string& directory, bool durable, bool unix_socket);
// The same, durable, on a port of 127.0.0.1, with more arguments.
absl::StatusOr<ServerProcess> StartItemdWith(const std::string& directory,
                                             const std::vector<std::string>& arguments);
// Starts `itemd dev`, which keeps its data in memory; it uses `directory` only for these two names.
absl::StatusOr<ServerProcess> StartItemdDevProcess(const std::string& directory, bool unix_socket);
// The same for the echo server. It uses `directory` only for these two names.
absl::StatusOr<ServerProcess> StartEchoProcess(const std::string& directory, bool unix_socket);

struct HttpServerProcess {
  OwnedProcess process;
  // "127.0.0.1:8001".
  std::string address;
};

// The same two servers over HTTP, on a port of 127.0.0.1. The echo server answers every request with
// `reply_bytes` bytes.
absl::StatusOr<HttpServerProcess> StartItemdHttpProcess(const std::string& directory, bool durable);
absl::StatusOr<HttpServerProcess> StartHttpEchoProcess(const std::string& directory, size_t reply_bytes);

}  // namespace itemdb::bench
