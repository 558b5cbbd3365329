// AccessTest: a server in this process with a key file. Tests may call any method with any bytes.
#pragma once

#include <grpcpp/completion_queue.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "tests/daemon/server_fixture.h"

namespace itemdb::daemon {

// The value of the metadata `authorization`.
inline std::string Basic(const std::string& id, const std::string& secret) {
  return "Basic " + absl::Base64Escape(id + ":" + secret);
}

inline std::string KeyText(const std::string& id, const std::string& secret, const std::string& role) {
  return "[[key]]\nid = \"" + id + "\"\nsecret = \"" + secret + "\"\nrole = \"" + role + "\"\n";
}

class AccessTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    ASSERT_TRUE(CreateTable("Things").ok());
    WriteKeys(KeyText("READER", kSecret, "read") + KeyText("WRITER", kSecret, "write") +
              KeyText("ADMIN", kSecret, "admin"));
    StartWithKeys();
  }

  // Starts a server with the keys of the file.
  void StartWithKeys() {
    server_.reset();
    ServerOptions options = OptionsFor("127.0.0.1:0");
    options.access_keys = key_file_;
    options.reload_interval = absl::Milliseconds(20);
    options.log = std::make_shared<spdlog::logger>("test", logged_);
    auto server = Server::Start(*database_, std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = Connect(server_->addresses()[0]);
  }

  // Replaces the file atomically, as `mv` does.
  void WriteKeys(const std::string& text) {
    const std::string made = key_file_ + ".new";
    std::ofstream(made) << text;
    chmod(made.c_str(), 0600);
    rename(made.c_str(), key_file_.c_str());
  }

  bool AwaitLog(const std::string& text) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (std::chrono::steady_clock::now() < give_up) {
      if (Logged().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  std::string Logged() const {
    std::string all;
    for (const std::string& line : logged_->last_formatted()) all += line;
    return all;
  }

  // Calls any method with one message. Appends all reply messages to `replies`.
  grpc::Status CallMethod(std::string_view method, const std::vector<std::string>& authorization,
                          std::string_view request = "", std::string* replies = nullptr,
                          std::chrono::seconds timeout = std::chrono::minutes(5)) {
    grpc::CompletionQueue queue;
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    for (const std::string& value : authorization) context.AddMetadata("authorization", value);
    const auto done = [&queue] {
      void* tag;
      bool ok = false;
      EXPECT_TRUE(queue.Next(&tag, &ok));
      return ok;
    };
    auto call = stub.PrepareCall(&context, "/" + std::string(method), &queue);
    call->StartCall(nullptr);
    done();
    const grpc::Slice slice(request.data(), request.size());
    call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
    done();
    while (true) {
      grpc::ByteBuffer reply;
      call->Read(&reply, nullptr);
      if (!done()) break;
      grpc::Slice bytes;
      if (replies != nullptr && reply.DumpToSingleSlice(&bytes).ok())
        replies->append(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
    }
    grpc::Status status;
    call->Finish(&status, nullptr);
    done();
    return status;
  }

  static constexpr char kSecret[] = "a secret with: a colon";
  const std::string key_file_ = directory_.path() + "/keys.toml";
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> logged_ =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
};

}  // namespace itemdb::daemon
