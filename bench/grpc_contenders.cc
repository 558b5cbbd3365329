// Servers in processes of their own, with many calls in flight on one connection. Requests are encoded before
// the run and replies are only checked, so the calling side costs little, and the same for itemd and echo.

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <signal.h>

#include "bench/contender.h"
#include "bench/server_processes.h"
#include "itemdb/v1/data.pb.h"
#include "itemdb/v1/tables.grpc.pb.h"

namespace itemdb::bench {
namespace {

// A reply that contains an order is at least this long.
constexpr size_t kOrderReplyBytes = 200;

class GrpcContender : public Contender {
 public:
  GrpcContender(const ContenderSetup& setup, ServerProcess server)
      : setup_(setup),
        method_(setup.operation == Operation::kPut ? "/itemdb.v1.Data/PutItem" : "/itemdb.v1.Data/GetItem"),
        server_(std::move(server)),
        stub_(server_.channel) {}

  void Begin(Load& load) override {
    load_ = &load;
    calls_.clear();
    for (int caller = 0; caller < load.callers(); ++caller) calls_.push_back(std::make_unique<Call>());
    for (int caller = 0; caller < load.callers(); ++caller) StartNext(caller);
  }

  nanoseconds ServerCpu() const override { return server_.process->CpuTime(); }
  bool InProcess() const override { return false; }
  void GiveUp() override { server_.process->Signal(SIGKILL); }

 protected:
  const std::shared_ptr<grpc::Channel>& channel() const { return server_.channel; }

 private:
  struct Call {
    std::optional<grpc::ClientContext> context;
    grpc::ByteBuffer request;
    grpc::ByteBuffer reply;
    Clock::time_point begin;
  };

  void StartNext(int caller) {
    std::optional<uint64_t> operation = load_->Next();
    if (!operation.has_value()) return;
    Call& call = *calls_[caller];
    call.context.emplace();
    grpc::Slice request(setup_.requests->request(*operation));
    call.request = grpc::ByteBuffer(&request, 1);
    call.begin = Clock::now();
    stub_.UnaryCall(&*call.context, method_, grpc::StubOptions(), &call.request, &call.reply,
                    [this, caller](grpc::Status status) { OnReply(caller, status); });
  }

  void OnReply(int caller, const grpc::Status& status) {
    Call& call = *calls_[caller];
    load_->Finish(caller, call.begin, status.ok() ? CheckReply(call.reply) : ToStatus(status));
    StartNext(caller);
  }

  absl::Status CheckReply(grpc::ByteBuffer& reply) const {
    if (setup_.operation == Operation::kGet) {
      return reply.Length() >= kOrderReplyBytes ? absl::OkStatus()
                                                : absl::DataLossError("an order is missing");
    }
    grpc::Slice bytes;
    v1::PutItemReply put;
    if (!reply.DumpToSingleSlice(&bytes).ok() ||
        !put.ParseFromArray(bytes.begin(), static_cast<int>(bytes.size())) || !put.has_result()) {
      return absl::InternalError("the reply to a put says nothing of a result");
    }
    return absl::OkStatus();
  }

  const ContenderSetup setup_;
  const std::string method_;
  ServerProcess server_;
  grpc::GenericStub stub_;
  Load* load_ = nullptr;
  std::vector<std::unique_ptr<Call>> calls_;
};

class ItemdContender : public GrpcContender {
 public:
  using GrpcContender::GrpcContender;

  absl::Status CheckOrders(uint64_t orders) override {
    v1::DescribeTableRequest request;
    request.set_table_name(kOrderTable);
    v1::DescribeTableReply reply;
    grpc::ClientContext context;
    grpc::Status status = v1::Tables::NewStub(channel())->DescribeTable(&context, request, &reply);
    return status.ok() ? CheckOrderCount(reply, orders) : ToStatus(status);
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Contender>> StartItemd(const ContenderSetup& setup) {
  ITEMDB_ASSIGN_OR_RETURN(ServerProcess server,
                          StartItemdProcess(setup.directory, setup.durable, setup.unix_socket));
  return std::make_unique<ItemdContender>(setup, std::move(server));
}

absl::StatusOr<std::unique_ptr<Contender>> StartEcho(const ContenderSetup& setup) {
  ITEMDB_ASSIGN_OR_RETURN(ServerProcess server, StartEchoProcess(setup.directory, setup.unix_socket));
  return std::make_unique<GrpcContender>(setup, std::move(server));
}

}  // namespace itemdb::bench
