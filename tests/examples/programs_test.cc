// The programs of examples/ with a real itemd: each question has the answer of patterns.json, and needs as
// many requests as the program prints.
//
// Each named pattern has an example and a test (SEED-050): composite sort keys and composite keys
// (OneToMany), the adjacency list with its inverted and overloaded index and materialised totals
// (AdjacencyList), write sharding (ManyOrders).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "tests/examples/model_files.h"
#include "tests/processes/child_process.h"
#include "tests/processes/daemon_process.h"
#include "tests/processes/recording_proxy.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::examples {
namespace {

using ::testing::HasSubstr;

struct Question {
  std::string text;
  // The number that the program prints.
  size_t requests = 0;
  std::vector<nlohmann::json> items;
  // All other lines below the question.
  std::vector<std::string> remarks;
};

// Reads a program's output: a question is a line without indentation; the lines that belong to it are
// indented.
std::vector<Question> ReadQuestions(const std::string& out) {
  static const std::regex kRequests("\\(([0-9]+) requests?[,)]");
  std::vector<Question> questions;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("   ")) questions.push_back({.text = line, .items = {}, .remarks = {}});
    if (questions.empty()) continue;
    Question& question = questions.back();
    std::smatch match;
    if (std::regex_search(line, match, kRequests)) question.requests += std::stoul(match[1]);
    if (question.text == line) continue;
    const std::string text = line.substr(3);
    if (text.starts_with("{")) {
      question.items.push_back(nlohmann::json::parse(text));
    } else if (match.empty()) {
      question.remarks.push_back(text);
    }
  }
  return questions;
}

class ProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::Status started = daemon_.Start({"--http-listen", "127.0.0.1:0"});
    ASSERT_TRUE(started.ok()) << started;
    proxy_ = std::make_unique<e2e::RecordingProxy>(daemon_.endpoint());
  }

  void Load(const std::string& model) {
    const Client client = *Client::Open({.endpoint = daemon_.endpoint()});
    const absl::Status loaded = LoadModel(client, model);
    ASSERT_TRUE(loaded.ok()) << loaded;
  }

  // Runs a program through the proxy, which counts calls but cannot forward streams. RunAtVolume does not use
  // the proxy.
  std::string Run(const std::string& program) { return RunWith(program, {proxy_->endpoint()}); }
  std::string RunAtVolume(const std::string& program, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), daemon_.endpoint());
    return RunWith(program, arguments);
  }

  static std::string RunWith(const std::string& program, const std::vector<std::string>& arguments) {
    const e2e::CommandResult result = e2e::RunProgram(testing::ProgramPath(program), arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
    return result.out;
  }

  // Runs the program. Compares its numbered questions with the model's patterns.json, and the reads it prints
  // with the calls it made. Returns all questions.
  std::vector<Question> Check(const std::string& program, const std::string& model);

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
  std::unique_ptr<e2e::RecordingProxy> proxy_;
};

std::vector<Question> ProgramsTest::Check(const std::string& program, const std::string& model) {
  const std::vector<Question> questions = ReadQuestions(Run(program));
  std::map<std::string, const Question*> by_number;
  size_t said = 0;
  for (const Question& question : questions) {
    by_number[question.text.substr(0, question.text.find('.'))] = &question;
    said += question.requests;
  }
  size_t reads = 0;
  for (const std::string& call : proxy_->TakeCalls()) {
    if (call == "Data/GetItem" || call == "Data/Query" || call == "Data/BatchGetItem") ++reads;
    EXPECT_THAT(call, ::testing::Not(HasSubstr("Scan"))) << "SEED-052";
  }
  EXPECT_EQ(said, reads) << "what the program says of its requests, and what was asked for";

  const absl::StatusOr<tools::ModelFolder> folder = ReadModel(model);
  EXPECT_TRUE(folder.ok()) << folder.status();
  if (!folder.ok()) return questions;
  for (const tools::ModelPattern& pattern : folder->patterns) {
    const auto found = by_number.find(std::to_string(pattern.number.value_or(0)));
    if (found == by_number.end()) {
      ADD_FAILURE() << program << " does not ask question " << pattern.number.value_or(0);
      continue;
    }
    std::vector<nlohmann::json> expected;
    for (const Item& item : pattern.items.value_or(std::vector<Item>()))
      expected.push_back(ToPlainJson(item));
    std::vector<nlohmann::json> items = found->second->items;
    EXPECT_EQ(found->second->requests, pattern.requests.size()) << found->second->text;
    if (pattern.requests.size() > 1) {  // The program merges the answers; the file does not.
      std::sort(items.begin(), items.end());
      std::sort(expected.begin(), expected.end());
    }
    EXPECT_EQ(items, expected) << found->second->text;
  }
  return questions;
}

