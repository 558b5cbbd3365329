#!/usr/bin/python3
"""What dynalite lacks is told by name; all else of itemctl's commands on items and tables gives itemd's answers there.

dynalite_test.py ITEMD ITEMCTL NODE EXAMPLES DOCS [PART]...

dynalite comes from npm, into node_modules beside this program's copy. What it lacks is what DOCS/outgrowing.md says.
PART: only these, by the names of their functions.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.request

import botocore.auth
import botocore.awsrequest
import botocore.credentials

from engines import (Itemd, Mover, Writers, client_of, dynalite, environment, items_of, kill, make_table, run_test,
                     wait_until, work)

itemd, itemctl, node = sys.argv[1:4]
Mover.itemctl = itemctl
examples, docs = map(pathlib.Path, sys.argv[4:6])

PUT = '[{"Put": {"TableName": "things", "Item": {"pk": {"S": "a"}, "sk": {"N": "9"}}}}]'
GET = '[{"Get": {"TableName": "things", "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}}}}]'
INDEX = ["index", "add", "things", "ByValue", "--hash", "value:N"]
UPDATE = ["table", "update", "things"]
STATEMENT = "SELECT * FROM things WHERE pk = 'a'"

# By the words of the document: commands, and how each is told what is missing. {engine} is the endpoint.
LACKS = {
    "transactions": [
        (["transact", "--transact-items", PUT], "{engine} does not offer the operation TransactWriteItems"),
        (["transact", "--transact-items", GET], "{engine} does not offer the operation TransactGetItems"),
        (["order-entry", "place-order", "ord_900", "cust_001", "--date", "2026-01-20", "--rep", "rep_001", "--line",
          "prod_100", "wh_sea", "3", "25.00"], "{engine} does not offer the operation TransactWriteItems"),
        (["order-entry", "move-stock", "prod_100", "wh_sea", "wh_pdx", "5"],
         "{engine} does not offer the operation TransactWriteItems"),
        (["order-entry", "restock", "prod_100", "wh_sea", "5"],
         "{engine} does not offer the operation TransactWriteItems")],
    "PartiQL": [
        (["partiql", STATEMENT], "{engine} does not offer the operation ExecuteStatement"),
        (["partiql", "--transaction", STATEMENT], "{engine} does not offer the operation ExecuteTransaction")],
    "indexes that are added or deleted later": [
        (INDEX, "{engine} does not offer adding an index to a table later: ByValue of table things"),
        ([*INDEX, "--wait"], "{engine} does not offer adding an index to a table later: ByValue of table things"),
        (["model", "apply", "LATER"],
         "{engine} does not offer adding an index to a table later: ByTotal of table ecommerce"),
        (["index", "drop", "ecommerce", "ProductCustomers", "--yes"],
         "{engine} does not offer deleting an index of a table: ProductCustomers of table ecommerce")],
    "index keys of more than two attributes": [
        (["order-entry", "load"], "{engine} does not offer index keys of more than two attributes, as the index "
         "OrderByCustomerDate of table Order has one"),
        (["generate", "--orders", "10"], "{engine} does not offer index keys of more than two attributes, as the index "
         "OrderByCustomerDate of table Order has one"),
        (["model", "apply", "order_entry"], "{engine} does not offer index keys of more than two attributes, as the "
         "index OrderByCustomerDate of table Order has one"),
        (["model", "apply", "one_to_many"], "{engine} does not offer index keys of more than two attributes, as the "
         "index StoresByPlace of table Stores has one")],
    "time to live": [(["ttl", "enable", "things", "expires"], "{engine} does not offer the operation UpdateTimeToLive")],
    "streams": [([*UPDATE, "--stream-enabled", "--stream-view-type", "KEYS_ONLY"],
                 "{engine} does not offer StreamSpecification in UpdateTable")],
    "deletion protection": [([*UPDATE, "--deletion-protection-enabled"],
                             "{engine} does not offer DeletionProtectionEnabled in UpdateTable")],
    "table classes": [([*UPDATE, "--table-class", "STANDARD_INFREQUENT_ACCESS"],
                       "{engine} does not offer TableClass in UpdateTable")],
    "settings of encryption": [([*UPDATE, "--sse-type", "KMS"],
                                "{engine} does not offer SSESpecification in UpdateTable")],
    "on-demand and warm throughput": [
        ([*UPDATE, "--on-demand-throughput", "5,5"], "{engine} does not offer OnDemandThroughput in UpdateTable"),
        ([*UPDATE, "--warm-throughput", "12000,4000"], "{engine} does not offer WarmThroughput in UpdateTable")],
    "vector indexes": [(["search", "things", "ByMeaning", "--near", "[1, 2]"],
                        "{engine} does not offer the operation SearchVectors")],
    "contributor insights": [
        (["contributors", "list"], "{engine} does not offer the operation ListContributorInsights"),
        (["contributors", "enable", "things"], "{engine} does not offer the operation UpdateContributorInsights")],
    "quotas": [(["table", "limits"], "{engine} does not offer the operation DescribeLimits")],
}

# Of itemd's gRPC only, at whatever address of HTTP.
OVER_GRPC_ONLY = [["status"], ["check"], ["changes", "read"], ["change-holds", "list"], ["backup", "list"],
                  ["table-backup", "list"], ["pitr", "status", "things"], ["export", "list"], ["import", "list"],
                  ["damage", "list"], ["patterns"]]


def call(endpoint, *arguments):
    result = subprocess.run([itemctl, "--endpoint", endpoint, "-o", "jsonl", *arguments], text=True,
                            capture_output=True, check=False, env=environment)
    return result.returncode, result.stdout, result.stderr


def done(endpoint, *arguments):
    code, out, error = call(endpoint, *arguments)
    assert code == 0, (endpoint, arguments, code, error)
    return [json.loads(line) for line in out.splitlines()]


def same(engine, *arguments, order=True):
    """The output of the command, which succeeds, is that of itemd."""
    expected, got = done(reference.http, *arguments), done(engine.http, *arguments)
    if not order:
        expected, got = (sorted(map(json.dumps, lines)) for lines in (expected, got))
    assert got == expected, (arguments, expected, got)
    return got


def refused(endpoint, words, *arguments):
    """In one error, which says that it is not offered, and what."""
    code, _, error = call(endpoint, *arguments)
    told = json.loads(error.splitlines()[-1])["error"]
    assert code == 1 and told["code"] == "UNIMPLEMENTED", (arguments, code, error)
    assert words in told["message"], (words, told)


def model_with(model, change):
    """A copy of the model's folder whose tables are changed."""
    folder = work / f"{model}-{change.__name__}"
    shutil.copytree(examples / model, folder)
    for file in folder.glob("*.table.json"):
        table = json.loads(file.read_text(encoding="utf-8"))
        change(table)
        keys = [key for part in [table, *table.get("GlobalSecondaryIndexes", [])] for key in part["KeySchema"]]
        used = {key["AttributeName"] for key in keys}
        table["AttributeDefinitions"] = [one for one in table["AttributeDefinitions"] if one["AttributeName"] in used]
        file.write_text(json.dumps(table), encoding="utf-8")
    return folder


