#!/usr/bin/python3
"""Moves whose streams lose shards or are throttled, and whose batches are answered in part, while changes are followed.

stream_faults_test.py ITEMD ITEMCTL [PART]...

Sides are itemd over HTTP, behind a proxy that answers as DynamoDB may. PART: only these, by the names of their
functions.
"""

import json
import sys
import threading
import time

from engines import (Itemd, Mover, Proxy, Writers, client_of, exception, items_of, make_table, put_items, run_test,
                     stop_all, wait_until, work)

itemd, Mover.itemctl = sys.argv[1:3]


# ---- shards that vanish


class LosingShards(Proxy):
    """From lose() on the shards that were there are gone, and their children have the same records."""

    def __init__(self, side, error):
        super().__init__(side)
        self.error = error
        self.is_lost = False
        self.refused = 0
        self.iterators = set()

    def lose(self):
        self.is_lost = True

    def refuse(self):
        self.refused += 1
        return 400, exception(self.error, "the shard is not there any more")

    def answer(self, operation, body, forward):
        if not self.is_lost or operation not in ("DescribeStream", "GetShardIterator", "GetRecords"):
            return forward(body)
        request = json.loads(body)
        if operation == "GetShardIterator":
            if not request["ShardId"].endswith("-child"):
                return self.refuse()
            request["ShardId"] = request["ShardId"].removesuffix("-child")
        if operation == "GetRecords" and request["ShardIterator"] not in self.iterators:
            return self.refuse()
        if "ExclusiveStartShardId" in request:
            request["ExclusiveStartShardId"] = request["ExclusiveStartShardId"].removesuffix("-child")
        status, reply = forward(json.dumps(request).encode())
        if status != 200:
            return status, reply
        answer = json.loads(reply)
        self.iterators |= {answer.get("ShardIterator"), answer.get("NextShardIterator")}
        if operation == "DescribeStream":
            stream = answer["StreamDescription"]
            for shard in stream["Shards"]:
                shard["ParentShardId"] = shard["ShardId"]
                shard["ShardId"] += "-child"
            if "LastEvaluatedShardId" in stream:
                stream["LastEvaluatedShardId"] += "-child"
        return status, json.dumps(answer).encode()


def shards_vanish(error):
    """The move says so, compares all items, and goes on with the shards that are there."""
    source, target = Itemd(itemd, f"source-{error}"), Itemd(itemd, f"target-{error}")
    client, there = client_of(source.http), client_of(target.http)
    make_table(client, "KEYS_ONLY", 500)
    proxy = LosingShards(source, error)
    adopt = ["--endpoint", target.grpc, "adopt", proxy.http, "--state", str(work / f"{error}.json")]
    mover = Mover(f"follow-{error}", *adopt, "--follow")
    mover.wait_to_say("following:")
    client.put_item(TableName="Counters", Item={"id": {"S": "before"}})
    wait_until(lambda: "before" in items_of(there), mover.log)
    writers = Writers(source.http, "")
    proxy.lose()
    client.delete_item(TableName="Counters", Key={"id": {"S": "item1"}})
    mover.wait_to_say("all items are compared")
    for words in ("the stream of table Counters of the source", "does not keep the changes", "any more"):
        assert words in mover.log(), mover.log()
    assert proxy.refused > 0
    mover.wait_to_say("following:", times=2)
    client.put_item(TableName="Counters", Item={"id": {"S": "after"}})
    wait_until(lambda: "after" in items_of(there), mover.log)
    mover.interrupt()
    mover = Mover(f"end-{error}", *adopt, "--quiet", "1")
    mover.wait_to_say("stop the writers of")
    writers.stop()
    report = mover.report()
    assert report["step"] == "DONE", report
    writers.check(target.http)
    assert items_of(there) == items_of(client)


def shards_of_the_source_vanish():
    for error in ("ResourceNotFoundException", "TrimmedDataAccessException"):
        shards_vanish(error)


# ---- throttles


class Throttling(Proxy):
    """Refuses most calls of streams, and all of them for a while after each stop()."""

    ERRORS = ("LimitExceededException", "ProvisionedThroughputExceededException", "ThrottlingException",
              "RequestLimitExceeded", "InternalServerError")

    def __init__(self, side):
        super().__init__(side)
        self.lock = threading.Lock()
        self.calls = 0
        self.refused = {}
        self.is_stopped = False

    def answer(self, operation, body, forward):
        if operation not in ("ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"):
            return forward(body)
        with self.lock:
            self.calls += 1
            error = self.ERRORS[self.calls % len(self.ERRORS)]
            if not self.is_stopped and self.calls % 3 == 0:
                error = None
            else:
                self.refused[error] = self.refused.get(error, 0) + 1
        if error is None:
            return forward(body)
        return 500 if error == "InternalServerError" else 400, exception(error, "Rate exceeded")


