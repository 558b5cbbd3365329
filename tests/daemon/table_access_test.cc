// Keys with roles for some tables, over gRPC (ERR-17). The requests are made from the descriptors of all
// methods, so that a new method or a new field is tested or makes a test fail.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/access/authorizer.h"
#include "daemon/access/request_tables.h"
#include "tests/daemon/access_fixture.h"

namespace itemdb::daemon {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using ::testing::HasSubstr;
using ::testing::Not;

// From a request message to a field that names a table.
using FieldPath = std::vector<const FieldDescriptor*>;

bool NamesTable(const FieldDescriptor& field) {
  return field.name() == "table_name" || field.name() == "source_table_name" ||
         field.name() == "source_table_arn" || field.name() == "statement" || field.name() == "backup_arn" ||
         field.name() == "table_arn" || field.name() == "export_arn" || field.name() == "import_arn" ||
         field.name() == "bulk_operation_arn";
}

void AddPaths(const Descriptor& message, const FieldPath& to_message, std::vector<FieldPath>* paths) {
  for (int i = 0; i < message.field_count(); ++i) {
    FieldPath path = to_message;
    path.push_back(message.field(i));
    if (NamesTable(*message.field(i))) paths->push_back(path);
    // Items and values may contain themselves, and have no table.
    const Descriptor* inside = message.field(i)->message_type();
    if (inside != nullptr && inside->full_name() != "itemdb.v1.AttributeValue" && path.size() < 8)
      AddPaths(*inside, path, paths);
  }
}

const google::protobuf::MethodDescriptor* MethodOf(std::string_view method) {
  std::string name(method);
  name[name.find('/')] = '.';
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
}

// A backup that need not exist.
std::string BackupArnFor(const std::string& table) {
  return absl::StrCat("arn:aws:dynamodb:local:000000000000:table/",
                      std::string(storage::Database::TableNameOf(table)), "/backup/01700000000000-0123abcd");
}

// An export that need not exist.
std::string ExportArnFor(const std::string& table) {
  return absl::StrReplaceAll(BackupArnFor(table), {{"/backup/", "/export/"}});
}

std::string ImportArnFor(const std::string& table) {
  return absl::StrCat("arn:aws:dynamodb:local:000000000000:table/",
                      std::string(storage::Database::TableNameOf(table)), "/import/01700000000000-0123abcd");
}

std::string BulkOperationArnFor(const std::string& table) {
  return absl::StrReplaceAll(BackupArnFor(table), {{"/backup/", "/bulk-operation/"}});
}

// Adds to `request` a table at the end of `path`; a repeated field gets one more element. A table is restored
// under its own name.
void AddTable(Message* request, const FieldPath& path, const std::string& table) {
  Message* message = request;
  for (const FieldDescriptor* field : path) {
    const google::protobuf::Reflection& reflection = *message->GetReflection();
    if (field->message_type() != nullptr) {
      message = field->is_repeated() ? reflection.AddMessage(message, field)
                                     : reflection.MutableMessage(message, field);
    } else {
      if (const FieldDescriptor* target = message->GetDescriptor()->FindFieldByName("target_table_name"))
        reflection.SetString(message, target, table);
      reflection.SetString(message, field,
                           field->name() == "backup_arn"           ? BackupArnFor(table)
                           : field->name() == "export_arn"         ? ExportArnFor(table)
                           : field->name() == "import_arn"         ? ImportArnFor(table)
                           : field->name() == "bulk_operation_arn" ? BulkOperationArnFor(table)
                           : field->name() == "statement"
                               ? absl::StrCat("SELECT * FROM \"", table, "\" WHERE pk = 'p' AND sk = '1'")
                               : table);
    }
  }
}

// All fields of requests that could name a table, by their names. A new one needs AddTables() to read it, or
// a reason why it names no table.
TEST(RequestTables, AreInFieldsThatAreKnown) {
  std::set<std::string> found;
  std::set<const Descriptor*> seen;
  std::function<void(const Descriptor&)> visit = [&](const Descriptor& message) {
    if (!seen.insert(&message).second) return;
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      if (field.message_type() != nullptr) visit(*field.message_type());
      const std::string& name = field.name();
      for (const char* part :
           {"table", "arn", "statement", "stream", "iterator", "storage_id", "resource", "source"}) {
        if ((field.type() == FieldDescriptor::TYPE_STRING || field.type() == FieldDescriptor::TYPE_UINT64) &&
            name.find(part) != std::string::npos)
          found.insert(absl::StrCat(message.name(), ".", name));
      }
    }
  };
  for (const MethodRole& row : MethodRoles()) {
    if (row.method.starts_with("grpc.")) continue;
    ASSERT_NE(MethodOf(row.method), nullptr) << row.method;
    visit(*MethodOf(row.method)->input_type());
  }
  EXPECT_EQ(
      found,
      (std::set<std::string>{
          "BatchStatement.statement", "CheckDatabaseRequest.table_name", "ConditionCheck.table_name",
          "CreateBackupRequest.table_name", "DeleteBackupRequest.backup_arn",
          "DescribeBackupRequest.backup_arn", "DescribeContinuousBackupsRequest.table_name",
          "DescribeExportRequest.export_arn", "ExportTableToPointInTimeRequest.table_arn",
          // ListExports leaves out the exports of other tables.
          "ListExportsRequest.table_arn",
          // ListBackups leaves out the backups of other tables.
          "ListBackupsRequest.exclusive_start_backup_arn", "ListBackupsRequest.table_name",
          // ListImports leaves out the imports of other tables.
          "DescribeImportRequest.import_arn", "ListImportsRequest.table_arn",
          "CancelBulkOperationRequest.bulk_operation_arn", "DescribeBulkOperationRequest.bulk_operation_arn",
          "StartBulkPutItemsRequest.table_name", "RestoreTableFromBackupRequest.backup_arn",
          "RestoreTableFromBackupRequest.target_table_name",
          "RestoreTableToPointInTimeRequest.source_table_arn",
          "RestoreTableToPointInTimeRequest.source_table_name",
          "RestoreTableToPointInTimeRequest.target_table_name", "UpdateContinuousBackupsRequest.table_name",
          "CreateTableRequest.table_name", "DeleteItemRequest.table_name", "DeleteTableRequest.table_name",
          "DescribeTableRequest.table_name", "DescribeTimeToLiveRequest.table_name",
          "DiscardDamagedItemRequest.table_name", "ExecuteStatementRequest.statement",
          "GetAccessPatternsRequest.table_name", "GetItemRequest.table_name", "GetTopKeysRequest.table_name",
          "DescribeContributorInsightsRequest.table_name", "UpdateContributorInsightsRequest.table_name",
          // The names in a token are where a page begins: names before it are left out.
          "ListContributorInsightsRequest.table_name", "KeysAndAttributes.table_name",
          // Where ListTables begins: names before it are left out.
          "ListTablesRequest.exclusive_start_table_name", "PutItemRequest.table_name",
          "QueryRequest.table_name", "ScanRequest.table_name", "SearchVectorsRequest.table_name",
          "TableWriteRequests.table_name", "TagTableRequest.table_name", "TransactDelete.table_name",
          "TransactGet.table_name", "TransactPut.table_name", "TransactStatement.statement",
          "TransactUpdate.table_name", "UndoChangesRequest.table_name", "UntagTableRequest.table_name",
          "UpdateItemRequest.table_name", "UpdateTableRequest.table_name",
          "UpdateTimeToLiveRequest.table_name", "WatchRequest.table_name",
          // ChangeStream::JudgedRequest() compares it with the name.
          "WatchRequest.table_storage_id"}));
}

