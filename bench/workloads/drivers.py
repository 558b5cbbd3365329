"""Runs one workload against one server, by the load generator of its protocol: wrk, pgbench or redis-benchmark."""
import glob
import json
import os
import re
import resource
import subprocess
import tempfile
import time

import data
import machine
from servers import FOLDER, program


class Failed(Exception):
    """A run without figures."""


def run(command, environment=None):
    done = subprocess.run(command, env={**os.environ, **(environment or {})}, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{command[0]} ended with {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
    return done.stdout


def drive_http(server, workload, connections, seconds, orders, number):
    threads = connections if workload == "w10_scan" else 1 if connections == 1 else 2
    out = run([program("wrk", package="wrk"), "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s",
               "--timeout", "30s", "-s", os.path.join(FOLDER, "http", f"{workload}.lua"), server.url],
              {"WORKLOAD_SCRIPTS": os.path.join(FOLDER, "http"), "WORKLOAD_ORDERS": str(orders),
               "WORKLOAD_SEED": str(number + 1), "WORKLOAD_FIRST": str(orders + 1000 + number * 4_000_000),
               "WORKLOAD_SEGMENTS": str(threads)})
    found = re.search(r"^FIGURES (.*)$", out, re.M)
    if not found:
        raise Failed(out[-500:])
    figures = json.loads(found[1])
    operations = figures["requests"] * {"w6_batch": 25, "w7_open_orders": 0.2}.get(workload, 1)
    if items := re.search(r"^ITEMS (\d+)$", out, re.M):
        operations = int(items[1])
    return {"per_second": operations / figures["seconds"], "p50_ms": figures["p50_ms"], "p99_ms": figures["p99_ms"],
            "max_ms": figures["max_ms"], "errors": figures["errors"]}


def drive_postgresql(server, workload, connections, seconds, orders, number):
    with tempfile.TemporaryDirectory() as logs:
        out = run([program("pgbench", server.folders), "-h", "127.0.0.1", "-p", str(server.port), "-U", "bench", "-n",
                   "-M", "prepared", "-c", str(connections), "-j", "1" if connections == 1 else "2", "-T", str(seconds),
                   "-D", f"orders={orders}", "-D", f"customers={data.customers_of(orders)}",
                   "-D", f"representatives={data.representatives_of(orders)}", "--random-seed", str(number + 1),
                   "-l", "--log-prefix", f"{logs}/log", "--sampling-rate", "0.25",
                   "-f", os.path.join(FOLDER, "postgresql", f"{workload}.sql"), "postgres"])
        latencies = sorted(int(line.split()[2]) / 1e3 for name in glob.glob(f"{logs}/log*") for line in open(name)
                           if line.split()[2].isdigit())
    rate = re.search(r"tps = ([\d.]+)", out)
    if not rate or not latencies:
        raise Failed(out[-500:])
    at = lambda share: latencies[min(len(latencies) - 1, int(share * len(latencies)))]
    failed = re.search(r"failed transactions: (\d+)", out)
    return {"per_second": float(rate[1]) * (25 if workload == "w6_batch" else 1), "p50_ms": at(0.5), "p99_ms": at(0.99),
            "max_ms": latencies[-1], "errors": int(failed[1]) if failed else 0}


def drive_redis(server, workload, connections, seconds, orders, number):
    customers, random = str(data.customers_of(orders)), "__rand_int__"
    if workload == "w1_get":
        command = ["HGETALL", f"o:{random}"]
    else:
        script = "w8_update" if workload.startswith("w8") else workload
        with open(os.path.join(FOLDER, "redis", f"{script}.lua")) as file:
            digest = run([server.client, "-p", str(server.port), "SCRIPT", "LOAD", file.read()]).strip()
        command = ["EVALSHA", digest, "0", "0" if workload == "w8_update_hot" else random]
        if not workload.startswith("w8"):
            command.append(customers)
    # Reads draw loaded orders; writes draw from so many numbers that few are drawn twice.
    reads = workload in ("w1_get", "w3_customer_date", "w4_collection")
    base = [program("redis-benchmark"), "-h", "127.0.0.1", "-p", str(server.port), "-c", str(connections), "--csv",
            "--precision", "3", "-r", str(orders if reads else 2_000_000_000)]
    figures = lambda out: [float(x) for x in out.strip().splitlines()[-1].strip('"').split('","')[-7:]]
    tried = figures(run([*base, "-n", str(2000 * min(connections, 8)), *command]))
    rate, _, _, p50, _, p99, longest = figures(run([*base, "-n", str(max(1000, int(tried[0] * seconds))), *command]))
    return {"per_second": rate, "p50_ms": p50, "p99_ms": p99, "max_ms": longest, "errors": 0}


DRIVERS = {"http": drive_http, "postgresql": drive_postgresql, "redis": drive_redis}


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(server, workload, connections, seconds, orders, number):
    """Figures of one run, and the cores that client, server and all other processes kept busy."""
    client, served, busy, start = children_seconds(), machine.cpu_seconds(server.pid), machine.busy_seconds(), time.time()
    figures = DRIVERS[server.protocol](server, workload, connections, seconds, orders, number)
    took = time.time() - start
    client, served = children_seconds() - client, machine.cpu_seconds(server.pid) - served
    figures |= {"client_cores": client / took, "server_cores": served / took,
                "other_cores": max(0.0, (machine.busy_seconds() - busy - client - served) / took)}
    return figures
