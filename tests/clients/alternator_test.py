#!/usr/bin/python3
"""itemctl with the answers that ScyllaDB Alternator gives, by its documentation (docs/alternator/compatibility.md) and
source, where they differ from DynamoDB's. Alternator itself is not run: itemd is behind a proxy that answers so.

alternator_test.py ITEMD ITEMCTL
"""

import json
import subprocess
import sys
import time
import uuid

from engines import (Itemd, Mover, Proxy, Writers, client_of, environment, exception, items_of, make_table, run_test,
                     wait_until, work)

itemd, itemctl = sys.argv[1:3]
Mover.itemctl = itemctl

REAL_ARN = "arn:aws:dynamodb:local:000000000000:table/"


def invalid(message):
    return 400, exception("ValidationException", message)


class Alternator(Proxy):
    """Without the header x-amz-crc32, without consumed capacity; and as below."""

    OPERATIONS = {"BatchGetItem", "BatchWriteItem", "CreateTable", "DeleteItem", "DeleteTable", "DescribeEndpoints",
                  "DescribeStream", "DescribeTable", "DescribeTimeToLive", "GetItem", "GetRecords", "GetShardIterator",
                  "ListStreams", "ListTables", "ListTagsOfResource", "PutItem", "Query", "Scan", "TagResource",
                  "UntagResource", "UpdateItem", "UpdateTable", "UpdateTimeToLive"}

    def __init__(self, side):
        super().__init__(side)
        self.client = client_of(side.http)
        self.arns = {}

    def answer(self, operation, body, forward):
        if operation not in self.OPERATIONS:
            return 400, exception("UnknownOperationException", f"Unsupported operation {operation}")
        request = json.loads(body)
        request.pop("ReturnConsumedCapacity", None)
        refused = self.refuse(operation, request)
        if refused:
            return refused
        self.translate_request(operation, request)
        status, reply = forward(json.dumps(request).encode())
        if status != 200 or not reply:
            return status, reply
        answer = json.loads(reply)
        for member in ("Table", "TableDescription"):
            if member in answer:
                self.translate_description(answer[member])
        self.translate_streams(answer)
        return status, json.dumps(answer).encode()

    def refuse(self, operation, request):
        if operation == "CreateTable":
            for index in request.get("GlobalSecondaryIndexes", []):
                if len(index["KeySchema"]) > 2:
                    return invalid("KeySchema must list exactly one or two key columns")
                # All attributes are in each index.
                index["Projection"] = {"ProjectionType": "ALL"}
            if request.get("SSESpecification", {}).get("Enabled"):
                return invalid("SSESpecification: configuring encryption-at-rest is not yet supported.")
        if operation == "Scan" and request.get("Limit") == 1 and "ExclusiveStartKey" not in request:
            # As when it has only met tombstones.
            return 200, json.dumps({"Items": [], "Count": 0, "ScannedCount": 0,
                                    "LastEvaluatedKey": {"id": {"S": "deleted"}}}).encode()
        if operation == "UpdateTable":
            try:
                self.client.describe_table(TableName=request["TableName"])
            except self.client.exceptions.ResourceNotFoundException:
                return 400, exception("ResourceNotFoundException",
                                      f"Requested resource not found: Table: {request['TableName']} not found")
            known = ("GlobalSecondaryIndexUpdates", "VectorIndexUpdates", "StreamSpecification", "BillingMode")
            if not any(member in request for member in known):
                return invalid("UpdateTable requires one of GlobalSecondaryIndexUpdates, VectorIndexUpdates, "
                               "StreamSpecification or BillingMode to be specified")
        return None

    def translate_request(self, operation, request):
        if operation in ("CreateTable", "UpdateTable"):
            # Not looked at.
            for member in ("DeletionProtectionEnabled", "TableClass", "OnDemandThroughput", "WarmThroughput"):
                request.pop(member, None)
        if "ResourceArn" in request:
            request["ResourceArn"] = REAL_ARN + request["ResourceArn"].rpartition("/")[2]
        for member in ("StreamArn", "ExclusiveStartStreamArn"):
            if member in request:
                request[member] = self.arns[request[member]]
        for member in ("ShardId", "ExclusiveStartShardId"):
            if member in request:
                request[member] = bytes.fromhex(request[member].partition(":")[2]).decode()
        if "SequenceNumber" in request:
            request["SequenceNumber"] = f"{int(request['SequenceNumber']) >> 64:021}"

    def translate_description(self, table):
        for part in [table, *table.get("GlobalSecondaryIndexes", []), *table.get("LocalSecondaryIndexes", [])]:
            for member in ("ItemCount", "IndexSizeBytes", "DeletionProtectionEnabled", "TableClassSummary",
                           "OnDemandThroughput", "WarmThroughput"):
                part.pop(member, None)
        table["TableArn"] = f"arn:scylla:alternator:alternator_{table['TableName']}:scylla:table/{table['TableName']}"
        if "LatestStreamArn" in table:
            table["LatestStreamArn"] = self.arn_of(table["LatestStreamArn"])

    def translate_streams(self, answer):
        for stream in [*answer.get("Streams", []), answer.get("StreamDescription", {}), answer]:
            for member in ("StreamArn", "LastEvaluatedStreamArn"):
                if member in stream:
                    stream[member] = self.arn_of(stream[member])
        description = answer.get("StreamDescription", {})
        if "LastEvaluatedShardId" in description:
            description["LastEvaluatedShardId"] = shard_id(description["LastEvaluatedShardId"])
        for shard in description.get("Shards", []):
            for member in ("ShardId", "ParentShardId"):
                if member in shard:
                    shard[member] = shard_id(shard[member])
            for bound, number in shard["SequenceNumberRange"].items():
                shard["SequenceNumberRange"][bound] = sequence_number(number)
        records = answer.pop("Records", None)
        if records is not None:
            answer["Records"] = []
            for record in records:
                change = record["dynamodb"]
                change["SequenceNumber"] = sequence_number(change["SequenceNumber"])
                if record["eventName"] != "REMOVE":
                    # One put is two events.
                    before = {name: value for name, value in change.items() if name != "NewImage"}
                    answer["Records"].append({**record, "eventName": "REMOVE", "dynamodb": before})
                    record["eventName"] = "MODIFY"
                answer["Records"].append(record)

    def arn_of(self, arn):
        """Of a stream: a letter and a UUID."""
        there = "S" + str(uuid.uuid5(uuid.NAMESPACE_URL, arn))
        self.arns[there] = arn
        return there