std::string GrantText(const std::string& names, const std::string& role, bool streams = false) {
  return absl::StrCat("[[key.tables]]\nnames = [", names, "]\n",
                      role.empty() ? "" : "role = \"" + role + "\"\n",
                      "streams = ", streams ? "true" : "false", "\n");
}
std::string KeyBegin(const std::string& id) {
  return "[[key]]\nid = \"" + id + "\"\nsecret = \"a secret with: a colon\"\n";
}

class TableAccessTest : public AccessTest {
 protected:
  void SetUp() override {
    AccessTest::SetUp();
    ASSERT_TRUE(CreateAs("Open").ok());
    ASSERT_TRUE(CreateAs("Secret").ok());
    v1::PutItemRequest request;
    request.set_table_name("Secret");
    *request.mutable_item() = Key("p", "1");
    AddString(request.mutable_item(), "text", kHidden);
    ASSERT_TRUE(As("ADMIN", "itemdb.v1.Data/PutItem", request).ok());
    SetKeys(KeyBegin("OPEN") + GrantText("\"Open\"", "admin", true) + KeyBegin("READS") +
            GrantText("\"Open\"", "read") + KeyBegin("STREAMS") + GrantText("\"Open\"", "", true) +
            KeyBegin("EVERY") + GrantText("\"*\"", "write", true));
  }