def with_index_of_total(table):
    table["AttributeDefinitions"].append({"AttributeName": "total", "AttributeType": "N"})
    table["GlobalSecondaryIndexes"].append({"IndexName": "ByTotal", "Projection": {"ProjectionType": "ALL"},
                                            "KeySchema": [{"AttributeName": "total", "KeyType": "HASH"}]})


def without_long_keys(table):
    table["GlobalSecondaryIndexes"] = [one for one in table.get("GlobalSecondaryIndexes", [])
                                       if len(one["KeySchema"]) <= 2]
    if not table["GlobalSecondaryIndexes"]:
        del table["GlobalSecondaryIndexes"]


def make_things(endpoint, name="things", count=7):
    document = work / f"{name}.json"
    document.write_text(json.dumps({
        "TableName": name, "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
                                 {"AttributeName": "sk", "AttributeType": "N"}]}), encoding="utf-8")
    done(endpoint, "table", "create", "-f", str(document))
    lines = "".join(json.dumps({"pk": {"S": "a"}, "sk": {"N": str(i)}, "value": {"N": f"{i}.5"}, "raw": {"B": "AAH/"},
                                "map": {"M": {"x": {"L": [{"NULL": True}, {"BOOL": False}, {"SS": ["b"]}]}}}}) + "\n"
                    for i in range(count))
    subprocess.run([itemctl, "--endpoint", endpoint, "batch-write", name], input=lines, text=True, check=True,
                   stdout=subprocess.DEVNULL, env=environment)


