// Clients that break the protocols beside the load: bytes that are no request, requests that never end,
// answers that are never read, connections that are reset.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "daemon/process/descriptor.h"
#include "tests/processes/slow_peers.h"
#include "tests/torture/faults.h"

namespace itemdb::torture {
namespace {

using daemon::Descriptor;

uint16_t PortOf(const std::string& endpoint) {
  return static_cast<uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
}

// Without a connection when the daemon refuses it.
Descriptor Connect(uint16_t port) {
  Descriptor connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  (void)connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address));
  return connection;
}

// Errors do not matter: the daemon may close such a connection at any time.
void Send(const Descriptor& connection, const std::string& bytes) {
  (void)send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::string Noise(Session& session) {
  std::string bytes(static_cast<size_t>(session.Pick(1, 20'000)), '\0');
  for (char& byte : bytes) byte = static_cast<char>(session.random()());
  return bytes;
}

std::string HttpRequest(const std::string& operation, const std::string& body) {
  return "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810." + operation +
         "\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string RudeBytes(Session& session) {
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::string put = HttpRequest("PutItem", R"({"TableName":"Ledger","Item":{"owner":{"S":"r")");
  switch (session.Pick(0, 4)) {
    case 0:
      return Noise(session);
    case 1:
      return preface + Noise(session);
    case 2:
      // A part of a request.
      return put.substr(0, static_cast<size_t>(session.Pick(1, static_cast<int64_t>(put.size()) - 1)));
    case 3:
      // A body that is no JSON.
      return put;
    default: {
      // Answers that are never read.
      std::string requests;
      for (int i = 0; i < 40; ++i) requests += HttpRequest("Scan", R"({"TableName":"Ledger"})");
      return requests;
    }
  }
}

}  // namespace

void RudeClients(Session& session, Episode&) {
  const uint16_t ports[] = {PortOf(session.daemon().endpoint()), PortOf(session.daemon().http_endpoint())};
  const e2e::SlowPeers slow(ports[0], static_cast<int>(session.Pick(3, 40)));
  std::vector<Descriptor> open;
  const int64_t count = session.Pick(10, 60);
  for (int64_t i = 0; i < count; ++i) {
    Descriptor connection = Connect(ports[session.Pick(0, 1)]);
    Send(connection, RudeBytes(session));
    if (session.Chance(30)) {
      const linger reset = {.l_onoff = 1, .l_linger = 0};
      setsockopt(connection.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    } else {
      open.push_back(std::move(connection));
    }
    SleepMs(session.Pick(0, 5));
  }
  session.Count("rude_connection", count);
}

}  // namespace itemdb::torture
