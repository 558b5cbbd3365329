// ImportTable, DescribeImport, ListImports.
//
// One commit puts a record of the import and a record of its table into the catalog. TableRestores then makes
// the table (loading/table_restores.h); its last commit shows the table and ends the import. After a crash
// the import begins again.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "itemdb/v1/backups.pb.h"
#include "itemdb/v1/imports.pb.h"
#include "storage/api/replies.h"
#include "storage/base/mutex.h"
#include "storage/engine/engine.h"
#include "storage/engine/io_pool.h"
#include "storage/imports/import_source.h"

namespace itemdb::storage {

// Thread-safe.
class Imports {
 public:
  explicit Imports(Engine& engine);
  ~Imports() { Stop(); }

  // Ends the calls. The engine must still exist.
  void Stop() { calls_.Stop(); }

  // These implement Database's methods of the same names. The caller wakes TableRestores after ImportTable.
  void ImportTable(v1::ImportTableRequest request, Done<v1::ImportTableReply> done);
  absl::StatusOr<v1::DescribeImportReply> DescribeImport(const v1::DescribeImportRequest& request);
  absl::StatusOr<v1::ListImportsReply> ListImports(
      const v1::ListImportsRequest& request, const std::function<bool(std::string_view table_name)>& shows);

  // For TableRestores: the items of the import that makes `table`, which ends the import in the commit that
  // shows the table. `directory`: for temporary files. Errors as ReadImport.
  absl::StatusOr<std::unique_ptr<ItemSource>> OpenSource(const v1::RestoringTable& table,
                                                         const std::string& directory,
                                                         const Cancellation& cancellation);
  // For TableRestores: what ends the import that makes `table` in the commit that gives the table up because
  // of `error`; nothing, if no import makes it. Errors as FindImport, and those of Engine::View: then the
  // import cannot be ended now.
  absl::StatusOr<std::function<void(CommitGroup& group)>> PrepareFailure(const v1::RestoringTable& table,
                                                                         const absl::Status& error) const;

 private:
  absl::StatusOr<v1::ImportTableReply> Import(const v1::ImportTableRequest& request);
  // Adds what was done until now.
  void AddProgress(v1::ImportDescription* import) const;
  // The end of the time in which imports are shown.
  bool IsExpired(const v1::ImportDescription& import) const;
  // Deletes the records and reports of expired imports.
  void DeleteExpired();

  Engine& engine_;
  mutable Mutex mutex_;
  // Of the import that is being read.
  std::string current_id_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<ImportProgress> progress_ ABSL_GUARDED_BY(mutex_);
  // Imports begin one after another, on a thread that may wait for commits.
  IoPool calls_;
};

}  // namespace itemdb::storage
