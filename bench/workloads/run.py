#!/usr/bin/python3
"""Measures the workloads of order entry on itemd, on its limits and on the peers that are installed.

All servers are started privately, get the same data, and are measured in turn: each round visits them in the reverse
order of the round before. Prints a table, and writes all figures to a file as JSON lines.
"""
import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import data
import drivers
import machine
import servers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Name, what it does, and which servers other than those of DynamoDB's protocol do the same.
WORKLOADS = {
    "w1_get": ("GetItem of an order header", {"epoll", "Beast", "PostgreSQL", "Redis"}),
    "w3_customer_date": ("Query of an index, about 20 items", {"epoll", "Beast", "PostgreSQL", "Redis"}),
    "w3_customer_date_lines": ("the same, PostgreSQL also reads the lines of the orders, as itemd's index has them",
                               {"PostgreSQL"}),
    "w4_collection": ("Query of an order with its three lines", {"epoll", "Beast", "PostgreSQL", "Redis"}),
    "w7_open_orders": ("the open orders of a time window, in 5 Queries", {"PostgreSQL"}),
    "w10_scan": ("parallel Scan, items per second", set()),
    "w2_put": ("PutItem with 2 or 3 indexes", {"PostgreSQL", "Redis"}),
    "w5_place_order": ("TransactWriteItems that places an order, 10 actions", {"PostgreSQL", "Redis"}),
    "w6_batch": ("BatchWriteItem of 25, items per second", {"PostgreSQL"}),
    "w8_update_hot": ("UpdateItem of one counter, with a condition", {"PostgreSQL", "Redis"}),
    "w8_update_uniform": ("UpdateItem of any of 40,000 counters, with a condition", {"PostgreSQL", "Redis"}),
}
# These have no workload of their own.
SAME_REQUESTS = {"w3_customer_date_lines": "w3_customer_date"}
READS = ("w1_get", "w3_customer_date", "w4_collection")


