#include "tools/commands/move_commands.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/number_text.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/progress.h"
#include "tools/json/item_json.h"
#include "tools/moving/move.h"
#include "tools/moving/table_stream.h"

namespace itemdb::tools {
namespace {

// How often a move begins again by comparison when its changes cannot be read.
constexpr int kMostBeginnings = 3;
constexpr size_t kShownDifferences = 20;
constexpr Noun kChangeNoun = {.one = "change", .many = "changes"};

// A client of the other side, at `endpoint`. The connection options of the command line are those of its own
// endpoint.
absl::StatusOr<Client> OpenOther(const MoveCommandOptions& options, const std::string& endpoint) {
  GlobalOptions credentials;
  credentials.access_key_id = options.other_access_key_id;
  credentials.secret_access_key_file = options.other_secret_file;
  std::string secret;
  if (!options.other_access_key_id.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(secret, SecretOf(credentials));
  }
  ClientOptions client_options{.endpoint = endpoint,
                               .access_key_id = options.other_access_key_id,
                               .secret_access_key = std::move(secret)};
  if (!options.other_tls_ca.empty()) client_options.tls = TlsOptions{.ca_file = options.other_tls_ca};
  absl::StatusOr<Client> client = Client::Open(std::move(client_options));
  if (!client.ok()) return UsageError(std::string(client.status().message()));
  return client;
}

absl::StatusOr<MoveOptions> OptionsOf(Context& context, const MoveCommandOptions& options) {
  std::optional<Client> streams;
  if (const std::string endpoint = StreamsEndpointOf(options.other_endpoint);
      endpoint != options.other_endpoint) {
    ITEMDB_ASSIGN_OR_RETURN(streams, OpenOther(options, endpoint));
  }
  const auto mutex = std::make_shared<std::mutex>();
  return MoveOptions{.state_path = options.state_path,
                     .table_names = options.table_names,
                     .overwrite = options.overwrite,
                     .back = options.back || options.follow_back,
                     .enable_streams = options.enable_streams,
                     .other_streams = std::move(streams),
                     .workers = options.workers,
                     .max_items_per_second = static_cast<double>(options.max_items_per_second),
                     .hold = absl::Seconds(options.hold_seconds),
                     .patience = absl::Seconds(options.patience_seconds),
                     .switch_patience = absl::Seconds(options.switch_patience_seconds),
                     .cancel = context.session().cancel(),
                     .say =
                         [&context, mutex](const std::string& line) {
                           std::lock_guard<std::mutex> lock(*mutex);
                           context.err() << line << std::endl;
                         },
                     .progress = ProgressStream(context)};
}

void PrintPlan(Context& context, const MovePlan& plan) {
  for (const std::string& warning : plan.warnings) context.err() << "warning: " << warning << std::endl;
  if (context.format() == OutputFormat::kTable) {
    TextTable table({{"table"},
                     NumberColumn("items"),
                     NumberColumn("bytes"),
                     NumberColumn("indexes"),
                     {"stream"},
                     {"time to live"},
                     {"in the target"},
                     {"problem"}});
    for (const TablePlan& one : plan.tables) {
      const TableDescription& source = one.source;
      const std::string there =
          one.may_have_items_in_target ? "may have items" : CountText(one.items_in_target, kItemNoun);
      table.AddRow(
          {source.definition.table_name, WithSeparators(source.item_count),
           WithSeparators(source.table_size_bytes),
           absl::StrCat(source.indexes.size() + source.local_indexes.size() + source.vector_indexes.size()),
           source.definition.stream_enabled ? "yes" : "", one.time_to_live_attribute,
           one.exists_in_target ? there : "is made", one.problem});
    }
    context.Print(table);
    context.out() << absl::StrFormat(
        "%s, %s, %s write units; about %s\n", CountText(plan.items, kItemNoun), BytesText(plan.bytes),
        WithSeparators(plan.write_units),
        absl::FormatDuration(absl::Ceil(plan.expected_copy_time, absl::Seconds(1))));
    return;
  }
  JsonValue tables = JsonValue::Array();
  for (const TablePlan& one : plan.tables) {
    const TableDescription& source = one.source;
    JsonValue row =
        JsonValue::Object()
            .Add("table_name", source.definition.table_name)
            .Add("item_count", source.item_count)
            .Add("size_bytes", source.table_size_bytes)
            .Add("index_count", static_cast<int64_t>(source.indexes.size() + source.local_indexes.size() +
                                                     source.vector_indexes.size()))
            .Add("stream_enabled", source.definition.stream_enabled)
            .Add("time_to_live_attribute", one.time_to_live_attribute)
            .Add("exists_in_target", one.exists_in_target)
            .Add("target_item_count", one.items_in_target)
            .Add("target_may_have_items", one.may_have_items_in_target)
            .Add("problem", one.problem);
    tables.elements.push_back(std::move(row));
  }
  context.Print(JsonValue::Object()
                    .Add("tables", std::move(tables))
                    .Add("item_count", plan.items)
                    .Add("size_bytes", plan.bytes)
                    .Add("write_units", plan.write_units)
                    .Add("expected_seconds",
                         absl::ToInt64Seconds(absl::Ceil(plan.expected_copy_time, absl::Seconds(1)))));
}

// `step`: where the move is.
void PrintReport(Context& context, const Move& move, std::string_view step) {
  const MoveReport report = move.report();
  for (size_t i = 0; i < std::min(report.repaired.size(), kShownDifferences); ++i) {
    const Difference& difference = report.repaired[i];
    context.err() << "written again: table " << difference.table_name << ", "
                  << DifferenceName(difference.kind) << ": "
                  << OneLine(ItemToJson(difference.key, ItemForm::kPlain)) << std::endl;
  }
  const int64_t copy_ms = absl::ToInt64Milliseconds(report.copy_time);
  JsonValue summary = JsonValue::Object()
                          .Add("step", step)
                          .Add("items_copied", report.items_copied)
                          .Add("copy_ms", copy_ms)
                          .Add("changes_applied", report.changes_applied)
                          .Add("items_compared", report.items_compared)
                          .Add("differences", static_cast<int64_t>(report.repaired.size()))
                          .Add("lag_ms", absl::ToInt64Milliseconds(report.lag));
  if (report.pause.has_value()) summary.Add("write_pause_ms", absl::ToInt64Milliseconds(*report.pause));
  context.PrintSummary(summary);
}

// Follows until it is interrupted; says once in a while how far it is.
absl::Status FollowOn(Context& context, const Move& move) {
  for (int rounds = 0; !context.session().interrupted(); ++rounds) {
    const Follower& follower = *move.follower_or_null();
    if (follower.has_failed()) return absl::OkStatus();
    if (rounds % 50 == 0) {
      // A stream does not tell how many changes follow.
      const std::string place = follower.behind() < 0
                                    ? CountText(follower.applied(), kChangeNoun) + " applied"
                                    : absl::StrFormat("change %d, %s behind", follower.place(),
                                                      CountText(follower.behind(), kChangeNoun));
      context.err() << absl::StrFormat("following: %s, %d ms from commit to the other side", place,
                                       absl::ToInt64Milliseconds(follower.lag()))
                    << std::endl;
    }
    absl::SleepFor(absl::Milliseconds(100));
  }
  return absl::CancelledError("interrupted; the same command goes on");
}

// `is_confirmed`: the user was asked by an earlier run, which was killed at the switch.
absl::Status VerifyAndSwitch(Context& context, const MoveCommandOptions& options, bool is_confirmed,
                             Move& move) {
  ITEMDB_RETURN_IF_ERROR(move.Verify());
  if (options.follow && move.step() < MoveStep::kSwitched) {
    ITEMDB_RETURN_IF_ERROR(FollowOn(context, move));
    return move.Verify();
  }
  if (!is_confirmed && move.step() < MoveStep::kSwitched) {
    const std::string action = absl::StrFormat(
        "stop writes of the tables at %s for a moment, and send writers to %s from then on",
        context.options().endpoint.empty() ? std::string("the source") : context.options().endpoint,
        options.other_endpoint);
    ITEMDB_ASSIGN_OR_RETURN(const bool goes_on,
                            Confirm(context, options.confirm, action, Unattended::kRefuse));
    if (!goes_on) return absl::OkStatus();
    ITEMDB_RETURN_IF_ERROR(move.CompareUntilFew());
  }
  return move.Switch();
}

absl::Status CheckMoveOptions(const MoveCommandOptions& options) {
  if (options.abort + options.back + options.follow + options.follow_back + options.confirm.dry_run > 1)
    return UsageError("--abort, --back, --follow, --follow-back and --dry-run exclude each other");
  return absl::OkStatus();
}

// Calls `step`, and again after a new beginning when the changes cannot be read.
absl::Status WithNewBeginnings(Context& context, Move& move, const std::function<absl::Status()>& step) {
  absl::Status status = step();
  for (int i = 0; i < kMostBeginnings && absl::IsOutOfRange(status); ++i) {
    context.err() << status.message() << std::endl;
    status = move.BeginAgainByComparison();
    if (status.ok()) status = step();
  }
  return status;
}

// All steps, with new beginnings when the changes cannot be read.
absl::Status RunSteps(Context& context, const MoveCommandOptions& options, Move& move) {
  const bool is_confirmed = move.step() == MoveStep::kFenced && !options.follow;
  ITEMDB_RETURN_IF_ERROR(move.Copy());
  ITEMDB_RETURN_IF_ERROR(move.StartFollowing());
  return WithNewBeginnings(context, move,
                           [&] { return VerifyAndSwitch(context, options, is_confirmed, move); });
}

// Follows the changes of a source without fences, and ends when its writers have stopped.
absl::Status FollowToTheEnd(Context& context, const MoveCommandOptions& options, Move& move) {
  bool has_begun = false;
  return WithNewBeginnings(context, move, [&]() -> absl::Status {
    if (!std::exchange(has_begun, true)) ITEMDB_RETURN_IF_ERROR(move.StartFollowing());
    ITEMDB_RETURN_IF_ERROR(move.Verify());
    // Until Ctrl-C, or a failure of the follower, which the next call tells.
    if (options.follow) {
      ITEMDB_RETURN_IF_ERROR(FollowOn(context, move));
      return move.AwaitQuiet(absl::InfiniteDuration());
    }
    return move.FinishWhenQuiet(absl::Seconds(options.quiet_seconds));
  });
}

// After the switch: follows the target's changes, and brings the tables back unless that is all.
absl::Status FollowBack(Context& context, const MoveCommandOptions& options, Move& move) {
  bool has_begun = false;
  ITEMDB_RETURN_IF_ERROR(WithNewBeginnings(context, move, [&]() -> absl::Status {
    if (!std::exchange(has_begun, true)) ITEMDB_RETURN_IF_ERROR(move.StartFollowingBack());
    ITEMDB_RETURN_IF_ERROR(move.Verify());
    if (options.follow_back) {
      ITEMDB_RETURN_IF_ERROR(FollowOn(context, move));
      return move.AwaitQuiet(absl::InfiniteDuration());
    }
    context.err() << "following the target; its writers must stop now, if they have not yet" << std::endl;
    ITEMDB_RETURN_IF_ERROR(move.AwaitQuiet(absl::Seconds(options.quiet_seconds)));
    return move.CompareUntilFew();
  }));
  return move.GoBack();
}

void AddMoveOptions(CLI::App* command, MoveCommandOptions& options, const std::string& other) {
  command->add_option("--tables", options.table_names, "Only these tables. Default: all of the source")
      ->delimiter(',')
      ->type_name("NAME,...");
  command
      ->add_option("--state", options.state_path,
                   "The file that holds how far the move is. Default: itemctl-move.json")
      ->type_name("FILE");
  command->add_flag("--overwrite", options.overwrite,
                    "Tables of the target with the same definition may have items, which are overwritten or "
                    "deleted. Default: such tables are refused");
  command
      ->add_option("--workers", options.workers, "The most pages under way at a time, 1 to 256. Default: 16")
      ->check(WholeNumberBetween(1, 256))
      ->type_name("N");
  command
      ->add_option("--max-rate", options.max_items_per_second,
                   "The most items to copy in a second. Default: no bound")
      ->check(WholeNumberFrom(0))
      ->type_name("N");
  command
      ->add_option(
          "--quiet", options.quiet_seconds,
          "How long no change must have come, in seconds, before writers that the command cannot stop "
          "itself count as stopped. Default: 5")
      ->check(SecondsBetween(0.1, 86'400))
      ->type_name("SECONDS");
  command->add_flag("--enable-streams", options.enable_streams,
                    "Tables of the " + other +
                        " without a DynamoDB Stream get one where it is needed to follow their changes. "
                        "Default: they are compared instead");
  command
      ->add_option("--patience", options.patience_seconds,
                   "How long a side may be away before the command stops, in seconds; run it again to go "
                   "on. Default: 300")
      ->check(SecondsBetween(0.1, 86'400))
      ->type_name("SECONDS");
  command
      ->add_option(
          "--hold", options.hold_seconds,
          "How long a source that is itemd keeps the changes that this command needs after it was last "
          "heard of, in seconds, 0 to 2592000; 0: no longer than other changes. Default: 259200")
      ->check(WholeNumberBetween(0, 2'592'000))
      ->type_name("SECONDS");
  command
      ->add_option("--" + other + "-tls-ca", options.other_tls_ca,
                   "Reach the " + other + " with TLS, and trust this authority. Default: no TLS")
      ->type_name("FILE");
  command
      ->add_option("--" + other + "-access-key-id", options.other_access_key_id,
                   "The access key for the " + other + ". Default: none; for a URL as AWS tools find it")
      ->type_name("ID");
  command
      ->add_option(
          "--" + other + "-secret-access-key-file", options.other_secret_file,
          "The file with its secret. Default: the environment variable " + std::string(kSecretVariable))
      ->type_name("FILE");
}

}  // namespace

absl::Status RunGraduate(Context& context, const MoveCommandOptions& options) {
  ITEMDB_RETURN_IF_ERROR(CheckMoveOptions(options));
  ITEMDB_ASSIGN_OR_RETURN(Client source, context.OpenClient());
  if (source.endpoint().find("://") != std::string::npos)
    return UsageError(
        "graduate reads the change log and stops writers, which the source offers at its gRPC "
        "address only: give --endpoint HOST:PORT");
  ITEMDB_ASSIGN_OR_RETURN(Client target, OpenOther(options, options.other_endpoint));
  ITEMDB_ASSIGN_OR_RETURN(MoveOptions move_options, OptionsOf(context, options));
  Move move(std::move(source), std::move(target), std::move(move_options));
  if (options.confirm.dry_run) {
    ITEMDB_ASSIGN_OR_RETURN(const MovePlan plan, move.Plan());
    PrintPlan(context, plan);
    return CheckPlan(plan);
  }
  if (options.abort) return move.Abort();
  ITEMDB_RETURN_IF_ERROR(move.Open());
  absl::Status status;
  if (options.back) {
    ITEMDB_ASSIGN_OR_RETURN(const bool goes_on,
                            Confirm(context, options.confirm,
                                    "bring the tables back from " + options.other_endpoint +
                                        ", whose writers must be stopped if it is no itemd; writers of the "
                                        "source wait meanwhile",
                                    Unattended::kRefuse));
    if (!goes_on) return absl::OkStatus();
    ITEMDB_ASSIGN_OR_RETURN(const bool by_streams, move.GoesBackByStreams());
    status = by_streams ? FollowBack(context, options, move) : move.GoBack();
  } else if (options.follow_back) {
    status = FollowBack(context, options, move);
  } else {
    status = RunSteps(context, options, move);
  }
  if (status.ok()) PrintReport(context, move, options.back ? "BACK" : StepName(move.step()));
  return move.Explained(status);
}

namespace {

// All steps of taking tables over. False: the source went on changing.
absl::StatusOr<bool> RunAdoptSteps(Context& context, const MoveCommandOptions& options, Move& move) {
  bool follows = false;
  // A move that is done needs no streams of the source.
  if (move.step() != MoveStep::kDone) {
    // Before the copy: a stream must have all changes since.
    ITEMDB_ASSIGN_OR_RETURN(follows, move.CanFollow());
    if (options.follow && !follows)
      return UsageError("--follow needs a DynamoDB Stream of every table: give --enable-streams");
  }
  ITEMDB_RETURN_IF_ERROR(move.Copy());
  if (!follows) return move.CompareUntilEqual(options.passes);
  ITEMDB_RETURN_IF_ERROR(FollowToTheEnd(context, options, move));
  return true;
}

// Opens the exports: their tables are what is taken over.
absl::Status ReadExports(const MoveCommandOptions& options, MoveOptions& move_options) {
  // Giving up needs none.
  if (options.abort) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(move_options.exports, OpenExports(options.exports));
  const std::set<std::string> wanted(options.table_names.begin(), options.table_names.end());
  for (const std::string& name : wanted) {
    if (!move_options.exports.contains(name))
      return UsageError("--from-export has no export of table " + name +
                        "; with it all tables come from exports");
  }
  for (const auto& [name, from] : move_options.exports) {
    if (!wanted.empty() && !wanted.contains(name))
      return UsageError("the export in " + from.directory() + " is of table " + name +
                        ", which is not one of --tables");
    if (wanted.empty()) move_options.table_names.push_back(name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunAdopt(Context& context, const MoveCommandOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client target, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(Client source, OpenOther(options, options.other_endpoint));
  ITEMDB_ASSIGN_OR_RETURN(MoveOptions move_options, OptionsOf(context, options));
  move_options.adopts = true;
  if (!options.exports.empty()) ITEMDB_RETURN_IF_ERROR(ReadExports(options, move_options));
  Move move(std::move(source), std::move(target), std::move(move_options));
  if (options.confirm.dry_run) {
    ITEMDB_ASSIGN_OR_RETURN(const MovePlan plan, move.Plan());
    PrintPlan(context, plan);
    return CheckPlan(plan);
  }
  if (options.abort) return move.Abort();
  ITEMDB_RETURN_IF_ERROR(move.Open());
  const absl::StatusOr<bool> is_equal = RunAdoptSteps(context, options, move);
  if (!is_equal.ok()) return move.Explained(is_equal.status());
  PrintReport(context, move, StepName(move.step()));
  if (*is_equal) return absl::OkStatus();
  return ToolError(
      ExitCode::kFindings,
      "the source changed during every comparison: stop its writers, then run the command again");
}

void RegisterMoveCommands(CommandTable& table) {
  auto graduate = std::make_shared<MoveCommandOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "graduate",
       .summary = "Move tables to another database, with writers going on",
       .details =
           "Makes the tables in TARGET, copies their items, applies the changes that come meanwhile, and "
           "compares both sides. Then it asks, and switches: itemd refuses writes of the tables for a "
           "moment, "
           "until TARGET has the last ones, and from then on tells writers to go to TARGET. The same command "
           "goes on where an earlier one ended, however it ended. TARGET is HOST:PORT of another itemd, or "
           "the "
           "URL of a service of DynamoDB's protocol.",
       .examples = {{"itemctl graduate $TARGET --dry-run", "show what would be copied"},
                    {"itemctl graduate $TARGET --tables music --yes",
                     "move one table, without being asked"}}},
      [graduate](Context& context) { return RunGraduate(context, *graduate); });
  command->add_option("TARGET", graduate->other_endpoint, "Where the tables move to")->required();
  AddMoveOptions(command, *graduate, "target");
  command
      ->add_option("--switch-patience", graduate->switch_patience_seconds,
                   "How long writers may have to wait at the switch, in seconds; then it is given up, and "
                   "they go on at the source. Default: 20")
      ->check(SecondsBetween(0.1, 86'400))
      ->type_name("SECONDS");
  command->add_flag("--follow", graduate->follow,
                    "Follow the changes until Ctrl-C, and do not switch. Default: switch when all is equal");
  command->add_flag("--abort", graduate->abort,
                    "Give the move up: writers go on at the source. Not after the switch. Default: go on");
  command->add_flag("--back", graduate->back,
                    "After the switch: bring the tables back to the source. Default: go on");
  command->add_flag("--follow-back", graduate->follow_back,
                    "After the switch: apply the changes of TARGET to the source until Ctrl-C, while writers "
                    "stay at TARGET. Default: the source stays as it is");
  AddConfirmOptions(command, graduate->confirm, "Print what would be done, and do nothing");

  auto adopt = std::make_shared<MoveCommandOptions>();
  command = table.Add(
      &table.root(),
      {.name = "adopt",
       .summary = "Take tables over from another database",
       .details =
           "Makes the tables in itemd, copies their items from SOURCE, compares both sides, and follows "
           "the changes of SOURCE by the tables' DynamoDB Streams, or of another itemd by its change log, "
           "while its writers go on. Stop them when it says so: it ends when no change has come for --quiet "
           "seconds and, by streams, a last comparison finds nothing. Tables without a stream are compared "
           "until they are equal instead; writers must stop "
           "before the last comparison, and what differs after --passes comparisons is exit code 7. The same "
           "command goes on where an earlier one ended. SOURCE is the URL of a service of DynamoDB's "
           "protocol, "
           "or HOST:PORT of another itemd. Until it ends itemd refuses other writes of the tables.",
       .examples = {{"itemctl adopt $SOURCE --dry-run", "show what would be copied"},
                    {"itemctl adopt $SOURCE --tables music", "copy one table"}}},
      [adopt](Context& context) { return RunAdopt(context, *adopt); });
  command->add_option("SOURCE", adopt->other_endpoint, "Where the tables come from")->required();
  AddMoveOptions(command, *adopt, "source");
  command->add_flag("--follow", adopt->follow,
                    "Follow the changes until Ctrl-C, and do not end. Default: end when no change comes");
  command
      ->add_option(
          "--from-export", adopt->exports,
          "Copy the items from exports of the tables, one of each, in DynamoDB's layout: folders of "
          "this machine with manifest-summary.json. Then changes are followed. Default: SOURCE is read")
      ->delimiter(',')
      ->type_name("DIR,...");
  command
      ->add_option("--passes", adopt->passes,
                   "The most comparisons of tables whose changes cannot be followed, 1 to 1000. Default: 5")
      ->check(WholeNumberBetween(1, 1000))
      ->type_name("N");
  command->add_flag(
      "--abort", adopt->abort,
      "Give it up: itemd takes writes of the tables, which have what was copied. Default: go on");
  command->add_flag("--dry-run", adopt->confirm.dry_run, "Print what would be done, and do nothing");
}

}  // namespace itemdb::tools
