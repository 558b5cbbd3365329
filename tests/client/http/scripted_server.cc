#include "tests/client/http/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>

namespace itemdb {

std::string ExceptionBody(const std::string& name, const std::string& message,
                          const std::string& more_members) {
  return "{\"__type\":\"com.amazonaws.dynamodb.v20120810#" + name + "\",\"message\":\"" + message + "\"" +
         more_members + "}";
}

ScriptedServer::ScriptedServer(std::deque<ScriptedAnswer> answers) : answers_(std::move(answers)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), bytes) != 0 || listen(listener_, 64) != 0)
    abort();
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &bytes);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

void ScriptedServer::Stop() {
  if (stops_.exchange(true)) return;
  shutdown(listener_, SHUT_RDWR);
  if (const int open = open_; open >= 0) shutdown(open, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

ScriptedServer::~ScriptedServer() { Stop(); }

std::string ScriptedServer::endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }

std::vector<std::string> ScriptedServer::requests() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

void ScriptedServer::Serve() {
  while (!stops_) {
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    ++connections_;
    open_ = connection;
    std::string received;
    while (!stops_ && AnswerOne(connection, &received)) {
    }
    open_ = -1;
    close(connection);
  }
}

bool ScriptedServer::AnswerOne(int connection, std::string* received) {
  char buffer[16'384];
  size_t whole = 0;
  while (true) {
    const size_t head = received->find("\r\n\r\n");
    if (head != std::string::npos) {
      const size_t length = received->find("Content-Length: ");
      whole = head + 4 + static_cast<size_t>(std::atoll(received->c_str() + length + 16));
      if (received->size() >= whole) break;
    }
    const ssize_t bytes = recv(connection, buffer, sizeof(buffer), 0);
    if (bytes <= 0) return false;
    received->append(buffer, static_cast<size_t>(bytes));
  }
  ScriptedAnswer answer{.http_status = 500,
                        .body = ExceptionBody("InternalServerError", "the script is at its end")};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(received->substr(0, whole));
    if (!answers_.empty()) {
      answer = answers_.front();
      answers_.pop_front();
    }
  }
  received->erase(0, whole);
  if (answer.hangs) {
    while (recv(connection, buffer, sizeof(buffer), 0) > 0) {
    }
    return false;
  }
  if (answer.http_status == 0) return false;
  std::string reply =
      "HTTP/1.1 " + std::to_string(answer.http_status) + " X\r\nContent-Type: application/x-amz-json-1.0\r\n";
  if (answer.with_checksum) {
    reply +=
        "x-amz-crc32: " +
        std::to_string(crc32_z(0, reinterpret_cast<const Bytef*>(answer.body.data()), answer.body.size())) +
        "\r\n";
  }
  reply +=
      answer.headers + "Content-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n" + answer.body;
  if (send(connection, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return false;
  if (answer.twice) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (send(connection, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return false;
  }
  return !answer.closes_after;
}

}  // namespace itemdb
