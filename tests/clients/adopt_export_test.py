#!/usr/bin/python3
"""Tables are taken over from an export while their writers go on: `itemctl adopt --from-export`.

adopt_export_test.py ITEMD ITEMCTL [JAVA [PART]...]

The source is itemd over HTTP, which has made the export, and with JAVA DynamoDB Local, whose table this program exports
in the layout of the service, as described in its documentation. PART: only these, by the names of their functions.
"""

import base64
import collections
import datetime
import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import time

from engines import (PATIENCE_S, Itemd, Mover, Proxy, Writers, client_of, dynamodb_local_in_file, environment, items_of,
                     kill, make_table, put_items, run_test, stop_all, work)

ITEMS = 3_000

itemd, itemctl = sys.argv[1:3]
Mover.itemctl = itemctl
java = sys.argv[3] if len(sys.argv) > 3 else None


class Counting(Proxy):
    """Counts what is asked."""

    def __init__(self, side):
        super().__init__(side)
        self.operations = collections.Counter()

    def answer(self, operation, body, forward):
        self.operations[operation] += 1
        return forward(body)


def export_of_itemd(side, name="Counters"):
    """The folder of an export that itemd has made."""
    client_of(side.http).update_continuous_backups(
        TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    bucket = side.folder / "data" / "exports" / "lake"
    bucket.mkdir(parents=True, exist_ok=True)
    before = set(bucket.glob("AWSDynamoDB/*"))
    subprocess.run([itemctl, "--endpoint", side.grpc, "export", "start", name, "lake", "--wait"], env=environment,
                   check=True, stdout=subprocess.DEVNULL)
    [made] = set(bucket.glob("AWSDynamoDB/*")) - before
    return made


def write_export(client, folder, name="Counters", files=5):
    """An export of the present items, as the service writes it to S3."""
    table = client.describe_table(TableName=name)["Table"]
    moment = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    items = list(items_in_json(client, name))
    (folder / "data").mkdir(parents=True)
    lines = []
    for number in range(files):
        part = items[number::files]
        content = gzip.compress("".join(json.dumps({"Item": item}) + "\n" for item in part).encode())
        (folder / "data" / f"f{number}.json.gz").write_bytes(content)
        digest = hashlib.md5(content).digest()
        lines.append({"itemCount": len(part), "md5Checksum": base64.b64encode(digest).decode(),
                      "etag": digest.hex() + "-1", "dataFileS3Key": f"AWSDynamoDB/{folder.name}/data/f{number}.json.gz"})
    (folder / "manifest-files.json").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    summary = {"version": "2020-06-30", "exportArn": f"{table['TableArn']}/export/{folder.name}", "startTime": moment,
               "endTime": moment, "tableArn": table["TableArn"], "tableId": table.get("TableId"), "exportTime": moment,
               "s3Bucket": "lake", "s3Prefix": None, "s3SseAlgorithm": "AES256", "s3SseKmsKeyId": None,
               "manifestFilesS3Key": f"AWSDynamoDB/{folder.name}/manifest-files.json", "billedSizeBytes": 0,
               "itemCount": len(items), "outputFormat": "DYNAMODB_JSON"}
    (folder / "manifest-summary.json").write_text(json.dumps(summary), encoding="utf-8")
    return folder


def items_in_json(client, name):
    for page in client.get_paginator("scan").paginate(TableName=name, ConsistentRead=True):
        for item in page["Items"]:
            yield {attribute: {kind: base64.b64encode(content).decode() if kind == "B" else content
                               for kind, content in value.items()} for attribute, value in item.items()}


def segments(state):
    return json.loads((work / f"{state}.json").read_text(encoding="utf-8"))["tables"][0]["segments"]


def takes_over(source, target, make_export, state):
    """Export, changes after it, copy, kill -9 of the mover in it, end when the writers stop."""
    client, there = client_of(source.http), client_of(target.http)
    make_table(client, "KEYS_ONLY", ITEMS)
    writers = Writers(source.http, "")
    time.sleep(0.2)
    folder = make_export(client)
    # The export has the first, and not the second.
    for i in range(100):
        client.delete_item(TableName="Counters", Key={"id": {"S": f"item{i}"}})
    put_items(client, "later", 100)
    proxy = Counting(source)
    adopt = ["--endpoint", target.grpc, "adopt", proxy.http, "--state", str(work / f"{state}.json")]
    mover = Mover(f"copy-{state}", *adopt, "--from-export", str(folder), "--workers", "2", "--max-rate", "500")
    mover.wait_to_say("table Counters is copied from the export arn:aws:dynamodb:")
    for _ in range(PATIENCE_S * 20):
        if (work / f"{state}.json").exists() and any(segments(state)):
            break
        assert mover.process.poll() is None, mover.log()
        time.sleep(0.05)
    kill(mover.process)
    reached = segments(state)
    assert any(reached) and not all(one == 1 for one in reached), reached
    Mover(f"without-{state}", *adopt).fails(1, "the copy of table Counters was begun from the export arn:aws:dynamodb:",
                                            "give its folder by --from-export")
    mover = Mover(f"end-{state}", *adopt, "--from-export", str(folder), "--quiet", "2")
    mover.wait_to_say("copied ")
    mover.wait_to_say("stop the writers of")
    writers.stop()
    begin = time.monotonic()
    report = mover.report()
    print(f"{source.name}: {sum(writers.acknowledged.values())} writes acknowledged; ended "
          f"{time.monotonic() - begin:.1f} s after the writers: {report}")
    assert report["step"] == "DONE", report
    # Not from the beginning, and what came after the export by the stream.
    assert 0 < report["items_copied"] < ITEMS, report
    assert report["differences"] == 0 and report["changes_applied"] > 200, report
    writers.check(target.http)
    assert items_of(there) == items_of(client)
    there.put_item(TableName="Counters", Item={"id": {"S": "written here"}})


def from_an_export_of_itemd():
    source = Itemd(itemd, "source1")
    takes_over(source, Itemd(itemd, "target1"), lambda client: export_of_itemd(source), "itemd")


def from_an_export_of_dynamodb_local():
    takes_over(dynamodb_local_in_file(java, "local2"), Itemd(itemd, "target2"),
               lambda client: write_export(client, work / "01760000000000-0a1b2c3d"), "local")


def copies_without_reading_the_source():
    """Until the copy is done nothing is read of the table."""
    source, target = Itemd(itemd, "source3"), Itemd(itemd, "target3")
    client = client_of(source.http)
    make_table(client, "KEYS_ONLY", 500)
    folder = export_of_itemd(source)
    proxy = Counting(source)
    adopt = ["--endpoint", target.grpc, "adopt", proxy.http, "--state", str(work / "reads.json"), "--from-export",
             str(folder)]
    mover = Mover("reads", *adopt, "--max-rate", "200", "--workers", "1")
    mover.wait_to_say("is copied from the export")
    time.sleep(0.5)
    kill(mover.process)
    assert proxy.operations["DescribeTable"] > 0
    for operation in ("Scan", "BatchGetItem", "GetItem", "Query"):
        assert proxy.operations[operation] == 0, proxy.operations
    assert Mover("reads end", *adopt, "--quiet", "0.5").report()["differences"] == 0
    assert items_of(client_of(target.http)) == items_of(client)


def of_itemd_by_its_change_log():
    """A source at HOST:PORT is followed from the oldest change of its log, so also what came after the export."""
    source, target = Itemd(itemd, "source4"), Itemd(itemd, "target4")
    client = client_of(source.http)
    make_table(client, "KEYS_ONLY", 500)
    folder = export_of_itemd(source)
    put_items(client, "later", 50)
    client.delete_item(TableName="Counters", Key={"id": {"S": "item1"}})
    report = Mover("by log", "--endpoint", target.grpc, "adopt", source.grpc, "--state", str(work / "log.json"),
                   "--from-export", str(folder), "--quiet", "0.5").report()
    assert report["items_copied"] == 500 and report["differences"] == 0, report
    assert items_of(client_of(target.http)) == items_of(client)


def without_a_stream():
    """What came after the export is found by comparison."""
    source, target = Itemd(itemd, "source5"), Itemd(itemd, "target5")
    client = client_of(source.http)
    make_table(client, "KEYS_ONLY", 500)
    folder = export_of_itemd(source)
    client.update_table(TableName="Counters", StreamSpecification={"StreamEnabled": False})
    client.get_waiter("table_exists").wait(TableName="Counters", WaiterConfig={"Delay": 1})
    client.delete_item(TableName="Counters", Key={"id": {"S": "item1"}})
    adopt = ["--endpoint", target.grpc, "adopt", source.http, "--state", str(work / "streamless.json"), "--from-export",
             str(folder)]
    Mover("no follow", *adopt, "--follow").fails(2, "--follow needs a DynamoDB Stream of every table")
    report = Mover("streamless", *adopt).report()
    assert report["items_copied"] == 500 and report["differences"] == 1, report
    assert items_of(client_of(target.http)) == items_of(client)


def what_is_wrong_is_told_by_name():
    """Before anything is made in the target."""
    source, target = Itemd(itemd, "source6"), Itemd(itemd, "target6")
    client, there = client_of(source.http), client_of(target.http)
    make_table(client, "KEYS_ONLY", 100)
    make_table(client, "KEYS_ONLY", name="Other")
    whole = export_of_itemd(source)
    other = export_of_itemd(source, "Other")
    adopt = ["--endpoint", target.grpc, "adopt", source.http, "--state", str(work / "wrong.json")]

    def spoiled(name, spoil):
        folder = work / name
        shutil.copytree(whole, folder)
        spoil(folder)
        return str(folder)

    def changed_summary(**members):
        def spoil(folder):
            summary = json.loads((folder / "manifest-summary.json").read_text(encoding="utf-8"))
            (folder / "manifest-summary.json").write_text(json.dumps({**summary, **members}), encoding="utf-8")
        return spoil

    data_file = next((whole / "data").iterdir()).name
    cases = [
        (1, [spoiled("half", lambda folder: (folder / "manifest-summary.json").unlink())],
         ["manifest-summary.json is missing, which is written when all data files are there"]),
        (1, [spoiled("lacking", lambda folder: (folder / "data" / data_file).unlink())],
         [f"the data file data/{data_file} is missing"]),
        (1, [spoiled("old", changed_summary(exportTime="2026-01-01T00:00:00.000Z"))],
         ["old, and streams keep changes for 24h: make another export, or leave --from-export out"]),
        (1, [spoiled("anew", changed_summary(tableId="0123"))],
         ["it is of another table Counters, which had the TableId 0123"]),
        (3, [spoiled("gone", changed_summary(tableArn="arn:aws:dynamodb:eu-central-1:1:table/Gone"))],
         ["the source has no table Gone"]),
        (1, [str(work / "nowhere")], ["there is no such folder"]),
        (2, [str(whole), "--tables", "Other"], ["--from-export has no export of table Other"]),
        (2, [f"{whole},{other}", "--tables", "Other"], ["is of table Counters, which is not one of --tables"]),
        (1, [f"{whole},{whole}"], ["are of one table, Counters"]),
    ]
    for number, (code, arguments, words) in enumerate(cases):
        for dry_run in ([], ["--dry-run"]):
            Mover(f"wrong {number} {len(dry_run)}", *adopt, "--from-export", *arguments, *dry_run).fails(code, *words)
        assert there.list_tables()["TableNames"] == [], arguments
    # A damaged data file is named, and the right one goes on.
    content = bytearray((whole / "data" / data_file).read_bytes())
    content[-1] ^= 1
    damaged = spoiled("damaged", lambda folder: (folder / "data" / data_file).write_bytes(content))
    Mover("damaged run", *adopt, "--from-export", damaged).fails(
        1, f"the data file data/{data_file} has another MD5 than manifest-files.json says")
    report = Mover("right", *adopt, "--from-export", str(whole), "--quiet", "0.5").report()
    assert report["step"] == "DONE", report
    assert items_of(there) == items_of(client)
    # Two tables at a time, one of them empty.
    both = Itemd(itemd, "both6")
    report = Mover("both", "--endpoint", both.grpc, "adopt", source.http, "--state", str(work / "both.json"),
                   "--from-export", f"{whole},{other}", "--quiet", "0.5").report()
    assert report["step"] == "DONE" and report["items_copied"] == 100, report
    there = client_of(both.http)
    assert items_of(there) == items_of(client)
    assert sorted(there.list_tables()["TableNames"]) == ["Counters", "Other", "itemdb_moves"]


def main():
    for part in (from_an_export_of_itemd, copies_without_reading_the_source, of_itemd_by_its_change_log, without_a_stream,
                 what_is_wrong_is_told_by_name, from_an_export_of_dynamodb_local):
        if sys.argv[4:] and part.__name__ not in sys.argv[4:]:
            continue
        if java is None and "local" in part.__name__:
            print(f"without Java {part.__name__} is left out")
            continue
        begin = time.monotonic()
        part()
        print(f"{part.__name__}: {time.monotonic() - begin:.0f} s", flush=True)
        stop_all()


run_test(main)
