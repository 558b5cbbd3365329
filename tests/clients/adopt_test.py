#!/usr/bin/python3
"""Tables are taken over while their writers go on, by DynamoDB Streams; and brought back by them after a move.

adopt_test.py ITEMD ITEMCTL [JAVA [PART]...]

The source is itemd over HTTP and, with JAVA, DynamoDB Local, which comes from npm, into node_modules beside this
program's copy. PART: only these, by the names of their functions.
"""

import json
import os
import random
import subprocess
import sys
import time

from engines import (PATIENCE_S, Itemd, Mover, Proxy, Writers, client_of, dynamodb_local_in_file, environment, items_of,
                     kill, make_table, run_test, stop_all, work)

ITEMS = 3_000

itemd, itemctl = sys.argv[1:3]
Mover.itemctl = itemctl
java = sys.argv[3] if len(sys.argv) > 3 else None
seed = int(os.environ.get("ITEMDB_TEST_SEED", random.SystemRandom().randrange(1 << 30)))
chance = random.Random(seed)


def adopt(name, target, source, *more, state="adopt"):
    return Mover(name, "--endpoint", target.grpc, "adopt", source.http, "--state", str(work / f"{state}.json"), *more)


class Withholding(Proxy):
    """A side at another address, whose streams never show the changes of the items whose id begins with "withheld"."""

    def __init__(self, side):
        super().__init__(side)
        self.withheld = 0

    def answer(self, operation, body, forward):
        status, reply = forward(body)
        if operation != "GetRecords" or status != 200:
            return status, reply
        page = json.loads(reply)
        shown = [one for one in page["Records"] if not one["dynamodb"]["Keys"]["id"]["S"].startswith("withheld")]
        self.withheld += len(page["Records"]) - len(shown)
        return status, json.dumps({**page, "Records": shown}).encode()


def places(state):
    """How far the streams were read."""
    move = json.loads((work / f"{state}.json").read_text(encoding="utf-8"))
    return [shard["after"] for table in move["tables"] for shard in table.get("stream", {}).get("shards", {}).values()]


def follows_the_stream_and_is_killed(source, target):
    """Copy, follow, kill -9 of mover and target, end when the writers stop."""
    client = client_of(source.http)
    make_table(client, "NEW_AND_OLD_IMAGES", ITEMS)
    writers = Writers(source.http, "")
    mover = adopt("copy", target, source, "--max-rate", "1500")
    time.sleep(1)
    assert mover.process.poll() is None, mover.log()
    kill(mover.process)
    mover = adopt("follow", target, source, "--follow")
    mover.wait_to_say("following:")
    client.delete_item(TableName="Counters", Key={"id": {"S": "item1"}})
    client.put_item(TableName="Counters", Item={"id": {"S": "written meanwhile"}})
    there = client_of(target.http)
    for _ in range(PATIENCE_S * 10):
        if "Item" in there.get_item(TableName="Counters", Key={"id": {"S": "written meanwhile"}}):
            break
        time.sleep(0.1)
    assert "Item" in there.get_item(TableName="Counters", Key={"id": {"S": "written meanwhile"}}), mover.log()
    kill(target.process)
    time.sleep(chance.uniform(0, 0.5))
    target.start()
    # The place is stored once a second.
    time.sleep(2)
    assert mover.process.poll() is None, mover.log()
    kill(mover.process)
    assert places("adopt") and all(places("adopt")), places("adopt")
    written = sum(writers.acknowledged.values())
    mover = adopt("end", target, source, "--quiet", "2")
    mover.wait_to_say("stop the writers of")
    # Nothing but the mover writes here while writers go on there.
    try:
        there.put_item(TableName="Counters", Item={"id": {"S": "early"}})
        raise AssertionError("the table takes writes before the end")
    except there.exceptions.ClientError as error:
        assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 503, error
    time.sleep(1)
    assert mover.process.poll() is None, mover.log()
    writers.stop()
    begin = time.monotonic()
    report = mover.report()
    print(f"{source.name}: {sum(writers.acknowledged.values())} writes acknowledged, {written} of them before the last "
          f"kill -9; ended {time.monotonic() - begin:.1f} s after the writers: {report}")
    assert report["step"] == "DONE" and report["differences"] == 0, report
    # It went on after the saved place: not all changes came again.
    assert 0 < report["changes_applied"] < written + ITEMS, (report, written)
    writers.check(target.http)
    assert items_of(there) == items_of(client)
    there.put_item(TableName="Counters", Item={"id": {"S": "written here"}})
    assert there.describe_table(TableName="Counters")["Table"]["StreamSpecification"]["StreamEnabled"]


