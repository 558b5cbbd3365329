#!/usr/bin/python3
"""Fires each alert of packaging/prometheus/itemdb-alerts.yml in Debian's own Prometheus, by a fault of a real itemd.

alerts_test.py ITEMD FAULTS_LIBRARY SOURCE_DIRECTORY

Each fault has an itemd of its own. A daemon without a fault must not fire any alert. The rules are those of the
package, without their waiting times (`for`) and with shorter limits where a limit is hours. Then every question of the
dashboard in packaging/grafana is asked. A table of the alerts is printed at the end.
"""

import glob
import http.client
import itertools
import json
import multiprocessing
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import grpc

ITEMD, LIBRARY, SOURCE = sys.argv[1:4]
PATIENCE_SECONDS = 180
METRICS_SECRET = "a secret for the metrics"
# Limits of hours and days, which no test waits for: what stands in the rules, and what instead.
SHORTER = {"time() - itemdb_store_oldest_snapshot_timestamp_seconds > 3600":
           "time() - itemdb_store_oldest_snapshot_timestamp_seconds > 2"}
# RocksDB stops writes here; that it slows them down depends on the machine, so promtool evaluates that.
SLOWED = "ItemdbWritesHeldBack"
# This depends on how often the schedule makes backups.
NOT_PROVEN = "ItemdbBackupNotProven"


def await_true(what, condition):
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.1)
    sys.exit(f"waited in vain for {what}")


class Daemon:
    """An itemd in a folder of its own. `name` becomes the label `instance`."""

    def __init__(self, folder, name, *arguments):
        self.name = name
        self.folder = os.path.join(folder, name)
        self.faults = os.path.join(self.folder, "faults")
        os.makedirs(self.faults)
        self.arguments = arguments
        self.start()

    def start(self):
        address_file = os.path.join(self.folder, "itemd.json")
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [ITEMD, "--data-dir", os.path.join(self.folder, "data"), "--listen", "127.0.0.1:0", "--http-listen",
                 "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--address-file", address_file, *self.arguments],
                stderr=log, env={**os.environ, "LD_PRELOAD": LIBRARY, "ALERT_FAULTS": self.faults})
        await_true(f"the start of {self.name}", lambda: os.path.exists(address_file) or self.process.poll() is not None)
        if self.process.poll() is not None:
            sys.exit(f"{self.name} ended: " + open(os.path.join(self.folder, "log"), encoding="utf-8").read())
        with open(address_file, encoding="utf-8") as file:
            addresses = json.load(file)
        self.grpc, self.http, self.metrics = (addresses[key][0] for key in ("grpc", "http", "metrics"))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def fault(self, name):
        open(os.path.join(self.faults, name), "w", encoding="utf-8").close()

    def call(self, operation, body, connection=None, key="test"):
        """The status code of an answer over HTTP. Without a key the signature is only looked at."""
        connection = connection or http.client.HTTPConnection(self.http)
        connection.request("POST", "/", json.dumps(body), {
            "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810." + operation,
            "X-Amz-Date": time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()),
            "Authorization": f"AWS4-HMAC-SHA256 Credential={key}/{time.strftime('%Y%m%d', time.gmtime())}/local/dynamodb/"
                             "aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64})
        answer = connection.getresponse()
        self.answer = answer.read().decode()
        return answer.status

    def create_table(self):
        status = self.call("CreateTable", {
            "TableName": "Things", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]})
        assert status == 200, (self.name, self.answer)

    def put(self, number, text="", connection=None):
        item = {"pk": {"S": str(number)}, "text": {"S": text}}
        return self.call("PutItem", {"TableName": "Things", "Item": item}, connection)


def keep_putting(daemon, text, stop):
    """Puts one item again and again, each time another: a put that changes nothing writes nothing."""
    connection = http.client.HTTPConnection(daemon.http)
    for number in itertools.count():
        if stop.is_set():
            return
        try:
            daemon.put(threading.get_ident(), f"{number}{text}", connection)
        except (OSError, http.client.HTTPException):
            connection.close()
            time.sleep(0.1)


