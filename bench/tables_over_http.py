#!/usr/bin/env python3
"""How long CreateTable and DeleteTable take over DynamoDB's HTTP protocol, beside each other in one run.

    tables_over_http.py [--tables N,N...] [--indexes N] NAME=URL [NAME=URL...]

Each target is an endpoint of DynamoDB's protocol without tables. For each number of tables, and each target in turn, as
many tables are made and then deleted one after another, on one connection. The figures are the median and the 99th
percentile of the calls in milliseconds, and the seconds that all of them took. The tables have two string keys and, by
default, two global indexes.
"""

import argparse
import http.client
import json
import os
import time
import urllib.parse

# Endpoints without access keys want a signature that is well-formed, and look no further.
AUTHORIZATION = ("AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, "
                 "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + 64 * "0")


class Target:
    def __init__(self, name, url):
        parts = urllib.parse.urlparse(url)
        self.name = name
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)

    def call(self, operation, **members):
        headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810." + operation,
                   "X-Amz-Date": "20260101T000000Z", "Authorization": AUTHORIZATION}
        self.connection.request("POST", "/", json.dumps(members), headers)
        reply = self.connection.getresponse()
        body = reply.read()
        if reply.status != 200:
            raise SystemExit(f"{self.name}: {operation}: {reply.status} {body.decode(errors='replace')}")


def definition(table, indexes):
    def key(first, second):
        return [{"AttributeName": first, "KeyType": "HASH"}, {"AttributeName": second, "KeyType": "RANGE"}]

    attributes = ["pk", "sk"] + [f"i{index}" for index in range(indexes)]
    members = {"TableName": f"table{table:05d}", "BillingMode": "PAY_PER_REQUEST", "KeySchema": key("pk", "sk"),
               "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in attributes]}
    if indexes:
        members["GlobalSecondaryIndexes"] = [
            {"IndexName": f"by_i{index}", "KeySchema": key(f"i{index}", "sk"), "Projection": {"ProjectionType": "ALL"}}
            for index in range(indexes)]
    return members


def timed(calls):
    latencies = []
    began = time.perf_counter()
    for call in calls:
        start = time.perf_counter()
        call()
        latencies.append(1000 * (time.perf_counter() - start))
    seconds = time.perf_counter() - began
    latencies.sort()
    return latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", default="10,100,300")
    parser.add_argument("--indexes", type=int, default=2)
    parser.add_argument("targets", nargs="+", metavar="NAME=URL")
    options = parser.parse_args()
    targets = [Target(*target.split("=", 1)) for target in options.targets]
    print(f"tables with {options.indexes} indexes; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'target':14} {'tables':>7} {'operation':12} {'p50 ms':>8} {'p99 ms':>8} {'all, s':>8}")
    for count in map(int, options.tables.split(",")):
        for target in targets:
            for operation, calls in (
                    ("CreateTable", [lambda n=n, t=target: t.call("CreateTable", **definition(n, options.indexes))
                                     for n in range(count)]),
                    ("DeleteTable", [lambda n=n, t=target: t.call("DeleteTable", TableName=f"table{n:05d}")
                                     for n in range(count)])):
                median, high, seconds = timed(calls)
                print(f"{target.name:14} {count:7} {operation:12} {median:8.2f} {high:8.2f} {seconds:8.2f}", flush=True)


if __name__ == "__main__":
    main()