def names_what_is_missing(engine):
    """Each by name, and they are those of the document."""
    [row] = [line for line in (docs / "outgrowing.md").read_text(encoding="utf-8").splitlines()
             if line.startswith("| dynalite |")]
    in_words = row.split("|")[3].strip().removeprefix("what DynamoDB lacks, and ").split(", ")
    assert in_words == list(LACKS), (in_words, list(LACKS))
    later = model_with("ecommerce_single_table", with_index_of_total)
    folders = {"LATER": later, "order_entry": examples / "order_entry", "one_to_many": examples / "one_to_many"}
    done(engine.http, "model", "apply", str(examples / "ecommerce_single_table"))
    for commands in LACKS.values():
        for arguments, words in commands:
            if arguments[0] == "model":
                arguments = [*arguments[:2], str(folders[arguments[2]])]
            refused(engine.http, words.format(engine=engine.http), *arguments)
    # With a throughput it takes the request, and makes no index.
    done(engine.http, *UPDATE, "--billing-mode", "PROVISIONED", "--provisioned-throughput", "5,5")
    wait_until_active(engine, "things")
    refused(engine.http, f"{engine.http} does not offer adding an index to a table later: ByValue of table things",
            *INDEX, "--provisioned-throughput", "5,5")
    for arguments in OVER_GRPC_ONLY:
        refused(engine.http, "is not offered over HTTP", *arguments)
    # Nothing of it was done.
    assert [line["TableName"] for line in done(engine.http, "table", "list")] == [
        "Books", "Customer", "Customers", "Employee", "Organizations", "ecommerce", "things"]
    assert done(engine.http, "index", "status", "things")[0]["GlobalSecondaryIndexes"] == []
    assert done(engine.http, "count", "things")[0]["Count"] == 7


def wait_until_active(engine, table):
    while done(engine.http, "table", "describe", table)[0]["TableStatus"] != "ACTIVE":
        time.sleep(0.02)


def answers_as_itemd(engine):
    """Commands on items and tables."""
    same(engine, "scan", "things", order=False)
    same(engine, "scan", "things", "--segments", "4", order=False)
    same(engine, "scan", "things", "--filter", "sk > :n", "--values", '{":n": 4}', "--projection", "sk, map.x[0]",
         order=False)
    key = ["--key-condition", "pk = :a AND sk BETWEEN :from AND :to", "--values", '{":a": "a", ":from": 1, ":to": 5}']
    assert len(same(engine, "query", "things", *key)) == 5
    same(engine, "query", "things", *key, "--no-scan-index-forward", "--limit", "2")
    same(engine, "query", "things", *key, "--page-size", "1", "--typed")
    same(engine, "count", "things", *key)
    same(engine, "count", "things")
    same(engine, "batch-get", "--plain", "--request-items",
         '{"things": {"Keys": [{"pk": "a", "sk": 5}, {"pk": "a", "sk": 99}, {"pk": "a", "sk": 1}]}}')
    for side in (reference, engine):
        done(side.http, "item", "update", "things", '{"pk": "a", "sk": 1}', "--update", "SET #v = #v + :n", "--names",
             '{"#v": "value"}', "--values", '{":n": 1}')
        done(side.http, "item", "delete", "things", '{"pk": "a", "sk": 2}')
        assert call(side.http, "item", "put", "things", '{"pk": "a", "sk": 1}', "--condition",
                    "attribute_not_exists(pk)")[0] == 4
        done(side.http, "table", "tag", "things", "team=sales")
        done(side.http, "export", "table", "things", str(work / f"files-{side.name}"))
        done(side.http, "import", "table", "copies", str(work / f"files-{side.name}"), "--create")
    same(engine, "item", "get", "things", '{"pk": "a", "sk": 1}')
    same(engine, "scan", "copies", order=False)
    for side in (reference, engine):
        assert done(side.http, "table", "describe", "things")[0]["Tags"] == [{"Key": "team", "Value": "sales"}]
        done(side.http, "table", "untag", "things", "team")
        done(side.http, "table", "delete", "copies", "--yes")


