#!/usr/bin/python3
"""Instructions that itemd executes for each request, counted by valgrind, and compared with recorded numbers.

Of a GetItem it also tells how many of them count the request for the metrics page, at most 1 %.

The same binary executes nearly the same number on any machine, loaded or not, so a change that makes requests dearer
is seen where times would say nothing. Requests go one after another over one connection; background work counts too.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(FOLDER), "workloads"))
import data
import servers

import grpc

ORDERS = 1_000
# The smallest of several counts is compared: some have a flush or a compaction of RocksDB in them.
REPETITIONS = 3
# More than what two runs of one binary differ by, less than a change that should be looked at.
TOLERANCE = 0.1
# What counts a request for the metrics page: the request, by operation and table, and its capacity units.
METRICS = ["itemdb::daemon::CallMetrics::Count(", "itemdb::daemon::CountedTableName(",
           "itemdb::storage::CapacityMeter::AddRead("]
METRICS_SHARE = 0.01
RECORDED = os.path.join(FOLDER, "recorded.json")


class ItemdUnderValgrind(servers.DynamoDbServer):
    name = "itemd"
    # Where the counts are copied to.
    kept = None

    def start(self, itemd):
        self.counts = f"{self.directory}/counts"
        self.address = f"{self.directory}/address"
        self.start_process(["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={self.counts}",
                            itemd, "--data-dir", f"{self.directory}/data", "--listen", "127.0.0.1:0", "--address-file",
                            self.address, "--http-listen", f"127.0.0.1:{self.port}", "--memory", "1GiB"])
        while not os.path.exists(self.address):
            time.sleep(0.01)
        with open(self.address) as file:
            self.grpc = json.load(file)["grpc"][0]

    def control(self, *arguments):
        subprocess.run(["callgrind_control", *arguments, str(self.pid)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def counted(self, act):
        """The instructions of all threads during act()."""
        self.control("--instr=on")
        self.control("--zero")
        act()
        before = set(self.dumps())
        self.control("--dump")
        self.control("--instr=off")
        end = time.monotonic() + 30
        while time.monotonic() < end:
            for path in set(self.dumps()) - before:
                with open(path) as file:
                    if found := re.search(r"^totals: (\d+)", file.read(), re.M):
                        if self.kept:
                            shutil.copy(path, self.kept)
                        return int(found[1])
            time.sleep(0.05)
        raise RuntimeError("valgrind wrote no counts")

    def dumps(self):
        return [os.path.join(self.directory, name) for name in os.listdir(self.directory) if name.startswith("counts.")]


def metrics_in(path):
    """The instructions that counting for metrics costs in the counts of `path`, and all of them."""
    lines = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", path], check=True,
                           capture_output=True, text=True).stdout
    counted = {}
    for line in lines.splitlines():
        if found := re.match(r"\s*([\d,]+) \([^)]*\)\s+(.*)", line):
            number = int(found[1].replace(",", ""))
            if found[2].startswith("PROGRAM TOTALS"):
                total = number
            for name in METRICS:
                if name in found[2]:
                    counted[name] = max(counted.get(name, 0), number)  # One overload calls the other.
    if missing := [name for name in METRICS if name not in counted]:
        raise RuntimeError(f"not in the counts: {', '.join(missing)}")
    return sum(counted.values()), total


def new_header(i, draw):
    """Of an order that does not exist yet."""
    order = data.Order(1_000_000 + i, ORDERS)
    order.customer = draw.randrange(data.customers_of(ORDERS), 2 * data.customers_of(ORDERS))
    return order, next(data.items_of_order(order))


def place_order(i, draw):
    order, header = new_header(i, draw)
    actions = [{"Put": {"TableName": "Order", "Item": header, "ConditionExpression": "attribute_not_exists(PK)"}}]
    items = data.items_of_order(order)
    next(items)
    for (product, quantity), item in zip(order.lines, items):
        key, values = data.s(f"prod_{product:06d}"), {":q": data.n(quantity)}
        warehouse = data.s(f"wh_{data.warehouses_of(product)[0]:02d}")
        actions += [
            {"Put": {"TableName": "Order", "Item": item}},
            {"Update": {"TableName": "Product", "Key": {"product_id": key, "warehouse_id": warehouse},
                        "UpdateExpression": "SET inventory_quantity = inventory_quantity - :q",
                        "ConditionExpression": "inventory_quantity >= :q", "ExpressionAttributeValues": values}},
            {"Update": {"TableName": "Product", "Key": {"product_id": key, "warehouse_id": key},
                        "UpdateExpression": "SET total_inventory = total_inventory - :q",
                        "ExpressionAttributeValues": values}}]
    return {"TransactItems": actions}


def request_of(kind, i, draw):
    order = data.Order(draw.randrange(ORDERS), ORDERS)
    key = data.s(order.id)
    if kind == "GetItem":
        return kind, {"TableName": "Order", "Key": {"PK": key, "SK": key}}
    if kind == "Query":
        return kind, {"TableName": "Order", "IndexName": "OrderByCustomerDate", "Limit": 20,
                      "KeyConditionExpression": "customer_id = :c",
                      "ExpressionAttributeValues": {":c": data.s(f"cust_{order.customer:07d}")}}
    if kind == "PutItem":
        return kind, {"TableName": "Order", "Item": new_header(i, draw)[1]}
    if kind == "UpdateItem":
        product = draw.randrange(data.PRODUCTS)
        return kind, {"TableName": "Product", "UpdateExpression": "SET inventory_quantity = inventory_quantity + :d",
                      "Key": {"product_id": data.s(f"prod_{product:06d}"),
                              "warehouse_id": data.s(f"wh_{data.warehouses_of(product)[draw.randrange(4)]:02d}")},
                      "ConditionExpression": "inventory_quantity >= :m", "ReturnValues": "UPDATED_NEW",
                      "ExpressionAttributeValues": {":d": data.n(1), ":m": data.n(0)}}
    return "TransactWriteItems", place_order(100_000 + i, draw)


class Counter:
    def __init__(self, server, requests):
        self.server, self.requests = server, requests
        self.connection = server.connection()

    def of(self, kind):
        return min(self.over_grpc() if kind == "grpc" else self.over_http(kind, repetition)
                   for repetition in range(REPETITIONS))

    def over_http(self, kind, repetition):
        draw = random.Random(f"{kind} {repetition}")
        first = repetition * (self.requests + 50)
        calls = [request_of(kind, first + i, draw) for i in range(self.requests + 50)]

        def send(some):
            for operation, body in some:
                self.server.call(operation, body, self.connection)
        send(calls[self.requests:])
        return self.server.counted(lambda: send(calls[:self.requests])) / self.requests

    def over_grpc(self):
        """GetItem as in the first measurement."""
        draw = random.Random("GetItem")
        # Messages of item.proto and data.proto; none has 128 bytes.
        field = lambda number, content: bytes([number << 3 | 2, len(content)]) + content
        attribute = lambda name, text: field(1, field(1, name) + field(2, field(1, text)))
        with grpc.insecure_channel(self.server.grpc) as channel:
            get = channel.unary_unary("/itemdb.v1.Data/GetItem")

            def send(count):
                for _ in range(count):
                    key = data.order_id(draw.randrange(ORDERS)).encode()
                    reply = get(field(1, b"Order") + field(2, attribute(b"PK", key) + attribute(b"SK", key)))
                    if b"customer_id" not in reply:
                        raise RuntimeError(f"another item: {reply}")
            send(50)
            return self.server.counted(lambda: send(self.requests)) / self.requests


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("itemd", help="the program")
    parser.add_argument("--requests", type=int, default=1000, help="of each kind; default: 1000")
    parser.add_argument("--record", action="store_true", help=f"write {os.path.relpath(RECORDED, os.getcwd())}")
    parser.add_argument("--keep", metavar="DIRECTORY", help="for valgrind's counts, which callgrind_annotate reads")
    parser.add_argument("--only", type=lambda text: text.split(","), help="kinds, such as GetItem,grpc")
    options = parser.parse_args()
    kinds = ["GetItem", "Query", "PutItem", "UpdateItem", "TransactWriteItems", "grpc"]
    with open(RECORDED) as file:
        recorded = json.load(file)
    counts, failed, dear = {}, False, False
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        server = ItemdUnderValgrind(os.path.join(scratch, "itemd"))
        try:
            server.start(options.itemd)
            server.load(ORDERS)
            counter = Counter(server, options.requests)
            keep = options.keep or scratch
            for kind in options.only or kinds:
                name = "GetItem over gRPC" if kind == "grpc" else f"{kind} over HTTP"
                server.kept = os.path.join(keep, f"{name.replace(' ', '-')}.callgrind")
                counts[name] = round(counter.of(kind))
                before = recorded.get(name)
                change = counts[name] / before - 1 if before else 0
                print(f"{name:28} {counts[name]:>9,} instructions" + (f", {change:+.1%} from {before:,}" if before else ""),
                      flush=True)
                failed = failed or change > TOLERANCE
                if name.startswith("GetItem"):
                    metrics, total = metrics_in(server.kept)
                    print(f"{'':28} {metrics / options.requests:>9,.0f} of them count it for metrics,"
                          f" {metrics / total:.2%}", flush=True)
                    dear = dear or metrics / total > METRICS_SHARE
        finally:
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
    if options.record:
        with open(RECORDED, "w") as file:
            json.dump(recorded | counts, file, indent=2)
            file.write("\n")
    elif failed:
        print(f"Requests have become dearer by more than {TOLERANCE:.0%}. Find out why: a profile is made by\n"
              "valgrind --tool=callgrind. If it is worth it, record the new numbers with --record and say why.")
        return 1
    if dear:
        print(f"Counting for metrics costs more than {METRICS_SHARE:.0%} of a GetItem.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
