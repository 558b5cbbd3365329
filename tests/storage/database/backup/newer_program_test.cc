// What a newer program has written into the archive, and this one does not know, is refused by name.
#include <filesystem>
#include <string>

#include "storage/archive/archive_segment.h"
#include "storage/restore.h"
#include "storage/store/catalog_records.h"
#include "storage/store/store.h"
#include "tests/storage/database/standby/standby_fixture.h"

namespace itemdb::testing {
namespace {

using storage::ArchivedGroup;
using storage::SegmentReader;
using storage::SegmentWriter;
using ::testing::HasSubstr;

constexpr int kUnknownField = 9'999;

class NewerProgram : public StandbyTest {
 protected:
  // Adds a segment to the archive of the closed primary: one commit group, which gives the definition of the
  // table Things a part that this program does not know.
  void ArchiveUnknownDefinition() {
    storage::StoreOptions options;
    options.path = primary_->options().data_directory + "/rocksdb";
    options.log = primary_->options().log;
    options.env = rocksdb::Env::Default();
    const auto store = storage::Store::OpenReadOnly(options, nullptr);
    ASSERT_TRUE(store.ok()) << store.status();
    const std::string key = std::string(storage::kTableKeyPrefix) + "Things";
    std::string record;
    ASSERT_TRUE((*store)->db()->Get(rocksdb::ReadOptions(), (*store)->catalog(), key, &record).ok());
    auto definition = storage::DecodeCatalogMessage<v1::TableDescription>(key, record);
    ASSERT_TRUE(definition.has_value());
    // A part of a part, as a new setting of an index would be.
    v1::TableDescription& table = *definition;
    v1::GlobalSecondaryIndexDescription* index = table.mutable_global_secondary_indexes(0);
    index->GetReflection()->MutableUnknownFields(index)->AddVarint(kUnknownField, 1);

    rocksdb::Env* const env = rocksdb::Env::Default();
    uint64_t last = 0;
    for (const auto& entry : std::filesystem::directory_iterator(archive_))
      last = std::max(last, storage::ParseSegmentName(entry.path().filename()).value_or(0));
    const auto reader = SegmentReader::Open(env, archive_, last);
    ASSERT_TRUE(reader.ok()) << reader.status();
    ArchivedGroup end;
    for (;;) {
      auto group = (*reader)->Next();
      ASSERT_TRUE(group.ok()) << group.status();
      if (!group->has_value()) break;
      end = **group;
    }
    ASSERT_NE(end.last_sequence, 0U);
    storage::SegmentHeader header = (*reader)->header();
    header.number = last + 1;
    header.previous = last;
    header.after_sequence = end.last_sequence;
    header.after_change = end.last_change;
    header.after_hash = (*reader)->hash();
    const auto writer = SegmentWriter::Create(env, archive_, header);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ArchivedGroup group;
    group.first_sequence = end.last_sequence + 1;
    group.last_sequence = group.first_sequence;
    group.first_change = end.last_change + 1;
    group.last_change = end.last_change;
    group.commit_time_us = end.commit_time_us;
    ASSERT_TRUE(group.batch.Put((*store)->catalog(), key, storage::EncodeCatalogTable(*definition)).ok());
    ASSERT_TRUE((*writer)->Append(group).ok());
    ASSERT_TRUE((*writer)->Sync().ok());
  }
};

TEST_F(NewerProgram, AnArchiveOfItIsNotRestored) {
  CreateTable();
  Write(10, 1);
  AwaitArchive();
  primary_->Close();
  const storage::RestoreOptions restore = {.backup_directory = backups_,
                                           .archive_directory = archive_,
                                           .data_directory = directory_.path() + "/restored",
                                           .log = primary_->options().log};
  ArchiveUnknownDefinition();
  const auto restored = storage::RestoreDatabase(restore);
  EXPECT_EQ(storage::ReasonOf(restored.status()), storage::kReasonFormatUnknown) << restored.status();
  EXPECT_THAT(storage::MessageOf(restored.status()), HasSubstr("the definition of table Things has parts"));
  EXPECT_FALSE(std::filesystem::exists(restore.data_directory + "/rocksdb"));
}

TEST_F(NewerProgram, AnArchiveOfItIsNotFollowed) {
  CreateTable();
  Write(10, 1);
  StartStandby();
  AwaitStandby();
  const uint64_t followed = (*standby_)->GetStatus().change_sequence();
  primary_->Close();
  ArchiveUnknownDefinition();
  std::string error;
  for (int i = 0; i < 3000 && error.empty(); ++i) {
    error = (*standby_)->GetStatus().standby().error();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(error, HasSubstr("the definition of table Things has parts"));
  EXPECT_FALSE((*standby_)->GetStatus().standby().needs_base());
  EXPECT_EQ((*standby_)->GetStatus().change_sequence(), followed);
  // It can be started again: nothing unknown is in it.
  standby_->Reopen();
}

}  // namespace
}  // namespace itemdb::testing
