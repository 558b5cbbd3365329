#include "tests/storage/database/random/random_reads.h"

#include <algorithm>

#include "itemdb/v1/data.pb.h"
#include "tests/storage/database/random/random_legacy.h"

namespace itemdb::testing {
namespace {

class ReadChecker {
 public:
  explicit ReadChecker(SideBySide& both) : both_(both) {}

  void GetItem() {
    const TableModel& table = both_.AnyTable();
    ModelItem key = both_.random.Key(table);
    wire::GetItemRequest request;
    request.set_table_name(table.name());
    request.set_key(both_.random.EncodeForRequest(key));
    std::set<std::string> shown;
    if (both_.random.Chance(0.2)) {
      for (int i = both_.random.Pick(1, 3); i > 0; --i)
        shown.insert(both_.random.OneOf(both_.random.Attributes(table)));
      for (const std::string& name : shown) request.add_attributes_to_get(name);
    }
    auto reply =
        Await<wire::GetItemReply>([&](auto done) { both_.database->GetItem(request, std::move(done)); });
    if (!table.IsExactKey(key)) return ExpectInvalid(reply.status());
    ASSERT_TRUE(reply.ok()) << reply.status();
    const ModelItem* item = table.Find(key);
    ModelItem part = item == nullptr ? ModelItem() : *item;
    if (!shown.empty()) std::erase_if(part, [&shown](const auto& a) { return !shown.contains(a.first); });
    ExpectItem(*reply, item == nullptr ? std::nullopt : std::optional(EncodeItem(part)));
    EXPECT_EQ(reply->change_sequence(), both_.log.size());
  }