  // Puts these keys beside ADMIN into effect.
  void SetKeys(const std::string& keys) {
    WriteKeys(KeyText("ADMIN", kSecret, "admin") + keys);
    ASSERT_TRUE(AwaitLog("access keys reloaded"));
    logged_ = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
    StartWithKeys();
  }

  grpc::Status As(const std::string& id, std::string_view method,
                  const google::protobuf::MessageLite& request, std::string* replies = nullptr,
                  std::chrono::seconds timeout = std::chrono::minutes(5)) {
    std::string reply;
    const grpc::Status status =
        CallMethod(method, {Basic(id, kSecret)}, request.SerializeAsString(), &reply, timeout);
    if (id != "ADMIN" && id != "EVERY") {
      EXPECT_THAT(reply + status.error_message(), Not(HasSubstr(kHidden))) << method;
    }
    if (replies != nullptr) *replies = reply;
    return status;
  }
  static bool IsDenied(const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
  }

  grpc::Status CreateAs(const std::string& name) {
    return As("ADMIN", "itemdb.v1.Tables/CreateTable", TableDefinition(name));
  }

  uint64_t StorageIdOf(const std::string& table) {
    v1::DescribeTableRequest request;
    request.set_table_name(table);
    return database_->DescribeTable(request)->table().storage_id();
  }

  static constexpr char kHidden[] = "mehitabel";
};

