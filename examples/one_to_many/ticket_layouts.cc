// Compares strategy 4 with another layout: the tickets of an organization's users inside the organization's
// partition, or in their own partitions with an index.
//
//   itemctl model apply examples/one_to_many
//   example_ticket_layouts [ENDPOINT] [--users 50] [--tickets 10000]
#include <itemdb/client.h>
#include <itemdb/expression.h>

#include <iostream>
#include <string>

#include "absl/time/time.h"
#include "shared/ask.h"
#include "shared/command_line.h"
#include "shared/volume.h"

using example::Need;
using itemdb::Attr;
using itemdb::Compose;
using itemdb::Filter;
using itemdb::Item;
using itemdb::Key;
using itemdb::KeyCondition;
using itemdb::QueryRequest;
using itemdb::Where;

namespace {

constexpr char kInside[] = "Tickets.inside";
constexpr char kApart[] = "Tickets.apart";
constexpr char kOrg[] = "ORG#ACME";

std::string UserKey(int64_t user) { return "USER#" + std::to_string(1'000 + user); }

// The id begins with the time, so that ids sort by time.
std::string TicketKey(int64_t ticket) {
  const absl::Time time = absl::FromUnixSeconds(1'735'689'600 + ticket * 600);
  return "TICKET#" + absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone()) + "-" +
         std::to_string(10'000 + ticket * 7'919 % 90'000);
}

Item User(const std::string& user_key) {
  return {{"PK", kOrg}, {"SK", user_key}, {"UserName", "User " + user_key.substr(5)}, {"Role", "Member"}};
}

Item Ticket(const std::string& pk, const std::string& sk) {
  return {{"PK", pk}, {"SK", sk}, {"Subject", "The printer is on fire"}, {"Text", std::string(300, 'x')}};
}

void Fill(const itemdb::Client& client, int64_t users, int64_t tickets) {
  for (const char* table : {kInside, kApart}) {
    const bool apart = table == kApart;
    example::CreateLike(client, "Organizations", table);
    example::Loader loader(client, table);
    const auto put = [&](Item item, const std::string& user, const std::string& sort_key) {
      if (apart) {
        item.Set("GSI1PK", kOrg + ("#" + user));
        item.Set("GSI1SK", sort_key);
      }
      loader.Put(std::move(item));
    };
    for (int64_t i = 0; i < users; ++i) put(User(UserKey(i)), UserKey(i), UserKey(i));
    for (int64_t i = 0; i < tickets; ++i) {
      const std::string user = UserKey(i % users), ticket = TicketKey(i);
      put(apart ? Ticket(ticket, ticket) : Ticket(kOrg, user + "#" + ticket), user, ticket);
    }
    loader.Finish();
  }
}

QueryRequest Collection(const char* table, const KeyCondition& condition) {
  return Compose(QueryRequest{.table_name = table}, Where(condition));
}

void Compare(const itemdb::Client& client) {
  const KeyCondition users = Key("PK") == kOrg && Key("SK").BeginsWith("USER#");
  example::ShowCost(client, "users of an organization, tickets inside",
                    Compose(Collection(kInside, users), Filter(Attr("UserName").Exists())));
  example::ShowCost(client, "users of an organization, tickets apart", Collection(kApart, users));

  example::ShowCost(client, "tickets of a user, tickets inside",
                    Collection(kInside, Key("PK") == kOrg && Key("SK").BeginsWith(UserKey(7) + "#TICKET#")));
  QueryRequest by_index =
      Collection(kApart, Key("GSI1PK") == kOrg + ("#" + UserKey(7)) && Key("GSI1SK").BeginsWith("TICKET#"));
  by_index.index_name = "GSI1";
  example::ShowCost(client, "tickets of a user, tickets apart", by_index);
}

}  // namespace

int main(int argc, char** argv) {
  const example::CommandLine line = example::ReadCommandLine(argc, argv, {"--users", "--tickets"});
  const itemdb::Client client = Need(itemdb::Client::Open({.endpoint = line.endpoint}));
  const int64_t users = line.number("--users", 50);
  if (users < 8) example::Fail(absl::InvalidArgumentError("--users must be at least 8"));
  Fill(client, users, line.number("--tickets", 10'000));
  Compare(client);
}