  // A random Query or Scan, read to its end.
  void QueryOrScan(bool query) {
    const TableModel& table = both_.AnyTable();
    int which = both_.random.Pick(-1, static_cast<int>(table.indexes().size()) - 1);
    const ModelIndex* index = which < 0 ? nullptr : &table.indexes()[static_cast<size_t>(which)];
    wire::PageRequest request = PageRequestFor(table, index);
    ModelPageRequest expected;
    RequestNames names;
    bool valid = true;
    // With the legacy parameters instead of expressions (SEM-112).
    const bool legacy = both_.random.Chance(0.2);
    // KeyConditions may stand beside expressions too (SEM-026).
    const bool legacy_keys = legacy || both_.random.Chance(0.1);
    Predicate selects = [](const ModelItem&) { return true; };
    if (query) {
      RequestNames no_names;
      RandomKeyCondition condition =
          both_.random.KeyCondition(table, index, legacy_keys ? &no_names : &names);
      if (legacy_keys) {
        RandomComparisons{condition.comparisons}.SetOn(request.mutable_key_conditions());
      } else {
        request.set_key_condition_expression(condition.text);
      }
      selects = condition.selects;
      valid = condition.valid;
      if (both_.random.Chance(0.7)) request.set_scan_index_forward(both_.random.Chance(0.4));
    }
    // A global index cannot return an attribute that it does not project (SEM-037); for a local index the
    // item is fetched (SEM-091).
    auto use = [&](const std::string& name) {
      if (index == nullptr || index->Projects(name)) return;
      (index->local ? expected.fetch_items : valid) = index->local;
    };
    // Mostly attributes that may be named, sometimes any attribute.
    std::vector<std::string> attributes = both_.random.Attributes(table);
    std::erase_if(attributes, [&](const std::string& name) {
      return index != nullptr && !index->local && !index->Projects(name);
    });
    if (both_.random.Chance(0.1)) attributes = both_.random.Attributes(table);
    std::vector<std::string> filterable = attributes;
    if (query && both_.random.Chance(0.9)) {
      for (const auto* part : {&table.Partition(index), &table.Sort(index)}) {
        for (const std::string& name : *part) std::erase(filterable, name);
      }
    }
    if (!filterable.empty() && both_.random.Chance(0.4)) {
      std::set<std::string> filtered;
      if (legacy) {
        const RandomComparisons filter = LegacyConditions(both_.random, table, filterable);
        filter.SetOn(request.mutable_legacy_filter());
        request.set_conditional_operator(filter.joined_by);
        expected.filter = [filter](const ModelItem& item) { return filter.Hold(item); };
        filtered = filter.Names();
      } else {
        RandomCondition filter = both_.random.Condition(table, filterable, &names);
        request.set_filter_expression(filter.text);
        expected.filter = filter.holds;
        filtered = filter.names;
      }
      for (const std::string& name : filtered) {
        use(name);
        // The filter of a Query may not name key attributes (SEM-040).
        for (const auto* part : {&table.Partition(index), &table.Sort(index)}) {
          if (query && std::find(part->begin(), part->end(), name) != part->end()) valid = false;
        }
      }
    }
    if (both_.random.Chance(0.3)) {
      std::string text;
      for (int i = both_.random.Pick(1, 4); i > 0; --i) {
        std::string name = both_.random.OneOf(attributes);
        if (!expected.projection.insert(name).second) continue;
        if (legacy) {
          request.add_attributes_to_get(name);
        } else {
          text += (text.empty() ? "" : ", ") + names.Name(name);
        }
        use(name);
      }
      if (!legacy) request.set_projection_expression(text);
    } else if (both_.random.Chance(0.2)) {
      request.set_select(v1::SELECT_ALL_ATTRIBUTES);
      if (index != nullptr && !index->projects_all) {
        expected.fetch_items = expected.whole_items = true;
        if (!index->local) valid = false;
      }
    } else if (both_.random.Chance(0.25)) {
      request.set_select(v1::SELECT_COUNT);
      expected.count_only = true;
      expected.count_all = both_.random.Chance(0.5);
      request.set_count_all(expected.count_all);
    } else if (both_.random.Chance(0.1)) {
      request.set_select(v1::SELECT_ALL_PROJECTED_ATTRIBUTES);
      if (index == nullptr) valid = false;
    }
    if (!legacy) names.SetOn(&request);
    if (both_.random.Chance(expected.count_all ? 0.05 : 0.6)) {
      if (expected.count_all) valid = false;
      expected.limit = both_.random.Pick(1, 12);
      request.set_limit(*expected.limit);
    }
    SCOPED_TRACE("page " + request.ShortDebugString());
    bool forward = !request.has_scan_index_forward() || request.scan_index_forward();
    std::vector<ModelEntry> selected = Select(table, index, selects, forward);
    if (valid && !expected.count_all && both_.random.Chance(0.15))
      return StartAnywhere(query, table, index, request, selects, forward, selected, expected);
    if (!valid) return ExpectInvalid(Read(query, request).status());
    Walk(query, table, index, request, selected, expected);
  }

  // All segments of a parallel scan: together every item once, each segment in key order (SEM-033).
  void ScanSegments() {
    const TableModel& table = both_.AnyTable();
    int which = both_.random.Pick(-1, static_cast<int>(table.indexes().size()) - 1);
    const ModelIndex* index = which < 0 ? nullptr : &table.indexes()[static_cast<size_t>(which)];
    wire::PageRequest request = PageRequestFor(table, index);
    request.set_total_segments(both_.random.Pick(1, 7));
    std::map<std::string, size_t> places;  // The position of each item in key order.
    for (const ModelEntry& entry : table.Entries(index))
      places.emplace(EncodeItem(entry.item), places.size());
    std::set<size_t> found;
    for (int segment = 0; segment < request.total_segments(); ++segment) {
      request.set_segment(segment);
      request.clear_exclusive_start_key();
      std::optional<size_t> last;
      for (bool more = true; more;) {
        request.set_limit(both_.random.Pick(1, 12));
        SCOPED_TRACE("segment " + request.ShortDebugString());
        auto page = Read(/*query=*/false, request);
        ASSERT_TRUE(page.ok()) << page.status();
        v1::QueryReply items;
        ASSERT_TRUE(items.ParseFromString(page->encoded_items));
        for (const v1::Item& item : items.items()) {
          auto place = places.find(item.SerializeAsString());
          ASSERT_TRUE(place != places.end()) << item.ShortDebugString();
          EXPECT_TRUE(!last.has_value() || *last < place->second) << "not in key order";
          last = place->second;
          EXPECT_TRUE(found.insert(place->second).second) << "in two segments: " << item.ShortDebugString();
        }
        more = page->reply.has_last_evaluated_key();
        request.set_exclusive_start_key(page->reply.last_evaluated_key());
      }
    }
    EXPECT_EQ(found.size(), places.size());
  }