const Question* FindOrNull(const std::vector<Question>& questions, const std::string& part) {
  for (const Question& question : questions) {
    if (question.text.find(part) != std::string::npos) return &question;
  }
  ADD_FAILURE() << "nothing is said of " << part;
  return nullptr;
}

// One overloaded index (SEED-035) and one sharded index (SEED-036): all questions except the open orders
// (SEED-039) need one request.
TEST_F(ProgramsTest, AdjacencyListAnswersItsFifteenQuestions) {
  Load("adjacency_list");
  const std::vector<Question> questions = Check("example_adjacency_list", "adjacency_list");
  const Question* open = FindOrNull(questions, "6. open orders");
  ASSERT_NE(open, nullptr);
  EXPECT_TRUE(std::is_sorted(open->items.begin(), open->items.end(),
                             [](const auto& a, const auto& b) { return a["order_date"] < b["order_date"]; }));
  EXPECT_EQ(open->requests, 15u);
  // If the shard is a hash of a known value, one shard is queried (SEED-040).
  const Question* known = FindOrNull(questions, "Is ord_002");
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->requests, 1u);
  ASSERT_EQ(known->items.size(), 1u);
  EXPECT_EQ(known->items[0]["order_id"], "ord_002");
  // A shard that was chosen at random is read from the item (INC-18).
  const Question* drawn = FindOrNull(questions, "a shard that was drawn");
  ASSERT_NE(drawn, nullptr);
  ASSERT_EQ(drawn->items.size(), 1u);
  EXPECT_GE(drawn->items[0]["OpenShard"], 0);
  EXPECT_LT(drawn->items[0]["OpenShard"], 15);
  const Question* closed = FindOrNull(questions, "Closed");
  ASSERT_NE(closed, nullptr);
  EXPECT_TRUE(closed->items.empty());
  EXPECT_EQ(closed->requests, 15u);
}

TEST_F(ProgramsTest, OrderEntryAnswersItsFifteenQuestions) {  // Pattern 6 is five queries (INC-11).
  const std::vector<Question> questions = Check("example_order_entry", "order_entry");
  const Question* typed = FindOrNull(questions, "as types of C++");
  ASSERT_NE(typed, nullptr);
  EXPECT_THAT(typed->remarks, ::testing::ElementsAre("2025-11-15 ord_001 CLOSED", "2025-12-20 ord_002 OPEN"));
  // A second run finds the same data.
  EXPECT_EQ(Check("example_order_entry", "order_entry").size(), questions.size());
}

// The questions of the e-commerce document (SEED-054..SEED-060).
TEST_F(ProgramsTest, EcommerceAnswersItsQuestions) {
  Load("ecommerce_single_table");
  const std::vector<Question> questions = Check("example_ecommerce_single_table", "ecommerce_single_table");
  // From products up to customers by an index (SEED-061) on the added product id (INC-22), each customer
  // once.
  const Question* names = FindOrNull(questions, "And their names");
  ASSERT_NE(names, nullptr);
  ASSERT_EQ(names->items.size(), 2u);
  EXPECT_EQ(names->items[0]["name"], "Alice Smith");
  EXPECT_EQ(names->items[1]["name"], "Bob Jones");
  // A filter on the sort key is refused (INC-19).
  const Question* refused = FindOrNull(questions, "as a filter");
  ASSERT_NE(refused, nullptr);
  EXPECT_TRUE(refused->items.empty());
  EXPECT_EQ(refused->requests, 1u);
}