def order_entry_without_long_keys(engine):
    """The patterns of order entry but those whose index is missing, which is told."""
    done(reference.http, "order-entry", "load")
    done(engine.http, "model", "apply", str(model_with("order_entry", without_long_keys)), "--items")
    told = {}
    for answer in done(reference.http, "order-entry", "all"):
        if answer["index"] not in ("OrderByCustomerDate", "OpenOrdersByDate"):
            same(engine, "order-entry", answer["name"])
            continue
        code, _, error = call(engine.http, "order-entry", answer["name"])
        assert code == 1, error
        told[answer["name"]] = json.loads(error)["error"]["message"]
    assert told == {
        "customer-orders": "The table does not have the specified index: OrderByCustomerDate",
        "open-orders": f"{engine.http} does not offer key conditions on more than two attributes (Conditions can be of "
                       "length 1 or 2 only)"}, told
    for side in (reference, engine):
        done(side.http, "order-entry", "close-order", "ord_002")
    key = '{"PK": "ord_002", "SK": "ord_002"}'
    assert same(engine, "item", "get", "Order", key)[0]["status"] == "CLOSED"


# What a table has that dynalite lacks, and how the plan of a move says what to do in the source.
FEATURES = {
    "time to live": "itemctl ttl disable full",
    "a stream": "itemctl table update full --no-stream-enabled",
    "deletion protection": "itemctl table update full --no-deletion-protection-enabled",
    "the table class STANDARD_INFREQUENT_ACCESS": "itemctl table update full --table-class STANDARD",
    "a setting of encryption": "itemctl table update full --sse-type DISABLED",
    "an on-demand throughput": "itemctl table update full --on-demand-throughput -1,-1",
    "the index ByThree, whose key has more than two attributes": "itemctl index drop full ByThree",
    "the vector index ByMeaning": "delete it by UpdateTable",
}


def make_full(endpoint):
    document = work / "full.json"
    document.write_text(json.dumps({
        "TableName": "full", "BillingMode": "PAY_PER_REQUEST", "DeletionProtectionEnabled": True,
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "a", "b", "c")],
        "GlobalSecondaryIndexes": [{"IndexName": "ByThree", "Projection": {"ProjectionType": "ALL"}, "KeySchema": [
            {"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "b", "KeyType": "RANGE"},
            {"AttributeName": "c", "KeyType": "RANGE"}]}],
        "VectorIndexes": [{"IndexName": "ByMeaning", "VectorAttribute": {"AttributeName": "v"}, "Dimensions": 2,
                           "DistanceFunction": "COSINE", "Projection": {"ProjectionType": "KEYS_ONLY"}}],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        "TableClass": "STANDARD_INFREQUENT_ACCESS", "SSESpecification": {"Enabled": True, "SSEType": "KMS"},
        "OnDemandThroughput": {"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 100},
        "Tags": [{"Key": "team", "Value": "sales"}]}), encoding="utf-8")
    done(endpoint, "table", "create", "-f", str(document))
    done(endpoint, "ttl", "enable", "full", "expires")
    done(endpoint, "transact", "--transact-items",
         '[{"Put": {"TableName": "full", "Item": {"pk": {"S": "a"}, "a": {"S": "x"}}}}]')


def delete_vector_index(side):
    # botocore does not know the member.
    body = {"TableName": "full", "VectorIndexUpdates": [{"Delete": {"IndexName": "ByMeaning"}}]}
    signed = botocore.awsrequest.AWSRequest("POST", side.http, data=json.dumps(body), headers={
        "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.UpdateTable"})
    key = botocore.credentials.Credentials("test", "test")
    botocore.auth.SigV4Auth(key, "dynamodb", "eu-central-1").add_auth(signed)
    urllib.request.urlopen(urllib.request.Request(side.http, signed.data.encode(), dict(signed.headers))).close()


def state_of(side):
    """Tables with their definitions, and of itemd the number of changes."""
    tables = [line["TableName"] for line in done(side.http, "table", "list")]
    described = [done(side.http, "table", "describe", table) for table in tables]
    return described, done(side.grpc, "status")[0]["change_sequence"] if side is not engine else None