// For each method: each field that can name a table, with a name or an ARN, alone and after a granted table.
TEST_F(TableAccessTest, NoMethodUsesATableThatIsNotGranted) {
  const uint64_t before = database_->GetStatus().change_sequence();
  google::protobuf::DynamicMessageFactory factory;
  for (const MethodRole& row : MethodRoles()) {
    if (row.method.starts_with("grpc.")) continue;
    SCOPED_TRACE(row.method);
    const Descriptor& input = *MethodOf(row.method)->input_type();
    const Message& empty = *factory.GetPrototype(&input);
    const bool by_table = row.scope == Scope::kTables || row.scope == Scope::kStreams;
    std::vector<FieldPath> paths;
    AddPaths(input, {}, &paths);
    // Without a name the request is about all tables. An empty text is neither a statement nor an ARN.
    if (row.method == "itemdb.v1.Data/ExecuteStatement" || input.FindFieldByName("backup_arn") != nullptr ||
        input.FindFieldByName("export_arn") != nullptr || input.FindFieldByName("import_arn") != nullptr ||
        input.FindFieldByName("bulk_operation_arn") != nullptr) {
      EXPECT_EQ(As("OPEN", row.method, empty).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    } else {
      EXPECT_EQ(IsDenied(As("OPEN", row.method, empty)), by_table || row.scope == Scope::kDatabase);
    }
    // These are about all tables.
    const bool names_none = row.method == "itemdb.v1.Changes/ReadChanges" ||
                            row.method == "itemdb.v1.Changes/HoldChanges" ||
                            row.method == "itemdb.v1.Changes/ReleaseChanges";
    if (by_table && !names_none) {
      EXPECT_FALSE(paths.empty());
    }
    if (row.scope == Scope::kTableNames) continue;
    for (const FieldPath& path : paths) {
      SCOPED_TRACE(path.back()->full_name());
      for (const char* form :
           {"Secret", "arn:aws:dynamodb:local:000000000000:table/Secret", "arn:a:table/arn:b:table/Secret"}) {
        const std::unique_ptr<Message> alone(empty.New());
        AddTable(alone.get(), path, form);
        const grpc::Status refused = As("OPEN", row.method, *alone);
        EXPECT_TRUE(IsDenied(refused)) << form << " " << refused.error_message();
        EXPECT_EQ(DetailsOf(refused).reason, "ACCESS_DENIED");
        if (row.scope != Scope::kDatabase) {
          EXPECT_THAT(refused.error_message(), HasSubstr("User: OPEN is not authorized to perform: "));
          EXPECT_THAT(refused.error_message(), HasSubstr(" on table Secret because "));
        }
        const bool repeated = std::any_of(path.begin(), path.end(),
                                          [](const FieldDescriptor* field) { return field->is_repeated(); });
        if (!repeated) continue;
        const std::unique_ptr<Message> last(empty.New());
        for (int i = 0; i < 9; ++i) AddTable(last.get(), path, i % 2 == 0 ? "Open" : "arn:x:table/Open");
        AddTable(last.get(), path, form);
        EXPECT_TRUE(IsDenied(As("OPEN", row.method, *last))) << form;
      }
      if (!by_table || row.method == "itemdb.v1.Tables/DeleteTable") continue;
      const std::unique_ptr<Message> granted(empty.New());
      AddTable(granted.get(), path, "Open");
      // A Watch that is allowed ends with DEADLINE_EXCEEDED.
      const auto timeout = row.scope == Scope::kStreams ? std::chrono::seconds(1) : std::chrono::seconds(300);
      EXPECT_FALSE(IsDenied(As("OPEN", row.method, *granted, nullptr, timeout)));
      const bool reads = row.scope == Scope::kTables && row.role == Role::kRead;
      const bool checks = path.size() > 1 && path[path.size() - 2]->name() == "condition_check";
      EXPECT_EQ(IsDenied(As("READS", row.method, *granted, nullptr, timeout)), !reads && !checks);
      EXPECT_EQ(IsDenied(As("STREAMS", row.method, *granted, nullptr, timeout)),
                row.scope != Scope::kStreams);
    }
  }
  v1::ScanRequest scan;
  scan.set_table_name("Secret");
  std::string items;
  ASSERT_TRUE(As("ADMIN", "itemdb.v1.Data/Scan", scan, &items).ok());
  EXPECT_THAT(items, HasSubstr(kHidden));
  // What the key may do was done to its own table only.
  std::string changes;
  v1::ReadChangesRequest read;
  read.set_after_sequence(before);
  ASSERT_TRUE(As("ADMIN", "itemdb.v1.Changes/ReadChanges", read, &changes).ok());
  v1::ReadChangesReply reply;
  ASSERT_TRUE(reply.ParseFromString(changes));
  for (const v1::ChangeRecord& record : reply.records())
    EXPECT_NE(record.table_storage_id(), StorageIdOf("Secret")) << record.ShortDebugString();
}

// A watch that is continued names its table by its storage id, and the database does not look at the name.
TEST_F(TableAccessTest, AWatchCannotNameAnotherTableByItsStorageId) {
  v1::WatchRequest request;
  request.set_after_sequence(0);
  request.set_table_name("Open");
  request.set_table_storage_id(StorageIdOf("Secret"));
  EXPECT_TRUE(IsDenied(As("OPEN", "itemdb.v1.Changes/Watch", request)));
  request.clear_table_name();
  EXPECT_TRUE(IsDenied(As("OPEN", "itemdb.v1.Changes/Watch", request)));
  request.set_table_name("arn:x:table/Open");
  request.set_table_storage_id(StorageIdOf("Open"));
  EXPECT_FALSE(IsDenied(As("OPEN", "itemdb.v1.Changes/Watch", request, nullptr, std::chrono::seconds(1))));
  request.Clear();
  EXPECT_TRUE(IsDenied(As("STREAMS", "itemdb.v1.Changes/Watch", request)));
  std::string seen;
  request.set_after_sequence(0);
  EXPECT_FALSE(IsDenied(As("EVERY", "itemdb.v1.Changes/Watch", request, &seen, std::chrono::seconds(1))));
  EXPECT_THAT(seen, HasSubstr("Secret"));
}

TEST_F(TableAccessTest, ListTablesHasTheGrantedNames) {
  const auto names = [this](const std::string& id) {
    std::string replies;
    EXPECT_TRUE(As(id, "itemdb.v1.Tables/ListTables", v1::ListTablesRequest(), &replies).ok());
    v1::ListTablesReply reply;
    EXPECT_TRUE(reply.ParseFromString(replies));
    return std::vector<std::string>(reply.table_names().begin(), reply.table_names().end());
  };
  EXPECT_THAT(names("OPEN"), ::testing::ElementsAre("Open"));
  EXPECT_THAT(names("STREAMS"), ::testing::ElementsAre("Open"));
  EXPECT_THAT(names("EVERY"), ::testing::ElementsAre("Open", "Secret", "Things"));
  EXPECT_THAT(names("ADMIN"), ::testing::ElementsAre("Open", "Secret", "Things"));
}

TEST_F(TableAccessTest, BackupsBelongToTheirTables) {
  for (const char* table : {"Open", "Secret"}) {
    v1::CreateBackupRequest request;
    request.set_table_name(table);
    request.set_backup_name(absl::StrCat("of-", table));
    EXPECT_EQ(IsDenied(As("OPEN", "itemdb.v1.Backups/CreateBackup", request)),
              table == std::string("Secret"));
    ASSERT_TRUE(As("ADMIN", "itemdb.v1.Backups/CreateBackup", request).ok());
  }
  const auto names = [this](const std::string& id) {
    std::string replies;
    EXPECT_TRUE(As(id, "itemdb.v1.Backups/ListBackups", v1::ListBackupsRequest(), &replies).ok());
    v1::ListBackupsReply reply;
    EXPECT_TRUE(reply.ParseFromString(replies));
    std::set<std::string> found;
    for (const v1::TableBackup& backup : reply.backups()) found.insert(backup.backup_name());
    return found;
  };
  EXPECT_EQ(names("OPEN"), std::set<std::string>{"of-Open"});
  EXPECT_EQ(names("ADMIN"), (std::set<std::string>{"of-Open", "of-Secret"}));
  // Both tables of a restore need the role.
  for (const auto& [target, source] : {std::pair("Open", "Secret"), std::pair("Secret", "Open")}) {
    v1::RestoreTableFromBackupRequest request;
    request.set_target_table_name(target);
    request.set_backup_arn(BackupArnFor(source));
    EXPECT_TRUE(IsDenied(As("OPEN", "itemdb.v1.Backups/RestoreTableFromBackup", request))) << target;
    v1::RestoreTableToPointInTimeRequest point;
    point.set_target_table_name(target);
    point.set_source_table_name(source);
    EXPECT_TRUE(IsDenied(As("OPEN", "itemdb.v1.Backups/RestoreTableToPointInTime", point))) << target;
    point.clear_source_table_name();
    point.set_source_table_arn("arn:aws:dynamodb:local:000000000000:table/" + std::string(source));
    EXPECT_TRUE(IsDenied(As("OPEN", "itemdb.v1.Backups/RestoreTableToPointInTime", point))) << target;
  }
}

TEST_F(TableAccessTest, ADenialIsLoggedWithItsTable) {
  v1::BatchGetItemRequest request;
  for (const char* table : {"Open", "Secret"}) {
    v1::KeysAndAttributes* keys = request.add_request_items();
    keys->set_table_name(table);
    *keys->add_keys() = Key("p", "1");
  }
  const grpc::Status refused = As("OPEN", "itemdb.v1.Data/BatchGetItem", request);
  EXPECT_EQ(
      refused.error_message(),
      "User: OPEN is not authorized to perform: itemdb.v1.Data/BatchGetItem on table Secret because its "
      "role there is none and this takes read");
  EXPECT_EQ(DetailsOf(refused).rule, "ERR-17");
  EXPECT_THAT(Logged(), HasSubstr("call refused method=itemdb.v1.Data/BatchGetItem"));
  EXPECT_THAT(Logged(), HasSubstr("key_id=OPEN code=PERMISSION_DENIED"));
  // A text that is not a table name is not quoted: it could be long, or look like another log line.
  request.mutable_request_items(1)->set_table_name("x\nfaked=line");
  const grpc::Status odd = As("OPEN", "itemdb.v1.Data/BatchGetItem", request);
  EXPECT_THAT(odd.error_message(), HasSubstr("on a table whose name is not valid"));
  EXPECT_THAT(Logged(), Not(HasSubstr("faked")));
}

// A stream ends when its key loses the grant, as when it loses its role.
TEST_F(TableAccessTest, StreamsEndWhenTheirGrantIsWithdrawn) {
  const auto authorize = [](grpc::ClientContext& context, const std::string& id) {
    context.AddMetadata("authorization", Basic(id, kSecret));
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(2));
  };
  const auto data = v1::Data::NewStub(channel_);
  grpc::ClientContext watching;
  authorize(watching, "STREAMS");
  v1::WatchRequest from_now;
  from_now.set_progress_interval_ms(20);
  from_now.set_table_name("Open");
  auto watch = v1::Changes::NewStub(channel_)->Watch(&watching, from_now);
  v1::WatchReply progress;
  ASSERT_TRUE(watch->Read(&progress));

  grpc::ClientContext writing;
  authorize(writing, "OPEN");
  auto bulk = data->BulkWrite(&writing);
  int number = 0;
  const auto write = [&](const std::string& table) {
    v1::BulkWriteChunk chunk;
    chunk.set_chunk_number(++number);
    v1::TableWriteRequests* requests = chunk.add_request_items();
    requests->set_table_name(table);
    *requests->add_write_requests()->mutable_put_request()->mutable_item() = Key("b", std::to_string(number));
    v1::BulkWriteReply reply;
    return bulk->Write(chunk) && bulk->Read(&reply);
  };
  ASSERT_TRUE(write("Open"));

  WriteKeys(KeyText("ADMIN", kSecret, "admin") + KeyBegin("OPEN") + GrantText("\"Open\"", "read", true) +
            KeyBegin("STREAMS") + GrantText("\"Other*\"", "admin", true));
  ASSERT_TRUE(AwaitLog("access keys reloaded"));
  const uint64_t last = database_->GetStatus().change_sequence();
  EXPECT_FALSE(write("Open"));
  EXPECT_TRUE(IsDenied(bulk->Finish()));
  EXPECT_EQ(database_->GetStatus().change_sequence(), last) << "the second chunk was not applied";
  while (watch->Read(&progress)) EXPECT_LE(progress.change_sequence(), last);
  const grpc::Status ended = watch->Finish();
  EXPECT_TRUE(IsDenied(ended)) << ended.error_message();
  EXPECT_THAT(ended.error_message(), HasSubstr("on table Open because this takes streams = true in a grant"));
}