def streams_of_the_target_are_throttled():
    """The way back waits, loses nothing, and finds no difference."""
    source, target = Itemd(itemd, "source-throttled"), Itemd(itemd, "target-throttled")
    client, there = client_of(source.http), client_of(target.http)
    make_table(client, items=500)
    proxy = Throttling(target)
    graduate = ["--endpoint", source.grpc, "graduate", proxy.http, "--state", str(work / "throttled.json")]
    assert Mover("there", *graduate, "--yes").report()["step"] == "DONE"
    writers = Writers(source.http, proxy.http)
    mover = Mover("follow back", *graduate, "--follow-back", "--enable-streams")
    mover.wait_to_say("following:")
    for round_number in range(3):
        # Longer than the client repeats a call by itself.
        proxy.is_stopped = True
        before = sum(proxy.refused.values())
        put_items(there, f"there{round_number}/", 50)
        wait_until(lambda: sum(proxy.refused.values()) >= before + 12,  # pylint: disable=cell-var-from-loop
                   mover.log)
        proxy.is_stopped = False
        wait_until(lambda: f"there{round_number}/49" in items_of(client),  # pylint: disable=cell-var-from-loop
                   mover.log)
        assert mover.process.poll() is None, mover.log()
    assert set(proxy.refused) == set(Throttling.ERRORS), proxy.refused
    mover.interrupt()
    mover = Mover("back", *graduate, "--back", "--yes", "--quiet", "1")
    mover.wait_to_say("its writers must stop now")
    writers.stop()
    report = mover.report()
    assert report["step"] == "BACK" and report["differences"] == 0, report
    writers.check(source.http)
    assert items_of(client) == items_of(there)
    print(f"refused: {proxy.refused}")


# ---- batches that are answered in part


class Partial(Proxy):
    """Does a part of most batches, and answers that the rest is not done."""

    def __init__(self, side):
        super().__init__(side)
        self.lock = threading.Lock()
        self.is_partial = False
        self.batches = 0
        self.left = 0

    def answer(self, operation, body, forward):
        rest_name = {"BatchWriteItem": "UnprocessedItems", "BatchGetItem": "UnprocessedKeys"}.get(operation)
        if rest_name is None or not self.is_partial:
            return forward(body)
        request = json.loads(body)
        with self.lock:
            self.batches += 1
            keeps = self.batches % 3
        done, rest = {}, {}
        for table, part in request["RequestItems"].items():
            entries = part if rest_name == "UnprocessedItems" else part["Keys"]
            # Some of it, as the service says, which otherwise refuses the batch: all, the first one, or the half.
            count = (len(entries), 1, (len(entries) + 1) // 2)[keeps]
            for place, some in ((done, entries[:count]), (rest, entries[count:])):
                if some:
                    place[table] = some if rest_name == "UnprocessedItems" else {**part, "Keys": some}
        with self.lock:
            self.left += sum(len(part if rest_name == "UnprocessedItems" else part["Keys"]) for part in rest.values())
        status, reply = forward(json.dumps({**request, "RequestItems": done}).encode())
        if status != 200:
            return status, reply
        answer = json.loads(reply)
        assert not answer.get(rest_name), answer
        return 200, json.dumps({**answer, rest_name: rest}).encode()


def changes_in_batches(client, rounds):
    for number in range(rounds):
        put_items(client, f"batch{number}/", 50)
        client.batch_write_item(RequestItems={"Counters": [
            {"DeleteRequest": {"Key": {"id": {"S": f"batch{number}/{i}"}}}} for i in range(25)]})


def batches_of_the_target_are_partly_unprocessed():
    """BatchWriteItem, while changes are followed and at the switch."""
    source, target = Itemd(itemd, "source-partial"), Itemd(itemd, "target-partial")
    client, there = client_of(source.http), client_of(target.http)
    make_table(client, items=500)
    proxy = Partial(target)
    graduate = ["--endpoint", source.grpc, "graduate", proxy.http, "--state", str(work / "partial.json")]
    mover = Mover("follow partial", *graduate, "--follow")
    mover.wait_to_say("following:")
    proxy.is_partial = True
    changes_in_batches(client, 4)
    wait_until(lambda: items_of(there) == items_of(client), mover.log)
    assert proxy.left > 20, proxy.left
    mover.interrupt()
    writers = Writers(source.http, proxy.http)
    report = Mover("end partial", *graduate, "--yes").report()
    # All was done by following.
    assert report["step"] == "DONE" and report["differences"] == 0, report
    wait_until(lambda: writers.moved == 3, lambda: writers.errors)
    writers.stop()
    writers.check(target.http)
    print(f"BatchWriteItem: {proxy.batches} batches, {proxy.left} writes were not done")


def batches_of_the_source_are_partly_unprocessed():
    """BatchGetItem, by which changed items are read."""
    source, target = Itemd(itemd, "source-keys"), Itemd(itemd, "target-keys")
    client, there = client_of(source.http), client_of(target.http)
    make_table(client, "KEYS_ONLY", 500)
    proxy = Partial(source)
    adopt = ["--endpoint", target.grpc, "adopt", proxy.http, "--state", str(work / "keys.json")]
    mover = Mover("follow keys", *adopt, "--follow")
    mover.wait_to_say("following:")
    proxy.is_partial = True
    changes_in_batches(client, 4)
    wait_until(lambda: items_of(there) == items_of(client), mover.log)
    assert proxy.left > 20, proxy.left
    mover.interrupt()
    report = Mover("end keys", *adopt, "--quiet", "1").report()
    assert report["step"] == "DONE" and report["differences"] == 0, report
    assert items_of(there) == items_of(client)
    print(f"BatchGetItem: {proxy.batches} batches, {proxy.left} reads were not done")


def main():
    for part in (shards_of_the_source_vanish, streams_of_the_target_are_throttled,
                 batches_of_the_target_are_partly_unprocessed, batches_of_the_source_are_partly_unprocessed):
        if sys.argv[3:] and part.__name__ not in sys.argv[3:]:
            continue
        begin = time.monotonic()
        part()
        print(f"{part.__name__}: {time.monotonic() - begin:.0f} s", flush=True)
        stop_all()


run_test(main)
