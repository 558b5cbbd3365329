// The daemon never inflates a compressed request: a small one could need all memory.
#include <sys/resource.h>

#include "tests/daemon/server_fixture.h"

namespace itemdb::daemon {
namespace {

long HighestResidentKiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class CompressionTest : public ServerTest {};

TEST_F(CompressionTest, IsRefusedAndNotInflated) {
  ASSERT_TRUE(CreateTable("orders").ok());
  v1::PutItemRequest request;
  request.set_table_name("orders");
  *request.mutable_item() = Key("a", "b");
  AddString(request.mutable_item(), "text", std::string(16 << 20, 'x'));  // About 16 KiB when compressed.
  const long before = HighestResidentKiB();
  for (grpc_compression_algorithm algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    v1::PutItemReply reply;
    grpc::Status status = data_->PutItem(&context, request, &reply);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
  }
  // The client in this process needs the message and its compressed form. The server needs no memory of that
  // size.
  EXPECT_LT(HighestResidentKiB() - before, 60 << 10);
}

}  // namespace
}  // namespace itemdb::daemon