def plan_names_what_the_target_lacks(engine):
    """With what to do, before anything is changed; after that the table moves."""
    source = reference
    make_full(source.grpc)
    graduate = ["graduate", engine.http, "--tables", "full", "--state", str(work / "graduate.json")]
    before = state_of(source), state_of(engine)
    for more in (["--dry-run"], ["--yes"]):
        code, out, error = call(source.grpc, *graduate, *more)
        assert code == 1, (out, error)
        problem = json.loads(error.splitlines()[-1])["error"]["message"]
        expected = "; ".join(re.escape(f"{feature} ({remedy}; it says: ") + ".+[)]" for feature, remedy in FEATURES.items())
        assert re.fullmatch(re.escape(f"the target {engine.http} lacks what table full has: ") + expected +
                            ": change the source so, or move to a target that has it", problem, re.DOTALL), problem
        if more == ["--dry-run"]:
            assert json.loads(out)["tables"][0]["problem"] == problem, out
            assert error.splitlines()[0] == (
                f"warning: programs call TransactWriteItems for table full, which the target {engine.http} does not "
                "offer: change them first, or move to another target"), error
        assert (state_of(source), state_of(engine)) == before
    for remedy in FEATURES.values():
        if remedy.startswith("itemctl "):
            confirmed = ["--yes"] if "index drop" in remedy else []
            done(source.grpc, *remedy.split()[1:], *confirmed)
    delete_vector_index(source)
    plan = done(source.grpc, *graduate, "--dry-run")[0]
    assert plan["tables"][0]["problem"] == "", plan
    report = done(source.grpc, *graduate, "--yes")[-1]
    assert report["step"] == "DONE" and report["items_copied"] == 1, report
    assert done(engine.http, "table", "describe", "full")[0]["Tags"] == [{"Key": "team", "Value": "sales"}]
    assert done(engine.http, "scan", "full") == [{"pk": "a", "a": "x"}]


def adopt_by_comparison(engine):
    """From an engine without streams while it is written to, with kill -9 while items are copied and compared."""
    source, target = client_of(engine.http), Itemd(itemd, "target")
    make_table(source, items=3_000)
    writers = Writers(engine.http, "")
    state = work / "adopt.json"
    adopt = ["--endpoint", target.grpc, "adopt", engine.http, "--tables", "Counters", "--state", str(state)]
    Mover("streams", *adopt, "--follow", "--enable-streams").fails(
        1, "the source", f"{engine.http} does not offer StreamSpecification in UpdateTable")
    Mover("no streams", *adopt, "--follow").fails(2, "have no DynamoDB Stream", "--follow needs a DynamoDB Stream")
    mover = Mover("copy", *adopt, "--max-rate", "1000", "--workers", "2")

    def is_copying():
        assert mover.process.poll() is None, mover.log()
        return state.exists() and any(segments(state))
    wait_until(is_copying, mover.log)
    kill(mover.process)
    reached = segments(state)
    assert not all(one == 1 for one in reached), reached
    mover = Mover("compare", *adopt, "--passes", "1000")
    mover.wait_to_say("comparison 2:")
    kill(mover.process)
    Mover("passes", *adopt, "--passes", "2").fails(
        7, "comparison 2:", "the source changed during every comparison: stop its writers, then run the command again")
    writers.stop()
    mover = Mover("end", *adopt)
    assert mover.report()["step"] == "DONE", mover.log()
    assert mover.log().count(", no differences") == 1, mover.log()
    assert items_of(client_of(target.http)) == items_of(source)
    writers.check(target.http)
    print(f"{sum(writers.acknowledged.values())} writes acknowledged: {mover.report()}")
    # It says so again, and changes nothing.
    assert Mover("again", *adopt).report()["differences"] == 0
    client_of(target.http).put_item(TableName="Counters", Item={"id": {"S": "written here"}})


def segments(state):
    return json.loads(state.read_text(encoding="utf-8"))["tables"][0]["segments"]


def main():
    global reference, engine
    reference = Itemd(itemd, "itemd")
    engine = dynalite(node)
    for side in (reference, engine):
        make_things(side.http)
    for part in (names_what_is_missing, answers_as_itemd, order_entry_without_long_keys,
                 plan_names_what_the_target_lacks, adopt_by_comparison):
        if sys.argv[6:] and part.__name__ not in sys.argv[6:]:
            continue
        begin = time.monotonic()
        part(engine)
        print(f"{part.__name__}: {time.monotonic() - begin:.0f} s", flush=True)


run_test(main)