def example_of(workload, orders):
    """A request whose reply has the usual length."""
    order = data.Order(orders // 3, orders)
    key = data.s(order.id)
    return {
        "w1_get": ("GetItem", {"TableName": "Order", "Key": {"PK": key, "SK": key}}),
        "w4_collection": ("Query", {"TableName": "Order", "KeyConditionExpression": "PK = :p",
                                    "ExpressionAttributeValues": {":p": key}}),
        "w3_customer_date": ("Query", {"TableName": "Order", "IndexName": "OrderByCustomerDate", "Limit": 20,
                                       "KeyConditionExpression": "customer_id = :c",
                                       "ExpressionAttributeValues": {":c": data.s(f"cust_{order.customer:07d}")}}),
    }[workload]


class Limit:
    """The servers of one limit, one for each workload that has it, because replies have different lengths."""
    protocol = "http"
    # The hidden commands of itembench.
    COMMANDS = {"epoll": "epoll-server", "Beast": "http-echo-server"}

    def __init__(self, name):
        self.name, self.servers = name, {}

    def start(self, scratch, itembench, itemd, workloads, orders):
        for workload in workloads:
            operation, body = example_of(workload, orders)
            reply_bytes = len(json.dumps(itemd.call(operation, body), separators=(",", ":")))
            server = servers.Limit(os.path.join(scratch, f"{self.name}-{workload}"), itembench,
                                   self.COMMANDS[self.name], reply_bytes)
            self.servers[workload] = server
            server.start()

    def stop(self):
        for server in self.servers.values():
            server.stop()


class Run:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.contenders, self.rows = [], []
        # Each run creates orders of its own.
        self.number = 0

    def progress(self, text):
        print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)

    def start(self):
        options = self.options
        for text in options.itemd or [os.path.join(ROOT, "build/release/bin/itemd")]:
            name, _, command = text.rpartition("=") if "=" in text.split()[0] else ("itemd", "", text)
            binary, *arguments = command.split()
            self.add(servers.Itemd(os.path.join(self.scratch, name), binary, arguments, name))
        makers = {"PostgreSQL": lambda path: servers.PostgreSql(path), "Redis": lambda path: servers.Redis(path),
                  "DynamoDB Local": lambda path: servers.DynamoDbLocal(path, options.node_modules),
                  "dynalite": lambda path: servers.Dynalite(path, options.node_modules)}
        for name, make in makers.items():
            if name not in options.peers:
                continue
            try:
                self.add(make(os.path.join(self.scratch, name.replace(" ", ""))))
            except servers.Missing as missing:
                self.progress(f"without {name}: {missing}")
        for name in Limit.COMMANDS:
            if name not in options.peers:
                continue
            reads = [w for w in options.workloads if name in WORKLOADS[w][1]]
            self.contenders.append(Limit(name))
            self.contenders[-1].start(self.scratch, options.itembench, self.contenders[0], reads, options.orders)

    def add(self, server):
        self.contenders.append(server)
        server.start()
        start = time.time()
        server.load(self.options.orders)
        self.progress(f"{server.name}: loaded in {time.time() - start:.1f} s")

    def takes_part(self, server, workload):
        if isinstance(server, servers.DynamoDbServer):
            return not (workload == "w5_place_order" and server.name == "dynalite")
        return server.name in WORKLOADS[workload][1]

    def measure(self, workload, connections, phase):
        for round_number in range(self.options.rounds):
            contenders = self.contenders if round_number % 2 == 0 else self.contenders[::-1]
            for contender in contenders:
                if not self.takes_part(contender, workload):
                    continue
                server = contender.servers[workload] if isinstance(contender, Limit) else contender
                requests = SAME_REQUESTS.get(workload, workload) if contender.protocol == "http" else workload
                self.number += 1
                row = {"workload": workload, "phase": phase, "connections": connections, "server": contender.name,
                       "round": round_number}
                try:
                    row |= drivers.measure(server, requests, connections, self.options.seconds, self.options.orders,
                                           self.number)
                except drivers.Failed as failed:
                    row["failed"] = str(failed)
                self.keep(row)

    def keep(self, row):
        self.rows.append(row)
        with open(self.options.json, "a") as file:
            file.write(json.dumps(row) + "\n")
        if "failed" in row:
            self.progress(f"{row['workload']} {row['server']}: {row['failed']}")
        else:
            self.progress(f"{row['workload']:18} {row['connections']:3} {row['server']:15} {row['per_second']:10,.0f}/s "
                          f"p99 {row['p99_ms']:.2f} ms, server {row['server_cores']:.2f} others {row['other_cores']:.2f} "
                          f"cores{', errors ' + str(row['errors']) if row['errors'] else ''}")

    def write_orders(self, wanted):
        """The same number of W2's puts on every server that is measured again afterwards."""
        for contender in self.contenders:
            if not self.takes_part(contender, "w2_put"):
                continue
            done = 0
            while done < wanted:
                self.number += 1
                seconds = max(1, min(10, wanted // 10_000))
                figures = drivers.measure(contender, "w2_put", 64, seconds, self.options.orders, self.number)
                done += int(figures["per_second"] * seconds)
            self.progress(f"{contender.name}: {done:,} orders written")
        time.sleep(self.options.settle)  # For compactions, checkpoints and vacuum.

    def all(self):
        # In the options' order: reads come before the writes that let the tables grow.
        options = self.options
        self.keep_description()
        for workload in options.workloads:
            for connections in options.connections:
                self.measure(workload, 4 if workload == "w10_scan" else connections, "loaded")
                if workload == "w10_scan":
                    break
        if options.writes:
            self.write_orders(options.writes)
            for workload in options.workloads:
                if workload in READS or workload == "w2_put":
                    for connections in options.connections:
                        self.measure(workload, connections, "written")

    def keep_description(self):
        row = {"machine": machine.description(), "load": os.getloadavg()[0], "orders": self.options.orders,
               "seconds": self.options.seconds, "rounds": self.options.rounds, "writes": self.options.writes,
               "syncs_per_second": machine.syncs_per_second(self.scratch), "at": int(time.time())}
        with open(self.options.json, "a") as file:
            file.write(json.dumps(row) + "\n")

    def stop(self):
        for contender in self.contenders:
            contender.stop()


def by_contender(rows):
    """(workload, phase, connections) -> server -> round -> row"""
    groups = {}
    for row in rows:
        if "per_second" in row:
            groups.setdefault((row["workload"], row["phase"], row["connections"]), {}).setdefault(
                row["server"], {})[row["round"]] = row
    return groups


def spread(values):
    return f"{statistics.median(values):,.0f} ({min(values):,.0f}-{max(values):,.0f})"


def ratio_to(base, other):
    """Median of the rounds' ratios, both measured in each."""
    ratios = [base[r]["per_second"] / other[r]["per_second"] for r in base if r in other and other[r]["per_second"] > 0]
    return statistics.median(ratios) if ratios else None


def table(rows):
    lines = ["| workload | connections | server | per second, median (min-max) | itemd's ratio to it | p50 ms | p99 ms "
             "| CPU us of the server per operation | cores: client, server, others | errors |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for (workload, phase, connections), contenders in by_contender(rows).items():
        first = next(iter(contenders))
        for name, rounds in contenders.items():
            middle = lambda key: statistics.median(row[key] for row in rounds.values())
            ratio = ratio_to(contenders[first], rounds) if name != first else None
            cpu = statistics.median(row["server_cores"] / row["per_second"] * 1e6 for row in rounds.values())
            lines.append(f"| {workload}{'' if phase == 'loaded' else ', after writes'} | {connections} | {name} "
                         f"| {spread([row['per_second'] for row in rounds.values()])} "
                         f"| {'' if ratio is None else f'{ratio:.2f}'} | {middle('p50_ms'):.2f} | {middle('p99_ms'):.2f} "
                         f"| {cpu:.1f} | {middle('client_cores'):.2f}, {middle('server_cores'):.2f}, "
                         f"{middle('other_cores'):.2f} | {sum(row['errors'] for row in rounds.values())} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = lambda text: text.split(",")
    parser.add_argument("--workloads", type=listed, default=list(WORKLOADS), metavar="W1,W2,...")
    parser.add_argument("--connections", type=lambda text: [int(part) for part in text.split(",")], default=[16, 64])
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    parser.add_argument("--seconds", type=int, default=3, help="of each run; default: 3")
    parser.add_argument("--orders", type=int, default=50_000, help="loaded, with three lines each; default: 50000")
    parser.add_argument("--writes", type=int, default=0, help="orders to write before the reads are measured again")
    parser.add_argument("--settle", type=int, default=20, help="seconds without requests after those; default: 20")
    parser.add_argument("--peers", type=listed, default=["epoll", "Beast", "PostgreSQL", "Redis", "DynamoDB Local", "dynalite"],
                        help='default: "epoll,Beast,PostgreSQL,Redis,DynamoDB Local,dynalite"; those not installed are left out')
    parser.add_argument("--itemd", action="append", metavar="[NAME=]BINARY [ARGUMENTS]",
                        help="itemd to measure; several are compared. Default: the one of build/release")
    parser.add_argument("--itembench", default=os.path.join(ROOT, "build/release/bin/itembench"),
                        help="serves Beast and epoll alone; default: the one of build/release")
    parser.add_argument("--node-modules", default=os.path.join(ROOT, "build/node_modules"), help="where npm's peers are")
    parser.add_argument("--directory", default="/var/tmp", help="for the servers' data; default: /var/tmp")
    parser.add_argument("--json", default=os.path.join(ROOT, "build/workloads.jsonl"),
                        help="file for all figures; default: build/workloads.jsonl")
    options = parser.parse_args()
    for name in options.workloads:
        if name not in WORKLOADS:
            parser.error(f"there is no workload {name}. There are: {', '.join(WORKLOADS)}")
    os.makedirs(os.path.dirname(os.path.abspath(options.json)), exist_ok=True)
    open(options.json, "w").close()

    scratch = tempfile.mkdtemp(dir=options.directory, prefix="itemdb-workloads-")
    os.chmod(scratch, 0o755)  # PostgreSQL runs as another user.
    run = Run(options, scratch)
    try:
        run.start()
        run.all()
    finally:
        run.stop()
        shutil.rmtree(scratch, ignore_errors=True)
    print(table(run.rows))
    failed = [row for row in run.rows if row.get("failed") or row.get("errors")]
    for row in failed:
        print(f"{row['workload']} on {row['server']}: {row.get('failed') or str(row['errors']) + ' errors'}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