  static wire::PageRequest PageRequestFor(const TableModel& table, const ModelIndex* index) {
    wire::PageRequest request;
    request.set_table_name(table.name());
    if (index != nullptr) request.set_index_name(index->name);
    return request;
  }

  static std::vector<ModelEntry> Select(const TableModel& table, const ModelIndex* index,
                                        const Predicate& selects, bool forward) {
    std::vector<ModelEntry> selected;
    for (ModelEntry& entry : table.Entries(index)) {
      if (selects(entry.item)) selected.push_back(std::move(entry));
    }
    if (!forward) std::reverse(selected.begin(), selected.end());
    return selected;
  }

  absl::StatusOr<Page> Read(bool query, const wire::PageRequest& request) {
    return query ? both_.database.Query(request) : both_.database.Scan(request);
  }

  // Follows LastEvaluatedKey to the end; every page must equal the model's page.
  void Walk(bool query, const TableModel& table, const ModelIndex* index, wire::PageRequest request,
            const std::vector<ModelEntry>& selected, const ModelPageRequest& expected) {
    size_t position = 0;
    for (bool more = true; more;) {
      ModelPage page = ReadModelPage(selected, position, expected);
      // The item collection is one item, so there is no page to continue with.
      if (query && index == nullptr && table.key_names().size() == 1) page.last_evaluated.reset();
      std::optional<ModelItem> last_key;
      if (page.last_evaluated.has_value()) {
        const ModelItem& last = selected[*page.last_evaluated].item;
        last_key.emplace();
        for (const std::string& name : table.PositionNames(index)) last_key->emplace(name, last.at(name));
        position = *page.last_evaluated + 1;
      }
      ExpectPage(Read(query, request), page, last_key);
      if (::testing::Test::HasFailure()) return;
      more = last_key.has_value();
      if (more) request.set_exclusive_start_key(both_.random.EncodeForRequest(*last_key));
    }
  }

  void ExpectPage(const absl::StatusOr<Page>& actual, const ModelPage& page,
                  const std::optional<ModelItem>& last_key) {
    ASSERT_TRUE(actual.ok()) << actual.status();
    v1::QueryReply items;
    for (const ModelItem& item : page.items) {
      if (!page.count_only) *items.add_items() = ToMessage(item);
    }
    EXPECT_TRUE(actual->encoded_items == items.SerializeAsString())
        << "expected " << items.ShortDebugString() << "\nactual "
        << ::testing::PrintToString(ShowItems(*actual));
    EXPECT_EQ(actual->reply.count(), static_cast<int>(page.items.size()));
    EXPECT_EQ(actual->reply.scanned_count(), page.scanned);
    EXPECT_EQ(actual->reply.has_last_evaluated_key(), last_key.has_value());
    EXPECT_EQ(actual->reply.last_evaluated_key(), Encoded(last_key).value_or(""));
    EXPECT_EQ(actual->reply.change_sequence(), both_.log.size());
  }

