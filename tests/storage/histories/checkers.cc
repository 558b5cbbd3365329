#include "tests/storage/histories/checkers.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <unordered_set>

namespace itemdb::testing {
namespace {

// Number of each client's next operations that IsDead examines.
constexpr size_t kLookAhead = 4;

using Operations = std::vector<const Operation*>;

Operations Sorted(const History& history, uint64_t Operation::*key) {
  Operations operations;
  for (const Operation& operation : history.operations) operations.push_back(&operation);
  std::stable_sort(operations.begin(), operations.end(),
                   [key](const Operation* a, const Operation* b) { return a->*key < b->*key; });
  return operations;
}

// Whether the answer shows that the operation changed nothing, at any place in the order.
bool IsRead(const Operation& operation) {
  return operation.answer.starts_with("refused") || operation.answer.starts_with("cancelled") ||
         std::all_of(operation.steps.begin(), operation.steps.end(),
                     [](const Step& step) { return step.kind == StepKind::kCheck; });
}

// The items in an answer, such as "3:17/2", with their versions.
std::vector<std::pair<int, int64_t>> VersionsIn(const std::string& answer) {
  std::vector<std::pair<int, int64_t>> versions;
  for (size_t colon = answer.find(':'); colon != std::string::npos; colon = answer.find(':', colon + 1)) {
    if (answer[colon + 1] == '-') continue;
    versions.emplace_back(answer[colon - 1] - '0', std::atoll(answer.c_str() + colon + 1));
  }
  return versions;
}

// A place in the search: how many operations of each client are in the order, and the state after them.
struct Place {
  std::vector<uint32_t> done;
  HotState state;

  std::string Key() const {
    std::string key(reinterpret_cast<const char*>(done.data()), done.size() * sizeof(done[0]));
    for (const auto& item : state) {
      int64_t words[2] = {item.has_value() ? item->version : -1, item.has_value() ? item->count : -1};
      key.append(reinterpret_cast<const char*>(words), sizeof(words));
    }
    return key;
  }
};

class Search {
 public:
  explicit Search(const History& history) {
    std::map<std::pair<int, int64_t>, Writer> writers;
    for (const Operation& operation : history.operations) {
      auto client = static_cast<size_t>(operation.client);
      if (clients_.size() <= client) clients_.resize(client + 1);
      for (const Step& step : operation.steps) {
        if (step.version != 0)
          writers[{step.item, step.version}] = {client, static_cast<uint32_t>(clients_[client].size())};
      }
      clients_[client].push_back(&operation);
    }
    for (const Operation& operation : history.operations) {
      std::vector<Seen>& seen = seen_[&operation];
      for (auto [item, version] : VersionsIn(operation.answer)) {
        auto writer = writers.find({item, version});
        bool own = std::any_of(operation.steps.begin(), operation.steps.end(),
                               [version = version](const Step& step) { return step.version == version; });
        if (writer != writers.end() && !own) seen.push_back({item, version, writer->second});
      }
    }
  }

  std::string Run(int max_tries) {
    std::vector<Place> open = {{std::vector<uint32_t>(clients_.size()), HotState()}};
    std::unordered_set<std::string> seen;
    for (int tries = 0; !open.empty(); ++tries) {
      if (tries == max_tries) return "no order found in " + std::to_string(tries) + " tries";
      Place place = std::move(open.back());
      open.pop_back();
      TakeReads(&place);
      if (IsEnd(place)) return "";
      Remember(place);
      Operations next = Candidates(place);
      // The operation that ended first is tried first, so it is pushed last.
      std::sort(next.begin(), next.end(),
                [](const Operation* a, const Operation* b) { return a->returned > b->returned; });
      for (const Operation* operation : next) {
        if (IsRead(*operation)) continue;  // Does not fit this state, or TakeReads had placed it.
        Place after = place;
        if (Apply(*operation, &after.state) != operation->answer) continue;
        ++after.done[static_cast<size_t>(operation->client)];
        if (!IsDead(after) && seen.insert(after.Key()).second) open.push_back(std::move(after));
      }
    }
    return "no order explains the answers; the longest that does ends before one of" + stuck_;
  }

 private:
  const Operation* Next(const Place& place, size_t client) const {
    return place.done[client] < clients_[client].size() ? clients_[client][place.done[client]] : nullptr;
  }

