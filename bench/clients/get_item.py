"""GetItem by boto3, for run.py: get_item.py ENDPOINT CALLERS SECONDS, as get_item.cc."""

import json
import sys
import threading
import time

import boto3
import botocore.config

ITEMS = 1_000

endpoint, callers, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
client = boto3.client("dynamodb", endpoint_url=endpoint,
                      config=botocore.config.Config(max_pool_connections=callers))


def read(first, how_long, latencies):
    end = time.perf_counter() + how_long
    number = first
    while True:
        begin = time.perf_counter()
        if begin >= end:
            return
        found = client.get_item(TableName="Bench", Key={"id": {"S": f"item{number % ITEMS}"}}, ConsistentRead=True)
        assert "Item" in found
        latencies.append((time.perf_counter() - begin) * 1e6)
        number += 1


def read_by_all(how_long):
    latencies = []
    threads = [threading.Thread(target=read, args=(caller * 37, how_long, latencies)) for caller in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(latencies)


read_by_all(seconds / 5)
cpu, start = time.process_time(), time.perf_counter()
measured = read_by_all(seconds)
took = time.perf_counter() - start
print(json.dumps({"rate": len(measured) / took, "p50_us": measured[len(measured) // 2],
                  "p99_us": measured[len(measured) * 99 // 100],
                  "cpu_us": (time.process_time() - cpu) * 1e6 / len(measured)}))
