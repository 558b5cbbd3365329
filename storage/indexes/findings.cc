#include "storage/indexes/findings.h"

#include <utility>

#include "storage/base/limits.h"

namespace itemdb::storage {

void Findings::Add(std::string finding) {
  if (reply_->findings_size() < kMaxFindings) reply_->add_findings(std::move(finding));
  reply_->set_finding_count(reply_->finding_count() + 1);
}

Differences Findings::Report(const Table& table) {
  auto add = [this](std::string finding) {
    ++reparable_;
    Add(std::move(finding));
  };
  auto owner = [&table](const Index& index) { return "index " + index.name + " of table " + table.name; };
  Differences report;
  report.damaged = [this](const std::string& damaged, std::string_view key, const std::string& what) {
    Add(damaged + ": key " + Hex(key) + ": " + what);
  };
  report.damaged_entry = [=](const Index& index, std::string_view key) {
    add(owner(index) + ": key " + Hex(key) + ": the record does not decode");
  };
  report.missing = [=](const Index& index, const IndexEntry& entry, bool stale) {
    add(owner(index) + ": the entry " + Hex(entry.key) +
        (stale ? " is stale: it differs from its item" : " of an item is missing"));
  };
  report.orphaned = [=](const Index& index, std::string_view key) {
    add(owner(index) + ": the entry " + Hex(key) + " belongs to no item");
  };
  report.miscounted = [=](const std::string& miscounted, uint64_t, const SizeStatistics& counted,
                          const SizeStatistics& stored) {
    std::string finding = miscounted + ": counted " + std::to_string(counted.items) + " items of " +
                          std::to_string(counted.bytes) + " bytes";
    if (counted.items != stored.items || counted.bytes != stored.bytes) {
      finding += ", recorded are " + std::to_string(stored.items) + " of " + std::to_string(stored.bytes);
    } else {
      finding += " as recorded, but at least one of them is not as it was written";
    }
    add(std::move(finding));
  };
  report.expected = [](uint64_t, const SizeStatistics&) {};
  report.wrong_collection = [=](const Table& of, std::string_view key, const SizeStatistics& counted) {
    add("table " + of.name + ": the record of an item collection, key " + Hex(key) + ", is wrong: counted " +
        std::to_string(counted.items) + " items of " + std::to_string(counted.bytes) +
        " bytes with their entries in local indexes");
  };
  return report;
}

}  // namespace itemdb::storage
