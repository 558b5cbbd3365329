// Client::BatchGetItem: any number of keys in batches that the daemon accepts, one after the other. A reply
// leaves out missing items and items that did not fit. The client finds the key of each item by the key
// attributes, so it reads them even if the projection does not name them.
#include <algorithm>
#include <climits>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/convert.h"
#include "client/core.h"
#include "client/encode.h"
#include "client/errors_internal.h"
#include "common/status_macros.h"
#include "itemdb/v1/data.pb.h"

namespace itemdb {
namespace {

// The daemon's limit for one batch.
constexpr size_t kMaxBatchKeys = 100;

// The place of a key in the request: its table, and its number among that table's keys.
struct Place {
  size_t table;
  size_t key;
};

absl::Status BrokenReply(const std::string& endpoint, const std::string& what) {
  return MakeError(absl::StatusCode::kDataLoss, "DATA_LOSS", "the reply from " + endpoint + " " + what);
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The top-level attributes that a projection names. The result for an invalid projection does not matter: the
// daemon refuses the request.
std::set<std::string> NamesOf(const KeysAndAttributes& table) {
  std::set<std::string> names;
  std::string_view rest = table.projection_expression;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string path(Trimmed(rest.substr(0, comma)));
    const auto alias = table.expression_attribute_names.find(path);
    names.insert(alias == table.expression_attribute_names.end() ? path : alias->second);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return names;
}

// The parts of a request that are the same in every batch of one table.
struct TableRead {
  // All fields except the keys.
  v1::KeysAndAttributes message;
  // Key attributes that the client added to the projection.
  std::vector<std::string> added;
};

TableRead MakeTableRead(const KeysAndAttributes& table) {
  TableRead read;
  read.message.set_table_name(table.table_name);
  read.message.set_consistent_read(table.consistent_read);
  auto* names = read.message.mutable_expression_attribute_names();
  names->insert(table.expression_attribute_names.begin(), table.expression_attribute_names.end());
  std::string projection = table.projection_expression;
  if (!projection.empty() && !table.keys.empty()) {
    const std::set<std::string> named = NamesOf(table);
    for (const Attribute& attribute : table.keys.front()) {
      if (named.count(attribute.name) > 0) continue;
      std::string placeholder = "#k";
      placeholder += std::to_string(read.added.size());
      while (names->contains(placeholder)) placeholder += "_";
      (*names)[placeholder] = attribute.name;
      projection += "," + placeholder;
      read.added.push_back(attribute.name);
    }
  }
  read.message.set_projection_expression(projection);
  return read;
}

bool HasKey(const Item& item, const Item& key) {
  return std::all_of(key.begin(), key.end(), [&](const Attribute& attribute) {
    const Value* value = item.find_or_null(attribute.name);
    return value != nullptr && *value == attribute.value;
  });
}

// The whole request, from the first batch to the last. One batch is under way at a time, so no member needs a
// lock.
class BatchGetCall : public std::enable_shared_from_this<BatchGetCall> {
 public:
  BatchGetCall(std::shared_ptr<ClientCore> core, BatchGetItemRequest request, CallOptions options,
               Callback<BatchGetItemResult> callback)
      : core_(std::move(core)),
        request_(std::move(request)),
        options_(std::move(options)),
        deadline_(absl::Now() + core_->timeout_of(options_)),
        callback_(std::move(callback)) {
    // Later batches are sent from other threads.
    options_.traceparent = core_->TraceparentOf(options_);
    for (size_t t = 0; t < request_.request_items.size(); ++t) {
      const KeysAndAttributes& table = request_.request_items[t];
      reads_.push_back(MakeTableRead(table));
      result_.tables.push_back({.table_name = table.table_name, .items = {}});
      result_.tables.back().items.resize(table.keys.size());
      for (size_t k = 0; k < table.keys.size(); ++k) left_.push_back({t, k});
    }
  }

  void Send() {
    v1::BatchGetItemRequest message;
    message.set_return_consumed_capacity(ToProto(request_.return_consumed_capacity));
    std::vector<Place> sent;
    absl::Status status = TakeBatch(&message, &sent);
    if (!status.ok()) {
      return core_->timer().RunSoon([self = shared_from_this(), status]() { self->End(status); });
    }
    // The call may end, and reset core_, before Start has returned.
    const std::shared_ptr<ClientCore> core = core_;
    core->Start(Encode(message), options_, deadline_,
                [self = shared_from_this(), sent = std::move(sent)](absl::Status status,
                                                                    std::string_view reply) mutable {
                  if (status.ok()) status = self->Take(sent, reply);
                  if (!status.ok() || self->left_.empty()) return self->End(std::move(status));
                  self->Send();
                });
  }

 private:
  // Moves the next keys into a message, grouped by table. A table without keys is sent for the daemon to
  // refuse.
  absl::Status TakeBatch(v1::BatchGetItemRequest* message, std::vector<Place>* sent) {
    if (left_.empty()) {
      for (const TableRead& read : reads_) *message->add_request_items() = read.message;
    }
    std::optional<size_t> last_table;
    while (!left_.empty() && sent->size() < kMaxBatchKeys) {
      const Place place = left_.front();
      left_.pop_front();
      sent->push_back(place);
      if (place.table != last_table) *message->add_request_items() = reads_[place.table].message;
      last_table = place.table;
      const int last = message->request_items_size() - 1;
      ITEMDB_RETURN_IF_ERROR(ToProto(KeyAt(place), message->mutable_request_items(last)->add_keys()));
    }
    return absl::OkStatus();
  }

  const Item& KeyAt(const Place& place) const { return request_.request_items[place.table].keys[place.key]; }
  const std::string& TableNameOf(const Place& place) const {
    return request_.request_items[place.table].table_name;
  }

  // Stores the items of a reply and queues the unprocessed keys again.
  absl::Status Take(std::vector<Place> sent, std::string_view bytes) {
    v1::BatchGetItemReply reply;
    if (bytes.size() > INT_MAX || !reply.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return BrokenReply(core_->endpoint(), "does not decode");
    }
    result_.change_sequence = std::max(result_.change_sequence, reply.change_sequence());
    AddCapacity(reply.consumed_capacity(), &result_.consumed_capacity);
    const size_t asked = sent.size();
    std::vector<Place> unprocessed;
    for (const v1::KeysAndAttributes& table : reply.unprocessed_keys()) {
      for (const v1::Item& message : table.keys()) {
        ITEMDB_ASSIGN_OR_RETURN(Item key, FromProto(message));
        const auto it = std::find_if(sent.begin(), sent.end(), [&](const Place& place) {
          return TableNameOf(place) == table.table_name() && KeyAt(place) == key;
        });
        if (it == sent.end()) return BrokenReply(core_->endpoint(), "leaves a key that was not asked for");
        unprocessed.push_back(*it);
        sent.erase(it);
      }
    }
    if (unprocessed.size() == asked && asked > 0) {
      return BrokenReply(core_->endpoint(), "answers none of the keys that were asked for");
    }
    left_.insert(left_.begin(), unprocessed.begin(), unprocessed.end());
    for (const v1::TableItems& table : reply.responses()) {
      ITEMDB_RETURN_IF_ERROR(TakeItems(table, sent));
    }
    return absl::OkStatus();
  }

  // Items come in the order of their keys, so one pass over the keys finds the place of each item.
  absl::Status TakeItems(const v1::TableItems& table, const std::vector<Place>& answered) {
    auto next = answered.begin();
    for (const v1::Item& message : table.items()) {
      ITEMDB_ASSIGN_OR_RETURN(Item item, FromProto(message));
      next = std::find_if(next, answered.end(), [&](const Place& place) {
        return TableNameOf(place) == table.table_name() && HasKey(item, KeyAt(place));
      });
      if (next == answered.end()) {
        return BrokenReply(core_->endpoint(), "holds an item that was not asked for");
      }
      for (const std::string& name : reads_[next->table].added) item.Remove(name);
      result_.tables[next->table].items[next->key] = std::move(item);
      ++next;
    }
    return absl::OkStatus();
  }

  void End(absl::Status status) {
    CallbackScope scope;
    core_.reset();
    Callback<BatchGetItemResult> callback = std::move(callback_);
    if (status.ok()) {
      std::move(callback)(std::move(result_));
    } else {
      std::move(callback)(std::move(status));
    }
  }

  std::shared_ptr<ClientCore> core_;  // Reset when the call ends.
  const BatchGetItemRequest request_;
  CallOptions options_;
  const absl::Time deadline_;
  Callback<BatchGetItemResult> callback_;
  std::vector<TableRead> reads_;  // One per table of the request.
  std::deque<Place> left_;        // Keys not yet read, in order.
  BatchGetItemResult result_;
};

}  // namespace

void Client::Start(const BatchGetItemRequest& request, Callback<BatchGetItemResult> callback,
                   CallOptions options) const {
  std::make_shared<BatchGetCall>(core_, request, std::move(options), std::move(callback))->Send();
}

}  // namespace itemdb
