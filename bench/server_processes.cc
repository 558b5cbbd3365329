#include "bench/server_processes.h"

#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace itemdb::bench {
namespace {

std::string ListenAddress(const std::string& directory, bool unix_socket) {
  return unix_socket ? "unix:" + directory + ".sock" : "127.0.0.1:0";
}

// Starts `program`, a file name in the directory of this program.
absl::StatusOr<OwnedProcess> Start(const std::string& program, const std::vector<std::string>& arguments) {
  const std::string path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
  if (access(path.c_str(), X_OK) != 0) {
    return absl::UnavailableError("cannot run " + path + ": " + std::strerror(errno) + "; build the target " +
                                  program);
  }
  return OwnedProcess(new e2e::ChildProcess(path, arguments, {.in = 0, .out = 1, .err = 2}));
}

absl::StatusOr<ServerProcess> StartGrpc(const std::string& program, const std::vector<std::string>& arguments,
                                        const std::string& address_file) {
  ServerProcess server;
  ITEMDB_ASSIGN_OR_RETURN(server.process, Start(program, arguments));
  ITEMDB_ASSIGN_OR_RETURN(auto addresses, server.process->AwaitAddresses(address_file));
  grpc::ChannelArguments channel_arguments;
  channel_arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  server.address = addresses.grpc.at(0);
  server.channel =
      grpc::CreateCustomChannel(server.address, grpc::InsecureChannelCredentials(), channel_arguments);
  return server;
}

absl::StatusOr<HttpServerProcess> StartHttp(const std::string& program,
                                            const std::vector<std::string>& arguments,
                                            const std::string& address_file) {
  HttpServerProcess server;
  ITEMDB_ASSIGN_OR_RETURN(server.process, Start(program, arguments));
  ITEMDB_ASSIGN_OR_RETURN(auto addresses, server.process->AwaitAddresses(address_file));
  server.address = addresses.http.at(0);
  return server;
}

}  // namespace

void StopServer::operator()(e2e::ChildProcess* process) const {
  constexpr int kStopPatienceMs = 20'000;
  process->Signal(SIGTERM);
  process->Wait(kStopPatienceMs);
  delete process;
}

absl::Status ToStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

absl::StatusOr<ServerProcess> StartItemdProcess(const std::string& directory, bool durable,
                                                bool unix_socket) {
  std::string address_file = directory + ".address";
  return StartGrpc(
      "itemd",
      {"--data-dir", directory, "--listen", ListenAddress(directory, unix_socket), "--address-file",
       address_file, "--durability", durable ? "durable" : "relaxed", "--log-level", "warn"},
      address_file);
}

absl::StatusOr<ServerProcess> StartItemdWith(const std::string& directory,
                                             const std::vector<std::string>& arguments) {
  const std::string address_file = directory + ".address";
  std::vector<std::string> all = {
      "--data-dir",     directory,    "--listen",    ListenAddress(directory, false),
      "--address-file", address_file, "--log-level", "error"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return StartGrpc("itemd", all, address_file);
}

absl::StatusOr<ServerProcess> StartItemdDevProcess(const std::string& directory, bool unix_socket) {
  const std::string address_file = directory + ".address";
  return StartGrpc("itemd",
                   {"dev", "--listen", ListenAddress(directory, unix_socket), "--http-listen", "127.0.0.1:0",
                    "--address-file", address_file, "--log-level", "warn"},
                   address_file);
}

absl::StatusOr<ServerProcess> StartEchoProcess(const std::string& directory, bool unix_socket) {
  std::string address_file = directory + ".address";
  return StartGrpc(
      "itembench",
      {"echo-server", "--listen", ListenAddress(directory, unix_socket), "--address-file", address_file},
      address_file);
}

absl::StatusOr<HttpServerProcess> StartItemdHttpProcess(const std::string& directory, bool durable) {
  std::string address_file = directory + ".address";
  return StartHttp(
      "itemd",
      {"--data-dir", directory, "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--address-file",
       address_file, "--durability", durable ? "durable" : "relaxed", "--log-level", "warn"},
      address_file);
}

absl::StatusOr<HttpServerProcess> StartHttpEchoProcess(const std::string& directory, size_t reply_bytes) {
  std::string address_file = directory + ".address";
  return StartHttp(
      "itembench",
      {"http-echo-server", "--address-file", address_file, "--reply-bytes", std::to_string(reply_bytes)},
      address_file);
}

}  // namespace itemdb::bench