def is_asked_to_enable_streams(source, target):
    """Without a stream writers must stop; --enable-streams makes one. A stream that was made anew is told by name."""
    client = client_of(source.http)
    make_table(client, items=100)
    adopt("without", target, source, "--follow", state="without").fails(
        2, "have no DynamoDB Stream", "writers must stop before the last one", "--enable-streams", ": Counters")
    mover = adopt("enabled", target, source, "--follow", "--enable-streams", state="without")
    mover.wait_to_say("following:")
    for number in range(PATIENCE_S * 2):
        client.put_item(TableName="Counters", Item={"id": {"S": f"one {number}"}})
        if places("without"):
            break
        time.sleep(0.5)
    assert places("without"), mover.log()
    mover.interrupt()
    for enabled in (False, True):
        view = {"StreamViewType": "NEW_IMAGE"} if enabled else {}
        client.update_table(TableName="Counters", StreamSpecification={"StreamEnabled": enabled, **view})
        if not enabled:
            client.put_item(TableName="Counters", Item={"id": {"S": "in no stream"}})
        client.get_waiter("table_exists").wait(TableName="Counters", WaiterConfig={"Delay": 1})
    mover = adopt("anew", target, source, "--quiet", "1", state="without")
    assert mover.report()["step"] == "DONE", mover.log()
    assert "has another stream than when it was last read" in mover.log(), mover.log()
    assert "all items are compared" in mover.log(), mover.log()
    assert items_of(client_of(target.http)) == items_of(client)


def follows_back(source, target):
    """After a move the target's changes come back all the time, and the way back is short."""
    make_table(client_of(source.http), items=1_000)
    graduate = ["--endpoint", source.grpc, "graduate", target.http, "--state", str(work / "back.json")]
    writers = Writers(source.http, target.http)
    assert Mover("there", *graduate, "--yes").report()["step"] == "DONE"
    for _ in range(PATIENCE_S * 10):
        if writers.moved == 3:
            break
        time.sleep(0.1)
    assert writers.moved == 3, writers.errors
    Mover("no streams", *graduate, "--follow-back").fails(
        1, "table Counters of the target has no stream: give --enable-streams")
    mover = Mover("follow back", *graduate, "--follow-back", "--enable-streams")
    mover.wait_to_say("following:")
    there, here = client_of(target.http), client_of(source.http)
    for round_number in range(2):
        there.put_item(TableName="Counters", Item={"id": {"S": f"there{round_number}"}})
        there.delete_item(TableName="Counters", Key={"id": {"S": f"item{round_number}"}})
        for _ in range(PATIENCE_S * 10):
            if "Item" in here.get_item(TableName="Counters", Key={"id": {"S": f"there{round_number}"}}):
                break
            time.sleep(0.1)
        assert "Item" in here.get_item(TableName="Counters", Key={"id": {"S": f"there{round_number}"}}), mover.log()
        # Writers are still sent away.
        try:
            here.put_item(TableName="Counters", Item={"id": {"S": "wrong side"}})
            raise AssertionError("the source takes writes")
        except here.exceptions.ClientError as error:
            assert f"has moved to {target.http}" in error.response["Error"]["Message"], error
        if round_number == 0:
            kill(mover.process)
            mover = Mover("follow back again", *graduate, "--follow-back")
            mover.wait_to_say("following:")
    mover.interrupt()
    mover = Mover("back", *graduate, "--back", "--yes", "--quiet", "1")
    mover.wait_to_say("its writers must stop now")
    time.sleep(2)
    # It waits for them.
    assert mover.process.poll() is None, mover.log()
    writers.stop()
    begin = time.monotonic()
    report = mover.report()
    print(f"back {time.monotonic() - begin:.1f} s after the writers: {report}")
    assert report["step"] == "BACK", report
    writers.check(source.http)
    assert items_of(here) == items_of(there)
    here.put_item(TableName="Counters", Item={"id": {"S": "writers are back"}})
    check = subprocess.run([itemctl, "--endpoint", source.grpc, "check"], env=environment, check=False)
    assert check.returncode == 0


