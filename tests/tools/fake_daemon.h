// A daemon whose answers a test defines, on a loopback port that the kernel chooses.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "itemdb/v1/admin.grpc.pb.h"
#include "itemdb/v1/changes.grpc.pb.h"
#include "itemdb/v1/data.grpc.pb.h"
#include "itemdb/v1/tables.grpc.pb.h"

namespace itemdb::tools {

// An error status as the real daemon sends it.
grpc::Status Refusal(grpc::StatusCode code, std::string_view reason, const std::string& message);

// Serves until destroyed. Set the handlers before making calls; a call without a handler gets UNIMPLEMENTED.
class FakeDaemon {
 public:
  template <typename Request, typename Reply>
  using Handler = std::function<grpc::Status(const Request&, Reply*)>;

  FakeDaemon();
  ~FakeDaemon();

  const std::string& endpoint() const { return endpoint_; }

  Handler<v1::CreateTableRequest, v1::CreateTableReply> create_table;
  Handler<v1::DescribeTableRequest, v1::DescribeTableReply> describe_table;
  Handler<v1::UpdateTableRequest, v1::UpdateTableReply> update_table;
  Handler<v1::UpdateTimeToLiveRequest, v1::UpdateTimeToLiveReply> update_time_to_live;
  Handler<v1::DescribeTimeToLiveRequest, v1::DescribeTimeToLiveReply> describe_time_to_live;
  Handler<v1::ListTablesRequest, v1::ListTablesReply> list_tables;
  Handler<v1::PutItemRequest, v1::PutItemReply> put_item;
  Handler<v1::GetItemRequest, v1::GetItemReply> get_item;
  Handler<v1::UpdateItemRequest, v1::UpdateItemReply> update_item;
  Handler<v1::TransactWriteItemsRequest, v1::TransactWriteItemsReply> transact_write_items;
  Handler<v1::QueryRequest, v1::QueryReply> query;
  Handler<v1::ScanRequest, v1::ScanReply> scan;
  Handler<v1::GetStatusRequest, v1::GetStatusReply> get_status;
  Handler<v1::CheckDatabaseRequest, v1::CheckDatabaseReply> check_database;
  Handler<v1::GetAccessPatternsRequest, v1::GetAccessPatternsReply> get_access_patterns;
  Handler<v1::ReadChangesRequest, v1::ReadChangesReply> read_changes;

 private:
  class Services;
  std::unique_ptr<Services> services_;
  std::unique_ptr<grpc::Server> server_;
  std::string endpoint_;
};

}  // namespace itemdb::tools