// The five strategies (SEED-062, SEED-063, SEED-065..SEED-072, SEED-075..SEED-081), with corrected spellings
// (INC-24).
TEST_F(ProgramsTest, OneToManyAnswersItsQuestionsByFiveStrategies) {
  Load("one_to_many");
  const std::vector<Question> questions = Check("example_one_to_many", "one_to_many");
  const Question* addresses = FindOrNull(questions, "Writing 1");
  ASSERT_NE(addresses, nullptr);
  EXPECT_THAT(addresses->remarks.front(),
              HasSubstr("20 were set, the next one was refused: CONDITIONAL_CHECK_FAILED"));
  // All copies of a duplicated value change in one transaction (SEED-064).
  const Question* author = FindOrNull(questions, "Writing 2");
  ASSERT_NE(author, nullptr);
  EXPECT_EQ(author->items.size(), 3u);
  for (const nlohmann::json& book : author->items) EXPECT_EQ(book["AuthorBirthYear"], 1947) << book;
  // A reserved value is an item of its own (SEED-074).
  const Question* reserved = FindOrNull(questions, "Writing 3 and 4");
  ASSERT_NE(reserved, nullptr);
  EXPECT_THAT(reserved->remarks.front(), HasSubstr("refused: VALUE_RESERVED"));
  // The program has deleted what it wrote: the same questions have the same answers.
  EXPECT_EQ(Check("example_one_to_many", "one_to_many").size(), questions.size());
}

// A URL instead of an address: DynamoDB's HTTP protocol.
TEST_F(ProgramsTest, AnswerOverHttpAsOverGrpc) {
  for (const std::string model : {"adjacency_list", "order_entry", "ecommerce_single_table", "one_to_many"}) {
    SCOPED_TRACE(model);
    if (model != "order_entry") Load(model);
    const std::vector<Question> http =
        ReadQuestions(RunWith("example_" + model, {"http://" + daemon_.http_endpoint()}));
    const std::vector<Question> grpc = ReadQuestions(RunWith("example_" + model, {daemon_.endpoint()}));
    ASSERT_EQ(http.size(), grpc.size());
    for (size_t i = 0; i < http.size(); ++i) {
      SCOPED_TRACE(http[i].text);
      EXPECT_EQ(http[i].text, grpc[i].text);
      EXPECT_EQ(http[i].requests, grpc[i].requests);
      const bool is_random = http[i].text.find("was drawn") != std::string::npos;
      EXPECT_EQ(is_random ? grpc[i].items : http[i].items, grpc[i].items);
    }
  }
}

// ---- at volume -----------------------------------------------------------------------------------

// The numbers in a line "stores of USA, NE: 5 found, 7 read, ...".
struct Figures {
  int64_t found = -1;
  int64_t read = -1;
  int64_t pages = -1;
};
Figures FiguresOf(const std::string& out, const std::string& question) {
  Figures figures;
  std::smatch match;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(question + ": ")) continue;
    const auto number = [&](const std::regex& regex) {
      return std::regex_search(line, match, regex) ? std::stoll(match[1]) : -1;
    };
    figures = {.found = number(std::regex("([0-9]+) found")),
               .read = number(std::regex("([0-9]+) read")),
               .pages = number(std::regex("([0-9]+) page"))};
  }
  EXPECT_GE(figures.found, 0) << "no \"" << question << "\" in\n" << out;
  return figures;
}