// The key of a stream that began with a role for all tables is replaced by one with grants.
TEST_F(TableAccessTest, StreamsEndWhenARoleForAllTablesBecomesAGrant) {
  grpc::ClientContext context;
  context.AddMetadata("authorization", Basic("ADMIN", kSecret));
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(2));
  v1::WatchRequest all;
  all.set_progress_interval_ms(20);
  auto watch = v1::Changes::NewStub(channel_)->Watch(&context, all);
  v1::WatchReply progress;
  ASSERT_TRUE(watch->Read(&progress));
  WriteKeys(KeyBegin("ADMIN") + GrantText("\"Open\"", "admin", true));
  while (watch->Read(&progress)) {
  }
  const grpc::Status ended = watch->Finish();
  EXPECT_TRUE(IsDenied(ended)) << ended.error_message();
}

// The chunks of one stream may name different tables.
TEST_F(TableAccessTest, EachChunkOfABulkWriteIsChecked) {
  grpc::ClientContext context;
  context.AddMetadata("authorization", Basic("OPEN", kSecret));
  auto bulk = v1::Data::NewStub(channel_)->BulkWrite(&context);
  const uint64_t before = database_->GetStatus().change_sequence();
  const auto send = [&](int number, const std::vector<std::string>& tables) {
    v1::BulkWriteChunk chunk;
    chunk.set_chunk_number(number);
    for (const std::string& table : tables) {
      v1::TableWriteRequests* requests = chunk.add_request_items();
      requests->set_table_name(table);
      *requests->add_write_requests()->mutable_put_request()->mutable_item() =
          Key("b", std::to_string(number));
    }
    return bulk->Write(chunk);
  };
  v1::BulkWriteReply reply;
  ASSERT_TRUE(send(1, {"Open"}));
  ASSERT_TRUE(bulk->Read(&reply));
  // The chunks after the one that is refused may arrive before its answer.
  send(2, {"Open", "arn:x:table/Secret"});
  send(2, {"Open"});
  send(3, {"Open"});
  bulk->WritesDone();
  EXPECT_FALSE(bulk->Read(&reply));
  const grpc::Status status = bulk->Finish();
  EXPECT_TRUE(IsDenied(status)) << status.error_message();
  EXPECT_THAT(status.error_message(),
              HasSubstr("on table Secret because its role there is none and this takes write"));
  EXPECT_EQ(database_->GetStatus().change_sequence(), before + 1) << "only the first chunk was applied";
}

}  // namespace
}  // namespace itemdb::daemon