  // The operations that may come next: those that began before any missing operation had ended.
  Operations Candidates(const Place& place) const {
    uint64_t first_end = std::numeric_limits<uint64_t>::max();
    for (size_t client = 0; client < clients_.size(); ++client) {
      if (const Operation* next = Next(place, client)) first_end = std::min(first_end, next->returned);
    }
    Operations candidates;
    for (size_t client = 0; client < clients_.size(); ++client) {
      const Operation* next = Next(place, client);
      if (next != nullptr && next->invoked < first_end) candidates.push_back(next);
    }
    return candidates;
  }

  // A read that may come next and has the right answer in this state can be placed here.
  void TakeReads(Place* place) const {
    for (bool again = true; again;) {
      again = false;
      for (const Operation* operation : Candidates(*place)) {
        HotState state = place->state;
        if (!IsRead(*operation) || Apply(*operation, &state) != operation->answer) continue;
        ++place->done[static_cast<size_t>(operation->client)];
        again = true;
      }
    }
  }

  // Whether a later operation saw a version that is already replaced: versions never come back. Avoids trying
  // every order of the operations in between.
  bool IsDead(const Place& place) const {
    for (size_t client = 0; client < clients_.size(); ++client) {
      const Operations& operations = clients_[client];
      for (size_t i = place.done[client]; i < std::min(place.done[client] + kLookAhead, operations.size());
           ++i) {
        for (const Seen& seen : seen_.at(operations[i])) {
          const auto& item = place.state[static_cast<size_t>(seen.item)];
          bool written = place.done[seen.writer.client] > seen.writer.index;
          if (written && (!item.has_value() || item->version != seen.version)) return true;
        }
      }
    }
    return false;
  }

  bool IsEnd(const Place& place) const {
    for (size_t client = 0; client < clients_.size(); ++client) {
      if (Next(place, client) != nullptr) return false;
    }
    return true;
  }

  // For the description of a contradiction: the longest order that was found.
  void Remember(const Place& place) {
    uint64_t length = 0;
    for (uint32_t done : place.done) length += done;
    if (length < longest_) return;
    longest_ = length;
    stuck_.clear();
    for (const Operation* operation : Candidates(place)) stuck_ += "\n  " + Describe(*operation);
  }

  struct Writer {
    size_t client;
    uint32_t index;
  };
  struct Seen {
    int item;
    int64_t version;
    Writer writer;
  };

  std::vector<Operations> clients_;
  // The versions in each operation's answer that other operations wrote.
  std::map<const Operation*, std::vector<Seen>> seen_;
  uint64_t longest_ = 0;
  std::string stuck_;
};

}  // namespace

std::string ReplayBySequence(const History& history) {
  Operations operations = Sorted(history, &Operation::sequence);
  HotState state;
  uint64_t sequence = history.start_sequence;
  auto begin = operations.begin();
  while (begin != operations.end()) {
    const uint64_t reached = (*begin)->sequence;
    auto end = std::find_if(begin, operations.end(),
                            [reached](const Operation* operation) { return operation->sequence != reached; });
    if (reached != sequence) {
      // One of them must have made all changes up to this sequence.
      auto maker = std::find_if(begin, end, [&](const Operation* operation) {
        HotState after = state;
        return Apply(*operation, &after) == operation->answer &&
               sequence + static_cast<uint64_t>(ChangesBetween(state, after)) == reached;
      });
      if (maker == end) {
        return "the model is at change " + std::to_string(sequence) + ", and nothing answered makes change " +
               std::to_string(reached) + ", not even\n  " + Describe(**begin);
      }
      Apply(**maker, &state);
      sequence = reached;
      std::iter_swap(begin, maker);
      ++begin;
    }
    for (; begin != end; ++begin) {
      HotState after = state;
      std::string answer = Apply(**begin, &after);
      if (answer != (*begin)->answer) return "expected '" + answer + "' of\n  " + Describe(**begin);
      if (after != state) return "this made a change of its own:\n  " + Describe(**begin);
    }
  }
  return "";
}

std::string CheckRealTimeOrder(const History& history) {
  Operations by_end = Sorted(history, &Operation::returned);
  auto next_end = by_end.begin();
  const Operation* latest = nullptr;  // The ended operation with the largest sequence.
  for (const Operation* operation : Sorted(history, &Operation::invoked)) {
    for (; next_end != by_end.end() && (*next_end)->returned < operation->invoked; ++next_end) {
      if (latest == nullptr || (*next_end)->sequence > latest->sequence) latest = *next_end;
    }
    if (latest != nullptr && latest->sequence > operation->sequence) {
      return "this began\n  " + Describe(*operation) + "\nafter this had ended\n  " + Describe(*latest);
    }
  }
  return "";
}

std::string CheckLinearizable(const History& history, int max_tries) {
  return Search(history).Run(max_tries);
}

}  // namespace itemdb::testing