def overload_with_puts(daemon):
    for _ in range(200):
        threading.Thread(target=keep_putting, args=(daemon, "x" * 390_000, threading.Event()), daemon=True).start()
    time.sleep(3600)


def damage(daemon):
    """Flips bytes of a data block in the table file of the items, while itemd is stopped."""
    for number in range(200):
        daemon.put(number, secrets.token_hex(1000))
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(60) == 0
    largest = max(glob.glob(daemon.folder + "/data/rocksdb/*.sst"), key=os.path.getsize)
    with open(largest, "r+b") as file:
        file.seek(os.path.getsize(largest) // 4)
        file.write(b"damaged" * 20)
    daemon.start()


class Prometheus:
    def __init__(self, folder, rules):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        os.makedirs(folder + "/prometheus")
        self.targets = folder + "/prometheus/targets.json"
        self.targets_with_keys = folder + "/prometheus/targets_with_keys.json"
        self.watch([], [])
        with open(folder + "/prometheus/rules.yml", "w", encoding="utf-8") as file:
            file.write(rules)
        with open(folder + "/prometheus/prometheus.yml", "w", encoding="utf-8") as file:
            file.write(f"""
global: {{scrape_interval: 500ms, scrape_timeout: 400ms, evaluation_interval: 500ms}}
rule_files: [rules.yml]
scrape_configs:
  - job_name: itemdb
    file_sd_configs: [{{files: [{self.targets}], refresh_interval: 1s}}]
  - job_name: itemdb with keys
    basic_auth: {{username: METRICS, password: {METRICS_SECRET}}}
    file_sd_configs: [{{files: [{self.targets_with_keys}], refresh_interval: 1s}}]
""")
        self.process = subprocess.Popen(
            ["prometheus", "--config.file", folder + "/prometheus/prometheus.yml", "--storage.tsdb.path",
             folder + "/prometheus/data", "--web.listen-address", self.address, "--log.level", "error"])
        await_true("Prometheus", self.answers)

    def watch(self, daemons, daemons_with_keys):
        for path, watched in ((self.targets, daemons), (self.targets_with_keys, daemons_with_keys)):
            content = [{"targets": [daemon.metrics], "labels": {"instance": daemon.name}} for daemon in watched]
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(content, file)
            os.rename(path + ".new", path)

    def get(self, path):
        connection = http.client.HTTPConnection(self.address)
        connection.request("GET", path)
        return json.load(connection.getresponse())

    def answers(self):
        try:
            return self.get("/api/v1/rules")["status"] == "success"
        except (OSError, ValueError):  # It does not listen, or answers "Service Unavailable" while it starts.
            return False

    def firing(self):
        """Pairs of an alert and the instance that fires it."""
        return {(alert["labels"]["alertname"], alert["labels"]["instance"])
                for alert in self.get("/api/v1/alerts")["data"]["alerts"] if alert["state"] == "firing"}

    def query(self, expression):
        return self.get("/api/v1/query?" + urllib.parse.urlencode({"query": expression}))


def check_with_promtool(folder, rules):
    """Alerts SLOWED and NOT_PROVEN fire for the figures that docs/metrics.md describes, and not for others."""
    with open(folder + "/rules.yml", "w", encoding="utf-8") as file:
        file.write(rules)
    with open(folder + "/test.yml", "w", encoding="utf-8") as file:
        file.write(f"""
rule_files: [rules.yml]
tests:
  - interval: 1m
    input_series:
      - {{series: 'itemdb_store_writes_stopped{{instance="stopped"}}', values: '1x30'}}
      - {{series: 'itemdb_store_delayed_write_rate_bytes{{instance="slowed"}}', values: '1000x30'}}
      - {{series: 'itemdb_store_writes_stopped{{instance="healthy"}}', values: '0x30'}}
    promql_expr_test:
      - expr: count by (instance) (ALERTS{{alertname="{SLOWED}", alertstate="firing"}})
        eval_time: 20m
        exp_samples:
          - {{labels: '{{instance="stopped"}}', value: 1}}
          - {{labels: '{{instance="slowed"}}', value: 1}}
  - interval: 1m
    input_series:
      - {{series: 'itemdb_backup_last_proven_timestamp_seconds{{instance="daily"}}', values: '0x4500'}}
      - {{series: 'itemdb_backup_proof_max_age_seconds{{instance="daily"}}', values: '{2 * 86400}x4500'}}
      - {{series: 'itemdb_backup_last_proven_timestamp_seconds{{instance="weekly"}}', values: '0x4500'}}
      - {{series: 'itemdb_backup_proof_max_age_seconds{{instance="weekly"}}', values: '{8 * 86400}x4500'}}
    promql_expr_test:
      - expr: count by (instance) (ALERTS{{alertname="{NOT_PROVEN}", alertstate="firing"}})
        eval_time: 72h
        exp_samples: []
      - expr: count by (instance) (ALERTS{{alertname="{NOT_PROVEN}", alertstate="firing"}})
        eval_time: 74h
        exp_samples:
          - {{labels: '{{instance="daily"}}', value: 1}}
""")
    subprocess.run(["promtool", "test", "rules", folder + "/test.yml"], check=True, stdout=subprocess.DEVNULL)


def dashboard_questions():
    with open(SOURCE + "/packaging/grafana/itemdb-dashboard.json", encoding="utf-8") as file:
        for panel in json.load(file)["panels"]:
            for target in panel.get("targets", []):
                question = target["expr"].replace("$instance", ".*").replace("$__rate_interval", "5s")
                yield panel["title"], question


def main(folder):
    with open(SOURCE + "/packaging/prometheus/itemdb-alerts.yml", encoding="utf-8") as file:
        original = file.read()
    names = re.findall(r"- alert: (\w+)", original)
    rules = re.sub(r"^ *for: .*\n", "", original, flags=re.M)
    for limit, instead in SHORTER.items():
        assert limit in rules, limit
        rules = rules.replace(limit, instead)
    check_with_promtool(folder, original)

    keys = folder + "/keys.toml"
    with open(keys, "w", encoding="utf-8") as file:
        file.write(f'[[key]]\nid = "METRICS"\nsecret = "{METRICS_SECRET}"\nrole = "metrics"\n')
    os.chmod(keys, 0o600)
    archive = folder + "/archive"
    made = {
        "healthy": (), "down": (), "failing log": (),
        "overloaded": ("--memory", "128MiB"), "held back": ("--memory", "128MiB"), "full": (), "damaged": (), "slow": (),
        "without backup": ("--backup-schedule", "0 0 1 1 *", "--backup-directory", folder + "/backups"),
        "without archive": ("--archive-directory", archive), "old state": (),
        "audited": ("--audit-log", folder + "/audited/audit.log"),
    }
    daemons = {name: Daemon(folder, name, *arguments) for name, arguments in made.items()}
    for daemon in daemons.values():
        daemon.create_table()
    damage(daemons["damaged"])
    attacked = Daemon(folder, "attacked", "--access-keys", keys)
    prometheus = Prometheus(folder, rules)
    prometheus.watch(daemons.values(), [attacked])
    await_true("all targets", lambda: len(prometheus.query("up == 1")["data"]["result"]) == len(daemons) + 1)
    # Counters must have been seen at 0.
    for daemon in daemons.values():
        daemon.put("first")
    time.sleep(2)

    stop = threading.Event()
    threads = []

    def begin(target, *arguments):
        threads.append(threading.Thread(target=target, args=arguments, daemon=True))
        threads[-1].start()

    daemons["down"].kill()
    daemons["failing log"].fault("failing_log")
    begin(keep_putting, daemons["failing log"], "", stop)
    daemons["overloaded"].fault("slow_syncs")
    # In a process of its own: Python runs one thread of a process at a time.
    overload = multiprocessing.Process(target=overload_with_puts, args=(daemons["overloaded"],), daemon=True)
    overload.start()
    daemons["full"].fault("full_disk")
    daemons["slow"].fault("slow_syncs")
    begin(keep_putting, daemons["slow"], "", stop)
    daemons["held back"].fault("held_tables")
    begin(keep_putting, daemons["held back"], "x" * 390_000, stop)
    shutil.rmtree(archive)
    open(archive, "w", encoding="utf-8").close()
    begin(keep_putting, daemons["without archive"], "", stop)
    for number in range(3000):
        daemons["old state"].put(number, "x" * 4000)
    channel = grpc.insecure_channel(daemons["old state"].grpc)
    # ScanStreamRequest{scan: {table_name: "Things"}, one_state: true}; its replies are not read.
    stream = channel.unary_stream("/itemdb.v1.Data/ScanStream")(b"\x0a\x08\x0a\x06Things\x10\x01")
    next(stream)
    daemons["old state"].put("after it")
    # WatchRequest{after_sequence: 0, table_name: "Things"}; its replies are not read either. Together they are longer
    # than the MiB that one reply may have.
    for number in range(1500):
        daemons["old state"].put("k" * 1500 + str(number))
    # Otherwise gRPC itself takes megabytes for a client that reads nothing.
    watching = grpc.insecure_channel(daemons["old state"].grpc, options=[("grpc.http2.bdp_probe", 0)])
    watch = watching.unary_stream("/itemdb.v1.Changes/Watch")(b"\x08\x00\x12\x06Things")
    daemons["audited"].fault("full_audit")

    def audited_calls():
        while not stop.is_set():
            daemons["audited"].call("DescribeTable", {"TableName": "Things"})
            daemons["audited"].call("TagResource", {"ResourceArn": "arn:aws:dynamodb:local:000000000000:table/Things",
                                                    "Tags": [{"Key": "k", "Value": "v"}]})
            time.sleep(0.05)
    begin(audited_calls)
    connection = http.client.HTTPConnection(attacked.http)
    for number in range(1500):
        assert attacked.put(number, connection=connection) != 200

    expected = {
        ("ItemdbDown", "down"), ("ItemdbNotReady", "failing log"), ("ItemdbServerErrors", "failing log"),
        ("ItemdbThrottles", "overloaded"), ("ItemdbDiskFillsUp", "full"), ("ItemdbDiskFull", "full"),
        ("ItemdbDamage", "damaged"), ("ItemdbServerErrors", "damaged"), ("ItemdbSlowSyncs", "slow"),
        ("ItemdbBackupTooOld", "without backup"), ("ItemdbBackupNotProven", "without backup"),
        ("ItemdbArchiveBehind", "without archive"),
        ("ItemdbOldSnapshot", "old state"), ("ItemdbRefusedKeys", "attacked"), ("ItemdbAuditLost", "audited"),
        ("ItemdbWritesHeldBack", "held back"),
    }
    seen = set()

    def all_fire():
        daemons["damaged"].call("Scan", {"TableName": "Things"})
        seen.update(prometheus.firing())
        return expected <= seen

    end = time.monotonic() + PATIENCE_SECONDS
    while not all_fire() and time.monotonic() < end:
        time.sleep(0.5)
    healthy = {alert for alert, instance in seen if instance == "healthy"}
    failed = bool(expected - seen) or bool(healthy)

    questions = 0
    for title, question in dashboard_questions():
        questions += 1
        answer = prometheus.query(question)
        if answer["status"] != "success":
            print(f"dashboard, {title}: {question}: {answer}")
            failed = True
        elif "watch" in question and not any(float(series["value"][1]) > 0 for series in answer["data"]["result"]):
            print(f"dashboard, {title}: {question} does not show the watch that is not read: {answer}")
            failed = True
    watch.cancel()
    stop.set()
    overload.kill()

    fired = {alert for alert, _ in seen}
    for name in names:
        instances = sorted(instance for alert, instance in seen if alert == name)
        print(f"{name:24} {'fired: ' + ', '.join(instances) if instances else 'DID NOT FIRE'}")
    print(f"{questions} questions of the dashboard answered; alerts of the healthy daemon: {sorted(healthy) or 'none'}")
    if failed or set(names) - fired:
        print("missing:", sorted(expected - seen), sorted(set(names) - fired))
        return 1
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        try:
            code = main(directory)
        finally:
            subprocess.run(["pkill", "-KILL", "-P", str(os.getpid())], check=False)
    sys.exit(code)