// INC-25, INC-26, INC-28: generated stores, at every level and by both ways, and none of a longer name.
TEST_F(ProgramsTest, ManyStoresAreFoundAlikeBySortKeyAndByIndex) {
  Load("one_to_many");
  const std::string out = RunAtVolume("example_one_to_many", {"--stores", "2000"});
  EXPECT_THAT(out, HasSubstr("2000 items written"));
  int64_t larger = 2'001;
  for (const char* place : {"USA", "USA, NE", "USA, NE, OMAHA", "USA, NE, OMAHA, 68114"}) {
    const Figures by_key = FiguresOf(out, std::string("stores of ") + place);
    const Figures by_index = FiguresOf(out, std::string("stores of ") + place + ", by the index");
    EXPECT_EQ(by_key.found, by_index.found) << place;
    EXPECT_EQ(by_key.read, by_key.found) << place;
    EXPECT_LT(by_key.found, larger) << place;
    larger = by_key.found;
  }
  EXPECT_EQ(RunAtVolume("example_one_to_many", {"--copies", "150"}).substr(0, 17), "150 books changed");
}

// SEED-073: tickets inside an organization's partition are read with its users.
TEST_F(ProgramsTest, TicketsInsideThePartitionOfAnOrganizationAreReadWithItsUsers) {
  Load("one_to_many");
  const std::string out = RunAtVolume("example_ticket_layouts", {"--users", "10", "--tickets", "500"});
  const Figures inside = FiguresOf(out, "users of an organization, tickets inside");
  const Figures apart = FiguresOf(out, "users of an organization, tickets apart");
  EXPECT_EQ(inside.found, 10);
  EXPECT_EQ(inside.read, 510);
  EXPECT_EQ(apart.found, 10);
  EXPECT_EQ(apart.read, 10);
  EXPECT_EQ(FiguresOf(out, "tickets of a user, tickets inside").found, 50);
  EXPECT_EQ(FiguresOf(out, "tickets of a user, tickets apart").found, 50);
}

// There explain is not offered.
TEST_F(ProgramsTest, CostsAreShownOverHttpWithoutBytes) {
  Load("one_to_many");
  const std::string url = "http://" + daemon_.http_endpoint();
  const std::string out = RunWith("example_ticket_layouts", {url, "--users", "10", "--tickets", "200"});
  EXPECT_EQ(FiguresOf(out, "users of an organization, tickets inside").read, 210);
  EXPECT_EQ(FiguresOf(out, "tickets of a user, tickets apart").found, 20);
  EXPECT_THAT(out, HasSubstr("the bytes that a query reads are not known: "));
  EXPECT_THAT(out, ::testing::Not(HasSubstr(" bytes in")));
}

// One query for each shard, merged by date (SEED-039).
TEST_F(ProgramsTest, ManyOrdersAreFoundInTheirShards) {
  Load("adjacency_list");
  const std::string out = RunAtVolume("example_adjacency_list", {"--orders", "1000"});
  const int64_t open = FiguresOf(out, "6. all open orders").found;
  EXPECT_GT(open, 100);
  EXPECT_LT(open, 300);
  EXPECT_GE(open, FiguresOf(out, "6. open orders of a week").found);
  EXPECT_GT(FiguresOf(out, "9. orders of a product").found, 0);
  // A query of a shard costs at least half a read unit (INC-15).
  EXPECT_TRUE(std::regex_search(out, std::regex("in the shard of a known order: .* 0.5 read units"))) << out;
}

TEST_F(ProgramsTest, AnArgumentThatIsNotAllowedIsNamed) {
  const auto run = [](std::vector<std::string> arguments) {
    return e2e::RunProgram(testing::ProgramPath("example_one_to_many"), arguments);
  };
  EXPECT_THAT(run({"--shops", "5"}).err, HasSubstr("no option --shops"));
  EXPECT_THAT(run({"--stores", "many"}).err, HasSubstr("--stores needs a whole number"));
  EXPECT_THAT(run({"--stores"}).err, HasSubstr("--stores needs a whole number"));
  EXPECT_THAT(run({"a:1", "b:2"}).err, HasSubstr("two endpoints"));
  EXPECT_EQ(run({"--shops"}).exit_code, 64);
}

}  // namespace
}  // namespace itemdb::examples