  // One page from a start key that need not belong to an item (SEM-032).
  void StartAnywhere(bool query, const TableModel& table, const ModelIndex* index, wire::PageRequest request,
                     const Predicate& selects, bool forward, const std::vector<ModelEntry>& selected,
                     const ModelPageRequest& expected) {
    ModelItem start;
    if (!selected.empty() && both_.random.Chance(0.8)) start = both_.random.OneOf(selected).item;
    ModelItem start_key;
    for (const std::string& name : table.PositionNames(index)) {
      bool near = start.contains(name) && both_.random.Chance(0.7);
      start_key.emplace(name, near ? start[name] : both_.random.KeyValue(table.KeyType(name)));
    }
    request.set_exclusive_start_key(both_.random.EncodeForRequest(start_key));
    SCOPED_TRACE("start " + ToMessage(start_key).ShortDebugString());
    bool no_start = query && index == nullptr && table.key_names().size() == 1;
    if (no_start || !selects(start_key)) return ExpectInvalid(Read(query, request).status());
    size_t position = 0;
    ModelKey start_position = table.PositionKey(index, start_key);
    auto is_after = [&](const ModelEntry& entry) {
      return forward ? ModelKeyLess()(start_position, entry.key) : ModelKeyLess()(entry.key, start_position);
    };
    while (position < selected.size() && !is_after(selected[position])) ++position;
    Walk(query, table, index, request,
         {selected.begin() + static_cast<std::ptrdiff_t>(position), selected.end()}, expected);
  }

  void VerifyAllPages(const TableModel& table, const ModelIndex* index) {
    std::vector<ModelEntry> all = table.Entries(index);
    ModelPageRequest expected;
    auto walk_all = [&](bool query, const wire::PageRequest& request,
                        const std::vector<ModelEntry>& selected) {
      int size = static_cast<int>(selected.size());
      for (int limit = 1; limit <= size + 1 && !::testing::Test::HasFailure(); ++limit) {
        SCOPED_TRACE("page size " + std::to_string(limit));
        expected.limit = limit;
        wire::PageRequest limited = request;
        limited.set_limit(limit);
        Walk(query, table, index, limited, selected, expected);
      }
    };
    walk_all(false, PageRequestFor(table, index), all);

    const auto& partition = table.Partition(index);
    for (size_t begin = 0, end = 0; begin < all.size() && !::testing::Test::HasFailure(); begin = end) {
      RequestNames names;
      std::string condition;
      for (size_t i = 0; i < partition.size(); ++i) {
        condition +=
            (i == 0 ? "" : " AND ") + names.Name(partition[i]) + " = " + names.Value(all[begin].key[i]);
      }
      auto same_partition = [&](const ModelEntry& entry) {
        for (size_t i = 0; i < partition.size(); ++i) {
          if (!SameValue(entry.key[i], all[begin].key[i])) return false;
        }
        return true;
      };
      while (end < all.size() && same_partition(all[end])) ++end;
      std::vector<ModelEntry> collection(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                         all.begin() + static_cast<std::ptrdiff_t>(end));
      wire::PageRequest request = PageRequestFor(table, index);
      request.set_key_condition_expression(condition);
      names.SetOn(&request);
      SCOPED_TRACE("collection " + request.ShortDebugString());
      walk_all(true, request, collection);
      request.set_scan_index_forward(false);
      std::reverse(collection.begin(), collection.end());
      walk_all(true, request, collection);
    }
  }

 private:
  SideBySide& both_;
};

}  // namespace

void RandomRead(SideBySide& both, RandomReadKind kind) {
  ReadChecker checker(both);
  if (kind == RandomReadKind::kGetItem) return checker.GetItem();
  if (kind == RandomReadKind::kScanSegments) return checker.ScanSegments();
  checker.QueryOrScan(kind == RandomReadKind::kQuery);
}

void ExpectAllPages(SideBySide& both, const TableModel& table, const ModelIndex* index) {
  ReadChecker(both).VerifyAllPages(table, index);
}

}  // namespace itemdb::testing