def shard_id(there):
    return f"H 18f6a5b2c00:{there.encode().hex()}"


def sequence_number(number):
    """A time-based UUID as a number of 128 bits."""
    return str((int(number) << 64) | 0x8000_0000_0000_0001)


def call(endpoint, *arguments, code=0):
    result = subprocess.run([itemctl, "--endpoint", endpoint, "-o", "jsonl", *arguments], text=True,
                            capture_output=True, check=False, env=environment)
    assert result.returncode == code, (arguments, result)
    if code:
        return json.loads(result.stderr.splitlines()[-1])["error"]
    return [json.loads(line) for line in result.stdout.splitlines()]


def document(name, **members):
    file = work / f"{name}.json"
    file.write_text(json.dumps({
        "TableName": name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}], **members}), encoding="utf-8")
    return str(file)


def by(*attributes, projection="ALL"):
    """An index by these attributes, and their definitions."""
    role = ["HASH"] + ["RANGE"] * (len(attributes) - 1)
    return {"GlobalSecondaryIndexes": [{
        "IndexName": "ByOther", "Projection": {"ProjectionType": projection},
        "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in zip(attributes, role)]}],
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("id", *attributes)]}


def works_and_names_what_is_missing():
    reference = Itemd(itemd, "reference")
    engine = Alternator(Itemd(itemd, "behind1"))
    for side in (reference, engine):
        call(side.http, "table", "create", "-f", document("things", **by("kind")))
        for number in range(5):
            call(side.http, "item", "put", "things", json.dumps({"id": str(number), "kind": "a", "n": number}))
        call(side.http, "item", "update", "things", '{"id": "1"}', "--update", "SET n = n + :n", "--values", '{":n": 7}')
        call(side.http, "item", "delete", "things", '{"id": "2"}')
        call(side.http, "item", "put", "things", '{"id": "1"}', "--condition", "attribute_not_exists(id)", code=4)
        call(side.http, "table", "tag", "things", "team=sales")
        call(side.http, "ttl", "enable", "things", "expires")
    for arguments in (["item", "get", "things", '{"id": "1"}'], ["scan", "things"], ["scan", "things", "--segments", "3"],
                      ["query", "things", "--index", "ByOther", "--key-condition", "kind = :k", "--values", '{":k": "a"}'],
                      ["query", "things", "--key-condition", "id = :k", "--values", '{":k": "4"}',
                       "--return-consumed-capacity", "INDEXES"],
                      ["count", "things"], ["count", "things", "--filter", "n > :n", "--values", '{":n": 3}'],
                      ["batch-get", "--plain", "--request-items", '{"things": {"Keys": [{"id": "3"}, {"id": "0"}]}}']):
        expected, got = call(reference.http, *arguments), call(engine.http, *arguments)
        if arguments[0] in ("scan", "query"):
            expected, got = (sorted(lines, key=json.dumps) for lines in (expected, got))
        assert got == expected and expected, (arguments, expected, got)
    described = call(engine.http, "table", "describe", "things")[0]
    assert described["Tags"] == [{"Key": "team", "Value": "sales"}], described
    for operation, arguments in (
            ("TransactWriteItems", ["transact", "--transact-items",
                                    '[{"Put": {"TableName": "things", "Item": {"id": {"S": "9"}}}}]']),
            ("TransactGetItems", ["transact", "--transact-items",
                                  '[{"Get": {"TableName": "things", "Key": {"id": {"S": "1"}}}}]']),
            ("ExecuteStatement", ["partiql", "SELECT * FROM things"]),
            ("ExecuteTransaction", ["partiql", "--transaction", "SELECT * FROM things WHERE id = '1'"]),
            ("ListContributorInsights", ["contributors", "list"]),
            ("DescribeLimits", ["table", "limits"])):
        told = call(engine.http, *arguments, code=1)
        assert told["message"] == (f"{engine.http} does not offer the operation {operation} "
                                   f"(Unsupported operation {operation})"), told
        assert told["code"] == "UNIMPLEMENTED", told
    for setting, arguments in (("DeletionProtectionEnabled", ["--deletion-protection-enabled"]),
                               ("TableClass", ["--table-class", "STANDARD_INFREQUENT_ACCESS"])):
        told = call(engine.http, "table", "update", "things", *arguments, code=1)
        assert f"{engine.http} does not offer {setting} in UpdateTable" in told["message"], told
    told = call(engine.http, "table", "create", "-f", document("long", **by("a", "b", "c")), code=1)
    assert (f"{engine.http} does not offer index keys of more than two attributes, as the index ByOther of table long has "
            "one (KeySchema must list exactly one or two key columns)") in told["message"], told


def graduates():
    """The plan and the move name what is missing; without it the table moves."""
    source, behind = Itemd(itemd, "source2"), Itemd(itemd, "behind2")
    engine = Alternator(behind)
    move = ["graduate", engine.http, "--state", str(work / "graduate.json"), "--tables"]
    call(source.grpc, "table", "create", "-f", document("long", **by("a", "b", "c")))
    told = call(source.grpc, *move, "long", "--yes", code=1)
    assert f"{engine.http} does not offer index keys of more than two attributes" in told["message"], told
    call(source.grpc, "table", "create", "-f", document(
        "full", **by("kind", projection="KEYS_ONLY"), DeletionProtectionEnabled=True,
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}, Tags=[{"Key": "team", "Value": "x"}]))
    call(source.grpc, "ttl", "enable", "full", "expires")
    call(source.grpc, "transact", "--transact-items",
         '[{"Put": {"TableName": "full", "Item": {"id": {"S": "1"}, "kind": {"S": "a"}}}}]')
    Mover("plan", "--endpoint", source.grpc, *move, "full", "--dry-run").fails(
        0, f"warning: programs call TransactWriteItems for table full, which the target {engine.http} does not offer")
    # The first run makes the table, which the second finds.
    for _ in range(2):
        told = call(source.grpc, *move, "full", "--yes", code=1)
        assert told["message"] == (
            f"the target {engine.http} lacks deletion protection, which table full has: itemctl table update "
            "full --no-deletion-protection-enabled, or move to a target that has it; the table was made there"), told
    call(source.grpc, "table", "update", "full", "--no-deletion-protection-enabled")
    # Items are found, though nobody counts them.
    call(engine.http, "item", "put", "full", '{"id": "of somebody else"}')
    told = call(source.grpc, *move, "full", "--yes", code=1)
    assert told["message"] == ("table full of the target has items, which the move would overwrite or delete: give "
                               "--overwrite if it may"), told
    call(engine.http, "item", "delete", "full", '{"id": "of somebody else"}')
    report = call(source.grpc, *move, "full", "--yes")[-1]
    assert report["step"] == "DONE" and report["items_copied"] == 1, report
    assert call(engine.http, "scan", "full") == [{"id": "1", "kind": "a"}]
    described = call(engine.http, "table", "describe", "full")[0]
    assert described["Tags"] == [{"Key": "team", "Value": "x"}], described
    assert described["StreamSpecification"]["StreamEnabled"], described
    assert call(engine.http, "ttl", "status", "full")[0]["AttributeName"] == "expires"