def brings_what_the_stream_does_not_show(source, target):
    """A stream may show changes late: what it has not shown at the end is found by comparison."""
    client = client_of(source.http)
    make_table(client, "KEYS_ONLY", items=200)
    withholding = Withholding(source)
    mover = adopt("withheld", target, withholding, "--quiet", "1", state="withheld")
    mover.wait_to_say("stop the writers of")
    client.put_item(TableName="Counters", Item={"id": {"S": "withheld"}})
    client.delete_item(TableName="Counters", Key={"id": {"S": "item1"}})
    report = mover.report()
    assert report["step"] == "DONE" and report["differences"] == 1, report
    assert withholding.withheld > 0
    assert items_of(client_of(target.http)) == items_of(client)
    # Run again after the end it changes nothing at the source.
    client.update_table(TableName="Counters", StreamSpecification={"StreamEnabled": False})
    client.get_waiter("table_exists").wait(TableName="Counters", WaiterConfig={"Delay": 1})
    assert adopt("again", target, withholding, "--enable-streams", state="withheld").report()["step"] == "DONE"
    assert not client.describe_table(TableName="Counters")["Table"].get("StreamSpecification", {}).get("StreamEnabled")


def brings_back_what_the_stream_does_not_show(source, target):
    """The same on the way back."""
    make_table(client_of(source.http), items=200)
    withholding = Withholding(target)
    graduate = ["--endpoint", source.grpc, "graduate", withholding.http, "--state", str(work / "withheld.json")]
    assert Mover("there", *graduate, "--yes").report()["step"] == "DONE"
    mover = Mover("back", *graduate, "--back", "--yes", "--quiet", "1", "--enable-streams")
    mover.wait_to_say("its writers must stop now")
    there = client_of(target.http)
    there.put_item(TableName="Counters", Item={"id": {"S": "withheld"}})
    there.delete_item(TableName="Counters", Key={"id": {"S": "item1"}})
    assert mover.report()["step"] == "BACK", mover.log()
    assert withholding.withheld > 0
    here = client_of(source.http)
    assert items_of(here) == items_of(there)
    here.put_item(TableName="Counters", Item={"id": {"S": "writers are back"}})


def from_itemd():
    follows_the_stream_and_is_killed(Itemd(itemd, "source1"), Itemd(itemd, "target1"))


def without_streams():
    is_asked_to_enable_streams(Itemd(itemd, "source2"), Itemd(itemd, "target2"))


def with_changes_withheld():
    brings_what_the_stream_does_not_show(Itemd(itemd, "source5"), Itemd(itemd, "target5"))


def back_with_changes_withheld():
    brings_back_what_the_stream_does_not_show(Itemd(itemd, "source6"), Itemd(itemd, "target6"))


def from_dynamodb_local():
    follows_the_stream_and_is_killed(dynamodb_local_in_file(java, "local3"), Itemd(itemd, "target3"))


def back_from_dynamodb_local():
    follows_back(Itemd(itemd, "source4"), dynamodb_local_in_file(java, "local4"))


def main():
    for part in (from_itemd, without_streams, with_changes_withheld, back_with_changes_withheld, from_dynamodb_local,
                 back_from_dynamodb_local):
        if sys.argv[4:] and part.__name__ not in sys.argv[4:]:
            continue
        if java is None and "local" in part.__name__:
            print(f"without Java {part.__name__} is left out")
            continue
        begin = time.monotonic()
        part()
        print(f"{part.__name__}: {time.monotonic() - begin:.0f} s", flush=True)
        for log_file in work.glob("*.log"):
            log_file.rename(work / f"{log_file.stem}.{part.__name__}")
        for state_file in work.glob("*.json"):
            state_file.unlink()
        stop_all()


run_test(main, f"ITEMDB_TEST_SEED={seed}")
