#!/usr/bin/env python3
"""A data directory that one itemd wrote is served by another one that links another build of RocksDB, and back.

    other_build_test.py ITEMD ITEMD ITEMCTL

Writes, kills, opens with the other, compares every item, checks the indexes, and again. The two alternate six times.
"""
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

ITEMS_A_TURN = 3_000


def item(turn, i):
    return {"id": {"S": f"{turn}-{i}"}, "group": {"S": f"g{i % 50}"}, "text": {"S": "x" * (i % 300)}}


class Daemon:
    def __init__(self, itemd, itemctl, directory):
        self.itemctl, address = itemctl, f"{directory}/address"
        if os.path.exists(address):
            os.remove(address)
        with open(f"{directory}/log", "ab") as log:
            self.process = subprocess.Popen([itemd, "--data-dir", f"{directory}/data", "--listen", "127.0.0.1:0",
                                             "--http-listen", "127.0.0.1:0", "--address-file", address], stderr=log)
        end = time.monotonic() + 60
        while not os.path.exists(address):
            assert self.process.poll() is None and time.monotonic() < end, f"{itemd} does not serve: {open(log.name).read()}"
            time.sleep(0.02)
        with open(address) as file:
            addresses = json.load(file)
        self.endpoint = addresses["grpc"][0]
        self.connection = http.client.HTTPConnection(addresses["http"][0], timeout=60)

    def call(self, operation, body):
        self.connection.request("POST", "/", json.dumps(body), {
            "X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
                             "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0000"})
        reply = self.connection.getresponse()
        text = reply.read()
        assert reply.status == 200, f"{operation}: {text}"
        return json.loads(text)

    def items(self):
        start, found = {}, []
        while True:
            page = self.call("Scan", {"TableName": "Things", **start})
            found += page["Items"]
            if "LastEvaluatedKey" not in page:
                return found
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def check(self):
        done = subprocess.run([self.itemctl, "--endpoint", self.endpoint, "check"], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait(60)


def main():
    builds, itemctl = sys.argv[1:3], sys.argv[3]
    with tempfile.TemporaryDirectory() as directory:
        for turn in range(6):
            daemon = Daemon(builds[turn % 2], itemctl, directory)
            try:
                if turn == 0:
                    keys = lambda *names: [{"AttributeName": n, "KeyType": t} for n, t in zip(names, ("HASH", "RANGE"))]
                    daemon.call("CreateTable", {
                        "TableName": "Things", "BillingMode": "PAY_PER_REQUEST", "KeySchema": keys("id"),
                        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in ("id", "group")],
                        "GlobalSecondaryIndexes": [{"IndexName": "ByGroup", "KeySchema": keys("group", "id"),
                                                    "Projection": {"ProjectionType": "ALL"}}]})
                found = {one["id"]["S"]: one for one in daemon.items()}
                expected = {f"{t}-{i}": item(t, i) for t in range(turn) for i in range(ITEMS_A_TURN)}
                assert found == expected, f"turn {turn}: {len(found)} items, not {len(expected)}, or other ones"
                daemon.check()
                for first in range(0, ITEMS_A_TURN, 25):
                    daemon.call("BatchWriteItem", {"RequestItems": {"Things": [
                        {"PutRequest": {"Item": item(turn, i)}} for i in range(first, first + 25)]}})
            finally:
                # What is in the log alone is read by the other build too.
                daemon.end(signal.SIGTERM if turn in (1, 4) else signal.SIGKILL)
    print("6 turns of two builds: every item was found, every check was clean")


if __name__ == "__main__":
    main()
