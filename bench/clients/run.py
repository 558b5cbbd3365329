#!/usr/bin/python3
"""GetItem by several clients on the HTTP endpoint of one itemd, in turn in each round, and by gRPC beside them.

    run.py [--rounds N] [--seconds S] [--callers N,N] [--node-modules FOLDER] --itemd ITEMD --get-item GET_ITEM

A thousand items of about 400 bytes, one item a call, consistent reads, keep-alive connections. For each client: calls per
second, median and 99th percentile of the latency, processor time of the client's process per call; medians of the rounds,
and the span of the rates. FOLDER is the node_modules that npm made of tests/clients/package-lock.json; without it the
AWS SDK for JavaScript is left out.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
ITEMS = 1_000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--callers", default="1,16")
    parser.add_argument("--node-modules")
    parser.add_argument("--itemd", required=True)
    parser.add_argument("--get-item", required=True)
    return parser.parse_args()


def start(itemd, work):
    address_file = work / "address.json"
    daemon = subprocess.Popen([itemd, "--data-dir", str(work / "data"), "--listen", "127.0.0.1:0", "--http-listen",
                               "127.0.0.1:0", "--address-file", str(address_file)], stderr=subprocess.DEVNULL)
    for _ in range(1_200):
        if address_file.exists():
            addresses = json.loads(address_file.read_text(encoding="utf-8"))
            return daemon, addresses["grpc"][0], "http://" + addresses["http"][0]
        time.sleep(0.05)
    daemon.kill()
    raise SystemExit("itemd does not start")


def make_items(endpoint):
    import boto3
    client = boto3.client("dynamodb", endpoint_url=endpoint)
    client.create_table(TableName="Bench", KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                        BillingMode="PAY_PER_REQUEST")
    for begin in range(0, ITEMS, 25):
        client.batch_write_item(RequestItems={"Bench": [
            {"PutRequest": {"Item": {"id": {"S": f"item{number}"}, "text": {"S": "x" * 300}, "price": {"N": "12.5"},
                                     "tags": {"L": [{"S": "a"}, {"S": "b"}]}, "open": {"BOOL": True}}}}
            for number in range(begin, begin + 25)]})


def main():
    options = arguments()
    os.environ.update({"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_REGION": "eu-central-1",
                       "AWS_DEFAULT_REGION": "eu-central-1", "AWS_EC2_METADATA_DISABLED": "true"})
    work = pathlib.Path(tempfile.mkdtemp(prefix="itemdb-bench-"))
    daemon, grpc, http = start(options.itemd, work)
    try:
        make_items(http)
        clients = {"itemdb client over HTTP": [options.get_item, http],
                   "boto3": [sys.executable, str(FOLDER / "get_item.py"), http],
                   "itemdb client over gRPC": [options.get_item, grpc]}
        if options.node_modules:
            # Node.js looks for modules beside the program.
            shutil.copy(FOLDER / "get_item.mjs", work)
            (work / "node_modules").symlink_to(pathlib.Path(options.node_modules).resolve())
            clients["AWS SDK for JavaScript"] = ["node", str(work / "get_item.mjs"), http]
        print("client                     callers  calls/s (span)            p50 us   p99 us   CPU us/call")
        for callers in options.callers.split(","):
            results = {name: [] for name in clients}
            for _ in range(options.rounds):
                for name, command in clients.items():
                    done = subprocess.run([*command, callers, str(options.seconds)], text=True, capture_output=True,
                                          check=False)
                    if done.returncode != 0:
                        raise SystemExit(f"{name}: {done.stderr}")
                    results[name].append(json.loads(done.stdout))
            for name, rounds in results.items():
                median = {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}
                rates = sorted(one["rate"] for one in rounds)
                span = f"{median['rate']:,.0f} ({rates[0]:,.0f}-{rates[-1]:,.0f})"
                print(f"{name:26} {callers:>7}  {span:24} {median['p50_us']:8,.0f} {median['p99_us']:8,.0f} "
                      f"{median['cpu_us']:9,.0f}", flush=True)
    finally:
        daemon.terminate()
        daemon.wait()
        shutil.rmtree(work)


main()
