#!/usr/bin/python3
"""Loads under which a database may become slower and slower: how fast is itemd at the beginning and at the end?

  writes   W2 at full rate: operations and p99 of each second, the longest second without an answer
  queue    a collection used as a queue: put at its end, query its first item, delete that one
  large    an item of 400 KB that is replaced again and again
  scans    GetItem of 16 connections, alone and beside 64 scans that count
"""
import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import data
import drivers
import run
import servers

ORDERS = 20_000


class Observed(servers.Itemd):
    """itemd whose metrics are read each second."""

    def __init__(self, directory, binary):
        self.metrics_port = servers.free_port()
        super().__init__(directory, binary, ["--metrics-listen", f"127.0.0.1:{self.metrics_port}"])

    def buckets(self, operation):
        """Upper bound in seconds -> requests answered so far in at most that time."""
        connection = http.client.HTTPConnection("127.0.0.1", self.metrics_port, timeout=30)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        found = {}
        for line in text.splitlines():
            match = re.match(r'itemdb_request_duration_seconds_bucket\{(.*)\} (\d+)', line)
            if match and f'operation="{operation}"' in match[1] and 'protocol="http"' in match[1]:
                bound = float(re.search(r'le="([^"]+)"', match[1])[1])
                found[bound] = found.get(bound, 0) + int(match[2])
        return found


def p99(before, after):
    """In milliseconds, the upper bound of its bucket."""
    total = after.get(float("inf"), 0) - before.get(float("inf"), 0)
    for bound in sorted(after):
        if after[bound] - before.get(bound, 0) >= 0.99 * total:
            return bound * 1000
    return float("nan")


def writes(server, options):
    load = threading.Thread(target=drivers.drive_http, args=(server, "w2_put", 64, options.seconds, ORDERS, 1))
    load.start()
    before, start, rows = server.buckets("PutItem"), time.monotonic(), []
    while load.is_alive():
        time.sleep(max(0, start + 1 - time.monotonic()))
        now, after = time.monotonic(), server.buckets("PutItem")
        rate = (after.get(float("inf"), 0) - before.get(float("inf"), 0)) / (now - start)
        rows.append({"second": len(rows), "per_second": rate, "p99_ms": p99(before, after)})
        before, start = after, now
    load.join()
    rows = rows[1:-1]  # The first and the last second are not whole.
    rates = [row["per_second"] for row in rows]
    tenth = max(1, len(rows) // 10)
    print(f"writes: {len(rows)} s, per second: first tenth {sum(rates[:tenth]) / tenth:,.0f}, last tenth "
          f"{sum(rates[-tenth:]) / tenth:,.0f}, slowest second {min(rates):,.0f}, highest p99 "
          f"{max(row['p99_ms'] for row in rows):.1f} ms")
    return rows


def queue(server, options):
    connection, rows = server.connection(), []
    key = lambda i: {"product_id": data.s("queue"), "warehouse_id": data.s(f"{i:012d}")}
    start, step = time.monotonic(), max(1, options.operations // 10)
    for i in range(options.operations):
        server.call("PutItem", {"TableName": "Product", "Item": key(i)}, connection)
        if i >= 10:
            head = server.call("Query", {"TableName": "Product", "KeyConditionExpression": "product_id = :q", "Limit": 1,
                                         "ExpressionAttributeValues": {":q": data.s("queue")}}, connection)["Items"][0]
            if head != key(i - 10):
                raise RuntimeError(f"the head of the queue is {head}, not number {i - 10}")
            server.call("DeleteItem", {"TableName": "Product", "Key": head}, connection)
        if (i + 1) % step == 0:
            rows.append({"done": i + 1, "us": (time.monotonic() - start) / step * 1e6})
            start = time.monotonic()
    print(f"queue: put, query and delete, us: first tenth {rows[0]['us']:.0f}, last tenth {rows[-1]['us']:.0f}, "
          f"slowest {max(row['us'] for row in rows):.0f}")
    return rows


def large(server, options):
    connection, rows, count = server.connection(), [], options.rewrites
    key, step = {"product_id": data.s("large"), "warehouse_id": data.s("large")}, max(1, options.rewrites // 10)
    start = time.monotonic()
    for i in range(count):
        server.call("PutItem", {"TableName": "Product", "Item": key | {"text": data.s(chr(97 + i % 26) * 390_000)}}, connection)
        if (i + 1) % step == 0:
            rows.append({"done": i + 1, "ms": (time.monotonic() - start) / step * 1e3})
            start = time.monotonic()
    print(f"large: a put, ms: first tenth {rows[0]['ms']:.2f}, last tenth {rows[-1]['ms']:.2f}, slowest "
          f"{max(row['ms'] for row in rows):.2f}")
    return rows


def scans(server, options):
    alone = drivers.drive_http(server, "w1_get", 16, 5, ORDERS, 2)
    # Replies with items would measure the 64 threads of the client, which read and search a MB each.
    os.environ["WORKLOAD_COUNT"] = "1"
    beside = []
    load = threading.Thread(target=lambda: beside.append(drivers.drive_http(server, "w10_scan", 64, 7, ORDERS, 3)))
    load.start()
    time.sleep(1)
    with_scans = drivers.drive_http(server, "w1_get", 16, 5, ORDERS, 4)
    load.join()
    del os.environ["WORKLOAD_COUNT"]
    print(f"scans: GetItem {alone['per_second']:,.0f}/s p99 {alone['p99_ms']:.2f} ms; beside 64 scans, which read "
          f"{beside[0]['per_second']:,.0f} items/s: {with_scans['per_second']:,.0f}/s p99 {with_scans['p99_ms']:.2f} ms")
    return [alone, with_scans]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loads", nargs="*", default=["writes", "queue", "large", "scans"],
                        metavar="LOAD", help="writes, queue, large, scans; default: all")
    parser.add_argument("--seconds", type=int, default=600, help="of writes; default: 600")
    parser.add_argument("--operations", type=int, default=1_000_000, help="of the queue; default: a million")
    parser.add_argument("--rewrites", type=int, default=10_000, help="of the large item; default: 10000")
    parser.add_argument("--itemd", default=os.path.join(run.ROOT, "build/release/bin/itemd"))
    parser.add_argument("--directory", default="/var/tmp")
    parser.add_argument("--json", help="file for all figures")
    options = parser.parse_args()
    figures = {}
    with tempfile.TemporaryDirectory(dir=options.directory, prefix="itemdb-cliffs-") as scratch:
        for load in options.loads:
            server = Observed(os.path.join(scratch, load), options.itemd)
            try:
                server.start()
                server.load(ORDERS)
                figures[load] = {"writes": writes, "queue": queue, "large": large, "scans": scans}[load](server, options)
            finally:
                server.stop()
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