def is_adopted():
    """By its streams, with writers going on."""
    behind, target = Itemd(itemd, "behind3"), Itemd(itemd, "target3")
    engine = Alternator(behind)
    client = client_of(behind.http)
    make_table(client, "NEW_AND_OLD_IMAGES", items=1_000)
    writers = Writers(engine.http, "")
    adopt = ["--endpoint", target.grpc, "adopt", engine.http, "--state", str(work / "adopt.json"), "--tables", "Counters"]
    plan = call(target.grpc, *adopt[2:], "--dry-run")[0]
    assert plan["tables"][0]["problem"] == "" and plan["tables"][0]["stream_enabled"], plan
    mover = Mover("follow", *adopt, "--follow")
    mover.wait_to_say("following:")
    client.put_item(TableName="Counters", Item={"id": {"S": "written meanwhile"}})
    client.delete_item(TableName="Counters", Key={"id": {"S": "item1"}})
    there = client_of(target.http)
    wait_until(lambda: "Item" in there.get_item(TableName="Counters", Key={"id": {"S": "written meanwhile"}}), mover.log)
    mover.interrupt()
    # It goes on after the records that it has read.
    mover = Mover("end", *adopt, "--quiet", "1")
    mover.wait_to_say("stop the writers of")
    writers.stop()
    report = mover.report()
    assert report["step"] == "DONE" and report["differences"] == 0 and report["changes_applied"] > 0, report
    writers.check(target.http)
    assert items_of(there) == items_of(client)
    print(f"{sum(writers.acknowledged.values())} writes acknowledged: {report}")


def main():
    for part in (works_and_names_what_is_missing, graduates, is_adopted):
        begin = time.monotonic()
        part()
        print(f"{part.__name__}: {time.monotonic() - begin:.0f} s", flush=True)


run_test(main)
